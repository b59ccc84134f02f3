/*
 * What a builder packed goes to a temporary file when it takes too much memory, lane after lane, and is read again when
 * the image is written.
 *
 *   builder_spill()      everything that is packed so far
 *   block_walk_next()    the blocks of a lane, those in the file first
 *
 * In the file a block is its lane_block with its summaries and, behind them, its bytes.
 */
#include "store/build/builder_state.h"

enum {
	RECORD_MAX =
		sizeof(lane_block) + COLUMNS_ROWS / INDEX_GROUP * sizeof(index_summary) + COLUMNS_BYTES(SLICE_COLUMNS),
	WINDOW_BYTES = 256 << 10
};
_Static_assert(WINDOW_BYTES >= 4 * RECORD_MAX, "a window holds a block and the next one");
_Static_assert(sizeof(lane_block) % 8 == 0, "blocks in the window are aligned");

/* ---- Out --------------------------------------------------------------------------------------------------------- */

static size_t head_bytes(const lane_block *block)
{
	return sizeof *block + block->n_summaries * sizeof block->summaries[0];
}

/* Puts the blocks of a lane behind each other. */
static bool gather(bulk *to, build_lane *l)
{
	to->n = 0;
	for (uint32_t i = 0; i < l->n_blocks - l->n_before; i++) {
		const lane_block *block = l->blocks[i];
		uint8_t *at = bulk_add(to, head_bytes(block) + block->len);
		if (!at)
			return false;
		memcpy(at, block, head_bytes(block));
		memcpy(at + head_bytes(block), block->bytes, block->len);
		l->spilled_bytes += block->len;
	}
	return true;
}

static bool spill_lane(spill *s, build_lane *l, bulk *buffer)
{
	uint64_t at = s->len;

	if (l->n_blocks == l->n_before)
		return true;
	if (!gather(buffer, l) || !spill_add(s, buffer->bytes, buffer->n) || !spill_note(s, &l->spilled, at))
		return false;
	l->n_before = l->n_blocks;
	return true;
}

static bool spill_lanes(builder *b)
{
	size_t n;
	build_track *tracks = builder_tracks(b, &n);
	bulk buffer = { 0 };
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++)
		for (uint32_t k = 0; k < track_n_lanes(&tracks[i]) && ok; k++)
			ok = spill_lane(&b->spilled, track_lane(&tracks[i], k), &buffer);
	bulk_done(&buffer);
	if (ok)
		arena_done(&b->packer.blocks);
	return ok;
}

/* Their blocks need not begin with a call. */
static bool spill_records(builder *b)
{
	args_writer *w = &b->args;
	uint64_t at = b->spilled.len;

	if (!w->records.n)
		return true;
	if (!spill_add(&b->spilled, w->records.bytes, w->records.n) || !spill_note(&b->spilled, &w->spilled, at))
		return false;
	w->spilled_bytes += w->records.n;
	w->records.n = 0;
	return true;
}

void builder_spill(builder *b)
{
	b->spilled.dir = b->options.spill_dir;
	if (spill_lanes(b) && spill_records(b))
		return;
	if (b->spilled.error)
		builder_fail(b, SONDE_E_IO, "cannot write a temporary file (TMPDIR sets the directory)");
	else
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
}

/* ---- And back ---------------------------------------------------------------------------------------------------- */

block_walk block_walk_of(const build_lane *l, spill *spilled)
{
	block_walk w = { .lane = l, .reader = { .from = spilled, .extents = &l->spilled } };

	if (l->spilled.n) {
		w.window = malloc(WINDOW_BYTES);
		w.failed = !w.window;
	}
	return w;
}

void block_walk_done(block_walk *w)
{
	free(w->window);
}

/* At least two blocks are in the window, or all that are left. */
static bool fill(block_walk *w)
{
	size_t n;

	if (!w->window || w->n - w->at >= 2 * RECORD_MAX || w->reader.extent == w->lane->spilled.n)
		return true;
	memmove(w->window, w->window + w->at, w->n - w->at);
	w->n -= w->at;
	w->at = 0;
	if (!spill_next(&w->reader, w->window + w->n, WINDOW_BYTES - w->n, &n))
		return false;
	w->n += n;
	return true;
}

/* The block at *at in the window, or the next one in memory; NULL: there is none. */
static const lane_block *block_at(const block_walk *w, size_t *at, uint32_t *next)
{
	if (*at < w->n) {
		lane_block *block = (lane_block *)(void *)(w->window + *at);
		block->bytes = w->window + *at + head_bytes(block);
		*at += head_bytes(block) + block->len;
		return block;
	}
	return *next < w->lane->n_blocks - w->lane->n_before ? w->lane->blocks[(*next)++] : NULL;
}

const lane_block *block_walk_next(block_walk *w, const lane_block **ret_behind)
{
	w->failed = w->failed || !fill(w);
	if (w->failed)
		return NULL;
	const lane_block *block = block_at(w, &w->at, &w->next);
	size_t at = w->at;
	uint32_t next = w->next;
	*ret_behind = block_at(w, &at, &next);
	return block;
}
