/* The index's reader: every slice comes back by every way to it, and a damaged image is refused or skipped in parts. */
#include "unit/store/temp_dir.h"
#include <fcntl.h>
#include <sys/resource.h>
#include "store/index/index.h"
#include "unit/store/make_index.h"

static sonde_index *open_model(const model *made)
{
	sonde_index *ix = NULL;
	sonde_error err = { 0 };

	if (index_open_memory(made->image, made->len, &ix, &err))
		fail_msg("%s", err.message);
	return ix;
}

/* Without checksums: a stranger can make them right. */
static sonde_index *open_unchecked(const model *made)
{
	sonde_index *ix = NULL;

	assert_int_equal(index_open_made(made->image, made->len, &ix, NULL), SONDE_OK);
	return ix;
}

static void assert_slice(const index_slice *got, const model *made, size_t lane, size_t row, uint64_t first,
			 uint64_t first_above)
{
	const image_slice *want = &made->lanes[lane].slices[row];

	assert_int_equal(got->id, first + row);
	assert_int_equal(got->lane, lane);
	assert_int_equal(got->site, want->site);
	assert_int_equal(got->start_ns, made->start_ns + want->start);
	assert_int_equal(got->dur_ns, want->dur);
	assert_int_equal(got->parent, made->lanes[lane].depth ? first_above + want->up : INDEX_NO_SLICE);
	assert_int_equal(got->flags, want->flags | (want->args >= 0 ? SLICE_HAS_ARGS : 0));
	assert_int_equal(got->args, want->args + 1);
}

static void every_slice_comes_back_in_order_and_alone(void **state)
{
	static const size_t counts[] = { 0, 1, 63, 64, 65, 256, 257, 5000 };
	static lane_cursor c;

	(void)state;
	for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
		model made = model_make(2, 3, counts[k], 1000, k);
		sonde_index *ix = open_model(&made);
		uint64_t first = 0, above = 0;
		index_slice got;
		for (uint32_t lane = 0; lane < made.n_lanes; lane++) {
			size_t n = made.lanes[lane].n;
			lane_first(&c, ix, lane, 0);
			for (size_t row = 0; row < n; row++) {
				assert_true(lane_next(&c, &got));
				assert_slice(&got, &made, lane, row, first, above);
			}
			assert_false(lane_next(&c, &got));
			for (size_t row = 0; row < n; row += 37) {
				assert_true(index_slice_at(ix, first + row, &got));
				assert_slice(&got, &made, lane, row, first, above);
				assert_int_equal(index_lane_of(ix, first + row), lane);
				lane_first(&c, ix, lane, row);
				assert_true(lane_next(&c, &got));
				assert_slice(&got, &made, lane, row, first, above);
			}
			assert_false(c.damaged);
			above = first;
			first += n;
		}
		assert_int_equal(index_n_slices(ix), first);
		assert_false(index_slice_at(ix, first, &got));
		assert_int_equal(index_lane_of(ix, first), INDEX_NONE);
		assert_int_equal(index_verify(ix, NULL), SONDE_OK);
		index_free(ix);
		model_done(&made);
	}
}

static uint64_t naive_find(const struct model_lane *lane, int64_t t, bool by_end)
{
	uint64_t row = 0;

	while (row < lane->n &&
	       (by_end ? lane->slices[row].start + lane->slices[row].dur <= t : lane->slices[row].start < t))
		row++;
	return row;
}

