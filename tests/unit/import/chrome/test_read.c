/* Events as strangers write them: whatever can be read is, whatever cannot is counted, and the next event is found. */
#include "unit/import/imported.h"

static void times_are_exact(void **state)
{
	static const import_case cases[] = {
		{ "whole, with decimals, as texts, with exponents",
		  "[{'ph':'i','name':'a','ts':5},{'ph':'i','name':'b','ts':5.001},{'ph':'i','name':'c','ts':'5.002'},{'"
		  "ph':'i','name':'d','ts':5.003e0},"
		  "{'ph':'i','name':'e','ts':50040E-4},"
		  "{'ph':'i','name':'h','ts':5.1},{'ph':'i','name':'i','ts':5.12},{'ph':'i','name':'j','ts':-5.123},{'"
		  "ph':'i','name':'k','ts':0},"
		  "{'ph':'i','name':'l','ts':5.12300000000000000000000000000000},{'ph':'i','name':'m','ts':00005.5}]",
		  "instant 0/0 -5123 :j\n"
		  "instant 0/0 0 :k\n"
		  "instant 0/0 5000 :a\n"
		  "instant 0/0 5001 :b\n"
		  "instant 0/0 5002 :c\n"
		  "instant 0/0 5003 :d\n"
		  "instant 0/0 5004 :e\n"
		  "instant 0/0 5100 :h\n"
		  "instant 0/0 5120 :i\n"
		  "instant 0/0 5123 :l\n"
		  "instant 0/0 5500 :m\n"
		  "11 events, 0 lost\n" },
		{ "of 19 digits",
		  "[{'ph':'i','name':'f','ts':1699999999999999.123},{'ph':'i','name':'g','ts':'1699999999999999.124'}]",
		  "instant 0/0 1699999999999999123 :f\n"
		  "instant 0/0 1699999999999999124 :g\n"
		  "2 events, 0 lost\n" },
		{ "digits below a nanosecond are rounded",
		  "[@{'ph':'X','name':'a','ts':5.0004,'dur':1.0005},{'ph':'X','name':'b','ts':7."
		  "00049999999999999999999,'dur':1.0006}]",
		  "slice 0/0 [5000 +1001] :a\n"
		  "slice 0/0 [7000 +1001] :b\n"
		  "repaired 2 from @1: times with digits below a nanosecond, rounded\n"
		  "2 events, 0 lost\n" },
		{ "out of range",
		  "[{'ph':'i','name':'z','ts':0},@{'ph':'i','name':'a','ts':1e30},{'ph':'i','name':'b','ts':"
		  "99999999999999999999999},{'ph':'i','name':'c','ts':-1e30},"
		  "{'ph':'X','name':'d','ts':1,'dur':1e30}]",
		  "slice 0/0 [1000 +2305843009213692951] :d\n"
		  "instant 0/0 -2305843009213693951 :c\n"
		  "instant 0/0 0 :z\n"
		  "instant 0/0 2305843009213693951 :a\n"
		  "instant 0/0 2305843009213693951 :b\n"
		  "repaired 4 from @1: times out of range, bounded\n"
		  "5 events, 0 lost\n" },
		{ "no time at all",
		  "[@{'ph':'X','name':'a','dur':1},{'ph':'X','name':'b','ts':null,'dur':1},{'ph':'X','name':'c','ts':"
		  "NaN,'dur':1},{'ph':'i','name':'d','ts':Infinity},"
		  "{'ph':'i','name':'e','ts':''},{'ph':'i','name':'f','ts':'x'},{'ph':'i','name':'g','ts':[1]},{'ph':'"
		  "i','name':'h','ts':1.},{'ph':'i','name':'i','ts':.5},"
		  "{'ph':'i','name':'j','ts':+5},{'ph':'i','name':'k','ts':0x10},{'ph':'i','name':'l','ts':'1 "
		  "2'},{'ph':'i','name':'m','ts':1e}]",
		  "lost 13 from @1: events without a usable time\n"
		  "13 events, 13 lost\n" },
		{ "durations that are none",
		  "[@{'ph':'X','name':'a','ts':1},{'ph':'X','name':'b','ts':2,'dur':NaN},{'ph':'X','name':'c','ts':3,'"
		  "dur':null},@{'ph':'X','name':'d','ts':4,'dur':-1},"
		  "{'ph':'X','name':'e','ts':5,'dur':-0.5}]",
		  "slice 0/0 [1000 +0] :a\n"
		  "slice 0/0 [2000 +0] :b\n"
		  "slice 0/0 [3000 +0] :c\n"
		  "slice 0/0 [4000 +0] :d\n"
		  "slice 0/0 [5000 +0] :e\n"
		  "repaired 2 from @2: negative durations, taken as 0\n"
		  "repaired 3 from @1: complete events without a usable duration, taken as 0\n"
		  "5 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void missing_and_doubled_members(void **state)
{
	static const import_case cases[] = {
		{ "nothing but a phase and a time", "[@{'ph':'X','ts':1,'dur':1},{'ph':'i','ts':2}]",
		  "slice 0/0 [1000 +1000] :\n"
		  "instant 0/0 2000 :\n"
		  "repaired 2 from @1: events without a name\n"
		  "2 events, 0 lost\n" },
		{ "an empty object, no phase", "[{'ph':'i','name':'a','ts':2},@{},{'name':'b','ts':1}]",
		  "instant 0/0 2000 :a\n"
		  "lost 2 from @1: events without a phase\n"
		  "3 events, 2 lost\n" },
		{ "the same key twice: the last one counts",
		  "[@{'ph':'X','name':'a','name':'b','ts':1,'ts':2,'dur':1,'pid':1,'pid':3,'args':{'x':1},'args':{'y':"
		  "2,'y':3}}]",
		  "slice 3/0 [2000 +1000] :b {'y':2,'y':3}\n"
		  "repaired 1 from @1: duplicate keys, the last one counts\n"
		  "1 events, 0 lost\n" },
		{ "names that are no strings",
		  "[{'ph':'X','name':5,'ts':1,'dur':1},{'ph':'X','name':null,'ts':3,'dur':1},{'ph':'X','name':[1],'ts':"
		  "5,'dur':1},{'ph':'X','cat':7,'name':'x','ts':7,'dur':1}]",
		  "slice 0/0 [1000 +1000] :5\n"
		  "slice 0/0 [3000 +1000] :null\n"
		  "slice 0/0 [5000 +1000] :[1]\n"
		  "slice 0/0 [7000 +1000] 7:x\n"
		  "4 events, 0 lost\n" },
		{ "pids and tids of all kinds",
		  "[{'ph':'i','name':'a','pid':-1,'tid':4294967296,'ts':1},{'ph':'i','name':'b','pid':'0x10','tid':'','"
		  "ts':2},{'ph':'i','name':'c','pid':1.5,'tid':null,'ts':3},"
		  "{'ph':'i','name':'d','pid':18446744073709551615,'tid':true,'ts':4},{'ph':'i','name':'e','pid':16,'"
		  "tid':'\\u0041','ts':5}]",
		  "instant -1/4294967296 1000 :a\n"
		  "instant 16/<> 2000 :b\n"
		  "instant <1.5>/<null> 3000 :c\n"
		  "instant <18446744073709551615>/<true> 4000 :d\n"
		  "instant 16/<A> 5000 :e\n"
		  "5 events, 0 lost\n" },
		{ "elements that are no events",
		  "[{'ph':'i','name':'a','ts':1},@5,null,'text',[{'ph':'i'}],{'ph':'i','name':'b','ts':2}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 2000 :b\n"
		  "lost 4 from @1: elements of the event list that are not events\n"
		  "6 events, 4 lost\n" },
		{ "counters without a number, and with some",
		  "[@{'ph':'C','name':'a','ts':1},{'ph':'C','name':'b','ts':1,'args':{}},@{'ph':'C','name':'c','ts':1,'"
		  "args':{'x':'y','z':null,'n':NaN}},"
		  "@{'ph':'C','name':'d','ts':1,'args':{'x':'y','z':5}}]",
		  "value 0 1000 :d = 5\n"
		  "repaired 1 from @2: values that are not JSON, kept as text\n"
		  "repaired 1 from @3: values of counters that are not numbers, skipped\n"
		  "lost 3 from @1: counter events without a number\n"
		  "4 events, 3 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void strings_are_repaired(void **state)
{
	static const import_case cases[] = {
		{ "quotes that nobody escaped",
		  "[@{'ph':'X','name':'say 'hi' "
		  "now','ts':1,'dur':1,'args':{'a':'x'y','b':1}},{'ph':'X','name':'fine','ts':3,'dur':1}]",
		  "slice 0/0 [1000 +1000] :say 'hi' now {'a':'x'y','b':1}\n"
		  "slice 0/0 [3000 +1000] :fine\n"
		  "repaired 1 from @1: unescaped quotes in strings, kept\n"
		  "2 events, 0 lost\n" },
		{ "control characters",
		  "[@{'ph':'X','name':'a\nb\tc','ts':1,'dur':1,'args':{'s':'x\x01y'}},{'ph':'X','name':'fine','ts':3,'"
		  "dur':1}]",
		  "slice 0/0 [1000 +1000] :a\nb\tc {'s':'x\x01y'}\n"
		  "slice 0/0 [3000 +1000] :fine\n"
		  "repaired 1 from @1: control characters in strings, kept\n"
		  "2 events, 0 lost\n" },
		{ "invalid UTF-8 in names, categories and ids",
		  "[{'ph':'X','name':'\xc3\xa9','ts':1,'dur':1},@{'ph':'X','name':'a\xff','ts':3,'dur':1},{'ph':'X','"
		  "cat':'\xc3','name':'b','ts':5,'dur':1},"
		  "{'ph':'X','name':'a\xff','ts':7,'dur':1}]",
		  "slice 0/0 [1000 +1000] :\xc3\xa9\n"
		  "slice 0/0 [3000 +1000] :a\xef\xbf\xbd\n"
		  "slice 0/0 [5000 +1000] \xef\xbf\xbd:b\n"
		  "slice 0/0 [7000 +1000] :a\xef\xbf\xbd\n"
		  "repaired 3 from @1: invalid UTF-8, replaced\n"
		  "4 events, 0 lost\n" },
		{ "surrogates: a pair, a lone one; escapes that are none",
		  "[{'ph':'X','name':'\\ud83d\\ude00','ts':1,'dur':1},@{'ph':'X','name':'\\ud83d!','ts':3,'dur':1},{'"
		  "ph':'X','name':'\\q','ts':5,'dur':1},"
		  "{'ph':'X','name':'\\u12','ts':7,'dur':1}]",
		  "slice 0/0 [1000 +1000] :\xf0\x9f\x98\x80\n"
		  "slice 0/0 [3000 +1000] :\xef\xbf\xbd!\n"
		  "slice 0/0 [5000 +1000] :\\q\n"
		  "slice 0/0 [7000 +1000] :\\u12\n"
		  "repaired 3 from @1: invalid escapes in strings, kept\n"
		  "4 events, 0 lost\n" },
		{ "values that are not JSON",
		  "[@{'ph':'X','name':'a','ts':1,'dur':1,'args':{'a':NaN,'b':-Infinity,'c':nil,'d':01}},{'ph':'X','"
		  "name':'b','ts':3,'dur':1,'args':{'a':True}}]",
		  "slice 0/0 [1000 +1000] :a {'a':NaN,'b':-Infinity,'c':nil,'d':01}\n"
		  "slice 0/0 [3000 +1000] :b {'a':True}\n"
		  "repaired 2 from @1: values that are not JSON, kept as text\n"
		  "2 events, 0 lost\n" },
		{ "commas that are missing or too many",
		  "[{'ph':'X','name':'a','ts':1,'dur':1}@{'ph':'X','name':'b','ts':3,'dur':1}{'ph':'X','name':'c','ts':"
		  "5,'dur':1}\n"
		  "{'ph':'X','name':'d','ts':7,'dur':1},{'ph':'X','name':'e' "
		  "'ts':9,'dur':1},{'ph':'X','name':'f','ts':11,,'dur':1,},,]",
		  "slice 0/0 [1000 +1000] :a\n"
		  "slice 0/0 [3000 +1000] :b\n"
		  "slice 0/0 [5000 +1000] :c\n"
		  "slice 0/0 [7000 +1000] :d\n"
		  "slice 0/0 [9000 +1000] :e\n"
		  "slice 0/0 [11000 +1000] :f\n"
		  "repaired 5 from @1: commas that are missing or too many\n"
		  "6 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void after_damage_the_next_event_is_found(void **state)
{
	static const import_case cases[] = {
		{ "a brace too few, an event in an event",
		  "[{'ph':'i','name':'a','ts':1},@{'ph':'i','name':'b','ts':2,'args':{'x':1},{'ph':'i','name':'c','ts':"
		  "3},{'ph':'i','name':'d','ts':4}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 3000 :c\n"
		  "instant 0/0 4000 :d\n"
		  "lost 1 from @1: damaged events\n"
		  "4 events, 1 lost\n" },
		{ "a string without an end",
		  "[{'ph':'i','name':'a','ts':1},@{'ph':'i','ts':2,'name':'b},\n{'ph':'i','name':'c','ts':3},{'ph':'i',"
		  "'name':'d','ts':4}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 3000 :c\n"
		  "instant 0/0 4000 :d\n"
		  "lost 1 from @1: damaged events\n"
		  "4 events, 1 lost\n" },
		{ "a list of arguments cut off",
		  "{'traceEvents':[{'ph':'i','name':'a','ts':1},@{'ph':'i','name':'b','ts':2,'args':{'x':[[1,2],[3,"
		  "{'ph':'i','name':'c','ts':3},{'ph':'i','name':'d','ts':4}]}",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 3000 :c\n"
		  "instant 0/0 4000 :d\n"
		  "lost 1 from @1: damaged events\n"
		  "4 events, 1 lost\n" },
		{ "an object in the arguments cut off",
		  "[{'ph':'i','name':'a','ts':1},@{'ph':'i','name':'b','ts':2,'args':{'x':{'y':1,"
		  "{'ph':'i','name':'c','ts':3},{'ph':'i','name':'d','ts':4}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 3000 :c\n"
		  "instant 0/0 4000 :d\n"
		  "lost 1 from @1: damaged events\n"
		  "4 events, 1 lost\n" },
		{ "a list of what looks like events is no damage",
		  "[{'ph':'i','name':'a','ts':1,'args':{'x':[{'ph':'i','name':'b'},{'ph':'i','name':'c'}]}}]",
		  "instant 0/0 1000 :a {\"x\":[{\"ph\":\"i\",\"name\":\"b\"},{\"ph\":\"i\",\"name\":\"c\"}]}\n"
		  "1 events, 0 lost\n" },
		{ "a key without quotes, a colon too few, brackets of the wrong kind",
		  "[{'ph':'i','name':'a','ts':1},@{'ph':'i',name:5,'ts':2},@{'ph':'i','name' "
		  "5,'ts':3},{'ph':'i','ts':3,'args':{'q':[1}},{'ph':'i','name':'d','ts':4}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 4000 :d\n"
		  "repaired 1 from @2: unescaped quotes in strings, kept\n"
		  "lost 2 from @1: damaged events\n"
		  "lost 1 from @2: events without a usable time\n"
		  "5 events, 3 lost\n" },
		{ "text between events",
		  "[{'ph':'i','name':'a','ts':1},@ERROR: disk "
		  "full,\n{'ph':'i','name':'b','ts':2},}}{'ph':'i','name':'c','ts':3}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 2000 :b\n"
		  "instant 0/0 3000 :c\n"
		  "repaired 2 from @1: pieces of text between events, skipped\n"
		  "3 events, 0 lost\n" },
		{ "a closing bracket too early",
		  "[{'ph':'i','name':'a','ts':1}]@,{'ph':'i','name':'b','ts':2},{'ph':'i','name':'c','ts':3}]",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 2000 :b\n"
		  "instant 0/0 3000 :c\n"
		  "repaired 1 from @1: pieces of text between events, skipped\n"
		  "3 events, 0 lost\n" },
		{ "a closing bracket too early, in an object",
		  "{'traceEvents':[{'ph':'i','name':'a','ts':1}],@{'ph':'i','name':'b','ts':2},{'ph':'i','name':'c','"
		  "ts':3}],'x':1}",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 2000 :b\n"
		  "instant 0/0 3000 :c\n"
		  "meta x = 1\n"
		  "repaired 1 from @1: damaged values outside the events, skipped\n"
		  "3 events, 0 lost\n" },
		{ "two traces in one file", "[{'ph':'i','name':'a','ts':1}]@[{'ph':'i','name':'b','ts':2}]\n",
		  "instant 0/0 1000 :a\n"
		  "instant 0/0 2000 :b\n"
		  "repaired 1 from @1: pieces of text between events, skipped\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(missing_and_doubled_members),
		cmocka_unit_test(strings_are_repaired),
		cmocka_unit_test(after_damage_the_next_event_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
