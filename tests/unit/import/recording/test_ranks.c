/* Several recordings: ranks of a run, or processes of one. */
#define _GNU_SOURCE
#include "store/build/builder.h"
#include "unit/import/recording/make_file.h"

#define UTC INT64_C(1700000000000000000)

typedef struct made {
	const char *name, *meta, *host; /* meta: "key=value,key=value" */
	uint32_t pid;
	int64_t start_ns, utc_ns; /* the scope begins 10 ns after start_ns */
} made;

static const char *save(const made *from, uint64_t stream)
{
	maker m = { .stream = stream };
	stream_block info = { .state = STREAM_CLOSED,
			      .clock = CLOCK_NS,
			      .pid = from->pid,
			      .pid_start = 1,
			      .start_ns = from->start_ns,
			      .end_ns = from->start_ns + 1000,
			      .start_utc_ns = from->utc_ns };
	const clock_pair pairs[] = { { 0, 0, 0 }, { 1000000000, 1000000000, 0 } };
	char meta[64] = "";

	snprintf(info.host, sizeof info.host, "%s", from->host);
	make_stream(&m, &info);
	snprintf(meta, sizeof meta, "%s", from->meta ? from->meta : "");
	for (char *at = meta; *at; at++)
		*at = strchr("=,", *at) ? 0 : *at;
	if (from->meta)
		make_block(&m, BLOCK_META, meta, strlen(from->meta) + 1, 0);
	make_clock(&m, pairs, 2);
	make_name(&m, 40, NAME_SCOPE, "forward");
	MAKE_EVENTS(&m, 1, { (uint64_t)from->start_ns + 10, 40 }, { (uint64_t)from->start_ns + 20, END | 40 });
	make_totals(&m);
	const char *path = temp_path(from->name);
	make_save(&m, path);
	make_done(&m);
	return path;
}

/* "0:7 1:8 ": ranks and their processes; "" for processes of one run. */
static const char *opened(const made *files, size_t n, const sonde_open_options *options)
{
	static char text[256];
	const char *paths[4];
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };
	size_t len = 0, n_processes;

	for (size_t i = 0; i < n; i++)
		paths[i] = save(&files[i], i + 1);
	if (sonde_trace_open_with(paths, n, options, &t, &err))
		fail_msg("%s", err.message);
	text[0] = 0;
	if (!t->recording) {
		const index_process *processes = index_processes(t->index, &n_processes);
		for (size_t i = 0; i < n_processes; i++)
			len += (size_t)snprintf(text + len, sizeof text - len, "%d:%d ", (int)processes[i].rank,
						(int)processes[i].pid);
	} else {
		assert_int_equal(t->n_events, n + 2 * n); /* and the start and the end of each */
	}
	sonde_trace_free(t);
	temp_clear();
	return text;
}

static void they_are_ranks_when_they_say_so(void **state)
{
	static const struct {
		made files[2];
		const char *expected; /* "" processes of one run */
	} cases[] = {
		/* by their content, whatever their names and their order */
		{ { { "a.sonde", "rank=1,world_size=2", "n", 7, 0, UTC },
		    { "rank9.sonde", "model=x,rank=0", "n", 8, 0, UTC } },
		  "0:8 1:7 " },
		/* a process and its child */
		{ { { "a.sonde", "rank=1", "n", 7, 0, UTC }, { "b.sonde", "rank=1", "n", 8, 0, UTC } }, "" },
		{ { { "a.sonde", "rank=1", "n", 7, 0, UTC }, { "b.sonde", NULL, "n", 8, 0, UTC } }, "" },
		{ { { "a.sonde", "rank=x1", "n", 7, 0, UTC }, { "b.sonde", "rank=-1", "n", 8, 0, UTC } }, "" },
		/* by their names */
		{ { { "rank5.sonde", NULL, "n", 7, 0, UTC }, { "rank3.sonde", NULL, "n", 8, 0, UTC } }, "3:8 5:7 " },
		{ { { "run1.sonde", NULL, "n", 7, 0, UTC }, { "run0.sonde", NULL, "n", 8, 0, UTC } }, "0:8 1:7 " },
		{ { { "run.sonde", NULL, "n", 7, 0, UTC }, { "run.8.sonde", NULL, "n", 8, 0, UTC } }, "" },
		{ { { "epoch1.sonde", NULL, "n", 7, 0, UTC }, { "epoch2.sonde", NULL, "n", 7, 50, UTC + 50 } }, "" },
		{ { { "rank3.sonde", NULL, "n", 7, 0, UTC }, { "rank3-b.sonde", NULL, "n", 8, 0, UTC } }, "" },
		/* two machines have no process in common; a number that is the pid is no rank */
		{ { { "run.7.sonde", NULL, "n", 7, 0, UTC }, { "run.8.sonde", NULL, "m", 8, 0, UTC } }, "0:7 1:8 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(opened(cases[i].files, 2, NULL), cases[i].expected);
}

static void merging_takes_their_order_where_nothing_else_says(void **state)
{
	const sonde_open_options merge = { .struct_size = sizeof merge, .ranks = true };
	static const made plain[] = { { "b.sonde", NULL, "n", 7, 0, UTC }, { "a.sonde", NULL, "n", 8, 0, UTC } };
	static const made child[] = { { "b.sonde", "rank=1", "n", 7, 0, UTC },
				      { "a.sonde", "rank=1", "n", 8, 0, UTC } };

	(void)state;
	assert_string_equal(opened(plain, 2, NULL), "");
	assert_string_equal(opened(plain, 2, &merge), "0:7 1:8 ");
	assert_string_equal(opened(child, 2, &merge), "");
}

/* Where each rank's scope begins, from the start of the trace. */
static void starts_of(const made *files, size_t n, int64_t *ret_starts, index_clock *ret_clock)
{
	const char *paths[4];
	sonde_trace *t = NULL;

	for (size_t i = 0; i < n; i++)
		paths[i] = save(&files[i], i + 1);
	assert_int_equal(sonde_trace_open_files(paths, n, &t, NULL), SONDE_OK);
	assert_null(t->recording);
	assert_int_equal(index_n_slices(t->index), n);
	*ret_clock = index_clock_of(t->index);
	for (size_t i = 0; i < n; i++) {
		index_slice at;
		assert_true(index_slice_at(t->index, i, &at));
		ret_starts[i] = at.start_ns;
	}
	sonde_trace_free(t);
	temp_clear();
}

static void the_clocks_of_several_machines_become_one(void **state)
{
	/* n and m booted at different times; the second of n read its clocks 3 us less well. */
	static const made files[] = {
		{ "rank0.sonde", NULL, "n", 7, 1000, UTC },
		{ "rank1.sonde", NULL, "m", 8, 5000000, UTC + 500 },
		{ "rank2.sonde", NULL, "n", 9, 1200, UTC + 3200 },
	};
	int64_t starts[3];
	index_clock clock;

	(void)state;
	starts_of(files, 3, starts, &clock);
	assert_int_equal(clock, INDEX_CLOCK_EPOCH);
	assert_int_equal(starts[0], UTC + 10);
	assert_int_equal(starts[1], UTC + 510);
	assert_int_equal(starts[2], UTC + 210);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_ranks_when_they_say_so),
		cmocka_unit_test(merging_takes_their_order_where_nothing_else_says),
		cmocka_unit_test(the_clocks_of_several_machines_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
