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

/* Where the launched of each block begin, and who of it launched them. */
static void place(op_tree *t)
{
	const rows *r = t->rows;
	size_t n_blocks = r->n / OP_TREE_BLOCK + 2, block = 0;

	for (size_t i = 0; i < t->n_linked; i++) {
		uint32_t launch = rows_launch_of(r, t->launched[i]);
		for (; block <= launch / OP_TREE_BLOCK; block++)
			t->first[block] = (uint32_t)i;
		t->places[i] = (uint8_t)(launch % OP_TREE_BLOCK);
		t->sums_ns[i + 1] = add_bounded(t->sums_ns[i], rows_at(r, t->launched[i]).dur_ns);
	}
	for (; block < n_blocks; block++)
		t->first[block] = (uint32_t)t->n_linked;
}

static void sum_unlinked(op_tree *t)
{
	const rows *r = t->rows;

	t->n_unlinked = r->n_device - t->n_linked;
	for (size_t i = 0; t->n_unlinked && i < r->n_device; i++)
		if (rows_launch_of(r, r->device_rows[i]) == ROW_NONE)
			t->unlinked_ns = add_bounded(t->unlinked_ns, rows_at(r, r->device_rows[i]).dur_ns);
}

bool op_tree_load(op_tree *t, const rows *r)
{
	*t = (op_tree){ .rows = r };
	t->launched = rows_by_launch(r, &t->n_linked);
	t->first = malloc((r->n / OP_TREE_BLOCK + 2) * sizeof *t->first);
	t->places = malloc(t->n_linked + 1);
	t->sums_ns = malloc((t->n_linked + 1) * sizeof *t->sums_ns);
	if (!t->launched || !t->first || !t->places || !t->sums_ns || !(t->is_op = op_sites(r)))
		return false;
	t->sums_ns[0] = 0;
	place(t);
	sum_unlinked(t);
	return true;
}

void op_tree_done(op_tree *t)
{
	free(t->launched);
	free(t->places);
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
