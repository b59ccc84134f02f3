/* Ticks to nanoseconds. */
#include "unit/import/recording/make_file.h"

static recording_stream stream_of(const clock_pair *pairs, size_t n, stream_clock clock)
{
	recording_stream s = { .info = { .clock = clock } };

	for (size_t i = 0; i < n; i++)
		*VEC_ADD(&s.pairs) = pairs[i];
	assert_true(clock_map_build(&s));
	return s;
}

static void stream_done(recording_stream *s)
{
	VEC_DONE(&s->pairs);
	free(s->segments);
}

static int64_t ns_of(const recording_stream *s, uint64_t ticks)
{
	size_t hint = 0;

	return clock_map_ns(s, ticks, &hint);
}

/* 3 GHz, then 1.5 GHz. */
static const clock_pair changing[] = { { 3000, 1000, 9 }, { 6000, 2000, 9 }, { 9000, 4000, 9 } };

static void times_lie_on_lines_between_the_pairs(void **state)
{
	static const struct {
		uint64_t ticks;
		int64_t ns;
	} cases[] = {
		{ 3000, 1000 }, { 4500, 1500 }, { 5999, 1999 }, { 6000, 2000 },
		{ 7500, 3000 }, { 9000, 4000 }, { 0, 0 }, /* before the first pair: its stretch's rate */
		{ 11000, 5000 }				  /* after the last: 3000 ns in 6000 ticks overall */
	};
	recording_stream s = stream_of(changing, 3, CLOCK_TSC);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_in_range(ns_of(&s, cases[i].ticks) - cases[i].ns + 1, 0, 1); /* rounded down */
	assert_true(s.tick_ns > 0.4999 && s.tick_ns < 0.5001);
	stream_done(&s);
}

static void the_order_of_questions_does_not_matter(void **state)
{
	recording_stream s = stream_of(changing, 3, CLOCK_TSC);
	size_t hint = 0;
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t ticks = (random >> 33) % 12000;
		assert_int_equal(clock_map_ns(&s, ticks, &hint), ns_of(&s, ticks));
	}
	stream_done(&s);
}

static void pairs_may_come_in_any_order_and_more_than_once(void **state)
{
	static const clock_pair pairs[] = {
		{ 9000, 4000, 9 }, { 3000, 1000, 9 }, { 6000, 2000, 9 }, { 3000, 1000, 9 }
	};
	recording_stream s = stream_of(pairs, 4, CLOCK_TSC), same = stream_of(changing, 3, CLOCK_TSC);

	(void)state;
	for (uint64_t ticks = 0; ticks < 12000; ticks += 7)
		assert_int_equal(ns_of(&s, ticks), ns_of(&same, ticks));
	assert_int_equal(s.n_segments, 3);
	stream_done(&s);
	stream_done(&same);
}

static void a_pair_that_would_turn_time_back_is_dropped(void **state)
{
	static const clock_pair pairs[] = { { 1000, 1000, 0 }, { 2000, 500, 0 }, { 2500, 1000, 0 }, { 3000, 3000, 0 } };
	recording_stream s = stream_of(pairs, 4, CLOCK_TSC);
	int64_t before = INT64_MIN;

	(void)state;
	assert_int_equal(s.n_segments, 2);
	for (uint64_t ticks = 0; ticks < 4000; ticks++) {
		int64_t ns = ns_of(&s, ticks);
		assert_true(ns >= before);
		before = ns;
	}
	assert_int_equal(ns_of(&s, 2000), 2000);
	stream_done(&s);
}

static void one_pair_is_enough_for_nanoseconds_and_a_guess_for_ticks(void **state)
{
	static const clock_pair pair = { 5000, 7000, 0 };
	recording_stream ns = stream_of(&pair, 1, CLOCK_NS), ticks = stream_of(&pair, 1, CLOCK_TSC);

	(void)state;
	assert_int_equal(ns_of(&ns, 5100), 7100);
	assert_int_equal(ns_of(&ns, 4900), 6900);
	assert_true(ns.tick_ns == 1);
	assert_true(ticks.tick_ns == 0); /* unknown, and said so */
	stream_done(&ns);
	stream_done(&ticks);
}

static void no_pair_at_all_still_gives_an_order(void **state)
{
	recording_stream s = stream_of(NULL, 0, CLOCK_TSC);

	(void)state;
	assert_true(s.tick_ns == 0);
	assert_true(ns_of(&s, 100) < ns_of(&s, 200));
	stream_done(&s);
}

/* 0.3333... ns a tick: after an hour the error is still below that of the pairs. */
static void a_long_recording_keeps_its_precision(void **state)
{
	static const clock_pair pairs[] = { { 12345, 99, 30 },
					    { 12345 + UINT64_C(10800000000000), 3600000000099, 30 } };
	recording_stream s = stream_of(pairs, 2, CLOCK_TSC);

	(void)state;
	for (uint64_t second = 0; second <= 3600; second += 60) {
		int64_t off = ns_of(&s, 12345 + second * 3000000000) - (int64_t)(99 + second * 1000000000);
		assert_true(off <= 0 && off >= -900); /* 1 in 2^32 of an hour */
	}
	stream_done(&s);
}

static void hostile_pairs_give_times_within_bounds(void **state)
{
	static const uint64_t ticks[] = { 0, 1, 1000, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX };
	static const int64_t ns[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	enum { N_TICKS = sizeof ticks / sizeof ticks[0], N_NS = sizeof ns / sizeof ns[0] };

	(void)state;
	for (size_t k = 0; k < N_TICKS * N_NS * N_TICKS * N_NS; k++) {
		clock_pair pairs[] = { { ticks[k % N_TICKS], ns[k / N_TICKS % N_NS], 0 },
				       { ticks[k / N_TICKS / N_NS % N_TICKS], ns[k / N_TICKS / N_NS / N_TICKS], 0 } };
		recording_stream s = stream_of(pairs, 2, CLOCK_TSC);
		for (size_t i = 0; i < N_TICKS; i++) {
			int64_t at = ns_of(&s, ticks[i]);
			assert_true(at >= -TRACE_NS_MAX && at <= TRACE_NS_MAX);
		}
		stream_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_lie_on_lines_between_the_pairs),
		cmocka_unit_test(the_order_of_questions_does_not_matter),
		cmocka_unit_test(pairs_may_come_in_any_order_and_more_than_once),
		cmocka_unit_test(a_pair_that_would_turn_time_back_is_dropped),
		cmocka_unit_test(one_pair_is_enough_for_nanoseconds_and_a_guess_for_ticks),
		cmocka_unit_test(no_pair_at_all_still_gives_an_order),
		cmocka_unit_test(a_long_recording_keeps_its_precision),
		cmocka_unit_test(hostile_pairs_give_times_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
