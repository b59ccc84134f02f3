/* The items of a rank, stream by stream. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/tables/streams.h"

static void items_of_a_stream_keep_their_order(void **state)
{
	/* 71 and 135 fall on the place of 7, which is pushed out again and again. */
	static const int64_t given[] = { 7, 71, 7, -1, 135, INT64_MAX, 71, 7 };
	static const int64_t expected[] = { -1, 7, 71, 135, INT64_MAX };
	static const uint32_t order[] = { 3, 0, 2, 7, 1, 6, 4, 5 };
	enum { N = sizeof given / sizeof given[0], N_STREAMS = sizeof expected / sizeof expected[0] };
	work_item items[N];
	work_rank rank = { .items = items, .n = N };
	streams s;

	(void)state;
	for (size_t i = 0; i < N; i++)
		items[i] = (work_item){ .stream = given[i] };
	assert_true(streams_find(&(work){ 0 }, &rank, &s));
	assert_int_equal(s.n, N_STREAMS);
	for (size_t i = 0, at = 0; i < N_STREAMS; at += s.items[i++].n) {
		assert_int_equal(s.items[i].stream, expected[i]);
		assert_int_equal(s.items[i].first, at);
		assert_int_equal(streams_at(&s, expected[i]), i);
	}
	assert_memory_equal(s.order, order, sizeof order);
	streams_done(&s);
}

static void a_rank_without_items_has_no_streams(void **state)
{
	streams s;

	(void)state;
	assert_true(streams_find(&(work){ 0 }, &(work_rank){ .n = 0 }, &s));
	assert_int_equal(s.n, 0);
	streams_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_of_a_stream_keep_their_order),
		cmocka_unit_test(a_rank_without_items_has_no_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
