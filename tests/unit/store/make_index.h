/*
 * Makes index images by hand, section by section, without the builder: so that the reader is tested against the format
 * and not against what happens to write it, and so that images can be wrong.
 *
 *   image_maker m = { 0 };
 *   image_track(&m, TRACK_THREAD);
 *   image_lane(&m, depth, slices, n);          lanes of the last track, outermost first
 *   image_rows(), image_table(), image_bytes()   everything else
 *   bytes = image_finish(&m, start, end, &len); malloc; frees the sections
 */
#ifndef TESTS_UNIT_STORE_MAKE_INDEX_H
#define TESTS_UNIT_STORE_MAKE_INDEX_H

#include <stdlib.h>
#include <string.h>
#include "format/recording/file.h"
#include "store/index/index.h"
#include "unit/store/seal_index.h"

typedef struct image_slice {
	int64_t start, dur; /* from the trace's start */
	uint32_t site;
	uint64_t up;  /* row in the lane above */
	int64_t args; /* record, -1: none */
	uint32_t flags;
} image_slice;

typedef struct image_section {
	uint8_t *bytes;
	size_t len;
	uint64_t n_rows;
} image_section;

typedef struct image_maker {
	image_section sections[SECTION_KINDS];
	uint64_t n_slices;
} image_maker;

static inline uint8_t *image_bytes(image_maker *m, index_kind kind, const void *bytes, size_t len)
{
	image_section *s = &m->sections[kind];

	s->bytes = realloc(s->bytes, s->len + len + 1);
	if (!s->bytes)
		abort();
	if (len)
		memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
	return s->bytes + s->len - len;
}

static inline void image_rows(image_maker *m, index_kind kind, const void *rows, size_t n, size_t size)
{
	image_bytes(m, kind, rows, n * size);
	m->sections[kind].n_rows += n;
}

/* The start of one more thing in the section behind. */
static inline void image_offset(image_maker *m, index_kind offsets, index_kind things)
{
	uint64_t offset = m->sections[things].len;

	image_rows(m, offsets, &offset, 1, sizeof offset);
}

static inline void image_string(image_maker *m, const char *text)
{
	image_offset(m, SECTION_STRINGS, SECTION_STRING_BYTES);
	image_bytes(m, SECTION_STRING_BYTES, text, strlen(text) + 1);
}

static inline void image_site(image_maker *m, const char *name)
{
	index_site site = { .name = (uint32_t)m->sections[SECTION_STRINGS].n_rows, .category = INDEX_NONE };

	image_string(m, name);
	image_rows(m, SECTION_SITES, &site, 1, sizeof site);
}

/* Values lie as columns_pack wants them. */
static inline void image_block(image_maker *m, index_kind kind, const int64_t *values, size_t n_columns, size_t n)
{
	static uint8_t block[COLUMNS_BYTES(COLUMNS_MAX)];

	image_offset(m, kind - 1, kind);
	image_bytes(m, kind, block, columns_pack(block, values, n_columns, n));
	m->sections[kind].n_rows += n;
}

/* rows[n][n_columns] */
static inline void image_table(image_maker *m, index_kind kind, const int64_t *rows, size_t n_columns, size_t n)
{
	static int64_t values[COLUMNS_MAX * COLUMNS_ROWS];

	for (size_t first = 0; first < n; first += COLUMNS_ROWS) {
		size_t n_here = n - first < COLUMNS_ROWS ? n - first : COLUMNS_ROWS;
		for (size_t i = 0; i < n_here; i++)
			for (size_t c = 0; c < n_columns; c++)
				values[c * COLUMNS_ROWS + i] = rows[(first + i) * n_columns + c];
		image_block(m, kind, values, n_columns, n_here);
	}
}

static inline void image_track(image_maker *m, track_kind kind)
{
	index_process process = { .pid = 7, .pid_text = INDEX_NONE, .name = INDEX_NONE, .labels = INDEX_NONE };
	index_track track = { .kind = kind,
			      .id = 100 + (int64_t)m->sections[SECTION_TRACKS].n_rows,
			      .id_text = INDEX_NONE,
			      .name = INDEX_NONE,
			      .device = -1,
			      .first_lane = (uint32_t)m->sections[SECTION_LANES].n_rows,
			      .category = INDEX_NONE };

	if (!m->sections[SECTION_PROCESSES].n_rows)
		image_rows(m, SECTION_PROCESSES, &process, 1, sizeof process);
	image_rows(m, SECTION_TRACKS, &track, 1, sizeof track);
}

