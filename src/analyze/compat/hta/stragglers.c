/*
 * Stragglers as HTA 0.6.1 finds them: for `stragglers` with compat "hta".
 *
 * Of the kernels whose name begins with ncclKernel, in a step and at least 1 % of a mean step long, the last of each
 * rank, stream, step and name; of these the stream and name whose durations differ the most between ranks. In each step
 * the two ranks that start it last get a point. The two with the most points are named, whether they are late or not.
 */
#include "analyze/tables/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"
#include "base/vec.h"

enum { NAMED = 2 };

static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "points", "points", CELL_COUNT, 0, false },
};
static const column metric_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "stream", "stream", CELL_INTEGER, 0, false },
	{ "step", "step", CELL_INTEGER, 0, false },
	{ "name", "name", CELL_STRING, 0, false },
	{ "start_ns", "start", CELL_NS, 0, false },
	{ "dur_ns", "time", CELL_NS, 0, false },
	{ "start_steps", "start/step", CELL_NUMBER, 0, false },
	{ "dur_steps", "time/step", CELL_NUMBER, 0, false },
};

typedef struct step_span {
	int64_t number, start, end;
} step_span;

typedef struct candidate {
	int64_t stream, step, start, dur;
	uint32_t name;
	uint32_t rank; /* of work.ranks */
} candidate;

typedef struct hta_search {
	const work *w;
	VEC(step_span) steps; /* of the rank that is looked at */
	VEC(int64_t) numbers; /* of the steps of all ranks */
	VEC(candidate) found;
	int64_t start, end; /* of all steps */
	bool failed;
} hta_search;

