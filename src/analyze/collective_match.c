/* See collective_match.h. */
#include "analyze/collective_match.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/kernel_kind.h"
#include "base/error.h"
#include "base/vec.h"

#define SORT_NAME sort_collectives
#define SORT_TYPE collective
#define SORT_BEFORE(a, b) ((a)->name != (b)->name ? (a)->name < (b)->name : (a)->start_ns < (b)->start_ns)
#include "store/sort_template.h"

/* ---- Which rows -------------------------------------------------------------------------------------------------- */

/* Calls that last as long as the collective does; nccl: on the host is only its launch. */
static bool communicates_on_host(const char *name, site_class class)
{
	return class == CLASS_COMMUNICATION || strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 ||
	       strncmp(name, "ucc:", 4) == 0;
}

/* One byte a site: its rows are collectives. */
static bool *mark_sites(const rows *r, bool on_host)
{
	bool *marks = malloc(r->n_sites + 1);

	for (size_t i = 0; marks && i < r->n_sites; i++) {
		const char *name = index_text(r->ix, r->sites[i].name);
		site_class class = (site_class)r->sites[i].class;
		marks[i] = on_host ? communicates_on_host(name, class)
				   : kernel_kind_of(name, class) == KERNEL_COMMUNICATION;
	}
	return marks;
}

static bool add(collective_rank *to, const rows *r, uint32_t number)
{
	const row *at = &r->items[number];
	collective *c = VEC_ADD(to);

	if (c)
		*c = (collective){ at->start_ns, row_end_ns(at), r->sites[at->site].name, number };
	return c != NULL;
}

static bool add_device(collective_rank *to, const rows *r, const rows_rank *from, const bool *marks)
{
	bool ok = true;

	for (size_t i = 0; ok && i < from->n_device; i++)
		if (marks[r->items[from->device[i]].site])
			ok = add(to, r, from->device[i]);
	return ok;
}

static bool add_host(collectives *c, const rows *r, const bool *marks)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < r->n; i++) {
		const row *at = &r->items[i];
		if (!marks[at->site] || (at->flags & ROW_ON_STREAM))
			continue;
		for (size_t k = 0; ok && k < c->n_ranks; k++)
			if (c->ranks[k].rank == at->rank)
				ok = add(&c->ranks[k], r, i);
	}
	return ok;
}

static size_t count_ranks(const collectives *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_ranks; i++)
		n += c->ranks[i].n > 0;
	return n;
}

