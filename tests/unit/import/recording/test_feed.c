#define _GNU_SOURCE
/*
 * Recordings as an index: what was recorded by hand is looked up there, and real recordings (of the examples, in
 * fuzz/seeds/file) have the same sums by name in their index.
 */
#include <dirent.h>
#include "base/intern.h"
#include "import/recording/trace.h"
#include "import/recording/walk.h"
#include "unit/analyze/training.h"
#include <sonde/record.h>

enum { A = 140, B, C, MARK, COUNTER, OP, QUEUE, DEVICE };

static sonde_trace *index_of(const recording *r)
{
	sonde_index *ix = NULL;
	sonde_trace *indexed = NULL;
	sonde_error err = { .message = "" };

	if (recording_build_index(r, 1, &ix, &err) || index_verify(ix, &err) || trace_of_index(ix, &indexed, &err))
		fail_msg("%s", err.message);
	return indexed;
}

static sonde_trace *index_made(maker *m)
{
	recording *r = make_recording(m);
	sonde_trace *indexed = index_of(r);

	recording_free(r);
	make_done(m);
	return indexed;
}

/* ---- The same sums ----------------------------------------------------------------------------------------------- */

typedef struct sum {
	uint64_t calls;
	int64_t total_ns, least_ns, most_ns, self_ns;
	double flops, bytes;
} sum;

/* Of a recording or of a trace: by name, device and counter. */
typedef struct sums {
	const recording *recording;
	const sonde_trace *trace;
	intern_table names;
	VEC(sum) items;
	uint64_t n_allocs, n_frees, allocated_bytes, highest_bytes, n_snapshots;
	walk_counts counts;
} sums;

static const char *text_in(const sums *s, uint32_t string)
{
	return s->recording ? recording_text(s->recording, string) : trace_text(s->trace, string);
}

static sum *sum_of(sums *s, const char *kind, const trace_site *site)
{
	char key[1024];

	snprintf(key, sizeof key, "%s %s (%s)", kind, text_in(s, site->name), text_in(s, site->category));
	uint32_t number = intern(&s->names, key, strlen(key));
	sum *one = number == s->items.n ? VEC_ADD(&s->items) : &s->items.items[number];
	assert_non_null(one);
	if (!one->calls)
		one->least_ns = INT64_MAX;
	one->calls++;
	return one;
}

static void add_ns(sum *to, int64_t ns)
{
	to->total_ns += ns;
	to->least_ns = ns < to->least_ns ? ns : to->least_ns;
	to->most_ns = ns > to->most_ns ? ns : to->most_ns;
}

/* Operations that need not nest have no self time: the index keeps them beside their thread. */
static void on_end(void *context, slice *s)
{
	sum *to = sum_of(context, "slice", s->site);

	add_ns(to, s->dur_ns);
	to->self_ns += s->site->kind == NAME_OP || s->depth ? 0 : s->dur_ns;
	to->flops += s->flops;
	to->bytes += s->bytes;
}

static void on_device(void *context, const walk_device *d)
{
	sum *to = sum_of(context, "slice", d->site);

	add_ns(to, d->end_ns - d->start_ns);
	to->self_ns += d->end_ns - d->start_ns;
}

/* The index has the samples of the processes as counters too. */
static void on_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	sums *s = context;

	if (strcmp(text_in(s, site->category), "process") != 0) {
		sum *to = sum_of(s, "counter", site);
		add_ns(to, time_ns);
		to->bytes += value;
	}
}

static void on_memory(void *context, const walk_memory *m)
{
	sums *s = context;

	s->n_allocs += !m->is_free;
	s->n_frees += m->is_free;
	s->allocated_bytes += m->is_free ? 0 : m->bytes;
	s->highest_bytes = m->current_bytes > s->highest_bytes ? m->current_bytes : s->highest_bytes;
}

static void on_snapshot(void *context, const walk_snapshot *snapshot)
{
	sums *s = context;

	s->n_snapshots += snapshot->peak_bytes + 1;
}

static void sum_up(sums *s)
{
	const walk_sink sink = { .context = s,
				 .end = on_end,
				 .device = on_device,
				 .counter = on_counter,
				 .memory = on_memory,
				 .snapshot = on_snapshot };

	assert_int_equal(s->recording ? recording_walk(s->recording, &sink, &s->counts, NULL)
				      : trace_walk(s->trace, &sink, &s->counts, NULL),
			 SONDE_OK);
}

