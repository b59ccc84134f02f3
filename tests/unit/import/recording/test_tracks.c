/* Processes, tracks and sites of a recording, in the numbers of its index. */
#include "import/recording/build.h"
#include "store/build/builder.h"
#include "unit/import/recording/make_file.h"

enum { A = 40, STEP, PHASE, OP, GPU_QUEUE, NPU, NPU_QUEUE, LOAD };

static sonde_index *index_made(maker *m)
{
	recording *t = make_recording(m);
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };

	if (recording_build_index(t, 1, &ix, &err))
		fail_msg("%s", err.message);
	recording_free(t);
	make_done(m);
	return ix;
}

static void make_names(maker *m)
{
	make_start(m);
	make_name(m, A, NAME_SCOPE, "a");
	make_name(m, STEP, NAME_STEP, "step");
	make_name(m, PHASE, NAME_PHASE, "phase");
	make_name(m, OP, NAME_OP, "op");
	make_name_of(m, &(name_parts){ .id = LOAD, .kind = NAME_SCOPE, .name = "load", .name_len = 4, .category = 3 });
	make_name(m, NPU, NAME_DEVICE, "npu");
	make_name_of(
		m, &(name_parts){ .id = GPU_QUEUE, .kind = NAME_STREAM, .name = "copy", .name_len = 4, .category = 2 });
	make_name_of(
		m,
		&(name_parts){ .id = NPU_QUEUE, .kind = NAME_STREAM, .name = "queue", .name_len = 5, .category = NPU });
}

/* The first track of this kind whose name is that; NULL: there is none. */
static const index_track *track_named(const sonde_index *ix, track_kind kind, const char *name)
{
	size_t n;
	const index_track *tracks = index_tracks(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].kind == kind && tracks[i].name != INDEX_NONE &&
		    strcmp(index_text(ix, tracks[i].name), name) == 0)
			return &tracks[i];
	return NULL;
}

static void threads_are_tracks_of_their_process(void **state)
{
	maker m = { 0 };
	size_t n;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 5, EVENT_THREAD_NAME, 2, { 6, make_text("worker") } }, { 10, A }, { 20, END | A });
	MAKE_EVENTS(&m, 2, { 11, A }, { 21, END | A });
	sonde_index *ix = index_made(&m);
	const index_process *processes = index_processes(ix, &n);
	assert_int_equal(processes[0].pid, 77);
	const index_track *worker = track_named(ix, TRACK_THREAD, "worker");
	assert_non_null(worker);
	assert_int_equal(worker->process, 0);
	size_t n_threads = 0;
	const index_track *tracks = index_tracks(ix, &n);
	for (size_t i = 0; i < n; i++)
		n_threads += tracks[i].kind == TRACK_THREAD;
	assert_int_equal(n_threads, 2);
	index_free(ix);
}

static void queues_are_streams_of_a_device(void **state)
{
	maker m = { 0 };
	size_t n;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 20, EVENT_STREAM_SLICE, 5, { GPU_QUEUE, 0, OP, 12, 18 } },
		    { 21, EVENT_STREAM_SLICE, 5, { NPU_QUEUE, 0, OP, 12, 18 } },
		    { 22, EVENT_STREAM_SLICE, 5, { 9999, 0, OP, 12, 18 } }); /* a queue that nobody named */
	sonde_index *ix = index_made(&m);
	const index_process *processes = index_processes(ix, &n);
	const index_track *gpu = track_named(ix, TRACK_STREAM, "copy"), *npu = track_named(ix, TRACK_STREAM, "queue"),
			  *unknown = track_named(ix, TRACK_STREAM, "stream");
	assert_true(gpu && npu && unknown);
	assert_int_equal(gpu->device, 1);   /* the first GPU is 0 to people */
	assert_int_equal(npu->device, NPU); /* one with a name has the number of its name */
	assert_string_equal(index_text(ix, processes[npu->process].name), "npu");
	assert_string_equal(index_text(ix, processes[unknown->process].name), "device");
	assert_true(processes[gpu->process].pid > 1 << 22); /* above what Linux gives out */
	index_free(ix);
}

static void operations_that_do_not_nest_lie_beside_their_thread(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 50, EVENT_OP_RECORD, 3, { OP, 20, 15 } }, { 60, EVENT_OP_RECORD, 3, { OP, 30, 15 } });
	sonde_index *ix = index_made(&m);
	size_t n, n_async = 0;
	const index_track *tracks = index_tracks(ix, &n);
	for (size_t i = 0; i < n; i++) {
		if (tracks[i].kind != TRACK_ASYNC)
			continue;
		n_async++;
		assert_non_null(strstr(index_text(ix, tracks[i].name), "operations of "));
		assert_string_equal(index_text(ix, tracks[i].category), "operation");
	}
	assert_int_equal(n_async, 1);
	index_free(ix);
}

static void sites_have_the_class_of_their_kind_and_category(void **state)
{
	static const struct {
		const char *name;
		uint8_t kind;
		site_class class;
	} wanted[] = {
		{ "a", NAME_SCOPE, CLASS_OTHER },     { "step", NAME_STEP, CLASS_STEP },
		{ "phase", NAME_PHASE, CLASS_PHASE }, { "op", NAME_OP, CLASS_COMPUTE },
		{ "op", NAME_DEVICE, CLASS_KERNEL },  { "load", NAME_SCOPE, CLASS_DATA_LOAD },
	};
	maker m = { 0 };
	size_t n;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, A }, { 11, END | A }, { 12, STEP, 1, { 7 } }, { 13, PHASE }, { 14, LOAD },
		    { 15, END | LOAD }, { 16, END | STEP }, { 20, EVENT_OP_RECORD, 3, { OP, 18, 2 } },
		    { 21, EVENT_STREAM_SLICE, 5, { NPU_QUEUE, 0, OP, 12, 18 } });
	sonde_index *ix = index_made(&m);
	const index_site *sites = index_sites(ix, &n);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		bool found = false;
		for (size_t k = 0; k < n; k++)
			found |= strcmp(index_text(ix, sites[k].name), wanted[i].name) == 0 &&
				 sites[k].kind == wanted[i].kind && sites[k].class == wanted[i].class;
		if (!found)
			fail_msg("no site %s of kind %d and class %d", wanted[i].name, wanted[i].kind,
				 (int)wanted[i].class);
	}
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_tracks_of_their_process),
		cmocka_unit_test(queues_are_streams_of_a_device),
		cmocka_unit_test(operations_that_do_not_nest_lie_beside_their_thread),
		cmocka_unit_test(sites_have_the_class_of_their_kind_and_category),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
