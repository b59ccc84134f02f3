/*
 * An index from a stranger: opened, and if it opens, everything that can be asked of it.
 *
 * Texts are limited: a short record may name a long text a hundred times.
 */
#include "index_bytes.h"
#include "store/index/index.h"

enum { N_PIXELS = 100, MAX_TEXT = 1 << 20, MAX_ASKED = 3000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

/* ---- Everything that can be asked -------------------------------------------------------------------------------- */

static void read_text(const char *text, size_t len)
{
	expect(strnlen(text, len) <= len && text[len] == 0);
}

static void read_strings(const sonde_index *ix)
{
	size_t n_strings = index_n_strings(ix), len, n;
	const index_track *tracks = index_tracks(ix, &n);

	for (size_t i = 0; i < n_strings && i < MAX_ASKED; i++) {
		const char *text = index_textn(ix, (uint32_t)i, &len);
		read_text(text, len);
	}
	for (size_t i = 0; i < n; i++)
		read_text(index_textn(ix, tracks[i].name, &len), strlen(index_text(ix, tracks[i].name)));
	index_find_text(ix, "name", 4);
}

static void count_member(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	size_t *n = context;

	*n += key_len + len + (key_len ? (unsigned char)key[0] : 0) + (len ? (unsigned char)json[0] : 0);
}

static void read_args(args_reader *r, uint32_t args, size_t *left)
{
	args_text text;
	const char *json;
	size_t len, n = 0;

	if (*left && args_read(r, args, &text)) {
		n = text.args_len + text.extra_len;
		expect(!text.args || text.args[text.args_len] == 0 || text.extra == text.args + text.args_len);
		args_each(r, args, count_member, &n);
		args_get(r, args, "External id", &json, &len);
	}
	*left -= n < *left ? n : *left;
}

static void check_slice(const sonde_index *ix, const index_slice *s)
{
	size_t n_sites, n_lanes;

	index_sites(ix, &n_sites);
	const index_lane *lane = &index_lanes(ix, &n_lanes)[s->lane];
	expect(s->lane < n_lanes && s->site < n_sites && s->id - lane->first_slice < lane->n_slices);
	expect(s->start_ns >= index_start_ns(ix) && s->dur_ns >= 0 && s->dur_ns <= index_end_ns(ix) - s->start_ns);
	expect(lane->depth ? s->parent - lane[-1].first_slice < lane[-1].n_slices : s->parent == INDEX_NO_SLICE);
}

static void read_lane(const sonde_index *ix, uint32_t lane, args_reader *r, size_t *left)
{
	static lane_cursor c;
	index_slice s, alone;
	uint64_t first, n_asked = 0;
	int64_t correlation;

	lane_first(&c, ix, lane, 0);
	while (lane_next(&c, &s)) {
		check_slice(ix, &s);
		if (n_asked++ > MAX_ASKED)
			continue;
		expect(index_slice_at(ix, s.id, &alone) && alone.start_ns == s.start_ns && alone.site == s.site);
		expect(alone.parent == s.parent && alone.args == s.args && index_lane_of(ix, s.id) == lane);
		uint64_t n = index_children(ix, s.id, &first);
		expect(first <= index_n_slices(ix) && n <= index_n_slices(ix) - first);
		index_launch_of(ix, s.id, &correlation);
		read_args(r, s.args, left);
	}
}

static void check_rects(const sonde_index *ix, const range_rect *rects, size_t n)
{
	uint32_t next = 0;
	size_t n_sites;

	index_sites(ix, &n_sites);
	expect(n <= N_PIXELS);
	for (size_t i = 0; i < n; i++) {
		expect(rects[i].x >= next && rects[i].width && rects[i].width <= N_PIXELS - rects[i].x);
		expect(rects[i].site < n_sites && rects[i].slice < index_n_slices(ix));
		expect(rects[i].busy >= 0 && rects[i].busy <= 1);
		next = rects[i].x + rects[i].width;
	}
}

static void draw_lane(const sonde_index *ix, uint32_t lane)
{
	static range_rect rects[N_PIXELS];
	int64_t start = index_start_ns(ix), end = index_end_ns(ix);

	for (int64_t width = end - start; width > 0; width /= 7) {
		int64_t from = start + (end - start - width) / 2, to = from + width;
		check_rects(ix, rects, index_range(ix, lane, from, to, N_PIXELS, rects));
		for (int rough = 0; rough < 2; rough++) {
			range_filter filter = { .min_ns = width / 100, .is_rough = rough };
			check_rects(ix, rects, index_range_filtered(ix, lane, from, to, N_PIXELS, &filter, rects));
		}
		uint64_t by_start = lane_find_start(ix, lane, from), by_end = lane_find_end(ix, lane, to);
		expect(by_start <= index_n_slices(ix) && by_end <= index_n_slices(ix));
	}
}

static void draw_instants(const sonde_index *ix)
{
	size_t n_tracks, n_sites, n = 0;
	bool is_exact;

	index_tracks(ix, &n_tracks);
	index_sites(ix, &n_sites);
	uint8_t *tracks = malloc(n_tracks + 1);
	uint64_t *counts = calloc(n_tracks + 1, sizeof *counts);
	expect(tracks && counts);
	memset(tracks, 1, n_tracks + 1);
	instants_wanted wanted = {
		.from_ns = index_start_ns(ix), .to_ns = index_end_ns(ix), .n_pixels = N_PIXELS, .tracks = tracks
	};
	range_instant *found = NULL;
	expect(index_instants(ix, &wanted, &found, &n, &is_exact));
	for (size_t i = 0; i < n; i++) {
		expect(found[i].track < n_tracks && found[i].site < n_sites && found[i].x < N_PIXELS);
		expect(found[i].row < index_n_rows(ix, SECTION_INSTANTS));
		if (i < 10)
			index_instant_beside(ix, found[i].row, i % 2);
	}
	index_count_instants(ix, counts);
	free(found);
	free(counts);
	free(tracks);
}

static void add_up(const sonde_index *ix)
{
	int64_t start = index_start_ns(ix), span = index_end_ns(ix) - start;
	aggregate_options options = { .from_ns = start + span / 3, .to_ns = start + span / 2 };
	size_t n_sites;

	index_sites(ix, &n_sites);
	site_sum *sums = calloc(n_sites + 1, sizeof *sums);
	uint32_t *found = calloc(n_sites + 1, sizeof *found);
	uint8_t *marked = calloc(n_sites + 1, 1);
	expect(sums && found && marked);
	index_aggregate(ix, &options, sums, NULL);
	size_t n = index_search_sites(ix, "a", found);
	for (size_t i = 0; i < n; i++)
		marked[found[i]] = 1;
	index_search_next(ix, marked, start + span / 2, false);
	index_search_next(ix, marked, start + span / 2, true);
	free(sums);
	free(found);
	free(marked);
}

static void read_tables(const sonde_index *ix, args_reader *r, size_t *left)
{
	static const struct {
		index_kind kind;
		int track, site, args;
	} tables[] = {
		{ SECTION_INSTANTS, INSTANT_TRACK, INSTANT_SITE, INSTANT_ARGS },
		{ SECTION_FLOWS, FLOW_TRACK, FLOW_SITE, FLOW_ARGS },
		{ SECTION_LAUNCHES, -1, -1, -1 },
		{ SECTION_ALLOCATIONS, ALLOCATION_TRACK, ALLOCATION_SITE, ALLOCATION_ARGS },
		{ SECTION_VALUES, -1, -1, -1 },
		{ SECTION_SAMPLES, SAMPLE_TRACK, SAMPLE_SITE, SAMPLE_ARGS },
		{ SECTION_COLLECTIVES, -1, -1, -1 },
	};
	static table_cursor c;
	int64_t row[COLUMNS_MAX];
	size_t n_tracks, n_sites;

	index_tracks(ix, &n_tracks);
	index_sites(ix, &n_sites);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		table_first(&c, ix, tables[i].kind, 0);
		while (table_next(&c, row)) {
			expect(tables[i].track < 0 || (uint64_t)row[tables[i].track] < n_tracks);
			expect(tables[i].site < 0 || (uint64_t)row[tables[i].site] < n_sites);
			if (tables[i].args >= 0)
				read_args(r, (uint32_t)row[tables[i].args], left);
		}
		for (int64_t value = 1; value < INT64_MAX / 4; value *= 4)
			expect(table_find(ix, tables[i].kind, 0, value) <= index_n_rows(ix, tables[i].kind));
	}
}

