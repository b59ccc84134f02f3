/* A flame graph in the page of a report. */
#include "unit/analyze/device_trace.h"

#include <sonde/picture.h>

/* The page of a report with a flame graph, made as the command makes it. The caller frees. */
static char *page_of(const sonde_trace *t, const sonde_picture_options *options)
{
	sonde_result *r = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sonde_analyze(t, "report", NULL, &r, NULL), SONDE_OK);
	assert_int_equal(sonde_flame_add(r, t, options, NULL), SONDE_OK);
	assert_int_equal(sonde_result_print(r, SONDE_HTML, NULL, out, NULL), SONDE_OK);
	fclose(out);
	sonde_result_free(r);
	return text;
}

/* ProfilerStep of both steps, or of the second alone. */
static void the_graph_covers_what_was_chosen(void **state)
{
	const sonde_picture_options warm = { .struct_size = sizeof warm, .n_warmup = 1 };
	const sonde_picture_options step = {
		.struct_size = sizeof step, .use_steps = true, .first_step = 2, .last_step = 2
	};
	const struct {
		const sonde_picture_options *options;
		const char *has;
	} cases[] = {
		{ NULL, "\"total\": 200000," },
		{ &warm, "\"total\": 100000," },
		{ &step, "\"total\": 100000," },
	};
	sonde_trace *t = make_device_trace(1);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *page = page_of(t, cases[i].options);
		if (!strstr(page, cases[i].has))
			fail_msg("case %zu has no %s", i, cases[i].has);
		free(page);
	}
	sonde_trace_free(t);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const sonde_picture_options wrong[] = {
		{ .struct_size = sizeof wrong[0], .by = "colour" },
		{ .struct_size = sizeof wrong[0], .ranks = "x" },
		{ .struct_size = sizeof wrong[0], .use_steps = true, .first_step = 50, .last_step = 60 },
	};
	sonde_trace *t = make_device_trace(1);
	sonde_result *r = NULL;

	(void)state;
	assert_int_equal(sonde_analyze(t, "report", NULL, &r, NULL), SONDE_OK);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(sonde_flame_add(r, t, &wrong[i], NULL), SONDE_E_USAGE);
	sonde_result_free(r);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_graph_covers_what_was_chosen),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
