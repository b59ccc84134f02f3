#define _GNU_SOURCE
/*
 * Recordings as an index: what was recorded by hand is looked up there, and real recordings (of the examples, in
 * fuzz/seeds/file) give the same profile whichever form is walked.
 */
#include <dirent.h>
#include "analyze/tables/profile.h"
#include "import/recording/recording.h"
#include "unit/analyze/training.h"
#include <sonde/record.h>

enum { A = 140, B, C, MARK, COUNTER, OP, QUEUE, DEVICE };

static sonde_trace *index_of(const sonde_trace *t)
{
	sonde_index *ix = NULL;
	sonde_trace *indexed = NULL;
	sonde_error err = { .message = "" };

	if (trace_build_index(t, 1, &ix, &err) || index_verify(ix, &err) || trace_of_index(ix, &indexed, &err))
		fail_msg("%s", err.message);
	return indexed;
}

static sonde_trace *index_made(maker *m)
{
	sonde_trace *t = make_trace(m), *indexed = index_of(t);

	sonde_trace_free(t);
	make_done(m);
	return indexed;
}

/* ---- The same profile -------------------------------------------------------------------------------------------- */

static profile *profile_of(const sonde_trace *t, profile_shape shape)
{
	profile_options options = { .shape = shape };
	profile *p = NULL;
	sonde_error err = { .message = "" };

	if (profile_new(t, &options, &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static const char *text_of(const profile *p, uint32_t string)
{
	return trace_text(p->trace, string);
}

/* The path of a node from the root, and what it sums up to; the lines of a profile are sorted before they are
   compared. */
static char *line_of(const profile *p, uint32_t index, bool with_self)
{
	const profile_node *node = &p->nodes.items[index];
	const stats *s = &node->stats;
	profile_work work = profile_work_of(p, node);
	char *line = NULL, path[1024];
	size_t n = 0;

	for (uint32_t i = index; i != PROFILE_NO_NODE; i = p->nodes.items[i].parent)
		n += (size_t)snprintf(path + n, n < sizeof path ? sizeof path - n : 0, "/%s",
				      text_of(p, p->nodes.items[i].name));
	assert_true(n < sizeof path);
	assert_true(asprintf(&line, "%s (%s) %d calls, total %lld self %lld, %lld..%lld, flops %g bytes %g", path,
			     node->mixed ? "mixed" : text_of(p, node->category), (int)s->calls, (long long)s->total_ns,
			     with_self ? (long long)s->self_ns : 0, (long long)s->min_ns, (long long)s->max_ns,
			     work.flops, work.bytes) > 0);
	return line;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **lines_of(const profile *p, bool nests, size_t *ret_n)
{
	char **lines = calloc(p->nodes.n + 1, sizeof *lines);

	*ret_n = 0;
	for (uint32_t i = 0; i < p->nodes.n; i++)
		if (p->nodes.items[i].stats.calls)
			lines[(*ret_n)++] = line_of(p, i, nests || p->nodes.items[i].kind != NAME_OP);
	qsort(lines, *ret_n, sizeof *lines, compare_lines);
	return lines;
}

static void assert_same_nodes(const char *what, const profile *a, const profile *b, bool nests)
{
	size_t n, m;
	char **x = lines_of(a, nests, &n), **y = lines_of(b, nests, &m);

	for (size_t i = 0; i < n && i < m; i++)
		if (strcmp(x[i], y[i]) != 0)
			fail_msg("%s: recorded\n%s\nindexed\n%s", what, x[i], y[i]);
	if (n != m)
		fail_msg("%s: %d names, indexed %d", what, (int)n, (int)m);
	for (size_t i = 0; i < n; i++) {
		free(x[i]);
		free(y[i]);
	}
	free(x);
	free(y);
}

static void assert_same_rest(const profile *a, const profile *b)
{
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->steps.n, b->steps.n);
	for (size_t i = 0; i < a->steps.n; i++)
		assert_memory_equal(&a->steps.items[i], &b->steps.items[i], sizeof a->steps.items[i]);
	assert_int_equal(a->phases.n, b->phases.n);
	for (size_t i = 0; i < a->phases.n; i++)
		assert_int_equal(a->phases.items[i].stats.sum_ns, b->phases.items[i].stats.sum_ns);
	assert_int_equal(a->memory.n, b->memory.n);
	for (size_t i = 0; i < a->memory.n; i++) {
		const profile_memory *x = a->memory.items[i], *y = b->memory.items[i];
		assert_string_equal(x->device, y->device);
		assert_int_equal(x->peak_bytes, y->peak_bytes);
		assert_int_equal(x->peak_ns, y->peak_ns);
		assert_int_equal(x->current_bytes, y->current_bytes);
		assert_int_equal(x->n_allocs, y->n_allocs);
		assert_int_equal(x->n_frees, y->n_frees);
		assert_int_equal(x->n_unknown_frees, y->n_unknown_frees);
		assert_int_equal(x->allocated_bytes, y->allocated_bytes);
		assert_int_equal(x->peak_inside == INTERN_NONE, y->peak_inside == INTERN_NONE);
		if (x->peak_inside != INTERN_NONE)
			assert_string_equal(text_of(a, x->peak_inside), text_of(b, y->peak_inside));
	}
	assert_int_equal(a->snapshots.n, b->snapshots.n);
	for (size_t i = 0; i < a->snapshots.n; i++) {
		assert_string_equal(a->snapshots.items[i].device, b->snapshots.items[i].device);
		assert_int_equal(a->snapshots.items[i].what.peak_bytes, b->snapshots.items[i].what.peak_bytes);
	}
}

/* The index has the samples of the processes as counters too. */
static void assert_same_counters(const profile *a, const profile *b)
{
	for (size_t i = 0; i < a->counters.n; i++) {
		const profile_counter *x = &a->counters.items[i], *y = NULL;
		for (size_t k = 0; k < b->counters.n; k++)
			if (strcmp(text_of(a, x->name), text_of(b, b->counters.items[k].name)) == 0)
				y = &b->counters.items[k];
		assert_non_null(y);
		assert_int_equal(x->n, y->n);
		assert_true(x->first == y->first && x->last == y->last && x->min == y->min && x->max == y->max);
		assert_int_equal(x->last_ns, y->last_ns);
	}
}

static bool all_nests(const sonde_trace *t)
{
	size_t n;
	const index_track *tracks = index_tracks(t->index, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].kind == TRACK_ASYNC)
			return false;
	return true;
}

/* An operation that ends inside a scope that began later is a parent to the walk of the recording until it ends, and
   never to the index: then its self time, and the tree, are different. */
static void assert_same_profile(const char *what, const sonde_trace *recorded, profile_shape shape)
{
	sonde_trace *indexed = index_of(recorded);
	bool nests = all_nests(indexed);
	if (!nests)
		shape = PROFILE_FLAT;
	profile *a = profile_of(recorded, shape), *b = profile_of(indexed, shape);

	assert_same_nodes(what, a, b, nests);
	assert_same_rest(a, b);
	assert_same_counters(a, b);
	/* Launches are slices, the start and the end of the recording are marks. */
	assert_int_equal(a->counts.n_device, b->counts.n_device);
	assert_int_equal(a->counts.n_flows, b->counts.n_flows);
	assert_int_equal(a->counts.n_memory, b->counts.n_memory);
	assert_int_equal(a->counts.n_open, b->counts.n_open);
	assert_int_equal(a->counts.n_repaired, b->counts.n_repaired);
	profile_free(a);
	profile_free(b);
	sonde_trace_free(indexed);
}

static void examples_give_the_same_profile(void **state)
{
	const char *source = getenv("SOURCE");
	char directory[4096], path[8192];
	struct dirent *entry;
	int n = 0;

	(void)state;
	snprintf(directory, sizeof directory, "%s/fuzz/seeds/file", source ? source : ".");
	DIR *dir = opendir(directory);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		sonde_trace *t = NULL;
		if (len < 7 || strcmp(entry->d_name + len - 6, ".sonde") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		assert_int_equal(sonde_trace_open(path, &t, NULL), SONDE_OK);
		assert_same_profile(entry->d_name, t, PROFILE_FLAT);
		assert_same_profile(entry->d_name, t, PROFILE_TREE);
		sonde_trace_free(t);
		n++;
	}
	closedir(dir);
	assert_true(n >= 6);
}

static void training_gives_the_same_profile(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	assert_same_profile("training", t, PROFILE_FLAT);
	assert_same_profile("training", t, PROFILE_TREE);
	sonde_trace_free(t);
	make_done(&m);
}

/* ---- What is where ----------------------------------------------------------------------------------------------- */

static void make_names(maker *m)
{
	make_start(m);
	make_name(m, A, NAME_SCOPE, "a");
	make_name(m, B, NAME_SCOPE, "b");
	make_name_of(m, &(name_parts){ .id = C,
				       .kind = NAME_SCOPE,
				       .name = "c",
				       .name_len = 1,
				       .file = "c.c",
				       .function = "main",
				       .line = 12,
				       .args = { { SONDE_ARG_I64_, "layer" }, { SONDE_ARG_STR_, "type" } },
				       .n_args = 2 });
	make_name(m, MARK, NAME_MARK, "mark");
	make_name(m, COUNTER, NAME_COUNTER, "loss");
	make_name(m, OP, NAME_OP, "op");
	make_name(m, DEVICE, NAME_DEVICE, "npu");
	make_name_of(m, &(name_parts){
				.id = QUEUE, .kind = NAME_STREAM, .name = "queue", .name_len = 5, .category = DEVICE });
}

/* All slices, lane after lane: "thread.0:a@10+20 thread.1:b@12+3 ..." without those of the recorder itself. */
static void slices_of(const sonde_trace *t, char *text, size_t size)
{
	static const char *const kinds[] = { "thread", "stream", "async", "process" };
	size_t n_lanes, n_tracks, n_sites, len = 0;
	const index_lane *lanes = index_lanes(t->index, &n_lanes);
	const index_track *tracks = index_tracks(t->index, &n_tracks);
	const index_site *sites = index_sites(t->index, &n_sites);
	args_reader *args = args_reader_new(t->index);
	index_slice s;

	text[0] = 0;
	for (uint64_t i = 0; i < index_n_slices(t->index); i++) {
		args_text what;
		assert_true(index_slice_at(t->index, i, &s));
		len += (size_t)snprintf(text + len, size - len, "%s%s.%d:%s@%lld+%lld", len ? " " : "",
					kinds[tracks[lanes[s.lane].track].kind], lanes[s.lane].depth,
					index_text(t->index, sites[s.site].name), (long long)s.start_ns,
					(long long)s.dur_ns);
		if (s.args && args_read(args, s.args, &what))
			len += (size_t)snprintf(text + len, size - len, "%.*s", (int)what.args_len, what.args);
		assert_true(len < size);
	}
	args_reader_free(args);
}

typedef struct slices_case {
	const char *what;
	made_event events[12];
	const char *slices;
} slices_case;

#define OP_BEGIN(time, serial)                                                                                         \
	{                                                                                                              \
		time, EVENT_OP_BEGIN, 4,                                                                               \
		{                                                                                                      \
			serial, OP                                                                                     \
		}                                                                                                      \
	}
#define OP_END(time, serial)                                                                                           \
	{                                                                                                              \
		time, EVENT_OP_END, 1,                                                                                 \
		{                                                                                                      \
			serial                                                                                         \
		}                                                                                                      \
	}

static void slices_lie_where_they_belong(void **state)
{
	const slices_case cases[] = {
		{ "scopes",
		  { { 10, A }, { 12, B }, { 15, END | B }, { 20, B }, { 27, END | B }, { 30, END | A } },
		  "thread.0:a@10+20 thread.1:b@12+3 thread.1:b@20+7" },
		{ "arguments",
		  { { 10, C, 3, { 3, 3, make_text("f32") } }, { 20, END | C } },
		  "thread.0:c@10+10{\"layer\": 3, \"type\": \"f32\"}" },
		{ "an operation that nests",
		  { { 10, A }, OP_BEGIN(12, 1), { 13, B }, { 15, END | B }, OP_END(20, 1), { 30, END | A } },
		  "thread.0:a@10+20 thread.1:op@12+8 thread.2:b@13+2" },
		{ "an operation that ends inside a scope that began later",
		  { OP_BEGIN(10, 1), { 12, A }, { 13, B }, { 14, END | B }, OP_END(20, 1), { 30, END | A } },
		  "thread.0:a@12+18 thread.1:b@13+1 async.0:op@10+10" },
		{ "one in another, the outer ends first",
		  { OP_BEGIN(10, 1), OP_BEGIN(12, 2), { 13, A }, { 14, END | A }, OP_END(20, 1), OP_END(22, 2) },
		  "thread.0:op@12+10 thread.1:a@13+1 async.0:op@10+10" },
		{ "an operation that outlives its scope",
		  { { 10, A }, OP_BEGIN(12, 1), { 13, B }, { 14, END | B }, { 20, END | A }, OP_END(50, 1) },
		  "thread.0:a@10+10 thread.1:b@13+1 async.0:op@12+38" },
		{ "an operation that never ends",
		  { { 10, A }, OP_BEGIN(12, 1), { 13, B }, { 14, END | B }, { 20, END | A } },
		  "thread.0:a@10+10 thread.1:b@13+1 async.0:op@12+988" },
		{ "notes and a call stack on an operation",
		  { OP_BEGIN(10, 1),
		    { 10, EVENT_STACK, 2, { 16, 255 } },
		    { 12, EVENT_OP_META, 5, { 1, 3, make_text("key"), 5, make_text("value") } },
		    OP_END(20, 1) },
		  "thread.0:op@10+10{\"stack\": [\"0x10\", \"0xff\"], \"key\": \"value\"}" },
		{ "timed elsewhere", { { 50, EVENT_OP_RECORD, 3, { OP, 20, 15 } } }, "async.0:op@20+15" },
		{ "a launch and what it launched",
		  { { 10, A },
		    { 11, EVENT_LAUNCH, 3, { OP, QUEUE, 6 } },
		    { 14, END | A },
		    { 20, EVENT_STREAM_SLICE, 5, { QUEUE, 6, OP, 12, 18 } } },
		  "thread.0:a@10+4 thread.1:op@11+0{\"stream\": 146, \"correlation\": 6} stream.0:op@12+6" },
	};
	static char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		maker m = { 0 };
		size_t n = 0;
		while (n < 12 && cases[i].events[n].code)
			n++;
		make_names(&m);
		make_events(&m, 1, cases[i].events, n);
		sonde_trace *t = index_made(&m);
		slices_of(t, text, sizeof text);
		if (strcmp(text, cases[i].slices) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", cases[i].what, text, cases[i].slices);
		sonde_trace_free(t);
	}
}

static void a_device_slice_knows_who_launched_it(void **state)
{
	maker m = { 0 };
	int64_t correlation;
	index_slice host;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 5, EVENT_LAUNCH, 3, { OP, QUEUE, 7 } }, { 11, EVENT_LAUNCH, 3, { OP, QUEUE, 6 } },
		    { 20, EVENT_STREAM_SLICE, 5, { QUEUE, 6, OP, 12, 18 } });
	sonde_trace *t = index_made(&m);
	uint64_t device = index_n_slices(t->index) - 1;
	assert_true(index_slice_at(t->index, index_launch_of(t->index, device, &correlation), &host));
	assert_int_equal(host.start_ns, 11);
	sonde_trace_free(t);
}

