/* Sums over a range and the search: the same as a loop over all slices finds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/store/make_index.h"

static sonde_index *open_model(const model *made)
{
	sonde_index *ix = NULL;

	assert_int_equal(index_open_memory(made->image, made->len, &ix, NULL), SONDE_OK);
	return ix;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static int64_t clip(const image_slice *s, int64_t from, int64_t to)
{
	int64_t start = s->start > from ? s->start : from, end = s->start + s->dur < to ? s->start + s->dur : to;

	return end > start ? end - start : 0;
}

/* [from, to) of the tracks whose bit is set. */
static void naive_sums(const model *made, int64_t from, int64_t to, unsigned tracks, site_sum *sums)
{
	memset(sums, 0, MODEL_SITES * sizeof *sums);
	for (size_t l = 0; l < made->n_lanes; l++) {
		const struct model_lane *lane = &made->lanes[l];
		for (size_t i = 0; i < lane->n && tracks >> lane->track & 1; i++) {
			const image_slice *s = &lane->slices[i];
			site_sum *sum = &sums[s->site];
			if (s->start >= to || (s->start + s->dur <= from && s->start < from))
				continue;
			sum->min_ns = sum->n_slices && sum->min_ns < s->dur ? sum->min_ns : s->dur;
			sum->max_ns = sum->max_ns > s->dur ? sum->max_ns : s->dur;
			sum->n_slices++;
			sum->total_ns += clip(s, from, to);
			sum->self_ns += clip(s, from, to);
			if (lane->depth)
				sums[lane[-1].slices[s->up].site].self_ns -= clip(s, from, to);
		}
	}
}

static void assert_sums(const site_sum *got, const site_sum *want)
{
	for (size_t i = 0; i < MODEL_SITES; i++) {
		assert_int_equal(got[i].n_slices, want[i].n_slices);
		assert_int_equal(got[i].total_ns, want[i].total_ns);
		assert_int_equal(got[i].self_ns, want[i].self_ns);
		assert_int_equal(got[i].min_ns, want[i].min_ns);
		assert_int_equal(got[i].max_ns, want[i].max_ns);
	}
}

static void any_range_and_tracks_add_up_as_in_a_loop(void **state)
{
	static const size_t counts[] = { 0, 1, 100, 2000 };
	uint64_t seed = 1;

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		model made = model_make(3, 3, counts[k], 500, k);
		sonde_index *ix = open_model(&made);
		int64_t all = made.end_ns - made.start_ns;
		for (int i = 0; i < 200; i++) {
			site_sum got[MODEL_SITES] = { 0 }, want[MODEL_SITES];
			int64_t from = image_between(&seed, -10, all + 10);
			int64_t to = from + image_between(&seed, -5, i % 2 ? 300 : all);
			if (i % 5 == 0 && made.lanes[0].n) /* exactly at a slice, perhaps one of no length */
				from = made.lanes[0].slices[image_random(&seed) % made.lanes[0].n].start;
			uint32_t tracks[] = { 2, 0 };
			aggregate_options options = { .from_ns = made.start_ns + from, .to_ns = made.start_ns + to };
			if (i % 3 == 0) {
				options.tracks = tracks;
				options.n_tracks = 2;
			}
			naive_sums(&made, from, to, i % 3 ? 7 : 5, want);
			assert_int_equal(index_aggregate(ix, &options, got, NULL), SONDE_OK);
			assert_sums(got, want);
		}
		index_free(ix);
		model_done(&made);
	}
}

static void everything_is_what_the_sites_have(void **state)
{
	model made = model_make(3, 3, 1000, 500, 1);
	sonde_index *ix = open_model(&made);
	site_sum got[MODEL_SITES] = { 0 }, want[MODEL_SITES];
	const uint32_t tracks[] = { 0, 1, 2 };
	aggregate_options all = { 0 }, outside = { .from_ns = made.start_ns, .to_ns = made.end_ns + 1 };
	aggregate_options listed = { .tracks = tracks, .n_tracks = 3 }, none = { .tracks = tracks, .n_tracks = 0 };

	(void)state;
	naive_sums(&made, 0, INT64_MAX, 7, want);
	assert_int_equal(index_aggregate(ix, &all, got, NULL), SONDE_OK);
	assert_sums(got, want);
	memset(got, 0, sizeof got);
	assert_int_equal(index_aggregate(ix, &outside, got, NULL), SONDE_OK);
	assert_sums(got, want);
	memset(got, 0, sizeof got);
	assert_int_equal(index_aggregate(ix, &listed, got, NULL), SONDE_OK);
	assert_sums(got, want);
	memset(got, 0, sizeof got);
	memset(want, 0, sizeof want);
	assert_int_equal(index_aggregate(ix, &none, got, NULL), SONDE_OK);
	assert_sums(got, want);
	index_free(ix);
	model_done(&made);
}

