#define _GNU_SOURCE
/*
 * A recording that grows block by block is followed; each index must say what one made from scratch says. The
 * recordings are random: two processes with several threads and everything that an event can be.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <setjmp.h>
#include <cmocka.h>
#include "import/recording_follow.h"
#include "unit/store/make_file.h"
#include <sonde/record.h>

enum { SCOPE = 140, N_SCOPES = 6, PHASE = 150, STEP, MARK, COUNTER, OP, QUEUE, FLOW, LATE };
enum { THREADS = 3, STREAMS = 2, PIXELS = 300 };

/* ---- Random recordings ------------------------------------------------------------------------------------------- */

typedef struct thread_state {
	made_event events[600];
	size_t n, depth;
	uint32_t open[40];
} thread_state;

typedef struct random_run {
	maker m;
	thread_state threads[STREAMS][THREADS];
	uint64_t ticks, next_serial, serials[STREAMS][64], seed;
	size_t n_serials[STREAMS];
	bool has_notes;
	VEC(size_t) cuts; /* behind every block */
} random_run;

static uint64_t below(random_run *r, uint64_t n)
{
	r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (r->seed >> 33) % n;
}

static void cut_here(random_run *r)
{
	size_t *cut = VEC_ADD(&r->cuts);

	assert_non_null(cut);
	*cut = r->m.len;
}

static void use_stream(random_run *r, size_t stream)
{
	r->m.stream = MAKE_STREAM + stream;
}

/* The clock runs a little faster now and then. */
static void put_clock(random_run *r, size_t stream)
{
	clock_pair pair = { r->ticks, (int64_t)(r->ticks + r->ticks / 3 + below(r, 50)), 0 };

	use_stream(r, stream);
	make_clock(&r->m, &pair, 1);
	r->ticks += 100; /* pairs rise */
	cut_here(r);
}

static void flush(random_run *r, size_t stream, size_t thread)
{
	thread_state *t = &r->threads[stream][thread];

	if (!t->n)
		return;
	use_stream(r, stream);
	make_events(&r->m, (uint32_t)(stream * THREADS + thread), t->events, t->n);
	t->n = 0;
	cut_here(r);
}

static void put(random_run *r, size_t stream, size_t thread, made_event e)
{
	thread_state *t = &r->threads[stream][thread];

	r->ticks += 1 + below(r, 200);
	e.ticks = r->ticks;
	t->events[t->n++] = e;
	if (t->n == 300 || below(r, 80) == 0)
		flush(r, stream, thread);
}

static void put_scope(random_run *r, size_t stream, size_t thread)
{
	thread_state *t = &r->threads[stream][thread];

	if (t->depth && (t->depth == 40 || below(r, 2))) {
		size_t at = below(r, 50) ? t->depth - 1 : below(r, t->depth); /* some ends are missing */
		put(r, stream, thread, (made_event){ .code = END | t->open[at] });
		t->depth = at;
	} else {
		uint32_t id = SCOPE + (uint32_t)below(r, N_SCOPES);
		t->open[t->depth++] = id;
		put(r, stream, thread, (made_event){ .code = id });
	}
}

static void put_op(random_run *r, size_t stream, size_t thread)
{
	size_t n = r->n_serials[stream];

	if (n && (n == 64 || below(r, 2))) {
		size_t at = below(r, n);
		put(r, stream, thread,
		    (made_event){ .code = EVENT_OP_END, .n_words = 1, .words = { r->serials[stream][at] } });
		r->serials[stream][at] = r->serials[stream][n - 1];
		r->n_serials[stream]--;
	} else {
		uint64_t serial = ++r->next_serial;
		r->serials[stream][r->n_serials[stream]++] = serial;
		put(r, stream, thread,
		    (made_event){
			    .code = EVENT_OP_BEGIN,
			    .n_words = 7,
			    .words = { serial, OP, make_double(2), make_double(3), 3, make_text("f32"), UINT64_MAX } });
	}
}

