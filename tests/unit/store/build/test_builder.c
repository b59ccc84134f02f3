/* What the builder makes of everything that is not nesting: order, flows, launches, steps, counters, tables, errors. */
#include "unit/store/make_builder.h"

static void nothing_at_all_is_an_index(void **state)
{
	size_t n;

	(void)state;
	sonde_index *ix = finish(builder_with_threads(1));
	assert_int_equal(index_start_ns(ix), 0);
	assert_int_equal(index_end_ns(ix), 0);
	assert_int_equal(index_n_slices(ix), 0);
	index_tracks(ix, &n);
	assert_int_equal(n, 0);
	index_free(ix);
}

static void the_same_name_has_the_same_number(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t a = string_of(b, "a"), z = string_of(b, "z");

	(void)state;
	assert_int_not_equal(a, z);
	assert_int_equal(string_of(b, "a"), a);
	uint32_t site = builder_site(b, a, z, CLASS_MEMORY, 0);
	assert_int_equal(builder_site(b, a, z, CLASS_OTHER, 0), site);
	assert_int_not_equal(builder_site(b, z, a, CLASS_OTHER, 0), site);
	uint32_t p = builder_process(b, 0, 1, INDEX_NONE);
	assert_int_not_equal(builder_process(b, 1, 1, INDEX_NONE), p);
	assert_int_not_equal(builder_process(b, 0, 1, a), p);
	assert_int_equal(builder_process(b, 0, 1, INDEX_NONE), p);
	uint32_t t = thread_track(b, p, 5);
	assert_int_equal(thread_track(b, p, 5), t);
	assert_int_not_equal(builder_track(b, TRACK_ASYNC, p, 5, INDEX_NONE, a), t);
	sonde_index *ix = finish(b);
	size_t n;
	const index_site *sites = index_sites(ix, &n);
	assert_int_equal(n, 2);
	assert_string_equal(index_text(ix, sites[0].name), "a");
	assert_string_equal(index_text(ix, sites[0].category), "z");
	assert_int_equal(sites[0].class, CLASS_MEMORY);
	index_free(ix);
}

/* ---- Order of processes and tracks ------------------------------------------------------------------------------- */

static void processes_and_tracks_are_in_their_order(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t late = builder_process(b, 0, 30, INDEX_NONE), first = builder_process(b, 1, 20, INDEX_NONE);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);

	(void)state;
	builder_process_of(b, late)->rank = 1;
	builder_process_of(b, late)->name = string_of(b, "late");
	builder_file_rank(b, 1, 0);
	uint32_t t2 = thread_track(b, late, 1), t1 = thread_track(b, first, 9), t0 = thread_track(b, first, 10);
	builder_track_of(b, t0)->sort = -5;
	builder_track_of(b, t0)->name = string_of(b, "zero");
	add_slice(b, t2, 100, 10, site);
	add_slice(b, t0, 300, 10, site);
	builder_instant(b, t1, 50, site, 0, 't');
	sonde_index *ix = finish(b);
	size_t n;
	const index_process *p = index_processes(ix, &n);
	assert_int_equal(n, 2);
	assert_int_equal(p[0].pid, 20);
	assert_int_equal(p[0].rank, 0);
	assert_int_equal(p[1].rank, 1);
	assert_string_equal(index_text(ix, p[1].name), "late");
	const index_track *t = index_tracks(ix, &n);
	assert_int_equal(n, 3);
	assert_int_equal(t[0].id, 10);
	assert_string_equal(index_text(ix, t[0].name), "zero");
	assert_int_equal(t[1].id, 9);
	assert_int_equal(t[1].n_lanes, 0);
	assert_int_equal(t[2].process, 1);
	assert_int_equal(t[2].n_slices, 1);
	index_slice s;
	assert_true(index_slice_at(ix, 0, &s));
	assert_int_equal(s.start_ns, 300);
	int64_t row[COLUMNS_MAX];
	table_row(ix, SECTION_INSTANTS, 0, row);
	assert_int_equal(row[INSTANT_TRACK], 1);
	assert_int_equal(index_start_ns(ix), 50);
	assert_int_equal(index_end_ns(ix), 310);
	index_free(ix);
}

