/* The walk over an index: what a sink sees of images made by hand, and of random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "store/walk.h"
#include "unit/store/make_index.h"

typedef struct seen {
	char text[4096];
	size_t len;
	const sonde_trace *trace;
} seen;

static void note(seen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(seen *s, const char *format, ...)
{
	va_list args;

	if (s->len)
		s->text[s->len++] = ' ';
	va_start(args, format);
	s->len += (size_t)vsnprintf(s->text + s->len, sizeof s->text - s->len, format, args);
	va_end(args);
	assert_true(s->len < sizeof s->text);
}

static int since(const seen *s, int64_t ns)
{
	return (int)(ns - s->trace->start_ns);
}

static const char *name_of(const seen *s, const trace_site *site)
{
	return trace_text(s->trace, site->name);
}

static void log_thread(void *context, const trace_thread *thread)
{
	note(context, "[%u]", thread->number);
}

static void log_begin(void *context, slice *s, const struct event *e)
{
	seen *to = context;

	assert_null(e);
	assert_ptr_equal(s->outer, s->depth ? (void *)(uintptr_t)s->depth : NULL);
	s->user = (void *)(uintptr_t)(s->depth + 1);
	note(to, "+%s@%d", name_of(to, s->site), since(to, s->start_ns));
}

static void log_end(void *context, slice *s)
{
	seen *to = context;
	char number[32] = "";

	if (s->site->kind == NAME_STEP)
		snprintf(number, sizeof number, "#%d", (int)s->number);
	note(to, "-%s+%d/%d%s%s%s%s", name_of(to, s->site), (int)s->dur_ns, (int)s->child_ns, number,
	     s->flags & SLICE_ASYNC ? "~" : "", s->flags & SLICE_OPEN ? "?" : "", s->flags & SLICE_REPAIRED ? "!" : "");
}

static void log_instant(void *context, const trace_site *site, int64_t time_ns, const struct event *e)
{
	(void)e;
	note(context, "*%s@%d", name_of(context, site), since(context, time_ns));
}

static void log_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	note(context, "%s@%d=%g", name_of(context, site), since(context, time_ns), value);
}

static void log_flow(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins)
{
	note(context, "%s%s@%d:%d", begins ? ">" : "<", name_of(context, site), since(context, time_ns), (int)id);
}

static void log_memory(void *context, const walk_memory *m)
{
	const seen *s = context;
	char buffer[32];

	note(context, "%s %s:%lld=%lld@%d in %s", m->is_free ? "free" : "alloc",
	     trace_device_name(s->trace, m->device, buffer, sizeof buffer), (long long)m->bytes,
	     (long long)m->current_bytes, since(s, m->time_ns), m->inside ? name_of(s, m->inside->site) : "-");
}

static walk_counts walk_image(image_maker *m, int64_t end, seen *s)
{
	const walk_sink sink = { .context = s,
				 .thread = log_thread,
				 .begin = log_begin,
				 .end = log_end,
				 .instant = log_instant,
				 .counter = log_counter,
				 .flow = log_flow,
				 .memory = log_memory };
	size_t len;
	uint8_t *image = image_finish(m, 1000, 1000 + end, &len);
	sonde_index *ix = NULL;
	sonde_trace *t = NULL;
	walk_counts counts;
	sonde_error err = { .message = "" };

	if (index_adopt(image, len, &ix, &err) || trace_of_index(ix, &t, &err))
		fail_msg("%s", err.message);
	*s = (seen){ .trace = t };
	assert_int_equal(trace_walk(t, &sink, &counts, &err), SONDE_OK);
	sonde_trace_free(t);
	return counts;
}

static void names(image_maker *m)
{
	static const char *const all[] = { "a", "b", "c", "s" };

	for (size_t i = 0; i < 4; i++)
		image_site(m, all[i]);
}

static index_site *site_at(image_maker *m, size_t i)
{
	return (index_site *)m->sections[SECTION_SITES].bytes + i;
}

static void lanes_are_merged_by_parent(void **state)
{
	const image_slice outer[] = { { 0, 100, 0, 0, -1, 0 }, { 100, 50, 0, 0, -1, SLICE_IS_OPEN } };
	const image_slice middle[] = { { 10, 20, 1, 0, -1, 0 },
				       { 30, 60, 1, 0, -1, SLICE_IS_REPAIRED },
				       { 100, 0, 1, 1, -1, 0 },
				       { 100, 50, 2, 1, -1, 0 } };
	const image_slice inner[] = { { 35, 5, 2, 1, -1, 0 }, { 110, 10, 2, 3, -1, 0 } };
	image_maker m = { 0 };
	seen s;

	(void)state;
	names(&m);
	image_track(&m, TRACK_THREAD);
	image_lane(&m, 0, 0, outer, 2);
	image_lane(&m, 0, 1, middle, 4);
	image_lane(&m, 0, 2, inner, 2);
	walk_counts counts = walk_image(&m, 150, &s);
	assert_string_equal(s.text, "[0] +a@0 +b@10 -b+20/0 +b@30 +c@35 -c+5/0 -b+60/5! -a+100/80 "
				    "+a@100 +b@100 -b+0/0 +c@100 +c@110 -c+10/0 -c+50/10 -a+50/50?");
	assert_int_equal(counts.n_slices, 8);
	assert_int_equal(counts.n_open, 1);
	assert_int_equal(counts.n_repaired, 1);
}

static void every_group_is_a_stack_of_its_own(void **state)
{
	const image_slice first[] = { { 0, 100, 0, 0, -1, 0 } }, second[] = { { 50, 100, 1, 0, -1, 0 } },
			  inside[] = { { 60, 10, 2, 0, -1, 0 } };
	image_maker m = { 0 };
	seen s;

	(void)state;
	names(&m);
	image_track(&m, TRACK_STREAM);
	image_lane(&m, 0, 0, first, 1);
	image_lane(&m, 1, 0, second, 1);
	image_lane(&m, 1, 1, inside, 1);
	walk_counts counts = walk_image(&m, 150, &s);
	assert_string_equal(s.text, "[0] +a@0 -a+100/0 +b@50 +c@60 -c+10/0 -b+100/10");
	assert_int_equal(counts.n_device, 3);
	assert_int_equal(counts.n_slices, 0);
}

static void asynchronous_slices_stand_alone(void **state)
{
	const image_slice outer[] = { { 0, 100, 0, 0, -1, SLICE_IS_ASYNC } },
			  inner[] = { { 10, 20, 1, 0, -1, SLICE_IS_ASYNC } };
	image_maker m = { 0 };
	seen s;

	(void)state;
	names(&m);
	image_track(&m, TRACK_ASYNC);
	image_lane(&m, 0, 0, outer, 1);
	image_lane(&m, 0, 1, inner, 1);
	walk_image(&m, 100, &s);
	assert_string_equal(s.text, "[0] +a@0 -a+100/0~ +b@10 -b+20/0~");
}

static void steps_are_those_that_the_index_lists(void **state)
{
	const image_slice slices[] = { { 0, 10, 3, 0, -1, 0 }, { 10, 10, 3, 0, -1, 0 } };
	const index_step steps[] = { { .number = 7, .slice = 1, .start_ns = 10, .dur_ns = 10 } };
	image_maker m = { 0 };
	seen s;

	(void)state;
	names(&m);
	site_at(&m, 3)->class = CLASS_STEP;
	image_track(&m, TRACK_THREAD);
	image_lane(&m, 0, 0, slices, 2);
	image_rows(&m, SECTION_STEPS, steps, 1, sizeof steps[0]);
	walk_image(&m, 20, &s);
	assert_string_equal(s.text, "[0] +s@0 -s+10/0 +s@10 -s+10/0#7");
}

static void allocations_come_inside_the_slices_of_their_track(void **state)
{
	const image_slice outer[] = { { 10, 80, 0, 0, -1, 0 } }, inner[] = { { 20, 20, 1, 0, -1, 0 } };
	/* time, track, address, bytes, type, device, total, reserved, args, site */
	const int64_t rows[][ALLOCATION_COLUMNS] = {
		{ 5, 0, 1, 100, 0, -1, -1, -1, 0, 2 },	 { 20, 0, 2, 50, 1, 0, 1050, -1, 0, 2 },
		{ 30, 1, 3, 7, 0, -1, -1, -1, 0, 2 },	 { 40, 0, 9, -400, 0, -1, -1, -1, 0, 2 },
		{ 50, 0, 1, -100, 0, -1, -1, -1, 0, 2 }, { 95, 0, 2, -50, 1, 0, 1000, -1, 0, 2 },
	};
	image_maker m = { 0 };
	seen s;

	(void)state;
	names(&m);
	image_track(&m, TRACK_THREAD);
	image_lane(&m, 0, 0, outer, 1);
	image_lane(&m, 0, 1, inner, 1);
	image_track(&m, TRACK_THREAD);
	image_table(&m, SECTION_ALLOCATIONS, rows[0], ALLOCATION_COLUMNS, 6);
	walk_counts counts = walk_image(&m, 100, &s);
	/* The CPU held at least 393 bytes before, as so many more are freed. */
	assert_string_equal(s.text, "[0] alloc cpu:100=493@5 in - +a@10 +b@20 alloc gpu0:50=1050@20 in b -b+20/0 "
				    "free cpu:400=100@40 in a free cpu:100=0@50 in a -a+80/20 "
				    "free gpu0:50=1000@95 in - [1] alloc cpu:7=500@30 in -");
	assert_int_equal(counts.n_memory, 6);
}

