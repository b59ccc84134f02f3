/* Sets of time: against a byte per nanosecond. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/math/intervals.h"

enum { END = 200 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* A random set, and which nanoseconds are in it. */
static intervals make_set(uint64_t *state, bool sorted, uint8_t *bytes)
{
	intervals s = { 0 };
	size_t n = next_random(state) % 20;
	int64_t at = 0;

	memset(bytes, 0, END);
	for (size_t i = 0; i < n; i++) {
		int64_t start = sorted ? at + (int64_t)(next_random(state) % 12) : (int64_t)(next_random(state) % END);
		int64_t end = start + (int64_t)(next_random(state) % 20);
		start = start < END ? start : END;
		end = end < END ? end : END;
		at = start;
		intervals_add(&s, start, end);
		memset(bytes + start, 1, (size_t)(end - start));
	}
	assert_true(intervals_merge(&s));
	return s;
}

static void assert_set(const intervals *s, const uint8_t *bytes)
{
	uint8_t got[END] = { 0 };
	int64_t length = 0;

	size_t n = 0;
	int64_t end = -1;
	interval one;
	for (interval_walk w = intervals_first(s); intervals_next(&w, &one); end = one.end, n++) {
		assert_true(one.start < one.end);
		assert_true(one.start > end);
		memset(got + one.start, 1, (size_t)(one.end - one.start));
		length += one.end - one.start;
	}
	assert_int_equal(n, s->n);
	assert_memory_equal(got, bytes, END);
	assert_int_equal(intervals_length(s), length);
}

static void sets_are_what_their_nanoseconds_are(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint8_t in_a[END], in_b[END], want[END];
		intervals a = make_set(&random, round % 2, in_a), b = make_set(&random, round % 3, in_b), c = { 0 };
		int64_t common = 0, part = 0, from = (int64_t)(next_random(&random) % END), to = from + 30;
		assert_set(&a, in_a);
		for (size_t i = 0; i < END; i++)
			want[i] = in_a[i] | in_b[i];
		assert_true(intervals_union(&a, &b, &c));
		assert_set(&c, want);
		for (size_t i = 0; i < END; i++) {
			want[i] = in_a[i] & in_b[i];
			common += want[i];
			part += in_a[i] && (int64_t)i >= from && (int64_t)i < to;
		}
		assert_true(intervals_intersect(&a, &b, &c));
		assert_set(&c, want);
		assert_int_equal(intervals_overlap(&a, &b), common);
		assert_int_equal(intervals_overlap_with(&a, from, to), part);
		interval at;
		assert_int_equal(intervals_find(&a, from, &at), in_a[from]);
		if (in_a[from])
			assert_true(at.start <= from && from < at.end);
		for (size_t i = 0; i < END; i++)
			want[i] = in_a[i] & !in_b[i];
		assert_true(intervals_subtract(&a, &b, &c));
		assert_set(&c, want);
		intervals_done(&a);
		intervals_done(&b);
		intervals_done(&c);
	}
}

static void what_touches_is_one(void **state)
{
	intervals s = { 0 };

	(void)state;
	intervals_add(&s, 20, 30);
	intervals_add(&s, 5, 5);
	intervals_add(&s, 9, 3);
	intervals_add(&s, 10, 20);
	assert_true(intervals_merge(&s));
	assert_int_equal(s.n, 1);
	assert_int_equal(intervals_span(&s).start, 10);
	assert_int_equal(intervals_span(&s).end, 30);
	intervals_done(&s);
}

/* More than a block, more than is kept loose, in the order in which the tracks of a trace give them. */
static void many_are_sorted_and_found(void **state)
{
	enum { TRACKS = 3, EACH = 20000 };
	intervals s = { 0 };
	int64_t n = 0;
	interval one;

	(void)state;
	for (int track = TRACKS; track-- > 0;)
		for (int64_t i = 0; i < EACH; i++)
			intervals_add(&s, 1000 * i + 300 * track, 1000 * i + 300 * track + 100 + i % 100);
	assert_true(intervals_merge(&s));
	assert_int_equal(s.n, TRACKS * EACH);
	for (interval_walk w = intervals_first(&s); intervals_next(&w, &one); n++) {
		int64_t i = n / TRACKS, start = 1000 * i + 300 * (n % TRACKS);
		assert_int_equal(one.start, start);
		assert_int_equal(one.end, start + 100 + i % 100);
		assert_true(intervals_find(&s, start + 99, &one));
		assert_int_equal(one.start, start);
		assert_false(intervals_find(&s, start + 250, &one));
		assert_int_equal(intervals_overlap_with(&s, start + 50, start + 350),
				 50 + i % 100 + (n % TRACKS < 2 ? 50 : 0));
	}
	assert_int_equal(n, TRACKS * EACH);
	assert_true(s.n_bytes < 4 * s.n);
	intervals_done(&s);
}

/* Times as far apart as they can be. */
static void the_longest_times_fit(void **state)
{
	intervals s = { 0 };
	interval one;

	(void)state;
	intervals_add(&s, INT64_MIN, INT64_MIN + 1);
	intervals_add(&s, INT64_MAX - 5, INT64_MAX - 3);
	intervals_add(&s, INT64_MAX - 3, INT64_MAX);
	assert_true(intervals_merge(&s));
	assert_int_equal(s.n, 2);
	assert_int_equal(intervals_length(&s), 6);
	assert_true(intervals_find(&s, INT64_MAX - 1, &one));
	assert_int_equal(one.start, INT64_MAX - 5);
	intervals_done(&s);
	assert_false(intervals_find(&s, 5, &one));
	assert_int_equal(intervals_overlap_with(&s, 0, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_what_their_nanoseconds_are),
		cmocka_unit_test(what_touches_is_one),
		cmocka_unit_test(many_are_sorted_and_found),
		cmocka_unit_test(the_longest_times_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