static void the_slice_at_a_time_is_found(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t seed = 0; seed < 6; seed++) {
		/* With more than 2048 groups there are several levels of summaries. */
		model made = model_make(1, 2, seed == 5 ? 300000 : 700 * seed, 60, seed);
		sonde_index *ix = open_model(&made);
		int64_t end = made.end_ns - made.start_ns;
		for (uint32_t lane = 0; lane < made.n_lanes; lane++)
			for (int i = 0; i < 300; i++) {
				size_t n = made.lanes[lane].n;
				int64_t t = image_between(&random, -100, end + 100);
				if (i % 2 && n) { /* exactly at a start or an end */
					const image_slice *s = &made.lanes[lane].slices[image_random(&random) % n];
					t = s->start + (i % 4 == 1 ? s->dur : 0);
				}
				assert_int_equal(lane_find_end(ix, lane, made.start_ns + t),
						 naive_find(&made.lanes[lane], t, true));
				assert_int_equal(lane_find_start(ix, lane, made.start_ns + t),
						 naive_find(&made.lanes[lane], t, false));
			}
		assert_int_equal(lane_find_start(ix, 0, INT64_MIN), 0);
		assert_int_equal(lane_find_end(ix, 0, INT64_MIN), 0);
		assert_int_equal(lane_find_start(ix, 0, INT64_MAX), made.lanes[0].n);
		assert_int_equal(lane_find_end(ix, 0, INT64_MAX), made.lanes[0].n);
		assert_int_equal(lane_find_end(ix, 99, 0), 0);
		index_free(ix);
		model_done(&made);
	}
}

static void children_are_those_that_name_the_parent(void **state)
{
	model made = model_make(2, 3, 3000, 2000, 5);
	sonde_index *ix = open_model(&made);
	uint64_t first = 0;

	(void)state;
	for (uint32_t lane = 0; lane < made.n_lanes; lane++) {
		const struct model_lane *l = &made.lanes[lane];
		bool has_below = lane % 3 != 2;
		size_t at = 0;
		assert_int_equal(index_lane_below(ix, lane), has_below ? lane + 1 : INDEX_NONE);
		for (size_t row = 0; row < l->n; row++) {
			uint64_t got_first, n = index_children(ix, first + row, &got_first), want = 0;
			if (has_below)
				for (size_t k = at; k < l[1].n && l[1].slices[k].up == row; k++)
					want++;
			assert_int_equal(n, want);
			if (n)
				assert_int_equal(got_first, first + l->n + at);
			at += want;
		}
		first += l->n;
	}
	index_free(ix);
	model_done(&made);
}

