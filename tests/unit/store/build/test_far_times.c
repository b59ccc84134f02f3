/* Times far outside of all others: which are, and where their events go. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/build/builder.h"
#include "store/build/far_times.h"

#define YEAR INT64_C(31536000000000000)
#define DAY INT64_C(86400000000000)

typedef struct made {
	builder *b;
	uint32_t site, track;
} made;

static made make(void)
{
	made m = { .b = builder_new(NULL) };
	uint32_t name = builder_string(m.b, "work", 4);

	m.site = builder_site(m.b, name, name, CLASS_OTHER, 0);
	m.track = builder_track(m.b, TRACK_THREAD, builder_process(m.b, 0, 1, INDEX_NONE), 1, INDEX_NONE, INDEX_NONE);
	return m;
}

static void add(const made *m, int64_t start_ns, int64_t dur_ns)
{
	builder_slice_add(m->b, m->track, &(builder_slice){ .start_ns = start_ns, .dur_ns = dur_ns, .site = m->site });
}

static void what_is_far_depends_on_how_much_of_it_there_is(void **state)
{
	static const struct {
		const char *about;
		int64_t n, step_ns; /* slices of 5 ns, one every step_ns */
		int64_t n_others, others_ns;
		bool is_far;
	} cases[] = {
		{ "nothing else", 1000, 10, 0, 0, false },
		{ "two a year apart", 1, 10, 1, YEAR, false },
		{ "two 50 years apart", 1, 10, 1, 50 * YEAR, false },
		{ "one of few, 50 years away", 10, 10, 1, 50 * YEAR, true },
		{ "one of few, a year away", 10, 10, 1, YEAR, false },
		{ "one of many, a year away", 5000, 10, 1, YEAR, true },
		{ "one of many, 50 years before", 5000, 10, 1, -50 * YEAR, true },
		{ "one of many, ten days away", 5000, 10, 1, 10 * DAY, false },
		{ "one of many, a year after a trace of two days", 5000, DAY / 2500, 1, YEAR, false },
		{ "a tenth, years away", 1000, 10, 100, 50 * YEAR, false },
		{ "half, years away", 1000, 10, 1000, 50 * YEAR, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		made m = make();
		time_range range = { 0, 0 };
		for (int64_t k = 0; k < cases[i].n; k++)
			add(&m, k * cases[i].step_ns, 5);
		for (int64_t k = 0; k < cases[i].n_others; k++)
			add(&m, cases[i].others_ns + k, 5);
		if (builder_find_times(m.b, 0, &range) != cases[i].is_far)
			fail_msg("%s", cases[i].about);
		if (cases[i].is_far) {
			assert_int_equal(range.start_ns, 0);
			assert_int_equal(range.end_ns, (cases[i].n - 1) * cases[i].step_ns + 5);
		}
		builder_free(m.b);
	}
}

static void they_go_to_a_track_of_their_own_and_the_trace_stays_short(void **state)
{
	made m = make();
	time_range range;
	sonde_index *ix;
	size_t n;

	(void)state;
	for (int64_t k = 0; k < 100; k++)
		add(&m, k * 10, 5);
	add(&m, 50 * YEAR, 7);
	add(&m, 500, 50 * YEAR); /* begins inside */
	builder_instant(m.b, m.track, -50 * YEAR, m.site, 0, 't');
	builder_value(m.b, m.track, 0, INDEX_NONE, INDEX_NONE, 50 * YEAR, 1);
	assert_true(builder_find_times(m.b, 0, &range));
	assert_int_equal(builder_set_apart(m.b, 0, range), 4);
	assert_false(builder_find_times(m.b, 0, &range));
	assert_int_equal(builder_finish(m.b, &ix, NULL), SONDE_OK);
	builder_free(m.b);
	assert_int_equal(index_start_ns(ix), 0);
	assert_int_equal(index_end_ns(ix), 995);
	assert_int_equal(index_n_slices(ix), 102);
	const index_track *tracks = index_tracks(ix, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(tracks[i].n_slices, tracks[i].kind == TRACK_ASYNC ? 2 : 100);
	index_free(ix);
}

static void files_are_looked_at_one_by_one(void **state)
{
	made m = make();
	time_range range;
	uint32_t other =
		builder_track(m.b, TRACK_THREAD, builder_process(m.b, 1, 1, INDEX_NONE), 1, INDEX_NONE, INDEX_NONE);

	(void)state;
	for (int64_t k = 0; k < 5000; k++)
		add(&m, k * 10, 5);
	builder_slice_add(m.b, other, &(builder_slice){ .start_ns = 50 * YEAR, .dur_ns = 1, .site = m.site });
	assert_false(builder_find_times(m.b, 0, &range));
	assert_false(builder_find_times(m.b, 1, &range));
	assert_false(builder_find_times(m.b, 2, &range));
	builder_free(m.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_far_depends_on_how_much_of_it_there_is),
		cmocka_unit_test(they_go_to_a_track_of_their_own_and_the_trace_stays_short),
		cmocka_unit_test(files_are_looked_at_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
