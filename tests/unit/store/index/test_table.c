/* Tables of packed rows: the next row that has a value, over many blocks. */
#include "unit/import/imported.h"

enum { N_VALUES = 2000 };

/* A counter whose times come in bursts: 0 10 20 ... 1000 1010 ... */
static imported make_values(void)
{
	char *json = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	assert_non_null(out);
	fprintf(out, "{\"traceEvents\":[");
	for (int i = 0; i < N_VALUES; i++)
		fprintf(out, "%s{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":%d,\"args\":{\"v\":%d}}", i ? "," : "",
			i / 100 * 1000 + i % 100 * 10, i % 3);
	fprintf(out, "]}");
	assert_int_equal(fclose(out), 0);
	imported result = import_bytes(json, len, (import_how){ 0 });
	assert_int_equal(result.status, SONDE_OK);
	assert_int_equal(index_n_rows(result.ix, SECTION_VALUES), N_VALUES);
	free(json);
	return result;
}

static size_t count(const sonde_index *ix, unsigned column, int64_t value, uint64_t first)
{
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];
	size_t n = 0;

	assert_non_null(c);
	for (table_first(c, ix, SECTION_VALUES, first); table_next_with(c, column, value, row); n++) {
		assert_true(row[column] == value);
		assert_true(c->row > first);
	}
	assert_true(c->row >= N_VALUES);
	assert_false(c->damaged);
	free(c);
	return n;
}

static void every_row_of_a_value_is_found(void **state)
{
	imported i = make_values();
	double two = 2;
	int64_t bits;

	(void)state;
	memcpy(&bits, &two, sizeof bits);
	for (int k = 0; k < N_VALUES; k += 7)
		assert_int_equal(count(i.ix, VALUE_TIME, 1000 * (k / 100 * 1000 + k % 100 * 10), 0), 1);
	assert_int_equal(count(i.ix, VALUE_BITS, bits, 0), N_VALUES / 3);
	assert_int_equal(count(i.ix, VALUE_BITS, bits, N_VALUES - 3), 1);
	assert_int_equal(count(i.ix, VALUE_TIME, 5, 0), 0);
	assert_int_equal(count(i.ix, VALUE_TIME, -1, 0), 0);
	assert_int_equal(count(i.ix, VALUE_TIME, INT64_MAX, 0), 0);
	assert_int_equal(count(i.ix, VALUE_TIME, INT64_MIN, 0), 0);
	index_free(i.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_row_of_a_value_is_found) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
