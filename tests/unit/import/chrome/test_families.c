/* Records of arguments: numbers until the first text comes, texts from then on, and always the same value. */
#include "unit/import/imported.h"

static void a_key_may_have_numbers_and_texts(void **state)
{
	static const import_case cases[] = {
		{ "numbers, then a text, then numbers",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'n': 1}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'args':{'n': 2}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':5,'dur':1,'args':{'n': 'x'}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':7,'dur':1,'args':{'n': -3}}]",
		  "slice 1/1 [1000 +1000] :a {'n': 1}\n"
		  "slice 1/1 [3000 +1000] :a {'n': 2}\n"
		  "slice 1/1 [5000 +1000] :a {'n': 'x'}\n"
		  "slice 1/1 [7000 +1000] :a {'n': -3}\n"
		  "4 events, 0 lost\n" },
		{ "numbers that are not whole, or too long",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'n': 1.50}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'args':{'n': 7}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':5,'dur':1,'args':{'n': 123456789012345678901234567890}},"
		  "@{'ph':'X','name':'a','pid':1,'tid':1,'ts':7,'dur':1,'args':{'n': 007}}]",
		  "slice 1/1 [1000 +1000] :a {'n': 1.50}\n"
		  "slice 1/1 [3000 +1000] :a {'n': 7}\n"
		  "slice 1/1 [5000 +1000] :a {'n': 123456789012345678901234567890}\n"
		  "slice 1/1 [7000 +1000] :a {'n': 007}\n"
		  "repaired 1 from @1: values that are not JSON, kept as text\n"
		  "4 events, 0 lost\n" },
		{ "several keys that change one after the other",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'n': 1,'m': 1}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'args':{'n': 'x','m': 2}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':5,'dur':1,'args':{'n': 3,'m': null}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':7,'dur':1,'args':{'n': 4,'m': 4}}]",
		  "slice 1/1 [1000 +1000] :a {'n': 1,'m': 1}\n"
		  "slice 1/1 [3000 +1000] :a {'n': 'x','m': 2}\n"
		  "slice 1/1 [5000 +1000] :a {'n': 3,'m': null}\n"
		  "slice 1/1 [7000 +1000] :a {'n': 4,'m': 4}\n"
		  "4 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void members_beside_the_args_are_kept_with_them(void **state)
{
	static const import_case cases[] = {
		{ "before, behind, and without args",
		  "[{'tts':5,'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'n': 1},'cname':'good'},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'cname':7}]",
		  "slice 1/1 [1000 +1000] :a {'n': 1} | 'tts': 5, 'cname': 'good'\n"
		  "slice 1/1 [3000 +1000] :a | 'cname': 7\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

/* Thousands of records whose kinds change in the middle; every value is compared, however many threads read. */
static void values_survive_a_change_of_kind_in_a_large_file(void **state)
{
	enum { N = 20000 };
	char *json, expected[64];
	size_t len;
	FILE *out = open_memstream(&json, &len);

	(void)state;
	fputs("[", out);
	for (int i = 0; i < N; i++)
		fprintf(out,
			i % 997 == 500 ? "%s{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1,\"args\":{\"n\": \"t%d\"}}"
				       : "%s{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1,\"args\":{\"n\": %d}}",
			i ? ",\n" : "", 2 * i, i);
	fputs("]", out);
	fclose(out);
	imported result = import_all_ways(json, len, "change of kind");
	args_reader *r = args_reader_new(result.ix);
	assert_non_null(r);
	for (int i = 0; i < N; i++) {
		args_text text;
		assert_true(args_read(r, (uint32_t)i + 1, &text));
		int n = snprintf(expected, sizeof expected, i % 997 == 500 ? "{\"n\": \"t%d\"}" : "{\"n\": %d}", i);
		assert_int_equal(text.args_len, n);
		assert_memory_equal(text.args, expected, (size_t)n);
	}
	args_reader_free(r);
	index_free(result.ix);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_may_have_numbers_and_texts),
		cmocka_unit_test(members_beside_the_args_are_kept_with_them),
		cmocka_unit_test(values_survive_a_change_of_kind_in_a_large_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