static void put_device(random_run *r, size_t stream, size_t thread)
{
	uint64_t launch = ++r->next_serial, start = r->ticks + r->ticks / 3 + below(r, 500);

	put(r, stream, thread, (made_event){ .code = EVENT_LAUNCH, .n_words = 3, .words = { SCOPE, QUEUE, launch } });
	put(r, stream, thread,
	    (made_event){ .code = EVENT_STREAM_SLICE,
			  .n_words = 5,
			  .words = { QUEUE, launch, SCOPE + 1, start, start + below(r, 300) } });
}

static void put_memory(random_run *r, size_t stream, size_t thread)
{
	uint64_t address = 4096 + below(r, 100) * 64;

	if (below(r, 2))
		put(r, stream, thread,
		    (made_event){ .code = EVENT_ALLOC,
				  .n_words = 5,
				  .words = { SONDE_CPU, address, 64, below(r, 3), r->ticks } });
	else
		put(r, stream, thread,
		    (made_event){ .code = EVENT_FREE, .n_words = 4, .words = { SONDE_CPU, address, 64, r->ticks } });
	if (below(r, 3) == 0)
		put(r, stream, thread,
		    (made_event){ .code = EVENT_STACK, .n_words = 2, .words = { below(r, 9000), 77 } });
}

static void put_said(random_run *r, size_t stream, size_t thread)
{
	uint64_t value = make_text("v0") + below(r, 9) * 256;

	if (below(r, 2))
		put(r, stream, thread,
		    (made_event){ .code = EVENT_META, .n_words = 4, .words = { 3, make_text("key"), 2, value } });
	else
		put(r, stream, thread,
		    (made_event){ .code = below(r, 2) ? EVENT_PROCESS_NAME : EVENT_THREAD_NAME,
				  .n_words = 2,
				  .words = { 2, value } });
}

static void put_other(random_run *r, size_t stream, size_t thread)
{
	switch (below(r, 9)) {
	case 0:
		put(r, stream, thread, (made_event){ .code = PHASE });
		break;
	case 1:
		put(r, stream, thread, (made_event){ .code = STEP, .n_words = 1, .words = { r->ticks } });
		break;
	case 2:
		put(r, stream, thread, (made_event){ .code = MARK });
		break;
	case 3:
		put(r, stream, thread,
		    (made_event){ .code = COUNTER, .n_words = 1, .words = { make_double((double)below(r, 100)) } });
		break;
	case 4:
		put(r, stream, thread,
		    (made_event){ .code = below(r, 2) ? EVENT_FLOW_BEGIN : EVENT_FLOW_END,
				  .n_words = 2,
				  .words = { FLOW, below(r, 20) } });
		break;
	case 5:
		put_device(r, stream, thread);
		break;
	case 6:
		put_said(r, stream, thread);
		break;
	case 7:
		put(r, stream, thread,
		    (made_event){ .code = EVENT_OP_RECORD,
				  .n_words = 3,
				  .words = { OP, r->ticks + r->ticks / 3, below(r, 900) } });
		break;
	default:
		put_memory(r, stream, thread);
	}
}

static void put_names(random_run *r)
{
	char name[] = "scope 0";

	for (uint16_t i = 0; i < N_SCOPES; i++, name[6]++)
		make_name(&r->m, (uint16_t)(SCOPE + i), NAME_SCOPE, name);
	make_name(&r->m, PHASE, NAME_PHASE, "phase");
	make_name(&r->m, STEP, NAME_STEP, "step");
	make_name(&r->m, MARK, NAME_MARK, "mark");
	make_name(&r->m, COUNTER, NAME_COUNTER, "counter");
	make_name(&r->m, OP, NAME_OP, "op");
	make_name(&r->m, QUEUE, NAME_STREAM, "queue");
	make_name(&r->m, FLOW, NAME_SCOPE, "flow");
}

