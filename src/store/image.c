/*
 * The image: every section in its place, in one piece of memory.
 *
 * Lengths are known first; then each section is written where it lies, by several threads. Times of lanes become
 * relative to the start of the trace on the way. Blocks that other indexes use as well stay where they are.
 */
#include <stdlib.h>
#include "base/big.h"
#include "base/error.h"
#include "format/file.h"
#include "store/builder_state.h"
#include "store/threads.h"

typedef struct image {
	builder *b;
	uint8_t *bytes;
	index_section sections[SECTION_KINDS];
	size_t len;
	block_place *places; /* of blocks; NULL: all are in the image */
} image;

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

static void set(image *m, index_kind kind, uint64_t length, uint64_t n_rows)
{
	m->sections[kind].length = length;
	m->sections[kind].n_rows = n_rows;
}

static void measure_lanes(image *m)
{
	const builder *b = m->b;
	uint64_t n_coarse = 0, n_fine = 0, n_blocks = 0, n_bytes = 0;

	for (size_t i = 0; i < b->n_lanes; i++) {
		const build_lane *l = b->lane_order[i];
		uint64_t counts[INDEX_LEVELS];
		unsigned n_levels = summary_levels(l->n_slices, counts);
		for (unsigned k = 0; k < n_levels; k++)
			*(k + 1 < n_levels ? &n_fine : &n_coarse) += counts[k];
		n_blocks += l->n_blocks;
		for (uint32_t k = m->places ? l->n_shared : 0; k < l->n_blocks; k++)
			n_bytes += lane_block_at(l, k)->len;
	}
	set(m, SECTION_COARSE, n_coarse * sizeof(index_summary), n_coarse);
	set(m, SECTION_FINE, n_fine * sizeof(index_summary), n_fine);
	set(m, SECTION_LANES, b->n_lanes * sizeof(index_lane), b->n_lanes);
	set(m, SECTION_BLOCKS, (n_blocks + 1) * sizeof(uint64_t), n_blocks);
	set(m, SECTION_SLICES, n_bytes, b->n_slices);
}

static uint64_t text_bytes(const intern_table *t, size_t behind)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->entries[i].len + behind;
	return n;
}

static void measure_arg_texts(image *m)
{
	const args_writer *w = &m->b->args;
	const uint32_t *order = (const uint32_t *)w->text_order.bytes;
	size_t n = w->text_order.n / sizeof *order;
	uint64_t n_bytes = 0;

	for (size_t i = 0; i < n; i++)
		n_bytes += text_at(w->texts, order[i])->len;
	set(m, SECTION_ARG_TEXTS, (n + UINT64_C(1)) * sizeof(uint64_t), n);
	set(m, SECTION_ARG_TEXT_BYTES, n_bytes, 0);
}

static const index_kind table_sections[TABLE_KINDS] = {
	[TABLE_INSTANTS] = SECTION_INSTANTS,	   [TABLE_FLOWS] = SECTION_FLOWS,   [TABLE_LAUNCHES] = SECTION_LAUNCHES,
	[TABLE_ALLOCATIONS] = SECTION_ALLOCATIONS, [TABLE_VALUES] = SECTION_VALUES, [TABLE_SAMPLES] = SECTION_SAMPLES,
};

static void measure(image *m)
{
	const builder *b = m->b;
	size_t n_tracks, n_arg_blocks = b->args.blocks.n / sizeof(uint64_t);

	builder_tracks(b, &n_tracks);
	measure_lanes(m);
	set(m, SECTION_TRACKS, n_tracks * sizeof(index_track), n_tracks);
	set(m, SECTION_PROCESSES, b->processes.n * sizeof(index_process), b->processes.n);
	set(m, SECTION_SITES, b->sites.n * sizeof(index_site), b->sites.n);
	set(m, SECTION_STRINGS, (b->strings.n + UINT64_C(1)) * sizeof(uint64_t), b->strings.n);
	set(m, SECTION_STRING_BYTES, text_bytes(&b->strings, 1), 0);
	set(m, SECTION_META, b->metas.n * sizeof(index_meta), b->metas.n);
	set(m, SECTION_DIAGNOSTICS, b->diagnostics.n * sizeof(index_diagnostic), b->diagnostics.n);
	set(m, SECTION_STEPS, b->steps.n, b->steps.n / sizeof(index_step));
	for (size_t i = 0; i < TABLE_KINDS; i++) {
		const build_table *t = &b->tables[i];
		set(m, table_sections[i] - 1, t->offsets.n + sizeof(uint64_t), t->offsets.n / sizeof(uint64_t));
		set(m, table_sections[i], t->blocks.n, t->n_rows);
	}
	set(m, SECTION_COUNTERS, b->counters.n * sizeof(index_counter), b->counters.n);
	set(m, SECTION_TEMPLATES, text_bytes(&b->args.templates, 0), b->args.templates.n);
	measure_arg_texts(m);
	set(m, SECTION_ARG_BLOCKS, (n_arg_blocks + 1) * sizeof(uint64_t), n_arg_blocks);
	set(m, SECTION_ARGS, b->args.records.n, b->args.n_records);
}