static inline void image_slice_block(image_maker *m, const image_slice *s, size_t n, bool is_first)
{
	static int64_t values[SLICE_COLUMNS * COLUMNS_ROWS];
	int64_t end = is_first ? s[0].start : s[-1].start + s[-1].dur, args = 0;
	uint64_t up = is_first ? s[0].up : s[-1].up;

	for (size_t i = 0; i < n; i++) {
		args = s[i].args >= 0 ? s[i].args : args;
		values[SLICE_GAP * COLUMNS_ROWS + i] = s[i].start - (i ? s[i - 1].start + s[i - 1].dur : end);
		values[SLICE_DUR * COLUMNS_ROWS + i] = s[i].dur;
		values[SLICE_SITE * COLUMNS_ROWS + i] = s[i].site;
		values[SLICE_UP * COLUMNS_ROWS + i] = (int64_t)(s[i].up - (i ? s[i - 1].up : up));
		values[SLICE_ARGS * COLUMNS_ROWS + i] = args;
		values[SLICE_FLAGS * COLUMNS_ROWS + i] = s[i].flags | (s[i].args >= 0 ? SLICE_HAS_ARGS : 0);
		values[SLICE_BEFORE_TIME * COLUMNS_ROWS + i] = end;
		values[SLICE_BEFORE_UP * COLUMNS_ROWS + i] = (int64_t)up;
	}
	image_block(m, SECTION_SLICES, values, SLICE_COLUMNS, n);
}

/* The same with zeros behind its first eleven binary digits, or the next such number. */
static inline uint64_t image_rounded(uint64_t ns)
{
	uint64_t unit = 1;

	while (ns / unit >= 2048)
		unit *= 2;
	return (ns + unit - 1) / unit * unit;
}

/* What a summary tells of slices, before it is put into 24 bytes. */
typedef struct image_sum {
	int64_t start, span;
	uint32_t site;
	double busy;
	uint64_t longest; /* rounded */
} image_sum;

/* Of the slices [0, n), which begin with a group. */
static inline image_sum image_sum_of(const image_slice *s, size_t n)
{
	image_sum sum = { .start = s[0].start, .span = s[n - 1].start + s[n - 1].dur - s[0].start };
	const image_slice *longest = s; /* of the group */
	int64_t busy = 0;

	for (size_t i = 0; i < n; i++) {
		busy += s[i].dur;
		longest = i % INDEX_GROUP == 0 || s[i].dur > longest->dur ? &s[i] : longest;
		bool ends_group = i + 1 == n || (i + 1) % INDEX_GROUP == 0;
		if (ends_group && (i < INDEX_GROUP || image_rounded((uint64_t)longest->dur) > sum.longest)) {
			sum.site = longest->site;
			sum.longest = image_rounded((uint64_t)longest->dur);
		}
	}
	sum.busy = sum.span ? (double)busy / (double)sum.span : 1;
	return sum;
}

static inline index_summary image_summary(const image_sum *sum)
{
	uint64_t digits = sum->longest, places = 0;

	for (; digits >= 2048; places++)
		digits /= 2;
	return (index_summary){ .start_ns = (uint64_t)sum->start,
				.span_ns = (uint64_t)sum->span,
				.site = sum->site,
				.busy = (uint16_t)(sum->busy * 65535 + 0.5),
				.longest = (uint16_t)(places * 1024 + digits) };
}

static inline void image_summaries(image_maker *m, const image_slice *s, size_t n)
{
	size_t per = INDEX_GROUP;

	for (size_t count; n; per *= INDEX_FAN) {
		count = (n + per - 1) / per;
		index_kind kind = count > INDEX_COARSE ? SECTION_FINE : SECTION_COARSE;
		for (size_t i = 0; i < count; i++) {
			image_sum sum = image_sum_of(s + i * per, n - i * per < per ? n - i * per : per);
			index_summary row = image_summary(&sum);
			image_rows(m, kind, &row, 1, sizeof row);
		}
		if (kind == SECTION_COARSE)
			return;
	}
}

