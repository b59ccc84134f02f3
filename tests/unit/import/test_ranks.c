/* Several files as one trace: which rank each is, and one clock for all. */
#include "unit/store/make_builder.h"

#include "import/ranks.h"

enum { MAX_FILES = 5 };
static const int64_t hour = CLOCKS_APART_NS;

/* Ranks as they are known, -1: unknown, -2: needs none; then as they are settled. */
typedef struct rank_case {
	size_t n;
	int32_t known[MAX_FILES], settled[MAX_FILES];
	bool is_said; /* a diagnostic */
} rank_case;

static void ranks_are_settled(void **state)
{
	static const rank_case cases[] = {
		{ 1, { -1 }, { -1 }, false }, /* alone, it may stay without */
		{ 1, { 7 }, { 7 }, false },
		{ 3, { -1, -1, -1 }, { 0, 1, 2 }, false },
		{ 3, { 2, 0, 1 }, { 2, 0, 1 }, false },
		{ 4, { -1, 0, -1, 2 }, { 1, 0, 3, 2 }, false }, /* the first free ones, in the order of the files */
		{ 3, { 5, -1, 9 }, { 5, 0, 9 }, false },
		{ 3, { 1, 1, 4 }, { 0, 1, 2 }, true },
		{ 4, { 3, -1, 3, 0 }, { 0, 1, 2, 3 }, true },
		{ 3, { 0, -2, -1 }, { 0, -1, 1 }, false },
		{ 3, { 0, -2, 0 }, { 0, -1, 1 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		builder *b = builder_with_threads(1);
		ranked_file files[MAX_FILES] = { 0 };
		for (uint32_t k = 0; k < cases[i].n; k++)
			files[k] = (ranked_file){ .path = "f",
						  .number = k,
						  .part = k,
						  .rank = cases[i].known[k] < 0 ? -1 : cases[i].known[k],
						  .stays_without = cases[i].known[k] == -2 };
		ranks_settle(b, files, cases[i].n);
		for (size_t k = 0; k < cases[i].n; k++)
			assert_int_equal(files[k].rank, cases[i].settled[k]);
		sonde_index *ix = finish(b);
		assert_int_equal(diagnosed(ix, "files of a rank that other files have, numbered by their order"),
				 cases[i].is_said);
		index_free(ix);
	}
}

/* Starts of the files, each with one slice of 10 ns; a part each unless `one_part`. Then how many were shifted, and
   where each starts in the end. */
typedef struct clock_case {
	size_t n;
	int64_t starts[MAX_FILES], settled[MAX_FILES];
	uint64_t n_shifted;
	bool one_part;
} clock_case;

static void check_clocks(const clock_case *c)
{
	builder *b = builder_with_threads(1);
	ranked_file files[MAX_FILES];
	char what[80];
	uint64_t n_shifted = 0;
	int64_t start, end;

	for (uint32_t k = 0; k < c->n; k++) {
		files[k] = (ranked_file){ .path = "f", .number = k, .part = c->one_part ? 0 : k, .rank = (int32_t)k };
		if (c->starts[k] >= 0)
			add_slice(b, thread_track(b, builder_process(b, k, 1, INDEX_NONE), 1), c->starts[k], 10,
				  site_named(b, "a", CLASS_OTHER));
	}
	clocks_settle(b, files, c->n);
	for (uint32_t k = 0; k < c->n; k++)
		if (builder_file_span(b, k, &start, &end))
			assert_int_equal(start, c->settled[k]);
	sonde_index *ix = finish(b);
	for (size_t k = 0; k < c->n; k++) {
		snprintf(what, sizeof what, "clocks not comparable: rank %zu shifted", k);
		n_shifted += diagnosed(ix, what);
	}
	assert_int_equal(n_shifted, c->n_shifted);
	index_free(ix);
}

static void clocks_that_lie_apart_start_together(void **state)
{
	const clock_case cases[] = {
		{ 2, { 100, 5000 }, { 100, 5000 }, 0, false },
		{ 2, { 100, 110 + hour }, { 100, 110 + hour }, 0, false }, /* an hour from end to start, and no more */
		{ 2, { 100, 111 + hour }, { 100, 100 }, 1, false },
		{ 3, { 9 * hour, 100, 3 * hour }, { 100, 100, 100 }, 2, false },
		/* Each is near to the next one: one clock. */
		{ 3, { 100, hour, 2 * hour }, { 100, hour, 2 * hour }, 0, false },
		/* Without events there is nothing to compare. */
		{ 3, { 100, -1, 200 }, { 100, 0, 200 }, 0, false },
		{ 1, { 100 }, { 100 }, 0, false },
		/* Files of one part have one clock already. */
		{ 2, { 100, 9 * hour }, { 100, 9 * hour }, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_clocks(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_settled),
		cmocka_unit_test(clocks_that_lie_apart_start_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