static void a_file_is_shifted_as_a_whole(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t p0 = builder_process(b, 0, 1, INDEX_NONE), p1 = builder_process(b, 1, 1, INDEX_NONE);
	uint32_t t0 = thread_track(b, p0, 1), t1 = thread_track(b, p1, 1), t2 = thread_track(b, p1, 2);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE), step = site_named(b, "step", CLASS_STEP);
	int64_t start_ns, end_ns;

	(void)state;
	assert_false(builder_file_span(b, 1, &start_ns, &end_ns));
	add_slice(b, t0, 1000, 10, site);
	add_slice(b, t1, 40, 100, site);
	builder_instant(b, t1, 30, site, 0, 't');
	builder_value(b, t1, string_of(b, "c"), INDEX_NONE, INDEX_NONE, 70, 1.0);
	builder_flow(b, t1, 50, site, 1, 's', 0);
	builder_slice s = { .start_ns = 60, .dur_ns = 90, .site = step };
	builder_lane_slice(b, t2, 0, &s);
	builder_step(b, t2, 60, 17);
	assert_true(builder_file_span(b, 1, &start_ns, &end_ns));
	assert_int_equal(start_ns, 30);
	assert_int_equal(end_ns, 150);
	builder_file_shift(b, 1, 2000);
	builder_file_shift(b, 1, 3000);
	assert_true(builder_file_span(b, 1, &start_ns, &end_ns));
	assert_int_equal(start_ns, 5030);
	assert_int_equal(end_ns, 5150);
	sonde_index *ix = finish(b);
	assert_int_equal(index_start_ns(ix), 1000);
	assert_int_equal(index_end_ns(ix), 5150);
	static const int64_t starts[] = { 1000, 5040, 5060 };
	for (uint64_t i = 0; i < 3; i++) {
		index_slice slice;
		assert_true(index_slice_at(ix, i, &slice));
		assert_int_equal(slice.start_ns, starts[i]);
	}
	int64_t row[COLUMNS_MAX];
	table_row(ix, SECTION_INSTANTS, 0, row);
	assert_int_equal(row[INSTANT_TIME], 5030 - 1000);
	table_row(ix, SECTION_VALUES, 0, row);
	assert_int_equal(row[VALUE_TIME], 5070 - 1000);
	table_row(ix, SECTION_FLOWS, 0, row);
	assert_int_equal(row[FLOW_SLICE], 2);
	assert_int_equal(row[FLOW_TIME], 10);
	size_t n;
	const index_step *steps = index_steps(ix, &n);
	assert_int_equal(n, 1);
	assert_int_equal(steps[0].number, 17);
	assert_int_equal(steps[0].start_ns, 5060 - 1000);
	index_free(ix);
}

/* ---- Flows ------------------------------------------------------------------------------------------------------- */

typedef struct flow_case {
	char phase;
	int64_t time_ns;
	int64_t start_ns, dur_ns; /* of the slice it goes to; dur -1: none */
} flow_case;

/* Slices: 0..100, in it 10..40 and 40..60, in that 40..40; 200..210; overlapping 205..300 */
static const flow_case flow_cases[] = {
	{ 's', 0, 0, 100 },    { 's', 5, 0, 100 },    { 's', 10, 10, 30 },   { 's', 39, 10, 30 },
	{ 's', 40, 40, 0 },    { 's', 41, 40, 20 },   { 't', 60, 40, 20 },   { 't', 61, 0, 100 },
	{ 't', 100, 0, 100 },  { 's', 101, 0, -1 },   { 'F', 101, 0, -1 },   { 'F', 70, 0, 100 },
	{ 'f', 101, 200, 10 }, { 'f', 0, 0, 100 },    { 'f', 10, 10, 30 },   { 'f', 40, 40, 20 },
	{ 'f', 41, 200, 10 },  { 'f', 206, 0, -1 },   { 's', 203, 200, 10 }, { 's', 207, 205, 95 },
	{ 's', 210, 205, 95 }, { 's', 300, 205, 95 }, { 's', 301, 0, -1 },   { 's', -5, 0, -1 },
	{ 'f', -5, 0, 100 },
};
enum { N_FLOW_CASES = sizeof flow_cases / sizeof flow_cases[0] };

static const struct {
	int64_t start_ns, dur_ns;
	uint32_t depth;
} flow_slices[] = { { 10, 30, 1 }, { 40, 0, 2 }, { 40, 20, 1 }, { 0, 100, 0 }, { 200, 10, 0 }, { 205, 95, 0 } };

