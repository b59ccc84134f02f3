/* The calls of a rank one after the other, with what each launched: see calls.h. What is open is a stack. */
#include <stdlib.h>
#include "analyze/tables/calls.h"
#include "analyze/math/stats.h"

typedef struct walk {
	const calls_visitor *visitor;
	VEC(walked_call) open;
} walk;

static void add_to_outer(walked_call *to, const walked_call *inner)
{
	to->n_kernels += inner->n_kernels;
	to->device = add_bounded(to->device, inner->device);
	to->first = inner->first < to->first ? inner->first : to->first;
	to->last = inner->last > to->last ? inner->last : to->last;
	if (inner->height < UINT16_MAX && inner->height >= to->height)
		to->height = (uint16_t)(inner->height + 1);
}

/* Ends the calls that end at `at` or before it. */
static void end_calls(walk *w, uint32_t at)
{
	while (w->open.n && w->open.items[w->open.n - 1].end <= at) {
		const walked_call *last = &w->open.items[--w->open.n];
		w->visitor->end(w->visitor->context, last);
		if (w->open.n)
			add_to_outer(&w->open.items[w->open.n - 1], last);
	}
}

static bool begin_call(walk *w, walked_call given)
{
	end_calls(w, given.at);
	walked_call *to = VEC_ADD(&w->open);
	if (!to)
		return false;
	given.height = 1;
	given.first = INT64_MAX;
	given.last = INT64_MIN;
	given.depth = (int32_t)w->open.n - 1;
	*to = given;
	return w->visitor->begin(w->visitor->context, to, w->open.n > 1 ? to - 1 : NULL);
}

static void add_kernel(walk *w, int64_t start, int64_t dur)
{
	walked_call *to = &w->open.items[w->open.n - 1];
	int64_t end = start + dur;

	to->n_kernels++;
	to->n_direct++;
	to->direct = add_bounded(to->direct, dur);
	to->device = add_bounded(to->device, dur);
	to->first = start < to->first ? start : to->first;
	to->last = end > to->last ? end : to->last;
}

/* Rows of a thread that are no calls launched nothing that counts. */
static bool walk_thread(walk *w, calls_parts *p, size_t track)
{
	const rows *r = &p->c.w->rows;
	uint32_t first = r->first_of_track[track], end = r->first_of_track[track + 1];
	launch_cursor c = launch_cursor_at(r, p->launched, p->n_launched,
					   rows_launched_from(r, p->launched, p->n_launched, first));

	for (uint32_t i = first; i < end; i++) {
		const row *at = ROW_AT(r, i);
		if (at->flags & ROW_ASYNC)
			continue;
		if (!begin_call(w, (walked_call){ .dur = at->dur_ns, .site = at->site, .at = i, .end = at->end }))
			return false;
		if (c.launch > i)
			continue;
		size_t n;
		const uint32_t *launched = launched_by(&c, i, &n);
		p->n_kernels += n;
		for (size_t k = 0; k < n; k++)
			add_kernel(w, rows_at(r, launched[k]).start_ns, rows_at(r, launched[k]).dur_ns);
	}
	end_calls(w, CALL_NONE);
	return true;
}

bool calls_walk(calls_parts *p, int32_t rank, const calls_visitor *visitor)
{
	const rows *r = &p->c.w->rows;
	walk w = { .visitor = visitor };
	bool ok = true;

	for (size_t t = 0; ok && t < r->n_tracks; t++)
		if (track_rank(r, t) == rank && r->tracks[t].kind != TRACK_STREAM && r->tracks[t].kind != TRACK_ASYNC)
			ok = walk_thread(&w, p, t);
	VEC_DONE(&w.open);
	return ok;
}

bool calls_walk_rank(const calls_rank *k, const calls_visitor *visitor)
{
	walk w = { .visitor = visitor };
	bool ok = true;

	for (uint32_t i = 0; ok && i < k->n; i++) {
		const call *from = &k->items[i];
		call_span own = call_direct(k, i);
		ok = begin_call(&w, (walked_call){ .dur = from->dur, .site = from->site, .at = i, .end = from->end });
		for (size_t j = 0; ok && j < own.n; j++)
			add_kernel(&w, own.items[j].start, own.items[j].dur);
	}
	if (ok)
		end_calls(&w, CALL_NONE);
	VEC_DONE(&w.open);
	return ok;
}