static void strings_are_found_both_ways(void **state)
{
	model made = model_make(1, 1, 10, 10, 1);
	sonde_index *ix = open_model(&made);
	size_t n, len;

	(void)state;
	assert_int_equal(index_n_strings(ix), MODEL_SITES);
	const index_site *sites = index_sites(ix, &n);
	assert_int_equal(n, MODEL_SITES);
	assert_string_equal(index_text(ix, sites[2].name), "Sitec");
	assert_string_equal(index_text(ix, INDEX_NONE), "");
	assert_string_equal(index_text(ix, MODEL_SITES), "?");
	assert_string_equal(index_textn(ix, sites[2].name, &len), "Sitec");
	assert_int_equal(len, 5);
	assert_int_equal(index_find_text(ix, "Sited", 5), sites[3].name);
	assert_int_equal(index_find_text(ix, "Site", 4), INDEX_NONE);
	index_free(ix);
	model_done(&made);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum { N_LAUNCHES = 1000 };

static uint8_t *image_with_tables(size_t *ret_len)
{
	static int64_t launches[N_LAUNCHES][LAUNCH_COLUMNS], instants[300][INSTANT_COLUMNS];
	static image_slice slices[3 * N_LAUNCHES];
	image_maker m = { 0 };

	image_site(&m, "a");
	image_track(&m, TRACK_STREAM);
	for (int i = 0; i < 3 * N_LAUNCHES; i++)
		slices[i] = (image_slice){ .start = 10 * i, .dur = 5, .args = -1 };
	image_lane(&m, 0, 0, slices, 3 * N_LAUNCHES);
	for (int i = 0; i < N_LAUNCHES; i++) {
		launches[i][LAUNCH_DEVICE] = 3 * i + 1;
		launches[i][LAUNCH_HOST] = i % 5 ? 3 * i + 1 : 0;
		launches[i][LAUNCH_CORRELATION] = 77 * i;
	}
	for (int i = 0; i < 300; i++)
		instants[i][INSTANT_TIME] = 7 * i;
	image_table(&m, SECTION_LAUNCHES, launches[0], LAUNCH_COLUMNS, N_LAUNCHES);
	image_table(&m, SECTION_INSTANTS, instants[0], INSTANT_COLUMNS, 300);
	return image_finish(&m, 0, 40 * N_LAUNCHES, ret_len);
}

static void tables_are_read_and_searched(void **state)
{
	static table_cursor c;
	int64_t row[COLUMNS_MAX], correlation;
	size_t len;
	uint8_t *image = image_with_tables(&len);
	sonde_index *ix;

	(void)state;
	assert_int_equal(index_open_memory(image, len, &ix, NULL), SONDE_OK);
	assert_int_equal(index_n_rows(ix, SECTION_LAUNCHES), N_LAUNCHES);
	table_first(&c, ix, SECTION_LAUNCHES, 3);
	for (int i = 3; i < N_LAUNCHES; i++) {
		assert_true(table_next(&c, row));
		assert_int_equal(row[LAUNCH_DEVICE], 3 * i + 1);
		assert_int_equal(row[LAUNCH_CORRELATION], 77 * i);
	}
	assert_false(table_next(&c, row));
	assert_false(c.damaged);
	table_first(&c, ix, SECTION_LANES, 0); /* no table of packed rows */
	assert_false(table_next(&c, row));
	table_first(&c, ix, SECTION_FLOWS, 0); /* an empty one */
	assert_false(table_next(&c, row));
	for (int64_t value = -2; value < 3 * N_LAUNCHES + 5; value++) {
		uint64_t want = value <= 1 ? 0 : (uint64_t)(value + 1) / 3;
		assert_int_equal(table_find(ix, SECTION_LAUNCHES, LAUNCH_DEVICE, value),
				 want < N_LAUNCHES ? want : N_LAUNCHES);
	}
	assert_int_equal(table_find(ix, SECTION_FLOWS, FLOW_SLICE, 5), 0);
	assert_int_equal(index_launch_of(ix, 3 * 7 + 1, &correlation), 3 * 7);
	assert_int_equal(correlation, 77 * 7);
	assert_int_equal(index_launch_of(ix, 3 * 10 + 1, &correlation), INDEX_NO_SLICE);
	assert_int_equal(correlation, 770);
	assert_int_equal(index_launch_of(ix, 3 * 7, &correlation), INDEX_NO_SLICE);
	assert_int_equal(index_launch_of(ix, UINT64_MAX, &correlation), INDEX_NO_SLICE);
	index_free(ix);
	free(image);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static index_section *section_of(uint8_t *image, index_kind kind)
{
	return (index_section *)(image + sizeof(index_header)) + kind;
}

static void *data_of(uint8_t *image, index_kind kind)
{
	return image + section_of(image, kind)->offset;
}

static void assert_refused(const uint8_t *image, size_t len, sonde_status status, const char *message)
{
	sonde_index *ix = NULL;
	sonde_error err = { 0 };

	assert_int_equal(index_open_memory(image, len, &ix, &err), status);
	assert_null(ix);
	if (!strstr(err.message, message))
		fail_msg("'%s' is not in '%s'", message, err.message);
}

static void a_header_says_what_is_wrong_with_it(void **state)
{
	model made = model_make(1, 1, 100, 10, 1);
	index_header *h = (index_header *)made.image;
	char cut_off[100];

	(void)state;
	snprintf(cut_off, sizeof cut_off, "the index is truncated: %zu of %zu bytes", made.len - 1, made.len);
	assert_refused(made.image, made.len - 1, SONDE_E_TRUNCATED, cut_off);
	assert_refused(made.image, 55, SONDE_E_TRUNCATED, "the index is truncated in its header: 55 of 56 bytes");
	h->version = INDEX_VERSION + 1;
	assert_refused(made.image, made.len, SONDE_E_VERSION, "written by a newer Sonde (index version 5)");
	h->version = 1;
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "the index's header is damaged");
	image_sums_right(made.image);
	assert_refused(made.image, made.len, SONDE_E_VERSION,
		       "written by an older Sonde (index version 1): import the trace again");
	h->version = INDEX_VERSION;
	image_sums_right(made.image);
	h->start_ns++;
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "the index's header is damaged");
	h->start_ns--;
	section_of(made.image, SECTION_LANES)->length++;
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "the index's directory is damaged");
	section_of(made.image, SECTION_LANES)->length--;
	h->magic++;
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "not an index");
	h->magic--;
	h->end_ns = INT64_MAX;
	h->start_ns = -5;
	image_sums_right(made.image);
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "the index's header is damaged");
	for (size_t len = 0; len < made.len; len++)
		assert_refused(made.image, len, SONDE_E_TRUNCATED, "truncated");
	model_done(&made);
}