/* feed: without the slice that overlaps, in the order of ends. */
static void check_flows(bool feed)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1), n_unbound = 0;
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);

	for (size_t i = 0; i < N_FLOW_CASES; i++)
		builder_flow(b, track, flow_cases[i].time_ns, site, i, flow_cases[i].phase, 0);
	for (size_t i = 0; i < sizeof flow_slices / sizeof flow_slices[0] - feed; i++) {
		builder_slice s = { flow_slices[i].start_ns, flow_slices[i].dur_ns, site, 0, 0, 0 };
		if (feed)
			builder_lane_slice(b, track, flow_slices[i].depth, &s);
		else
			builder_slices(b, track, &s, 1);
	}
	sonde_index *ix = finish(b);
	assert_int_equal(index_n_rows(ix, SECTION_FLOWS), N_FLOW_CASES);
	for (size_t i = 0; i < N_FLOW_CASES; i++) {
		const flow_case *c = &flow_cases[i];
		int64_t row[COLUMNS_MAX];
		table_row(ix, SECTION_FLOWS, i, row);
		assert_int_equal(row[FLOW_ID], i);
		assert_int_equal(row[FLOW_PHASE], c->phase);
		n_unbound += row[FLOW_SLICE] == 0;
		if (feed && c->start_ns == 205)
			continue;
		if (c->dur_ns < 0) {
			assert_int_equal(row[FLOW_SLICE], 0);
			assert_int_equal(row[FLOW_TIME], c->time_ns - index_start_ns(ix));
			continue;
		}
		index_slice s = { 0 };
		if (!row[FLOW_SLICE] || !index_slice_at(ix, (uint64_t)row[FLOW_SLICE] - 1, &s) ||
		    s.start_ns != c->start_ns || s.dur_ns != c->dur_ns)
			fail_msg("case %zu: bound to %lld + %lld", i, (long long)s.start_ns, (long long)s.dur_ns);
		assert_int_equal(s.start_ns + row[FLOW_TIME], c->time_ns);
	}
	assert_int_equal(diagnosed(ix, "unbound flow points"), n_unbound);
	index_free(ix);
}

static void flow_points_find_their_slices(void **state)
{
	(void)state;
	check_flows(false);
}

static void flow_points_find_slices_that_came_with_their_depth(void **state)
{
	(void)state;
	check_flows(true);
}

