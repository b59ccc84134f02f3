/* What host rows launched: see device_trace.h for the trace. */
#include "unit/analyze/device_trace.h"

#include "analyze/tables/op_tree.h"

static uint32_t find(const rows *r, const char *name)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (strcmp(row_name(r, ROW_AT(r, i)), name) == 0)
			return i;
	fail_msg("no row %s", name);
	return ROW_NONE;
}

static void a_row_has_what_is_launched_inside_it(void **state)
{
	sonde_trace *t = make_device_trace(1);
	rows r;
	op_tree tree;
	size_t n;

	(void)state;
	assert_int_equal(rows_load(t, NULL, &r, NULL), SONDE_OK);
	assert_true(op_tree_load(&tree, &r));
	assert_int_equal(tree.n_linked, 3);
	assert_int_equal(tree.n_unlinked, 1); /* the collective */
	assert_int_equal(tree.unlinked_ns, 40000);

	uint32_t step = find(&r, "ProfilerStep#1"), mm = find(&r, "aten::mm"), launch = find(&r, "cudaLaunchKernel");
	const uint32_t *rows_of_step = op_tree_subtree(&tree, step, &n);
	assert_int_equal(n, 2);
	assert_string_equal(row_name(&r, ROW_AT(&r, rows_of_step[0])), "gemm");
	assert_int_equal(op_tree_ns(&tree, step), 65000); /* 25..60 and 50..80 */
	assert_int_equal(op_tree_busy_ns(&tree, rows_of_step, n), 55000);
	op_tree_direct(&tree, step, &n);
	assert_int_equal(n, 0);
	assert_int_equal(op_tree_ns(&tree, mm), 35000);
	op_tree_direct(&tree, mm, &n);
	assert_int_equal(n, 0);
	op_tree_direct(&tree, launch, &n);
	assert_int_equal(n, 1);
	assert_int_equal(op_tree_op(&tree, launch), mm);
	assert_int_equal(op_tree_op(&tree, mm), mm);
	assert_int_equal(op_tree_op(&tree, step), ROW_NONE);
	op_tree_done(&tree);
	rows_done(&r);
	sonde_trace_free(t);
}

static void every_device_row_is_linked_once(void **state)
{
	sonde_trace *t = make_device_trace(2);
	rows r;
	op_tree tree;

	(void)state;
	assert_int_equal(rows_load(t, NULL, &r, NULL), SONDE_OK);
	assert_true(op_tree_load(&tree, &r));
	assert_int_equal(tree.n_linked + tree.n_unlinked, r.n_device);
	for (uint32_t i = 0; i < r.n; i++) {
		size_t n;
		const uint32_t *direct = op_tree_direct(&tree, i, &n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(rows_at(&r, direct[k]).launch, i);
			assert_int_equal(row_rank(&r, ROW_AT(&r, direct[k])), row_rank(&r, ROW_AT(&r, i)));
		}
	}
	op_tree_done(&tree);
	rows_done(&r);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_what_is_launched_inside_it),
		cmocka_unit_test(every_device_row_is_linked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