static const char *meta_of(const sonde_trace *t, const char *key)
{
	size_t n;
	const index_meta *metas = index_metas(t->index, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(t->index, metas[i].key), key) == 0)
			return index_text(t->index, metas[i].value);
	return NULL;
}

static void nothing_else_is_lost(void **state)
{
	maker m = { 0 };
	int64_t row[COLUMNS_MAX];
	static table_cursor c;
	const struct process_sample sample = {
		.time_ns = 60, .pid = 4242, .n_threads = 3, .user_ns = 5, .rss_bytes = 1 << 20, .read_bytes = UINT64_MAX
	};

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, MARK }, { 20, COUNTER, 1, { make_double(-1.5) } },
		    { 25, EVENT_META, 4, { 5, make_text("model"), 6, make_text("resnet") } },
		    { 26, EVENT_PAUSE, 1, { 1 } }, { 30, EVENT_FLOW_BEGIN, 2, { MARK, 5 } },
		    { 40, EVENT_FLOW_END, 2, { MARK, 5 } }, { 41, EVENT_ALLOC, 5, { 1, 4096, 100, 7, 150 } },
		    { 42, EVENT_STACK, 1, { 77 } }, { 43, EVENT_FREE, 4, { 1, 4096, 100, 50 } },
		    { 44, EVENT_FREE, 4, { DEVICE, 1, UINT64_MAX, 0 } });
	make_block(&m, BLOCK_META, "exit\0with exit code 3", 22, 0);
	make_block(&m, BLOCK_SAMPLES, &sample, sizeof sample, 0);
	sonde_trace *t = index_made(&m);
	const sonde_index *ix = t->index;
	args_reader *args = args_reader_new(ix);
	args_text text;

	/* the mark, the pause, the start and the end of the recording */
	assert_int_equal(index_n_rows(ix, SECTION_INSTANTS), 4);
	assert_int_equal(index_n_rows(ix, SECTION_FLOWS), 2);
	assert_int_equal(index_n_rows(ix, SECTION_ALLOCATIONS), 3);
	assert_string_equal(meta_of(t, "model"), "resnet");
	assert_non_null(strstr(meta_of(t, "sources of process 77"), "\"file\": \"c.c\", \"line\": 12"));
	size_t n_counters;
	index_counters(ix, &n_counters);
	assert_int_equal(n_counters, 1 + 6);
	table_first(&c, ix, SECTION_ALLOCATIONS, 0);
	assert_true(table_next(&c, row));
	assert_int_equal(row[ALLOCATION_BYTES], 100);
	assert_int_equal(row[ALLOCATION_DEVICE_TYPE], 1);
	assert_int_equal(row[ALLOCATION_DEVICE], 0);
	assert_int_equal(row[ALLOCATION_TOTAL], 150);
	assert_true(args_read(args, (uint32_t)row[ALLOCATION_ARGS], &text));
	assert_string_equal(text.args, "{\"tensor\": 7, \"stack\": [\"0x4d\"]}");
	assert_true(table_next(&c, row));
	assert_int_equal(row[ALLOCATION_BYTES], -100);
	assert_true(table_next(&c, row));
	assert_int_equal(row[ALLOCATION_BYTES], 0);
	args_reader_free(args);
	sonde_trace_free(t);
}

