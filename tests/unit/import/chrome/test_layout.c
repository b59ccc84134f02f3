/* Layouts: what is a whole number, and that events whose layout is known are read as those that are new. */
#include "unit/import/imported.h"

#include "import/chrome/chrome.h"

static void whole_numbers_are_those_that_come_back_the_same(void **state)
{
	static const struct {
		const char *text;
		bool is_int;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "7", true, 7 },
		{ "-7", true, -7 },
		{ "123456789012345678", true, 123456789012345678 },
		{ "-123456789012345678", true, -123456789012345678 },
		{ "1234567890123456789", false, 0 }, /* 19 digits */
		{ "-0", false, 0 },
		{ "00", false, 0 },
		{ "01", false, 0 },
		{ "+1", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "1a", false, 0 },
		{ " 1", false, 0 },
		{ "0x1", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t value = 0;
		assert_int_equal(chrome_is_int((const uint8_t *)cases[i].text, strlen(cases[i].text), &value),
				 cases[i].is_int);
		assert_int_equal(value, cases[i].value);
	}
}

/* check_cases() imports with the matcher, which knows a layout from its second event on, and without. */
static void events_of_a_known_layout_are_the_same(void **state)
{
	static const import_case cases[] = {
		{ "the same members in another order",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'x':1,'y':2}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'args':{'x':3,'y':4}},"
		  "{'args':{'y':6,'x':5},'dur':1,'ts':5,'tid':1,'pid':1,'name':'a','ph':'X'},"
		  "{'args':{'y':8,'x':7},'dur':1,'ts':7,'tid':1,'pid':1,'name':'a','ph':'X'}]",
		  "slice 1/1 [1000 +1000] :a {'x':1,'y':2}\n"
		  "slice 1/1 [3000 +1000] :a {'x':3,'y':4}\n"
		  "slice 1/1 [5000 +1000] :a {'y':6,'x':5}\n"
		  "slice 1/1 [7000 +1000] :a {'y':8,'x':7}\n"
		  "4 events, 0 lost\n" },
		{ "one that begins like another",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1},{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,"
		  "'dur':1,'args':{'x':1}},{'ph':'X','name':'a','pid':1,'tid':1,'ts':5,'dur':1},{'ph':'X','name':'a',"
		  "'pid':1,'tid':1,'ts':7,'dur':1,'args':{'x':2}},{'ph':'X','name':'a','pid':1,'tid':1,'ts':9,'dur':1,"
		  "'args':{'xx':2}}]",
		  "slice 1/1 [1000 +1000] :a\n"
		  "slice 1/1 [3000 +1000] :a {'x':1}\n"
		  "slice 1/1 [5000 +1000] :a\n"
		  "slice 1/1 [7000 +1000] :a {'x':2}\n"
		  "slice 1/1 [9000 +1000] :a {'xx':2}\n"
		  "5 events, 0 lost\n" },
		{ "ids with and without quotes",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1},{'ph':'X','name':'a','pid':'1','tid':'1','ts':"
		  "3,"
		  "'dur':1},{'ph':'X','name':'a','pid':'1','tid':'x','ts':5,'dur':1},{'ph':'X','name':'a','pid':1,'tid'"
		  ":"
		  "1,'ts':7,'dur':1}]",
		  "slice 1/<x> [5000 +1000] :a\n"
		  "slice 1/1 [1000 +1000] :a\n"
		  "slice 1/1 [3000 +1000] :a\n"
		  "slice 1/1 [7000 +1000] :a\n"
		  "4 events, 0 lost\n" },
		{ "a value that looks like the text behind it",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'x':'}'}},{'ph':'X','name':'}}','pid':"
		  "1,"
		  "'tid':1,'ts':3,'dur':1,'args':{'x':'},{'}}]",
		  "slice 1/1 [1000 +1000] :a {'x':'}'}\n"
		  "slice 1/1 [3000 +1000] :}} {'x':'},{'}\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

/* More layouts than the tree has room for: the matcher learns no more, and nothing is lost. */
static void layouts_beyond_measure_are_read_the_slow_way(void **state)
{
	enum { N = 6000 };
	char *json;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	(void)state;
	fputs("[", out);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++)
			fprintf(out,
				"%s{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1,\"args\":{\"k%d\": %d, \"l%d\": "
				"2}}",
				i || round ? "," : "", 2 * (i + round * N), i, i, i);
	fputs("]", out);
	fclose(out);
	imported result = import_all_ways(json, len, "many layouts");
	assert_int_equal(result.status, SONDE_OK);
	assert_int_equal(result.job.n_events, 2 * N);
	assert_int_equal(imported_lost(&result), 0);
	index_free(result.ix);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_those_that_come_back_the_same),
		cmocka_unit_test(events_of_a_known_layout_are_the_same),
		cmocka_unit_test(layouts_beyond_measure_are_read_the_slow_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
