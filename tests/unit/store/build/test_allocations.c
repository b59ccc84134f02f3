/*
 * Every allocation fails once, while a recording is opened, analysed, printed and exported: no crash, no leak, and
 * either SONDE_E_MEMORY or a whole result.
 */
#include <sys/mman.h>
#include <sonde/analyze.h>
#include <sonde/record.h>
#include <sonde/recorder.h>
#include <sonde/session.h>
#include <sonde/trace.h>
#include "base/proc.h"
#include "format/recording/ring.h"
#include "store/build/builder.h"
#include "unit/import/recording/make_file.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer has its own malloc\n");
	return 77;
}

#else

#include "unit/failing_malloc.h"

/* ---- What is tried ----------------------------------------------------------------------------------------------- */

static char path[512];
static sonde_trace *opened;
static FILE *nowhere;

static sonde_status try_open(sonde_error *err)
{
	sonde_trace *t = NULL;
	sonde_status status = sonde_trace_open(path, &t, err);

	sonde_trace_facts facts = { .struct_size = sizeof facts };

	if (!status)
		sonde_trace_get_facts(t, &facts);
	if (!status && facts.n_events != 21)
		return SONDE_E_FORMAT;
	sonde_trace_free(t);
	return status;
}

static sonde_status try_analysis(const char *name, const sonde_analyze_options *options, sonde_error *err)
{
	static const sonde_format formats[] = { SONDE_TEXT, SONDE_JSON, SONDE_CSV };
	sonde_result *r = NULL;
	sonde_status status = sonde_analyze(opened, name, options, &r, err);

	for (size_t i = 0; !status && i < 3; i++)
		status = sonde_result_print(r, formats[i], NULL, nowhere, err);
	sonde_result_free(r);
	return status;
}

static sonde_status try_report(sonde_error *err)
{
	return try_analysis("report", NULL, err);
}

static sonde_status try_tree(sonde_error *err)
{
	return try_analysis(
		"report", &(sonde_analyze_options){ .struct_size = sizeof(sonde_analyze_options), .tree = true }, err);
}

static sonde_status try_threads(sonde_error *err)
{
	return try_analysis("report",
			    &(sonde_analyze_options){ .struct_size = sizeof(sonde_analyze_options), .threads = true },
			    err);
}

static sonde_status try_steps(sonde_error *err)
{
	return try_analysis("report",
			    &(sonde_analyze_options){ .struct_size = sizeof(sonde_analyze_options),
						      .use_steps = true,
						      .first_step = 0,
						      .last_step = 9 },
			    err);
}

static sonde_status try_summary(sonde_error *err)
{
	return try_analysis("summary", NULL, err);
}

static sonde_status try_info(sonde_error *err)
{
	return try_analysis("info", NULL, err);
}

static sonde_status try_export(sonde_error *err)
{
	return sonde_export(opened, "chrome", nowhere, err);
}

static sonde_status try_session_report(sonde_error *err)
{
	sonde_report *r = NULL;
	sonde_status status = sonde_report_open(path, &r, err);

	if (!status) {
		sonde_report_print(r, nowhere, 5);
		sonde_report_free(r);
	}
	return status;
}

static sonde_status try_recorder(sonde_error *err)
{
	static char *const command[] = { "./train", NULL };
	sonde_recorder *r = NULL;
	sonde_status status = sonde_recorder_open(temp_path("recorder.sonde"), 1, command, &r, err);

	if (status)
		return status;
	sonde_recorder_process(r, 1, 0, "train");
	sonde_recorder_sample(r, &(sonde_process_sample){ .pid = 1 }, 1);
	return sonde_recorder_close(r, 0, NULL, err);
}

/* Slices on three tracks: some overlap, some come with their depth, some are launches and steps. */
static void build_slices(builder *b, const uint32_t *tracks, const uint32_t *sites, uint32_t args)
{
	for (int64_t i = 0; i < 400; i++) {
		builder_slice s = { .start_ns = 1000 - i,
				    .dur_ns = i % 7 * 100,
				    .site = sites[i % 3],
				    .args = args,
				    .correlation = 1 + i };
		builder_slices(b, tracks[0], &s, 1);
		builder_flow(b, tracks[0], i, sites[0], (uint64_t)i, "sf"[i % 2], 0);
		s.site = sites[3];
		builder_slices(b, tracks[1], &s, 1);
		s = (builder_slice){ .start_ns = i * 10, .dur_ns = 5, .site = sites[0] };
		builder_lane_slice(b, tracks[2], 0, &s);
	}
}

static void build_others(builder *b, uint32_t track, uint32_t site)
{
	uint32_t name = builder_string(b, "counter", 7), one = builder_string(b, "one", 3),
		 two = builder_string(b, "two", 3);

	for (int64_t i = 0; i < 300; i++) {
		builder_value(b, track, name, i % 2 ? one : two, INDEX_NONE, 300 - i, (double)i);
		builder_instant(b, track, 300 - i, site, 0, 't');
		builder_sample(b, track, i, site, 0);
		builder_allocation_add(b, &(builder_allocation){ .time_ns = 300 - i, .track = track, .site = site });
	}
	builder_meta(b, -1, "key", 3, "value", 5, false);
	builder_diagnostic(b, &(builder_problem){ .kind = DIAGNOSTIC_INPUT, .n = 1, .file = "file", .position = 5 });
	builder_step(b, track, 601, 5);
	builder_file_rank(b, 0, 1);
}