/* By stream, name, step, rank and start. */
static int compare(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

#define BY(field)                                                                                                      \
	if (x->field != y->field)                                                                                      \
	return x->field < y->field ? -1 : 1
	BY(stream);
	BY(name);
	BY(step);
	BY(rank);
	BY(start);
#undef BY
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_spans(const void *a, const void *b)
{
	return compare_numbers(&((const step_span *)a)->start, &((const step_span *)b)->start);
}

static size_t count_steps(hta_search *s)
{
	size_t n = 0;

	if (s->numbers.n)
		qsort(s->numbers.items, s->numbers.n, sizeof *s->numbers.items, compare_numbers);
	for (size_t i = 0; i < s->numbers.n; i++)
		n += i == 0 || s->numbers.items[i] != s->numbers.items[i - 1];
	return n;
}

static void find_steps(hta_search *s, const work_rank *rank)
{
	s->steps.n = 0;
	for (size_t i = 0; i < rank->n_annotations; i++) {
		const work_annotation *a = &rank->annotations[i];
		const char *name = row_name(&s->w->rows, ROW_AT(&s->w->rows, a->row));
		if (a->on_device || strncmp(name, "ProfilerStep#", 13) != 0)
			continue;
		step_span *to = VEC_ADD(&s->steps);
		int64_t *number = VEC_ADD(&s->numbers);
		if (!to || !number) {
			s->failed = true;
			return;
		}
		*to = (step_span){ strtoll(name + 13, NULL, 10), a->start, a->start + a->dur };
		*number = to->number;
		s->start = s->numbers.n == 1 || to->start < s->start ? to->start : s->start;
		s->end = s->numbers.n == 1 || to->end > s->end ? to->end : s->end;
	}
	if (s->steps.n)
		qsort(s->steps.items, s->steps.n, sizeof *s->steps.items, compare_spans);
}

/* Of the call that launched it; -1: none. */
static int64_t step_at(const hta_search *s, int64_t ticks)
{
	size_t n = FIRST_NOT(i, 0, s->steps.n, s->steps.items[i].start <= ticks);

	return n && ticks < s->steps.items[n - 1].end ? s->steps.items[n - 1].number : -1;
}

static void find_candidates(hta_search *s, uint32_t number)
{
	const work_rank *rank = &s->w->ranks[number];

	for (size_t i = 0; i < rank->n && !s->failed; i++) {
		const work_item *item = WORK_AT(s->w, rank, i);
		if (item->stream <= 0 || item->launch == WORK_NONE ||
		    strncmp(item_name(s->w, item), "ncclKernel", 10) != 0)
			continue;
		int64_t step = step_at(s, work_call_at(s->w, rank, item->launch).start);
		candidate *c = step > 0 ? VEC_ADD(&s->found) : NULL;
		s->failed |= step > 0 && !c;
		if (c)
			*c = (candidate){ item->stream, step, item->start, item->dur, s->w->rows.sites[item->site].name,
					  number };
	}
}

static bool same_kernel(const candidate *a, const candidate *b)
{
	return a->stream == b->stream && a->name == b->name;
}

/* Only long ones, of each rank and step the last. */
static void thin_out(hta_search *s, double step_ticks)
{
	size_t n = 0;

	for (size_t i = 0; i < s->found.n; i++)
		if ((double)s->found.items[i].dur >= 0.01 * step_ticks)
			s->found.items[n++] = s->found.items[i];
	s->found.n = n;
	if (n)
		qsort(s->found.items, n, sizeof *s->found.items, compare);
	n = 0;
	for (size_t i = 0; i < s->found.n; i++) {
		const candidate *c = &s->found.items[i], *next = c + 1;
		bool is_last =
			i + 1 == s->found.n || !same_kernel(c, next) || c->step != next->step || c->rank != next->rank;
		if (is_last)
			s->found.items[n++] = *c;
	}
	s->found.n = n;
}

/* The deviation of durations over the ranks of a step, from *i on, which moves to the next step. */
static double spread(const candidate *items, size_t *i, size_t end)
{
	size_t first = *i, n;
	double mean = 0, squares = 0;

	while (*i < end && items[*i].step == items[first].step)
		mean += (double)items[(*i)++].dur;
	n = *i - first;
	mean /= (double)n;
	for (size_t k = first; k < *i; k++)
		squares += ((double)items[k].dur - mean) * ((double)items[k].dur - mean);
	return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

/* The stream and name that differ the most: candidates [*ret_first, end). */
static size_t choose(const hta_search *s, size_t *ret_first)
{
	double most = -1;
	size_t best_end = 0, end;

	*ret_first = 0;
	for (size_t first = 0; first < s->found.n; first = end) {
		double sum = 0;
		size_t n = 0;
		for (end = first; end < s->found.n && same_kernel(&s->found.items[first], &s->found.items[end]);)
			end++;
		for (size_t i = first; i < end;) {
			double one = spread(s->found.items, &i, end);
			sum += isnan(one) ? 0 : one;
			n += !isnan(one);
		}
		if (n && sum / (double)n > most) {
			most = sum / (double)n;
			*ret_first = first;
			best_end = end;
		}
	}
	return best_end;
}

/* Of ranks that start at the same time all get their point: HTA gives it to any of them. */
static void give_points(const candidate *items, size_t n, uint64_t *points)
{
	for (size_t i = 0; i < n; i++) {
		size_t later = 0;
		for (size_t k = 0; k < n; k++)
			later += items[k].start > items[i].start;
		points[items[i].rank] += later < NAMED;
	}
}

static void put_named(const hta_search *s, sonde_result *r, uint64_t *points)
{
	table *t = result_table(r, "stragglers", "The two ranks that HTA names", rank_columns,
				sizeof rank_columns / sizeof rank_columns[0]);

	for (int k = 0; k < NAMED; k++) {
		size_t best = 0;
		for (size_t i = 1; i < s->w->n_ranks; i++)
			best = points[i] > points[best] ? i : best;
		if (!points[best])
			return;
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(s->w->ranks[best].rank);
		c[1] = cell_count(points[best]);
		points[best] = 0;
	}
}

static void put_metric(const hta_search *s, sonde_result *r, size_t first, size_t end, double step_ticks)
{
	table *t = result_table(r, "straggler_metric", "The kernel whose durations differ the most", metric_columns,
				sizeof metric_columns / sizeof metric_columns[0]);

	for (size_t i = first; i < end; i++) {
		const candidate *of = &s->found.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(s->w->ranks[of->rank].rank);
		c[1] = cell_integer(of->stream);
		c[2] = cell_integer(of->step);
		c[3] = cell_string(result_string(r, index_text(s->w->rows.ix, of->name)));
		c[4] = work_cell(s->w, of->start);
		c[5] = work_cell(s->w, of->dur);
		c[6] = cell_number((double)(of->start - s->start) / step_ticks);
		c[7] = cell_number((double)of->dur / step_ticks);
	}
}

static bool search(hta_search *s, sonde_result *r)
{
	uint64_t *points = calloc(s->w->n_ranks + 1, sizeof *points);
	size_t first;

	for (uint32_t i = 0; i < s->w->n_ranks; i++) {
		find_steps(s, &s->w->ranks[i]);
		find_candidates(s, i);
	}
	if (!points || s->failed) {
		free(points);
		return false;
	}
	size_t n_steps = count_steps(s);
	double step_ticks = n_steps ? (double)(s->end - s->start) / (double)n_steps : 0;
	thin_out(s, step_ticks);
	size_t end = choose(s, &first);
	for (size_t i = first, next; i < end; i = next) {
		for (next = i; next < end && s->found.items[next].step == s->found.items[i].step;)
			next++;
		give_points(&s->found.items[i], next - i, points);
	}
	put_named(s, r, points);
	put_metric(s, r, first, end, step_ticks);
	free(points);
	return true;
}

sonde_status hta_stragglers(const work *w, sonde_result *r, sonde_error *err)
{
	hta_search s = { .w = w };
	bool ok = search(&s, r);

	VEC_DONE(&s.steps);
	VEC_DONE(&s.numbers);
	VEC_DONE(&s.found);
	return ok ? SONDE_OK : out_of_memory(err);
}
