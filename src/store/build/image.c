/*
 * The image: every section in its place, in memory or in a file.
 *
 * Lengths are known first; then each section is written from its first byte to its last (section_out.h), by several
 * threads. Times of lanes become relative to the start of the trace on the way. Blocks that other indexes use as well
 * stay where they are; blocks that were spilled are read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/error.h"
#include "base/temp_file.h"
#include "store/build/builder_state.h"
#include "store/build/section_out.h"
#include "base/threads.h"

typedef struct image {
	builder *b;
	sections_out out;
	block_place *places; /* of blocks; NULL: all are in the image */
	bool failed;	     /* what was spilled cannot be read; only write_lanes() and write_args() set it, below */
	bool args_failed;
} image;

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

static void set(image *m, index_kind kind, uint64_t length, uint64_t n_rows)
{
	m->out.sections[kind].length = length;
	m->out.sections[kind].n_rows = n_rows;
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
		n_bytes += l->spilled_bytes;
		for (uint32_t k = 0; l->original && !m->places && k < l->n_before; k++)
			n_bytes += l->original->blocks[k]->len;
		for (uint32_t k = 0; k < l->n_blocks - l->n_before; k++)
			n_bytes += l->blocks[k]->len;
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
	[TABLE_INSTANTS] = SECTION_INSTANTS,
	[TABLE_FLOWS] = SECTION_FLOWS,
	[TABLE_LAUNCHES] = SECTION_LAUNCHES,
	[TABLE_ALLOCATIONS] = SECTION_ALLOCATIONS,
	[TABLE_VALUES] = SECTION_VALUES,
	[TABLE_SAMPLES] = SECTION_SAMPLES,
	[TABLE_FACTS + FACT_COLLECTIVE] = SECTION_COLLECTIVES,
};

static uint64_t n_roles(const builder *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ROLE_KINDS; i++)
		n += b->roles[i].role != ROLE_NONE;
	return n;
}

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
	set(m, SECTION_MESSAGES, b->messages.n * sizeof(index_message), b->messages.n);
	set(m, SECTION_DEVICES, b->devices.n * sizeof(index_device), b->devices.n);
	set(m, SECTION_ROLES, n_roles(b) * sizeof(index_role), n_roles(b));
	set(m, SECTION_COUNTERS, b->counters.n * sizeof(index_counter), b->counters.n);
	set(m, SECTION_TEMPLATES, text_bytes(&b->args.templates, 0), b->args.templates.n);
	measure_arg_texts(m);
	set(m, SECTION_ARG_BLOCKS, (n_arg_blocks + 1) * sizeof(uint64_t), n_arg_blocks);
	set(m, SECTION_ARGS, b->args.spilled_bytes + b->args.records.n, b->args.n_records);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static uint64_t n_written(const image *m, index_kind kind, size_t size)
{
	return m->out.outs[kind].n / size;
}

/* The next level from the one below, which begins at `first` of its section. */
static void write_level(image *m, index_kind below, uint64_t first, uint64_t n_below, index_kind kind)
{
	enum { AT_ONCE = 1024 };
	index_summary buffer[AT_ONCE];

	section_sync(&m->out, below);
	for (uint64_t done = 0; done < n_below; done += AT_ONCE) {
		size_t n = n_below - done < AT_ONCE ? n_below - done : AT_ONCE, n_to = (n + INDEX_FAN - 1) / INDEX_FAN;
		const index_summary *from =
			section_back(&m->out, below, (first + done) * sizeof *from, n * sizeof *from, buffer);
		index_summary *to = (index_summary *)section_room(&m->out, kind, n_to * sizeof *to);
		for (size_t i = 0; i < n_to; i++) {
			size_t left = n - i * INDEX_FAN;
			to[i] = summary_join(&from[i * INDEX_FAN], left < INDEX_FAN ? left : INDEX_FAN);
		}
		section_add(&m->out, kind, n_to * sizeof *to);
	}
}

/* Level 0 was written to its section from `first` on. */
static void write_levels(image *m, uint64_t first, const uint64_t *counts, unsigned n_levels)
{
	for (unsigned k = 1; k < n_levels; k++) {
		index_kind kind = k + 1 < n_levels ? SECTION_FINE : SECTION_COARSE;
		uint64_t start = n_written(m, kind, sizeof(index_summary));
		write_level(m, SECTION_FINE, first, counts[k - 1], kind);
		first = start;
	}
}