static void a_section_that_does_not_fit_is_refused(void **state)
{
	model made = model_make(2, 2, 1000, 10, 1);

	(void)state;
	for (int kind = 0; kind < SECTION_KINDS; kind++) {
		index_section *s = section_of(made.image, (index_kind)kind), was = *s;
		s->offset = made.len - 8;
		s->length = 8 * 56;
		s->n_rows = 8;
		image_sums_right(made.image);
		assert_refused(made.image, made.len, SONDE_E_FORMAT, "of the index is damaged");
		*s = was;
		s->length = UINT64_MAX - 7;
		image_sums_right(made.image);
		assert_refused(made.image, made.len, SONDE_E_FORMAT, "of the index is damaged");
		*s = was;
		s->offset += 4;
		image_sums_right(made.image);
		assert_refused(made.image, made.len, SONDE_E_FORMAT, "of the index is damaged");
		*s = was;
		s->kind = kind ? 0 : 1;
		image_sums_right(made.image);
		assert_refused(made.image, made.len, SONDE_E_FORMAT, "");
		*s = was;
	}
	image_sums_right(made.image);
	section_of(made.image, SECTION_SLICES)->n_rows++;
	image_sums_right(made.image);
	assert_refused(made.image, made.len, SONDE_E_FORMAT, "slices, but there are");
	model_done(&made);
}

static void lanes_and_tracks_lead_to_what_is_there(void **state)
{
	model made = model_make(2, 2, 1000, 10, 1);
	index_lane *lanes = data_of(made.image, SECTION_LANES), lane = lanes[1];
	index_track *tracks = data_of(made.image, SECTION_TRACKS), track = tracks[1];
	const struct {
		void *at;
		size_t size;
		uint64_t value;
	} changes[] = {
		{ &lanes[1].track, 4, 0xffffffff },
		{ &lanes[1].track, 4, 1 },
		{ &lanes[1].depth, 2, 5 },
		{ &lanes[1].group, 2, 3 },
		{ &lanes[1].first_slice, 8, 3 },
		{ &lanes[1].n_slices, 8, UINT64_MAX },
		{ &lanes[1].n_slices, 8, 1 },
		{ &lanes[1].first_block, 8, UINT64_MAX },
		{ &lanes[1].first_block, 8, 100 },
		{ &lanes[1].first_coarse, 8, 1000 },
		{ &lanes[1].first_fine, 8, 1 },
		{ &tracks[1].process, 4, 1 },
		{ &tracks[1].first_lane, 4, 0 },
		{ &tracks[1].n_lanes, 4, 3 },
		{ &tracks[1].n_lanes, 4, UINT32_MAX },
		{ &tracks[1].kind, 4, TRACK_KINDS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		memcpy(changes[i].at, &changes[i].value, changes[i].size);
		assert_refused(made.image, made.len, SONDE_E_FORMAT, "");
		lanes[1] = lane;
		tracks[1] = track;
	}
	sonde_index *ix = open_model(&made);
	index_free(ix);
	model_done(&made);
}

static void marked_sites_are_found_wherever_they_are(void **state)
{
	static lane_cursor c;
	model made = model_make(1, 1, 3000, 1000, 3);
	sonde_index *ix = open_model(&made);
	static const uint64_t ranges[][2] = { { 0, 3000 },  { 1, 2999 },    { 255, 257 },
					      { 700, 701 }, { 1000, 9999 }, { 9, 9 } };

	(void)state;
	for (uint32_t step = 1; step <= MODEL_SITES; step++)
		for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
			uint8_t sites[MODEL_SITES] = { 0 };
			index_slice got, want;
			static lane_cursor all;

			for (uint32_t i = 0; i < MODEL_SITES; i += step)
				sites[i] = step < MODEL_SITES; /* at last: none */
			lane_first(&c, ix, 0, ranges[k][0]);
			lane_first(&all, ix, 0, ranges[k][0]);
			while (all.row < ranges[k][1] && lane_next(&all, &want)) {
				if (!sites[want.site])
					continue;
				assert_true(lane_next_marked(&c, sites, ranges[k][1], &got));
				assert_memory_equal(&got, &want, sizeof got);
			}
			assert_false(lane_next_marked(&c, sites, ranges[k][1], &got));
			assert_false(c.damaged);
		}
	index_free(ix);
	model_done(&made);
}

