/*
 * B and E pair up per track, b and e per process (or everywhere, with a global id), category and id. See
 * chrome/apply.h.
 *
 * Begins that wait for their ends are a list per track or id, the one that began last first: events need not be in the
 * order of time. An end whose begin has not come yet waits until the file ends; then those that are left are paired in
 * the order of time.
 */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

enum { SCOPES_SEARCHED = 1024 }; /* for the begin of an end, from the innermost outwards */

#define SORT_NAME sort_ends
#define SORT_TYPE early_end
#define SORT_BEFORE(a, b) ((a)->ts_ns < (b)->ts_ns)
#include "base/sort_template.h"

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
		.correlation = s->correlation,
		.flags = (flags | (s->is_async ? SLICE_IS_ASYNC : 0)) & 0xff,
	};

	if (end_ns < s->ts_ns)
		apply_problem(a, PROBLEM_NEGATIVE, s->at);
	builder_slice_add(a->b, s->track, &slice);
	apply_saw_time(a, slice.start_ns + slice.dur_ns, s->at);
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

/* Into the list that begins at *top, above what began before it. */
static void link_scope(chrome_apply *a, uint32_t *top, uint32_t index)
{
	open_scope *scopes = a->scopes.items, *s = &scopes[index - 1];

	for (int i = 0; *top && scopes[*top - 1].ts_ns > s->ts_ns && i < SCOPES_SEARCHED; i++)
		top = &scopes[*top - 1].below;
	s->below = *top;
	*top = index;
}

/* Where the number of the innermost scope stands that this may be the end of, or NULL. A name of INDEX_NONE fits all.
 */
static uint32_t *find_scope(const chrome_apply *a, uint32_t *top, uint32_t name, int64_t end_ns)
{
	open_scope *scopes = a->scopes.items;

	for (int i = 0; *top && i < SCOPES_SEARCHED; i++) {
		const open_scope *s = &scopes[*top - 1];
		if (s->ts_ns <= end_ns && (name == INDEX_NONE || s->name == name))
			return top;
		top = &scopes[*top - 1].below;
	}
	return NULL;
}

static void unlink_scope(chrome_apply *a, uint32_t *at, int64_t end_ns, uint64_t flags, uint32_t args)
{
	uint32_t index = *at;

	*at = a->scopes.items[index - 1].below;
	close_scope(a, index, end_ns, flags, args);
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
						     .correlation = apply_correlation(e),
						     .args = apply_args(a, r, b, e),
						     .at = b->offset + e->at });
	if (index)
		link_scope(a, top, index);
	apply_device(a, r, b, e);
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

static uint32_t name_of(chrome_apply *a, chrome_reader *r, const chrome_event *e)
{
	return e->flags & EVENT_HAS_NAME ? apply_name(a, r, e->site) : INDEX_NONE;
}

static void add_early(chrome_apply *a, early_end end)
{
	early_end *to = VEC_ADD(&a->early_ends);

	if (to)
		*to = end;
	a->failed |= !to;
}

void apply_end(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t track = apply_track(a, r, e->track), *top = innermost(a, track), name = name_of(a, r, e);
	uint64_t at = b->offset + e->at;

	if (!top)
		return;
	const uint32_t *found = find_scope(a, top, name, e->ts_ns);
	if (!found) {
		add_early(a, (early_end){ .ts_ns = e->ts_ns,
					  .name = name,
					  .list = track,
					  .args = apply_n_args(r, e) ? apply_args(a, r, b, e) : 0,
					  .at = at });
		return;
	}
	uint32_t wanted = *found;
	while (*top != wanted) {
		if (a->scopes.items[*top - 1].ts_ns > e->ts_ns) { /* begins later, and has its end elsewhere */
			top = &a->scopes.items[*top - 1].below;
			continue;
		}
		apply_problem(a, PROBLEM_CROSSED, at);
		unlink_scope(a, top, e->ts_ns, SLICE_IS_REPAIRED, 0);
	}
	unlink_scope(a, top, e->ts_ns, 0, end_args(a, r, b, e, &a->scopes.items[wanted - 1]));
}

