/* Events of an imported trace: each kind as it came, overlaps on threads of their own, values that are no JSON. */
#include "unit/export/exported.h"

static void slices_are_complete_events_with_their_arguments(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'X','name':'a','cat':'c','pid':1,'tid':2,'ts':1.5,'dur':2.001,'args':{'k': [1, {'x': "
		  "null}]},'cname':'good'}]",
		  "{'ph': 'X', 'name': 'a', 'cat': 'c', 'pid': 1, 'tid': 2, 'ts': 1.500, 'dur': 2.001, 'args': {'k': "
		  "[1, "
		  "{'x': null}]}, 'cname': 'good'}",
		  NULL },
		{ "[{'ph':'B','name':'a','pid':1,'tid':2,'ts':1},{'ph':'E','pid':1,'tid':2,'ts':4}]",
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 3.000}", "'ph': 'B'" },
		/* Without an end it has none. */
		{ "[{'ph':'B','name':'a','pid':1,'tid':2,'ts':1},{'ph':'X','name':'b','pid':1,'tid':2,'ts':2,'dur':3}]",
		  "{'ph': 'B', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 1.000}\n"
		  "{'ph': 'X', 'name': 'b', 'pid': 1, 'tid': 2, 'ts': 2.000, 'dur': 3.000}",
		  NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void slices_that_overlap_go_to_a_thread_of_their_own(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'X','name':'a','pid':1,'tid':2,'ts':1,'dur':10},{'ph':'X','name':'b','pid':1,'tid':2,'ts':5,"
		  "'dur':10}]",
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 10.000}\n"
		  "{'ph': 'M', 'name': 'sonde_extra_lane', 'pid': 1, 'tid': 4194304, 'args': {'tid': 2}}\n"
		  "{'ph': 'X', 'name': 'b', 'pid': 1, 'tid': 4194304, 'ts': 5.000, 'dur': 10.000}",
		  NULL },
		{ "[{'ph':'X','name':'a','pid':1,'tid':2,'ts':1,'dur':10},{'ph':'X','name':'b','pid':1,'tid':2,'ts':5,"
		  "'dur':6}]",
		  "{'ph': 'X', 'name': 'b', 'pid': 1, 'tid': 2, 'ts': 5.000, 'dur': 6.000}", "sonde_extra_lane" },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void asynchronous_ones_keep_their_ids_or_get_one(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'b','cat':'io','name':'r','id':'0x7','pid':1,'tid':2,'ts':1},{'ph':'e','cat':'io','name':'r',"
		  "'id':'0x7','pid':1,'tid':3,'ts':4}]",
		  "{'ph': 'b', 'name': 'r', 'cat': 'io', 'pid': 1, 'tid': 0, 'ts': 1.000, 'id': '0x7'}\n"
		  "{'ph': 'e', 'name': 'r', 'cat': 'io', 'pid': 1, 'tid': 0, 'id': '0x7', 'ts': 4.000}",
		  NULL },
		/* One that never ended has no end. */
		{ "[{'ph':'b','cat':'io','name':'r','id':1,'pid':1,'ts':1},{'ph':'n','cat':'io','name':'n','id':1,'pid'"
		  ":"
		  "1,'ts':3}]",
		  "{'ph': 'b', 'name': 'r', 'cat': 'io', 'pid': 1, 'tid': 0, 'ts': 1.000, 'id': 1}", "'ph': 'e'" },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void instants_samples_and_arrows_come_out(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'i','name':'i','pid':1,'tid':2,'ts':5,'s':'g','args':{'a': 1}}]",
		  "{'ph': 'i', 'name': 'i', 'pid': 1, 'tid': 2, 'ts': 5.000, 's': 'g', 'args': {'a': 1}}", NULL },
		{ "[{'ph':'X','name':'a','pid':1,'tid':2,'ts':1,'dur':9},{'ph':'s','name':'f','cat':'c','id':4,'pid':1,"
		  "'tid':2,'ts':2},"
		  "{'ph':'f','bp':'e','name':'f','cat':'c','id':4,'pid':1,'tid':2,'ts':3}]",
		  "{'ph': 's', 'name': 'f', 'cat': 'c', 'pid': 1, 'tid': 2, 'ts': 2.000, 'id': 4}\n"
		  "{'ph': 'f', 'name': 'f', 'cat': 'c', 'pid': 1, 'tid': 2, 'ts': 3.000, 'id': 4, 'bp': 'e'}",
		  NULL },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void arguments_that_are_no_json_become_text(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'X','name':'a','pid':1,'tid':2,'ts':1,'dur':1,'args':{'loss': NaN, 'n': 3}}]",
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 1.000, 'args': {'loss': 'NaN', "
		  "'n': "
		  "3}}",
		  "NaN," },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_complete_events_with_their_arguments),
		cmocka_unit_test(slices_that_overlap_go_to_a_thread_of_their_own),
		cmocka_unit_test(asynchronous_ones_keep_their_ids_or_get_one),
		cmocka_unit_test(instants_samples_and_arrows_come_out),
		cmocka_unit_test(arguments_that_are_no_json_become_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