static void what_cannot_be_read_is_said(void **state)
{
	model made = model_make(1, 2, 1000, 500, 1);
	sonde_index *ix = open_model(&made);
	const index_section *sections = (const index_section *)(made.image + sizeof(index_header));
	site_sum got[MODEL_SITES] = { 0 };
	const uint32_t tracks[] = { 0, 1 };
	aggregate_options options = { .tracks = tracks, .n_tracks = 2 };
	sonde_error err = { 0 };
	uint64_t n = 0;

	(void)state;
	assert_int_equal(index_aggregate(ix, &options, got, &err), SONDE_E_USAGE);
	assert_string_equal(err.message, "there is no track 1");
	memset(got, 0, sizeof got);
	options.n_tracks = 1;
	((columns_head *)(made.image + sections[SECTION_SLICES].offset))->n_rows = 0;
	assert_int_equal(index_aggregate(ix, &options, got, &err), SONDE_E_FORMAT);
	for (size_t i = 0; i < MODEL_SITES; i++)
		n += got[i].n_slices;
	assert_int_equal(n, index_n_slices(ix) - COLUMNS_ROWS);
	index_free(ix);
	model_done(&made);
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

static void sites_are_found_by_a_part_of_their_name(void **state)
{
	model made = model_make(1, 1, 10, 10, 1);
	sonde_index *ix = open_model(&made);
	uint32_t sites[MODEL_SITES];

	(void)state;
	assert_int_equal(index_search_sites(ix, "TEC", sites), 1);
	assert_int_equal(sites[0], 2);
	assert_int_equal(index_search_sites(ix, "", sites), MODEL_SITES);
	assert_int_equal(index_search_sites(ix, "site", sites), MODEL_SITES);
	assert_int_equal(index_search_sites(ix, "Sitecc", sites), 0);
	index_free(ix);
	model_done(&made);
}

static uint64_t naive_next(const model *made, const uint8_t *marked, int64_t t, bool before)
{
	uint64_t found = INDEX_NO_SLICE, first = 0;
	int64_t best = 0;

	for (size_t l = 0; l < made->n_lanes; first += made->lanes[l++].n)
		for (size_t i = 0; i < made->lanes[l].n; i++) {
			const image_slice *s = &made->lanes[l].slices[i];
			if (!marked[s->site] || (before ? s->start >= t : s->start <= t))
				continue;
			bool nearer = before ? s->start > best : s->start < best;
			/* Of those of one lane that start at once, the nearer one by row. */
			bool same = before && found != INDEX_NO_SLICE && s->start == best && found >= first;
			if (found == INDEX_NO_SLICE || nearer || same) {
				found = first + i;
				best = s->start;
			}
		}
	return found;
}

static void the_next_slice_of_a_site_is_found_in_both_directions(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint64_t k = 0; k < 3; k++) {
		model made = model_make(2, 3, k == 2 ? 3000 : 20, 500, k);
		sonde_index *ix = open_model(&made);
		int64_t all = made.end_ns - made.start_ns;
		for (int i = 0; i < 200; i++) {
			uint8_t marked[MODEL_SITES] = { 0 };
			for (int64_t left = image_between(&seed, 0, 3); left; left--)
				marked[image_random(&seed) % MODEL_SITES] = 1;
			int64_t t = image_between(&seed, -100, all + 100);
			if (i % 2)
				t = made.lanes[1].n ? made.lanes[1].slices[image_random(&seed) % made.lanes[1].n].start
						    : 0;
			for (int before = 0; before < 2; before++)
				assert_int_equal(index_search_next(ix, marked, made.start_ns + t, before),
						 naive_next(&made, marked, t, before));
		}
		uint8_t all_marked[MODEL_SITES];
		memset(all_marked, 1, sizeof all_marked);
		assert_int_equal(index_search_next(ix, all_marked, INT64_MIN, true), INDEX_NO_SLICE);
		assert_int_equal(index_search_next(ix, all_marked, INT64_MAX, false), INDEX_NO_SLICE);
		assert_int_equal(index_search_next(ix, all_marked, INT64_MIN, false),
				 naive_next(&made, all_marked, -1, false));
		assert_int_equal(index_search_next(ix, all_marked, INT64_MAX, true),
				 naive_next(&made, all_marked, INT64_MAX, true));
		index_free(ix);
		model_done(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_range_and_tracks_add_up_as_in_a_loop),
		cmocka_unit_test(everything_is_what_the_sites_have),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(sites_are_found_by_a_part_of_their_name),
		cmocka_unit_test(the_next_slice_of_a_site_is_found_in_both_directions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