/* Damages the second block of a lane of 1000, which then are 744. */
static void assert_skips(model *made, void (*damage)(columns_head *head, int64_t *bases))
{
	static lane_cursor c;
	const uint64_t *offsets = data_of(made->image, SECTION_BLOCKS);
	uint8_t *block = (uint8_t *)data_of(made->image, SECTION_SLICES) + offsets[1];
	uint8_t *was = malloc(offsets[2] - offsets[1]);
	sonde_index *ix = open_unchecked(made);
	index_slice s;
	size_t n = 0;

	assert_non_null(was);
	memcpy(was, block, offsets[2] - offsets[1]);
	damage((columns_head *)block, (int64_t *)(block + sizeof(columns_head)));
	lane_first(&c, ix, 0, 0);
	while (lane_next(&c, &s)) {
		assert_true(s.site < MODEL_SITES);
		assert_true(s.id < 256 || s.id >= 512);
		n++;
	}
	assert_int_equal(n, 744);
	assert_true(c.damaged);
	assert_false(index_slice_at(ix, 511, &s));
	assert_true(index_slice_at(ix, 512, &s));
	assert_int_equal(index_verify(ix, NULL), SONDE_E_FORMAT);
	memcpy(block, was, offsets[2] - offsets[1]);
	assert_true(index_slice_at(ix, 511, &s));
	free(was);
	index_free(ix);
}

static void other_columns(columns_head *head, int64_t *bases)
{
	(void)bases;
	head->n_columns--;
}

static void fewer_rows(columns_head *head, int64_t *bases)
{
	(void)bases;
	head->n_rows--;
}

static void wider(columns_head *head, int64_t *bases)
{
	(void)bases;
	head->width[SLICE_DUR] = 60;
}

static void no_such_site(columns_head *head, int64_t *bases)
{
	head->width[SLICE_SITE] = 0;
	bases[SLICE_SITE] = MODEL_SITES;
}

static void negative_site(columns_head *head, int64_t *bases)
{
	head->width[SLICE_SITE] = 0;
	bases[SLICE_SITE] = -1;
}

static void behind_the_end(columns_head *head, int64_t *bases)
{
	(void)head;
	bases[SLICE_BEFORE_TIME] += 100000000;
}

static void negative_gap(columns_head *head, int64_t *bases)
{
	(void)head;
	bases[SLICE_GAP] = -1;
}

