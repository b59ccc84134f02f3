/* Building results: order, copies, growth, and out of memory. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/result/result.h"

static const column columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "n", .header = "n", .type = CELL_COUNT },
};

static void things_keep_their_order(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");

	result_add(r, "a", cell_count(1));
	result_add(r, "b", cell_count(2));
	result_note_add(r, "x", "%d", 1);
	result_note_add(r, "y", "%d", 2);
	table *first = result_table(r, "t", NULL, columns, 2), *second = result_table(r, "u", "title", columns, 2);
	assert_true(result_ok(r));
	assert_string_equal(r->values->key, "a");
	assert_string_equal(r->values->next->key, "b");
	assert_null(r->values->next->next);
	assert_string_equal(r->notes->label, "x");
	assert_string_equal(r->notes->next->text, "2");
	assert_ptr_equal(r->tables, first);
	assert_ptr_equal(first->next, second);
	assert_null(second->next);
	sonde_result_free(r);
}

static void what_is_taken_comes_behind_and_lives_on(void **state)
{
	(void)state;
	sonde_result *r = result_new("report"), *other = result_new("other");

	result_add(r, "a", cell_count(1));
	result_note_add(r, "x", "1");
	result_add(other, "b", cell_string("text"));
	result_note_add(other, "y", "%d", 2);
	table *t = result_table(other, "t", NULL, columns, 2);
	table_row(other, t, 0)[1] = cell_count(7);
	result_take(r, other);
	assert_true(result_ok(r));
	assert_string_equal(r->values->next->value.string, "text");
	assert_string_equal(r->notes->next->label, "y");
	assert_ptr_equal(r->tables, t);
	table_row(r, t, 0)[1] = cell_count(8); /* it is r's table now */
	assert_int_equal(t->cells[1].count, 7);
	other = result_new("failed");
	other->failed = true;
	result_take(r, other);
	assert_false(result_ok(r));
	result_take(r, NULL);
	sonde_result_free(r);
}

static void strings_are_copied(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	char text[] = "before";

	result_add(r, text, cell_string(text));
	result_note_add(r, text, "%s", text);
	result_headline(r, "%s", text);
	const char *copy = result_string(r, text);
	table *t = result_table(r, text, text, columns, 2);
	memcpy(text, "after!", sizeof text);
	assert_string_equal(r->values->key, "before");
	assert_string_equal(r->values->value.string, "before");
	assert_string_equal(r->notes->label, "before");
	assert_string_equal(r->notes->text, "before");
	assert_string_equal(r->headline, "before");
	assert_string_equal(copy, "before");
	assert_string_equal(t->key, "before");
	assert_string_equal(t->title, "before");
	assert_null(result_string(r, NULL));
	assert_true(result_ok(r));
	sonde_result_free(r);
}

static void rows_begin_unknown_and_survive_growth(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "t", NULL, columns, 2);

	for (unsigned i = 0; i < 1000; i++) {
		cell *row = table_row(r, t, i);

		assert_int_equal(row[0].type, CELL_UNKNOWN);
		assert_int_equal(row[1].type, CELL_UNKNOWN);
		row[0] = cell_string(result_format(r, "row %u", i));
		row[1] = cell_count(i);
	}
	assert_true(result_ok(r));
	assert_int_equal(t->n_rows, 1000);
	assert_true(t->n_shown >= t->n_rows);
	for (unsigned i = 0; i < 1000; i++) {
		char expected[16];

		snprintf(expected, sizeof expected, "row %u", i);
		assert_string_equal(t->cells[i * 2].string, expected);
		assert_int_equal(t->cells[i * 2 + 1].count, i);
		assert_int_equal(t->depths[i], i < 255 ? i : 255);
	}
	sonde_result_free(r);
}

static void after_out_of_memory_calls_are_harmless(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	table *t = result_table(r, "t", NULL, columns, 2);
	sonde_error err;

	r->failed = true;
	table_row(r, t, 0)[1] = cell_count(1);
	table_row(r, NULL, 0)[1] = cell_count(1);
	result_add(r, "a", cell_string("b"));
	result_note_add(r, "a", "b");
	result_headline(r, "a");
	assert_null(result_format(r, "a"));
	assert_null(result_table(r, "t", NULL, columns, 2));
	assert_int_equal(t->n_rows, 0);
	assert_null(r->values);
	assert_null(r->notes);
	assert_null(r->headline);
	assert_int_equal(sonde_result_print(r, SONDE_TEXT, NULL, stdout, &err), SONDE_E_MEMORY);
	assert_false(result_ok(r));
	assert_false(result_ok(NULL));
	sonde_result_free(r);
	sonde_result_free(NULL);
}

static cell make_square(const void *context, size_t n, size_t at)
{
	return at ? cell_count(n * n) : cell_string(context);
}

static void a_table_can_make_its_cells_when_they_are_asked_for(void **state)
{
	sonde_result *r = result_new("report");
	table *t = result_table(r, "t", NULL, columns, 2);

	(void)state;
	table_make(t, 1000000, NULL, make_square, "name");
	assert_int_equal(sonde_table_n_rows(t), 1000000);
	assert_int_equal(sonde_table_cell(t, 1000, 1).integer, 1000000);
	assert_string_equal(sonde_table_cell(t, 5, 0).string, "name");
	assert_int_equal(sonde_table_cell(t, 1000000, 1).type, SONDE_VALUE_UNKNOWN);
	assert_int_equal(sonde_table_depth(t, 3), 0);
	sonde_result_free(r);
}

static void count_release(void *object)
{
	++*(int *)object;
}

static void what_is_owned_is_released_with_the_result_once(void **state)
{
	sonde_result *r = result_new("report"), *other = result_new("other");
	int n = 0;

	(void)state;
	result_own(r, count_release, &n);
	result_own(other, count_release, &n);
	result_take(r, other);
	assert_int_equal(n, 0);
	sonde_result_free(r);
	assert_int_equal(n, 2);
	r = result_new("failed");
	r->failed = true;
	result_own(r, count_release, &n); /* nobody keeps it */
	assert_int_equal(n, 3);
	sonde_result_free(r);
	assert_int_equal(n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(things_keep_their_order),
		cmocka_unit_test(a_table_can_make_its_cells_when_they_are_asked_for),
		cmocka_unit_test(what_is_owned_is_released_with_the_result_once),
		cmocka_unit_test(what_is_taken_comes_behind_and_lives_on),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(rows_begin_unknown_and_survive_growth),
		cmocka_unit_test(after_out_of_memory_calls_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
