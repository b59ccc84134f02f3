/* Slices into lanes: nesting, overlap, order, parents, sums, and flow points bound on the way. */
#include "unit/store/make_builder.h"

enum { N_SITES = 5, NO_PARENT = -1 };

typedef struct fixture {
	builder *b;
	uint32_t process, track;
	uint32_t sites[N_SITES];
} fixture;

static fixture begin(unsigned n_threads)
{
	static const char *const names[N_SITES] = { "a", "b", "c", "d", "e" };
	fixture f = { .b = builder_with_threads(n_threads) };

	f.process = builder_process(f.b, 0, 7, INDEX_NONE);
	f.track = thread_track(f.b, f.process, 1);
	for (size_t i = 0; i < N_SITES; i++)
		f.sites[i] = site_named(f.b, names[i], CLASS_COMPUTE);
	return f;
}

static void add(fixture *f, int64_t start_ns, int64_t dur_ns, uint32_t site)
{
	add_slice(f->b, f->track, start_ns, dur_ns, site);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

typedef struct nest_case {
	const char *what;
	struct {
		int64_t start_ns, dur_ns;
		unsigned group, depth;
	} slices[8]; /* in the order in which they come; dur -1 ends them */
} nest_case;

static const nest_case nest_cases[] = {
	{ "children inside",
	  { { 0, 100, 0, 0 }, { 10, 20, 0, 1 }, { 30, 70, 0, 1 }, { 40, 10, 0, 2 }, { 0, -1, 0, 0 } } },
	{ "neighbours that touch", { { 0, 10, 0, 0 }, { 10, 10, 0, 0 }, { 20, 5, 0, 0 }, { 0, -1, 0, 0 } } },
	{ "equal slices lie in each other", { { 5, 10, 0, 0 }, { 5, 10, 0, 1 }, { 5, 10, 0, 2 }, { 0, -1, 0, 0 } } },
	{ "the longer of two that start together is outside", { { 5, 3, 0, 1 }, { 5, 10, 0, 0 }, { 0, -1, 0, 0 } } },
	{ "a slice without length lies in what holds it", { { 0, 10, 0, 0 }, { 5, 0, 0, 1 }, { 0, -1, 0, 0 } } },
	{ "at its start, too", { { 0, 10, 0, 0 }, { 0, 0, 0, 1 }, { 0, -1, 0, 0 } } },
	{ "at its end it is a neighbour", { { 0, 10, 0, 0 }, { 10, 0, 0, 0 }, { 0, -1, 0, 0 } } },
	{ "many without length", { { 3, 0, 0, 0 }, { 3, 0, 0, 0 }, { 3, 0, 0, 0 }, { 0, -1, 0, 0 } } },
	{ "overlap goes to the next group", { { 0, 10, 0, 0 }, { 5, 10, 1, 0 }, { 6, 2, 0, 1 }, { 0, -1, 0, 0 } } },
	{ "three that overlap",
	  { { 0, 10, 0, 0 }, { 1, 10, 1, 0 }, { 2, 10, 2, 0 }, { 10, 1, 0, 0 }, { 11, 2, 0, 0 }, { 0, -1, 0, 0 } } },
	{ "out of order", { { 30, 5, 0, 1 }, { 10, 5, 0, 1 }, { 0, 100, 0, 0 }, { 20, 5, 0, 1 }, { 0, -1, 0, 0 } } },
};

static void slices_nest(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof nest_cases / sizeof nest_cases[0]; k++) {
		const nest_case *c = &nest_cases[k];
		fixture f = begin(1);
		size_t n = 0, n_found = 0;
		for (; c->slices[n].dur_ns >= 0; n++)
			add(&f, c->slices[n].start_ns, c->slices[n].dur_ns, f.sites[0]);
		sonde_index *ix = finish(f.b);
		assert_int_equal(index_n_slices(ix), n);
		bool found[8] = { false };
		for (uint64_t id = 0; id < n; id++) {
			index_slice s;
			assert_true(index_slice_at(ix, id, &s));
			const index_lane *l = &index_lanes(ix, &(size_t){ 0 })[s.lane];
			for (size_t i = 0; i < n; i++) {
				if (found[i] || c->slices[i].start_ns != s.start_ns ||
				    c->slices[i].dur_ns != s.dur_ns || c->slices[i].group != l->group ||
				    c->slices[i].depth != l->depth)
					continue;
				found[i] = true;
				n_found++;
				break;
			}
		}
		if (n_found != n)
			print_error("%s\n", c->what);
		assert_int_equal(n_found, n);
		index_free(ix);
	}
}

