/* Results as text: what a person reads, to the column. */
#include "printed.h"

#include <string.h>

#include "base/screen_text.h"

static const column report_columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "calls", .header = "calls", .type = CELL_COUNT },
	{ .key = "total_ns", .header = "total", .type = CELL_NS },
	{ .key = "self_ns", .header = "self", .type = CELL_NS, .priority = 1 },
	{ .key = "std_ns", .header = "std", .type = CELL_NS, .priority = 3 },
	{ .key = "max_ns", .header = "max", .type = CELL_NS, .priority = 2 },
	{ .key = "hidden", .header = "hidden", .type = CELL_COUNT, .priority = -1 },
	{ .key = "percent", .header = "%", .type = CELL_PERCENT, .bar = true },
};

static void add_row(sonde_result *r, table *t, unsigned depth, const char *name, uint64_t calls, int64_t total_ns,
		    double percent)
{
	cell *row = table_row(r, t, depth);

	row[0] = cell_string(result_string(r, name));
	row[1] = cell_count(calls);
	row[2] = cell_ns(total_ns);
	row[3] = cell_ns(total_ns / 7);
	row[4] = cell_unknown();
	row[5] = cell_ns(total_ns / 1000);
	row[6] = cell_count(12345678);
	row[7] = cell_percent(percent);
}

static sonde_result *make_report(void)
{
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", NULL, report_columns, 8);

	result_headline(r, "run.sonde   ./train   12.4 s");
	add_row(r, t, 0, "step", 190, 11800000000, 100);
	add_row(r, t, 1, "forward", 190, 6020000000, 51.04);
	add_row(r, t, 2, "attention", 31744, 3110000000, 26.4);
	add_row(r, t, 2, "never", 0, 0, 0);
	t->n_shown = 3;
	t->more = "1 more name: --top all";
	result_note_add(r, "memory", "cpu peak %d MiB", 312);
	return r;
}

static void a_report_has_headline_table_and_notes(void **state)
{
	(void)state;
	sonde_result *r = make_report();

	assert_printed(r, SONDE_TEXT,
		       "run.sonde   ./train   12.4 s\n"
		       "\n"
		       " name            calls   total    self  std      max     %\n"
		       " step              190  11.8 s  1.69 s    -  11.8 ms   100  ████████████\n"
		       "   forward         190  6.02 s  0.86 s    -  6.02 ms  51.0  ██████▏\n"
		       "     attention  31,744  3.11 s  0.44 s    -  3.11 ms  26.4  ███▏\n"
		       " 1 more name: --top all\n"
		       "\n"
		       "memory    cpu peak 312 MiB\n");
	sonde_result_free(r);
}

static void without_unicode_bars_are_hashes(void **state)
{
	(void)state;
	sonde_result *r = make_report();
	char *text = printed(r, SONDE_TEXT, 80, false, false);

	assert_non_null(strstr(text, "  100  ############\n"));
	assert_non_null(strstr(text, " 26.4  ###\n"));
	free(text);
	sonde_result_free(r);
}

static void colour_marks_header_and_bars_only(void **state)
{
	(void)state;
	sonde_result *r = make_report();
	char *text = printed(r, SONDE_TEXT, 80, true, true);

	assert_non_null(strstr(text, "\n\033[1m name "));
	assert_non_null(strstr(text, "     %\033[0m\n"));
	assert_non_null(strstr(text, " 26.4  \033[2m███▏\033[0m\n"));
	free(text);
	sonde_result_free(r);
}

static unsigned widest_line(const char *text)
{
	unsigned widest = 0;

	for (; *text; text += strcspn(text, "\n") + 1) {
		unsigned width = screen_columnsn(text, strcspn(text, "\n"), true);

		widest = width > widest ? width : widest;
	}
	return widest;
}

static void columns_go_by_priority_until_the_table_fits(void **state)
{
	static const struct {
		unsigned width;
		const char *header;
	} cases[] = {
		{ 60, " name            calls   total    self  std      max     %\n" },
		{ 57, " name            calls   total    self      max     %\n" },
		{ 46, " name            calls   total    self     %\n" },
		{ 36, " name            calls   total     %\n" },
		{ 32, " name        calls   total     %\n" },
		{ 20, " name       calls\n" },
		{ 8, " name\n" },
	};
	(void)state;
	sonde_result *r = make_report();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = printed(r, SONDE_TEXT, cases[i].width, true, false);

		assert_non_null(strstr(text, cases[i].header));
		free(text);
	}
	sonde_result_free(r);
}

