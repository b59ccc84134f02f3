/*
 * What is no slice, from an index into a builder again: a file that was saved and is opened beside another gives the
 * same trace as the text it was made of.
 */
#include "store/trace.h"
#include "unit/store/compare_index.h"
#include "unit/store/temp_dir.h"

#define HEAD(rank) "{\"distributedInfo\": {\"rank\": " #rank ", \"world_size\": 2}, \"traceEvents\": ["
#define SLICE                                                                                                          \
	"{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"n\": 5}}"

static sonde_trace *open_two(const char *first, const char *second)
{
	const char *paths[] = { first, second };
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open_files(paths, 2, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static void save_as(const char *from, const char *to)
{
	sonde_trace *t = NULL;

	assert_int_equal(sonde_trace_open(from, &t, NULL), SONDE_OK);
	assert_int_equal(sonde_trace_save(t, to, NULL), SONDE_OK);
	sonde_trace_free(t);
}

/* Two ranks with these events, once both as text and once the first as an index. */
static void check_same(const char *events)
{
	const char *first = temp_path("r0.json"), *second = temp_path("r1.json"), *saved = temp_path("r0.sonde");
	char text[4096], why[1024] = "";

	snprintf(text, sizeof text, HEAD(0) SLICE "%s]}", events);
	temp_write(first, text, strlen(text));
	snprintf(text, sizeof text, HEAD(1) SLICE "%s]}", events);
	temp_write(second, text, strlen(text));
	save_as(first, saved);
	sonde_trace *wanted = open_two(first, second), *got = open_two(saved, second);
	if (!index_same(wanted->index, got->index, why, sizeof why))
		fail_msg("%s: %s", events, why);
	sonde_trace_free(wanted);
	sonde_trace_free(got);
	temp_clear();
}

static void every_table_comes_back(void **state)
{
	static const char *const cases[] = {
		"",
		/* instants, of each scope, with arguments */
		",{\"ph\":\"i\",\"name\":\"i\",\"pid\":1,\"tid\":2,\"ts\":5,\"s\":\"g\",\"args\":{\"a\": \"x\"}}"
		",{\"ph\":\"i\",\"name\":\"i\",\"pid\":1,\"tid\":2,\"ts\":6,\"s\":\"t\"}",
		/* samples */
		",{\"ph\":\"P\",\"name\":\"p\",\"pid\":1,\"tid\":2,\"ts\":5,\"args\":{\"a\": 1}}",
		/* arrows: of numbers, of texts, bound to a slice or not */
		",{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":2}"
		",{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":3}"
		",{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":\"text\",\"pid\":1,\"tid\":3,\"ts\":20}"
		",{\"ph\":\"t\",\"name\":\"f\",\"cat\":\"c\",\"id\":\"text\",\"pid\":1,\"tid\":3,\"ts\":21}",
		/* allocations */
		",{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"pid\":1,\"tid\":2,"
		"\"ts\":3,"
		"\"args\":{\"Addr\": 16, \"Bytes\": 64, \"Device Type\": 1, \"Device Id\": 0, \"Total Allocated\": 64}}"
		",{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"pid\":1,\"tid\":2,"
		"\"ts\":4,"
		"\"args\":{\"Addr\": 16, \"Bytes\": -64, \"Device Type\": 1, \"Device Id\": 0}}",
		/* counters of one series and of several */
		",{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":4,\"args\":{\"free\": 5.5}}"
		",{\"ph\":\"C\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"ts\":4,\"args\":{\"a\": 1, \"b\": 2}}"
		",{\"ph\":\"C\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"ts\":5,\"args\":{\"a\": 3, \"b\": 4}}",
		/* launches */
		",{\"ph\":\"X\",\"name\":\"cudaLaunchKernel\",\"cat\":\"cuda_runtime\",\"pid\":1,\"tid\":2,\"ts\":2,"
		"\"dur\":1,"
		"\"args\":{\"correlation\": 9}}"
		",{\"ph\":\"X\",\"name\":\"k\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":2,\"args\":{"
		"\"correlation\": 9, \"device\": 0, \"stream\": 7}}",
		/* what was wrong is still told */
		",{\"ph\":\"B\",\"name\":\"open\",\"pid\":1,\"tid\":2,\"ts\":2},{\"ph\":\"?\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_same(cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