static void points_of_an_arrow_lie_behind_each_other(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	uint32_t t0 = thread_track(b, process, 1), t1 = thread_track(b, process, 2);
	uint32_t x = site_named(b, "x", CLASS_COMPUTE), y = site_named(b, "y", CLASS_COMPUTE);

	(void)state;
	builder_flow(b, t1, 30, x, 7, 'f', 0);
	builder_flow(b, t0, 10, y, 7, 's', 4);
	builder_flow(b, t0, 10, x, 7, 's', 3);
	builder_flow(b, t1, 20, x, 7, 't', 5);
	builder_flow(b, t1, 5, x, 8, 's', 0);
	builder_flow(b, t0, 20, x, 7, 't', 0);
	static const int64_t want[][5] = { /* site, id, track, phase, args */
					   { 0, 7, 0, 's', 3 }, { 0, 7, 1, 't', 5 }, { 0, 7, 0, 't', 0 },
					   { 0, 7, 1, 'f', 0 }, { 0, 8, 1, 's', 0 }, { 1, 7, 0, 's', 4 }
	};
	sonde_index *ix = finish(b);
	assert_int_equal(index_n_rows(ix, SECTION_FLOWS), 6);
	for (size_t i = 0; i < 6; i++) {
		int64_t row[COLUMNS_MAX];
		table_row(ix, SECTION_FLOWS, i, row);
		assert_int_equal(row[FLOW_SITE], want[i][0]);
		assert_int_equal(row[FLOW_ID], want[i][1]);
		assert_int_equal(row[FLOW_TRACK], want[i][2]);
		assert_int_equal(row[FLOW_PHASE], want[i][3]);
		assert_int_equal(row[FLOW_ARGS], want[i][4]);
	}
	index_free(ix);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void add_launch(builder *b, uint32_t track, int64_t start_ns, uint32_t site, uint64_t correlation)
{
	builder_slice s = { .start_ns = start_ns, .dur_ns = 5, .site = site, .correlation = correlation + 1 };

	builder_slices(b, track, &s, 1);
}

/* Ranks count from the same number and run at the same time. */
static void arrows_stay_within_their_file(void **state)
{
	static const struct {
		uint32_t file;
		int64_t time_ns;
		char phase;
	} points[] = { { 1, 12, 's' }, { 0, 10, 's' }, { 0, 20, 'f' }, { 1, 22, 'f' }, { 1, 15, 't' } },
	  want[] = { { 0, 10, 's' }, { 0, 20, 'f' }, { 1, 12, 's' }, { 1, 15, 't' }, { 1, 22, 'f' } };
	builder *b = builder_with_threads(1);
	uint32_t site = site_named(b, "ac2g", CLASS_OTHER), tracks[2];
	int64_t row[COLUMNS_MAX];

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		tracks[i] = thread_track(b, builder_process(b, i, 7, INDEX_NONE), 7);
	for (size_t i = 0; i < 5; i++)
		builder_flow(b, tracks[points[i].file], points[i].time_ns, site, 1, points[i].phase, 0);
	sonde_index *ix = finish(b);
	for (size_t i = 0; i < 5; i++) {
		table_row(ix, SECTION_FLOWS, i, row);
		assert_int_equal(row[FLOW_TRACK], want[i].file);
		assert_int_equal(row[FLOW_TIME] + index_start_ns(ix), want[i].time_ns);
		assert_int_equal(row[FLOW_PHASE], want[i].phase);
	}
	index_free(ix);
}

static void launches_are_found(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t host = builder_process(b, 0, 1, INDEX_NONE), gpu = builder_process(b, 0, 2, INDEX_NONE);
	uint32_t other = builder_process(b, 1, 2, INDEX_NONE);
	uint32_t thread = thread_track(b, host, 1), stream = thread_track(b, gpu, 7), far = thread_track(b, other, 7);
	uint32_t call = site_named(b, "cudaLaunchKernel", CLASS_RUNTIME), op = site_named(b, "aten::mm", CLASS_COMPUTE);
	uint32_t kernel = site_named(b, "gemm", CLASS_KERNEL), copy = site_named(b, "Memcpy", CLASS_COPY);
	uint32_t note = site_named(b, "ProfilerStep#3", CLASS_STEP);

	(void)state;
	builder_process_of(b, gpu)->device = 3;
	add_slice(b, stream, 0, 1000, note); /* annotations do not make it a thread, and are no steps */
	add_launch(b, thread, 10, call, 100);
	add_launch(b, thread, 20, op, 100);
	add_launch(b, thread, 30, op, 200);   /* only an operator has it */
	add_launch(b, thread, 40, call, 300); /* a graph: launches three */
	add_launch(b, thread, 60, call, 400); /* twice, before and between */
	add_launch(b, thread, 80, call, 400);
	add_launch(b, stream, 100, kernel, 100);
	add_launch(b, stream, 110, kernel, 200);
	add_launch(b, stream, 120, kernel, 300);
	add_launch(b, stream, 130, copy, 300);
	add_launch(b, stream, 140, kernel, 300);
	add_launch(b, stream, 150, kernel, 400);
	add_launch(b, stream, 70, kernel, 400);
	add_launch(b, stream, 50, kernel, 400); /* before all of its calls */
	add_launch(b, stream, 160, kernel, 999);
	add_launch(b, far, 170, kernel, 100); /* another file's correlation */
	static const int64_t want[][3] = {    /* device start, host start or -1, correlation */
					   { 50, 60, 400 },  { 70, 60, 400 },  { 100, 10, 100 }, { 110, 30, 200 },
					   { 120, 40, 300 }, { 130, 40, 300 }, { 140, 40, 300 }, { 150, 80, 400 },
					   { 160, -1, 999 }, { 170, -1, 100 }
	};
	sonde_index *ix = finish(b);
	assert_int_equal(index_n_rows(ix, SECTION_LAUNCHES), 10);
	for (size_t i = 0; i < 10; i++) {
		int64_t row[COLUMNS_MAX];
		index_slice s;
		table_row(ix, SECTION_LAUNCHES, i, row);
		assert_true(index_slice_at(ix, (uint64_t)row[LAUNCH_DEVICE], &s));
		assert_int_equal(s.start_ns, want[i][0]);
		assert_int_equal(row[LAUNCH_CORRELATION], want[i][2]);
		assert_int_equal(row[LAUNCH_HOST] == 0, want[i][1] < 0);
		if (row[LAUNCH_HOST]) {
			assert_true(index_slice_at(ix, (uint64_t)row[LAUNCH_HOST] - 1, &s));
			assert_int_equal(s.start_ns, want[i][1]);
		}
	}
	assert_int_equal(diagnosed(ix, "device slices without a launch"), 2);
	size_t n;
	const index_track *tracks = index_tracks(ix, &n);
	assert_int_equal(tracks[0].kind, TRACK_THREAD);
	assert_int_equal(tracks[1].kind, TRACK_STREAM);
	assert_int_equal(tracks[1].device, 3);
	assert_int_equal(tracks[2].kind, TRACK_STREAM);
	assert_int_equal(tracks[2].device, -1);
	index_steps(ix, &n);
	assert_int_equal(n, 0);
	index_free(ix);
}

typedef struct model_call {
	int64_t start_ns;
	uint64_t correlation;
	bool is_runtime;
} model_call;

/* The call that launched work of this start and correlation: of those into the driver, or of all where there are none,
   the last one that starts no later; else the first. */
static const model_call *model_launch(const model_call *calls, size_t n, int64_t start_ns, uint64_t correlation)
{
	const model_call *before = NULL, *first = NULL;
	bool runtime = false;

	for (size_t i = 0; i < n; i++)
		runtime |= calls[i].correlation == correlation && calls[i].is_runtime;
	for (size_t i = 0; i < n; i++) {
		const model_call *c = &calls[i];
		if (c->correlation != correlation || c->is_runtime != runtime)
			continue;
		if (!first || c->start_ns < first->start_ns)
			first = c;
		if (c->start_ns <= start_ns && (!before || c->start_ns > before->start_ns))
			before = c;
	}
	return before ? before : first;
}

static void random_launches_are_as_a_simple_model_says(void **state)
{
	enum { N = 400 };
	uint64_t seed = 21;

	(void)state;
	for (int round = 0; round < 20; round++) {
		builder *b = builder_with_threads(1);
		uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
		uint32_t thread = thread_track(b, process, 1), stream = thread_track(b, process, 2);
		uint32_t call = site_named(b, "call", CLASS_RUNTIME), op = site_named(b, "op", CLASS_COMPUTE);
		uint32_t kernel = site_named(b, "kernel", CLASS_KERNEL);
		model_call calls[N];
		for (int64_t i = 0; i < N; i++) { /* starts differ, so that each says which call it is */
			calls[i] = (model_call){ i * 10 + (int64_t)(random_next(&seed) % 10), random_next(&seed) % 150,
						 random_next(&seed) % 2 };
			add_launch(b, thread, calls[i].start_ns, calls[i].is_runtime ? call : op, calls[i].correlation);
			add_launch(b, stream, (int64_t)(random_next(&seed) % 5000), kernel, random_next(&seed) % 170);
		}
		sonde_index *ix = finish(b);
		assert_int_equal(index_n_rows(ix, SECTION_LAUNCHES), N);
		int64_t row[COLUMNS_MAX], before = -1;
		for (uint64_t i = 0; i < N; i++) {
			index_slice s;
			table_row(ix, SECTION_LAUNCHES, i, row);
			assert_true(row[LAUNCH_DEVICE] > before);
			before = row[LAUNCH_DEVICE];
			assert_true(index_slice_at(ix, (uint64_t)before, &s));
			const model_call *want = model_launch(calls, N, s.start_ns, (uint64_t)row[LAUNCH_CORRELATION]);
			assert_int_equal(row[LAUNCH_HOST] == 0, want == NULL);
			if (!want)
				continue;
			assert_true(index_slice_at(ix, (uint64_t)row[LAUNCH_HOST] - 1, &s));
			assert_int_equal(s.start_ns, want->start_ns);
		}
		index_free(ix);
	}
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void steps_have_the_number_of_their_name_or_what_was_said(void **state)
{
	static const struct {
		const char *name;
		int64_t number;
	} cases[] = { { "ProfilerStep#12", 12 }, { "step", -1 },   { "epoch 3, step 40 (train)", 40 },
		      { "ProfilerStep#0", 0 },	 { "step 9", 77 }, { "step 99999999999999999999", -1 } };
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);

	(void)state;
	for (int64_t i = 5; i >= 0; i--)
		add_slice(b, track, 1000 + i * 100, 90, site_named(b, cases[i].name, CLASS_STEP));
	builder_step(b, track, 1000 + 4 * 100, 77);
	builder_step(b, track, 1005, 78);
	sonde_index *ix = finish(b);
	size_t n;
	const index_step *steps = index_steps(ix, &n);
	assert_int_equal(n, 6);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(steps[i].number, cases[i].number);
		assert_int_equal(steps[i].start_ns, i * 100);
		assert_int_equal(steps[i].dur_ns, 90);
		assert_int_equal(steps[i].slice, i);
		assert_int_equal(steps[i].track, 0);
	}
	index_free(ix);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void counters_have_their_values_in_order(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	uint32_t track = builder_track(b, TRACK_PROCESS, process, 0, INDEX_NONE, INDEX_NONE);
	uint32_t memory = string_of(b, "memory"), power = string_of(b, "power"), used = string_of(b, "used");
	uint32_t watts = string_of(b, "W"), idle = string_of(b, "idle");

	(void)state;
	builder_value(b, track, memory, used, INDEX_NONE, 300, 3.5);
	builder_value(b, track, power, watts, INDEX_NONE, 50, -1);
	builder_value(b, track, memory, idle, INDEX_NONE, 100, 8);
	builder_value(b, track, memory, used, INDEX_NONE, 100, 1.5);
	builder_value(b, track, memory, used, INDEX_NONE, 200, 2.5);
	sonde_index *ix = finish(b);
	static const struct {
		const char *name, *series;
		uint64_t first, n;
	} want[] = { { "memory used", "used", 0, 3 }, { "power", "W", 3, 1 }, { "memory idle", "idle", 4, 1 } };
	static const double values[] = { 1.5, 2.5, 3.5, -1, 8 };
	static const int64_t times[] = { 50, 150, 250, 0, 50 };
	size_t n;
	const index_counter *c = index_counters(ix, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(index_text(ix, c[i].name), want[i].name);
		assert_string_equal(index_text(ix, c[i].series), want[i].series);
		assert_int_equal(c[i].first_value, want[i].first);
		assert_int_equal(c[i].n_values, want[i].n);
	}
	for (uint64_t i = 0; i < 5; i++) {
		int64_t row[COLUMNS_MAX];
		table_row(ix, SECTION_VALUES, i, row);
		assert_int_equal(row[VALUE_TIME], times[i]);
		assert_memory_equal(&row[VALUE_BITS], &values[i], sizeof values[i]);
	}
	index_free(ix);
}

static void allocations_instants_and_samples_are_by_time(void **state)
{
	enum { N = 1000 };
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t site = site_named(b, "x", CLASS_MEMORY);

	(void)state;
	for (int64_t i = 0; i < N; i++) {
		int64_t time_ns = 5000 + i * 7919 % N;
		builder_allocation a = {
			time_ns, track, site, 0, 1, -1, UINT64_MAX - (uint64_t)i, -time_ns, -1, time_ns
		};
		builder_allocation_add(b, &a);
		builder_instant(b, track, time_ns, site, (uint32_t)time_ns, 'p');
		builder_sample(b, track, time_ns, site, (uint32_t)time_ns);
	}
	sonde_index *ix = finish(b);
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];
	int64_t i = 0;
	for (table_first(c, ix, SECTION_ALLOCATIONS, 0); table_next(c, row); i++) {
		assert_int_equal(row[ALLOCATION_TIME], i);
		assert_int_equal(row[ALLOCATION_BYTES], -5000 - i);
		assert_int_equal(row[ALLOCATION_TOTAL], -1);
		assert_int_equal(row[ALLOCATION_RESERVED], 5000 + i);
		assert_int_equal(row[ALLOCATION_DEVICE_TYPE], 1);
		assert_int_equal(row[ALLOCATION_DEVICE], -1);
		int64_t arrival = (int64_t)(UINT64_MAX - (uint64_t)row[ALLOCATION_ADDRESS]);
		assert_int_equal(arrival * 7919 % N, i);
	}
	assert_int_equal(i, N);
	static const index_kind kinds[] = { SECTION_INSTANTS, SECTION_SAMPLES };
	for (size_t k = 0; k < 2; k++) {
		i = 0;
		for (table_first(c, ix, kinds[k], 0); table_next(c, row); i++) {
			assert_int_equal(row[INSTANT_TIME], i);
			assert_int_equal(row[INSTANT_ARGS], 5000 + i);
			assert_int_equal(row[INSTANT_SITE], site);
			if (k == 0)
				assert_int_equal(row[INSTANT_SCOPE], 'p');
		}
		assert_int_equal(i, N);
	}
	free(c);
	index_free(ix);
}

