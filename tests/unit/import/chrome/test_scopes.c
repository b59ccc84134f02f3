/* B and E, b and e: which list an event belongs to, whose arguments count. What pairs with what: test_pairing.c. */
#include "unit/import/imported.h"

static void arguments_of_an_end_count_where_the_begin_has_none(void **state)
{
	static const import_case cases[] = {
		{ "of the end",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'E','pid':1,'tid':1,'ts':2,'args':{'r':7}}]",
		  "slice 1/1 [1000 +1000] :a {'r':7}\n"
		  "2 events, 0 lost\n" },
		{ "of both",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1,'args':{'n':1}},@{'ph':'E','pid':1,'tid':1,'ts':2,"
		  "'args':{'r':7}}]",
		  "slice 1/1 [1000 +1000] :a {'n':1}\n"
		  "repaired 1 from @1: arguments of ends whose begins have some, skipped\n"
		  "2 events, 0 lost\n" },
		{ "of both, and the end comes first",
		  "[@{'ph':'E','pid':1,'tid':1,'ts':2,'args':{'r':7}},{'ph':'B','name':'a','pid':1,'tid':1,'ts':1,"
		  "'args':{'n':1}}]",
		  "slice 1/1 [1000 +1000] :a {'n':1}\n"
		  "repaired 1 from @1: arguments of ends whose begins have some, skipped\n"
		  "2 events, 0 lost\n" },
		{ "of an end that comes first",
		  "[{'ph':'E','pid':1,'tid':1,'ts':2,'args':{'r':7}},{'ph':'B','name':'a','pid':1,'tid':1,'ts':1}]",
		  "slice 1/1 [1000 +1000] :a {'r':7}\n"
		  "2 events, 0 lost\n" },
		{ "not of the end that closes what is inside",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'B','name':'b','pid':1,'tid':1,'ts':2},"
		  "@{'ph':'E','name':'a','pid':1,'tid':1,'ts':3,'args':{'r':7}}]",
		  "slice 1/1 [1000 +2000] :a {'r':7}\n"
		  "slice 1/1 ^1 [2000 +1000] :b repaired\n"
		  "repaired 1 from @1: ends of another name than the innermost scope`s\n"
		  "3 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void scopes_of_a_thread_and_of_an_id_do_not_mix(void **state)
{
	static const import_case cases[] = {
		{ "B and e, b and E",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'b','cat':'c','name':'a','id':1,'pid':1,'tid':1,"
		  "'ts':2},{'ph':'e','cat':'c','name':'a','id':1,'pid':1,'tid':1,'ts':3},{'ph':'E','pid':1,'tid':1,'ts'"
		  ":"
		  "4}]",
		  "slice 1/1 [1000 +3000] :a\n"
		  "slice 1/async:c [2000 +1000] c:a async | 'id': 1\n"
		  "4 events, 0 lost\n" },
		{ "an id ends on another thread, a scope does not",
		  "[{'ph':'b','cat':'c','name':'a','id':1,'pid':1,'tid':1,'ts':1},{'ph':'e','cat':'c','name':'a','id':"
		  "1,"
		  "'pid':1,'tid':2,'ts':3},@{'ph':'B','name':'x','pid':1,'tid':1,'ts':1},@{'ph':'E','name':'x','pid':1,"
		  "'tid':2,'ts':3}]",
		  "slice 1/1 [1000 +2000] :x open\n"
		  "slice 1/async:c [1000 +2000] c:a async | 'id': 1\n"
		  "repaired 1 from @1: scopes without an end, open until the trace ends\n"
		  "lost 1 from @2: ends without a begin\n"
		  "4 events, 1 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void an_id_counts_in_its_process_and_category(void **state)
{
	static const import_case cases[] = {
		{ "the same id in two processes",
		  "[{'ph':'b','cat':'c','name':'a','id':1,'pid':1,'ts':1},{'ph':'b','cat':'c','name':'a','id':1,'pid':"
		  "2,"
		  "'ts':2},{'ph':'e','cat':'c','name':'a','id':1,'pid':1,'ts':5},{'ph':'e','cat':'c','name':'a','id':1,"
		  "'pid':2,'ts':9}]",
		  "slice 1/async:c [1000 +4000] c:a async | 'id': 1\n"
		  "slice 2/async:c [2000 +7000] c:a async | 'id': 1\n"
		  "4 events, 0 lost\n" },
		{ "without an id all are one",
		  "[{'ph':'b','cat':'c','name':'a','pid':1,'ts':1},{'ph':'e','cat':'c','name':'a','pid':1,'ts':5}]",
		  "slice 1/async:c [1000 +4000] c:a async\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void the_last_time_closes_what_is_open_on_every_track(void **state)
{
	static const import_case cases[] = {
		{ "an end that comes late makes the trace longer",
		  "[{'ph':'E','name':'a','pid':1,'tid':1,'ts':9},@{'ph':'B','name':'b','pid':1,'tid':2,'ts':2},"
		  "{'ph':'B','name':'a','pid':1,'tid':1,'ts':1}]",
		  "slice 1/1 [1000 +8000] :a\n"
		  "slice 1/2 [2000 +7000] :b open\n"
		  "repaired 1 from @1: scopes without an end, open until the trace ends\n"
		  "3 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_of_an_end_count_where_the_begin_has_none),
		cmocka_unit_test(scopes_of_a_thread_and_of_an_id_do_not_mix),
		cmocka_unit_test(an_id_counts_in_its_process_and_category),
		cmocka_unit_test(the_last_time_closes_what_is_open_on_every_track),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
