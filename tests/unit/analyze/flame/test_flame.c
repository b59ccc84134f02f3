/* Flame graphs of device_trace.h, all of which can be worked out on paper, and of allocations. */
#include "unit/analyze/device_trace.h"

#include <stdio.h>
#include "analyze/flame/flame.h"
#include "unit/import/imported.h"

static void tell_children(const flame *f, uint32_t parent, unsigned depth, FILE *out)
{
	for (uint32_t i = 0; i < f->nodes.n; i++) {
		const flame_node *n = &f->nodes.items[i];
		if (n->parent != parent)
			continue;
		assert_true(parent == FLAME_NONE || parent < i);
		fprintf(out, "%*s%.16s %lld %lld x%llu", (int)depth, "", intern_text(&f->names, n->name),
			(long long)n->value, (long long)n->self, (unsigned long long)n->n_slices);
		if (n->base)
			fprintf(out, " base %lld", (long long)n->base);
		fputc('\n', out);
		tell_children(f, i, depth + 1, out);
	}
}

/* "name value self xcount", indented by depth. */
static const char *tell(const flame *f)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	text[0] = 0;
	tell_children(f, FLAME_NONE, 0, out);
	fclose(out);
	return text;
}

static void check(const sonde_index *ix, flame_options o, const char *becomes)
{
	flame f = { 0 };
	sonde_error err = { .message = "" };

	assert_int_equal(flame_build(&f, ix, &o, &err), SONDE_OK);
	assert_true(flame_cut(&f, o.by >= FLAME_DEVICE, 1000));
	assert_string_equal(tell(&f), becomes);
	assert_false(f.damaged);
	flame_done(&f);
}

static void slices_of_one_path_are_one_node(void **state)
{
	sonde_trace *t = make_device_trace(1);

	(void)state;
	check(t->index, (flame_options){ 0 },
	      "ProfilerStep 200000 160000 x2\n"
	      " aten::mm 20000 15000 x1\n"
	      "  cudaLaunchKernel 5000 5000 x1\n"
	      " cudaMemcpyAsync 5000 5000 x1\n"
	      " aten::add 15000 12000 x1\n"
	      "  cudaLaunchKernel 3000 3000 x1\n");
	check(t->index, (flame_options){ .max_depth = 1 }, "ProfilerStep 200000 200000 x2\n");
	check(t->index, (flame_options){ .by = FLAME_SELF },
	      "ProfilerStep 160000 160000 x2\n"
	      "aten::mm 15000 15000 x1\n"
	      "cudaLaunchKernel 8000 8000 x2\n"
	      "cudaMemcpyAsync 5000 5000 x1\n"
	      "aten::add 12000 12000 x1\n");
	check(t->index, (flame_options){ .tracks = (const uint8_t[]){ 0, 1, 1 } },
	      "gemm 35000 35000 x1\nadd 20000 20000 x1\nMemcpy HtoD (Pag 30000 30000 x1\nncclDevKernel_Al 40000 40000 "
	      "x1\n");
	sonde_trace_free(t);
}

static void kernels_lie_below_what_launched_them(void **state)
{
	sonde_trace *t = make_device_trace(1);

	(void)state;
	check(t->index, (flame_options){ .by = FLAME_DEVICE },
	      "ProfilerStep 85000 0 x0\n"
	      " aten::mm 35000 0 x0\n"
	      "  cudaLaunchKernel 35000 0 x0\n"
	      "   gemm 35000 35000 x1\n"
	      " cudaMemcpyAsync 30000 0 x0\n"
	      "  Memcpy HtoD (Pag 30000 30000 x1\n"
	      " aten::add 20000 0 x0\n"
	      "  cudaLaunchKernel 20000 0 x0\n"
	      "   add 20000 20000 x1\n"
	      "(unknown launch) 40000 0 x0\n"
	      " ncclDevKernel_Al 40000 40000 x1\n");
	sonde_trace_free(t);
}