static void place_sections(image *m)
{
	size_t at = sizeof(index_header) + sizeof m->sections;

	for (size_t i = 0; i < SECTION_KINDS; i++) {
		m->sections[i].kind = (uint32_t)i;
		m->sections[i].offset = at;
		at += (m->sections[i].length + 7) & ~UINT64_C(7);
	}
	m->len = at + INDEX_PAD;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static void *at(const image *m, index_kind kind)
{
	return m->bytes + m->sections[kind].offset;
}

/* Level 0 as the blocks have it, then each level from the one before. Returns behind the coarse ones. */
static index_summary *write_summaries(const build_lane *l, int64_t shift_ns, index_summary **fine,
				      index_summary *coarse)
{
	uint64_t counts[INDEX_LEVELS];
	unsigned n_levels = summary_levels(l->n_slices, counts);
	index_summary *below = NULL, *level = n_levels > 1 ? *fine : coarse, *to = level;

	if (l->original && l->n_shared) {
		memcpy(to, l->original->kept->summaries.bytes, l->original->kept->summaries.n);
		to += l->original->kept->summaries.n / sizeof *to;
	}
	for (uint32_t k = l->n_shared; k < l->n_blocks; k++) {
		const lane_block *block = lane_block_at(l, k);
		memcpy(to, block->summaries, block->n_summaries * sizeof *to);
		to += block->n_summaries;
	}
	for (index_summary *s = level; shift_ns && s < to; s++)
		s->start_ns += (uint64_t)shift_ns;
	for (unsigned k = 1; k < n_levels; k++) {
		*fine += counts[k - 1];
		below = level;
		level = k + 1 < n_levels ? *fine : coarse;
		for (uint64_t i = 0; i < counts[k]; i++) {
			uint64_t left = counts[k - 1] - i * INDEX_FAN;
			level[i] = summary_join(&below[i * INDEX_FAN], left < INDEX_FAN ? left : INDEX_FAN);
		}
	}
	return coarse + counts[n_levels - 1];
}

/* The block with its one absolute time made relative. */
static uint8_t *write_block(const lane_block *block, int64_t shift_ns, uint8_t *to)
{
	uint8_t *base = to + sizeof(columns_head) + SLICE_BEFORE_TIME * sizeof(int64_t);
	int64_t time_ns;

	memcpy(to, block->bytes, block->len);
	memcpy(&time_ns, base, sizeof time_ns);
	time_ns += shift_ns;
	memcpy(base, &time_ns, sizeof time_ns);
	return to + block->len;
}

/* The blocks of a lane, from number *n_blocks of all on. Those that stay where they are take no room here. */
static uint8_t *write_blocks(const image *m, const build_lane *l, int64_t shift_ns, uint8_t *to, uint64_t *n_blocks)
{
	const uint8_t *start = at(m, SECTION_SLICES);
	uint64_t *offsets = (uint64_t *)at(m, SECTION_BLOCKS) + *n_blocks;
	block_place *places = m->places ? m->places + *n_blocks : NULL;
	uint32_t n_elsewhere = places ? l->n_shared : 0;

	if (n_elsewhere)
		memcpy(places, l->original->kept->places.bytes, n_elsewhere * sizeof *places);
	for (uint32_t i = 0; i < l->n_blocks; i++) {
		offsets[i] = (uint64_t)(to - start);
		if (i < n_elsewhere)
			continue;
		if (places)
			places[i] = (block_place){ to, lane_block_at(l, i)->len };
		to = write_block(lane_block_at(l, i), shift_ns, to);
	}
	*n_blocks += l->n_blocks;
	return to;
}

static void write_lanes(const image *m)
{
	const builder *b = m->b;
	index_lane *lanes = at(m, SECTION_LANES);
	index_summary *coarse_start = at(m, SECTION_COARSE), *fine_start = at(m, SECTION_FINE);
	index_summary *coarse = coarse_start, *fine = fine_start;
	uint64_t *offsets = at(m, SECTION_BLOCKS), n_blocks = 0;
	uint8_t *slices_start = at(m, SECTION_SLICES), *slices = slices_start;
	size_t n_tracks;

	builder_tracks(b, &n_tracks);
	for (size_t k = 0; k < n_tracks; k++) {
		const build_track *t = b->track_order[k];
		int64_t shift_ns = (t->feed ? t->shift_ns : 0) + b->options.origin_ns - b->start_ns;
		for (size_t i = t->info.first_lane; i < (size_t)t->info.first_lane + t->info.n_lanes; i++) {
			const build_lane *l = b->lane_order[i];
			lanes[i] = (index_lane){
				.track = t->number,
				.group = (uint16_t)(l->group < UINT16_MAX ? l->group : UINT16_MAX),
				.depth = (uint16_t)l->depth,
				.first_slice = l->first_slice,
				.n_slices = l->n_slices,
				.first_block = n_blocks,
				.first_fine = (uint64_t)(fine - fine_start),
				.first_coarse = (uint64_t)(coarse - coarse_start),
			};
			coarse = write_summaries(l, shift_ns, &fine, coarse);
			slices = write_blocks(m, l, shift_ns, slices, &n_blocks);
		}
	}
	offsets[n_blocks] = (uint64_t)(slices - slices_start);
}

/* ---- The other sections ------------------------------------------------------------------------------------------ */

static void write_tracks(const image *m)
{
	const builder *b = m->b;
	index_track *tracks = at(m, SECTION_TRACKS);
	index_process *processes = at(m, SECTION_PROCESSES);
	index_counter *counters = at(m, SECTION_COUNTERS);
	const build_track *from = builder_tracks(b, NULL);
	size_t n_tracks;

	builder_tracks(b, &n_tracks);
	for (size_t i = 0; i < n_tracks; i++)
		tracks[i] = b->track_order[i]->info;
	for (size_t i = 0; i < b->processes.n; i++)
		processes[i] = b->process_order[i]->info;
	for (size_t i = 0; i < b->counters.n; i++) {
		counters[i] = b->counters.items[i].info;
		counters[i].track = from[counters[i].track].number;
	}
}

/* Items as they are. */
static void write_plain(const image *m, index_kind kind, const void *items)
{
	if (m->sections[kind].length)
		memcpy(at(m, kind), items, m->sections[kind].length);
}

/* Texts behind each other, each with a zero, and where they begin. */
static void write_strings(const image *m)
{
	const intern_table *t = &m->b->strings;
	uint64_t *offsets = at(m, SECTION_STRINGS), offset = 0;
	uint8_t *to = at(m, SECTION_STRING_BYTES);

	for (uint32_t i = 0; i < t->n; i++) {
		offsets[i] = offset;
		memcpy(to + offset, t->entries[i].text, t->entries[i].len);
		offset += t->entries[i].len;
		to[offset++] = 0;
	}
	offsets[t->n] = offset;
}

static void write_arg_texts(const image *m)
{
	const args_writer *w = &m->b->args;
	const uint32_t *order = (const uint32_t *)w->text_order.bytes;
	size_t n = w->text_order.n / sizeof *order;
	uint64_t *offsets = at(m, SECTION_ARG_TEXTS), offset = 0;
	uint8_t *to = at(m, SECTION_ARG_TEXT_BYTES);

	for (size_t i = 0; i < n; i++) {
		const pool_text *t = text_at(w->texts, order[i]);
		offsets[i] = offset;
		memcpy(to + offset, t->text, t->len);
		offset += t->len;
	}
	offsets[n] = offset;
}

static void write_templates(const image *m)
{
	const intern_table *t = &m->b->args.templates;
	uint8_t *to = at(m, SECTION_TEMPLATES);

	for (uint32_t i = 0; i < t->n; i++) {
		memcpy(to, t->entries[i].text, t->entries[i].len);
		to += t->entries[i].len;
	}
}

/* Moves the bytes to their place; their own memory goes back on the way. */
static void move_bulk(const image *m, index_kind kind, bulk *from)
{
	enum { PART = 8 << 20 };
	uint8_t *to = at(m, kind);
	size_t released = 0;

	for (size_t done = 0; done < from->n;) {
		size_t n = from->n - done < PART ? from->n - done : PART;
		memcpy(to + done, from->bytes + done, n);
		done += n;
		bulk_release(from, &released, done);
	}
	bulk_done(from);
}

/* Offsets of blocks, and the end of the last. */
static void write_offsets(const image *m, index_kind kind, bulk *offsets, uint64_t end)
{
	size_t n = offsets->n;

	move_bulk(m, kind, offsets);
	memcpy((uint8_t *)at(m, kind) + n, &end, sizeof end);
}

static void write_small(const image *m)
{
	const builder *b = m->b;

	write_tracks(m);
	write_plain(m, SECTION_SITES, b->sites.items);
	write_plain(m, SECTION_META, b->metas.items);
	write_plain(m, SECTION_DIAGNOSTICS, b->diagnostics.items);
	write_plain(m, SECTION_STEPS, b->steps.bytes);
	write_templates(m);
	write_strings(m);
	write_arg_texts(m);
}

static void write_tables(const image *m)
{
	builder *b = m->b;

	for (size_t i = 0; i < TABLE_KINDS; i++) {
		build_table *t = &b->tables[i];
		write_offsets(m, table_sections[i] - 1, &t->offsets, t->blocks.n);
		move_bulk(m, table_sections[i], &t->blocks);
	}
}

static void write_args(const image *m)
{
	args_writer *w = &m->b->args;

	write_offsets(m, SECTION_ARG_BLOCKS, &w->blocks, w->records.n);
	move_bulk(m, SECTION_ARGS, &w->records);
}

/* ---- The image --------------------------------------------------------------------------------------------------- */

static void write_job(void *context, size_t job)
{
	static void (*const jobs[])(const image *m) = { write_lanes, write_args, write_tables, write_small };

	jobs[job](context);
}
enum { WRITE_JOBS = 4 };

static void crc_job(void *context, size_t kind)
{
	image *m = context;

	m->sections[kind].crc = crc32c(0, at(m, (index_kind)kind), m->sections[kind].length);
}

static void seal(image *m)
{
	index_header header = {
		.magic = INDEX_MAGIC,
		.version = INDEX_VERSION,
		.n_sections = SECTION_KINDS,
		.length = m->len,
		.start_ns = m->b->start_ns,
		.end_ns = m->b->end_ns,
		.clock = m->b->clock,
	};

	header.directory_crc = crc32c(0, m->sections, sizeof m->sections);
	header.header_crc = crc32c(0, &header, offsetof(index_header, header_crc));
	memcpy(m->bytes, &header, sizeof header);
	memcpy(m->bytes + sizeof header, m->sections, sizeof m->sections);
}

/* Memory for the image; what lies between the sections is zero. */
static uint8_t *allocate(const image *m)
{
	uint8_t *bytes = big_alloc(m->len, 1);

	if (!bytes)
		return NULL;
	for (size_t i = 0; i < SECTION_KINDS; i++) {
		size_t end = m->sections[i].offset + m->sections[i].length;
		memset(bytes + end, 0, -end & 7);
	}
	memset(bytes + m->len - INDEX_PAD, 0, INDEX_PAD);
	return bytes;
}

/* Blocks that copies share stay where they are if the trace begins where their times count from. */
static bool add_places(image *m)
{
	const builder *b = m->b;
	size_t n = 0;

	if (!b->shared || b->start_ns != b->options.origin_ns)
		return true;
	for (size_t i = 0; i < b->n_lanes; i++)
		n += b->lane_order[i]->n_blocks;
	m->places = malloc((n + 1) * sizeof *m->places);
	return m->places;
}

sonde_status image_build(builder *b, uint8_t **ret_bytes, size_t *ret_len, block_place **ret_places, sonde_error *err)
{
	image m = { .b = b };
	unsigned n_threads = b->n_packers > 1 ? b->n_threads : 1;

	if (!add_places(&m))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	measure(&m);
	place_sections(&m);
	m.bytes = allocate(&m);
	if (!m.bytes) {
		free(m.places);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory: the index takes %zu bytes", m.len);
	}
	threads_run(n_threads, WRITE_JOBS, write_job, &m);
	threads_run(n_threads, SECTION_KINDS, crc_job, &m);
	seal(&m);
	*ret_bytes = m.bytes;
	*ret_len = m.len;
	*ret_places = m.places;
	return SONDE_OK;
}
