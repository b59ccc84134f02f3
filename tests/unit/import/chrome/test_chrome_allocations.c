/* Memory that runs out anywhere in an import: an error, nothing left behind, no crash. */
#include "unit/import/imported.h"
#include "unit/import/chrome/small_chrome.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
	puts("skipped: sanitizers have their own allocator");
	return 77;
}
#else
#include "unit/failing_malloc.h"

static const char *text;
static size_t text_len;

static sonde_status import_text(sonde_error *err)
{
	sonde_index *ix = NULL;
	input *in = NULL;
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	sonde_status status = b ? input_open_memory(text, text_len, &in) : SONDE_E_MEMORY;
	import_job job = { .in = in, .builder = b, .file = "x", .n_threads = 1, .rank = -1, .world_size = -1 };

	if (!status)
		status = chrome_importer.run(&job, err);
	if (!status)
		status = builder_finish(b, &ix, err);
	input_close(in);
	builder_free(b);
	index_free(ix);
	return status;
}

static void every_allocation_may_fail(void **state)
{
	small_trace t = make_small();

	(void)state;
	text = t.text;
	text_len = t.len;
	fail_each_allocation("a small trace", import_text, 1);
}

static void every_allocation_may_fail_where_there_are_facts(void **state)
{
	static const char facts[] =
		"[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,"
		"\"dur\":1,\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Half\",\"Seq\":1}}]";

	(void)state;
	text = facts;
	text_len = sizeof facts - 1;
	fail_each_allocation("a trace with facts", import_text, 1);
}

static void every_allocation_may_fail_in_a_damaged_trace(void **state)
{
	static const char damaged[] = "[{\"ph\":\"X\",\"name\":\"say "
				      "\"hi\"\",\"ts\":1,\"dur\":-1},ERROR,{\"ph\":\"X\",\"name\":\"a\\q\",\"ts\":\"1."
				      "0005\",\"dur\":2,\"dur\":2},"
				      "{\"ph\":\"i\",\"name\":\"x\",\"ts\":1,\"args\":{\"q\":[1}},{},5,null,{\"ph\":"
				      "\"C\",\"id\":\"c\",\"name\":\"y\",\"ts\":2,\"args\":{\"v\":NaN,\"w\":5}},"
				      "{\"ph\":\"M\",\"name\":\"sonde_extra_lane\",\"tid\":5,\"args\":{\"tid\":\"t\"}},"
				      "{\"ph\":\"M\",\"name\":\"other\",\"args\":{}},"
				      "{\"ph\":\"b\",\"id2\":{\"local\":1},\"name\":\"z\",\"ts\":3,\"pid\":\"p\","
				      "\"tid\":\"\xff\"}],{\"ph\":\"B\",\"name\":\"z\",\"ts\":3}";

	(void)state;
	text = damaged;
	text_len = sizeof damaged - 1;
	fail_each_allocation("a damaged trace", import_text, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_allocation_may_fail_where_there_are_facts),
		cmocka_unit_test(every_allocation_may_fail_in_a_damaged_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