static void callers_are_upside_down_and_callees_are_not(void **state)
{
	sonde_trace *t = make_device_trace(1);

	(void)state;
	check(t->index, (flame_options){ .mode = FLAME_CALLERS, .name = "cudaLaunchKernel" },
	      "cudaLaunchKernel 8000 0 x2\n"
	      " aten::mm 5000 0 x1\n"
	      "  ProfilerStep 5000 5000 x1\n"
	      " aten::add 3000 0 x1\n"
	      "  ProfilerStep 3000 3000 x1\n");
	check(t->index, (flame_options){ .mode = FLAME_CALLEES, .name = "aten::mm" },
	      "aten::mm 20000 15000 x1\n cudaLaunchKernel 5000 5000 x1\n");
	check(t->index, (flame_options){ .mode = FLAME_CALLEES, .name = "nothing" }, "");
	sonde_trace_free(t);
}

static void a_range_of_time_or_steps_cuts_what_reaches_in(void **state)
{
	sonde_trace *t = make_device_trace(1);
	int64_t start = index_start_ns(t->index);

	(void)state;
	check(t->index, (flame_options){ .use_time = true, .from_ns = start + 12000, .to_ns = start + 18000 },
	      "ProfilerStep 6000 0 x1\n aten::mm 6000 3000 x1\n  cudaLaunchKernel 3000 3000 x1\n");
	check(t->index, (flame_options){ .use_steps = true, .first_step = 2, .last_step = 7 },
	      "ProfilerStep 100000 85000 x1\n aten::add 15000 12000 x1\n  cudaLaunchKernel 3000 3000 x1\n");
	check(t->index, (flame_options){ .use_steps = true, .first_step = 8, .last_step = 9 }, "");
	sonde_trace_free(t);
}

/* The first of two steps. */
static void the_warm_up_is_left_out(void **state)
{
	sonde_trace *t = make_device_trace(1);
	const char *second =
		"ProfilerStep 100000 85000 x1\n aten::add 15000 12000 x1\n  cudaLaunchKernel 3000 3000 x1\n";

	(void)state;
	check(t->index, (flame_options){ .n_warmup = 1 }, second);
	check(t->index, (flame_options){ .n_warmup = 9 }, second); /* the last step stays */
	check(t->index, (flame_options){ .n_warmup = 1, .mode = FLAME_CALLERS, .name = "cudaLaunchKernel" },
	      "cudaLaunchKernel 3000 0 x1\n aten::add 3000 0 x1\n  ProfilerStep 3000 3000 x1\n");
	check(t->index, (flame_options){ .n_warmup = 1, .by = FLAME_DEVICE },
	      "ProfilerStep 20000 0 x0\n"
	      " aten::add 20000 0 x0\n"
	      "  cudaLaunchKernel 20000 0 x0\n"
	      "   add 20000 20000 x1\n");
	sonde_trace_free(t);
}

static void in_the_order_of_time_every_slice_is_a_node(void **state)
{
	sonde_trace *t = make_device_trace(1);
	flame f = { 0 };
	flame_options o = { .mode = FLAME_ORDERED, .min_ns = 4000 };

	(void)state;
	assert_int_equal(flame_build(&f, t->index, &o, NULL), SONDE_OK);
	assert_string_equal(tell(&f), "ProfilerStep 100000 75000 x1\n"
				      " aten::mm 20000 15000 x1\n"
				      "  cudaLaunchKernel 5000 5000 x1\n"
				      " cudaMemcpyAsync 5000 5000 x1\n"
				      "ProfilerStep 100000 85000 x1\n"
				      " aten::add 15000 12000 x1\n");
	assert_int_equal(f.nodes.items[2].start_ns - index_start_ns(t->index), 15000);
	assert_int_equal(f.n_cut, 1);
	flame_done(&f);
	sonde_trace_free(t);
}