/* A further lane of the last track. */
static inline void image_lane(image_maker *m, unsigned group, unsigned depth, const image_slice *s, size_t n)
{
	index_track *track = (index_track *)m->sections[SECTION_TRACKS].bytes + m->sections[SECTION_TRACKS].n_rows - 1;
	index_lane lane = { .track = (uint32_t)(m->sections[SECTION_TRACKS].n_rows - 1),
			    .group = (uint16_t)group,
			    .depth = (uint16_t)depth,
			    .first_slice = m->sections[SECTION_SLICES].n_rows,
			    .n_slices = n,
			    .first_block = m->sections[SECTION_BLOCKS].n_rows,
			    .first_fine = m->sections[SECTION_FINE].n_rows,
			    .first_coarse = m->sections[SECTION_COARSE].n_rows };

	for (size_t i = 0; i < n; i += COLUMNS_ROWS)
		image_slice_block(m, s + i, n - i < COLUMNS_ROWS ? n - i : COLUMNS_ROWS, i == 0);
	image_summaries(m, s, n);
	image_rows(m, SECTION_LANES, &lane, 1, sizeof lane);
	track->n_lanes++;
	track->n_slices += n;
}

/* The checksums, after a test has changed something. */
static inline void image_sums_right(uint8_t *image)
{
	seal_index(image, (size_t)((const index_header *)image)->length);
}

static inline bool image_has_offsets(int kind)
{
	return kind == SECTION_STRINGS || kind == SECTION_BLOCKS || kind == SECTION_ARG_TEXTS ||
	       kind == SECTION_ARG_BLOCKS || kind == SECTION_INSTANT_BLOCKS || kind == SECTION_FLOW_BLOCKS ||
	       kind == SECTION_LAUNCH_BLOCKS || kind == SECTION_ALLOCATION_BLOCKS || kind == SECTION_VALUE_BLOCKS ||
	       kind == SECTION_SAMPLE_BLOCKS;
}

/* Room for them. */
static inline void image_page_crcs(image_maker *m)
{
	uint32_t none = 0;

	for (int kind = 0; kind < SECTION_PAGE_CRCS; kind++)
		for (size_t at = 0; at < m->sections[kind].len; at += INDEX_PAGE)
			image_rows(m, SECTION_PAGE_CRCS, &none, 1, sizeof none);
}

static inline uint8_t *image_finish(image_maker *m, int64_t start, int64_t end, size_t *ret_len)
{
	index_section directory[SECTION_KINDS] = { 0 };
	size_t at = sizeof(index_header) + sizeof directory;

	for (int kind = 0; kind < SECTION_KINDS; kind++) {
		image_section *s = &m->sections[kind];
		if (image_has_offsets(kind) && s->n_rows) { /* the end of the last */
			uint64_t last = m->sections[kind + 1].len;
			image_bytes(m, (index_kind)kind, &last, sizeof last);
		}
		if (kind == SECTION_PAGE_CRCS)
			image_page_crcs(m);
		directory[kind] =
			(index_section){ .kind = (uint32_t)kind, .offset = at, .length = s->len, .n_rows = s->n_rows };
		at += (s->len + 7) / 8 * 8;
	}
	index_header h = { .magic = INDEX_MAGIC,
			   .version = INDEX_VERSION,
			   .n_sections = SECTION_KINDS,
			   .length = at + INDEX_PAD,
			   .start_ns = start,
			   .end_ns = end };
	uint8_t *image = calloc(1, h.length);
	if (!image)
		abort();
	memcpy(image, &h, sizeof h);
	memcpy(image + sizeof h, directory, sizeof directory);
	for (int kind = 0; kind < SECTION_KINDS; kind++) {
		if (m->sections[kind].len)
			memcpy(image + directory[kind].offset, m->sections[kind].bytes, m->sections[kind].len);
		free(m->sections[kind].bytes);
	}
	*m = (image_maker){ 0 };
	image_sums_right(image);
	*ret_len = h.length;
	return image;
}

/* ---- Random numbers, the same in every run ----------------------------------------------------------------------- */

static inline uint64_t image_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33 ^ *state >> 17;
}

static inline int64_t image_between(uint64_t *state, int64_t low, int64_t high) /* both included */
{
	return low + (int64_t)(image_random(state) % (uint64_t)(high - low + 1));
}

/* ---- Random lanes ------------------------------------------------------------------------------------------------ */

enum { MODEL_LANES = 16, MODEL_SITES = 11 };