static void no_line_of_a_table_is_wider_than_the_screen(void **state)
{
	(void)state;
	sonde_result *r = make_report();

	add_row(r, r->tables, 60,
		"deep: 漢字かな交じり文 with a very long name that has to be cut somewhere in the middle of it", 1, 1,
		0.001);
	r->tables->n_shown = 5;
	r->notes = NULL;
	for (unsigned width = 1; width < 200; width++) {
		char *text = printed(r, SONDE_TEXT, width, true, false);

		assert_true(widest_line(text) <= (width > 1 ? width : 2));
		free(text);
	}
	sonde_result_free(r);
}

static void a_long_name_is_cut_in_the_middle_before_it_takes_all_columns(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", NULL, report_columns, 8);

	add_row(r, t, 0, "aten::scaled_dot_product_attention_flash_for_cpu_and_then_some_more_backward", 1, 1940000000,
		61.84);
	char *text = printed(r, SONDE_TEXT, 80, true, false);
	assert_string_equal(text, " name                                  calls   total    self  std      max     %\n"
				  " aten::scaled_dot_p…ome_more_backward      1  1.94 s  277 ms    -  1.94 ms  61.8\n");
	free(text);
	text = printed(r, SONDE_TEXT, 80, false, false);
	assert_non_null(strstr(text, " aten::scaled_dot_..ome_more_backward "));
	free(text);
	sonde_result_free(r);
}

static void hostile_names_cannot_reach_the_terminal(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{ "\033[2J\033]0;owned\a", " ?[2J?]0;owned?\n" },
		{ "a\nb\rc\td", " a?b?c?d\n" },
		{ "\xff\xfe ok \xc3", " ?? ok ?\n" },
		{ "\xc2\x9b"
		  "31m",
		  " ?31m\n" },				  /* C1: CSI */
		{ "\xe2\x80\xaetxt.exe", " ?txt.exe\n" }, /* right-to-left override */
		{ "Größe", " Größe\n" },
		{ "\x7f", " ?\n" },
		{ "", "\n" },
	};
	static const column columns[] = { { .key = "name", .header = "name", .type = CELL_STRING } };
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("report");
		table *t = result_table(r, "names", NULL, columns, 1);
		char expected[64];

		table_row(r, t, 0)[0] = cell_string(cases[i].name);
		snprintf(expected, sizeof expected, " name\n%s", cases[i].shown);
		if (!*cases[i].name)
			strcpy(expected, " name\n \n");
		assert_printed(r, SONDE_TEXT, expected);
		sonde_result_free(r);
	}
}

static void without_unicode_nothing_beyond_ascii_is_printed(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");

	result_headline(r, "Größe 漢字 \033[1m");
	char *text = printed(r, SONDE_TEXT, 80, false, false);
	assert_string_equal(text, "Gr??e ?? ?[1m\n");
	free(text);
	sonde_result_free(r);
}

/* One column of values, printed; the cells joined by '|'. */
static void assert_column(cell_type type, const cell *cells, size_t n, const char *expected)
{
	column columns[] = { { .key = "name", .header = "n", .type = CELL_STRING },
			     { .key = "v", .header = "v", .type = type } };
	sonde_result *r = result_new("units");
	table *t = result_table(r, "t", NULL, columns, 2);
	char joined[256] = "";

	for (size_t i = 0; i < n; i++) {
		cell *row = table_row(r, t, 0);

		row[0] = cell_string("x");
		row[1] = cells[i];
	}
	char *text = printed(r, SONDE_TEXT, 80, true, false);
	strtok(text, "\n");
	for (char *line = strtok(NULL, "\n"); line; line = strtok(NULL, "\n"))
		snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", *joined ? "|" : "",
			 line + 2 + strspn(line + 2, " "));
	assert_string_equal(joined, expected);
	free(text);
	sonde_result_free(r);
}

