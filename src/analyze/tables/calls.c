/* See calls.h. */
#include "analyze/tables/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "analyze/tables/op_tree.h"
#include "base/format_number.h"

/* Tracks of threads hold host rows; what is asynchronous on them is inside nothing. */
static bool is_call(const row *at)
{
	return !(at->flags & ROW_ASYNC);
}
static bool is_thread(const rows *r, size_t track, int32_t rank)
{
	uint32_t first = r->first_of_track[track];

	return first < r->first_of_track[track + 1] && track_rank(r, track) == rank &&
	       r->tracks[track].kind != TRACK_STREAM && r->tracks[track].kind != TRACK_ASYNC;
}

bool calls_place(calls_rank *k, const uint32_t *n_launched)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		k->items[i].first = (uint32_t)n;
		n += n_launched[i];
	}
	k->items[k->n] = (call){ .first = (uint32_t)n, .parent = CALL_NONE, .end = (uint32_t)k->n };
	k->n_kernels = n;
	k->kernels = malloc((n + 1) * sizeof *k->kernels);
	return k->kernels != NULL;
}

/* The calls of a track, behind those that are there; new_of: call of a row, or how many calls come before it. */
static void copy_track(const rows *r, size_t track, calls_rank *k, uint32_t *new_of)
{
	uint32_t first = r->first_of_track[track], end = r->first_of_track[track + 1];

	for (uint32_t i = first; i < end; i++) {
		const row *at = ROW_AT(r, i);
		new_of[i] = (uint32_t)k->n;
		if (!is_call(at))
			continue;
		uint32_t parent = at->parent;
		while (parent != ROW_NONE && !is_call(ROW_AT(r, parent)))
			parent = rows_at(r, parent).parent;
		parent = parent == ROW_NONE ? CALL_NONE : new_of[parent];
		k->items[k->n++] = (call){ .start = at->start_ns,
					   .dur = at->dur_ns,
					   .row = i,
					   .site = at->site,
					   .parent = parent,
					   .depth = parent == CALL_NONE ? 0 : k->items[parent].depth + 1 };
	}
	for (uint32_t i = first; i < end; i++)
		if (is_call(ROW_AT(r, i)))
			k->items[new_of[i]].end = rows_at(r, i).end < end ? new_of[rows_at(r, i).end] : (uint32_t)k->n;
}

static bool copy_rows(const rows *r, calls_rank *k, uint32_t *new_of)
{
	size_t n = 0;

	for (size_t t = 0; t < r->n_tracks; t++)
		if (is_thread(r, t, k->rank))
			n += r->first_of_track[t + 1] - r->first_of_track[t];
	k->items = malloc((n + 1) * sizeof *k->items);
	for (size_t t = 0; k->items && t < r->n_tracks; t++)
		if (is_thread(r, t, k->rank))
			copy_track(r, t, k, new_of);
	return k->items != NULL;
}

static bool count_launched(const op_tree *t, calls_rank *k)
{
	uint32_t *n_launched = malloc((k->n + 1) * sizeof *n_launched);

	for (size_t i = 0; n_launched && i < k->n; i++) {
		size_t n;
		op_tree_direct(t, k->items[i].row, &n);
		n_launched[i] = (uint32_t)n;
	}
	bool ok = n_launched && calls_place(k, n_launched);
	free(n_launched);
	return ok;
}

static call_kernel kernel_of(const rows *r, uint32_t at)
{
	return (call_kernel){ rows_at(r, at).start_ns, rows_at(r, at).dur_ns, at, rows_at(r, at).site };
}

static bool load_rank(const rows *r, const op_tree *t, const rows_rank *from, calls_rank *k, uint32_t *new_of)
{
	k->rank = from->rank;
	k->others = malloc((from->n_device + 1) * sizeof *k->others);
	if (!k->others || !copy_rows(r, k, new_of) || !count_launched(t, k))
		return false;
	for (size_t i = 0; i < k->n; i++) {
		size_t n;
		const uint32_t *launched = op_tree_direct(t, k->items[i].row, &n);
		for (size_t j = 0; j < n; j++)
			k->kernels[k->items[i].first + j] = kernel_of(r, launched[j]);
	}
	for (size_t i = 0; i < from->n_device; i++)
		if (rows_at(r, from->device[i]).launch == ROW_NONE)
			k->others[k->n_others++] = kernel_of(r, from->device[i]);
	return true;
}