/* What an image was made of, to compare with. */
typedef struct model {
	struct model_lane {
		uint32_t track;
		unsigned depth;
		image_slice *slices;
		size_t n;
	} lanes[MODEL_LANES];
	size_t n_lanes;
	int64_t start_ns, end_ns; /* absolute */
	uint8_t *image;
	size_t len;
} model;

static inline image_slice model_slice(uint64_t *seed, int64_t start, int64_t dur, uint64_t up)
{
	return (image_slice){ .start = start,
			      .dur = dur,
			      .site = (uint32_t)image_between(seed, 0, MODEL_SITES - 1),
			      .up = up,
			      .args = -1,
			      .flags = (uint32_t)image_between(seed, 0, 7) };
}

/* Bursts and pauses; slices that touch, slices of no length. */
static inline void model_outermost(struct model_lane *lane, size_t n, uint64_t *seed, int64_t longest)
{
	int64_t t = image_between(seed, 0, longest);

	lane->slices = malloc((n + 1) * sizeof *lane->slices);
	if (!lane->slices)
		abort();
	for (lane->n = 0; lane->n < n; lane->n++) {
		int64_t kind = image_between(seed, 0, 99), dur = image_between(seed, 0, longest);
		t += kind < 50 ? 0 : kind < 98 ? image_between(seed, 0, longest / 4) : 40 * dur;
		dur = kind % 10 == 0 ? 0 : kind % 10 == 1 ? 8 * dur : dur;
		lane->slices[lane->n] = model_slice(seed, t, dur, 0);
		t += dur;
	}
}

static inline void model_inner(struct model_lane *lane, const struct model_lane *above, uint64_t *seed)
{
	size_t capacity = 4 * above->n + 1;

	lane->slices = malloc(capacity * sizeof *lane->slices);
	if (!lane->slices)
		abort();
	for (size_t i = 0; i < above->n; i++) {
		int64_t t = above->slices[i].start, end = t + above->slices[i].dur;
		for (int64_t left = image_between(seed, 0, 4); left && end > t; left--) {
			int64_t gap = image_between(seed, 0, (end - t) / 4),
				dur = image_between(seed, 0, (end - t - gap) / 2);
			lane->slices[lane->n++] = model_slice(seed, t + gap, dur, i);
			t += gap + dur;
		}
	}
}

static inline void model_add(index_site *sites, const struct model_lane *lane)
{
	for (size_t i = 0; i < lane->n; i++) {
		const image_slice *s = &lane->slices[i];
		index_site *site = &sites[s->site];
		site->min_ns = site->n_slices && site->min_ns < s->dur ? site->min_ns : s->dur;
		site->max_ns = site->max_ns > s->dur ? site->max_ns : s->dur;
		site->n_slices++;
		site->total_ns += s->dur;
		site->self_ns += s->dur;
		if (lane->depth)
			sites[lane[-1].slices[s->up].site].self_ns -= s->dur;
	}
}

/* n_tracks of n_depths; the outermost lanes have n slices. */
static inline model model_make(size_t n_tracks, unsigned n_depths, size_t n, int64_t longest, uint64_t seed)
{
	model made = { .start_ns = 1000000007 };
	image_maker m = { 0 };
	int64_t end = 0;

	for (unsigned i = 0; i < MODEL_SITES; i++) {
		char name[] = { 'S', 'i', 't', 'e', (char)('a' + i), 0 };
		image_site(&m, name);
	}
	for (uint32_t track = 0; track < n_tracks; track++) {
		image_track(&m, TRACK_THREAD);
		for (unsigned depth = 0; depth < n_depths; depth++) {
			struct model_lane *lane = &made.lanes[made.n_lanes++];
			*lane = (struct model_lane){ .track = track, .depth = depth };
			if (depth)
				model_inner(lane, lane - 1, &seed);
			else
				model_outermost(lane, n, &seed, longest);
			for (size_t i = 0; i < lane->n; i++)
				end = lane->slices[i].start + lane->slices[i].dur > end
					      ? lane->slices[i].start + lane->slices[i].dur
					      : end;
			image_lane(&m, 0, depth, lane->slices, lane->n);
			model_add((index_site *)m.sections[SECTION_SITES].bytes, lane);
		}
	}
	made.end_ns = made.start_ns + end;
	made.image = image_finish(&m, made.start_ns, made.end_ns, &made.len);
	return made;
}

static inline void model_done(model *made)
{
	for (size_t i = 0; i < made->n_lanes; i++)
		free(made->lanes[i].slices);
	free(made->image);
}

#endif