/* However many slices end inside an operation that is open: what is held back is bounded, and nothing is lost. */
static void an_operation_that_lasts_is_no_problem(void **state)
{
	enum { N = 300000, AT_ONCE = 1000 };
	static made_event events[AT_ONCE];
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, OP_BEGIN(10, 1));
	for (uint64_t i = 0; i < 2 * N; i += AT_ONCE) {
		for (uint64_t k = 0; k < AT_ONCE; k += 2) {
			events[k] = (made_event){ .ticks = 100 + i + k, .code = A };
			events[k + 1] = (made_event){ .ticks = 101 + i + k, .code = END | A };
		}
		make_events_at(&m, 1, 6 + i, events, AT_ONCE);
	}
	sonde_trace *t = index_made(&m);
	assert_int_equal(index_n_slices(t->index), N + 1);
	size_t n_lanes;
	const index_lane *lanes = index_lanes(t->index, &n_lanes);
	assert_int_equal(n_lanes, 2);
	assert_int_equal(lanes[0].depth, 0);
	assert_int_equal(lanes[0].n_slices, N);
	sonde_trace_free(t);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
	(void)context, (void)done, (void)total;
	return false;
}

static void it_can_be_stopped(void **state)
{
	maker m = { 0 };
	sonde_index *ix = NULL;

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	assert_int_equal(trace_build_index_with(t, 1, stop_at_once, NULL, &ix, NULL), SONDE_E_STATE);
	sonde_trace_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(training_gives_the_same_profile),
		cmocka_unit_test(examples_give_the_same_profile),
		cmocka_unit_test(slices_lie_where_they_belong),
		cmocka_unit_test(a_device_slice_knows_who_launched_it),
		cmocka_unit_test(nothing_else_is_lost),
		cmocka_unit_test(an_operation_that_lasts_is_no_problem),
		cmocka_unit_test(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