static void tables_come_after_the_slices(void **state)
{
	const image_slice slices[] = { { 10, 80, 0, 0, -1, 0 } };
	const int64_t instants[][INSTANT_COLUMNS] = { { 3, 0, 1, 0, 't' }, { 4, 1, 2, 0, 'p' } };
	const int64_t flows[][FLOW_COLUMNS] = { { 1, 5, 0, 1, 77, 's', 0 }, { 0, 60, 1, 1, 77, 'f', 0 } };
	double value = 2.5;
	int64_t values[][VALUE_COLUMNS] = { { 1, 0 }, { 9, 0 } };
	const index_counter counters[] = {
		{ .name = 2, .series = INDEX_NONE, .track = 1, .category = INDEX_NONE, .first_value = 1, .n_values = 1 }
	};
	image_maker m = { 0 };
	seen s;

	(void)state;
	memcpy(&values[1][VALUE_BITS], &value, sizeof value);
	names(&m);
	image_track(&m, TRACK_THREAD);
	image_lane(&m, 0, 0, slices, 1);
	image_track(&m, TRACK_PROCESS);
	image_table(&m, SECTION_INSTANTS, instants[0], INSTANT_COLUMNS, 2);
	image_table(&m, SECTION_FLOWS, flows[0], FLOW_COLUMNS, 2);
	image_table(&m, SECTION_VALUES, values[0], VALUE_COLUMNS, 2);
	image_rows(&m, SECTION_COUNTERS, counters, 1, sizeof counters[0]);
	walk_counts counts = walk_image(&m, 100, &s);
	assert_string_equal(s.text, "[0] +a@10 -a+80/0 [1] [0] *b@3 [1] *c@4 c@9=2.5 [0] >b@15:77 [1] <b@60:77");
	assert_int_equal(counts.n_instants, 2);
	assert_int_equal(counts.n_counters, 1);
	assert_int_equal(counts.n_flows, 2);
}