static void meta_keeps_the_last_and_diagnostics_count(void **state)
{
	builder *b = builder_with_threads(1);
	size_t n;

	(void)state;
	builder_meta(b, -1, "host", 4, "a", 1, false);
	builder_meta(b, 2, "host", 4, "b", 1, false);
	builder_meta(b, -1, "host", 4, "{}", 2, true);
	builder_diagnostic(
		b, &(builder_problem){ .kind = DIAGNOSTIC_TEXT_UTF8, .n = 2, .file = "f.json", .position = 17 });
	builder_diagnostic(b, &(builder_problem){ .kind = DIAGNOSTIC_TEXT_LOST_CUT, .n = 1, .position = -1 });
	builder_diagnostic(
		b, &(builder_problem){ .kind = DIAGNOSTIC_TEXT_UTF8, .n = 3, .file = "g.json", .position = 18 });
	builder_clock(b, INDEX_CLOCK_EPOCH);
	sonde_index *ix = finish(b);
	const index_meta *m = index_metas(ix, &n);
	assert_int_equal(n, 2);
	assert_string_equal(index_text(ix, m[0].value), "{}");
	assert_int_equal(m[0].json, 1);
	assert_int_equal(m[1].rank, 2);
	assert_string_equal(index_text(ix, m[1].value), "b");
	const index_diagnostic *d = index_diagnostics(ix, &n);
	assert_int_equal(n, 2);
	assert_int_equal(d[0].count, 5);
	assert_int_equal(d[0].first, 17);
	assert_string_equal(index_text(ix, d[0].file), "f.json");
	assert_int_equal(d[1].lost, 1);
	assert_int_equal(d[1].file, INDEX_NONE);
	assert_int_equal(index_clock_of(ix), INDEX_CLOCK_EPOCH);
	index_free(ix);
}

