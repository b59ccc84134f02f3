/* See collective_match.h. */
#define _GNU_SOURCE
#include "analyze/tables/collective_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SORT_NAME sort_collectives
#define SORT_TYPE collective
#define SORT_BEFORE(a, b) ((a)->key != (b)->key ? (a)->key < (b)->key : (a)->start < (b)->start)
#include "base/sort_template.h"

#define SORT_NAME sort_events
#define SORT_TYPE collective_event
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

static bool is_tracelens(const collectives *c)
{
	return c->w && c->w->is_tracelens;
}

/* ---- Which rows, and their keys ---------------------------------------------------------------------------------- */

/* Calls that last as long as the collective does; nccl: on the host is only its launch. */
static bool communicates_on_host(const char *name, site_class class)
{
	return class == CLASS_COMMUNICATION || strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 ||
	       strncmp(name, "ucc:", 4) == 0;
}

bool collectives_look_at(const char *name, site_class class)
{
	return communicates_on_host(name, class) || strcmp(name, COLLECTIVE_PARAMS) == 0;
}

static bool has_size(const collective_args *a)
{
	/* Of an all-to-all each rank has its own. */
	return a->kind != COLLECTIVE_ALL_TO_ALL && (a->in_elements >= 0 || a->out_elements >= 0);
}

static collective_method method_of(const collectives *c, const collective_args *a)
{
	if (is_tracelens(c))
		return COLLECTIVE_BY_ORDER;
	return a->sequence >= 0 && a->group ? COLLECTIVE_BY_SEQUENCE
	       : has_size(a)		    ? COLLECTIVE_BY_SIZE
					    : COLLECTIVE_BY_ORDER;
}

static bool put_key(collectives *c, collective *to, const char *row_name_text)
{
	const collective_args *a = &to->args;
	const char *group = a->group ? a->group : "", *ranks = a->ranks ? a->ranks : "";
	const char *name = a->name ? a->name : row_name_text, *dtype = a->dtype ? a->dtype : "";
	collective_method method = method_of(c, a);
	char *text = NULL;
	int len;

	if (is_tracelens(c))
		len = asprintf(&text, "%s", a->group ? group : "all");
	else if (method == COLLECTIVE_BY_SEQUENCE)
		len = asprintf(&text, "s\n%s\n%s\n%s\n%" PRId64, group, ranks, name, a->sequence);
	else
		len = asprintf(&text, "n\n%s\n%s\n%s\n%s\n%" PRId64 "\n%" PRId64, group, ranks, name, dtype,
			       has_size(a) ? a->in_elements : -1, has_size(a) ? a->out_elements : -1);
	to->key = len < 0 ? INTERN_NONE : intern(&c->keys, text, (size_t)len);
	if (len >= 0)
		free(text);
	if (to->key == INTERN_NONE)
		return false;
	if (to->key == c->methods.n) {
		collective_method *m = VEC_ADD(&c->methods);
		if (!m)
			return false;
		*m = method;
	}
	return true;
}

static bool add(collectives *c, size_t rank, uint32_t number, int64_t start, int64_t end)
{
	const rows *r = c->rows;
	collective *to = VEC_ADD(&c->ranks[rank]);

	if (!to)
		return false;
	*to = (collective){ .start = start, .end = end, .row = number };
	to->args = collective_args_read(&c->reader, number, is_tracelens(c));
	return !c->reader.failed && put_key(c, to, row_name(r, ROW_AT(r, number)));
}

/* By TraceLens's rules: kernels only. */
static bool add_items(collectives *c, size_t rank)
{
	const work_rank *from = &c->w->ranks[rank];
	const rows *r = c->rows;
	bool ok = true;

	for (size_t i = 0; ok && i < from->n; i++) {
		const work_item *item = WORK_AT(c->w, from, i);
		if (item->kind == KERNEL_COMMUNICATION && strcmp(row_category(r, ROW_AT(r, item->row)), "kernel") == 0)
			ok = add(c, rank, item->row, item->start, item->start + item->dur);
	}
	return ok;
}

static bool add_device(collectives *c)
{
	const rows *r = c->rows;
	bool *marks = malloc(r->n_sites + 1), ok = marks != NULL;

	for (size_t i = 0; ok && i < r->n_sites; i++)
		marks[i] = kernel_kind_of(index_text(r->ix, r->sites[i].name), (site_class)r->sites[i].class) ==
			   KERNEL_COMMUNICATION;
	for (size_t k = 0; ok && k < c->n_ranks; k++) {
		const rows_rank *from = &r->ranks[k];
		for (size_t i = 0; ok && i < from->n_device; i++) {
			const row *at = ROW_AT(r, from->device[i]);
			ok = !marks[at->site] || add(c, k, from->device[i], at->start_ns, row_end_ns(at));
		}
	}
	free(marks);
	return ok;
}

