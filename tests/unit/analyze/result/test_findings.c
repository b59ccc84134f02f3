/* Findings: what they hold, their order, and a result read piece by piece. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/result/result.h"
#include "analyze/settings.h"

static void a_finding_holds_what_was_said(void **state)
{
	(void)state;
	sonde_result *r = result_new("bottlenecks");
	sonde_finding *f = result_finding(r, "dataloader", SONDE_HIGH, "data loading holds up %d steps", 190);
	char name[16];

	assert_float_equal(f->seconds_lost, -1, 0);
	assert_float_equal(f->share, -1, 0);
	finding_lost(f, 1940000000, 12125000000);
	finding_suggest(r, f, "prefetch %d batches", 2);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "op %d", i % 50);
		finding_evidence(r, f, "sentence %d", i);
		finding_affects(r, f, name);
		finding_slice(r, f, (uint64_t)i * 7);
	}
	finding_time(f, 50, 60);
	finding_time(f, 40, 55);
	finding_steps(f, 11, 200);
	assert_true(result_ok(r));
	const sonde_finding *seen = sonde_result_finding(r, 0);
	assert_int_equal(sonde_result_n_findings(r), 1);
	assert_null(sonde_result_finding(r, 1));
	assert_string_equal(seen->title, "data loading holds up 190 steps");
	assert_string_equal(seen->suggestion, "prefetch 2 batches");
	assert_float_equal(seen->seconds_lost, 1.94, 1e-12);
	assert_float_equal(seen->share, 0.16, 1e-12);
	assert_int_equal(seen->n_evidence, 100);
	assert_string_equal(seen->evidence[63], "sentence 63");
	assert_int_equal(seen->n_affected, 50);
	assert_string_equal(seen->affected[49], "op 49");
	assert_int_equal(seen->n_slices, 100);
	assert_int_equal(seen->slices[99], 99 * 7);
	assert_int_equal(seen->from_ns, 40);
	assert_int_equal(seen->to_ns, 60);
	assert_string_equal(sonde_severity_name(seen->severity), "high");
	sonde_result_free(r);
}

static void the_most_expensive_comes_first_and_the_unknown_last(void **state)
{
	(void)state;
	sonde_result *r = result_new("bottlenecks");

	result_finding(r, "unknown", SONDE_CRITICAL, "a");
	finding_lost(result_finding(r, "small", SONDE_HIGH, "b"), 1000, 10000);
	finding_lost(result_finding(r, "equal b", SONDE_LOW, "c"), 5000, 10000);
	finding_lost(result_finding(r, "equal a", SONDE_LOW, "d"), 5000, 10000);
	finding_lost(result_finding(r, "equal c", SONDE_MEDIUM, "e"), 5000, 10000);
	result_rank_findings(r);
	static const char *const order[] = { "equal c", "equal a", "equal b", "small", "unknown" };
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(sonde_result_finding(r, i)->rule, order[i]);
	sonde_result_free(r);
}

static void after_out_of_memory_nothing_is_added(void **state)
{
	(void)state;
	sonde_result *r = result_new("bottlenecks");

	r->failed = true;
	sonde_finding *f = result_finding(r, "rule", SONDE_LOW, "title");
	finding_evidence(r, f, "sentence");
	finding_suggest(r, f, "change");
	finding_affects(r, f, "name");
	finding_slice(r, f, 1);
	result_rank_findings(r);
	assert_int_equal(sonde_result_n_findings(r), 0);
	sonde_result_free(r);
}

static const column columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "n", .header = "n", .type = CELL_COUNT },
	{ .key = "total_ns", .header = "total", .type = CELL_NS },
	{ .key = "ok", .header = "ok", .type = CELL_BOOL },
};

static void a_result_can_be_walked_cell_by_cell(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "names", "Names", columns, 4);
	cell *row = table_row(r, t, 2);
	const char *key, *text;
	sonde_value value;
	sonde_column c;

	row[0] = cell_string("step");
	row[1] = cell_count(UINT64_MAX);
	row[2] = cell_ns(-5);
	row[3] = cell_bool(true);
	result_headline(r, "run");
	result_add(r, "peak", cell_percent(12.5));
	result_note_add(r, "memory", "much");
	assert_string_equal(sonde_result_headline(r), "run");
	assert_int_equal(sonde_result_n_tables(r), 1);
	const sonde_table *found = sonde_result_find_table(r, "names");
	assert_ptr_equal(found, sonde_result_table(r, 0));
	assert_null(sonde_result_table(r, 1));
	assert_null(sonde_result_find_table(r, "no"));
	assert_string_equal(sonde_table_title(found), "Names");
	assert_string_equal(sonde_table_key(found), "names");
	assert_int_equal(sonde_table_n_rows(found), 1);
	assert_int_equal(sonde_table_n_columns(found), 4);
	assert_true(sonde_table_column(found, 2, &c));
	assert_string_equal(c.unit, "ns");
	assert_string_equal(c.key, "total_ns");
	assert_int_equal(c.type, SONDE_VALUE_NS);
	assert_false(sonde_table_column(found, 4, &c));
	assert_int_equal(sonde_table_depth(found, 0), 2);
	assert_string_equal(sonde_table_cell(found, 0, 0).string, "step");
	assert_int_equal(sonde_table_cell(found, 0, 1).integer, INT64_MAX);
	assert_int_equal(sonde_table_cell(found, 0, 2).integer, -5);
	assert_int_equal(sonde_table_cell(found, 0, 3).integer, 1);
	assert_int_equal(sonde_table_cell(found, 1, 0).type, SONDE_VALUE_UNKNOWN);
	assert_int_equal(sonde_table_cell(found, 0, 4).type, SONDE_VALUE_UNKNOWN);
	assert_float_equal(sonde_result_value(r, "peak").number, 12.5, 0);
	assert_int_equal(sonde_result_value(r, "none").type, SONDE_VALUE_UNKNOWN);
	assert_true(sonde_result_value_at(r, 0, &key, &value));
	assert_string_equal(key, "peak");
	assert_false(sonde_result_value_at(r, 1, &key, &value));
	assert_true(sonde_result_note(r, 0, &key, &text));
	assert_string_equal(text, "much");
	assert_false(sonde_result_note(r, 1, &key, &text));
	sonde_result_free(r);
}

static void a_setting_is_the_last_that_was_given(void **state)
{
	(void)state;
	static const setting_def warn = { "x.warn", SETTING_SHARE, "5%", "" },
				 gap = { "x.gap", SETTING_NS, "20ms", "" };
	const sonde_setting given[] = { { "x.warn", "1%" }, { "x.warn", "10%" } };
	sonde_analyze_options none = { .n_settings = 0 }, some = { .settings = given, .n_settings = 2 };
	const char *needs;
	double value;

	assert_float_equal(setting(&none, &warn), 0.05, 1e-15);
	assert_float_equal(setting(&some, &warn), 0.10, 1e-15);
	assert_float_equal(setting(&some, &gap), 20e6, 0);
	assert_false(setting_parse(&gap, "soon", &value, &needs));
	assert_string_equal(needs, "a time such as 20ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_holds_what_was_said),
		cmocka_unit_test(the_most_expensive_comes_first_and_the_unknown_last),
		cmocka_unit_test(after_out_of_memory_nothing_is_added),
		cmocka_unit_test(a_result_can_be_walked_cell_by_cell),
		cmocka_unit_test(a_setting_is_the_last_that_was_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
