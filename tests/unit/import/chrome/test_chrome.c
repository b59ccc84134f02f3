/* What stands around the events, and texts of more than one window. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include "unit/import/imported.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 12 };
#else
enum { SLOW = 1 };
#endif

#define ONE "{'ph':'i','name':'a','ts':1}"
#define TWO "{'ph':'i','name':'b','ts':2}"
#define BOTH                                                                                                           \
	"instant 0/0 1000 :a\n"                                                                                        \
	"instant 0/0 2000 :b\n"

static void lists_of_events_come_in_many_forms(void **state)
{
	static const import_case cases[] = {
		{ "an object", "{'traceEvents':[" ONE "," TWO "]}", BOTH "2 events, 0 lost\n" },
		{ "a bare list", "[" ONE "," TWO "]", BOTH "2 events, 0 lost\n" },
		{ "a list without an end", "[" ONE "," TWO, BOTH "2 events, 0 lost\n" },
		{ "a list without an end, with a comma", "[" ONE ",\n" TWO ",\n", BOTH "2 events, 0 lost\n" },
		{ "commas before the end", "{'traceEvents':[" ONE "," TWO ",],}", BOTH "2 events, 0 lost\n" },
		{ "a byte order mark, white space", "\xef\xbb\xbf \r\n\t[ " ONE " ,\r\n " TWO "\t]\r\n\r\n",
		  BOTH "2 events, 0 lost\n" },
		{ "an object with a byte order mark", "\xef\xbb\xbf{'traceEvents' : [" ONE "," TWO "]}\n",
		  BOTH "2 events, 0 lost\n" },
		{ "two lists", "{'traceEvents':[" ONE "],'traceEvents':[" TWO "]}", BOTH "2 events, 0 lost\n" },
		{ "no event", "[]", "0 events, 0 lost\n" },
		{ "no event, in an object", "{'traceEvents':[]}", "0 events, 0 lost\n" },
		{ "a bracket", "[", "0 events, 0 lost\n" },
		{ "numbers", "[1,2,3]",
		  "error 2: unrecognized format: a JSON list without any trace event (3 other elements); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "a text", "['a']",
		  "error 2: unrecognized format: a JSON list without any trace event (1 other element); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "an object that is no event", "[{'x':1}]",
		  "error 2: unrecognized format: a JSON list without any trace event (1 other element); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "numbers in the place of events", "{'traceEvents':[1,2]}",
		  "error 2: unrecognized format: a JSON list without any trace event (2 other elements); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "lists and nothing else", "[[],[1]]",
		  "error 2: unrecognized format: a JSON list without any trace event (2 other elements); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "no JSON inside", "[hello, world]",
		  "error 2: unrecognized format: a JSON list without any trace event (1 other element); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "objects with a time alone", "[{'ts':1},{'ts':2,'level':'info'}]",
		  "error 2: unrecognized format: a JSON list without any trace event (2 other elements); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "a list that ends early", "[1,2",
		  "error 2: unrecognized format: a JSON list without any trace event (2 other elements); expected "
		  "objects with 'ph' and 'ts', as in Chrome trace JSON\n" },
		{ "no events", "[]", "0 events, 0 lost\n" },
		{ "no events in an object", "{'traceEvents':[]}", "0 events, 0 lost\n" },
		{ "no list", "{'a':1}",
		  "error 2: unrecognized format: a JSON object without a list 'traceEvents'; expected Chrome trace "
		  "JSON or a .sonde file\n" },
		{ "a list that is none", "{'traceEvents':null}",
		  "error 2: unrecognized format: a JSON object without a list 'traceEvents'; expected Chrome trace "
		  "JSON or a .sonde file\n" },
		{ "nothing", "", "error 3: the file is empty\n" },
		{ "white space", " \n", "error 3: the file is empty\n" },
		{ "an object that ends early", "{'traceEvents':[" ONE "," TWO "@",
		  BOTH "repaired 1 from @1: early end of the file\n"
		       "2 events, 0 lost\n" },
		{ "an object that ends early, behind the list", "{'traceEvents':[" ONE "," TWO "],'traceName':'x@",
		  BOTH "repaired 1 from @1: early end of the file\n"
		       "2 events, 0 lost\n" },
		{ "an event that is cut", "[" ONE "," TWO ",@{'ph':'i','na",
		  BOTH "lost 1 from @1: events cut off by the end of the file\n"
		       "3 events, 1 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void values_beside_the_events_are_kept(void **state)
{
	static const import_case cases[] = {
		{ "before and behind",
		  "{'a': 1, 'b': {'c': [1, 'x']},'traceEvents':[" ONE "], 'd':'\\u0041' , 'e':null}",
		  "instant 0/0 1000 :a\n"
		  "meta a = 1\n"
		  "meta b = {'c': [1, 'x']}\n"
		  "meta d = '\\u0041'\n"
		  "meta e = null\n"
		  "1 events, 0 lost\n" },
		{ "a base time before the events",
		  "{'baseTimeNanoseconds': "
		  "1700000000000000000,'traceEvents':[{'ph':'X','name':'a','ts':1.001,'dur':2}," TWO "]}",
		  "slice 0/0 [1700000000000001001 +2000] :a\n"
		  "instant 0/0 1700000000000002000 :b\n"
		  "meta baseTimeNanoseconds = 1700000000000000000\n"
		  "2 events, 0 lost\n" },
		{ "a base time behind the events",
		  "{'traceEvents':[{'ph':'X','name':'a','ts':-1.001,'dur':2}," TWO
		  "],'baseTimeNanoseconds':1700000000000000000}",
		  "slice 0/0 [1699999999999998999 +2000] :a\n"
		  "instant 0/0 1700000000000002000 :b\n"
		  "meta baseTimeNanoseconds = 1700000000000000000\n"
		  "2 events, 0 lost\n" },
		{ "a base time beside times that need none",
		  "{'baseTimeNanoseconds':1700000000000000000,'traceEvents':[{'ph':'X','name':'a',"
		  "'ts':1700000000000001.001,'dur':2}]}",
		  "slice 0/0 [1700000000000001001 +2000] :a\n"
		  "meta baseTimeNanoseconds = 1700000000000000000\n"
		  "repaired 1 from -1: base times beside times since 1970, skipped\n"
		  "1 events, 0 lost\n" },
		{ "damage before the events", "{'a': @nil, 'b':1,'traceEvents':[" ONE "],'c':2}",
		  "instant 0/0 1000 :a\n"
		  "meta a = nil\n"
		  "meta b = 1\n"
		  "meta c = 2\n"
		  "repaired 1 from @1: values that are not JSON, kept as text\n"
		  "1 events, 0 lost\n" },
		{ "worse damage before the events", "{'a': {]@, 'b':1,'traceEvents' : [" ONE "],'c':2}",
		  "instant 0/0 1000 :a\n"
		  "meta c = 2\n"
		  "repaired 1 from 7: damaged values outside the events, skipped\n"
		  "1 events, 0 lost\n" },
		{ "damage behind the events", "{'traceEvents':[" ONE "],'c':@], 'd': 1}",
		  "instant 0/0 1000 :a\n"
		  "repaired 1 from @1: damaged values outside the events, skipped\n"
		  "1 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void rank_and_world_size_are_found(void **state)
{
	static const struct {
		const char *json;
		int32_t rank, world_size;
	} cases[] = {
		{ "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8}, \"traceEvents\": []}",
		  3, 8 },
		{ "{\"traceEvents\": [], \"distributedInfo\": {\"world_size\": 8, \"pg\": [{\"rank\": 1}], \"rank\": "
		  "0}}",
		  0, 8 },
		{ "{\"traceEvents\": [], \"distributedInfo\": {\"world_size\": 8}}", 5, 8 },
		{ "{\"traceEvents\": [], \"distributedInfo\": {\"rank\": -3, \"world_size\": \"8\"}}", 5, -1 },
		{ "{\"traceEvents\": [], \"distributedInfo\": [3]}", 5, -1 },
		{ "{\"traceEvents\": []}", 5, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		builder *b = builder_new(NULL);
		input *in;
		assert_int_equal(input_open_memory(cases[i].json, strlen(cases[i].json), &in), SONDE_OK);
		/* What the file's name said stays where the content says nothing. */
		import_job job = {
			.in = in, .builder = b, .file = "r5.json", .n_threads = 1, .rank = 5, .world_size = -1
		};
		assert_int_equal(chrome_importer.run(&job, NULL), SONDE_OK);
		assert_int_equal(job.rank, cases[i].rank);
		assert_int_equal(job.world_size, cases[i].world_size);
		input_close(in);
		builder_free(b);
	}
}

