/*
 * A copy of a builder, to be fed some more and finished while the original goes on.
 *
 * Blocks that are packed, and texts, are the original's; so the copy takes as long as there are names, rows that are
 * not packed yet and events that are no scopes, however many scopes there are.
 */
#include "store/build/builder_state.h"

/* ---- Blocks that are used together ------------------------------------------------------------------------------- */

shared_blocks *shared_blocks_new(void)
{
	shared_blocks *s = calloc(1, sizeof *s);

	if (s)
		atomic_init(&s->n_users, 1);
	return s;
}

shared_blocks *shared_blocks_use(shared_blocks *s)
{
	atomic_fetch_add_explicit(&s->n_users, 1, memory_order_relaxed);
	return s;
}

void shared_blocks_release(shared_blocks *s)
{
	/* Release and acquire: whoever frees the blocks comes after everybody who read them. */
	if (!s || atomic_fetch_sub_explicit(&s->n_users, 1, memory_order_acq_rel) > 1)
		return;
	arena_done(&s->blocks);
	free(s);
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

/* Takes note of blocks that are new since the last copy. */
static bool keep_lane(build_lane *l)
{
	lane_kept *k = l->kept ? l->kept : calloc(1, sizeof *k);

	l->kept = k;
	for (; k && k->n_blocks < l->n_blocks; k->n_blocks++) {
		const lane_block *block = l->blocks[k->n_blocks];
		size_t n_bytes = block->n_summaries * sizeof block->summaries[0];
		index_summary *summaries = bulk_add(&k->summaries, n_bytes);
		block_place *place = bulk_add(&k->places, sizeof *place);
		if (!summaries || !place)
			return false;
		memcpy(summaries, block->summaries, n_bytes);
		*place = (block_place){ block->bytes, block->len };
	}
	return k;
}

static bool copy_lane(build_lane *to, build_lane *from)
{
	if (!keep_lane(from))
		return false;
	to->original = from;
	to->n_before = from->n_blocks;
	to->rows = from->capacity ? malloc(from->capacity * sizeof *to->rows) : NULL;
	if (to->rows && from->n)
		memcpy(to->rows, from->rows, from->n * sizeof *to->rows);
	return to->rows || !from->capacity;
}

static bool copy_lanes(build_track *to, const build_track *from)
{
	for (uint32_t i = 0; i < track_n_lanes(from); i++) {
		build_lane *of = track_lane(from, i), *lane = bulk_add(&to->lanes, sizeof *lane);
		if (!lane)
			return false;
		*lane = *of;
		lane->rows = NULL;
		lane->blocks = NULL;
		lane->blocks_capacity = 0;
		lane->kept = NULL;
		if (!copy_lane(lane, of))
			return false;
	}
	return true;
}

static bool copy_track(build_track *to, const build_track *from)
{
	*to = *from;
	to->slices = to->flows = to->binds = to->lanes = to->correlated = to->steps = (bulk){ 0 };
	to->feed = NULL;
	return bulk_copy(&to->slices, &from->slices) && bulk_copy(&to->flows, &from->flows) && copy_lanes(to, from) &&
	       bulk_copy(&to->correlated, &from->correlated) && bulk_copy(&to->steps, &from->steps) &&
	       lane_feed_copy(to, from);
}

static bool copy_tracks(builder *to, const builder *from)
{
	size_t n;
	const build_track *tracks = builder_tracks(from, &n);

	for (size_t i = 0; i < n; i++) {
		build_track *t = bulk_add(&to->tracks, sizeof *t);
		if (!t || !copy_track(t, &tracks[i]))
			return false;
	}
	return true;
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

static bool copy_names(builder *to, const builder *from)
{
	return intern_copy(&to->strings, &from->strings) && intern_copy(&to->site_keys, &from->site_keys) &&
	       intern_copy(&to->process_keys, &from->process_keys) && intern_copy(&to->track_keys, &from->track_keys) &&
	       intern_copy(&to->counter_keys, &from->counter_keys) && intern_copy(&to->meta_keys, &from->meta_keys) &&
	       intern_copy(&to->diagnostic_keys, &from->diagnostic_keys);
}

static bool copy_lists(builder *to, const builder *from)
{
	return VEC_COPY(&to->sites, &from->sites) && VEC_COPY(&to->sums, &from->sums) &&
	       VEC_COPY(&to->classes, &from->classes) && VEC_COPY(&to->processes, &from->processes) &&
	       VEC_COPY(&to->files, &from->files) && VEC_COPY(&to->counters, &from->counters) &&
	       VEC_COPY(&to->metas, &from->metas) && VEC_COPY(&to->diagnostics, &from->diagnostics) &&
	       VEC_COPY(&to->step_numbers, &from->step_numbers) && bulk_copy(&to->instants, &from->instants) &&
	       bulk_copy(&to->samples, &from->samples) && bulk_copy(&to->allocations, &from->allocations) &&
	       bulk_copy(&to->values, &from->values) && bulk_copy(&to->flow_args, &from->flow_args);
}

static bool copy_facts(builder *to, const builder *from)
{
	bool ok = intern_copy(&to->messages, &from->messages) && intern_copy(&to->device_keys, &from->device_keys) &&
		  VEC_COPY(&to->devices, &from->devices);

	memcpy(to->roles, from->roles, sizeof to->roles);
	memcpy(to->last_fact, from->last_fact, sizeof to->last_fact);
	for (size_t i = TABLE_FACTS; ok && i < TABLE_KINDS; i++)
		ok = table_copy(&to->tables[i], &from->tables[i]);
	return ok;
}

builder *builder_copy(builder *b)
{
	builder_options options = b->options;

	options.is_copied = false;
	builder *c = builder_new(&options);
	if (!c)
		return NULL;
	c->status = b->status;
	c->why = b->why;
	c->n_flows = b->n_flows;
	c->clock = b->clock;
	c->shared = b->shared ? shared_blocks_use(b->shared) : NULL;
	if (b->finished || !b->shared || !copy_names(c, b) || !copy_lists(c, b) ||
	    !args_writer_copy(&c->args, &b->args) || !copy_facts(c, b) || !copy_tracks(c, b)) {
		builder_free(c);
		return NULL;
	}
	return c;
}
