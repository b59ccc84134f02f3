/* Blocks and summaries of lanes: every level of the pyramid says what its slices say. */
#include <math.h>
#include "format/recording/short_time.h"
#include "unit/store/make_builder.h"

typedef struct plain_slice {
	int64_t start_ns, dur_ns;
	uint32_t site;
} plain_slice;

enum { N_SITES = 50 };

/* One lane of n slices. */
static sonde_index *one_lane(plain_slice *slices, size_t n, unsigned longest_ns, uint64_t seed)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1), sites[N_SITES];
	int64_t at_ns = 1000000;

	for (int i = 0; i < N_SITES; i++) {
		char name[24];
		snprintf(name, sizeof name, "site %d", i);
		sites[i] = site_named(b, name, CLASS_COMPUTE);
	}
	for (size_t i = 0; i < n; i++) {
		slices[i].start_ns = at_ns + (int64_t)(random_next(&seed) % 20);
		slices[i].dur_ns = 1 + (int64_t)(random_next(&seed) % longest_ns);
		slices[i].site = sites[random_next(&seed) % N_SITES];
		at_ns = slices[i].start_ns + slices[i].dur_ns;
		add_slice(b, track, slices[i].start_ns, slices[i].dur_ns, slices[i].site);
	}
	return finish(b);
}

static const index_summary *summaries_of(const sonde_index *ix, index_kind kind, uint64_t *ret_n)
{
	const uint8_t *bytes = index_bytes(ix, &(size_t){ 0 });
	const index_section *s = (const index_section *)(bytes + sizeof(index_header)) + kind;

	assert_int_equal(s->kind, kind);
	*ret_n = s->n_rows;
	return (const index_summary *)(bytes + s->offset);
}

/* A level whose summaries hold `each` slices; `off`: how far `busy` may be off, in 65535ths. */
static void check_level(const index_summary *level, size_t n_level, size_t each, double off, const plain_slice *slices,
			size_t n)
{
	assert_int_equal(n_level, (n + each - 1) / each);
	for (size_t i = 0; i < n_level; i++) {
		size_t first = i * each, end = first + each < n ? first + each : n, longest = first;
		int64_t busy_ns = 0, longest_of_site = 0;
		for (size_t k = first; k < end; k++) {
			longest = slices[k].dur_ns > slices[longest].dur_ns ? k : longest;
			busy_ns += slices[k].dur_ns;
			if (slices[k].site == level[i].site && slices[k].dur_ns > longest_of_site)
				longest_of_site = slices[k].dur_ns;
		}
		int64_t longest_ns = slices[longest].dur_ns;
		int64_t span_ns = slices[end - 1].start_ns + slices[end - 1].dur_ns - slices[first].start_ns;
		assert_int_equal(level[i].start_ns, slices[first].start_ns - slices[0].start_ns);
		assert_int_equal(level[i].span_ns, span_ns);
		assert_int_equal(level[i].longest, short_time_of((uint64_t)longest_ns));
		assert_int_equal(level[i].longest, short_time_of((uint64_t)longest_of_site));
		if (longest_ns <= 2048) /* not rounded */
			assert_int_equal(level[i].site, slices[longest].site);
		assert_true(fabs(level[i].busy - 65535.0 * (double)busy_ns / (double)span_ns) < off + 1e-6);
	}
}

static void check_levels(size_t n, unsigned longest_ns, uint64_t seed)
{
	size_t n_level = (n + INDEX_GROUP - 1) / INDEX_GROUP, each = INDEX_GROUP;
	plain_slice *slices = malloc(n * sizeof *slices);
	sonde_index *ix = one_lane(slices, n, longest_ns, seed);
	uint64_t n_coarse, n_fine, at = 0;
	const index_summary *coarse = summaries_of(ix, SECTION_COARSE, &n_coarse);
	const index_summary *fine = summaries_of(ix, SECTION_FINE, &n_fine);
	double off = 0.5;

	for (; n_level > INDEX_COARSE; n_level = (n_level + INDEX_FAN - 1) / INDEX_FAN) {
		check_level(fine + at, n_level, each, off, slices, n);
		at += n_level;
		each *= INDEX_FAN;
		off += 0.5;
	}
	assert_int_equal(n_fine, at);
	assert_int_equal(n_coarse, n_level);
	check_level(coarse, n_level, each, off, slices, n);
	free(slices);
	index_free(ix);
}

static void every_level_says_what_its_slices_say(void **state)
{
	enum { GROUP = INDEX_GROUP, FULL = INDEX_COARSE * INDEX_GROUP };
	static const size_t sizes[] = { 1, GROUP - 1, GROUP, GROUP + 1, 257, FULL, FULL + 1, 1200000 };

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		check_levels(sizes[k], 1000, k + 1);
		check_levels(sizes[k], 3000000, k + 1);
	}
}

static void slices_come_back_from_any_block(void **state)
{
	enum { N = 1000 };
	plain_slice slices[N];

	(void)state;
	for (size_t n = 1; n <= N; n += 111) {
		sonde_index *ix = one_lane(slices, n, 1000, n);
		for (size_t i = n; i-- > 0;) {
			index_slice s;
			assert_true(index_slice_at(ix, i, &s));
			assert_int_equal(s.start_ns, slices[i].start_ns);
			assert_int_equal(s.dur_ns, slices[i].dur_ns);
			assert_int_equal(s.site, slices[i].site);
		}
		index_free(ix);
	}
}

static void slices_without_length_have_summaries_too(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	uint32_t site = site_named(b, "x", CLASS_COMPUTE);
	uint64_t n;

	(void)state;
	for (int i = 0; i < 100; i++)
		add_slice(b, track, 5, 0, site);
	sonde_index *ix = finish(b);
	const index_summary *coarse = summaries_of(ix, SECTION_COARSE, &n);
	assert_int_equal(n, (100 + INDEX_GROUP - 1) / INDEX_GROUP);
	assert_int_equal(coarse[0].span_ns, 0);
	assert_int_equal(coarse[0].longest, 0);
	assert_int_equal(coarse[0].busy, UINT16_MAX);
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_says_what_its_slices_say),
		cmocka_unit_test(slices_come_back_from_any_block),
		cmocka_unit_test(slices_without_length_have_summaries_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
