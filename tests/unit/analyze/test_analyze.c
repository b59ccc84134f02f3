/* Analyses by name: which settings there are, and that a wrong question gets a sentence and not an answer. */
#include "unit/analyze/device_trace.h"

#include <sonde/analyze.h>

static void every_setting_has_a_default_that_the_analysis_takes(void **state)
{
	sonde_trace *t = make_device_trace(1);
	const char *name, *summary;
	sonde_setting s;
	size_t n_all = 0;

	(void)state;
	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++) {
		for (size_t k = 0; sonde_analysis_setting(name, k, &s, &summary); k++, n_all++) {
			sonde_analyze_options o = { .struct_size = sizeof o, .settings = &s, .n_settings = 1 };
			sonde_result *r = NULL;
			assert_true(*s.key && s.value && *summary);
			if (sonde_analyze(t, name, &o, &r, NULL))
				fail_msg("%s does not take %s=%s", name, s.key, s.value);
			sonde_result_free(r);
		}
		assert_false(sonde_analysis_setting(name, SIZE_MAX, &s, &summary));
	}
	assert_true(n_all > 60); /* each rule has a threshold */
	assert_false(sonde_analysis_setting("nothing", 0, &s, &summary));
	assert_false(sonde_analysis_setting("info", 0, &s, &summary)); /* it has none */
	sonde_trace_free(t);
}

static void wrong_questions_get_a_sentence(void **state)
{
	sonde_setting unknown = { "colour", "red" }, wrong = { "dataloader.warn", "many" };
	const struct {
		const char *name;
		sonde_analyze_options o;
		const char *says;
	} cases[] = {
		{ "nothing", { 0 }, "no analysis \"nothing\"" },
		{ "report", { .ranks = "7" }, "the trace has no rank 7, but some from 0 to 1" },
		{ "report", { .ranks = "x" }, "invalid ranks \"x\": expected a list such as 0,2-4" },
		{ "report",
		  { .warmup = "some" },
		  "unknown warm-up \"some\": expected auto, none or a number of steps" },
		{ "report", { .settings = &unknown, .n_settings = 1 }, "report has no settings, so no \"colour\"" },
		{ "bottlenecks",
		  { .settings = &unknown, .n_settings = 1 },
		  "bottlenecks has no setting \"colour\"; sonde analyze bottlenecks --list lists them" },
		{ "bottlenecks", { .settings = &wrong, .n_settings = 1 }, NULL },
		{ "report", { .compat = "hta" }, "report has no definitions of \"hta\"" },
	};
	sonde_trace *t = make_device_trace(2);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_analyze_options o = cases[i].o;
		sonde_error err = { .message = "" };
		sonde_result *r = NULL;
		o.struct_size = sizeof o;
		assert_int_equal(sonde_analyze(t, cases[i].name, &o, &r, &err), SONDE_E_USAGE);
		assert_null(r);
		if (cases[i].says)
			assert_string_equal(err.message, cases[i].says);
	}
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_setting_has_a_default_that_the_analysis_takes),
		cmocka_unit_test(wrong_questions_get_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
