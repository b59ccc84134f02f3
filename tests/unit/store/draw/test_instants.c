/* Instants to draw: one a pixel and track, whatever their number. */
#include "unit/import/imported.h"

/* Instants i = 0 .. n - 1 at i microseconds, every third on thread 2. */
static imported make_instants(int n)
{
	char *json = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	assert_non_null(out);
	fprintf(out, "{\"traceEvents\":[");
	for (int i = 0; i < n; i++)
		fprintf(out, "%s{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d}",
			i ? "," : "", i % 3 ? "mark" : "other", i % 3 ? 1 : 2, i);
	fprintf(out, "]}");
	assert_int_equal(fclose(out), 0);
	imported result = import_bytes(json, len, (import_how){ 0 });
	assert_int_equal(result.status, SONDE_OK);
	assert_int_equal(index_n_rows(result.ix, SECTION_INSTANTS), n);
	free(json);
	return result;
}

static uint32_t track_of(const sonde_index *ix, int64_t tid)
{
	size_t n;
	const index_track *tracks = index_tracks(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].id == tid && tracks[i].kind == TRACK_THREAD)
			return (uint32_t)i;
	fail_msg("no thread %" PRId64, tid);
	return 0;
}

static void one_pixel_has_one_of_a_track(void **state)
{
	imported i = make_instants(1000);
	int64_t start = index_start_ns(i.ix), end = index_end_ns(i.ix);
	uint32_t first = track_of(i.ix, 1), second = track_of(i.ix, 2);
	uint8_t tracks[16] = { 0 };
	range_instant *found;
	size_t n, n_first = 0, n_second = 0;
	bool is_exact;

	(void)state;
	tracks[first] = tracks[second] = 1;
	assert_int_equal(end - start, 999000);
	instants_wanted wanted = { .from_ns = start, .to_ns = end, .n_pixels = 100, .tracks = tracks };
	assert_true(index_instants(i.ix, &wanted, &found, &n, &is_exact));
	assert_true(is_exact);
	assert_int_equal(n, 200);
	for (size_t k = 0; k < n; k++) {
		assert_true(k == 0 || found[k].track > found[k - 1].track ||
			    (found[k].track == found[k - 1].track && found[k].x == found[k - 1].x + 1));
		*(found[k].track == first ? &n_first : &n_second) += found[k].n;
	}
	/* The one at the very end is there, too. */
	assert_int_equal(n_first, 666);
	assert_int_equal(n_second, 334);
	free(found);

	tracks[second] = 0;
	wanted = (instants_wanted){ .from_ns = start + 4000, .to_ns = start + 8000, .n_pixels = 4, .tracks = tracks };
	assert_true(index_instants(i.ix, &wanted, &found, &n, &is_exact));
	assert_int_equal(n, 3); /* 4, 5 and 7: 6 is the other's */
	assert_int_equal(found[0].x, 0);
	assert_int_equal(found[0].row, 4);
	assert_int_equal(found[2].x, 3);
	assert_int_equal(found[2].row, 7);
	free(found);
	index_free(i.ix);
}

static void what_is_not_there_is_not_drawn(void **state)
{
	imported i = make_instants(10);
	int64_t start = index_start_ns(i.ix), end = index_end_ns(i.ix);
	const int64_t views[][2] = { { end + 1, INT64_MAX },
				     { INT64_MIN, start },
				     { end, start },
				     { start, start },
				     { start + 3100, start + 3900 } };
	uint8_t tracks[16], hidden[16];
	range_instant *found;
	size_t n;
	bool is_exact;

	(void)state;
	memset(tracks, 1, sizeof tracks);
	memset(hidden, 1, sizeof hidden);
	for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) {
		instants_wanted wanted = {
			.from_ns = views[k][0], .to_ns = views[k][1], .n_pixels = 10, .tracks = tracks
		};
		assert_true(index_instants(i.ix, &wanted, &found, &n, &is_exact));
		assert_int_equal(n, 0);
		free(found);
	}
	instants_wanted all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .n_pixels = 10, .tracks = tracks };
	assert_true(index_instants(i.ix, &all, &found, &n, &is_exact));
	assert_int_equal(n, 2); /* all in one pixel, on two tracks */
	assert_int_equal(found[0].n + found[1].n, 10);
	free(found);
	all.hidden_sites = hidden;
	assert_true(index_instants(i.ix, &all, &found, &n, &is_exact));
	assert_int_equal(n, 0);
	free(found);
	index_free(i.ix);
}

static void of_very_many_some_stand_for_the_others(void **state)
{
	enum { N = 4096 * COLUMNS_ROWS + 1 };
	imported i = make_instants(N);
	uint8_t tracks[16];
	range_instant *found;
	size_t n;
	uint64_t sum = 0;
	bool is_exact;

	(void)state;
	memset(tracks, 1, sizeof tracks);
	instants_wanted all = {
		.from_ns = index_start_ns(i.ix), .to_ns = index_end_ns(i.ix), .n_pixels = 500, .tracks = tracks
	};
	assert_true(index_instants(i.ix, &all, &found, &n, &is_exact));
	assert_false(is_exact);
	assert_int_equal(n, 1000); /* no pixel is empty */
	for (size_t k = 0; k < n; k++)
		sum += found[k].n;
	assert_true(sum > N - 1000 && sum < N + 1000);
	free(found);
	index_free(i.ix);
}

static void neighbours_are_of_the_same_track(void **state)
{
	imported i = make_instants(1000);
	uint64_t counts[16] = { 0 };

	(void)state;
	assert_int_equal(index_instant_beside(i.ix, 300, false), 303);
	assert_int_equal(index_instant_beside(i.ix, 300, true), 297);
	assert_int_equal(index_instant_beside(i.ix, 256, true), 254);
	assert_true(index_instant_beside(i.ix, 0, true) == UINT64_MAX);
	assert_true(index_instant_beside(i.ix, 1, true) == UINT64_MAX);
	assert_true(index_instant_beside(i.ix, 999, false) == UINT64_MAX);
	assert_true(index_instant_beside(i.ix, 1000, false) == UINT64_MAX);
	uint8_t other[16] = { 0 };
	size_t n_sites;
	const index_site *sites = index_sites(i.ix, &n_sites);
	for (size_t k = 0; k < n_sites; k++)
		other[k] = strcmp(index_text(i.ix, sites[k].name), "other") == 0;
	assert_int_equal(index_count_instants_of(i.ix, other), 334);
	assert_int_equal(index_search_instant(i.ix, other, 301, false), 303);
	assert_int_equal(index_search_instant(i.ix, other, 303, false), 303);
	assert_int_equal(index_search_instant(i.ix, other, 303, true), 300);
	assert_int_equal(index_search_instant(i.ix, other, UINT64_MAX, true), 999);
	assert_true(index_search_instant(i.ix, other, 0, true) == UINT64_MAX);
	assert_true(index_search_instant(i.ix, other, 1000, false) == UINT64_MAX);
	index_count_instants(i.ix, counts);
	assert_int_equal(counts[track_of(i.ix, 1)], 666);
	assert_int_equal(counts[track_of(i.ix, 2)], 334);
	index_free(i.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pixel_has_one_of_a_track),
		cmocka_unit_test(what_is_not_there_is_not_drawn),
		cmocka_unit_test(of_very_many_some_stand_for_the_others),
		cmocka_unit_test(neighbours_are_of_the_same_track),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