/* ---- Slices that come with their depth --------------------------------------------------------------------------- */

/* Random nesting: calls itself, children before their parent. Returns where it ended. */
static int64_t feed_scope(builder *b, uint32_t track, uint32_t depth, int64_t from_ns, uint64_t *seed, bool with_depth,
			  const uint32_t *sites)
{
	int64_t end_ns = from_ns + 1 + (int64_t)(random_next(seed) % 5);
	uint64_t n_children = depth < 6 ? random_next(seed) % 4 : 0;

	for (uint64_t i = 0; i < n_children; i++)
		end_ns = feed_scope(b, track, depth + 1, end_ns, seed, with_depth, sites) +
			 (int64_t)(random_next(seed) % 3);
	end_ns += 1 + (int64_t)(random_next(seed) % 4);
	builder_slice s = { from_ns, end_ns - from_ns, sites[random_next(seed) % 3], 0, 0, 0 };
	if (with_depth)
		builder_lane_slice(b, track, depth, &s);
	else
		builder_slices(b, track, &s, 1);
	return end_ns;
}

static sonde_index *feed(bool with_depth)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t sites[3] = { site_named(b, "a", CLASS_COMPUTE), site_named(b, "b", CLASS_COMPUTE),
			      site_named(b, "c", CLASS_STEP) };
	uint64_t seed = 5;
	int64_t at_ns = -1000000;

	for (size_t i = 0; i < 3000; i++)
		at_ns = feed_scope(b, track, 0, at_ns, &seed, with_depth, sites);
	return finish(b);
}

