/* The calls of a rank by our rules, some ten thousand at a time: see calls.h. */
#include <stdlib.h>
#include "analyze/tables/calls.h"
#include "analyze/tables/op_tree.h"
#include "analyze/math/stats.h"

enum { PART_ROWS = 1 << 16 };

bool calls_parts_init(calls_parts *p, const work *w)
{
	const rows *r = &w->rows;

	*p = (calls_parts){ .c.w = w };
	if (!r->ix)
		return true;
	p->launched = rows_by_launch(r, &p->n_launched);
	p->c.is_op = op_sites(r);
	for (size_t i = 0; i < r->n_device; i++) {
		if (rows_launch_of(r, r->device_rows[i]) != ROW_NONE)
			continue;
		p->n_others++;
		p->others_ns = add_bounded(p->others_ns, rows_at(r, r->device_rows[i]).dur_ns);
	}
	return p->launched && p->c.is_op;
}

void calls_parts_done(calls_parts *p)
{
	free(p->launched);
	calls_done(&p->c);
	VEC_DONE(&p->calls);
	VEC_DONE(&p->kernels);
	VEC_DONE(&p->new_of);
}

static bool add_kernel(calls_parts *p, uint32_t number)
{
	call_kernel *to = VEC_ADD(&p->kernels);
	const row *at = ROW_AT(&p->c.w->rows, number);

	if (to)
		*to = (call_kernel){ at->start_ns, at->dur_ns, number, at->site };
	return to != NULL;
}

/* The call around a row of the part that begins at `first`. */
static uint32_t call_around(const calls_parts *p, uint32_t first, uint32_t parent)
{
	const rows *r = &p->c.w->rows;

	while (parent != ROW_NONE && parent >= first && rows_at(r, parent).flags & ROW_ASYNC)
		parent = rows_at(r, parent).parent;
	return parent == ROW_NONE || parent < first ? CALL_NONE : p->new_of.items[parent - first];
}

/* A row and what it launched; *next is the next of p->launched. */
static bool add_row(calls_parts *p, uint32_t first, uint32_t number, size_t *next)
{
	const rows *r = &p->c.w->rows;
	const row *at = ROW_AT(r, number);
	bool is_call = !(at->flags & ROW_ASYNC), ok = true;
	uint32_t *place = VEC_ADD(&p->new_of);
	call *to = place && is_call ? VEC_ADD(&p->calls) : NULL;

	if (!place || (is_call && !to))
		return false;
	*place = (uint32_t)(p->calls.n - is_call);
	if (to) {
		uint32_t parent = call_around(p, first, at->parent);
		*to = (call){ .start = at->start_ns,
			      .dur = at->dur_ns,
			      .row = number,
			      .site = at->site,
			      .parent = parent,
			      .first = (uint32_t)p->kernels.n,
			      .end = at->end, /* a row as yet */
			      .depth = parent == CALL_NONE ? 0 : p->calls.items[parent].depth + 1 };
	}
	for (; ok && *next < p->n_launched && rows_launch_of(r, p->launched[*next]) == number; ++*next)
		ok = !is_call || add_kernel(p, p->launched[*next]);
	return ok;
}

/* Rows [first, end) of a thread. */
static bool load_part(calls_parts *p, uint32_t first, uint32_t end)
{
	size_t next = rows_launched_from(&p->c.w->rows, p->launched, p->n_launched, first);
	bool ok = true;

	p->calls.n = p->kernels.n = p->new_of.n = 0;
	for (uint32_t i = first; ok && i < end; i++)
		ok = add_row(p, first, i, &next);
	size_t n = p->calls.n;
	call *last = ok ? VEC_ADD(&p->calls) : NULL;
	if (!last)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t behind = p->calls.items[i].end;
		p->calls.items[i].end = behind < end ? p->new_of.items[behind - first] : (uint32_t)n;
	}
	*last = (call){ .first = (uint32_t)p->kernels.n, .parent = CALL_NONE, .end = (uint32_t)n };
	return true;
}

static bool visit_part(calls_parts *p, int32_t rank, uint32_t first, uint32_t end, calls_visit *visit, void *context)
{
	if (first == end)
		return true;
	if (!load_part(p, first, end))
		return false;
	p->n_kernels += p->kernels.n;
	return visit(context, &(calls_rank){ .rank = rank,
					     .items = p->calls.items,
					     .n = p->calls.n - 1,
					     .kernels = p->kernels.items,
					     .n_kernels = p->kernels.n });
}

/* Cuts the rows of a thread where none of the sites that stay whole is open. */
static bool visit_thread(calls_parts *p, size_t track, const bool *whole, calls_visit *visit, void *context)
{
	const rows *r = &p->c.w->rows;
	uint32_t first = r->first_of_track[track], end = r->first_of_track[track + 1], whole_end = 0;
	int32_t rank = track_rank(r, track);

	for (uint32_t i = first; i < end; i++) {
		const row *at = ROW_AT(r, i);
		if (i >= whole_end && i - first >= PART_ROWS) {
			if (!visit_part(p, rank, first, i, visit, context))
				return false;
			first = i;
		}
		whole_end = whole[at->site] && at->end > whole_end ? at->end : whole_end;
	}
	return visit_part(p, rank, first, end, visit, context);
}

bool calls_parts_each(calls_parts *p, int32_t rank, const bool *whole, calls_visit *visit, void *context)
{
	const rows *r = &p->c.w->rows;
	bool ok = true;

	for (size_t t = 0; ok && t < r->n_tracks; t++)
		if (track_rank(r, t) == rank && r->tracks[t].kind != TRACK_STREAM && r->tracks[t].kind != TRACK_ASYNC)
			ok = visit_thread(p, t, whole, visit, context);
	return ok;
}
