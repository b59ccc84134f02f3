/* Names of processes and threads, threads that viewers cannot read, and what stands beside the events. */
#include "unit/export/exported.h"

#define EVENT "{'ph':'X','name':'a','pid':1,'tid':2,'ts':1,'dur':1}"
#define EVENT_OUT "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 1.000, 'dur': 1.000}"

static void names_labels_and_order_are_metadata_events(void **state)
{
	static const export_case cases[] = {
		{ "[{'ph':'M','name':'process_name','pid':1,'args':{'name':'train'}},"
		  "{'ph':'M','name':'process_labels','pid':1,'args':{'labels':'CPU'}},"
		  "{'ph':'M','name':'process_sort_index','pid':1,'args':{'sort_index':-3}},"
		  "{'ph':'M','name':'thread_name','pid':1,'tid':2,'args':{'name':'main'}},"
		  "{'ph':'M','name':'thread_sort_index','pid':1,'tid':2,'args':{'sort_index':7}}," EVENT "]",
		  "{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'train'}}\n"
		  "{'ph': 'M', 'name': 'process_labels', 'pid': 1, 'args': {'labels': 'CPU'}}\n"
		  "{'ph': 'M', 'name': 'process_sort_index', 'pid': 1, 'args': {'sort_index': -3}}\n"
		  "{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 2, 'args': {'name': 'main'}}\n"
		  "{'ph': 'M', 'name': 'thread_sort_index', 'pid': 1, 'tid': 2, 'args': {'sort_index': 7}}\n" EVENT_OUT,
		  NULL },
		{ "[" EVENT "]", EVENT_OUT, "'ph': 'M'" }, /* nothing has a name */
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void threads_that_viewers_cannot_read_get_an_id_they_can(void **state)
{
	static const export_case cases[] = {
		/* 4194304 is above what Linux gives out. */
		{ "[{'ph':'X','name':'a','pid':1,'tid':-5,'ts':1,'dur':1},"
		  "{'ph':'M','name':'thread_name','pid':1,'tid':-5,'args':{'name':'main'}}]",
		  "{'ph': 'M', 'name': 'sonde_extra_lane', 'pid': 1, 'tid': 4194304, 'args': {'tid': -5}}\n"
		  "{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 4194304, 'args': {'name': 'main'}}\n"
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 4194304, 'ts': 1.000, 'dur': 1.000}",
		  NULL },
		{ "[{'ph':'X','name':'a','pid':1,'tid':140234567890123,'ts':1,'dur':1},"
		  "{'ph':'X','name':'b','pid':1,'tid':4194304,'ts':1,'dur':1}]",
		  "{'ph': 'M', 'name': 'sonde_extra_lane', 'pid': 1, 'tid': 4194305, 'args': {'tid': "
		  "140234567890123}}\n"
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 4194305, 'ts': 1.000, 'dur': 1.000}\n"
		  "{'ph': 'X', 'name': 'b', 'pid': 1, 'tid': 4194304, 'ts': 1.000, 'dur': 1.000}",
		  NULL },
		{ "[{'ph':'X','name':'a','pid':1,'tid':4294967295,'ts':1,'dur':1}]",
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 4294967295, 'ts': 1.000, 'dur': 1.000}",
		  "sonde_extra_lane" },
		{ "[{'ph':'X','name':'a','pid':'p','tid':'t 1','ts':1,'dur':1}]",
		  "{'ph': 'X', 'name': 'a', 'pid': 'p', 'tid': 't 1', 'ts': 1.000, 'dur': 1.000}", "sonde_extra_lane" },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void what_stands_beside_the_events_is_kept_once(void **state)
{
	static const export_case cases[] = {
		{ "{'schemaVersion': 1, 'deviceProperties': [{'id': 0}], 'traceEvents': [" EVENT "], 'traceName': 'x'}",
		  "{'schemaVersion': 1\n'deviceProperties': [{'id': 0}]\n'traceName': 'x'\n" EVENT_OUT, "sonde." },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

static void times_since_1970_are_written_from_a_base(void **state)
{
	static const export_case cases[] = {
		/* Its own base stays. */
		{ "{'baseTimeNanoseconds': 1700000000000000000, 'traceEvents': [" EVENT "]}",
		  "{'baseTimeNanoseconds': 1700000000000000000\n" EVENT_OUT, NULL },
		/* Without one, the start becomes it: doubles cannot tell such times apart. */
		{ "[{'ph':'X','name':'a','pid':1,'tid':2,'ts':1700000000000000.001,'dur':1}]",
		  "{'baseTimeNanoseconds': 1700000000000000001\n"
		  "{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 2, 'ts': 0.000, 'dur': 1.000}",
		  NULL },
		{ "[" EVENT "]", EVENT_OUT, "baseTimeNanoseconds" },
	};

	(void)state;
	CHECK_EXPORTS(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_labels_and_order_are_metadata_events),
		cmocka_unit_test(threads_that_viewers_cannot_read_get_an_id_they_can),
		cmocka_unit_test(what_stands_beside_the_events_is_kept_once),
		cmocka_unit_test(times_since_1970_are_written_from_a_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