static void what_lies_in_a_damaged_block_is_left_out_and_counted(void **state)
{
	enum { N = 600 };
	static image_slice outer[N], inner[N];
	image_maker m = { 0 };

	(void)state;
	names(&m);
	for (int i = 0; i < N; i++) {
		outer[i] = (image_slice){ 10 * i, 10, 0, 0, -1, 0 };
		inner[i] = (image_slice){ 10 * i, 5, 1, (uint64_t)i, -1, 0 };
	}
	image_track(&m, TRACK_THREAD);
	image_lane(&m, 0, 0, outer, N);
	image_lane(&m, 0, 1, inner, N);
	m.sections[SECTION_SLICES].bytes[0] ^= 0xff; /* rows of the first block */
	size_t len;
	uint8_t *image = image_finish(&m, 0, 10 * N, &len);
	sonde_index *ix = NULL;
	sonde_trace *t = NULL;
	const walk_sink sink = { 0 };
	walk_counts counts;
	assert_int_equal(index_adopt(image, len, &ix, NULL), SONDE_OK);
	assert_int_equal(trace_of_index(ix, &t, NULL), SONDE_OK);
	assert_int_equal(trace_walk(t, &sink, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_slices, 2 * (N - COLUMNS_ROWS));
	assert_true(counts.n_damaged >= 1);
	sonde_trace_free(t);
}

/* ---- Random images ----------------------------------------------------------------------------------------------- */

typedef struct checker {
	const model *made;
	size_t lane; /* first of the track */
	size_t row[MODEL_LANES];
	int64_t child_ns[MODEL_LANES + 1];
} checker;

static void check_thread(void *context, const trace_thread *thread)
{
	checker *c = context;

	while (c->lane < c->made->n_lanes && c->made->lanes[c->lane].track < thread->number)
		c->lane++;
	memset(c->row, 0, sizeof c->row);
}

static void check_begin(void *context, slice *s, const struct event *e)
{
	checker *c = context;
	const struct model_lane *lane = &c->made->lanes[c->lane + s->depth];
	const image_slice *want = &lane->slices[c->row[s->depth]++];

	(void)e;
	assert_true(c->row[s->depth] <= lane->n);
	assert_int_equal(s->start_ns, c->made->start_ns + want->start);
	assert_int_equal(s->dur_ns, want->dur);
	assert_int_equal(s->site->name, want->site);
	if (s->depth)
		assert_int_equal(c->row[s->depth - 1], want->up + 1);
	c->child_ns[s->depth + 1] = 0;
}

static void check_end(void *context, slice *s)
{
	checker *c = context;

	assert_int_equal(s->child_ns, c->child_ns[s->depth + 1]);
	c->child_ns[s->depth] += s->dur_ns;
}

static void random_lanes_come_out_whole_and_nested(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		model made = model_make(1 + seed % 3, 1 + (unsigned)seed % 5, seed < 3 ? 0 : 37 * seed, 1000, seed);
		checker c = { .made = &made };
		const walk_sink sink = {
			.context = &c, .thread = check_thread, .begin = check_begin, .end = check_end
		};
		sonde_index *ix = NULL;
		sonde_trace *t = NULL;
		walk_counts counts;
		assert_int_equal(index_open_memory(made.image, made.len, &ix, NULL), SONDE_OK);
		assert_int_equal(trace_of_index(ix, &t, NULL), SONDE_OK);
		assert_int_equal(trace_walk(t, &sink, &counts, NULL), SONDE_OK);
		assert_int_equal(counts.n_slices, index_n_slices(ix));
		sonde_trace_free(t);
		model_done(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_are_merged_by_parent),
		cmocka_unit_test(every_group_is_a_stack_of_its_own),
		cmocka_unit_test(asynchronous_slices_stand_alone),
		cmocka_unit_test(steps_are_those_that_the_index_lists),
		cmocka_unit_test(allocations_come_inside_the_slices_of_their_track),
		cmocka_unit_test(tables_come_after_the_slices),
		cmocka_unit_test(what_lies_in_a_damaged_block_is_left_out_and_counted),
		cmocka_unit_test(random_lanes_come_out_whole_and_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
