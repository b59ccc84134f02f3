/*
 * Slices of a recording in lanes: whatever operations and scopes do to each other, every one of them is there once, at
 * its time, and lanes nest. Single cases with their lanes: test_recording.c.
 */
#include "import/recording/build.h"
#include "store/build/builder.h"
#include "unit/import/recording/make_file.h"

enum { A = 40, OP, MAX_EVENTS = 400, MAX_OPEN = 12 };

typedef struct scene {
	made_event events[MAX_EVENTS];
	size_t n;
	uint64_t now, seed, next_serial;
	uint64_t open_ops[MAX_OPEN];
	size_t n_open_ops, n_open_scopes, n_slices;
	int64_t total_ns; /* of all slices that ended */
	uint64_t scope_starts[MAX_OPEN], op_starts[MAX_OPEN];
} scene;

static uint32_t next_random(scene *s)
{
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(s->seed >> 33);
}

static void add(scene *s, made_event e)
{
	e.ticks = ++s->now;
	s->events[s->n++] = e;
}

static void begin_scope(scene *s)
{
	add(s, (made_event){ .code = A });
	s->scope_starts[s->n_open_scopes++] = s->now;
	s->n_slices++;
}

static void end_scope(scene *s)
{
	add(s, (made_event){ .code = END | A });
	s->total_ns += (int64_t)(s->now - s->scope_starts[--s->n_open_scopes]);
}

static void begin_op(scene *s)
{
	add(s, (made_event){ .code = EVENT_OP_BEGIN, .n_words = 4, .words = { ++s->next_serial, OP } });
	s->open_ops[s->n_open_ops] = s->next_serial;
	s->op_starts[s->n_open_ops++] = s->now;
	s->n_slices++;
}

/* Any of them, not only the last one. */
static void end_op(scene *s, size_t which)
{
	add(s, (made_event){ .code = EVENT_OP_END, .n_words = 1, .words = { s->open_ops[which] } });
	s->total_ns += (int64_t)(s->now - s->op_starts[which]);
	s->n_open_ops--;
	s->open_ops[which] = s->open_ops[s->n_open_ops];
	s->op_starts[which] = s->op_starts[s->n_open_ops];
}

static void make_scene(scene *s, uint64_t seed)
{
	*s = (scene){ .seed = seed };
	while (s->n < MAX_EVENTS - 2 * MAX_OPEN) {
		uint32_t what = next_random(s) % 4;
		if (what == 0 && s->n_open_scopes < MAX_OPEN)
			begin_scope(s);
		else if (what == 1 && s->n_open_scopes)
			end_scope(s);
		else if (what == 2 && s->n_open_ops < MAX_OPEN)
			begin_op(s);
		else if (what == 3 && s->n_open_ops)
			end_op(s, next_random(s) % s->n_open_ops);
	}
	while (s->n_open_scopes)
		end_scope(s);
	while (s->n_open_ops)
		end_op(s, 0);
}

static sonde_index *index_scene(const scene *s)
{
	maker m = { 0 };
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };

	make_start(&m);
	make_name(&m, A, NAME_SCOPE, "a");
	make_name(&m, OP, NAME_OP, "op");
	make_events(&m, 1, s->events, s->n);
	recording *t = make_recording(&m);
	if (recording_build_index(t, 1, &ix, &err))
		fail_msg("%s", err.message);
	assert_int_equal(index_verify(ix, &err), SONDE_OK);
	recording_free(t);
	make_done(&m);
	return ix;
}

/* Of one lane in the order of time: none begins before the one before it has ended, and each lies in its parent. */
static void check_lanes(const sonde_index *ix)
{
	size_t n_lanes;
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	index_slice s, before = { 0 };
	uint64_t n = index_n_slices(ix);

	for (uint64_t i = 0; i < n; i++) {
		assert_true(index_slice_at(ix, i, &s));
		if (i && s.lane == before.lane)
			assert_true(s.start_ns >= before.start_ns + before.dur_ns);
		before = s;
		bool has_parent = lanes[s.lane].depth == 0;
		for (uint64_t k = 0; k < n && !has_parent; k++) {
			index_slice p;
			assert_true(index_slice_at(ix, k, &p));
			has_parent = lanes[p.lane].track == lanes[s.lane].track &&
				     lanes[p.lane].group == lanes[s.lane].group &&
				     lanes[p.lane].depth + 1 == lanes[s.lane].depth && p.start_ns <= s.start_ns &&
				     p.start_ns + p.dur_ns >= s.start_ns + s.dur_ns;
		}
		assert_true(has_parent);
	}
}

static void every_slice_is_there_once_and_lanes_nest(void **state)
{
	static scene s;

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		int64_t total_ns = 0;
		index_slice one;
		make_scene(&s, seed);
		sonde_index *ix = index_scene(&s);
		assert_int_equal(index_n_slices(ix), s.n_slices);
		for (uint64_t i = 0; i < s.n_slices; i++) {
			assert_true(index_slice_at(ix, i, &one));
			total_ns += one.dur_ns;
		}
		assert_int_equal(total_ns, s.total_ns);
		if (seed % 10 == 0)
			check_lanes(ix);
		index_free(ix);
	}
}

static void without_operations_everything_lies_on_the_thread(void **state)
{
	static scene s;
	size_t n;

	(void)state;
	s = (scene){ .seed = 1 };
	for (int i = 0; i < 5; i++)
		begin_scope(&s);
	while (s.n_open_scopes)
		end_scope(&s);
	sonde_index *ix = index_scene(&s);
	const index_lane *lanes = index_lanes(ix, &n);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(lanes[i].depth, i);
	check_lanes(ix);
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_is_there_once_and_lanes_nest),
		cmocka_unit_test(without_operations_everything_lies_on_the_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