static void huge_durations(columns_head *head, int64_t *bases)
{
	(void)head;
	bases[SLICE_DUR] = INT64_MAX;
}

static void a_damaged_block_is_skipped(void **state)
{
	void (*const damages[])(columns_head *, int64_t *) = { other_columns, fewer_rows,    wider,
							       no_such_site,  negative_site, behind_the_end,
							       negative_gap,  huge_durations };
	model made = model_make(1, 1, 1000, 1000, 9);

	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++)
		assert_skips(&made, damages[i]);
	model_done(&made);
}

static void a_parent_that_is_not_there_is_not_handed_out(void **state)
{
	static lane_cursor c;
	model made = model_make(1, 2, 1000, 1000, 9);
	const index_lane *lanes = data_of(made.image, SECTION_LANES);
	const uint64_t *offsets = data_of(made.image, SECTION_BLOCKS);
	uint8_t *block = (uint8_t *)data_of(made.image, SECTION_SLICES) + offsets[lanes[1].first_block];
	int64_t *bases = (int64_t *)(block + sizeof(columns_head));
	sonde_index *ix = open_unchecked(&made);
	index_slice s;
	uint64_t first;

	(void)state;
	bases[SLICE_BEFORE_UP] = 1000;
	lane_first(&c, ix, 1, 0);
	while (lane_next(&c, &s))
		assert_true(s.parent < 1000 && s.id >= 1256);
	assert_true(c.damaged);
	assert_false(index_slice_at(ix, 1000, &s));
	bases[SLICE_BEFORE_UP] = -1;
	assert_false(index_slice_at(ix, 1000, &s));
	index_children(ix, 0, &first);
	index_free(ix);
	model_done(&made);
}

static void a_row_of_a_table_that_names_nothing_is_skipped(void **state)
{
	static table_cursor c;
	size_t len, n = 0;
	uint8_t *image = image_with_tables(&len);
	uint8_t *block = data_of(image, SECTION_INSTANTS);
	int64_t row[COLUMNS_MAX];
	sonde_index *ix;

	(void)state;
	((int64_t *)(block + sizeof(columns_head)))[INSTANT_TRACK] = 1;
	image_sums_right(image);
	assert_int_equal(index_open_memory(image, len, &ix, NULL), SONDE_OK);
	table_first(&c, ix, SECTION_INSTANTS, 0);
	while (table_next(&c, row))
		n++;
	assert_true(c.damaged);
	assert_int_equal(n, 300 - COLUMNS_ROWS);
	index_free(ix);
	free(image);
}