static void put_stream(random_run *r, size_t stream)
{
	stream_block info = { .state = STREAM_OPEN,
			      .role = ROLE_PROGRAM,
			      .clock = CLOCK_TSC,
			      .pid = (uint32_t)(77 + stream),
			      .start_ns = (int64_t)(r->ticks + r->ticks / 3),
			      .program = "train" };

	use_stream(r, stream);
	make_stream(&r->m, &info);
	put_names(r);
	put_clock(r, stream);
}

static void make_run(random_run *r, uint64_t seed, size_t n_events)
{
	*r = (random_run){ .seed = seed, .ticks = 1000 };
	put_stream(r, 0);
	for (size_t i = 0; i < n_events; i++) {
		/* The second process and the last threads come later. */
		size_t stream = i > n_events / 4 ? below(r, STREAMS) : 0;
		size_t thread = below(r, i > n_events / 3 ? THREADS : THREADS - 1);
		if (i == n_events / 4)
			put_stream(r, 1);
		if (below(r, 300) == 0)
			put_clock(r, stream);
		uint64_t what = below(r, 10);
		if (what < 7)
			put_scope(r, stream, thread);
		else if (what == 7)
			put_op(r, stream, thread);
		else
			put_other(r, stream, thread);
	}
	for (size_t s = 0; s < STREAMS; s++)
		for (size_t t = 0; t < THREADS; t++)
			flush(r, s, t);
	put_clock(r, 0);
	put_clock(r, 1);
}

static void run_done(random_run *r)
{
	VEC_DONE(&r->cuts);
	make_done(&r->m);
}

/* ---- An index in words ------------------------------------------------------------------------------------------- */

/* Lines, sorted before they are compared: names are numbered in the order in which they come. */
typedef struct dump {
	const sonde_index *ix;
	args_reader *args;
	VEC(char *) lines;
} dump;

static void __attribute__((format(printf, 2, 3))) say(dump *d, const char *format, ...)
{
	char **line = VEC_ADD(&d->lines);
	va_list args;

	assert_non_null(line);
	va_start(args, format);
	assert_true(vasprintf(line, format, args) >= 0);
	va_end(args);
}

static const char *site_text(const dump *d, int64_t site)
{
	static char text[2][200];
	static unsigned which;
	size_t n;
	const index_site *sites = index_sites(d->ix, &n);

	which = !which;
	assert_true((uint64_t)site < n);
	snprintf(text[which], sizeof text[which], "%s/%s/%d/%d", index_text(d->ix, sites[site].name),
		 index_text(d->ix, sites[site].category), sites[site].class, sites[site].kind);
	return text[which];
}

static const char *args_of(const dump *d, int64_t args)
{
	static char text[3000];
	args_text t;

	if (!args)
		return "";
	assert_true(args_read(d->args, (uint32_t)args, &t));
	snprintf(text, sizeof text, "%.*s", (int)t.args_len, t.args ? t.args : "");
	return text;
}

static void say_slices(dump *d, uint32_t lane)
{
	lane_cursor *c = malloc(sizeof *c);
	index_slice s;

	assert_non_null(c);
	lane_first(c, d->ix, lane, 0);
	while (lane_next(c, &s)) {
		index_slice again;
		say(d, "slice %" PRIu64 " of lane %u: %" PRId64 " + %" PRId64 " %s in %" PRIu64 " flags %u %s", s.id,
		    lane, s.start_ns, s.dur_ns, site_text(d, s.site), s.parent, s.flags, args_of(d, s.args));
		assert_true(index_slice_at(d->ix, s.id, &again));
		assert_true(again.start_ns == s.start_ns && again.parent == s.parent && again.args == s.args);
	}
	assert_false(c->damaged);
	free(c);
}