/* ---- Random traces beside a simple model ------------------------------------------------------------------------- */

typedef struct model_slice {
	int64_t start_ns, dur_ns;
	uint32_t site, args, flags;
	size_t arrival;
	unsigned group, depth;
	long parent; /* in the sorted order */
	bool open;
} model_slice;

static int model_order(const void *a, const void *b)
{
	const model_slice *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->dur_ns != y->dur_ns)
		return x->dur_ns > y->dur_ns ? -1 : 1;
	return x->arrival < y->arrival ? -1 : 1;
}

/* Tries group after group; looks at all slices before. */
static void model_place(model_slice *all, size_t at)
{
	model_slice *s = &all[at];

	for (s->group = 0;; s->group++) {
		long top = NO_PARENT;
		unsigned n_open = 0;
		for (size_t i = 0; i < at; i++) {
			if (all[i].group != s->group || all[i].start_ns + all[i].dur_ns <= s->start_ns)
				continue;
			top = (long)i;
			n_open++;
		}
		if (top == NO_PARENT || all[top].start_ns + all[top].dur_ns >= s->start_ns + s->dur_ns) {
			s->depth = n_open;
			s->parent = top;
			return;
		}
	}
}

static size_t model_build(model_slice *all, size_t n)
{
	unsigned n_groups = 0;

	qsort(all, n, sizeof *all, model_order);
	for (size_t i = 0; i < n; i++) {
		model_place(all, i);
		n_groups = all[i].group >= n_groups ? all[i].group + 1 : n_groups;
	}
	return n_groups;
}

/* The slice number `row` of the model's lane, in the sorted order. */
static size_t model_find(const model_slice *all, size_t n, unsigned group, unsigned depth, uint64_t row)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].group == group && all[i].depth == depth && row-- == 0)
			return i;
	fail_msg("no such slice in group %u, depth %u", group, depth);
	return 0;
}

static void compare_with_model(const sonde_index *ix, const model_slice *all, size_t n)
{
	size_t n_lanes, n_seen = 0;
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	uint64_t *ids = malloc((n + 1) * sizeof *ids);

	assert_int_equal(index_n_slices(ix), n);
	for (size_t pass = 0; pass < 2; pass++)
		for (uint32_t l = 0; l < n_lanes; l++)
			for (uint64_t row = 0; row < lanes[l].n_slices; row++) {
				size_t i = model_find(all, n, lanes[l].group, lanes[l].depth, row);
				uint64_t id = lanes[l].first_slice + row;
				if (pass == 0) {
					ids[i] = id;
					continue;
				}
				index_slice s;
				assert_true(index_slice_at(ix, id, &s));
				assert_int_equal(s.start_ns, all[i].start_ns);
				assert_int_equal(s.dur_ns, all[i].dur_ns);
				assert_int_equal(s.site, all[i].site);
				assert_int_equal(s.args, all[i].args);
				assert_int_equal(s.flags & (SLICE_IS_OPEN | SLICE_IS_REPAIRED | SLICE_IS_ASYNC),
						 all[i].flags);
				assert_int_equal((s.flags & SLICE_HAS_ARGS) != 0, all[i].args != 0);
				uint64_t parent = all[i].parent == NO_PARENT ? INDEX_NO_SLICE : ids[all[i].parent];
				assert_int_equal(s.parent, parent);
				n_seen++;
			}
	assert_int_equal(n_seen, n);
	free(ids);
}

typedef struct model_flow {
	int64_t time_ns;
	char phase;
} model_flow;

/* The slice, in the sorted order, that a point goes to. */
static long model_bind(const model_slice *all, size_t n, const model_flow *f)
{
	long found = NO_PARENT;

	for (size_t i = 0; i < n; i++) {
		if (f->phase == 'f' && all[i].start_ns >= f->time_ns)
			return (long)i;
		if (f->phase != 'f' && all[i].start_ns <= f->time_ns && f->time_ns <= all[i].start_ns + all[i].dur_ns)
			found = (long)i;
	}
	return found;
}

/* Flow number i has the id i. */
static void compare_flows(const sonde_index *ix, const model_slice *all, size_t n, const model_flow *flows,
			  size_t n_flows)
{
	assert_int_equal(index_n_rows(ix, SECTION_FLOWS), n_flows);
	for (size_t i = 0; i < n_flows; i++) {
		int64_t row[COLUMNS_MAX];
		long want = model_bind(all, n, &flows[i]);
		index_slice s;
		table_row(ix, SECTION_FLOWS, i, row);
		assert_int_equal(row[FLOW_SLICE] == 0, want == NO_PARENT);
		if (want == NO_PARENT)
			continue;
		assert_true(index_slice_at(ix, (uint64_t)row[FLOW_SLICE] - 1, &s));
		assert_int_equal(s.start_ns, all[want].start_ns);
		assert_int_equal(s.dur_ns, all[want].dur_ns);
		assert_int_equal(index_lanes(ix, &(size_t){ 0 })[s.lane].group, all[want].group);
		assert_int_equal(index_lanes(ix, &(size_t){ 0 })[s.lane].depth, all[want].depth);
		assert_int_equal(row[FLOW_TIME], flows[i].time_ns - s.start_ns);
	}
}

