/* B and E pair up per track, b and e per process, category and id. See chrome_apply.h. */
#define _GNU_SOURCE
#include "import/chrome_apply.h"

enum { SCOPES_SEARCHED = 1024 }; /* for the begin of an end, from the innermost outwards */

static uint32_t push_scope(chrome_apply *a, open_scope scope)
{
	uint32_t index = a->free_scope;
	open_scope *to;

	if (index) {
		to = &a->scopes.items[index - 1];
		a->free_scope = to->below;
	} else {
		to = VEC_ADD(&a->scopes);
		index = (uint32_t)a->scopes.n;
	}
	if (!to) {
		a->failed = true;
		return 0;
	}
	*to = scope;
	return index;
}

static void drop_scope(chrome_apply *a, uint32_t index)
{
	a->scopes.items[index - 1].below = a->free_scope;
	a->scopes.items[index - 1].track = CHROME_NONE;
	a->free_scope = index;
}

static int64_t duration(int64_t from, int64_t to)
{
	int64_t dur = to - from; /* both are bounded */

	return dur < 0 ? 0 : dur;
}

static void close_scope(chrome_apply *a, uint32_t index, int64_t end_ns, uint64_t flags, uint32_t args)
{
	const open_scope *s = &a->scopes.items[index - 1];
	const builder_slice slice = {
		.start_ns = s->ts_ns,
		.dur_ns = duration(s->ts_ns, end_ns),
		.site = s->site,
		.args = s->args ? s->args : args,
		.flags = (flags | (s->is_async ? SLICE_IS_ASYNC : 0)) & 0xff,
	};

	if (end_ns < s->ts_ns)
		apply_problem(a, PROBLEM_NEGATIVE, s->at);
	builder_slice_add(a->b, s->track, &slice);
	drop_scope(a, index);
}

static uint32_t *innermost(chrome_apply *a, uint32_t track)
{
	while (a->track_scopes.n <= track)
		if (!VEC_ADD(&a->track_scopes)) {
			a->failed = true;
			return NULL;
		}
	return &a->track_scopes.items[track];
}

void apply_begin(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t track = apply_track(a, r, e->track), *top = innermost(a, track);
	uint32_t site = apply_site(a, r, e->site);

	if (!top)
		return;
	uint32_t index = push_scope(a, (open_scope){ .ts_ns = e->ts_ns,
						     .site = site,
						     .name = r->sites.entries.items[e->site].name,
						     .track = track,
						     .args = apply_args(a, r, b, e),
						     .below = *top,
						     .at = b->offset + e->at });
	if (index)
		*top = index;
}

/* The args of an end are its scope's where the begin has none. */
static uint32_t end_args(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e,
			 const open_scope *begun)
{
	if (apply_n_args(r, e) == 0)
		return 0;
	if (begun->args) {
		apply_problem(a, PROBLEM_END_ARGS, b->offset + e->at);
		return 0;
	}
	return apply_args(a, r, b, e);
}

void apply_end(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t track = apply_track(a, r, e->track), *top = innermost(a, track);
	uint64_t at = b->offset + e->at;

	if (!top)
		return;
	uint32_t wanted = *top;
	if (e->flags & EVENT_HAS_NAME) {
		apply_site(a, r, e->site);
		uint32_t name = r->sites.entries.items[e->site].name;
		for (int i = 0; wanted && a->scopes.items[wanted - 1].name != name; i++)
			wanted = i < SCOPES_SEARCHED ? a->scopes.items[wanted - 1].below : 0;
	}
	if (!wanted) {
		apply_problem(a, PROBLEM_LOST_ENDS, at);
		return;
	}
	while (*top != wanted) {
		uint32_t inner = *top;
		apply_problem(a, PROBLEM_CROSSED, at);
		*top = a->scopes.items[inner - 1].below;
		close_scope(a, inner, e->ts_ns, SLICE_IS_REPAIRED, 0);
	}
	*top = a->scopes.items[wanted - 1].below;
	close_scope(a, wanted, e->ts_ns, 0, end_args(a, r, b, e, &a->scopes.items[wanted - 1]));
}

/* What b and e have in common, and the innermost open begin of it. */
static dict_entry *async_entry(chrome_apply *a, uint32_t process, uint32_t category, uint64_t id)
{
	uint8_t key[16 + 16] = { 0 };
	bool is_new;

	memcpy(key, &process, 4);
	memcpy(key + 4, &category, 4);
	memcpy(key + 8, &id, 8);
	uint32_t number = dict_find(&a->async, key, 16, 0, text_hash(key, 16, 0), &is_new);
	if (number == CHROME_NONE) {
		a->failed = true;
		return NULL;
	}
	if (is_new)
		a->async.entries.items[number].global = 0;
	return &a->async.entries.items[number];
}

void apply_async(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e, char phase)
{
	uint32_t process = apply_process(a, r, e->track), site = apply_site(a, r, e->site);
	uint32_t category = apply_reader_string(a, r, r->sites.entries.items[e->site].key - 1);
	uint32_t track = builder_track(a->b, TRACK_ASYNC, process, 0, INDEX_NONE, category);

	if (phase == 'n') {
		builder_instant(a->b, track, e->ts_ns, site, apply_args(a, r, b, e), 'n');
		return;
	}
	dict_entry *open = async_entry(a, process, category, apply_id(a, r, e));
	if (!open)
		return;
	if (phase == 'b') {
		uint32_t index = push_scope(a, (open_scope){ .ts_ns = e->ts_ns,
							     .site = site,
							     .track = track,
							     .is_async = true,
							     .args = apply_args(a, r, b, e),
							     .below = open->global,
							     .at = b->offset + e->at });
		if (index)
			open->global = index;
		return;
	}
	if (!open->global) {
		apply_problem(a, PROBLEM_LOST_ENDS, b->offset + e->at);
		return;
	}
	uint32_t index = open->global;
	open->global = a->scopes.items[index - 1].below;
	close_scope(a, index, e->ts_ns, 0, end_args(a, r, b, e, &a->scopes.items[index - 1]));
}

void apply_close_scopes(chrome_apply *a)
{
	for (size_t i = 0; i < a->scopes.n; i++) {
		const open_scope *s = &a->scopes.items[i];
		if (s->track == CHROME_NONE)
			continue;
		apply_problem(a, PROBLEM_UNCLOSED, s->at);
		close_scope(a, (uint32_t)i + 1, a->last_ns > s->ts_ns ? a->last_ns : s->ts_ns, SLICE_IS_OPEN, 0);
	}
}
