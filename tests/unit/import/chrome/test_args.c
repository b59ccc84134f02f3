/* Arguments that mean something: found by key, numbers in every form, the last of several. */
#include "unit/import/imported.h"

static void whole_numbers_are_read_in_every_form(void **state)
{
	static const struct {
		const char *bytes, *address;
		int64_t n_bytes;
		uint64_t addr;
	} cases[] = {
		{ "64", "16", 64, 16 },
		{ "\"64\"", "\"16\"", 64, 16 },
		{ "-64", "0", -64, 0 },
		{ "6.4e1", "1.6e1", 64, 16 },
		{ "64.4", "16", 64, 16 }, /* the nearest */
		{ "9223372036854775807", "18446744073709551615", INT64_MAX, UINT64_MAX },
		{ "null", "null", 0, 0 },
		{ "\"many\"", "16", 0, 16 },
		{ "[64]", "16", 0, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char json[512];
		int64_t row[COLUMNS_MAX];
		int len = snprintf(
			json, sizeof json,
			"[{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{"
			"\"Bytes\": %s, \"Addr\": %s, \"Device Type\": 1, \"Device Id\": 3}}]",
			cases[i].bytes, cases[i].address);
		imported result = import_bytes(json, (size_t)len, (import_how){ 0 });
		table_cursor *cursor = malloc(sizeof *cursor);
		assert_non_null(cursor);
		table_first(cursor, result.ix, SECTION_ALLOCATIONS, 0);
		assert_true(table_next(cursor, row));
		assert_int_equal(row[ALLOCATION_BYTES], cases[i].n_bytes);
		assert_true((uint64_t)row[ALLOCATION_ADDRESS] == cases[i].addr);
		assert_int_equal(row[ALLOCATION_DEVICE_TYPE], 1);
		assert_int_equal(row[ALLOCATION_DEVICE], 3);
		free(cursor);
		index_free(result.ix);
	}
}

static void of_several_with_the_same_key_the_last_one_counts(void **state)
{
	static const import_case cases[] = {
		{ "a sort index",
		  "[{'ph':'M','name':'thread_sort_index','pid':1,'tid':1,'args':{'sort_index': 3, 'sort_index': "
		  "5}},{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1}]",
		  "track 1/1 sort 5\n"
		  "slice 1/1 [1000 +1000] :a\n"
		  "2 events, 0 lost\n" },
		{ "a key that begins like it",
		  "[{'ph':'M','name':'thread_sort_index','pid':1,'tid':1,'args':{'sort_index_': 3, 'sort': "
		  "5}},{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1}]",
		  "slice 1/1 [1000 +1000] :a\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void whole_args_objects_are_put_together_again(void **state)
{
	static const import_case cases[] = {
		{ "of metadata: numbers, texts, lists, as they stood",
		  "[{'ph':'M','name':'x','args':{ 'a' : 1,'b':'t','c':[1, 2] , 'd':-7, 'e': 1.50}}]",
		  "meta x = { 'a' : 1,'b':'t','c':[1, 2] , 'd':-7, 'e': 1.50}\n"
		  "1 events, 0 lost\n" },
		{ "an empty one", "[{'ph':'M','name':'x','args':{}}]",
		  "meta x = {}\n"
		  "1 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_read_in_every_form),
		cmocka_unit_test(of_several_with_the_same_key_the_last_one_counts),
		cmocka_unit_test(whole_args_objects_are_put_together_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