/* What b and e have in common; `global`: the innermost open begin of it. CHROME_NONE when out of memory. */
static uint32_t async_number(chrome_apply *a, uint32_t process, uint32_t category, uint64_t id)
{
	uint8_t key[16 + 16] = { 0 };
	bool is_new;

	memcpy(key, &process, 4);
	memcpy(key + 4, &category, 4);
	memcpy(key + 8, &id, 8);
	uint32_t number = dict_find(&a->async, key, 16, 0, text_hash(key, 16, 0), &is_new);
	a->failed |= number == CHROME_NONE;
	if (is_new)
		a->async.entries.items[number].global = 0;
	return number;
}

/* One id may have several scopes at a time, in each other or not; their names tell the ends apart. */
static uint32_t *find_async(const chrome_apply *a, uint32_t *top, uint32_t name, int64_t end_ns)
{
	uint32_t *found = find_scope(a, top, name, end_ns);

	return found ? found : find_scope(a, top, INDEX_NONE, end_ns);
}

void apply_async(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e, char phase)
{
	uint32_t process = apply_process(a, r, e->track), name = name_of(a, r, e);
	uint32_t site = phase == 'e' ? INDEX_NONE : apply_site(a, r, e->site);
	uint32_t category = apply_reader_string(a, r, r->sites.entries.items[e->site].key - 1);

	if (phase == 'n') {
		uint32_t track = builder_track(a->b, TRACK_ASYNC, process, 0, INDEX_NONE, category);
		builder_instant(a->b, track, e->ts_ns, site, apply_args(a, r, b, e), 'n');
		return;
	}
	uint32_t number =
		async_number(a, e->flags & EVENT_HAS_GLOBAL_ID ? INDEX_NONE : process, category, apply_id(a, r, e));
	if (number == CHROME_NONE)
		return;
	uint32_t *top = &a->async.entries.items[number].global;
	if (phase == 'b') {
		uint32_t track = builder_track(a->b, TRACK_ASYNC, process, 0, INDEX_NONE, category);
		uint32_t index = push_scope(a, (open_scope){ .ts_ns = e->ts_ns,
							     .site = site,
							     .name = name,
							     .track = track,
							     .is_async = true,
							     .args = apply_args(a, r, b, e),
							     .at = b->offset + e->at });
		if (index)
			link_scope(a, top, index);
		return;
	}
	uint32_t *found = find_async(a, top, name, e->ts_ns);
	if (found)
		unlink_scope(a, found, e->ts_ns, 0, end_args(a, r, b, e, &a->scopes.items[*found - 1]));
	else
		add_early(a, (early_end){ .ts_ns = e->ts_ns,
					  .name = name,
					  .list = number,
					  .is_async = true,
					  .args = apply_n_args(r, e) ? apply_args(a, r, b, e) : 0,
					  .at = b->offset + e->at });
}

/* ---- When the file ends ------------------------------------------------------------------------------------------ */

static void pair_early(chrome_apply *a, const early_end *end)
{
	uint32_t *top = end->is_async ? &a->async.entries.items[end->list].global : innermost(a, end->list);
	uint32_t *(*find)(const chrome_apply *, uint32_t *, uint32_t, int64_t) =
		end->is_async ? find_async : find_scope;

	if (!top)
		return;
	uint32_t *found = find(a, top, end->name, end->ts_ns);
	if (!found) /* ends before it begins */
		found = find(a, top, end->name, INT64_MAX);
	if (!found) {
		apply_problem(a, PROBLEM_LOST_ENDS, end->at);
		return;
	}
	if (end->args && a->scopes.items[*found - 1].args)
		apply_problem(a, PROBLEM_END_ARGS, end->at);
	unlink_scope(a, found, end->ts_ns, 0, end->args);
}

void apply_close_scopes(chrome_apply *a)
{
	sort_ends(a->early_ends.items, a->early_ends.n); /* or, out of memory, in the order of the file */
	for (size_t i = 0; i < a->early_ends.n; i++)
		pair_early(a, &a->early_ends.items[i]);
	for (size_t i = 0; i < a->scopes.n; i++) {
		const open_scope *s = &a->scopes.items[i];
		if (s->track == CHROME_NONE)
			continue;
		apply_problem(a, PROBLEM_UNCLOSED, s->at);
		close_scope(a, (uint32_t)i + 1, a->last_ns > s->ts_ns ? a->last_ns : s->ts_ns, SLICE_IS_OPEN, 0);
	}
}