static void put_summaries(image *m, index_kind kind, const index_summary *from, size_t n, int64_t shift_ns)
{
	for (size_t done = 0; done < n;) {
		enum { AT_ONCE = SECTION_ROOM / sizeof(index_summary) };
		size_t n_now = n - done < AT_ONCE ? n - done : AT_ONCE;
		index_summary *to = (index_summary *)section_room(&m->out, kind, n_now * sizeof *to);
		memcpy(to, from + done, n_now * sizeof *to);
		for (size_t i = 0; shift_ns && i < n_now; i++)
			to[i].start_ns += (uint64_t)shift_ns;
		section_add(&m->out, kind, n_now * sizeof *to);
		done += n_now;
	}
}

/* The block with its one absolute time made relative. */
static void put_block(image *m, const lane_block *block, int64_t shift_ns)
{
	uint64_t offset = n_written(m, SECTION_SLICES, 1), number = n_written(m, SECTION_BLOCKS, sizeof offset);
	uint8_t *to = section_room(&m->out, SECTION_SLICES, block->len);
	uint8_t *base = to + sizeof(columns_head) + SLICE_BEFORE_TIME * sizeof(int64_t);
	int64_t time_ns;

	section_put(&m->out, SECTION_BLOCKS, &offset, sizeof offset);
	if (m->places)
		m->places[number] = (block_place){ to, block->len };
	memcpy(to, block->bytes, block->len);
	memcpy(&time_ns, base, sizeof time_ns);
	time_ns += shift_ns;
	memcpy(base, &time_ns, sizeof time_ns);
	section_add(&m->out, SECTION_SLICES, block->len);
}

/* Blocks of a copy that are the original's. Those that stay where they are take no room here. */
static void write_shared(image *m, const build_lane *l, index_kind level, int64_t shift_ns)
{
	const lane_kept *kept = l->original->kept;
	uint64_t offset = n_written(m, SECTION_SLICES, 1), number = n_written(m, SECTION_BLOCKS, sizeof offset);

	put_summaries(m, level, (const index_summary *)kept->summaries.bytes, kept->summaries.n / sizeof(index_summary),
		      shift_ns);
	if (m->places)
		memcpy(m->places + number, kept->places.bytes, l->n_before * sizeof *m->places);
	for (uint32_t i = 0; i < l->n_before; i++)
		if (m->places)
			section_put(&m->out, SECTION_BLOCKS, &offset, sizeof offset);
		else
			put_block(m, l->original->blocks[i], shift_ns);
}

static void write_lane(image *m, const build_lane *l, int64_t shift_ns)
{
	uint64_t counts[INDEX_LEVELS];
	unsigned n_levels = summary_levels(l->n_slices, counts);
	index_kind level = n_levels > 1 ? SECTION_FINE : SECTION_COARSE;
	uint64_t first = n_written(m, level, sizeof(index_summary));
	block_walk walk = block_walk_of(l, &m->b->spilled);
	const lane_block *behind;

	if (l->original && l->n_before)
		write_shared(m, l, level, shift_ns);
	for (const lane_block *block; (block = block_walk_next(&walk, &behind));) {
		put_summaries(m, level, block->summaries, block->n_summaries, shift_ns);
		put_block(m, block, shift_ns);
	}
	m->failed |= walk.failed;
	block_walk_done(&walk);
	if (!m->failed)
		write_levels(m, first, counts, n_levels);
}

static void write_lanes(image *m)
{
	const builder *b = m->b;
	size_t n_tracks;

	builder_tracks(b, &n_tracks);
	for (size_t k = 0; k < n_tracks; k++) {
		const build_track *t = b->track_order[k];
		int64_t shift_ns = (t->feed ? t->shift_ns : 0) + b->options.origin_ns - b->start_ns;
		for (size_t i = t->info.first_lane; i < (size_t)t->info.first_lane + t->info.n_lanes && !m->failed;
		     i++) {
			const build_lane *l = b->lane_order[i];
			index_lane lane = {
				.track = t->number,
				.group = (uint16_t)(l->group < UINT16_MAX ? l->group : UINT16_MAX),
				.depth = (uint16_t)l->depth,
				.first_slice = l->first_slice,
				.n_slices = l->n_slices,
				.first_block = n_written(m, SECTION_BLOCKS, sizeof(uint64_t)),
				.first_fine = n_written(m, SECTION_FINE, sizeof(index_summary)),
				.first_coarse = n_written(m, SECTION_COARSE, sizeof(index_summary)),
			};
			section_put(&m->out, SECTION_LANES, &lane, sizeof lane);
			write_lane(m, l, shift_ns);
		}
	}
	uint64_t end = n_written(m, SECTION_SLICES, 1);
	section_put(&m->out, SECTION_BLOCKS, &end, sizeof end);
}

