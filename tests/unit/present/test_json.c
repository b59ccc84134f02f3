/* Results as JSON: exact values, every row, valid whatever the names are. */
#include "printed.h"

static const column columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "total_ns", .header = "total", .type = CELL_NS, .priority = -1 },
	{ .key = "percent", .header = "%", .type = CELL_PERCENT },
};

static void add_row(sonde_result *r, table *t, unsigned depth, const char *name, cell total, double percent)
{
	cell *row = table_row(r, t, depth);

	row[0] = cell_string(name);
	row[1] = total;
	row[2] = cell_percent(percent);
}

static void a_result_is_one_object_with_a_schema(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", "a title", columns, 3);

	result_headline(r, "not in JSON");
	result_add(r, "file", cell_string("run.sonde"));
	result_add(r, "n_lost", cell_count(UINT64_MAX));
	result_add(r, "start_ns", cell_ns(INT64_MIN));
	result_add(r, "peak_bytes", cell_unknown());
	result_add(r, "complete", cell_bool(true));
	add_row(r, t, 0, "step", cell_ns(9007199254740993), 100);
	add_row(r, t, 0, "odd \"\n\033\xff", cell_unknown(), 1.0 / 3);
	add_row(r, t, 0, "", cell_ns(0), 0.0 / 0.0);
	t->n_shown = 1;
	result_note_add(r, "memory", "cpu peak %d MiB", 312);
	assert_printed(
		r, SONDE_JSON,
		"{\n"
		" \"schema\": \"sonde.report/1\",\n"
		" \"file\": \"run.sonde\",\n"
		" \"n_lost\": 18446744073709551615,\n"
		" \"start_ns\": -9223372036854775808,\n"
		" \"peak_bytes\": null,\n"
		" \"complete\": true,\n"
		" \"names\": [\n"
		"  {\"name\": \"step\", \"total_ns\": 9007199254740993, \"percent\": 100},\n"
		"  {\"name\": \"odd \\\"\\n\\u001b\uFFFD\", \"total_ns\": null, \"percent\": 0.3333333333333333},\n"
		"  {\"name\": \"\", \"total_ns\": 0, \"percent\": null}\n"
		" ],\n"
		" \"notes\": [\n"
		"  {\"label\": \"memory\", \"text\": \"cpu peak 312 MiB\"}\n"
		" ]\n"
		"}\n");
	sonde_result_free(r);
}

static void rows_of_a_tree_have_a_depth(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", NULL, columns, 1);

	table_row(r, t, 0)[0] = cell_string("a");
	table_row(r, t, 1)[0] = cell_string("b");
	assert_printed(r, SONDE_JSON,
		       "{\n \"schema\": \"sonde.report/1\",\n \"names\": [\n"
		       "  {\"name\": \"a\", \"depth\": 0},\n"
		       "  {\"name\": \"b\", \"depth\": 1}\n"
		       " ],\n \"notes\": []\n}\n");
	sonde_result_free(r);
}

static void an_empty_result_is_still_an_object(void **state)
{
	(void)state;
	sonde_result *r = result_new("info");

	result_table(r, "names", NULL, columns, 3);
	assert_printed(r, SONDE_JSON, "{\n \"schema\": \"sonde.info/1\",\n \"names\": [],\n \"notes\": []\n}\n");
	sonde_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_one_object_with_a_schema),
		cmocka_unit_test(rows_of_a_tree_have_a_depth),
		cmocka_unit_test(an_empty_result_is_still_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