static void two_traces_share_their_nodes(void **state)
{
	sonde_trace *t = make_device_trace(1);
	flame f = { 0 };
	flame_options all = { 0 }, late = { .use_steps = true, .first_step = 2, .last_step = 2 };

	(void)state;
	assert_int_equal(flame_build(&f, t->index, &late, NULL), SONDE_OK);
	assert_int_equal(flame_add_base(&f, t->index, &all, NULL), SONDE_OK);
	assert_string_equal(tell(&f), "ProfilerStep 100000 85000 x1 base 200000\n"
				      " aten::add 15000 12000 x1 base 15000\n"
				      "  cudaLaunchKernel 3000 3000 x1 base 3000\n"
				      " aten::mm 0 0 x0 base 20000\n"
				      "  cudaLaunchKernel 0 0 x0 base 5000\n"
				      " cudaMemcpyAsync 0 0 x0 base 5000\n");
	assert_int_equal(f.total, 100000);
	assert_int_equal(f.base_total, 200000);
	flame_done(&f);
	sonde_trace_free(t);
}

static void the_small_is_left_out_and_counted(void **state)
{
	sonde_trace *t = make_device_trace(1);
	flame f = { 0 };
	flame_options o = { 0 };

	(void)state;
	assert_int_equal(flame_build(&f, t->index, &o, NULL), SONDE_OK);
	assert_true(flame_cut(&f, 0, 2));
	assert_string_equal(tell(&f), "ProfilerStep 200000 160000 x2\n aten::mm 20000 15000 x1\n");
	assert_int_equal(f.n_cut, 4);
	assert_int_equal(f.cut_value, 5000 + 5000 + 15000);
	flame_done(&f);
	sonde_trace_free(t);
}

static void bytes_belong_to_the_innermost_slice(void **state)
{
	static const char json[] =
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":10,"
		"\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":12,\"dur\":3},"
#define ALLOCATION(ts, address, bytes)                                                                                 \
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"args\":{\"Addr\":" address ",\"Bytes\":" bytes ",\"Device Type\":0,\"Device Id\":-1}}"
		ALLOCATION("11", "16", "100") "," ALLOCATION("13", "32", "200") "," ALLOCATION(
			"14", "32", "-200") "," ALLOCATION("17", "48", "400") "," ALLOCATION("25", "64", "800") "]}";
	imported i = import_bytes(json, sizeof json - 1, (import_how){ 0 });

	(void)state;
	assert_int_equal(i.status, SONDE_OK);
	check(i.ix, (flame_options){ .by = FLAME_MEMORY },
	      "a 700 500 x2\n b 200 200 x1\n(outside all sli 800 800 x1\n");
	index_free(i.ix);
}

static void what_makes_no_sense_is_refused(void **state)
{
	sonde_trace *t = make_device_trace(1);
	static const flame_options wrong[] = { { .mode = FLAME_CALLERS },
					       { .mode = FLAME_ORDERED, .by = FLAME_DEVICE },
					       { .mode = FLAME_CALLEES, .by = FLAME_MEMORY, .name = "a" } };
	flame f = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(flame_build(&f, t->index, &wrong[i], NULL), SONDE_E_USAGE);
	assert_int_equal(flame_add_base(&f, t->index, &(flame_options){ .mode = FLAME_ORDERED }, NULL), SONDE_E_USAGE);
	flame_done(&f);
	sonde_trace_free(t);
}

/* Kineto's row around all of the profile is as long as everything else together. */
static void the_profilers_own_row_is_no_frame(void **state)
{
	static const char json[] =
		"[{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
		"\"tid\":\"PyTorch Profiler\",\"ts\":1,\"dur\":9},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":2,"
		"\"dur\":3}]";
	imported i = import_bytes(json, sizeof json - 1, (import_how){ 0 });

	(void)state;
	check(i.ix, (flame_options){ 0 }, "aten::mm 3000 3000 x1\n");
	index_free(i.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_one_path_are_one_node),
		cmocka_unit_test(kernels_lie_below_what_launched_them),
		cmocka_unit_test(callers_are_upside_down_and_callees_are_not),
		cmocka_unit_test(a_range_of_time_or_steps_cuts_what_reaches_in),
		cmocka_unit_test(the_warm_up_is_left_out),
		cmocka_unit_test(in_the_order_of_time_every_slice_is_a_node),
		cmocka_unit_test(two_traces_share_their_nodes),
		cmocka_unit_test(the_small_is_left_out_and_counted),
		cmocka_unit_test(bytes_belong_to_the_innermost_slice),
		cmocka_unit_test(the_profilers_own_row_is_no_frame),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
