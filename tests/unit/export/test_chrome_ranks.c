/* Several ranks in one file: processes that share an id, arrows that share an id, and what each rank says of itself. */
#include "unit/export/exported.h"

#define RANK(n, more)                                                                                                  \
	"{'distributedInfo': {'rank': " #n ", 'world_size': 2}, 'traceEvents': ["                                      \
	"{'ph':'X','name':'a" #n "','pid':1,'tid':2,'ts':1,'dur':1}" more "]}"
#define ARROW(id) ",{'ph':'s','name':'go','cat':'c','id':" #id ",'pid':1,'tid':2,'ts':1}"

static void processes_of_the_same_id_get_another(void **state)
{
	static const char *const files[] = { RANK(0, ""), RANK(1, "") };
	char *text = exported(files, 2);

	(void)state;
	expect_lines(text,
		     "{'ph': 'M', 'name': 'sonde_rank', 'pid': 1, 'args': {'rank': 0, 'pid': 1, 'flows': 0}}\n"
		     "{'ph': 'M', 'name': 'sonde_rank', 'pid': 1073741824, 'args': {'rank': 1, 'pid': 1, 'flows': 1}}\n"
		     "{'ph': 'X', 'name': 'a0', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 1.000}\n"
		     "{'ph': 'X', 'name': 'a1', 'pid': 1073741824, 'tid': 2, 'ts': 1.000, 'dur': 1.000}",
		     NULL);
	free(text);
}

static void what_each_rank_says_is_kept_apart(void **state)
{
	static const char *const files[] = { RANK(0, ""), RANK(1, "") };
	char *text = exported(files, 2);

	(void)state;
	expect_lines(text,
		     "'distributedInfo': {'rank': 0, 'world_size': 2}},\n"
		     "'distributedInfo': {'rank': 1, 'world_size': 2}}}",
		     NULL);
	assert_non_null(strstr(text, "\"sonde_ranks\": {\n\"0\": {"));
	assert_non_null(strstr(text, "\n\"1\": {"));
	free(text);
}

static void arrows_of_a_rank_are_larger_than_those_before(void **state)
{
	static const char *const files[] = { RANK(0, ARROW(5)), RANK(1, ARROW(9)) };
	char *text = exported(files, 2);

	(void)state;
	/* The largest id is 9, so rank 1 starts at 10. */
	expect_lines(text,
		     "{'ph': 'M', 'name': 'sonde_rank', 'pid': 1073741824, 'args': {'rank': 1, 'pid': 1, 'flows': 10}}",
		     NULL);
	assert_non_null(strstr(text, "\"id\": 5"));
	assert_non_null(strstr(text, "\"id\": 19"));
	free(text);
}

static void ids_that_would_leave_53_bits_stay_as_they_are(void **state)
{
	static const char *const files[] = { RANK(0, ARROW(5)), RANK(1, ARROW(9007199254740991)) };
	char *text = exported(files, 2);

	(void)state;
	expect_lines(text,
		     "{'ph': 'M', 'name': 'sonde_rank', 'pid': 1073741824, 'args': {'rank': 1, 'pid': 1, 'flows': 0}}",
		     NULL);
	assert_non_null(strstr(text, "\"id\": 9007199254740991"));
	free(text);
}

static void one_rank_alone_is_written_as_it_came(void **state)
{
	static const export_case cases[] = {
		{ RANK(3, ARROW(5)), "{'ph': 'X', 'name': 'a3', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 1.000}",
		  "sonde_rank" },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_of_the_same_id_get_another),
		cmocka_unit_test(what_each_rank_says_is_kept_apart),
		cmocka_unit_test(arrows_of_a_rank_are_larger_than_those_before),
		cmocka_unit_test(ids_that_would_leave_53_bits_stay_as_they_are),
		cmocka_unit_test(one_rank_alone_is_written_as_it_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