static bool collect(collectives *c, const rows *r)
{
	bool *marks = mark_sites(r, false), *host_marks = mark_sites(r, true);
	bool ok = marks && host_marks;

	for (size_t i = 0; ok && i < r->n_ranks; i++)
		ok = add_device(&c->ranks[i], r, &r->ranks[i], marks);
	if (ok && count_ranks(c) < 2) {
		c->on_host = true;
		for (size_t i = 0; i < c->n_ranks; i++)
			c->ranks[i].n = 0;
		ok = add_host(c, r, host_marks);
	}
	for (size_t i = 0; ok && i < c->n_ranks; i++) {
		ok = sort_collectives(c->ranks[i].items, c->ranks[i].n);
		c->reference = c->ranks[i].n > c->ranks[c->reference].n ? i : c->reference;
	}
	free(marks);
	free(host_marks);
	return ok;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Those of a name in both ranks: items [a, a_end) and [b, b_end). */
typedef struct name_group {
	size_t a, a_end, b, b_end;
} name_group;

static size_t end_of_name(const collective_rank *rank, size_t i)
{
	size_t end = i;

	while (end < rank->n && rank->items[end].name == rank->items[i].name)
		end++;
	return end;
}

/* From the end of the last group on; zeroed at first. */
static bool next_group(const collective_rank *a, const collective_rank *b, name_group *g)
{
	g->a = g->a_end;
	g->b = g->b_end;
	while (g->a < a->n && g->b < b->n) {
		uint32_t x = a->items[g->a].name, y = b->items[g->b].name;
		if (x < y) {
			g->a = end_of_name(a, g->a);
		} else if (x > y) {
			g->b = end_of_name(b, g->b);
		} else {
			g->a_end = end_of_name(a, g->a);
			g->b_end = end_of_name(b, g->b);
			return true;
		}
	}
	return false;
}

static bool same_size(const name_group *g)
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

/* Differences of ends: of those in order where there are as many, else of each with its neighbours' too, one of which
   is the right one: only the right differences are alike. */
static bool find_offset(const collective_rank *reference, collective_rank *rank)
{
	enum { NEIGHBOURS = 8 };
	VEC(int64_t) differences = { 0 };
	bool has_equal = false, ok = true;

	for (name_group g = { 0 }; next_group(reference, rank, &g);)
		has_equal |= same_size(&g);
	for (name_group g = { 0 }; ok && next_group(reference, rank, &g);) {
		size_t reach = has_equal ? 0 : NEIGHBOURS;
		if (has_equal && !same_size(&g))
			continue;
		for (size_t i = g.a; ok && i < g.a_end; i++) {
			size_t at = g.b + (i - g.a), low = at > g.b + reach ? at - reach : g.b;
			for (size_t k = low; ok && k <= at + reach && k < g.b_end; k++) {
				int64_t *difference = VEC_ADD(&differences);
				ok = difference != NULL;
				if (difference)
					*difference = rank->items[k].end_ns - reference->items[i].end_ns;
			}
		}
	}
	if (ok && differences.n) {
		qsort(differences.items, differences.n, sizeof *differences.items, compare_ns);
		rank->offset_ns =
			has_equal ? differences.items[differences.n / 2] : densest(differences.items, differences.n);
	}
	VEC_DONE(&differences);
	return ok;
}

/* ---- Matches ----------------------------------------------------------------------------------------------------- */

static void match(collectives *c, size_t rank, size_t item, size_t with)
{
	c->matches[item * c->n_ranks + rank] = (uint32_t)with;
	c->ranks[rank].n_matched++;
}

/* Half of the usual distance between two ends: nearer ones belong together. */
static int64_t reach_of(const collective *items, size_t n)
{
	int64_t span = n > 1 ? items[n - 1].end_ns - items[0].end_ns : 0;

	return n > 1 && span > 0 ? span / (int64_t)(n - 1) / 2 : INT64_MAX / 4;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static void match_by_time(collectives *c, size_t number, const name_group *g)
{
	const collective_rank *reference = &c->ranks[c->reference], *rank = &c->ranks[number];
	int64_t reach = reach_of(reference->items + g->a, g->a_end - g->a);
	size_t k = g->b;

	c->by_time = true;
	for (size_t i = g->a; i < g->a_end && k < g->b_end; i++) {
		int64_t end = reference->items[i].end_ns, offset = rank->offset_ns;
		/* The nearest one that is still free. */
		while (k + 1 < g->b_end && distance(rank->items[k + 1].end_ns - offset, end) <=
						   distance(rank->items[k].end_ns - offset, end))
			k++;
		uint64_t away = distance(rank->items[k].end_ns - offset, end);
		bool nearer_to_next = i + 1 < g->a_end &&
				      distance(rank->items[k].end_ns - offset, reference->items[i + 1].end_ns) < away;
		if (away <= (uint64_t)reach && !nearer_to_next)
			match(c, number, i, k++);
	}
}

static void match_rank(collectives *c, size_t number)
{
	const collective_rank *reference = &c->ranks[c->reference], *rank = &c->ranks[number];

	for (name_group g = { 0 }; next_group(reference, rank, &g);) {
		if (!same_size(&g))
			match_by_time(c, number, &g);
		for (size_t i = g.a; same_size(&g) && i < g.a_end; i++)
			match(c, number, i, g.b + (i - g.a));
	}
}

sonde_status collectives_find(const rows *r, collectives *ret, sonde_error *err)
{
	collectives *c = ret;

	*c = (collectives){ .n_ranks = r->n_ranks };
	c->ranks = calloc(r->n_ranks + 1, sizeof *c->ranks);
	for (size_t i = 0; c->ranks && i < r->n_ranks; i++)
		c->ranks[i].rank = r->ranks[i].rank;
	bool ok = c->ranks && (!r->n_ranks || collect(c, r));
	size_t n = ok && r->n_ranks ? c->ranks[c->reference].n * c->n_ranks : 0;
	ok = ok && (c->matches = malloc((n + 1) * sizeof *c->matches));
	if (ok)
		memset(c->matches, 0xff, (n + 1) * sizeof *c->matches);
	for (size_t i = 0; ok && i < c->n_ranks; i++) {
		ok = i == c->reference || find_offset(&c->ranks[c->reference], &c->ranks[i]);
		if (ok)
			match_rank(c, i);
	}
	return ok ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

void collectives_done(collectives *c)
{
	for (size_t i = 0; c->ranks && i < c->n_ranks; i++)
		free(c->ranks[i].items);
	free(c->ranks);
	free(c->matches);
	*c = (collectives){ 0 };
}