static void the_probe_wants_a_bracket(void **state)
{
	(void)state;
	assert_true(chrome_importer.probe((const uint8_t *)"[", 1));
	assert_true(chrome_importer.probe((const uint8_t *)" \n{", 3));
	assert_true(chrome_importer.probe((const uint8_t *)"\xef\xbb\xbf[", 4));
	assert_false(chrome_importer.probe((const uint8_t *)"", 0));
	assert_false(chrome_importer.probe((const uint8_t *)"   ", 3));
	assert_false(chrome_importer.probe((const uint8_t *)"\"x\"", 3));
	assert_false(chrome_importer.probe((const uint8_t *)"\xef\xbb{", 3));
}

/* ---- Interrupted ------------------------------------------------------------------------------------------------- */

static bool stop_at_once(void *context, const input *in)
{
	(void)in;
	++*(int *)context;
	return false;
}

static void progress_can_stop_it(void **state)
{
	size_t len = 9 << 20;
	char *text = malloc(len);
	int n_calls = 0;
	builder *b = builder_new(NULL);
	input *in;
	sonde_error err;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	text[0] = '[';
	assert_int_equal(input_open_memory(text, len, &in), SONDE_OK);
	import_job job = {
		.in = in, .builder = b, .file = "x", .n_threads = 2, .progress = stop_at_once, .context = &n_calls
	};
	assert_int_equal(chrome_importer.run(&job, &err), SONDE_E_STATE);
	assert_int_equal(n_calls, 1);
	input_close(in);
	builder_free(b);
	free(text);
}

