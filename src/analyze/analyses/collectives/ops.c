/* Collectives of each rank by themselves: how often, how large and how long, waiting included. */
#include "analyze/analyses/collectives/collectives.h"

#include <math.h>
#include <stdlib.h>
#include "analyze/math/stats.h"

static const column op_columns[] = {
	{ "name", "collective", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "group", "group", CELL_STRING, 3, false },
	{ "group_ranks", "ranks", CELL_STRING, 5, false },
	{ "group_size", "of", CELL_COUNT, 4, false },
	{ "dtype", "type", CELL_STRING, 2, false },
	{ "in_elements", "in", CELL_COUNT, 4, false },
	{ "out_elements", "out", CELL_COUNT, 4, false },
	{ "in_split", "in split", CELL_STRING, -1, false },
	{ "out_split", "out split", CELL_STRING, -1, false },
	{ "in_bytes", "in size", CELL_BYTES, 1, false },
	{ "out_bytes", "out size", CELL_BYTES, 2, false },
	{ "stream", "stream", CELL_INTEGER, 4, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "sum_ns", "total", CELL_NS, 0, false },
	{ "mean_ns", "mean", CELL_NS, 0, false },
	{ "std_ns", "std", CELL_NS, 3, false },
	{ "min_ns", "min", CELL_NS, 2, false },
	{ "max_ns", "max", CELL_NS, 1, false },
};

typedef struct op_sum {
	const collective *sample;
	uint32_t rank;
	uint64_t n;
	int64_t sum_ns, min_ns, max_ns;
	double mean, squares;
} op_sum;
typedef VEC(op_sum) op_sums;

#define SORT_NAME sort_ops
#define SORT_TYPE op_sum
#define SORT_BEFORE(a, b) ((a)->sum_ns > (b)->sum_ns)
#include "base/sort_template.h"

static bool add(const collectives *c, uint32_t rank, const collective *one, intern_table *keys, op_sums *to)
{
	const rows *in = &c->w->rows;
	const row *at = ROW_AT(in, one->row);
	const collective_args *a = &one->args;
	/* Texts of arguments are the same where they are equal. */
	const struct {
		const char *name, *group, *ranks, *dtype, *in_split, *out_split;
		int64_t in_elements, out_elements, site, rank, stream, group_size;
	} key = { a->name,	  a->group,	      a->ranks,
		  a->dtype,	  a->in_split,	      a->out_split,
		  a->in_elements, a->out_elements,    a->name ? -1 : (int64_t)in->sites[at->site].name,
		  (int64_t)rank,  row_stream(in, at), a->group_size };
	uint32_t number = intern(keys, (const char *)&key, sizeof key);

	if (number == INTERN_NONE || (number == to->n && !VEC_ADD(to)))
		return false;
	op_sum *s = &to->items[number];
	if (!s->n++)
		*s = (op_sum){ one, rank, 1, 0, at->dur_ns, at->dur_ns, 0, 0 };
	double away = (double)at->dur_ns - s->mean;
	s->mean += away / (double)s->n;
	s->squares += away * ((double)at->dur_ns - s->mean);
	s->sum_ns = add_bounded(s->sum_ns, at->dur_ns);
	s->min_ns = at->dur_ns < s->min_ns ? at->dur_ns : s->min_ns;
	s->max_ns = at->dur_ns > s->max_ns ? at->dur_ns : s->max_ns;
	return true;
}

static cell count_cell(int64_t n)
{
	return n < 0 ? cell_unknown() : cell_count((uint64_t)n);
}

static cell size_cell(int64_t elements, int64_t element_bytes)
{
	int64_t bytes;

	return elements < 0 || element_bytes < 0 || __builtin_mul_overflow(elements, element_bytes, &bytes)
		       ? cell_unknown()
		       : cell_bytes((uint64_t)bytes);
}

static void put(const collectives *c, const op_sum *s, sonde_result *r, table *t)
{
	const rows *in = &c->w->rows;
	const row *at = ROW_AT(in, s->sample->row);
	const collective_args *a = &s->sample->args;
	double std = s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : NAN, mean = (double)s->sum_ns / (double)s->n;
	cell *to = table_row(r, t, 0);

	*to++ = cell_string(result_string(r, a->name ? a->name : row_name(in, at)));
	*to++ = cell_integer(c->ranks[s->rank].rank);
	*to++ = cell_string(result_string(r, a->group));
	*to++ = cell_string(result_string(r, a->ranks));
	*to++ = count_cell(a->group_size);
	*to++ = cell_string(result_string(r, a->dtype));
	*to++ = count_cell(a->in_elements);
	*to++ = count_cell(a->out_elements);
	*to++ = cell_string(result_string(r, a->in_split));
	*to++ = cell_string(result_string(r, a->out_split));
	*to++ = size_cell(a->in_elements, a->element_bytes);
	*to++ = size_cell(a->out_elements, a->element_bytes);
	*to++ = row_stream(in, at) < 0 ? cell_unknown() : cell_integer(row_stream(in, at));
	*to++ = cell_count(s->n);
	*to++ = cell_ns(s->sum_ns);
	*to++ = c->w->is_tracelens ? cell_number(mean) : cell_ns(whole_bounded(rint(mean)));
	*to++ = isnan(std) ? cell_unknown() : c->w->is_tracelens ? cell_number(std) : cell_ns(whole_bounded(rint(std)));
	*to++ = cell_ns(s->min_ns);
	*to++ = cell_ns(s->max_ns);
}

bool collectives_put_ops(const collectives *c, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "collective_ops", "Collectives of each rank, including waiting", op_columns,
				sizeof op_columns / sizeof op_columns[0]);
	intern_table keys = { 0 };
	op_sums sums = { 0 };
	bool ok = true;

	for (uint32_t k = 0; k < c->n_ranks; k++)
		for (size_t i = 0; ok && i < c->ranks[k].n; i++)
			ok = add(c, k, &c->ranks[k].items[i], &keys, &sums);
	ok = ok && sort_ops(sums.items, sums.n);
	for (size_t i = 0; ok && i < sums.n; i++)
		put(c, &sums.items[i], r, t);
	limit_rows(r, t, options, "collectives");
	intern_done(&keys);
	VEC_DONE(&sums);
	return ok;
}