static bool add_host(collectives *c)
{
	const rows *r = c->rows;
	bool *marks = malloc(r->n_sites + 1), ok = marks != NULL;

	for (size_t i = 0; ok && i < r->n_sites; i++)
		marks[i] = communicates_on_host(index_text(r->ix, r->sites[i].name), (site_class)r->sites[i].class);
	for (uint32_t i = 0; ok && i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		if (!marks[at->site] || (at->flags & ROW_ON_STREAM))
			continue;
		for (size_t k = 0; ok && k < c->n_ranks; k++)
			if (c->ranks[k].rank == row_rank(r, at))
				ok = add(c, k, i, at->start_ns, row_end_ns(at));
	}
	free(marks);
	return ok;
}

static size_t count_ranks(const collectives *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_ranks; i++)
		n += c->ranks[i].n > 0;
	return n;
}

static bool collect(collectives *c)
{
	bool ok = is_tracelens(c) || add_device(c);

	for (size_t i = 0; ok && is_tracelens(c) && i < c->n_ranks; i++)
		ok = add_items(c, i);
	if (ok && count_ranks(c) < (c->n_ranks > 1 ? 2 : 1) && !is_tracelens(c)) {
		c->on_host = true;
		for (size_t i = 0; i < c->n_ranks; i++)
			c->ranks[i].n = 0;
		ok = add_host(c);
	}
	for (size_t i = 0; ok && i < c->n_ranks; i++) {
		ok = sort_collectives(c->ranks[i].items, c->ranks[i].n);
		c->reference = c->ranks[i].n > c->ranks[c->reference].n ? i : c->reference;
	}
	return ok;
}

/* ---- Keys of two ranks ------------------------------------------------------------------------------------------- */

/* Those of a key in both ranks: items [a, a_end) and [b, b_end). */
typedef struct key_group {
	size_t a, a_end, b, b_end;
} key_group;

static size_t end_of_key(const collective_rank *rank, size_t i)
{
	size_t end = i;

	while (end < rank->n && rank->items[end].key == rank->items[i].key)
		end++;
	return end;
}

/* From the end of the last group on; zeroed at first. */
static bool next_group(const collective_rank *a, const collective_rank *b, key_group *g)
{
	g->a = g->a_end;
	g->b = g->b_end;
	while (g->a < a->n && g->b < b->n) {
		uint32_t x = a->items[g->a].key, y = b->items[g->b].key;
		if (x < y) {
			g->a = end_of_key(a, g->a);
		} else if (x > y) {
			g->b = end_of_key(b, g->b);
		} else {
			g->a_end = end_of_key(a, g->a);
			g->b_end = end_of_key(b, g->b);
			return true;
		}
	}
	return false;
}