static void assert_same_sums(const char *what, const recording *r)
{
	sonde_trace *indexed = index_of(r);
	sums a = { .recording = r }, b = { .trace = indexed };

	sum_up(&a);
	sum_up(&b);
	assert_int_equal(a.items.n, b.items.n);
	for (uint32_t i = 0; i < a.items.n; i++) {
		const char *name = intern_text(&a.names, i);
		uint32_t k = intern(&b.names, name, strlen(name));
		if (k >= b.items.n || memcmp(&a.items.items[i], &b.items.items[k], sizeof(sum)) != 0)
			fail_msg("%s: %s is different in the index", what, name);
	}
	assert_int_equal(a.n_allocs, b.n_allocs);
	assert_int_equal(a.n_frees, b.n_frees);
	assert_int_equal(a.allocated_bytes, b.allocated_bytes);
	assert_int_equal(a.highest_bytes, b.highest_bytes);
	assert_int_equal(a.n_snapshots, b.n_snapshots);
	/* Launches are slices, the start and the end of the recording are marks. */
	assert_int_equal(a.counts.n_device, b.counts.n_device);
	assert_int_equal(a.counts.n_flows, b.counts.n_flows);
	assert_int_equal(a.counts.n_memory, b.counts.n_memory);
	assert_int_equal(a.counts.n_open, b.counts.n_open);
	assert_int_equal(a.counts.n_repaired, b.counts.n_repaired);
	intern_done(&a.names), intern_done(&b.names);
	VEC_DONE(&a.items), VEC_DONE(&b.items);
	sonde_trace_free(indexed);
}

static void examples_give_the_same_sums(void **state)
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
		recording *t = NULL;
		if (len < 7 || strcmp(entry->d_name + len - 6, ".sonde") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		assert_int_equal(recording_open_path(path, &t, NULL), SONDE_OK);
		assert_same_sums(entry->d_name, t);
		recording_free(t);
		n++;
	}
	closedir(dir);
	assert_true(n >= 6);
}

static void training_gives_the_same_sums(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	recording *t = make_recording(&m);
	assert_same_sums("training", t);
	recording_free(t);
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
		{ "numbers on an operation",
		  { OP_BEGIN(10, 1),
		    { 12, EVENT_OP_VALUE, 5, { 1, SONDE_ARG_F64_, make_double(0.5), 5, make_text("ratio") } },
		    { 13, EVENT_OP_VALUE, 5, { 1, SONDE_ARG_I64_, (uint64_t)-3, 4, make_text("rows") } },
		    { 14, EVENT_OP_VALUE, 5, { 1, 77, 1, 4, make_text("what") } },
		    OP_END(20, 1) },
		  "thread.0:op@10+10{\"rows\": -3, \"ratio\": 0.5}" },
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

static void instants_keep_their_arguments(void **state)
{
	maker m = { 0 };
	int64_t row[COLUMNS_MAX];
	static table_cursor c;
	args_text text;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1,
		    { 10, EVENT_INSTANT, 8, { MARK, SONDE_ARG_I64_, 1, make_text("n"), 7, SONDE_ARG_STR_, 0, 0 } },
		    { 20, EVENT_INSTANT, 2, { MARK, 99 } }, { 30, EVENT_INSTANT, 1, { MARK } });
	sonde_trace *t = index_made(&m);
	args_reader *args = args_reader_new(t->index);
	table_first(&c, t->index, SECTION_INSTANTS, 0);
	do
		assert_true(table_next(&c, row));
	while (row[INSTANT_TIME] != 10);
	assert_true(args_read(args, (uint32_t)row[INSTANT_ARGS], &text));
	assert_int_equal(text.args_len, strlen("{\"n\": 7, \"\": \"\"}"));
	assert_memory_equal(text.args, "{\"n\": 7, \"\": \"\"}", text.args_len);
	assert_true(table_next(&c, row));
	assert_int_equal(row[INSTANT_TIME], 20);
	assert_int_equal(row[INSTANT_ARGS], 0);
	args_reader_free(args);
	sonde_trace_free(t);
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
	recording *t = make_recording(&m);
	assert_int_equal(recording_build_index_with(t, 1, stop_at_once, NULL, &ix, NULL), SONDE_E_STATE);
	recording_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(training_gives_the_same_sums),
		cmocka_unit_test(examples_give_the_same_sums),
		cmocka_unit_test(slices_lie_where_they_belong),
		cmocka_unit_test(instants_keep_their_arguments),
		cmocka_unit_test(a_device_slice_knows_who_launched_it),
		cmocka_unit_test(nothing_else_is_lost),
		cmocka_unit_test(an_operation_that_lasts_is_no_problem),
		cmocka_unit_test(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
