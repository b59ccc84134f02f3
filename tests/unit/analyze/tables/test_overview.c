/* What report, summary and info say of a trace whose events are in an index: a small one, made by a builder. */
#include <stdint.h>
#include "import/chrome/facts.h"
#include "unit/present/printed.h"
#include <string.h>
#include "analyze/analysis.h"
#include "store/build/builder.h"
#include "store/trace.h"

static uint32_t string(builder *b, const char *text)
{
	return builder_string(b, text, strlen(text));
}

static uint32_t site(builder *b, const char *name, const char *category, site_class class)
{
	return builder_site(b, string(b, name), string(b, category), class, NAME_SCOPE);
}

/*
 * rank 3   thread 11   ProfilerStep#7   0 ........................ 1000
 *                      aten::mm            100 ..... 300
 *                      launch                 150 . 200
 *          stream 7    gemm                          400 ..... 800    launched by it
 *                      gemm                              600 ........ 1000   overlaps
 */
static sonde_trace *make_imported(void)
{
	builder *b = builder_new(NULL);
	sonde_index *ix = NULL;
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };
	enum { START = 1000000 };

	uint32_t process = builder_process(b, 0, 4711, INDEX_NONE), gpu = builder_process(b, 0, 0, INDEX_NONE);
	builder_process_of(b, process)->name = string(b, "python");
	builder_process_of(b, gpu)->labels = string(b, "GPU 0");
	builder_process_of(b, gpu)->device = 0;
	builder_file_rank(b, 0, 3);
	uint32_t thread = builder_track(b, TRACK_THREAD, process, 11, INDEX_NONE, INDEX_NONE);
	uint32_t stream = builder_track(b, TRACK_THREAD, gpu, 7, INDEX_NONE, INDEX_NONE);
	builder_track_of(b, stream)->name = string(b, "stream 7");
	const builder_slice host[] = {
		{ START, 1000, site(b, "ProfilerStep#7", "user_annotation", CLASS_STEP), 0, 0, 0 },
		{ START + 100, 200, site(b, "aten::mm", "cpu_op", CLASS_COMPUTE), 0, 0, 0 },
		{ START + 150, 50, site(b, "launch", "cuda_runtime", CLASS_RUNTIME), 0, 6, 0 },
	};
	const builder_slice device[] = {
		{ START + 400, 400, site(b, "gemm", "kernel", CLASS_KERNEL), 0, 6, 0 },
		{ START + 600, 400, site(b, "gemm", "kernel", CLASS_KERNEL), 0, 0, 0 },
	};
	builder_slices(b, thread, host, 3);
	builder_slices(b, stream, device, 2);
	builder_allocation_add(b, &(builder_allocation){ .time_ns = START + 160,
							 .track = thread,
							 .site = site(b, "[memory]", "cpu_instant_event", CLASS_MEMORY),
							 .device_type = 1,
							 .bytes = 4096,
							 .total_bytes = 5000,
							 .reserved_bytes = -1 });
	builder_meta(b, 3, "sonde.n_events", 14, "9", 1, true);
	chrome_devices_put(b, 3, "[{\"id\": 0, \"name\": \"H100\", \"numSms\": 132}]", 43);
	builder_meta(b, 3, "deviceProperties", 16, "[{\"id\": 0, \"name\": \"H100\", \"numSms\": 132}]", 43, true);
	builder_diagnostic(
		b, &(builder_problem){
			   .kind = DIAGNOSTIC_TEXT_LOST_DAMAGED, .n = 2, .file = "dir/rank3.json", .position = 77 });
	builder_diagnostic(
		b,
		&(builder_problem){ .kind = DIAGNOSTIC_TEXT_UTF8, .n = 1, .file = "dir/rank3.json", .position = 123 });
	if (builder_finish(b, &ix, &err) || trace_of_index(ix, &t, &err))
		fail_msg("%s", err.message);
	builder_free(b);
	return t;
}

static void assert_says(const char *name, const sonde_analyze_options *options, const char *expected)
{
	sonde_trace *t = make_imported();
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	if (sonde_analyze(t, name, options, &r, &err))
		fail_msg("%s", err.message);
	char *text = printed(r, SONDE_TEXT, 74, true, false);
	assert_string_equal(text, expected);
	free(text);
	sonde_result_free(r);
	sonde_trace_free(t);
}

