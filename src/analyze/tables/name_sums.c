/* See name_sums.h. */
#include "analyze/tables/name_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool name_sums_init(name_sums *s, const work *w)
{
	*s = (name_sums){ .n_names = w->rows.ix ? index_n_strings(w->rows.ix) : 0 };
	s->of_name = malloc((s->n_names + 1) * sizeof *s->of_name);
	if (s->of_name)
		memset(s->of_name, 0xff, (s->n_names + 1) * sizeof *s->of_name);
	return s->of_name != NULL;
}

static name_sum *find(name_sums *s, uint32_t name, uint32_t kind)
{
	uint32_t *head = &s->of_name[name < s->n_names ? name : s->n_names];

	for (uint32_t at = *head; at != WORK_NONE; at = s->items.items[at].next)
		if (s->items.items[at].kind == kind && s->items.items[at].name == name)
			return &s->items.items[at];
	name_sum *made = VEC_ADD(&s->items);
	if (!made)
		return NULL;
	*made = (name_sum){ .name = name, .kind = kind, .next = *head, .min = INT64_MAX, .max = INT64_MIN };
	*head = (uint32_t)s->items.n - 1;
	return made;
}

bool name_sums_add(name_sums *s, uint32_t name, uint32_t kind, int64_t ticks)
{
	name_sum *sum = find(s, name, kind);

	if (!sum)
		return false;
	double delta = (double)ticks - sum->mean;
	sum->n++;
	sum->sum += ticks;
	sum->mean += delta / (double)sum->n;
	sum->squares += delta * ((double)ticks - sum->mean);
	sum->min = ticks < sum->min ? ticks : sum->min;
	sum->max = ticks > sum->max ? ticks : sum->max;
	return true;
}

typedef struct named_sum {
	name_sum sum;
	const char *text;
} named_sum;

static int compare(const void *a, const void *b)
{
	const named_sum *x = a, *y = b;

	if (x->sum.sum != y->sum.sum)
		return x->sum.sum > y->sum.sum ? -1 : 1;
	int order = strcmp(x->text, y->text);
	return order ? order : x->sum.kind < y->sum.kind ? -1 : 1;
}

/* Without memory for the texts the order stays that of the trace. */
void name_sums_sort(name_sums *s, const work *w)
{
	named_sum *named = malloc((s->items.n + 1) * sizeof *named);

	for (size_t i = 0; i < s->items.n; i++)
		s->of_name[s->items.items[i].name < s->n_names ? s->items.items[i].name : s->n_names] = WORK_NONE;
	if (!named)
		return;
	for (size_t i = 0; i < s->items.n; i++)
		named[i] = (named_sum){ s->items.items[i], index_text(w->rows.ix, s->items.items[i].name) };
	qsort(named, s->items.n, sizeof *named, compare);
	for (size_t i = 0; i < s->items.n; i++)
		s->items.items[i] = named[i].sum;
	free(named);
}

void name_sums_clear(name_sums *s)
{
	for (size_t i = 0; i < s->items.n; i++)
		s->of_name[s->items.items[i].name < s->n_names ? s->items.items[i].name : s->n_names] = WORK_NONE;
	s->items.n = 0;
}

void name_sums_done(name_sums *s)
{
	VEC_DONE(&s->items);
	free(s->of_name);
	s->of_name = NULL;
}

void name_sum_cells(const work *w, const name_sum *s, cell *to)
{
	to[0] = cell_count(s->n);
	to[1] = w->is_hta ? work_cell_f64(w, (double)s->sum) : cell_ns((int64_t)s->sum);
	to[2] = work_cell_f64(w, (double)s->sum / (double)s->n);
	to[3] = work_cell_f64(w, s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : w->is_hta ? 0 : NAN);
	to[4] = work_cell(w, s->min);
	to[5] = work_cell(w, s->max);
}
