/* What host rows launched: see device_trace.h for the trace. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/scale_trace.h"

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

/* More rows than a block has; 65 launches a kernel of each length up to 200, others one or none. */
static void places_do_not_depend_on_blocks(void **state)
{
	enum { ROWS = 300 };
	builder *b = builder_with_threads(1);
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	uint32_t host = builder_track(b, TRACK_THREAD, process, 1, INDEX_NONE, INDEX_NONE);
	uint32_t stream = builder_track(b, TRACK_STREAM, process, 7, INDEX_NONE, INDEX_NONE);
	uint32_t launch = scale_site(b, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME);
	uint32_t kernel = scale_site(b, "gemm", "kernel", CLASS_KERNEL);
	int64_t wanted[ROWS + 1] = { 0 }, at = 100000;
	rows r;
	op_tree tree;

	(void)state;
	for (int64_t i = 0; i < ROWS; i++) {
		int64_t n = i == 65 ? 200 : i % 3;
		builder_slice call = {
			.start_ns = 10 * i, .dur_ns = 5, .site = launch, .correlation = (uint64_t)i + 1
		};
		builder_lane_slice(b, host, 0, &call);
		for (int64_t k = 0; k < n; k++, at += 1000) {
			builder_slice device = {
				.start_ns = at, .dur_ns = k + 1, .site = kernel, .correlation = (uint64_t)i + 1
			};
			builder_lane_slice(b, stream, 0, &device);
		}
		wanted[i] = n * (n + 1) / 2;
	}
	sonde_trace *t = finish_trace(b);
	assert_int_equal(rows_load(t, NULL, &r, NULL), SONDE_OK);
	assert_true(op_tree_load(&tree, &r));
	for (uint32_t i = 0; i < ROWS; i++)
		assert_int_equal(op_tree_ns(&tree, i), wanted[i]);
	assert_int_equal(op_tree_first(&tree, (uint32_t)r.n), tree.n_linked);
	op_tree_done(&tree);
	rows_done(&r);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_what_is_launched_inside_it),
		cmocka_unit_test(every_device_row_is_linked_once),
		cmocka_unit_test(places_do_not_depend_on_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