static void read_facts(const sonde_index *ix)
{
	fact_reader *collectives = fact_reader_new(ix, SECTION_COLLECTIVES);
	args_column grid = { .role = ROLE_GRID };
	int64_t sequence;

	expect(collectives && args_columns_read(ix, &grid, 1));
	for (uint32_t args = 0; args < MAX_ASKED; args++) {
		const index_message *m = fact_message(collectives, args * 7 % MAX_ASKED, &sequence);
		if (m)
			expect(index_text(ix, m->name) && index_text(ix, m->out_split));
		if (args <= index_n_rows(ix, SECTION_ARGS))
			args_column_f64(ix, &grid, args, 0);
	}
	args_columns_done(&grid, 1);
	fact_reader_free(collectives);
}

static void read_small_tables(const sonde_index *ix)
{
	size_t n, n_tracks, n_processes;
	const index_track *tracks = index_tracks(ix, &n_tracks);

	index_processes(ix, &n_processes);
	for (size_t i = 0; i < n_tracks; i++)
		expect(tracks[i].process < n_processes && tracks[i].kind < TRACK_KINDS);
	const index_step *steps = index_steps(ix, &n);
	for (size_t i = 0; i < n; i++)
		expect(steps[i].track < n_tracks && steps[i].dur_ns >= 0);
	const index_counter *counters = index_counters(ix, &n);
	for (size_t i = 0; i < n; i++)
		expect(counters[i].track < n_tracks && counters[i].n_values <= index_n_rows(ix, SECTION_VALUES));
	const index_meta *metas = index_metas(ix, &n);
	for (size_t i = 0; i < n; i++)
		index_text(ix, metas[i].key);
	const index_device *devices = index_devices(ix, &n);
	for (size_t i = 0; i < n; i++)
		index_text(ix, devices[i].name);
	const index_diagnostic *diagnostics = index_diagnostics(ix, &n);
	for (size_t i = 0; i < n; i++)
		index_text(ix, diagnostics[i].text);
}

static void ask(const uint8_t *bytes, size_t size)
{
	sonde_index *ix;
	sonde_error err;
	size_t n_lanes, left = MAX_TEXT;

	if (index_open_memory(bytes, size, &ix, &err))
		return;
	args_reader *r = args_reader_new(ix);
	expect(r != NULL);
	index_verify(ix, NULL);
	read_strings(ix);
	read_small_tables(ix);
	index_lanes(ix, &n_lanes);
	for (uint32_t i = 0; i < n_lanes; i++) {
		read_lane(ix, i, r, &left);
		draw_lane(ix, i);
	}
	add_up(ix);
	draw_instants(ix);
	read_tables(ix, r, &left);
	read_facts(ix);
	args_reader_free(r);
	index_free(ix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_index_bytes(data, size, ask);
	return 0;
}
