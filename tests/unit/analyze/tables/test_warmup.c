/* Which steps at the start are left out. */
#include "unit/analyze/training.h"

#include "analyze/tables/warmup.h"
#include <sonde/analyze.h>

static void the_rule_leaves_out_leading_steps_that_are_long(void **state)
{
	static const struct {
		const char *rule;
		int64_t dur_ns[8];
		size_t n, left_out;
	} cases[] = {
		{ NULL, { 900, 300, 100, 101, 99, 100, 100, 101 }, 8, 2 },
		{ "auto", { 900, 300, 100, 101, 99, 100, 100, 101 }, 8, 2 },
		{ "none", { 900, 300, 100, 101, 99, 100, 100, 101 }, 8, 0 },
		{ "1", { 900, 300, 100, 101 }, 4, 1 },
		{ "9", { 100, 100, 100, 100 }, 4, 3 },			      /* the last one stays */
		{ "auto", { 109, 100, 100, 100, 100, 100 }, 6, 0 },	      /* not by 10 % */
		{ "auto", { 120, 100, 80, 120, 80, 120 }, 6, 0 },	      /* no more than the others differ */
		{ "auto", { 100, 900, 100, 100, 100, 100 }, 6, 0 },	      /* in the middle: an outlier */
		{ "auto", { 900, 900, 900, 900, 100, 100, 100, 100 }, 8, 4 }, /* half of them at most */
		{ "auto", { 900, 100, 100 }, 3, 0 },			      /* too few to tell */
		{ "3", { 0 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(warmup_steps(cases[i].rule, cases[i].dur_ns, cases[i].n), cases[i].left_out);
}

/* What sonde_analyze() makes of the options, on a recording of two steps. */
static void options_end_with_a_number(void **state)
{
	static const struct {
		sonde_analyze_options given;
		size_t left_out;
	} cases[] = {
		{ { .warmup = "1" }, 1 },
		{ { .warmup = "none" }, 0 },
		{ { .warmup = NULL }, 0 },		     /* two steps are too few */
		{ { .warmup = "1", .use_steps = true }, 0 }, /* these were asked for */
		{ { .warmup = "1", .use_time = true }, 1 },  /* this as well */
		{ { .warmup = "1", .ranks = "3" }, 0 },	     /* which has no steps */
		{ { .warmup = "1", .ranks = "0" }, 1 },
	};
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_analyze_options o = cases[i].given;
		sonde_result *r = result_new("test");
		assert_int_equal(warmup_find(t, &o, r, NULL), SONDE_OK);
		assert_int_equal(warmup_given(&o), cases[i].left_out);
		assert_int_equal(sonde_result_value(r, "n_warmup_steps").integer, cases[i].left_out);
		const char *label, *text;
		assert_int_equal(sonde_result_note(r, 0, &label, &text), cases[i].left_out > 0);
		if (cases[i].left_out)
			assert_string_equal(text, "the first step is skipped (100 ns); --warmup none keeps it");
		sonde_result_free(r);
	}
	sonde_trace_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule_leaves_out_leading_steps_that_are_long),
		cmocka_unit_test(options_end_with_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
