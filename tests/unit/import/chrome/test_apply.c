/* What Chrome's events mean. */
#include "unit/import/imported.h"

static void every_phase_becomes_what_it_is(void **state)
{
	static const import_case cases[] = {
		{ "X, complete", "[{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':2,'ts':1.5,'dur':2.25}]",
		  "slice 1/2 [1500 +2250] cpu_op:aten::mm\n"
		  "1 events, 0 lost\n" },
		{ "X inside X",
		  "[{'ph':'X','name':'in','pid':1,'tid':2,'ts':2,'dur':3},{'ph':'X','name':'out','pid':1,'tid':2,'ts':"
		  "1,'dur':9}]",
		  "slice 1/2 [1000 +9000] :out\n"
		  "slice 1/2 ^1 [2000 +3000] :in\n"
		  "2 events, 0 lost\n" },
		{ "B and E",
		  "[{'ph':'B','name':'out','pid':1,'tid':2,'ts':1,'args':{'a':1}},{'ph':'B','name':'in','pid':1,'tid':"
		  "2,'ts':2},"
		  "{'ph':'E','pid':1,'tid':2,'ts':3,'args':{'b':2}},{'ph':'E','name':'out','pid':1,'tid':2,'ts':4}]",
		  "slice 1/2 [1000 +3000] :out {'a':1}\n"
		  "slice 1/2 ^1 [2000 +1000] :in {'b':2}\n"
		  "4 events, 0 lost\n" },
		{ "B and E of two threads",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'B','name':'b','pid':1,'tid':2,'ts':2},"
		  "{'ph':'E','pid':1,'tid':1,'ts':3},{'ph':'E','pid':1,'tid':2,'ts':4}]",
		  "slice 1/1 [1000 +2000] :a\n"
		  "slice 1/2 [2000 +2000] :b\n"
		  "4 events, 0 lost\n" },
		{ "b, n and e",
		  "[{'ph':'b','cat':'io','name':'r','id':1,'pid':1,'tid':2,'ts':1},{'ph':'b','cat':'io','name':'s','id'"
		  ":'0x2','pid':1,'tid':3,'ts':2},"
		  "{'ph':'n','cat':'io','name':'half','id':1,'pid':1,'tid':2,'ts':2.5},"
		  "{'ph':'e','cat':'io','name':'r','id':1,'pid':1,'tid':4,'ts':3},{'ph':'e','cat':'io','name':'s','id':"
		  "'2','pid':1,'tid':2,'ts':4}]",
		  "slice 1/async:io [1000 +2000] io:r async | 'id': 1\n"
		  "slice 1/async:io ^0.1 [2000 +2000] io:s async | 'id': '0x2'\n"
		  "instant n 1/async:io 2500 io:half | 'id': 1\n"
		  "5 events, 0 lost\n" },
		{ "b and e of ids that are texts, in each other",
		  "[{'ph':'b','cat':'c','name':'x','id':'req-a','pid':1,'ts':1},{'ph':'b','cat':'c','name':'y','id':'"
		  "req-a','pid':1,'ts':2},"
		  "{'ph':'b','cat':'c','name':'z','id':'req-b','pid':1,'ts':3},"
		  "{'ph':'e','cat':'c','name':'y','id':'req-a','pid':1,'ts':4},{'ph':'e','cat':'c','name':'x','id':'"
		  "req-a','pid':1,'ts':5},"
		  "{'ph':'e','cat':'c','name':'z','id':'req-b','pid':1,'ts':6}]",
		  "slice 1/async:c [1000 +4000] c:x async | 'id': 'req-a'\n"
		  "slice 1/async:c ^1 [2000 +2000] c:y async | 'id': 'req-a'\n"
		  "slice 1/async:c ^0.1 [3000 +3000] c:z async | 'id': 'req-b'\n"
		  "6 events, 0 lost\n" },
		{ "b and e of one id that cross: names tell them apart",
		  "[{'ph':'b','cat':'c','name':'x','id':1,'pid':1,'ts':1},{'ph':'b','cat':'c','name':'y','id':1,'pid':"
		  "1,"
		  "'ts':2},"
		  "{'ph':'e','cat':'c','name':'x','id':1,'pid':1,'ts':4},{'ph':'e','cat':'c','name':'other','id':1,'"
		  "pid'"
		  ":1,'ts':6}]",
		  "slice 1/async:c [1000 +3000] c:x async | 'id': 1\n"
		  "slice 1/async:c ^0.1 [2000 +4000] c:y async | 'id': 1\n"
		  "4 events, 0 lost\n" },
		{ "b and e of an id in each category",
		  "[{'ph':'b','cat':'c','name':'x','id':1,'pid':1,'ts':1},{'ph':'b','cat':'d','name':'x','id':1,'pid':"
		  "1,"
		  "'ts':2},"
		  "{'ph':'e','cat':'c','name':'x','id':1,'pid':1,'ts':4},{'ph':'e','cat':'d','name':'x','id':1,'pid':1,"
		  "'ts':6}]",
		  "slice 1/async:c [1000 +3000] c:x async | 'id': 1\n"
		  "slice 1/async:d [2000 +4000] d:x async | 'id': 1\n"
		  "4 events, 0 lost\n" },
		{ "ids of one process and of all",
		  "[{'ph':'b','cat':'c','name':'x','id2':{'global':'0x1'},'pid':1,'ts':1},"
		  "{'ph':'b','cat':'c','name':'x','id2':{'local':'0x1'},'pid':2,'ts':2},"
		  "{'ph':'b','cat':'c','name':'x','id2':{ 'local' : 1 },'pid':3,'ts':2},"
		  "{'ph':'e','cat':'c','name':'x','id2':{'global':'0x1'},'pid':2,'ts':4},"
		  "{'ph':'e','cat':'c','name':'x','id2':{'local':'0x1'},'pid':2,'ts':6},"
		  "{'ph':'e','cat':'c','name':'x','id':1,'pid':3,'ts':7},"
		  "{'ph':'b','cat':'c','name':'y','id2':{'local':{'a':1}},'pid':3,'ts':8},"
		  "{'ph':'e','cat':'c','name':'y','id2':{'local':{'a':1}},'pid':3,'ts':9}]",
		  "slice 1/async:c [1000 +3000] c:x async | 'id2': {'global':'0x1'}\n"
		  "slice 2/async:c [2000 +4000] c:x async | 'id2': {'local':'0x1'}\n"
		  "slice 3/async:c [2000 +5000] c:x async | 'id2': { 'local' : 1 }\n"
		  "slice 3/async:c [8000 +1000] c:y async | 'id2': {'local':{'a':1}}\n"
		  "8 events, 0 lost\n" },
		{ "B and E in another order than that of time",
		  "[{'ph':'E','pid':1,'tid':1,'ts':3,'args':{'end':1}},{'ph':'B','name':'b','pid':1,'tid':1,'ts':5},{'"
		  "ph'"
		  ":'B','name':'a','pid':1,'tid':1,'ts':2},"
		  "{'ph':'E','pid':1,'tid':1,'ts':6},{'ph':'E','name':'out','pid':1,'tid':1,'ts':9},{'ph':'B','name':'"
		  "out','pid':1,'tid':1,'ts':1},"
		  "{'ph':'e','cat':'c','name':'x','id':1,'pid':1,'ts':4},{'ph':'b','cat':'c','name':'x','id':1,'pid':1,"
		  "'ts':1}]",
		  "slice 1/1 [1000 +8000] :out\n"
		  "slice 1/1 ^1 [2000 +1000] :a {'end':1}\n"
		  "slice 1/1 ^1 [5000 +1000] :b\n"
		  "slice 1/async:c [1000 +3000] c:x async | 'id': 1\n"
		  "8 events, 0 lost\n" },
		{ "i and I",
		  "[{'ph':'i','name':'a','pid':1,'tid':2,'ts':1,'s':'g'},{'ph':'i','name':'b','pid':1,'tid':2,'ts':2,'"
		  "s':'p','args':{}},"
		  "{'ph':'I','name':'c','pid':1,'tid':2,'ts':3,'s':'t'},{'ph':'i','name':'d','pid':1,'tid':2,'ts':4}]",
		  "instant g 1/2 1000 :a\n"
		  "instant p 1/2 2000 :b {}\n"
		  "instant 1/2 3000 :c\n"
		  "instant 1/2 4000 :d\n"
		  "4 events, 0 lost\n" },
		{ "C, counters",
		  "[{'ph':'C','name':'mem','pid':1,'ts':1,'args':{'used':5,'free':2.5e3}},{'ph':'C','name':'mem','pid':"
		  "1,'tid':9,'ts':3,'args':{'used':'-7'}},"
		  "{'ph':'C','name':'load','cat':'cpu','pid':1,'ts':2,'args':{'load':0.125}}]",
		  "value 1 1000 :mem used = 5\n"
		  "value 1 3000 :mem used = -7\n"
		  "value 1 1000 :mem free = 2500\n"
		  "value 1 2000 cpu:load = 0.125\n"
		  "3 events, 0 lost\n" },
		{ "C with ids are counters of their own",
		  "[{'ph':'C','name':'q','id':1,'pid':1,'ts':1,'args':{'n':5}},{'ph':'C','name':'q','id':'two','pid':1,"
		  "'ts':1,'args':{'n':6}}]",
		  "value 1 1000 :q[1] = 5\n"
		  "value 1 1000 :q[two] = 6\n"
		  "2 events, 0 lost\n" },
		{ "P, samples", "[{'ph':'P','cat':'py','name':'f','pid':1,'tid':2,'ts':1,'args':{'sf':3}}]",
		  "sample 1/2 1000 py:f {'sf':3}\n"
		  "1 events, 0 lost\n" },
		{ "O, objects",
		  "[{'ph':'O','name':'tree','id':'0x10','pid':1,'tid':2,'ts':1,'args':{'snapshot':{'x':[1,2]}}}]",
		  "instant O 1/2 1000 :tree {'snapshot':{'x':[1,2]}} | 'id': '0x10'\n"
		  "1 events, 0 lost\n" },
		{ "others are counted",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':0,'dur':1},\n"
		  "@{'ph':'N','name':'a','pid':1,'tid':1,'ts':0},{'ph':'R','name':'a','ts':0},@{'ph':'XX','ts':0},{'ph'"
		  ":'','ts':0},{'ph':5,'ts':0}]",
		  "slice 1/1 [0 +1000] :a\n"
		  "lost 3 from @2: events without a phase\n"
		  "lost 2 from @1: events of phases that are not imported\n"
		  "6 events, 5 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void metadata_names_and_orders(void **state)
{
	static const import_case cases[] = {
		{ "processes and threads",
		  "[{'ph':'M','name':'process_name','pid':7,'tid':0,'args':{'name':'python'}},"
		  "{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU 3'}},"
		  "{'ph':'M','name':'process_sort_index','pid':7,'args':{'sort_index':-5}},"
		  "{'ph':'M','name':'thread_name','pid':7,'tid':8,'args':{'name':'thread 8 (main)'}},"
		  "{'ph':'M','name':'thread_sort_index','pid':7,'tid':8,'ts':1.5,'args':{'sort_index':1073741824}},"
		  "{'ph':'X','name':'a','pid':7,'tid':8,'ts':1,'dur':1}]",
		  "process 7 'python' labels 'GPU 3' sort -5 device 3\n"
		  "track 7/8 'thread 8 (main)' sort 1073741824\n"
		  "slice 7/8 [1000 +1000] :a\n"
		  "6 events, 0 lost\n" },
		{ "labels of a host, numbers and texts of the wrong kind",
		  "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'CPU'}},"
		  "{'ph':'M','name':'process_name','pid':7,'args':{'name':5}},"
		  "{'ph':'M','name':'process_sort_index','pid':7,'args':{'sort_index':'12'}},"
		  "{'ph':'M','name':'thread_sort_index','pid':7,'tid':1,'args':{'sort_index':99999999999}},"
		  "{'ph':'M','name':'thread_name','pid':7,'tid':1,'args':{}},"
		  "{'ph':'X','name':'a','pid':7,'tid':1,'ts':1,'dur':1}]",
		  "process 7 '5' labels 'CPU' sort 12\n"
		  "track 7/1 sort 2147483647\n"
		  "slice 7/1 [1000 +1000] :a\n"
		  "6 events, 0 lost\n" },
		{ "names with escapes",
		  "[{'ph':'M','name':'thread_name','pid':7,'tid':1,'args':{'name':'a\\u00e9\\n\\'b\\''}},"
		  "{'ph':'X','name':'\\u0041\\\\','pid':7,'tid':1,'ts':1,'dur':1}]",
		  "track 7/1 'a\xc3\xa9\n'b''\n"
		  "slice 7/1 [1000 +1000] :A\\\n"
		  "2 events, 0 lost\n" },
		{ "processes and threads that are texts",
		  "[{'ph':'X','name':'a','pid':'main','tid':'worker "
		  "1','ts':1,'dur':1},{'ph':'X','name':'b','pid':'main','tid':'7','ts':1,'dur':1},"
		  "{'ph':'X','name':'c','pid':'main','tid':7,'ts':3,'dur':1},{'ph':'M','name':'thread_name','pid':'"
		  "main','tid':'worker 1','args':{'name':'W'}}]",
		  "track <main>/<worker 1> 'W'\n"
		  "slice <main>/<worker 1> [1000 +1000] :a\n"
		  "slice <main>/7 [1000 +1000] :b\n"
		  "slice <main>/7 [3000 +1000] :c\n"
		  "4 events, 0 lost\n" },
		{ "other metadata is kept",
		  "[{'ph':'M','name':'nothing'},{'ph':'M','name':'num_cpus','pid':7,'args':{'number': "
		  "8}},{'ph':'X','name':'a','pid':7,'tid':1,'ts':1,'dur':1}]",
		  "slice 7/1 [1000 +1000] :a\n"
		  "meta nothing = null\n"
		  "meta num_cpus = {'number': 8}\n"
		  "3 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void arguments_come_back_byte_for_byte(void **state)
{
	static const import_case cases[] = {
		{ "all kinds of values, all kinds of white space",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args': {\n\t'a' : 1 ,'b':-0,'c':1.50,'d':[1, "
		  "{'x':null}], 'e' :'\\u0041',"
		  "'f':true,'g':123456789012345678901234567890,'h':1e400,'i':{}, 'j':[ ] , 'k':-12 , 'l':007}}]",
		  "slice 1/1 [1000 +1000] :a {\n\t'a' : 1 ,'b':-0,'c':1.50,'d':[1, {'x':null}], 'e' :'\\u0041',"
		  "'f':true,'g':123456789012345678901234567890,'h':1e400,'i':{}, 'j':[ ] , 'k':-12 , 'l':007}\n"
		  "repaired 1 from 1: values that are not JSON, kept as text\n"
		  "1 events, 0 lost\n" },
		{ "numbers at the bounds",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'a':9223372036854775807,'b':-"
		  "9223372036854775808,'c':9223372036854775808,"
		  "'d':999999999999999999,'e':-999999999999999999,'f':1000000000000000000}}]",
		  "slice 1/1 [1000 +1000] :a {'a':9223372036854775807,'b':-9223372036854775808,'c':9223372036854775808,"
		  "'d':999999999999999999,'e':-999999999999999999,'f':1000000000000000000}\n"
		  "1 events, 0 lost\n" },
		{ "members that mean nothing to us, before and behind the args",
		  "[{'cname':'good','ph':'X','name':'a','pid':1,'tts':5,'tid':1,'ts':1,'dur':1,'args':{'q':1},'tdur':2."
		  "5,'x':{'y':[]}}]",
		  "slice 1/1 [1000 +1000] :a {'q':1} | 'cname': 'good', 'tts': 5, 'tdur': 2.5, 'x': {'y':[]}\n"
		  "1 events, 0 lost\n" },
		{ "such members alone", "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'tts':5}]",
		  "slice 1/1 [1000 +1000] :a | 'tts': 5\n"
		  "1 events, 0 lost\n" },
		{ "args that are no object",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':null},{'ph':'X','name':'b','pid':1,'tid'"
		  ":1,'ts':3,'dur':1,'args':[1,2]},"
		  "{'ph':'X','name':'c','pid':1,'tid':1,'ts':5,'dur':1,'args':'text'}]",
		  "slice 1/1 [1000 +1000] :a | 'args': null\n"
		  "slice 1/1 [3000 +1000] :b | 'args': [1,2]\n"
		  "slice 1/1 [5000 +1000] :c | 'args': 'text'\n"
		  "3 events, 0 lost\n" },
		{ "a gap that has numbers, then texts, then numbers",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':1,'args':{'q':1,'correlation':5}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':3,'dur':1,'args':{'q':1.5,'correlation':6}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':5,'dur':1,'args':{'q':2,'correlation':'7'}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':7,'dur':1,'args':{'q':'x','correlation':8}},"
		  "{'ph':'X','name':'a','pid':1,'tid':1,'ts':9,'dur':1,'args':{'q':3,'correlation':9}}]",
		  "slice 1/1 [1000 +1000] :a {'q':1,'correlation':5}\n"
		  "slice 1/1 [3000 +1000] :a {'q':1.5,'correlation':6}\n"
		  "slice 1/1 [5000 +1000] :a {'q':2,'correlation':'7'}\n"
		  "slice 1/1 [7000 +1000] :a {'q':'x','correlation':8}\n"
		  "slice 1/1 [9000 +1000] :a {'q':3,'correlation':9}\n"
		  "5 events, 0 lost\n" },
		{ "the ends' args where the begin has some",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1,'args':{'x':1}},@{'ph':'E','pid':1,'tid':1,'ts':2,'"
		  "args':{'y':2}}]",
		  "slice 1/1 [1000 +1000] :a {'x':1}\n"
		  "repaired 1 from @1: arguments of ends whose begins have some, skipped\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void many_members_are_kept(void **state)
{
	static const unsigned counts[] = { 23, 24, 25, 102, 103, 104, 105, 127, 128, 129, 500 };

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		char *json = NULL, *args = NULL;
		size_t len, args_len;
		FILE *out = open_memstream(&args, &args_len);
		for (unsigned k = 0; k < counts[i]; k++)
			fprintf(out, "%c\"key %u\": %u", k ? ',' : '{', k, k * 7);
		fprintf(out, "}");
		fclose(out);
		out = open_memstream(&json, &len);
		for (unsigned n = 0; n < 3; n++)
			fprintf(out, "%c{\"ph\": \"X\", \"ts\": %u, \"dur\": 1, \"args\": %s, \"tts\": 5}",
				n ? ',' : '[', n * 2, args);
		fprintf(out, "]");
		fclose(out);
		imported result = import_all_ways(json, len, "many args");
		char *text = imported_text(&result), want[40000];
		int n_want = 0;
		for (unsigned n = 0; n < 3; n++)
			n_want += snprintf(want + n_want, sizeof want - (size_t)n_want,
					   "slice 0/0 [%u +1000] : %s | \"tts\": 5\n", n * 2000, args);
		snprintf(want + n_want, sizeof want - (size_t)n_want,
			 "repaired 3 from 1: events without a name\n3 events, 0 lost\n");
		if (strcmp(text, want) != 0)
			fprintf(stderr, "%u: %.3000s", counts[i], text);
		assert_string_equal(text, want);
		free(text);
		free(json);
		free(args);
		index_free(result.ix);
	}
}

static void members_beyond_measure_are_left_out_and_counted(void **state)
{
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	(void)state;
	fprintf(out, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"");
	for (unsigned i = 0; i < 300; i++)
		fputc('k', out);
	fprintf(out, "\":1,\"tts\":5},{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"dur\":1,\"args\":{\"q\":1}");
	for (unsigned i = 0; i < 30; i++)
		fprintf(out, ",\"m%u\":%u", i, i);
	fprintf(out, "}]");
	fclose(out);
	imported result = import_all_ways(json, len, "members");
	char *text = imported_text(&result);
	assert_non_null(strstr(text, "slice 0/0 [1000 +1000] :a | \"tts\": 5\n"));
	assert_non_null(strstr(text, "slice 0/0 [3000 +1000] :b {\"q\":1} | \"m0\": 0, "));
	assert_non_null(strstr(text, "\"m23\": 23\n"));
	assert_non_null(strstr(text, "repaired 2 from 1: events with more members than are kept, or longer keys\n"));
	assert_non_null(strstr(text, "2 events, 0 lost\n"));
	free(text);
	free(json);
	index_free(result.ix);
}

static void launches_are_found_by_correlation(void **state)
{
	static const import_case cases[] = {
		{ "CUDA, HIP, a graph, the driver's call and the runtime's",
		  "[{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':1,'ts':1,'dur':1,'args':{'"
		  "correlation':5}},"
		  "{'ph':'X','cat':'kernel','name':'k5','pid':0,'tid':7,'ts':10,'dur':1,'args':{'device':0,'stream':7,'"
		  "correlation':5}},"
		  "{'ph':'X','cat':'cuda_runtime','name':'cudaGraphLaunch','pid':1,'tid':1,'ts':3,'dur':1,'args':{'"
		  "correlation':6}},"
		  "{'ph':'X','cat':'kernel','name':'k6','pid':0,'tid':7,'ts':12,'dur':1,'args':{'device':0,'stream':7,'"
		  "correlation':6}},"
		  "{'ph':'X','cat':'kernel','name':'k6b','pid':0,'tid':7,'ts':14,'dur':1,'args':{'device':0,'stream':7,"
		  "'correlation':6}},"
		  "{'ph':'X','cat':'cuda_runtime','name':'hipExtModuleLaunchKernel','pid':1,'tid':1,'ts':5,'dur':1,'"
		  "args':{'correlation':7}},"
		  "{'ph':'X','cat':'gpu_memcpy','name':'CopyHostToDevice','pid':0,'tid':9,'ts':12,'dur':1,'args':{'"
		  "device':3,'stream':9,'correlation':7}},"
		  "{'ph':'X','cat':'kernel','name':'k8','pid':0,'tid':7,'ts':16,'dur':1,'args':{'device':0,'stream':7,'"
		  "correlation':8}}]",
		  "track 0/stream7 device 0\n"
		  "track 0/stream9 device 3\n"
		  "slice 0/stream7 [10000 +1000] kernel:k5 {'device':0,'stream':7,'correlation':5}\n"
		  "slice 0/stream7 [12000 +1000] kernel:k6 {'device':0,'stream':7,'correlation':6}\n"
		  "slice 0/stream7 [14000 +1000] kernel:k6b {'device':0,'stream':7,'correlation':6}\n"
		  "slice 0/stream7 [16000 +1000] kernel:k8 {'device':0,'stream':7,'correlation':8}\n"
		  "slice 0/stream9 [12000 +1000] gpu_memcpy:CopyHostToDevice {'device':3,'stream':9,'correlation':7}\n"
		  "slice 1/1 [1000 +1000] cuda_runtime:cudaLaunchKernel {'correlation':5}\n"
		  "slice 1/1 [3000 +1000] cuda_runtime:cudaGraphLaunch {'correlation':6}\n"
		  "slice 1/1 [5000 +1000] cuda_runtime:hipExtModuleLaunchKernel {'correlation':7}\n"
		  "launch 5: k5(10000) by cudaLaunchKernel(1000)\n"
		  "launch 6: k6(12000) by cudaGraphLaunch(3000)\n"
		  "launch 6: k6b(14000) by cudaGraphLaunch(3000)\n"
		  "launch 8: k8(16000) by none\n"
		  "launch 7: CopyHostToDevice(12000) by hipExtModuleLaunchKernel(5000)\n"
		  "repaired 1 from -1: device slices without a launch\n"
		  "8 events, 0 lost\n" },
		{ "begins and ends; the first slice of a stream does not say its device",
		  "[{'ph':'B','cat':'cuda_runtime','name':'l','pid':1,'tid':1,'ts':1,'args':{'correlation':5}},{'ph':'"
		  "E',"
		  "'pid':1,'tid':1,'ts':2},"
		  "{'ph':'X','cat':'kernel','name':'j','pid':0,'tid':7,'ts':1,'dur':1},"
		  "{'ph':'B','cat':'kernel','name':'k','pid':0,'tid':7,'ts':5,'args':{'device':2,'correlation':5}},"
		  "{'ph':'E','cat':'other','name':'k','pid':0,'tid':7,'ts':9}]",
		  "track 0/stream7 device 2\n"
		  "slice 0/stream7 [1000 +1000] kernel:j\n"
		  "slice 0/stream7 [5000 +4000] kernel:k {'device':2,'correlation':5}\n"
		  "slice 1/1 [1000 +1000] cuda_runtime:l {'correlation':5}\n"
		  "launch 5: k(5000) by l(1000)\n"
		  "5 events, 0 lost\n" },
		{ "a correlation that was a text once",
		  "[{'ph':'X','cat':'cuda_runtime','name':'l','pid':1,'tid':1,'ts':1,'dur':1,'args':{'correlation':"
		  "null}},"
		  "{'ph':'X','cat':'cuda_runtime','name':'l','pid':1,'tid':1,'ts':3,'dur':1,'args':{'correlation':5}},"
		  "{'ph':'X','cat':'cuda_runtime','name':'l','pid':1,'tid':1,'ts':5,'dur':1,'args':{'correlation':6}},"
		  "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':10,'dur':1,'args':{'correlation':6}}]",
		  "slice 0/stream7 [10000 +1000] kernel:k {'correlation':6}\n"
		  "slice 1/1 [1000 +1000] cuda_runtime:l {'correlation':null}\n"
		  "slice 1/1 [3000 +1000] cuda_runtime:l {'correlation':5}\n"
		  "slice 1/1 [5000 +1000] cuda_runtime:l {'correlation':6}\n"
		  "launch 6: k(10000) by l(5000)\n"
		  "4 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void flows_bind_to_slices(void **state)
{
	static const import_case cases[] = {
		{ "forward to backward",
		  "[{'ph':'X','name':'fwd','pid':1,'tid':1,'ts':1,'dur':5},{'ph':'X','name':'bwd','pid':1,'tid':2,'ts':"
		  "10,'dur':5},"
		  "{'ph':'s','id':1,'pid':1,'tid':1,'ts':1,'cat':'fwdbwd','name':'fwdbwd'},{'ph':'f','id':1,'pid':1,'"
		  "tid':2,'ts':10,'cat':'fwdbwd','name':'fwdbwd','bp':'e'}]",
		  "slice 1/1 [1000 +5000] :fwd\n"
		  "slice 1/2 [10000 +5000] :bwd\n"
		  "flow s 1 1/1 1000 fwdbwd:fwdbwd at fwd(1000)\n"
		  "flow F 1 1/2 10000 fwdbwd:fwdbwd at bwd(10000)\n"
		  "4 events, 0 lost\n" },
		{ "steps, the next slice, ids of all kinds",
		  "[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1,'dur':5},{'ph':'X','name':'b','pid':1,'tid':1,'ts':10,'"
		  "dur':5},"
		  "{'ph':'s','id':'0xff','pid':1,'tid':1,'ts':2,'name':'n'},{'ph':'t','id':255,'pid':1,'tid':1,'ts':3,'"
		  "name':'n','args':{'x':1}},"
		  "{'ph':'f','id':'255','pid':1,'tid':1,'ts':7,'name':'n'},{'ph':'s','id':'abc','pid':1,'tid':1,'ts':2,"
		  "'name':'n'},"
		  "{'ph':'s','id':-5,'pid':1,'tid':1,'ts':20,'name':'n'},{'ph':'f','id':-6,'pid':1,'tid':1,'ts':20,'"
		  "name':'n'},"
		  "{'ph':'s','id':1234567890123456789,'pid':1,'tid':1,'ts':20,'name':'n'}]",
		  "slice 1/1 [1000 +5000] :a\n"
		  "slice 1/1 [10000 +5000] :b\n"
		  "flow s 255 1/1 2000 :n at a(1000)\n"
		  "flow t 255 1/1 3000 :n at a(1000) {'x':1}\n"
		  "flow f 255 1/1 7000 :n at b(10000)\n"
		  "flow s <abc> 1/1 2000 :n at a(1000)\n"
		  "flow s <1234567890123456789> 1/1 20000 :n at none\n"
		  "flow f -6 1/1 20000 :n at none\n"
		  "flow s -5 1/1 20000 :n at none\n"
		  "repaired 3 from -1: unbound flow points\n"
		  "9 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void steps_memory_and_collectives(void **state)
{
	static const import_case cases[] = {
		{ "steps",
		  "[{'ph':'X','cat':'user_annotation','name':'ProfilerStep#12','pid':1,'tid':1,'ts':1,'dur':10},"
		  "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#13','pid':1,'tid':1,'ts':11,'dur':10}]",
		  "slice 1/1 [1000 +10000] user_annotation:ProfilerStep#12\n"
		  "slice 1/1 [11000 +10000] user_annotation:ProfilerStep#13\n"
		  "step 12 1/1 [1000 +10000]\n"
		  "step 13 1/1 [11000 +10000]\n"
		  "2 events, 0 lost\n" },
		{ "[memory]",
		  "[{'ph':'i','cat':'cpu_instant_event','s':'t','name':'[memory]','pid':1,'tid':1,'ts':1,'args':{'"
		  "Total Reserved':0,'Total Allocated':768,"
		  "'Bytes':768,'Addr':94180823138496,'Device Id':-1,'Device Type':0,'Ev Idx':3}},"
		  "{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':1,'ts':2,'args':{'Bytes':-768,'Addr':"
		  "18446744073709551615,'Device Id':2,'Device Type':1}},"
		  "{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':1,'ts':3,'args':{'nothing':1}}]",
		  "instant 1/1 3000 :[memory] {'nothing':1}\n"
		  "allocation 1/1 1000 cpu_instant_event:[memory] 0x55a82e8200c0 +768 device 0:-1 total 768 of 0"
		  " {'Total Reserved':0,'Total Allocated':768,'Bytes':768,'Addr':94180823138496,'Device Id':-1,'Device "
		  "Type':0,'Ev Idx':3}\n"
		  "allocation 1/1 2000 :[memory] 0xffffffffffffffff -768 device 1:2 total -1 of -1"
		  " {'Bytes':-768,'Addr':18446744073709551615,'Device Id':2,'Device Type':1}\n"
		  "3 events, 0 lost\n" },
		{ "overlapping slices get lanes of their own",
		  "[{'ph':'X','cat':'kernel','name':'a','pid':0,'tid':7,'ts':1,'dur':10},{'ph':'X','cat':'kernel','"
		  "name':'b','pid':0,'tid':7,'ts':5,'dur':10},"
		  "{'ph':'X','cat':'kernel','name':'c','pid':0,'tid':7,'ts':6,'dur':20},{'ph':'X','cat':'kernel','name'"
		  ":'d','pid':0,'tid':7,'ts':15,'dur':1}]",
		  "slice 0/stream7 [1000 +10000] kernel:a\n"
		  "slice 0/stream7 [15000 +1000] kernel:d\n"
		  "slice 0/stream7 ^0.1 [5000 +10000] kernel:b\n"
		  "slice 0/stream7 ^0.2 [6000 +20000] kernel:c\n"
		  "repaired 2 from -1: overlapping slices in extra lanes\n"
		  "4 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void pairs_are_repaired_visibly(void **state)
{
	static const import_case cases[] = {
		{ "an end without a begin",
		  "[{'ph':'E','name':'a','pid':1,'tid':1,'ts':1},{'ph':'e','cat':'c','id':1,'pid':1,'ts':1}]",
		  "lost 2 from 1: ends without a begin\n"
		  "2 events, 2 lost\n" },
		{ "a begin without an end lasts as long as the trace",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'b','cat':'c','id':1,'name':'b','pid':1,'ts':2},"
		  "{'ph':'X','name':'x','pid':1,'tid':2,'ts':5,'dur':4}]",
		  "slice 1/1 [1000 +8000] :a open\n"
		  "slice 1/2 [5000 +4000] :x\n"
		  "slice 1/async:c [2000 +7000] c:b open async | 'id': 1\n"
		  "repaired 2 from 1: scopes without an end, open until the trace ends\n"
		  "3 events, 0 lost\n" },
		{ "an end of another name ends those inside",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':1},{'ph':'B','name':'b','pid':1,'tid':1,'ts':2},@{'ph':'"
		  "E','name':'a','pid':1,'tid':1,'ts':5},"
		  "@{'ph':'E','name':'b','pid':1,'tid':1,'ts':6}]",
		  "slice 1/1 [1000 +4000] :a\n"
		  "slice 1/1 ^1 [2000 +3000] :b repaired\n"
		  "repaired 1 from @1: ends of another name than the innermost scope`s\n"
		  "lost 1 from @2: ends without a begin\n"
		  "4 events, 1 lost\n" },
		{ "an end before its begin",
		  "[{'ph':'B','name':'a','pid':1,'tid':1,'ts':9},{'ph':'E','pid':1,'tid':1,'ts':5}]",
		  "slice 1/1 [9000 +0] :a\n"
		  "repaired 1 from 1: negative durations, taken as 0\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_phase_becomes_what_it_is),
		cmocka_unit_test(metadata_names_and_orders),
		cmocka_unit_test(arguments_come_back_byte_for_byte),
		cmocka_unit_test(many_members_are_kept),
		cmocka_unit_test(members_beyond_measure_are_left_out_and_counted),
		cmocka_unit_test(launches_are_found_by_correlation),
		cmocka_unit_test(flows_bind_to_slices),
		cmocka_unit_test(steps_memory_and_collectives),
		cmocka_unit_test(pairs_are_repaired_visibly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