static void slices_with_their_depth_give_the_same_image(void **state)
{
	size_t len_a, len_b;

	(void)state;
	sonde_index *a = feed(false), *b = feed(true);
	const uint8_t *bytes_a = index_bytes(a, &len_a), *bytes_b = index_bytes(b, &len_b);
	assert_true(index_n_slices(a) > 10000);
	assert_int_equal(len_a, len_b);
	assert_memory_equal(bytes_a, bytes_b, len_a);
	index_free(a);
	index_free(b);
}

static void a_depth_out_of_order_is_repaired(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);
	builder_slice first = { 100, 50, site, 0, 0, 0 }, second = { 120, 50, site, 0, 0, 0 };
	index_slice s;

	(void)state;
	for (uint32_t depth = 2000; depth > 0; depth--)
		builder_lane_slice(b, track, depth, &first);
	builder_lane_slice(b, track, 1, &second);
	builder_lane_slice(b, track, 0, &(builder_slice){ 0, 500, site, 0, 0, 0 });
	sonde_index *ix = finish(b);
	assert_true(index_slice_at(ix, 2, &s));
	assert_int_equal(s.start_ns, 150);
	assert_int_equal(s.dur_ns, 20);
	assert_int_equal(s.flags, SLICE_IS_REPAIRED);
	assert_int_equal(s.parent, 0);
	assert_true(index_slice_at(ix, 2001, &s));
	assert_int_equal(index_lanes(ix, &(size_t){ 0 })[s.lane].group, 1);
	assert_int_equal(index_lanes(ix, &(size_t){ 0 })[s.lane].depth, 2000 - 1024);
	assert_int_equal(s.parent, 2000);
	assert_int_equal(diagnosed(ix, "slices nested deeper than 1024"), 2001 - 1024);
	index_free(ix);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void what_cannot_be_is_an_error(void **state)
{
	(void)state;
	for (int which = 0; which < 8; which++) {
		builder *b = builder_with_threads(1);
		uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
		uint32_t site = site_named(b, "x", CLASS_COMPUTE);
		builder_slice s = { 0, 10, site, 0, 0, 0 }, bad = { 0, 10, site + 1, 0, 0, 0 };
		if (which == 0) {
			builder_slices(b, track, &s, 1);
			builder_lane_slice(b, track, 0, &s);
		} else if (which == 1) {
			builder_lane_slice(b, track, 0, &s);
			builder_slices(b, track, &s, 1);
		} else if (which == 2) {
			builder_slices(b, track, &bad, 1);
		} else if (which == 3) {
			builder_lane_slice(b, track, 0, &bad);
		} else if (which == 4) {
			builder_slices(b, track + 1, &s, 1);
		} else if (which == 6) {
			builder_lane_slice(b, track, 1, &s); /* its parent does not come */
		} else if (which == 5) {
			builder_flow(b, track, 0, site + 1, 0, 's', 0);
		} else {
			builder_track_of(b, track + 1)->sort = 1;
			builder_process_of(b, 12)->sort = 1;
		}
		sonde_index *ix = NULL;
		sonde_error err = { 0 };
		assert_int_equal(builder_finish(b, &ix, &err), SONDE_E_USAGE);
		assert_true(err.message[0]);
		assert_null(ix);
		builder_free(b);
	}
}