static void a_column_has_one_unit(void **state)
{
	(void)state;
	cell times[] = { cell_ns(11800000000), cell_ns(6100000000), cell_ns(31700000),
			 cell_ns(0),	       cell_ns(999),	    cell_unknown() };
	assert_column(CELL_NS, times, 6, "11.8 s|6.10 s|0.03 s|0 s|<0.01 s|-");
	cell small[] = { cell_ns(999600), cell_ns(500000), cell_ns(12345), cell_ns(-12345) };
	assert_column(CELL_NS, small, 4, "1.00 ms|0.50 ms|0.01 ms|-0.01 ms");
	cell exact[] = { cell_ns(999), cell_ns(1), cell_ns(0) };
	assert_column(CELL_NS, exact, 3, "999 ns|1 ns|0 ns");
	cell nothing[] = { cell_ns(0), cell_unknown() };
	assert_column(CELL_NS, nothing, 2, "0 s|-");
	cell bytes[] = { cell_bytes(327155712), cell_bytes(1), cell_bytes(0), cell_bytes(104857600) };
	assert_column(CELL_BYTES, bytes, 4, "312 MiB|<0.01 MiB|0 MiB|100 MiB");
	cell huge[] = { cell_ns(INT64_MAX), cell_ns(INT64_MIN) };
	assert_column(CELL_NS, huge, 2, "9,223,372,037 s|-9,223,372,037 s");
}

static void times_of_several_runs_have_one_unit(void **state)
{
	column columns[] = { { .key = "name", .header = "n", .type = CELL_STRING },
			     { .key = "a_ns", .header = "A", .type = CELL_NS },
			     { .key = "b_ns", .header = "B", .type = CELL_NS },
			     { .key = "diff_ns", .header = "difference", .type = CELL_NS },
			     { .key = "other_ns", .header = "other", .type = CELL_NS } };
	sonde_result *r = result_new("units");
	table *t = result_table(r, "t", NULL, columns, 5);
	cell *row = table_row(r, t, 0);

	(void)state;
	row[0] = cell_string("x");
	row[1] = cell_ns(50000);
	row[2] = cell_ns(2000000);
	row[3] = cell_ns(1950000);
	row[4] = cell_ns(50000);
	assert_printed(r, SONDE_TEXT,
		       " n        A        B  difference    other\n"
		       " x  0.05 ms  2.00 ms     1.95 ms  50.0 us\n");
	sonde_result_free(r);
}

static void a_few_large_values_do_not_hide_the_others(void **state)
{
	(void)state;
	cell times[] = { cell_ns(7058000000), cell_ns(9390000), cell_ns(970000), cell_ns(0) };
	assert_column(CELL_NS, times, 4, "7,058 ms|9.39 ms|0.97 ms|0 ms");
	cell apart[] = { cell_ns(99000000), cell_ns(1200), cell_ns(-4500) };
	assert_column(CELL_NS, apart, 3, "99,000 us|1.20 us|-4.50 us");
	cell too_large[] = { cell_ns(100000000000), cell_ns(1200000), cell_ns(4500000) };
	assert_column(CELL_NS, too_large, 3, "100 s|<0.01 s|<0.01 s");
	cell bytes[] = { cell_bytes(5368709120), cell_bytes(1048576), cell_bytes(2097152) };
	assert_column(CELL_BYTES, bytes, 3, "5,120 MiB|1.00 MiB|2.00 MiB");
}

static void each_type_has_its_form(void **state)
{
	(void)state;
	assert_column(CELL_COUNT, (cell[]){ cell_count(UINT64_MAX), cell_count(999), cell_count(1000) }, 3,
		      "18,446,744,073,709,551,615|999|1,000");
	assert_column(CELL_INTEGER, (cell[]){ cell_integer(-12345) }, 1, "-12345");
	assert_column(CELL_PERCENT,
		      (cell[]){ cell_percent(100), cell_percent(99.96), cell_percent(9.996), cell_percent(0.001),
				cell_percent(0), cell_percent(0.0 / 0.0) },
		      6, "100|100|10.0|<0.01|0|-");
	assert_column(CELL_NUMBER,
		      (cell[]){ cell_number(0.5), cell_number(1234567), cell_number(1e-7), cell_number(1e300),
				cell_number(-2.345), cell_number(0) },
		      6, "0.500|1,234,567|1.00e-07|1.00e+300|-2.35|0");
	assert_column(CELL_BOOL, (cell[]){ cell_bool(true), cell_bool(false) }, 2, "yes|no");
}

static void a_string_column_may_hold_values_of_any_type(void **state)
{
	(void)state;
	cell mixed[] = { cell_string("text"), cell_ns(1500), cell_bytes(2048), cell_count(1234) };
	assert_column(CELL_STRING, mixed, 4, "text|1.50 us|2.00 KiB|1,234");
}