static void compare_sums(const sonde_index *ix, const model_slice *all, size_t n)
{
	size_t n_sites;
	const index_site *sites = index_sites(ix, &n_sites);

	for (size_t k = 0; k < n_sites; k++) {
		index_site want = { .min_ns = INT64_MAX };
		for (size_t i = 0; i < n; i++) {
			if (all[i].parent != NO_PARENT && all[all[i].parent].site == k)
				want.self_ns -= all[i].dur_ns;
			if (all[i].site != k)
				continue;
			want.n_slices++;
			want.total_ns += all[i].dur_ns;
			want.self_ns += all[i].dur_ns;
			want.min_ns = all[i].dur_ns < want.min_ns ? all[i].dur_ns : want.min_ns;
			want.max_ns = all[i].dur_ns > want.max_ns ? all[i].dur_ns : want.max_ns;
		}
		assert_int_equal(sites[k].n_slices, want.n_slices);
		assert_int_equal(sites[k].total_ns, want.total_ns);
		assert_int_equal(sites[k].self_ns, want.self_ns);
		assert_int_equal(sites[k].min_ns, want.n_slices ? want.min_ns : 0);
		assert_int_equal(sites[k].max_ns, want.max_ns);
	}
}

/* So many records, for slices to refer to. */
static void add_records(builder *b, uint32_t n)
{
	args_piece piece = { "{}", 2 };
	uint32_t template = builder_template(b, &(args_template){ .n_args_pieces = 1, .pieces = &piece });

	for (uint32_t i = 1; i <= n; i++)
		assert_int_equal(builder_args(b, template, NULL), i);
}

static void random_traces_are_as_a_simple_model_says(void **state)
{
	enum { N_FLOWS = 60 };
	uint64_t seed = 3;

	(void)state;
	for (size_t round = 0; round < 300; round++) {
		model_flow flows[N_FLOWS];
		fixture f = begin(1);
		size_t n = 1 + random_next(&seed) % (round % 10 ? 40 : 900);
		int64_t range = round % 3 == 0 ? 20 : 4000, longest = round % 2 ? 12 : 400;
		model_slice *all = calloc(n, sizeof *all);
		add_records(f.b, 1000);
		for (size_t i = 0; i < n; i++) {
			model_slice *s = &all[i];
			s->start_ns = (int64_t)(random_next(&seed) % (uint64_t)range) - 500 +
				      (round % 4 ? (int64_t)i * 20 : 0);
			s->dur_ns = (int64_t)(random_next(&seed) % (uint64_t)longest);
			s->site = f.sites[random_next(&seed) % N_SITES];
			s->args = random_next(&seed) % 3 ? 1 + (uint32_t)random_next(&seed) % 1000 : 0;
			s->flags = (uint32_t)random_next(&seed) % 8;
			s->arrival = i;
			builder_slice slice = { s->start_ns, s->dur_ns, s->site, s->args, 0, s->flags };
			builder_slices(f.b, f.track, &slice, 1);
		}
		for (size_t i = 0; i < N_FLOWS; i++) {
			flows[i].time_ns =
				all[random_next(&seed) % n].start_ns + (int64_t)(random_next(&seed) % 30) - 10;
			flows[i].phase = "stfF"[random_next(&seed) % 4];
			builder_flow(f.b, f.track, flows[i].time_ns, f.sites[0], i, flows[i].phase, 0);
		}
		sonde_index *ix = finish(f.b);
		if (model_build(all, n) <= 64) {
			compare_with_model(ix, all, n);
			compare_flows(ix, all, n, flows, N_FLOWS);
			compare_sums(ix, all, n);
		}
		index_free(ix);
		free(all);
	}
}

/* ---- Extremes ---------------------------------------------------------------------------------------------------- */

