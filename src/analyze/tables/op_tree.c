/* See op_tree.h. */
#include "analyze/tables/op_tree.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/intervals.h"
#include "analyze/math/stats.h"

/* Operators: what PyTorch calls cpu_op, and called Operator in 2021. */
bool *op_sites(const rows *r)
{
	bool *is_op = malloc(r->n_sites + 1);

	for (size_t i = 0; is_op && i < r->n_sites; i++) {
		const char *category = index_text(r->ix, r->sites[i].category);
		is_op[i] = strcmp(category, "cpu_op") == 0 || strcmp(category, "Operator") == 0;
	}
	return is_op;
}

/* first[row + 1]: how many it launched; then where the next row's begin. */
static void count(op_tree *t)
{
	const rows *r = t->rows;

	for (size_t i = 0; i < r->n_device; i++) {
		const row *at = ROW_AT(r, r->device_rows[i]);
		if (at->launch != ROW_NONE) {
			t->first[at->launch + 1]++;
			t->n_linked++;
		} else {
			t->n_unlinked++;
			t->unlinked_ns = add_bounded(t->unlinked_ns, at->dur_ns);
		}
	}
	for (size_t i = 0; i < r->n; i++)
		t->first[i + 1] += t->first[i];
}

/* Device rows lie by rank and start, and so do those of one row here: a row's are all of one rank. */
static bool fill(op_tree *t)
{
	const rows *r = t->rows;
	uint32_t *next = malloc((r->n + 1) * sizeof *next);

	if (!next)
		return false;
	memcpy(next, t->first, (r->n + 1) * sizeof *next);
	for (size_t i = 0; i < r->n_device; i++) {
		uint32_t launch = rows_at(r, r->device_rows[i]).launch;
		if (launch != ROW_NONE)
			t->launched[next[launch]++] = r->device_rows[i];
	}
	for (size_t i = 0; i < t->n_linked; i++)
		t->sums_ns[i + 1] = add_bounded(t->sums_ns[i], rows_at(r, t->launched[i]).dur_ns);
	free(next);
	return true;
}

bool op_tree_load(op_tree *t, const rows *r)
{
	*t = (op_tree){ .rows = r };
	t->launched = malloc((r->n_device + 1) * sizeof *t->launched);
	t->first = calloc(r->n + 2, sizeof *t->first);
	t->sums_ns = calloc(r->n_device + 1, sizeof *t->sums_ns);
	if (!t->launched || !t->first || !t->sums_ns || !(t->is_op = op_sites(r)))
		return false;
	count(t);
	return fill(t);
}

void op_tree_done(op_tree *t)
{
	free(t->launched);
	free(t->first);
	free(t->sums_ns);
	free(t->is_op);
	*t = (op_tree){ 0 };
}

uint32_t op_tree_op(const op_tree *t, uint32_t at)
{
	while (at != ROW_NONE && !t->is_op[rows_at(t->rows, at).site])
		at = rows_at(t->rows, at).parent;
	return at;
}

int64_t op_tree_busy_ns(const op_tree *t, const uint32_t *device_rows, size_t n)
{
	intervals busy = { 0 };

	if (n == 1)
		return rows_at(t->rows, device_rows[0]).dur_ns;
	for (size_t i = 0; i < n; i++) {
		const row *at = ROW_AT(t->rows, device_rows[i]);
		intervals_add(&busy, at->start_ns, row_end_ns(at));
	}
	int64_t length = intervals_merge(&busy) ? intervals_length(&busy) : -1;
	intervals_done(&busy);
	return length;
}