/* ---- Bombs ------------------------------------------------------------------------------------------------------- */

/* A gzip file of `first`, `n` times 16 MiB of a character, and `last`. */
static blob bomb(const char *first, char fill, unsigned n, const char *last)
{
	blob text = { malloc(16 << 20), 16 << 20 };

	assert_non_null(text.ptr);
	memset(text.ptr, fill, text.len);
	blob member = gzipped(text);
	blob all = gzipped((blob){ (uint8_t *)(uintptr_t)first, strlen(first) });
	for (unsigned i = 0; i < n; i++)
		all = join(all, copy_of(member.ptr, member.len));
	free(text.ptr);
	free(member.ptr);
	return join(all, gzipped((blob){ (uint8_t *)(uintptr_t)last, strlen(last) }));
}

static void a_small_file_of_a_gigabyte_is_bounded(void **state)
{
	enum { N = SLOW > 1 ? 8 : 64, MOST_MIB = SLOW > 1 ? 700 : 160, MOST_SECONDS = 30 };
	static const struct {
		const char *about, *first, *last, *want;
		char fill;
	} cases[] = {
		{ "white space in the list", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},",
		  "{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 1000 :a\ninstant 0/0 2000 :b\n2 events, 0 lost\n", ' ' },
		{ "zeros", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},", "{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 1000 :a\nrepaired 1 from 30: pieces of text between events, skipped\n", 0 },
		{ "a string of a gigabyte", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"",
		  "\"},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: events that are too long or nested too deeply\n2 events, 1 "
		  "lost\n",
		  'x' },
		{ "a number of a gigabyte",
		  "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":", "},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: damaged events\n2 events, 1 lost\n", '1' },
		{ "brackets of a gigabyte",
		  "[{\"ph\":\"i\",\"name\":\"a\",\"args\":", "},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: events that are too long or nested too deeply\n2 events, 1 "
		  "lost\n",
		  '[' },
		{ "a value beside the events", "{\"a\":\"", "\",\"traceEvents\":[]}",
		  "error 2: a value outside the events is longer than 64 MiB\n", 'x' },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		blob packed = bomb(cases[i].first, cases[i].fill, N, cases[i].last);
		fflush(NULL);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			imported result = import_bytes(packed.ptr, packed.len, (import_how){ .n_threads = 2 });
			char *text = imported_text(&result);
			bool as_wanted = strncmp(text, cases[i].want, strlen(cases[i].want)) == 0;
			if (!as_wanted)
				fprintf(stderr, "%s: %.500s\n", cases[i].about, text);
			_exit(as_wanted ? 0 : 1);
		}
		int how;
		struct rusage used;
		assert_int_equal(wait4(child, &how, 0, &used), child);
		print_message("%s: %zu bytes, %ld MiB, %ld.%ld s\n", cases[i].about, packed.len, used.ru_maxrss >> 10,
			      (long)used.ru_utime.tv_sec, (long)used.ru_utime.tv_usec / 100000);
		assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
		assert_in_range(used.ru_maxrss >> 10, 0, MOST_MIB);
		assert_in_range(used.ru_utime.tv_sec, 0, MOST_SECONDS);
		free(packed.ptr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_file_of_a_gigabyte_is_bounded), /* first: children start small */
		cmocka_unit_test(lists_of_events_come_in_many_forms),
		cmocka_unit_test(values_beside_the_events_are_kept),
		cmocka_unit_test(rank_and_world_size_are_found),
		cmocka_unit_test(the_probe_wants_a_bracket),
		cmocka_unit_test(progress_can_stop_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