/* ---- The other sections ------------------------------------------------------------------------------------------ */

static void write_tracks(image *m)
{
	const builder *b = m->b;
	const build_track *from = builder_tracks(b, NULL);
	size_t n_tracks;

	builder_tracks(b, &n_tracks);
	for (size_t i = 0; i < n_tracks; i++)
		section_put(&m->out, SECTION_TRACKS, &b->track_order[i]->info, sizeof(index_track));
	for (size_t i = 0; i < b->processes.n; i++)
		section_put(&m->out, SECTION_PROCESSES, &b->process_order[i]->info, sizeof(index_process));
	for (size_t i = 0; i < b->counters.n; i++) {
		index_counter counter = b->counters.items[i].info;
		counter.track = from[counter.track].number;
		section_put(&m->out, SECTION_COUNTERS, &counter, sizeof counter);
	}
}

/* Items as they are. */
static void write_plain(image *m, index_kind kind, const void *items)
{
	section_put(&m->out, kind, items, m->out.sections[kind].length);
}

/* Texts behind each other, each with a zero, and where they begin. The memory of long ones goes back on the way. */
static void write_strings(image *m)
{
	intern_table *t = &m->b->strings;
	uint64_t offset = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		section_put(&m->out, SECTION_STRINGS, &offset, sizeof offset);
		section_put(&m->out, SECTION_STRING_BYTES, t->entries[i].text, t->entries[i].len);
		section_put(&m->out, SECTION_STRING_BYTES, "", 1);
		offset += t->entries[i].len + UINT64_C(1);
		if (!m->b->options.is_copied)
			intern_drop_text(t, i);
	}
	section_put(&m->out, SECTION_STRINGS, &offset, sizeof offset);
}

static void write_arg_texts(image *m)
{
	const args_writer *w = &m->b->args;
	const uint32_t *order = (const uint32_t *)w->text_order.bytes;
	size_t n = w->text_order.n / sizeof *order;
	uint64_t offset = 0;

	for (size_t i = 0; i < n; i++) {
		const pool_text *t = text_at(w->texts, order[i]);
		section_put(&m->out, SECTION_ARG_TEXTS, &offset, sizeof offset);
		section_put(&m->out, SECTION_ARG_TEXT_BYTES, t->text, t->len);
		offset += t->len;
	}
	section_put(&m->out, SECTION_ARG_TEXTS, &offset, sizeof offset);
}

/* Texts behind each other. */
static void write_interned(image *m, index_kind kind, const intern_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		section_put(&m->out, kind, t->entries[i].text, t->entries[i].len);
}

/* Moves the bytes to their place; their own memory goes back on the way. */
static void move_bulk(image *m, index_kind kind, bulk *from)
{
	enum { PART = 8 << 20 };
	size_t released = 0;

	for (size_t done = 0; done < from->n;) {
		size_t n = from->n - done < PART ? from->n - done : PART;
		section_put(&m->out, kind, from->bytes + done, n);
		done += n;
		bulk_release(from, &released, done);
	}
	bulk_done(from);
}

/* Offsets of blocks, and the end of the last. */
static void write_offsets(image *m, index_kind kind, bulk *offsets, uint64_t end)
{
	move_bulk(m, kind, offsets);
	section_put(&m->out, kind, &end, sizeof end);
}

static void write_roles(image *m)
{
	for (size_t i = 0; i < ROLE_KINDS; i++)
		if (m->b->roles[i].role != ROLE_NONE)
			section_put(&m->out, SECTION_ROLES, &m->b->roles[i], sizeof(index_role));
}

static void write_small(image *m)
{
	const builder *b = m->b;

	write_tracks(m);
	write_plain(m, SECTION_SITES, b->sites.items);
	write_plain(m, SECTION_META, b->metas.items);
	write_plain(m, SECTION_DEVICES, b->devices.items);
	write_plain(m, SECTION_DIAGNOSTICS, b->diagnostics.items);
	write_plain(m, SECTION_STEPS, b->steps.bytes);
	write_interned(m, SECTION_TEMPLATES, &b->args.templates);
	write_interned(m, SECTION_MESSAGES, &b->messages);
	write_roles(m);
	write_strings(m);
	write_arg_texts(m);
}