static bool load_ours(calls *c, op_tree *t)
{
	const rows *r = &c->w->rows;
	uint32_t *new_of = malloc((r->n + 1) * sizeof *new_of);
	bool ok = new_of != NULL;

	for (size_t i = 0; ok && i < r->n_ranks; i++)
		ok = load_rank(r, t, &r->ranks[i], &c->ranks[c->n_ranks++], new_of);
	free(new_of);
	return ok;
}

static bool load(calls *c, const work *w, const sonde_analyze_options *options)
{
	op_tree t = { 0 };

	c->w = w;
	c->ranks = calloc(w->rows.n_ranks + 1, sizeof *c->ranks);
	bool ok = c->ranks && op_tree_load(&t, &w->rows);
	if (ok && w->is_hta)
		ok = calls_load_hta(c, options);
	else if (ok)
		ok = load_ours(c, &t);
	c->is_op = t.is_op;
	t.is_op = NULL;
	op_tree_done(&t);
	return ok;
}

const calls *calls_of(const work *w, const sonde_analyze_options *options)
{
	static const calls none = { 0 };

	if (!w->calls)
		return &none; /* a recording without an index */
	if (!w->calls->w && !load(w->calls, w, options)) {
		calls_done(w->calls);
		return NULL;
	}
	return w->calls;
}

void calls_done(calls *c)
{
	for (size_t i = 0; i < c->n_ranks; i++) {
		free(c->ranks[i].items);
		free(c->ranks[i].kernels);
		free(c->ranks[i].others);
	}
	free(c->ranks);
	free(c->is_op);
	*c = (calls){ 0 };
}

/* ---- What analyses share ----------------------------------------------------------------------------------------- */

const char *call_names(const calls *c, sonde_result *r, const uint32_t *names, size_t n)
{
	enum { MOST = 100 };
	size_t shown = n > MOST ? MOST : n, length = 64;
	const sonde_index *ix = c->w->rows.ix;

	for (size_t i = 0; i < shown; i++)
		length += strlen(index_text(ix, names[i])) + 4;
	char *text = arena_alloc(&r->arena, length), *to = text;
	if (!text) {
		r->failed = true;
		return "";
	}
	*to = '\0';
	for (size_t i = 0; i < shown; i++)
		to += sprintf(to, "%s%s", i ? " -> " : "", index_text(ix, names[i]));
	if (shown < n)
		sprintf(to, " -> and %zu more", n - shown);
	return text;
}

static void say_coverage(sonde_result *r, const char *label, size_t n, size_t n_linked, int64_t ns)
{
	char number[NUMBER_TEXT], all[NUMBER_TEXT], time[NUMBER_TEXT];

	if (n)
		result_note_add(r, label, "%s of %s kernels and copies (%s) are left out: nobody known launched them",
				format_count(number, n), format_count(all, n + n_linked), format_ns(time, ns));
}

void calls_say_coverage(const calls *c, sonde_result *r, const char *label)
{
	size_t n = 0, n_linked = 0;
	int64_t ticks = 0;

	for (size_t i = 0; i < c->n_ranks; i++) {
		const calls_rank *k = &c->ranks[i];
		n += k->n_others;
		n_linked += k->n_kernels;
		for (size_t j = 0; j < k->n_others; j++)
			ticks = add_bounded(ticks, k->others[j].dur);
	}
	if (c->w && !c->w->is_hta)
		say_coverage(r, label, n, n_linked, ticks);
}

void calls_parts_say_coverage(const calls_parts *p, sonde_result *r, const char *label)
{
	say_coverage(r, label, p->n_others, p->n_kernels, p->others_ns);
}