static void a_duration_below_zero_or_beyond_all_bounds_stays_an_index(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);

	(void)state;
	add_slice(b, track, INT64_MIN, INT64_MIN, site);
	add_slice(b, track, INT64_MAX, INT64_MAX, site);
	add_slice(b, track, 0, -5, site);
	builder_instant(b, track, INT64_MIN, site, 0, 't');
	sonde_index *ix = finish(b);
	assert_int_equal(index_n_slices(ix), 3);
	assert_true(index_end_ns(ix) > index_start_ns(ix));
	index_free(ix);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
	assert_true(done <= total);
	++*(int *)context;
	return false;
}

static void progress_can_stop_it(void **state)
{
	int n_calls = 0;
	builder *b = builder_new(&(builder_options){ .n_threads = 1, .progress = stop_at_once, .context = &n_calls });
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);
	sonde_index *ix = NULL;
	sonde_error err = { 0 };

	(void)state;
	for (int64_t i = 0; i < 200000; i++)
		add_slice(b, track, i * 10, 5, site);
	assert_int_equal(builder_finish(b, &ix, &err), SONDE_E_STATE);
	assert_int_equal(n_calls, 1);
	builder_free(b);
	builder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_at_all_is_an_index),
		cmocka_unit_test(the_same_name_has_the_same_number),
		cmocka_unit_test(processes_and_tracks_are_in_their_order),
		cmocka_unit_test(a_file_is_shifted_as_a_whole),
		cmocka_unit_test(flow_points_find_their_slices),
		cmocka_unit_test(flow_points_find_slices_that_came_with_their_depth),
		cmocka_unit_test(points_of_an_arrow_lie_behind_each_other),
		cmocka_unit_test(arrows_stay_within_their_file),
		cmocka_unit_test(launches_are_found),
		cmocka_unit_test(random_launches_are_as_a_simple_model_says),
		cmocka_unit_test(steps_have_the_number_of_their_name_or_what_was_said),
		cmocka_unit_test(counters_have_their_values_in_order),
		cmocka_unit_test(allocations_instants_and_samples_are_by_time),
		cmocka_unit_test(meta_keeps_the_last_and_diagnostics_count),
		cmocka_unit_test(slices_with_their_depth_give_the_same_image),
		cmocka_unit_test(a_depth_out_of_order_is_repaired),
		cmocka_unit_test(what_cannot_be_is_an_error),
		cmocka_unit_test(a_duration_below_zero_or_beyond_all_bounds_stays_an_index),
		cmocka_unit_test(progress_can_stop_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