static void a_headline_goes_on_between_its_parts(void **state)
{
	static const struct {
		unsigned width;
		const char *shown;
	} cases[] = {
		{ 40, "run.sonde   ./train --fast   12.4 s\n" },
		{ 34, "run.sonde   ./train --fast\n  12.4 s\n" },
		{ 21, "run.sonde\n  ./train --fast\n  12.4 s\n" },
		{ 11, "run.sonde\n./tra\u2026-fast\n12.4 s\n" }, /* a part that is wider than the screen */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("report");
		result_headline(r, "run.sonde   ./train --fast   12.4 s");
		char *text = printed(r, SONDE_TEXT, cases[i].width, true, false);
		assert_string_equal(text, cases[i].shown);
		free(text);
		sonde_result_free(r);
	}
}

static void a_number_stays_with_its_unit(void **state)
{
	static const struct {
		const char *note, *shown;
	} cases[] = {
		{ "of 4 steps 51.7 %, then", "active    of 4 steps\n          51.7 %,\n          then\n" },
		{ "cpu took all 150 ms.", "active    cpu took all\n          150 ms.\n" },
		{ "this takes 3.65 s more", "active    this takes\n          3.65 s more\n" },
		{ "the largest 3 subjects", "active    the largest 3\n          subjects\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("report");
		result_note_add(r, "active", "%s", cases[i].note);
		char *text = printed(r, SONDE_TEXT, i == 0 ? 21 : 23, true, false);
		assert_string_equal(text, cases[i].shown);
		free(text);
		sonde_result_free(r);
	}
}

static void notes_go_on_below_their_text(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");

	result_note_add(r, "lost", "%s",
			"12 events of thread loader, because the ring was full; --buffer 128M keeps them");
	result_note_add(r, "a longer label", "%s", "text\033[0m");
	char *text = printed(r, SONDE_TEXT, 50, true, false);
	assert_string_equal(text, "lost            12 events of thread loader,\n"
				  "                because the ring was full;\n"
				  "                --buffer 128M keeps them\n"
				  "a longer label  text?[0m\n");
	free(text);
	sonde_result_free(r);
}

static void an_empty_table_says_so(void **state)
{
	static const column columns[] = { { .key = "name", .header = "name", .type = CELL_STRING } };
	(void)state;
	sonde_result *r = result_new("report");

	result_table(r, "names", "Thread 1", columns, 1);
	assert_printed(r, SONDE_TEXT, "Thread 1\n name\n (none)\n");
	sonde_result_free(r);
}

static void a_table_with_no_rows_to_show_is_left_out(void **state)
{
	(void)state;
	sonde_result *r = make_report();

	r->tables->n_shown = 0;
	assert_printed(r, SONDE_TEXT, "run.sonde   ./train   12.4 s\n\nmemory    cpu peak 312 MiB\n");
	sonde_result_free(r);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	sonde_result *r = make_report();
	sonde_error err;

	for (int format = SONDE_TEXT; format <= SONDE_CSV; format++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		assert_int_equal(sonde_result_print(r, (sonde_format)format, NULL, full, &err), SONDE_E_IO);
		assert_string_equal(err.message, "cannot write the result: No space left on device");
		fclose(full);
	}
	assert_int_equal(sonde_result_print(r, (sonde_format)99, NULL, stdout, &err), SONDE_E_USAGE);
	sonde_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_has_headline_table_and_notes),
		cmocka_unit_test(without_unicode_bars_are_hashes),
		cmocka_unit_test(colour_marks_header_and_bars_only),
		cmocka_unit_test(times_of_several_runs_have_one_unit),
		cmocka_unit_test(columns_go_by_priority_until_the_table_fits),
		cmocka_unit_test(no_line_of_a_table_is_wider_than_the_screen),
		cmocka_unit_test(a_long_name_is_cut_in_the_middle_before_it_takes_all_columns),
		cmocka_unit_test(hostile_names_cannot_reach_the_terminal),
		cmocka_unit_test(without_unicode_nothing_beyond_ascii_is_printed),
		cmocka_unit_test(a_column_has_one_unit),
		cmocka_unit_test(a_few_large_values_do_not_hide_the_others),
		cmocka_unit_test(each_type_has_its_form),
		cmocka_unit_test(a_string_column_may_hold_values_of_any_type),
		cmocka_unit_test(a_headline_goes_on_between_its_parts),
		cmocka_unit_test(a_number_stays_with_its_unit),
		cmocka_unit_test(notes_go_on_below_their_text),
		cmocka_unit_test(an_empty_table_says_so),
		cmocka_unit_test(a_table_with_no_rows_to_show_is_left_out),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