static void the_report_counts_every_slice(void **state)
{
	(void)state;
	assert_says("report", NULL,
		    "standard input   1.00 us   1 thread   1 stream   1 step\n"
		    "\n"
		    " name          calls    total    self      avg      max      p95     %\n"
		    " ProfilerStep      1  1.00 us  800 ns  1.00 us  1.00 us  1.00 us   100\n"
		    " gemm              2  0.80 us  800 ns  0.40 us  0.40 us  0.40 us  80.0\n"
		    " aten::mm          1  0.20 us  150 ns  0.20 us  0.20 us  0.20 us  20.0\n"
		    " launch            1  0.05 us   50 ns  0.05 us  0.05 us  0.05 us  5.00\n"
		    "\n"
		    " step and phases  count    total      avg      p50      p95      max    %\n"
		    " step                 1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  100\n"
		    "\n"
		    "active    cpu 200 ns (20.0 %), device 600 ns (60.0 %), both at once 0 s\n"
		    "          (0.0 %)\n"
		    "memory    gpu0 peak 4.88 KiB at 160 ns in launch\n"
		    "lost      2 damaged events\n"
		    "noted     1 invalid UTF-8, replaced; 1 overlapping slice in an extra lane\n");
}

static void threads_have_names(void **state)
{
	sonde_analyze_options options = { .struct_size = sizeof options, .threads = true, .filter = "m" };

	(void)state;
	assert_says("report", &options,
		    "standard input   1.00 us   1 thread   1 stream   1 step\n"
		    "\n"
		    " name      calls   total    self     avg  thread                     %\n"
		    " gemm          2  800 ns  800 ns  400 ns  GPU 0: stream 7         80.0\n"
		    " aten::mm      1  200 ns  150 ns  200 ns  python 4711: thread 11  20.0\n"
		    "\n"
		    " step and phases  count    total      avg      p50      p95      max    %\n"
		    " step                 1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  100\n"
		    "\n"
		    "active    cpu 200 ns (20.0 %), device 600 ns (60.0 %), both at once 0 s\n"
		    "          (0.0 %)\n"
		    "memory    gpu0 peak 4.88 KiB at 160 ns in launch\n"
		    "lost      2 damaged events\n"
		    "noted     1 invalid UTF-8, replaced; 1 overlapping slice in an extra lane\n");
}

static void info_says_what_is_there_and_what_is_wrong(void **state)
{
	static const char *const parts[] = {
		"\"n_emitted\": 9,",
		"\"n_kept\": 7,",
		"\"n_lost\": 2,",
		"\"n_repaired_total\": 2,",
		"\"n_slices\": 5,",
		"\"n_allocations\": 1,",
		"\"n_launches\": 1,",
		"\"n_ranks\": 1,",
		"\"n_threads\": 1,",
		"\"n_streams\": 1,",
		"\"clock\": \"trace\",",
		"\"checksums_ok\": true",
		"{\"kind\": \"damaged events\", \"count\": 2, \"lost\": true, \"first_byte\": 77, \"file\": "
		"\"rank3.json\"}",
		"{\"kind\": \"invalid UTF-8, replaced\", \"count\": 1, \"lost\": false, \"first_byte\": 123, "
		"\"file\": \"rank3.json\"}",
		"{\"device\": 0, \"name\": \"H100\", \"rank\": 3, \"memory_bytes\": null, \"n_sms\": 132, \"compute\": "
		"null}",
		"{\"process\": \"python\", \"pid\": \"4711\", \"rank\": 3, \"device\": null, \"n_threads\": 1, "
		"\"n_streams\": 0, \"n_lanes\": 3, \"n_slices\": 3, \"n_counters\": 0}",
	};
	sonde_trace *t = make_imported();
	sonde_result *r = NULL;

	(void)state;
	assert_int_equal(sonde_analyze(t, "info", NULL, &r, NULL), SONDE_OK);
	char *text = printed(r, SONDE_JSON, 80, true, false);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (!strstr(text, parts[i]))
			fail_msg("no %s in\n%s", parts[i], text);
	free(text);
	sonde_result_free(r);
	sonde_trace_free(t);
}

static void one_and_many_have_their_own_words(void **state)
{
	sonde_result *r = result_new("counted");

	(void)state;
	assert_string_equal(result_counted(r, 1, "scope", "scopes"), "1 scope");
	assert_string_equal(result_counted(r, 0, "scope", "scopes"), "0 scopes");
	assert_string_equal(result_counted(r, 1200, "flow end", "flow ends"), "1,200 flow ends");
	for (size_t i = 0; i < DIAGNOSTIC_KINDS; i++) /* a count stands before them */
		assert_true(*diagnostic_infos[i].one && *diagnostic_infos[i].many);
	sonde_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_counts_every_slice),
		cmocka_unit_test(threads_have_names),
		cmocka_unit_test(info_says_what_is_there_and_what_is_wrong),
		cmocka_unit_test(one_and_many_have_their_own_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