static void say_range(dump *d, uint32_t lane, int64_t from_ns, int64_t to_ns)
{
	range_rect rects[PIXELS];
	size_t n = index_range(d->ix, lane, from_ns, to_ns, PIXELS, rects);

	for (size_t i = 0; i < n; i++)
		say(d, "rectangle of lane %u in %" PRId64 "..%" PRId64 ": %u + %u %s, %u slices, busy %.4f", lane,
		    from_ns, to_ns, rects[i].x, rects[i].width, site_text(d, rects[i].site), rects[i].n_slices,
		    (double)rects[i].busy);
}

static void say_lanes(dump *d)
{
	size_t n;
	const index_lane *lanes = index_lanes(d->ix, &n);
	int64_t start = index_start_ns(d->ix), end = index_end_ns(d->ix), third = (end - start) / 3;

	for (uint32_t i = 0; i < n; i++) {
		say(d, "lane %u: track %u group %d depth %d", i, lanes[i].track, lanes[i].group, lanes[i].depth);
		say_slices(d, i);
		say_range(d, i, start, end);
		say_range(d, i, start + third, start + 2 * third);
		say_range(d, i, end - third / 20, end);
	}
}

static void say_tracks(dump *d)
{
	size_t n, n_processes;
	const index_track *tracks = index_tracks(d->ix, &n);
	const index_process *processes = index_processes(d->ix, &n_processes);

	for (size_t i = 0; i < n; i++)
		say(d, "track %zu: %u of process %u id %" PRId64 " %s %s device %d lanes %u + %u slices %" PRIu64, i,
		    tracks[i].kind, tracks[i].process, tracks[i].id, index_text(d->ix, tracks[i].id_text),
		    index_text(d->ix, tracks[i].name), tracks[i].device, tracks[i].first_lane, tracks[i].n_lanes,
		    tracks[i].n_slices);
	for (size_t i = 0; i < n_processes; i++)
		say(d, "process %zu: %" PRId64 " %s device %d", i, processes[i].pid,
		    index_text(d->ix, processes[i].name), processes[i].device);
}

static void say_table(dump *d, index_kind kind)
{
	/* Columns that are numbers of sites and records, which are told in words. */
	static const struct {
		int site, args, n;
	} columns_of[SECTION_KINDS] = {
		[SECTION_INSTANTS] = { INSTANT_SITE, INSTANT_ARGS, INSTANT_COLUMNS },
		[SECTION_FLOWS] = { FLOW_SITE, FLOW_ARGS, FLOW_COLUMNS },
		[SECTION_LAUNCHES] = { -1, -1, LAUNCH_COLUMNS },
		[SECTION_ALLOCATIONS] = { ALLOCATION_SITE, ALLOCATION_ARGS, ALLOCATION_COLUMNS },
	};
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];

	assert_non_null(c);
	table_first(c, d->ix, kind, 0);
	while (table_next(c, row)) {
		char text[600] = "";
		for (int i = 0; i < columns_of[kind].n; i++)
			if (i != columns_of[kind].site && i != columns_of[kind].args)
				snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRId64, row[i]);
		int site = columns_of[kind].site;
		say(d, "row of table %d:%s %s %s", (int)kind, text, site < 0 ? "" : site_text(d, row[site]),
		    site < 0 ? "" : args_of(d, row[columns_of[kind].args]));
	}
	free(c);
}

static void say_counters(dump *d)
{
	size_t n;
	const index_counter *counters = index_counters(d->ix, &n);
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];

	assert_non_null(c);
	for (size_t i = 0; i < n; i++) {
		table_first(c, d->ix, SECTION_VALUES, counters[i].first_value);
		for (uint64_t k = 0; k < counters[i].n_values && table_next(c, row); k++)
			say(d, "value of %s of track %u: %" PRId64 " %" PRIx64, index_text(d->ix, counters[i].name),
			    counters[i].track, row[VALUE_TIME], row[VALUE_BITS]);
	}
	free(c);
}

