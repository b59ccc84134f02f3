/*
 * All-to-alls: how fast and how even they are, and who sends how much to whom.
 *
 * What a rank sends is divided by its split sizes, which count along the first dimension, or evenly where it has none.
 * PyTorch shortens long lists: such a rank's share is not known and is counted. The n-th part goes to the n-th rank of
 * the group, by its global number where the trace tells; by TraceLens's rules to rank n.
 */
#include "analyze/analyses/collectives/collectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const column event_columns[] = {
	{ "collective_id", "id", CELL_INTEGER, 0, false },
	{ "name", "collective", CELL_STRING, 0, false },
	{ "n_ranks", "ranks", CELL_COUNT, 0, false },
	{ "wall_ns", "from first to last", CELL_NS, 0, false },
	{ "bytes", "sent", CELL_BYTES, 0, false },
	{ "gbps", "GB/s", CELL_NUMBER, 0, false },
	{ "imbalance", "largest/mean", CELL_NUMBER, 0, false },
};
static const column matrix_columns[] = {
	{ "source", "from rank", CELL_INTEGER, 0, false },
	{ "destination", "to rank", CELL_INTEGER, 0, false },
	{ "bytes", "bytes", CELL_BYTES, 0, false },
	{ "count", "times", CELL_COUNT, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

typedef struct edge {
	int64_t source, destination;
	uint64_t n;
	double bytes;
} edge;

typedef struct matrix {
	const collectives *c;
	intern_table keys;
	VEC(edge) edges;
	size_t n_unknown; /* ranks' parts */
	size_t n_parts;
	bool failed;
} matrix;

#define SORT_NAME sort_edges
#define SORT_TYPE edge
#define SORT_BEFORE(a, b) ((a)->source != (b)->source ? (a)->source < (b)->source : (a)->destination < (b)->destination)
#include "base/sort_template.h"

static void add_edge(matrix *m, int64_t source, int64_t destination, double bytes)
{
	int64_t key[] = { source, destination };
	uint32_t at = intern(&m->keys, (const char *)key, sizeof key);

	if (at == INTERN_NONE || (at == m->edges.n && !VEC_ADD(&m->edges))) {
		m->failed = true;
		return;
	}
	edge *e = &m->edges.items[at];
	e->source = source;
	e->destination = destination;
	e->n++;
	e->bytes += bytes;
}

/* The numbers of a list; false when it is cut or has none. */
static bool read_list(const char *text, size_t *ret_n, int64_t *ret_sum)
{
	const char *at = text;

	*ret_n = 0;
	*ret_sum = 0;
	if (!text)
		return false;
	for (int64_t value; (value = collective_list_next(&at)) >= 0; ++*ret_n)
		if (__builtin_add_overflow(*ret_sum, value, ret_sum))
			return false;
	return *ret_n && (*at == ']' || !*at);
}

static void add_parts(matrix *m, const collective *one, int32_t rank)
{
	enum { MOST = 1 << 16, MOST_PARTS = 1 << 24 }; /* of a group; of all */
	const collective_args *a = &one->args;
	int64_t bytes = collective_bytes(a), sum, ignored;
	size_t n, n_ranks;
	bool has_split = read_list(a->in_split, &n, &sum);
	bool is_even = !a->in_split || strcmp(a->in_split, "[]") == 0;
	bool has_ranks = read_list(a->ranks, &n_ranks, &ignored) && !m->c->w->is_tracelens;

	if (is_even && a->group_size > 0) {
		n = (size_t)a->group_size;
		sum = a->group_size;
	}
	if (bytes < 0 || (!has_split && (!is_even || a->group_size <= 0)) || sum <= 0 || n > MOST ||
	    (m->n_parts += n) > MOST_PARTS || (has_ranks && n_ranks != n)) {
		m->n_unknown++;
		return;
	}
	const char *split = a->in_split, *ranks = a->ranks;
	for (size_t i = 0; i < n; i++) {
		int64_t part = is_even ? 1 : collective_list_next(&split);
		int64_t to = has_ranks ? collective_list_next(&ranks) : (int64_t)i;
		add_edge(m, rank, to, (double)bytes * (double)part / (double)sum);
	}
}

static void put_event(const collectives *c, size_t number, sonde_result *r, table *t)
{
	const collective_event *e = &c->events.items[number];
	int64_t first = INT64_MAX, last = INT64_MIN;
	double sum = 0, most = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		const collective_member *m = &c->members.items[e->first + i];
		int64_t bytes = collective_bytes(&collective_of(c, m)->args);
		int64_t start = collective_start(c, m), end = collective_end(c, m);
		first = start < first ? start : first;
		last = end > last ? end : last;
		sum = bytes < 0 ? NAN : sum + (double)bytes;
		most = fmax(most, (double)bytes);
	}
	double wall_ns = work_ns(c->w, (double)(last - first));
	double unit = c->w->is_tracelens ? 1073741824.0 / 1e9 : 1;
	cell *to = table_row(r, t, 0);
	*to++ = cell_integer((int64_t)number);
	*to++ = cell_string(result_string(r, event_args(c, e)->name));
	*to++ = cell_count(e->n);
	*to++ = work_cell(c->w, last - first);
	*to++ = isnan(sum) ? cell_unknown() : cell_bytes((uint64_t)sum);
	*to++ = isnan(sum) || wall_ns <= 0 ? cell_unknown() : cell_number(sum / wall_ns / unit);
	*to++ = isnan(sum) || sum <= 0 ? cell_unknown() : cell_number(most * e->n / sum);
}

static void put_matrix(const matrix *m, sonde_result *r)
{
	table *t = result_table(r, "all_to_all_matrix", "Bytes from rank to rank", matrix_columns,
				N_COLUMNS(matrix_columns));

	for (size_t i = 0; i < m->edges.n; i++) {
		const edge *e = &m->edges.items[i];
		cell *c = table_row(r, t, 0);
		*c++ = cell_integer(e->source);
		*c++ = cell_integer(e->destination);
		*c++ = cell_bytes((uint64_t)llrint(e->bytes));
		*c++ = cell_count(e->n);
	}
	if (m->n_unknown)
		result_note_add(r, "unknown", "all_to_all_matrix: the sizes of %zu calls are unknown", m->n_unknown);
}

bool collectives_put_all_to_all(const collectives *c, sonde_result *r)
{
	table *t = result_table(r, "all_to_all", "All-to-alls", event_columns, N_COLUMNS(event_columns));
	matrix m = { .c = c };

	for (size_t i = 0; i < c->events.n; i++) {
		const collective_event *e = &c->events.items[i];
		if (event_args(c, e)->kind != COLLECTIVE_ALL_TO_ALL)
			continue;
		put_event(c, i, r, t);
		for (uint32_t k = 0; k < e->n; k++) {
			const collective_member *member = &c->members.items[e->first + k];
			add_parts(&m, collective_of(c, member), c->ranks[member->rank].rank);
		}
	}
	bool ok = !m.failed && sort_edges(m.edges.items, m.edges.n);
	put_matrix(&m, r);
	intern_done(&m.keys);
	VEC_DONE(&m.edges);
	return ok;
}