/* Every slice is there once, nothing overlaps inside a lane, parents hold their children. */
static void check_lanes(const sonde_index *ix, uint64_t n)
{
	size_t n_lanes;
	uint64_t n_seen = 0;
	lane_cursor *c = malloc(sizeof *c);

	index_lanes(ix, &n_lanes);
	for (uint32_t l = 0; l < n_lanes; l++) {
		index_slice s, parent;
		int64_t end_ns = INT64_MIN;
		for (lane_first(c, ix, l, 0); lane_next(c, &s); n_seen++) {
			assert_true(s.start_ns >= end_ns);
			end_ns = s.start_ns + s.dur_ns;
			if (s.parent == INDEX_NO_SLICE)
				continue;
			assert_true(index_slice_at(ix, s.parent, &parent));
			assert_true(parent.start_ns <= s.start_ns && end_ns <= parent.start_ns + parent.dur_ns);
		}
		assert_false(c->damaged);
	}
	assert_int_equal(n_seen, n);
	free(c);
}

static void a_hundred_thousand_that_all_overlap(void **state)
{
	enum { N = 100000 };
	fixture f = begin(1);

	(void)state;
	for (int64_t i = 0; i < N; i++)
		add(&f, i, N, f.sites[0]);
	for (int64_t i = 0; i < N; i++)
		add(&f, 10 * N + i, N, f.sites[1]);
	sonde_index *ix = finish(f.b);
	size_t n_lanes;
	index_lanes(ix, &n_lanes);
	assert_int_equal(n_lanes, N);
	check_lanes(ix, 2 * N);
	assert_int_equal(diagnosed(ix, "overlapping slices in extra lanes"), 2 * N - 2);
	index_free(ix);
}

static void nesting_that_is_very_deep(void **state)
{
	enum { N = 200000 };
	fixture f = begin(1);

	(void)state;
	for (int64_t i = 0; i < N; i++)
		add(&f, i, 2 * (N - i), f.sites[0]);
	sonde_index *ix = finish(f.b);
	check_lanes(ix, N);
	assert_int_equal(diagnosed(ix, "slices nested deeper than 1024"), N - 1024);
	assert_int_equal(diagnosed(ix, "overlapping slices in extra lanes"), 0);
	index_free(ix);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* One large track and a few small ones, slices of all kinds, some out of order. */
static sonde_index *many_with_threads(unsigned n_threads)
{
	enum { N = 400000, N_TRACKS = 5 };
	fixture f = begin(n_threads);
	uint32_t tracks[N_TRACKS], step = site_named(f.b, "step 5", CLASS_STEP);
	uint32_t kernel = site_named(f.b, "kernel", CLASS_KERNEL);
	uint64_t seed = 11;

	add_records(f.b, 1000);
	for (int64_t i = 0; i < N_TRACKS; i++)
		tracks[i] = thread_track(f.b, f.process, 100 - i);
	for (int64_t i = 0; i < N; i++) {
		uint64_t k = random_next(&seed) % 20;
		uint32_t track = tracks[k < N_TRACKS ? k : 1];
		builder_slice s = {
			.start_ns = i * 10 + (int64_t)(random_next(&seed) % 50),
			.dur_ns = (int64_t)(random_next(&seed) % (k == 7 ? 5000 : 40)),
			.site = k == 2				 ? kernel
				: random_next(&seed) % 1000 == 0 ? step
								 : f.sites[random_next(&seed) % N_SITES],
			.args = k % 3 ? 1 + (uint32_t)random_next(&seed) % 1000 : 0,
			.correlation = k < 6 ? 1 + random_next(&seed) % 5000 : 0,
		};
		builder_slices(f.b, track, &s, 1);
		if (k > 15)
			builder_flow(f.b, track, s.start_ns, f.sites[k % 2], random_next(&seed) % 100, "stfF"[k % 4],
				     0);
		if (k == 3)
			builder_instant(f.b, track, s.start_ns, f.sites[1], 0, 't');
	}
	return finish(f.b);
}

static void any_number_of_threads_makes_the_same_image(void **state)
{
	size_t len, want_len;

	(void)state;
	sonde_index *want = many_with_threads(1);
	const uint8_t *want_bytes = index_bytes(want, &want_len);
	for (unsigned n_threads = 2; n_threads <= 4; n_threads++) {
		sonde_index *ix = many_with_threads(n_threads);
		const uint8_t *bytes = index_bytes(ix, &len);
		assert_int_equal(len, want_len);
		assert_memory_equal(bytes, want_bytes, len);
		index_free(ix);
	}
	check_lanes(want, 400000);
	index_free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_nest),
		cmocka_unit_test(random_traces_are_as_a_simple_model_says),
		cmocka_unit_test(a_hundred_thousand_that_all_overlap),
		cmocka_unit_test(nesting_that_is_very_deep),
		cmocka_unit_test(any_number_of_threads_makes_the_same_image),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
