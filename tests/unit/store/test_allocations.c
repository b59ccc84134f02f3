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
#include "format/ring.h"
#include "unit/store/make_file.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer has its own malloc\n");
	return 77;
}

#else

/* ---- An allocator that fails on demand --------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);

static _Thread_local struct {
	bool armed;
	uint64_t n;	  /* allocations since it was armed */
	uint64_t fail_at; /* this one fails; 0: none */
	int64_t n_live;	  /* blocks made and not given back, while armed */
} allocator;

static bool fails(void)
{
	return allocator.armed && ++allocator.n == allocator.fail_at;
}

static void *made(void *memory)
{
	allocator.n_live += allocator.armed && memory;
	return memory;
}

/* Seen by libc too: strdup, glob and stdio allocate as well. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
	return fails() ? NULL : made(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : made(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __libc_realloc(old, size) : made(__libc_realloc(NULL, size));
}

void free(void *memory)
{
	allocator.n_live -= allocator.armed && memory;
	__libc_free(memory);
}

#pragma GCC visibility pop

/* ---- What is tried ----------------------------------------------------------------------------------------------- */

static char path[512];
static sonde_trace *opened;
static FILE *nowhere;

static sonde_status try_open(sonde_error *err)
{
	sonde_trace *t = NULL;
	sonde_status status = sonde_trace_open(path, &t, err);

	if (!status && t->diagnostics.n_kept != 21)
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

	size_t bytes = RING_HEADER_BYTES + RING_NAMES_BYTES + 2 * RING_CHUNK_BYTES;
	ring_header *ring = calloc(1, bytes);
	assert_non_null(ring);
	*ring = (ring_header){ .magic = RING_MAGIC, .stream = MAKE_STREAM, .version = FORMAT_VERSION, .n_chunks = 2 };
	ring->info = info;
	ring->last = (clock_pair){ 1000000000, 1000000000, 0 };
	ring->names_bytes = (uint32_t)name_write((char *)ring + RING_HEADER_BYTES,
						 &(name_parts){ .id = 50, .name = "late", .name_len = 4 });
	for (uint32_t i = 0; i < 2; i++) {
		ring_chunk *chunk = (ring_chunk *)((char *)ring + RING_HEADER_BYTES + RING_NAMES_BYTES) + i;
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
	} cases[] = { { "open", try_open },	   { "report", try_report }, { "tree", try_tree },
		      { "threads", try_threads },  { "steps", try_steps },   { "summary", try_summary },
		      { "info", try_info },	   { "export", try_export }, { "session", try_session_report },
		      { "recorder", try_recorder } };

	(void)state;
	make_rich();
	nowhere = fopen("/dev/null", "w");
	assert_non_null(nowhere);
	assert_int_equal(sonde_trace_open(path, &opened, NULL), SONDE_OK);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t n_failed = 0;
		sonde_error err = { .message = "" };
		assert_int_equal(cases[i].run(&err), SONDE_OK); /* what the system allocates once and keeps */
		for (uint64_t n = 1;; n++) {
			allocator.n = 0;
			allocator.n_live = 0;
			allocator.fail_at = n;
			allocator.armed = true;
			sonde_status status = cases[i].run(&err);
			allocator.armed = false;
			if (status && status != SONDE_E_MEMORY)
				fail_msg("%s, allocation %d: %s", cases[i].what, (int)n, err.message);
			if (allocator.n_live)
				fail_msg("%s, allocation %d: %d blocks leaked", cases[i].what, (int)n,
					 (int)allocator.n_live);
			n_failed += status == SONDE_E_MEMORY;
			if (allocator.n < n)
				break;
		}
		print_message("%s: %d of %d failures were fatal\n", cases[i].what, (int)n_failed, (int)allocator.n);
		assert_true(n_failed > 0);
	}
	sonde_trace_free(opened);
	fclose(nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