static void say_sums(dump *d, int64_t from_ns, int64_t to_ns)
{
	size_t n;
	const index_site *sites = index_sites(d->ix, &n);
	site_sum *sums = calloc(n + 1, sizeof *sums);

	assert_int_equal(index_aggregate(d->ix, &(aggregate_options){ .from_ns = from_ns, .to_ns = to_ns }, sums, NULL),
			 0);
	for (uint32_t i = 0; i < n; i++) {
		const index_site *s = &sites[i];
		say(d, "site %s: %" PRIu64 " total %" PRId64 " self %" PRId64 " %" PRId64 "..%" PRId64, site_text(d, i),
		    s->n_slices, s->total_ns, s->self_ns, s->min_ns, s->max_ns);
		say(d, "from %" PRId64 ": %s %" PRIu64 " total %" PRId64 " self %" PRId64 " %" PRId64 "..%" PRId64,
		    from_ns, site_text(d, i), sums[i].n_slices, sums[i].total_ns, sums[i].self_ns, sums[i].min_ns,
		    sums[i].max_ns);
	}
	free(sums);
}

static void say_rest(dump *d)
{
	size_t n;
	const index_step *steps = index_steps(d->ix, &n);
	for (size_t i = 0; i < n; i++)
		say(d, "step %zu: %" PRId64 " slice %" PRIu64 " %" PRId64 " + %" PRId64 " track %u", i, steps[i].number,
		    steps[i].slice, steps[i].start_ns, steps[i].dur_ns, steps[i].track);
	const index_meta *metas = index_metas(d->ix, &n);
	for (size_t i = 0; i < n; i++)
		say(d, "%s = %s", index_text(d->ix, metas[i].key), index_text(d->ix, metas[i].value));
	const index_diagnostic *diagnostics = index_diagnostics(d->ix, &n);
	for (size_t i = 0; i < n; i++)
		say(d, "%s: %" PRIu64, index_text(d->ix, diagnostics[i].kind), diagnostics[i].count);
	say(d, "from %" PRId64 " to %" PRId64, index_start_ns(d->ix), index_end_ns(d->ix));
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static dump dump_of(const sonde_index *ix)
{
	dump d = { .ix = ix, .args = args_reader_new(ix) };
	int64_t start = index_start_ns(ix), third = (index_end_ns(ix) - start) / 3;

	assert_non_null(d.args);
	say_tracks(&d);
	say_lanes(&d);
	say_table(&d, SECTION_INSTANTS);
	say_table(&d, SECTION_FLOWS);
	say_table(&d, SECTION_LAUNCHES);
	say_table(&d, SECTION_ALLOCATIONS);
	say_counters(&d);
	say_sums(&d, 0, 0);
	say_sums(&d, start + third, start + 2 * third);
	say_rest(&d);
	args_reader_free(d.args);
	qsort(d.lines.items, d.lines.n, sizeof d.lines.items[0], compare_lines);
	return d;
}

static void dump_done(dump *d)
{
	for (size_t i = 0; i < d->lines.n; i++)
		free(d->lines.items[i]);
	VEC_DONE(&d->lines);
}

static void assert_same(const sonde_index *followed, const sonde_index *fresh)
{
	dump a = dump_of(followed), b = dump_of(fresh);

	for (size_t i = 0; i < a.lines.n && i < b.lines.n; i++)
		if (strcmp(a.lines.items[i], b.lines.items[i]) != 0)
			fail_msg("line %zu: followed\n%s\nfresh\n%s", i, a.lines.items[i], b.lines.items[i]);
	assert_int_equal(a.lines.n, b.lines.n);
	dump_done(&a);
	dump_done(&b);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static sonde_trace *open_until(const random_run *r, size_t len)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (trace_open_memory(r->m.bytes, len, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static sonde_index *follow_until(recording_follow *f, const random_run *r, size_t len)
{
	sonde_trace *t = open_until(r, len);
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };

	if (recording_follow_index(f, t, NULL, NULL, &ix, &err))
		fail_msg("%s", err.message);
	sonde_trace_free(t);
	return ix;
}

static void check_until(recording_follow *f, const random_run *r, size_t len)
{
	sonde_trace *t = open_until(r, len);
	sonde_index *followed = follow_until(f, r, len), *fresh = NULL;
	sonde_error err = { .message = "" };

	if (trace_build_index(t, 1, &fresh, &err))
		fail_msg("%s", err.message);
	sonde_trace_free(t);
	assert_same(followed, fresh);
	index_free(followed);
	index_free(fresh);
}

static void an_index_that_follows_is_the_same_as_a_fresh_one(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		random_run r;
		recording_follow *f = recording_follow_new();
		assert_non_null(f);
		make_run(&r, seed, seed < 7 ? 3000 : 12000);
		for (size_t i = 0; i < r.cuts.n; i += 1 + below(&r, r.cuts.n / 8 + 1))
			check_until(f, &r, r.cuts.items[i]);
		check_until(f, &r, r.m.len);
		recording_follow_free(f);
		run_done(&r);
	}
}

/* What others still read stays, whatever becomes of the rest. */
static void indexes_outlive_what_follows(void **state)
{
	(void)state;
	random_run r;
	recording_follow *f = recording_follow_new();
	make_run(&r, 99, 8000);
	size_t half = r.cuts.items[r.cuts.n / 2];
	sonde_index *early = follow_until(f, &r, half), *late = follow_until(f, &r, r.m.len), *fresh = NULL;
	recording_follow_free(f);
	sonde_trace *t = open_until(&r, half);
	assert_int_equal(trace_build_index(t, 1, &fresh, NULL), 0);
	index_free(late);
	assert_same(early, fresh);
	index_free(early);
	index_free(fresh);
	sonde_trace_free(t);
	run_done(&r);
}

/* Where the clock is read often, an index takes events for what is new and a little more, not for all. */
static void an_index_costs_what_is_new(void **state)
{
	(void)state;
	random_run r;
	recording_follow *f = recording_follow_new();
	make_run(&r, 7, 60000);
	uint64_t most = 0, n = 0;
	for (size_t i = r.cuts.n / 2; i < r.cuts.n; i += 10) {
		index_free(follow_until(f, &r, r.cuts.items[i]));
		most = n++ && recording_follow_cost(f) > most ? recording_follow_cost(f) : most;
	}
	assert_true(n > 20);
	assert_true(most < 6000);
	recording_follow_free(f);
	run_done(&r);
}

static void begin_small(random_run *r)
{
	*r = (random_run){ .ticks = 1000 };
	put_stream(r, 0);
	for (int i = 0; i < 300; i++) {
		put(r, 0, 0, (made_event){ .code = SCOPE });
		put(r, 0, 0, (made_event){ .code = END | SCOPE });
	}
	flush(r, 0, 0);
	put_clock(r, 0);
	put_clock(r, 0);
}

/* A name that becomes known after its events. */
static void names_may_come_late(void **state)
{
	(void)state;
	random_run r;
	recording_follow *f = recording_follow_new();
	begin_small(&r);
	put(&r, 0, 0, (made_event){ .code = LATE });
	put(&r, 0, 0, (made_event){ .code = END | LATE });
	flush(&r, 0, 0);
	put_clock(&r, 0);
	check_until(f, &r, r.m.len);
	make_name(&r.m, LATE, NAME_SCOPE, "late");
	check_until(f, &r, r.m.len);
	recording_follow_free(f);
	run_done(&r);
}

/* Notes may come from any thread, before and after the operation's end. */
static void notes_on_operations_are_found(void **state)
{
	(void)state;
	random_run r;
	recording_follow *f = recording_follow_new();
	begin_small(&r);
	check_until(f, &r, r.m.len);
	put(&r, 0, 1,
	    (made_event){
		    .code = EVENT_OP_BEGIN, .n_words = 7, .words = { 5, OP, 0, 0, 3, make_text("f32"), UINT64_MAX } });
	put(&r, 0, 0,
	    (made_event){
		    .code = EVENT_OP_META, .n_words = 5, .words = { 5, 3, make_text("key"), 5, make_text("value") } });
	put(&r, 0, 1, (made_event){ .code = EVENT_OP_END, .n_words = 1, .words = { 5 } });
	flush(&r, 0, 0);
	flush(&r, 0, 1);
	check_until(f, &r, r.m.len);
	put_clock(&r, 0);
	check_until(f, &r, r.m.len);
	recording_follow_free(f);
	run_done(&r);
}

/* Another recording under the same name. */
static void another_recording_begins_anew(void **state)
{
	(void)state;
	random_run a, b;
	recording_follow *f = recording_follow_new();
	make_run(&a, 21, 3000);
	make_run(&b, 22, 3000);
	check_until(f, &a, a.m.len);
	check_until(f, &b, b.m.len);
	check_until(f, &a, a.cuts.items[a.cuts.n / 3]);
	recording_follow_free(f);
	run_done(&a);
	run_done(&b);
}

/* ---- A program that runs ----------------------------------------------------------------------------------------- */

static void *run_thread(void *context)
{
	atomic_bool *stop = context;

	for (int64_t step = 0; !atomic_load(stop) && step < 6000; step++) {
		SONDE_STEP(step);
		for (int i = 0; i < 5; i++) {
			SONDE_SCOPE("layer");
			SONDE_SCOPE("matmul");
			SONDE_COUNTER("loss", (double)i);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return NULL;
}

static void run_program(const char *path, atomic_bool *stop)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	pthread_t threads[3];

	if (sonde_start(&config, NULL))
		_exit(1);
	for (size_t i = 0; i < 3; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, stop) != 0)
			_exit(1);
		nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	}
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	exit(sonde_stop(NULL) ? 1 : 0);
}

/* With its ring, and events that move from there to the file. Checksums of what was read before are not looked at
   again, which must not be seen either. */
static void a_program_that_runs_is_followed(void **state)
{
	(void)state;
	const char *path = temp_path("live.sonde");
	atomic_bool *stop = mmap(NULL, sizeof *stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	recording_follow *f = recording_follow_new();
	sonde_trace *before = NULL;
	pid_t child = fork();

	if (child == 0)
		run_program(path, stop);
	size_t n = 0, n_partly = 0;
	for (int i = 0; n < 14 && i < 200; i++) {
		trace_source source = { .path = path, .before = before };
		sonde_trace *t = NULL;
		sonde_index *followed = NULL, *fresh = NULL;
		nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
		if (trace_open_recordings(&source, 1, &t, NULL))
			continue; /* it has not begun */
		n++;
		assert_int_equal(recording_follow_index(f, t, NULL, NULL, &followed, NULL), 0);
		assert_int_equal(trace_build_index(t, 1, &fresh, NULL), 0);
		assert_same(followed, fresh);
		n_partly += recording_follow_cost(f) < t->diagnostics.n_kept;
		index_free(followed);
		index_free(fresh);
		sonde_trace_free(before);
		before = t;
	}
	assert_non_null(before);
	assert_true(before->streams.items[0].live);
	assert_true(n_partly > 0);
	atomic_store(stop, true);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	sonde_trace_free(before);
	recording_follow_free(f);
	munmap(stop, sizeof *stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_runs_is_followed),
		cmocka_unit_test(an_index_that_follows_is_the_same_as_a_fresh_one),
		cmocka_unit_test(indexes_outlive_what_follows),
		cmocka_unit_test(an_index_costs_what_is_new),
		cmocka_unit_test(names_may_come_late),
		cmocka_unit_test(notes_on_operations_are_found),
		cmocka_unit_test(another_recording_begins_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
