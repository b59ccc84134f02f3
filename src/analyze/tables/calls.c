/* See calls.h. */
#include "analyze/tables/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tables/op_tree.h"
#include "base/format_number.h"

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

static bool load(calls *c, const work *w, const sonde_analyze_options *options)
{
	c->w = w;
	c->ranks = calloc(w->rows.n_ranks + 1, sizeof *c->ranks);
	c->is_op = op_sites(&w->rows);
	return c->ranks && c->is_op && calls_load_hta(c, options);
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

void calls_parts_say_coverage(const calls_parts *p, sonde_result *r, const char *label)
{
	char number[NUMBER_TEXT], all[NUMBER_TEXT], time[NUMBER_TEXT];

	if (p->n_others)
		result_note_add(r, label,
				"%s of %s kernels and copies (%s) are omitted: their launch is not in the trace",
				format_count(number, p->n_others), format_count(all, p->n_others + p->n_kernels),
				format_ns(time, p->others_ns));
}