static void write_tables(image *m)
{
	builder *b = m->b;

	for (size_t i = 0; i < TABLE_KINDS; i++) {
		build_table *t = &b->tables[i];
		write_offsets(m, table_sections[i] - 1, &t->offsets, t->blocks.n);
		move_bulk(m, table_sections[i], &t->blocks);
	}
}

static void write_args(image *m)
{
	args_writer *w = &m->b->args;
	spill_reader reader = { .from = &m->b->spilled, .extents = &w->spilled };
	size_t n = w->spilled.n;

	write_offsets(m, SECTION_ARG_BLOCKS, &w->blocks, w->spilled_bytes + w->records.n);
	while (n && !m->args_failed) {
		m->args_failed =
			!spill_next(&reader, section_room(&m->out, SECTION_ARGS, SECTION_ROOM), SECTION_ROOM, &n);
		section_add(&m->out, SECTION_ARGS, n);
	}
	move_bulk(m, SECTION_ARGS, &w->records);
}

/* ---- The image --------------------------------------------------------------------------------------------------- */

static void write_job(void *context, size_t job)
{
	static void (*const jobs[])(image * m) = { write_lanes, write_args, write_tables, write_small };

	jobs[job](context);
}
enum { WRITE_JOBS = 4 };

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

/* Where it goes: memory, unless there is a target or its parts did not fit there already. */
static sonde_status choose_place(image *m, bool *ret_is_ours, sonde_error *err)
{
	const builder *b = m->b;
	const builder_target *target = b->options.target;

	*ret_is_ours = !target && b->spilled.fd >= 0;
	m->out.fd = target ? target->fd : *ret_is_ours ? temp_file_open(b->options.spill_dir) : -1;
	m->out.at = target ? target->at : 0;
	if (*ret_is_ours && m->out.fd < 0)
		return error_set(err, SONDE_E_IO, -1, "cannot write a temporary file: %s", strerror(errno));
	return SONDE_OK;
}

static sonde_status write_all(image *m, sonde_error *err)
{
	const builder *b = m->b;
	index_header header = {
		.magic = INDEX_MAGIC,
		.version = INDEX_VERSION,
		.start_ns = b->start_ns,
		.end_ns = b->end_ns,
		.clock = b->clock,
	};

	if (!sections_begin(&m->out, &header))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory: the index takes %zu bytes", m->out.len);
	threads_run(b->n_packers > 1 ? b->n_threads : 1, WRITE_JOBS, write_job, m);
	if (m->failed || m->args_failed)
		return error_set(err, SONDE_E_IO, -1, "cannot read a temporary file: %s",
				 b->spilled.error ? strerror(b->spilled.error) : "out of memory");
	if (!sections_end(&m->out, &header))
		return error_set(err, SONDE_E_IO, -1, "cannot write the index: %s", strerror(m->out.error));
	return SONDE_OK;
}

/* Takes the image. */
static sonde_status open_image(image *m, sonde_index **ret_index, sonde_error *err)
{
	uint8_t *bytes = m->out.bytes;

	if (m->out.fd >= 0)
		return index_open_written(m->out.fd, m->out.at, m->out.len, ret_index, err);
	m->out.bytes = NULL;
	sonde_status status = index_adopt_made(bytes, m->out.len, ret_index, err);
	if (!status && m->places) {
		index_share(*ret_index, m->places, m->b->shared);
		m->places = NULL;
	}
	return status;
}

sonde_status image_build(builder *b, sonde_index **ret_index, sonde_error *err)
{
	image m = { .b = b, .out.fd = -1 };
	bool is_ours = false;

	if (!add_places(&m))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	measure(&m);
	sonde_status status = choose_place(&m, &is_ours, err);
	if (!status)
		status = write_all(&m, err);
	bool in_memory = m.out.bytes;
	sections_done(&m.out);
	if (!status)
		status = open_image(&m, ret_index, err);
	if (in_memory)
		free(m.out.bytes); /* NULL when the index has it */
	free(m.places);
	if (is_ours && m.out.fd >= 0)
		close(m.out.fd);
	return status;
}