static bool same_size(const key_group *g)
{
	return g->a_end - g->a == g->b_end - g->b;
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The middle of the window of WINDOW_NS that holds the most. */
static int64_t densest(const int64_t *sorted, size_t n)
{
	enum { WINDOW_NS = 100000 };
	size_t best = 0, best_n = 0, first = 0;

	for (size_t last = 0; last < n; last++) {
		while (sorted[last] - sorted[first] > WINDOW_NS)
			first++;
		if (last - first + 1 > best_n) {
			best_n = last - first + 1;
			best = first + best_n / 2;
		}
	}
	return n ? sorted[best] : 0;
}

/* Clocks are not 18 years apart; and what is set by them stays far from overflow. */
static int64_t believable(int64_t offset)
{
	const int64_t most = INT64_C(1) << 59;

	return offset > most ? most : offset < -most ? -most : offset;
}

/* Differences of ends: of those in order where there are as many, else of each with its neighbours' too, one of which
   is the right one: only the right differences are alike. */
static bool find_offset(const collective_rank *reference, collective_rank *rank)
{
	enum { NEIGHBORS = 8 };
	VEC(int64_t) differences = { 0 };
	bool has_equal = false, ok = true;

	for (key_group g = { 0 }; next_group(reference, rank, &g);)
		has_equal |= same_size(&g);
	for (key_group g = { 0 }; ok && next_group(reference, rank, &g);) {
		size_t reach = has_equal ? 0 : NEIGHBORS;
		if (has_equal && !same_size(&g))
			continue;
		for (size_t i = g.a; ok && i < g.a_end; i++) {
			size_t at = g.b + (i - g.a), low = at > g.b + reach ? at - reach : g.b;
			for (size_t k = low; ok && k <= at + reach && k < g.b_end; k++) {
				int64_t *difference = VEC_ADD(&differences);
				ok = difference != NULL;
				if (difference)
					*difference = rank->items[k].end - reference->items[i].end;
			}
		}
	}
	if (ok && differences.n) {
		qsort(differences.items, differences.n, sizeof *differences.items, compare_ns);
		int64_t offset =
			has_equal ? differences.items[differences.n / 2] : densest(differences.items, differences.n);
		rank->offset = believable(reference->offset + believable(offset));
		rank->is_aligned = true;
	}
	VEC_DONE(&differences);
	return ok;
}

/* By the reference, else by a rank that is set already, until no more can be. */
static bool align(collectives *c)
{
	bool ok = true, has_more = true;

	c->ranks[c->reference].is_aligned = true;
	for (size_t i = 0; ok && i < c->n_ranks; i++)
		if (i != c->reference)
			ok = find_offset(&c->ranks[c->reference], &c->ranks[i]);
	while (ok && has_more) {
		has_more = false;
		for (size_t i = 0; ok && i < c->n_ranks; i++) {
			for (size_t k = 0; ok && k < c->n_ranks && !c->ranks[i].is_aligned; k++)
				if (c->ranks[k].is_aligned && c->ranks[k].n) {
					ok = find_offset(&c->ranks[k], &c->ranks[i]);
					has_more |= c->ranks[i].is_aligned;
				}
		}
	}
	return ok;
}

/* ---- Matches ----------------------------------------------------------------------------------------------------- */

/* Half of the usual distance between two ends: nearer ones belong together. */
static int64_t reach_of(const collective *items, size_t n)
{
	int64_t span = n > 1 ? items[n - 1].end - items[0].end : 0;

	return n > 1 && span > 0 ? span / (int64_t)(n - 1) / 2 : INT64_MAX / 4;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* One key on all ranks: items [first[i], end[i]) of rank i. */
typedef struct key_ranges {
	size_t *first, *end;
	size_t *next;	  /* item that has no event yet, from first on */
	size_t most;	  /* of one rank */
	size_t widest;	  /* that rank; the reference where it is one of several */
	uint32_t *places; /* by rank, then by item: the event, from 0 on, or UINT32_MAX */
	size_t *place_of; /* by rank: where its places begin */
} key_ranges;

static void match_by_time(const collectives *c, key_ranges *k, size_t rank, uint32_t *places)
{
	const collective *wide = c->ranks[k->widest].items + k->first[k->widest];
	int64_t reach = reach_of(wide, k->most), offset = c->ranks[rank].offset - c->ranks[k->widest].offset;
	size_t n = k->end[rank] - k->first[rank], at = 0;
	const collective *items = n ? &c->ranks[rank].items[k->first[rank]] : NULL;

	for (size_t i = 0; i < k->most && at < n; i++) {
		/* The nearest one that is still free. */
		while (at + 1 < n && distance(items[at + 1].end - offset, wide[i].end) <=
					     distance(items[at].end - offset, wide[i].end))
			at++;
		uint64_t away = distance(items[at].end - offset, wide[i].end);
		bool nearer_to_next = i + 1 < k->most && distance(items[at].end - offset, wide[i + 1].end) < away;
		if (away <= (uint64_t)reach && !nearer_to_next)
			places[at++] = (uint32_t)i;
	}
}

static bool add_event(collectives *c, const key_ranges *k, size_t number, collective_method method)
{
	collective_event *e = VEC_ADD(&c->events);
	uint32_t first = (uint32_t)c->members.n;

	if (!e)
		return false;
	*e = (collective_event){ .first = first, .method = method, .start = INT64_MAX };
	for (size_t i = 0; i < c->n_ranks; i++) {
		size_t n = k->end[i] - k->first[i];
		const uint32_t *places = k->places + k->place_of[i];
		while (k->next[i] < n && places[k->next[i]] == UINT32_MAX)
			k->next[i]++;
		if (k->next[i] == n || places[k->next[i]] != number)
			continue;
		collective_member *m = VEC_ADD(&c->members);
		if (!m)
			return false;
		*m = (collective_member){ (uint32_t)i, (uint32_t)(k->first[i] + k->next[i]++) };
		int64_t start = collective_start(c, m);
		e->start = start < e->start ? start : e->start;
	}
	e->n = (uint32_t)c->members.n - first;
	c->n_by[method] += e->n > 1;
	for (size_t i = first; e->n > 1 && i < c->members.n; i++)
		c->ranks[c->members.items[i].rank].n_matched++;
	return true;
}

static bool match_key(collectives *c, key_ranges *k, collective_method method)
{
	bool ok, differs = false;
	size_t n_places = 0;

	for (size_t i = 0; i < c->n_ranks; i++) {
		k->place_of[i] = n_places;
		n_places += k->end[i] - k->first[i];
	}
	k->places = malloc((n_places + 1) * sizeof *k->places);
	ok = k->places != NULL;
	if (ok)
		memset(k->places, 0xff, n_places * sizeof *k->places);
	for (size_t i = 0; ok && i < c->n_ranks; i++) {
		size_t n = k->end[i] - k->first[i];
		uint32_t *places = k->places + k->place_of[i];
		bool in_order = n == k->most || is_tracelens(c);
		differs |= n && n != k->most;
		for (size_t at = 0; in_order && at < n; at++)
			places[at] = (uint32_t)at;
		if (!in_order)
			match_by_time(c, k, i, places);
	}
	if (differs && !is_tracelens(c))
		method = COLLECTIVE_BY_END;
	for (size_t i = 0; ok && i < k->most; i++)
		ok = add_event(c, k, i, method);
	free(k->places);
	return ok;
}

/* Key after key: items lie by key on every rank. */
static bool match_all(collectives *c)
{
	key_ranges k = { .first = calloc(c->n_ranks + 1, sizeof *k.first),
			 .end = calloc(c->n_ranks + 1, sizeof *k.end),
			 .next = calloc(c->n_ranks + 1, sizeof *k.next),
			 .place_of = calloc(c->n_ranks + 1, sizeof *k.place_of) };
	bool ok = k.first && k.end && k.next && k.place_of;

	for (uint32_t key = 0; ok && key < c->keys.n; key++) {
		k.most = 0;
		k.widest = c->reference;
		for (size_t i = 0; i < c->n_ranks; i++) {
			const collective_rank *rank = &c->ranks[i];
			k.first[i] = k.end[i];
			k.next[i] = 0;
			while (k.end[i] < rank->n && rank->items[k.end[i]].key == key)
				k.end[i]++;
			size_t n = k.end[i] - k.first[i];
			if (n > k.most || (n == k.most && i == c->reference)) {
				k.most = n;
				k.widest = i;
			}
		}
		ok = match_key(c, &k, c->methods.items[key]);
	}
	free(k.first);
	free(k.end);
	free(k.next);
	free(k.place_of);
	return ok && sort_events(c->events.items, c->events.n);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

const char *collective_method_name(collective_method m)
{
	static const char *const names[COLLECTIVE_METHODS] = { "group and sequence number", "name and size",
							       "name and order", "name and nearest end" };

	return names[m];
}

const char *collective_methods_text(const collectives *c, sonde_result *r)
{
	const char *text = NULL;

	for (collective_method m = 0; m < COLLECTIVE_METHODS; m++)
		if (c->n_by[m])
			text = result_format(r, "%s%s%zu by %s", text ? text : "", text ? ", " : "", c->n_by[m],
					     collective_method_name(m));
	return text ? text : "none";
}

sonde_status collectives_find(const rows *r, const work *w, collectives *ret, sonde_error *err)
{
	collectives *c = ret;

	*c = (collectives){ .n_ranks = r->n_ranks, .rows = r, .w = w };
	c->ranks = calloc(r->n_ranks + 1, sizeof *c->ranks);
	for (size_t i = 0; c->ranks && i < r->n_ranks; i++)
		c->ranks[i].rank = r->ranks[i].rank;
	bool ok = c->ranks && collective_reader_init(&c->reader, r) && (!r->n_ranks || collect(c));
	ok = ok && (!r->n_ranks || is_tracelens(c) || align(c)) && match_all(c);
	return ok ? SONDE_OK : out_of_memory(err);
}

void collectives_done(collectives *c)
{
	for (size_t i = 0; c->ranks && i < c->n_ranks; i++)
		free(c->ranks[i].items);
	free(c->ranks);
	collective_reader_done(&c->reader);
	intern_done(&c->keys);
	VEC_DONE(&c->methods);
	VEC_DONE(&c->events);
	VEC_DONE(&c->members);
	*c = (collectives){ 0 };
}
