/* Counters of an imported trace, with the names and series they had. */
#include "unit/export/exported.h"

static void a_counter_of_one_series_keeps_its_name(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'C','name':'m','pid':1,'ts':4,'args':{'free': 5}}]",
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 4.000, 'args': {'free': 5}}", NULL },
		/* A name that ends like its series is no name with a series behind it. */
		{ "[{'ph':'C','name':'m free','pid':1,'ts':4,'args':{'free': 5}}]",
		  "{'ph': 'C', 'name': 'm free', 'pid': 1, 'ts': 4.000, 'args': {'free': 5}}", "'name': 'm'" },
		{ "[{'ph':'C','name':'m','cat':'c','pid':1,'ts':4,'args':{'free': 5}}]",
		  "{'ph': 'C', 'name': 'm', 'cat': 'c', 'pid': 1, 'ts': 4.000, 'args': {'free': 5}}", NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void several_series_of_a_counter_share_its_name_again(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'C','name':'m','pid':1,'ts':4,'args':{'free': 5, 'used': 7}},"
		  "{'ph':'C','name':'m','pid':1,'ts':6,'args':{'free': 4, 'used': 8}}]",
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 4.000, 'args': {'free': 5}}\n"
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 4.000, 'args': {'used': 7}}\n"
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 6.000, 'args': {'free': 4}}\n"
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 6.000, 'args': {'used': 8}}",
		  "'name': 'm free'" },
		/* The same name in two processes: two counters of one series each. */
		{ "[{'ph':'C','name':'m','pid':1,'ts':4,'args':{'a': 1}},{'ph':'C','name':'m','pid':2,'ts':4,'args':{"
		  "'a': 2}}]",
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 4.000, 'args': {'a': 1}}\n"
		  "{'ph': 'C', 'name': 'm', 'pid': 2, 'ts': 4.000, 'args': {'a': 2}}",
		  NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void values_have_as_many_digits_as_they_need(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'C','name':'m','pid':1,'ts':1,'args':{'v': 0.1}},{'ph':'C','name':'m','pid':1,'ts':2,'args':{"
		  "'v': -3}},"
		  "{'ph':'C','name':'m','pid':1,'ts':3,'args':{'v': "
		  "1e300}},{'ph':'C','name':'m','pid':1,'ts':4,'args':{"
		  "'v': 9007199254740993}}]",
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 1.000, 'args': {'v': 0.1}}\n"
		  "{'ph': 'C', 'name': 'm', 'pid': 1, 'ts': 2.000, 'args': {'v': -3}}",
		  NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void hostile_names_and_series_stay_in_their_strings(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'C','name':'a\\'b','pid':1,'ts':1,'args':{'x\\n': 1, 'y': 2}}]",
		  "{'ph': 'C', 'name': 'a\\'b', 'pid': 1, 'ts': 1.000, 'args': {'x\\n': 1}}\n"
		  "{'ph': 'C', 'name': 'a\\'b', 'pid': 1, 'ts': 1.000, 'args': {'y': 2}}",
		  NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_of_one_series_keeps_its_name),
		cmocka_unit_test(several_series_of_a_counter_share_its_name_again),
		cmocka_unit_test(values_have_as_many_digits_as_they_need),
		cmocka_unit_test(hostile_names_and_series_stay_in_their_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
