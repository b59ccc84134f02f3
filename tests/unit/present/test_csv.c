/* Results as CSV: RFC 4180, exact values, nothing that a spreadsheet would run. */
#include "printed.h"

static const column columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "total_ns", .header = "total", .type = CELL_NS, .priority = -1 },
	{ .key = "percent", .header = "%", .type = CELL_PERCENT },
};

static void the_first_table_has_all_its_rows(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", "title", columns, 3);

	result_add(r, "file", cell_string("not in the table"));
	for (int i = 0; i < 2; i++) {
		cell *row = table_row(r, t, 0);

		row[0] = cell_string(i ? "b" : "a,1");
		row[1] = cell_ns(-9007199254740993);
		row[2] = i ? cell_percent(0.1) : cell_unknown();
	}
	t->n_shown = 1;
	result_table(r, "more", NULL, columns, 3);
	result_note_add(r, "note", "text");
	assert_printed(r, SONDE_CSV,
		       "name,total_ns,percent\r\n"
		       "\"a,1\",-9007199254740993,\r\n"
		       "b,-9007199254740993,0.1\r\n");
	sonde_result_free(r);
}

static void strings_are_quoted_and_made_harmless(void **state)
{
	static const struct {
		const char *name, *written;
	} cases[] = {
		{ "plain", "plain" },
		{ "a \"b\"", "\"a \"\"b\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "=cmd|'/c calc'!A1", "\"'=cmd|'/c calc'!A1\"" },
		{ "+1", "\"'+1\"" },
		{ "-1", "\"'-1\"" },
		{ "@x", "\"'@x\"" },
		{ "\tx", "\"'\tx\"" },
		{ "\rx", "\"'\rx\"" },
		{ " x", "\" x\"" },
		{ "", "" },
		{ "\033[2J", "\uFFFD[2J" },
		{ "\xff", "\uFFFD" },
		{ "Größe", "Größe" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("report");
		table *t = result_table(r, "names", NULL, columns, 1);
		char expected[128];

		table_row(r, t, 0)[0] = cell_string(cases[i].name);
		snprintf(expected, sizeof expected, "name\r\n%s\r\n", cases[i].written);
		assert_printed(r, SONDE_CSV, expected);
		sonde_result_free(r);
	}
}

static void rows_of_a_tree_have_a_depth(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", NULL, columns, 1);

	table_row(r, t, 0)[0] = cell_string("a");
	table_row(r, t, 1)[0] = cell_string("b");
	assert_printed(r, SONDE_CSV, "name,depth\r\na,0\r\nb,1\r\n");
	sonde_result_free(r);
}

static void without_a_table_the_single_values_make_a_row(void **state)
{
	(void)state;
	sonde_result *r = result_new("info");

	result_add(r, "n_kept", cell_count(12));
	result_add(r, "command", cell_string("-x"));
	assert_printed(r, SONDE_CSV, "n_kept,command\r\n12,\"'-x\"\r\n");
	sonde_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_table_has_all_its_rows),
		cmocka_unit_test(strings_are_quoted_and_made_harmless),
		cmocka_unit_test(rows_of_a_tree_have_a_depth),
		cmocka_unit_test(without_a_table_the_single_values_make_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