static void a_damaged_string_is_a_question_mark(void **state)
{
	model made = model_make(1, 1, 10, 10, 1);
	uint64_t *offsets = data_of(made.image, SECTION_STRINGS), was = offsets[1];
	char *text = data_of(made.image, SECTION_STRING_BYTES);
	sonde_index *ix = open_unchecked(&made);

	(void)state;
	offsets[1] = UINT64_MAX;
	assert_string_equal(index_text(ix, 0), "?");
	assert_string_equal(index_text(ix, 1), "?");
	offsets[1] = 0;
	assert_string_equal(index_text(ix, 0), "?");
	offsets[1] = was;
	text[was - 1] = 'x';
	assert_string_equal(index_text(ix, 0), "?");
	assert_string_equal(index_text(ix, 1), "Siteb");
	index_free(ix);
	model_done(&made);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int new_file(void)
{
	int fd = open(temp_path("index.sonde"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void assert_file(int fd, const model *made)
{
	sonde_index *ix = NULL;
	sonde_error err = { 0 };
	size_t len;

	assert_true(index_file_has(fd));
	if (index_open_file("x.sonde", fd, &ix, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(index_bytes(ix, &len), made->image, made->len);
	assert_int_equal(len, made->len);
	index_free(ix);
}

static void a_file_is_mapped_whole_or_behind_a_recording(void **state)
{
	model made = model_make(1, 2, 1000, 100, 3);
	sonde_index *ix = open_model(&made);
	int fd = new_file();

	(void)state;
	assert_false(index_file_has(fd));
	assert_int_equal(index_write(ix, fd, NULL), SONDE_OK);
	assert_file(fd, &made);

	assert_int_equal(ftruncate(fd, 4096 + 8), 0);
	assert_int_equal(lseek(fd, 4096 + 8, SEEK_SET), 4096 + 8);
	assert_int_equal(pwrite(fd, "RECORDED", 8, 0), 8);
	assert_int_equal(index_write(ix, fd, NULL), SONDE_OK);
	assert_false(index_file_has(fd));
	index_footer f = { .magic = INDEX_FOOTER, .offset = 4096 + 8, .length = made.len };
	f.crc = crc32c(0, &f, offsetof(index_footer, crc));
	assert_int_equal(write(fd, &f, sizeof f), sizeof f);
	assert_file(fd, &made);
	index_free(ix);
	close(fd);
	model_done(&made);
}

static void a_file_that_is_cut_off_says_so(void **state)
{
	model made = model_make(1, 2, 1000, 100, 3);
	sonde_index *ix = open_model(&made), *none = NULL;
	sonde_error err = { 0 };
	int fd = new_file();
	char message[100];

	(void)state;
	snprintf(message, sizeof message, "x.sonde: the index is truncated: 5000 of %zu bytes", made.len);
	assert_int_equal(index_write(ix, fd, NULL), SONDE_OK);
	assert_int_equal(ftruncate(fd, 5000), 0);
	assert_int_equal(index_open_file("x.sonde", fd, &none, &err), SONDE_E_TRUNCATED);
	assert_string_equal(err.message, message);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(index_open_file("x.sonde", fd, &none, &err), SONDE_E_FORMAT);
	assert_null(none);
	close(fd);
	assert_int_equal(index_open_file("x.sonde", fd, &none, &err), SONDE_E_IO);
	index_free(ix);
	model_done(&made);
}

static void a_full_disk_is_an_error(void **state)
{
	model made = model_make(1, 1, 5000, 100, 3);
	sonde_index *ix = open_model(&made);
	sonde_error err = { 0 };
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(index_write(ix, fd, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "No space left"));
	close(fd);
	index_free(ix);
	model_done(&made);
}

static void an_adopted_image_is_freed(void **state)
{
	model made = model_make(1, 1, 10, 10, 1);
	uint8_t *copy = malloc(made.len);
	sonde_index *ix;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, made.image, made.len);
	assert_int_equal(index_adopt(copy, made.len, &ix, NULL), SONDE_OK);
	index_free(ix);
	made.image[0] = 0;
	assert_int_equal(index_adopt(made.image, made.len, &ix, NULL), SONDE_E_FORMAT);
	made.image = NULL;
	model_done(&made);
	index_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_comes_back_in_order_and_alone),
		cmocka_unit_test(marked_sites_are_found_wherever_they_are),
		cmocka_unit_test(the_slice_at_a_time_is_found),
		cmocka_unit_test(children_are_those_that_name_the_parent),
		cmocka_unit_test(strings_are_found_both_ways),
		cmocka_unit_test(tables_are_read_and_searched),
		cmocka_unit_test(a_header_says_what_is_wrong_with_it),
		cmocka_unit_test(a_section_that_does_not_fit_is_refused),
		cmocka_unit_test(lanes_and_tracks_lead_to_what_is_there),
		cmocka_unit_test(a_damaged_block_is_skipped),
		cmocka_unit_test(a_parent_that_is_not_there_is_not_handed_out),
		cmocka_unit_test(a_row_of_a_table_that_names_nothing_is_skipped),
		cmocka_unit_test(a_damaged_string_is_a_question_mark),
		cmocka_unit_test(a_file_is_mapped_whole_or_behind_a_recording),
		cmocka_unit_test(a_file_that_is_cut_off_says_so),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(an_adopted_image_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