static sonde_status try_builder(sonde_error *err)
{
	static const char *const names[] = { "a", "b", "step 7", "kernel" };
	static const site_class classes[] = { CLASS_COMPUTE, CLASS_RUNTIME, CLASS_STEP, CLASS_KERNEL };
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	uint32_t tracks[3], sites[4];
	sonde_index *ix = NULL;

	if (!b)
		return SONDE_E_MEMORY;
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	for (uint32_t i = 0; i < 3; i++)
		tracks[i] = builder_track(b, TRACK_THREAD, process, i, INDEX_NONE, INDEX_NONE);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t name = builder_string(b, names[i], strlen(names[i]));
		sites[i] = builder_site(b, name, name, classes[i], 0);
	}
	args_piece pieces[] = { { "{\"a\": ", 6 }, { "}", 1 } };
	uint8_t kind = ARG_TEXT;
	uint32_t template = builder_template(b, &(args_template){ 1, 2, pieces, &kind });
	uint32_t args = builder_args(b, template, &(int64_t){ builder_arg_text(b, "null", 4) });
	build_slices(b, tracks, sites, args);
	build_others(b, tracks[0], sites[0]);
	sonde_status status = builder_finish(b, &ix, err);
	if (!status && index_n_slices(ix) != 1200)
		status = SONDE_E_FORMAT;
	index_free(ix);
	builder_free(b);
	return status;
}

/* Something of everything: 17 events in the file, 4 in the ring. */
static void make_rich(void)
{
	const char *ring_path = temp_path("rich.sonde.ring");
	maker m = { 0 };

	snprintf(path, sizeof path, "%s", temp_path("rich.sonde"));
	make_start(&m);
	stream_block info = m.info;
	info.state = STREAM_OPEN;
	info.pid = (uint32_t)getpid(); /* watched, so that it stays as it is */
	info.pid_start = proc_start_time(getpid());
	snprintf(info.ring_path, sizeof info.ring_path, "%s", "rich.sonde.ring");
	make_stream(&m, &info);
	make_name(&m, 40, NAME_SCOPE, "forward");
	make_name(&m, 41, NAME_PHASE, "phase");
	make_name(&m, 42, NAME_STEP, "step");
	make_name(&m, 43, NAME_COUNTER, "loss");
	make_name(&m, 44, NAME_OP, "op");
	make_name(&m, 45, NAME_STREAM, "queue");
	make_name(&m, 999, NAME_DEVICE, "npu0");
	make_block(&m, BLOCK_META, "thread.1\0main\0command\0./train\0exit\0killed", 42, 0);
	make_block(&m, BLOCK_PROCESS, "\1\0\0\0\0\0\0\0train", 13, 0);
	make_block(&m, BLOCK_SAMPLES, &(process_sample){ .pid = 1 }, sizeof(process_sample), 0);
	MAKE_EVENTS(&m, 1, { 5, EVENT_THREAD_NAME, 2, { 4, make_text("main") } },
		    { 6, EVENT_META, 4, { 5, make_text("model"), 6, make_text("resnet") } }, { 10, 42, 1, { 3 } },
		    { 11, 41 }, { 12, 40 }, { 13, EVENT_ALLOC, 5, { 999, 1, 100, 0, 100 } },
		    { 14, EVENT_OP_BEGIN, 6, { 1, 44, 0, 0, 0, 0 } }, { 20, END | 40 },
		    { 21, 43, 1, { make_double(0.5) } }, { 30, END | 42 });
	MAKE_EVENTS(&m, 2, { 10, 40 }, { 15, EVENT_OP_END, 1, { 1 } }, { 20, END | 40 });
	MAKE_EVENTS(&m, 2, { 30, EVENT_LAUNCH, 3, { 44, 45, 7 } }, { 31, EVENT_STREAM_SLICE, 5, { 45, 7, 44, 40, 50 } },
		    { 32, EVENT_OP_RECORD, 3, { 44, 5, 6 } }, { 33, EVENT_FLOW_BEGIN, 2, { 40, 1 } });
	make_save(&m, path);
	make_done(&m);

	size_t bytes = RING_CHUNKS_AT + 2 * RING_CHUNK_BYTES;
	ring_header *ring = calloc(1, bytes);
	assert_non_null(ring);
	*ring = (ring_header){ .magic = RING_MAGIC, .stream = MAKE_STREAM, .version = FORMAT_VERSION, .n_chunks = 2 };
	ring->info = info;
	ring->last = (clock_pair){ 1000000000, 1000000000, 0 };
	ring->names_bytes = (uint32_t)name_write((char *)ring + RING_HEADER_BYTES,
						 &(name_parts){ .id = 50, .name = "late", .name_len = 4 });
	for (uint32_t i = 0; i < 2; i++) {
		ring_chunk *chunk = (ring_chunk *)((char *)ring + RING_CHUNKS_AT) + i;
		*chunk = (ring_chunk){ .state = CHUNK_ACTIVE, .thread = 5 + i };
		make_words(chunk->words, (const made_event[]){ { 40, 50 }, { 50, END | 50 } }, 2);
	}
	temp_write(ring_path, ring, bytes);
	free(ring);
}

static void every_allocation_may_fail(void **state)
{
	static const struct {
		const char *what;
		sonde_status (*run)(sonde_error *err);
	} cases[] = { { "open", try_open },	    { "report", try_report },  { "tree", try_tree },
		      { "threads", try_threads },   { "steps", try_steps },    { "summary", try_summary },
		      { "info", try_info },	    { "export", try_export },  { "session", try_session_report },
		      { "recorder", try_recorder }, { "builder", try_builder } };

	(void)state;
	make_rich();
	nowhere = fopen("/dev/null", "w");
	assert_non_null(nowhere);
	assert_int_equal(sonde_trace_open(path, &opened, NULL), SONDE_OK);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		fail_each_allocation(cases[i].what, cases[i].run, 1);
	sonde_trace_free(opened);
	fclose(nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
