/* The tables and columns that are listed are those that SQL knows. */
#include "small_trace.h"

#include <stdio.h>
#include "query/table.h"

static void every_listed_column_can_be_selected(void **state)
{
	sonde_index *ix = small_trace();
	sonde_query *q = NULL;
	const char *table, *name, *type, *summary;
	size_t n_tables = 0, at;
	char sql[256];
	bool is_row;

	(void)state;
	assert_int_equal(query_open_index(ix, NULL, &q, NULL), SONDE_OK);
	for (; sonde_query_table(n_tables, &table, &summary); n_tables++) {
		size_t n = 0;
		assert_true(*table && *summary);
		for (; sonde_query_table_column(n_tables, n, &name, &type, &summary); n++) {
			assert_true(*name && *summary && strlen(type) < 20);
			snprintf(sql, sizeof sql, "select \"%s\" from %s limit 1", name, table);
			at = 0;
			assert_int_equal(sonde_query_prepare(q, sql, &at, NULL), SONDE_OK);
			assert_int_equal(sonde_query_step(q, &is_row, NULL), SONDE_OK);
		}
		assert_true(n > 0);
		/* All there are. */
		snprintf(sql, sizeof sql, "select * from %s limit 0", table);
		at = 0;
		assert_int_equal(sonde_query_prepare(q, sql, &at, NULL), SONDE_OK);
		assert_int_equal(sonde_query_n_columns(q), n);
		assert_false(sonde_query_table_column(n_tables, SIZE_MAX, &name, &type, &summary));
	}
	assert_true(n_tables > 0);
	assert_false(sonde_query_table(SIZE_MAX, &table, &summary));
	assert_false(sonde_query_table_column(n_tables, 0, &name, &type, &summary));
	sonde_query_free(q);
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_listed_column_can_be_selected) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
