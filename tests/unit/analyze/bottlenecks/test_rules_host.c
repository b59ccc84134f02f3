/* Rules about the host, memory and steps: each fires where its trouble is planted, and not where it nearly is. */
#include "unit/analyze/bottlenecks/rule_kit.h"

/* ---- With a device ----------------------------------------------------------------------------------------------- */

static void wait_for_data(kit *k, int64_t t, bool fires)
{
	int64_t wait = fires ? 2000 : 300;

	scope(k, t, t + wait, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	work(k, STREAM, t + wait + 5, 5, t + wait, t + 9990, GEMM, 0);
}

static void load_alone(kit *k, int64_t t, bool fires)
{
	scope(k, t, t + 400,
	      fires ? "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
		    : "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	work(k, STREAM, t + 405, 5, t + 400, t + 9990, GEMM, 0);
}

static void wait_for_launches(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 8000 : 9990, GEMM);
	op(k, t + 8000, t + 9990, "aten::topk");
}

static void wait_for_python(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 8000 : 9900, GEMM);
}

static void wait_most_of_the_time(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 4000 : 6000, GEMM);
}

static void wait_long(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 0, fires ? 8000 : 9900, GEMM); /* a unit is a millisecond */
}

static void wait_in_some_steps(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires && k->step < 4 ? 1000 : 9990, GEMM);
}

/* ---- Synchronisation --------------------------------------------------------------------------------------------- */

/* The device is idle from 8000 to 9000 behind something that ends at 8000. */
static void drain(kit *k, int64_t t)
{
	kernel(k, t, 50, 8000, GEMM);
	work(k, STREAM, t + 8990, 5, t + 9000, t + 9990, GEMM, 0);
}

static void copy_synchronously(kit *k, int64_t t, bool fires)
{
	drain(k, t);
	call(k, t + 5000, t + 8000, fires ? "cudaMemcpy" : "cudaMemcpyAsync");
}

/* Loading is the loader's, also behind a copy. */
static void load_behind_a_copy(kit *k, int64_t t, bool fires)
{
	copy_synchronously(k, t, true);
	scope(k, t + (fires ? 8800 : 8010), t + 8980, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
}

static void set_synchronously(kit *k, int64_t t, bool fires)
{
	drain(k, t);
	call(k, t + 5000, t + 8000, fires ? "cudaMemset" : "cudaMemsetAsync");
}

static void synchronise(kit *k, int64_t t, bool fires)
{
	drain(k, t);
	call(k, t + (fires ? 5000 : 9500), t + (fires ? 8000 : 9995), "cudaStreamSynchronize");
}

static void read_a_value(kit *k, int64_t t, bool fires)
{
	drain(k, t);
	op(k, t + 5000, t + 8005, "aten::_local_scalar_dense");
	call(k, t + 5100, t + 8000, fires ? "cudaStreamSynchronize" : "cudaMemcpyAsync");
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void allocate(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	call(k, t + 1000, t + 1300, "cudaMalloc");
	if (fires)
		call(k, t + 2000, t + 2300, "cudaFree");
}

static void allocate_again(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	op(k, t + 900, t + 2000, "aten::empty");
	call(k, t + 1000, t + 1200, "cudaFree");
	if (fires)
		call(k, t + 1200, t + 1400, "cudaFree");
	call(k, t + 1400, t + 1600, "cudaMalloc");
}

static void change_memory(kit *k, int64_t t, int64_t bytes, uint64_t address, int device_type, int64_t total,
			  int64_t reserved)
{
	builder_allocation a = { .time_ns = 5000000 + t * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device_type = device_type,
				 .device = device_type ? 0 : -1,
				 .address = address,
				 .bytes = bytes,
				 .total_bytes = total,
				 .reserved_bytes = reserved };

	builder_allocation_add(k->b, &a);
}

static void leak(kit *k, int64_t t, bool fires)
{
	uint64_t address = 4096 + (uint64_t)k->step;

	op(k, t + 100, t + 9000, "aten::empty");
	change_memory(k, t + 200, 1 << 20, address, 0, -1, -1);
	if (!fires)
		change_memory(k, t + 300, -(1 << 20), address, 0, -1, -1);
}

static void nearly_fill(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	change_memory(k, t + 200, 1000, 1, 1, fires ? 950 : 850, fires ? 950 : 850);
}

static void fragment(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	change_memory(k, t + 200, 1000, 1, 1, (int64_t)1 << 30, fires ? (int64_t)2 << 30 : ((int64_t)1 << 30) + 9000);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static void fill_on_the_host(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	op(k, t + 100, t + 400, "aten::randn");
	op(k, t + 400, t + 700, "aten::to");
	if (fires)
		work(k, OTHER_STREAM, t + 500, 5, t + 600, t + 610, "Memcpy HtoD (Pinned -> Device)", 0);
}

static void index_in_a_loop(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < (fires ? 20 : 5); i++) {
		op(k, t + 100 + 50 * i, t + 120 + 50 * i, "aten::select");
		op(k, t + 120 + 50 * i, t + 150 + 50 * i, "aten::add");
	}
}

/* Two tensors in each pass; other work behind the loop is not part of it. */
static void index_two_in_a_loop(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < (fires ? 20 : 5); i++) {
		op(k, t + 100 + 50 * i, t + 110 + 50 * i, "aten::select");
		op(k, t + 110 + 50 * i, t + 120 + 50 * i, "aten::argmax");
		op(k, t + 120 + 50 * i, t + 130 + 50 * i, "aten::select");
		op(k, t + 130 + 50 * i, t + 150 + 50 * i, "aten::eq");
	}
	op(k, t + 5000, t + 9000, "aten::mm");
}

static void update_tensors(kit *k, int64_t t, bool fires)
{
	scope(k, t + 5000, t + 9000, "Optimizer.step#Adam.step");
	for (int64_t i = 0; i < 100; i++)
		op(k, t + 5000 + 40 * i, t + 5010 + 40 * i, fires ? "aten::add_" : "aten::_foreach_add_");
}

static void optimise(kit *k, int64_t t, bool fires)
{
	scope(k, t + 5000, t + (fires ? 8000 : 5500), "Optimizer.step#SGD.step");
}

static void zero(kit *k, int64_t t, bool fires)
{
	scope(k, t + 5000, t + 5500, "Optimizer.zero_grad#SGD.zero_grad");
	op(k, t + 5010, t + 5400, fires ? "aten::zero_" : "aten::detach");
}

static void add_a_bias(kit *k, int64_t t, bool fires)
{
	op(k, t + 100, t + 1100, "aten::conv2d");
	op(k, t + 800, t + 1000, "aten::add_");
	op(k, t + 1100, t + 1500, fires ? "aten::batch_norm" : "aten::relu");
}

static void attend(kit *k, int64_t t, bool fires)
{
	op(k, t + 100, t + 200, "aten::bmm");
	op(k, t + 200, t + 500, "aten::div");
	op(k, t + 500, t + 1000, fires ? "aten::softmax" : "aten::relu");
	op(k, t + 1000, t + 1200, "aten::dropout");
	op(k, t + 1200, t + 1300, "aten::bmm");
}

static void change_types(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < (fires ? 3 : 1); i++)
		op(k, t + 100 + 400 * i, t + 400 + 400 * i, "aten::_to_copy");
}

static void call_tiny_operators(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < (fires ? 1000 : 100); i++)
		op(k, t + (fires ? 10 : 100) * i, t + (fires ? 10 * i + 5 : 100 * i + 95), "aten::add");
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void compile_again(kit *k, int64_t t, bool fires)
{
	scope(k, t + 100, t + 1100, fires ? "_compile.compile_inner (dynamo_timed)" : "Torch-Compiled Region: 0/0");
}

static void break_the_graph(kit *k, int64_t t, bool fires)
{
	scope(k, t + 100, t + 1000, "Torch-Compiled Region: 0/0");
	scope(k, t + 2000, t + 3000, fires ? "Torch-Compiled Region: 1/0" : "Torch-Compiled Region: 0/0");
}

static void take_long_once(kit *k, int64_t t, bool fires)
{
	if (k->step == KIT_STEPS - 1) /* a step of its own length behind the last */
		put(k, MAIN, t + KIT_STEP, t + KIT_STEP + (fires ? 30000 : 11000), "ProfilerStep#11", CLASS_STEP, 0, 0);
}

static void start_late(kit *k, int64_t t, bool fires)
{
	if (k->step == 0)
		put(k, OTHER_THREAD, t - (fires ? 6000000 : 4000000), t, "import", CLASS_ANNOTATION, 0, 0);
}

static void save_slowly(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < 3; i++)
		scope(k, t + 3000 * i, t + 3000 * i + (i == 0 && k->step % 5 == 0 ? (fires ? 2900 : 250) : 100),
		      "save");
}

/* What calls itself has calls of all lengths. */
static void save_or_recurse(kit *k, int64_t t, bool fires)
{
	if (fires)
		save_slowly(k, t, true);
	else if (k->step % 5 == 0)
		scope(k, t, t + 2900, "save");
	for (int64_t i = 0; i < 5 && !fires; i++)
		scope(k, t + 10 + 200 * i, t + 110 + 200 * i, "save");
}

static void use_data_parallel(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 9990, GEMM);
	put(k, MAIN, t + 100, t + 200, fires ? "DataParallel.forward" : "DistributedDataParallel.forward",
	    CLASS_COMPUTE, 0, 0);
}

static void debug(kit *k, int64_t t, bool fires)
{
	put(k, MAIN, t + 100, t + 200, fires ? "torch/autograd/anomaly_mode.py(91): __enter__" : "train.py(3): step",
	    CLASS_PYTHON, 0, 0);
}

static void evaluate_with_gradients(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < 30; i++)
		put(k, MAIN, t + 100 * i, t + 100 * i + 50, "aten::mul", CLASS_COMPUTE, 0,
		    kit_args(k, "Sequence number", "17", "Ev Idx", "1"));
	if (!fires)
		op(k, t + 9000, t + 9500, "autograd::engine::evaluate_function: MulBackward0");
}

static void rules_of_the_host_fire_where_planted_and_not_nearly_there(void **state)
{
	static const rule_case cases[] = {
		{ .rule = "dataloader", .plant = wait_for_data, .lost_us = 2000 },
		{ .rule = "sync_loader", .plant = load_alone, .lost_us = 400 },
		{ .rule = "launch_bound", .plant = wait_for_launches, .lost_us = 1990 },
		{ .rule = "python_bound", .plant = wait_for_python, .lost_us = 2050 },
		{ .rule = "low_utilization", .plant = wait_most_of_the_time, .lost_us = 6050 },
		{ .rule = "gpu_gaps", .plant = wait_long, .lost_us = 2000, .unit = 1000000 },
		{ .rule = "low_regions", .plant = wait_in_some_steps, .lost_us = 3620 },
		{ .rule = "sync_copy", .plant = copy_synchronously, .lost_us = 1000 },
		{ .rule = "sync_copy", .plant = load_behind_a_copy, .lost_us = 820 },
		{ .rule = "sync_memset", .plant = set_synchronously, .lost_us = 1000 },
		{ .rule = "explicit_sync", .plant = synchronise, .lost_us = 1000 },
		{ .rule = "item_sync", .plant = read_a_value, .lost_us = 1000 },
		{ .rule = "alloc_thrash", .plant = allocate, .lost_us = 600 },
		{ .rule = "alloc_retry", .plant = allocate_again, .lost_us = 600 },
		{ .rule = "leak", .plant = leak, .lost_us = -1 },
		{ .rule = "near_limit", .plant = nearly_fill, .lost_us = -1, .device = "[{\"totalGlobalMem\": 1000}]" },
		{ .rule = "fragmentation", .plant = fragment, .lost_us = -1 },
		{ .rule = "cpu_fill", .plant = fill_on_the_host, .lost_us = 600 },
		{ .rule = "loop_indexing", .plant = index_in_a_loop, .lost_us = 950 },
		{ .rule = "loop_indexing", .plant = index_two_in_a_loop, .lost_us = 950 },
		{ .rule = "single_tensor_optimizer", .plant = update_tensors, .lost_us = 3000 },
		{ .rule = "optimizer_heavy", .plant = optimise, .lost_us = 3000 },
		{ .rule = "zero_grad", .plant = zero, .lost_us = 500 },
		{ .rule = "conv_bias", .plant = add_a_bias, .lost_us = 200 },
		{ .rule = "unfused_attention", .plant = attend, .lost_us = 1000 },
		{ .rule = "dtype_changes", .plant = change_types, .lost_us = 900 },
		{ .rule = "overhead", .plant = call_tiny_operators, .lost_us = 10000 },
		{ .rule = "recompile", .plant = compile_again, .lost_us = 1000 },
		{ .rule = "graph_breaks", .plant = break_the_graph, .lost_us = 1000 },
		{ .rule = "step_outliers", .plant = take_long_once, .lost_us = 2000 },
		{ .rule = "slow_start", .plant = start_late, .lost_us = 600000 },
		{ .rule = "call_outliers", .plant = save_slowly, .lost_us = 560 },
		{ .rule = "call_outliers", .plant = save_or_recurse, .lost_us = 560 },
		{ .rule = "data_parallel", .plant = use_data_parallel, .lost_us = -1 },
		{ .rule = "debug_on", .plant = debug, .lost_us = -1 },
		{ .rule = "grad_in_eval", .plant = evaluate_with_gradients, .lost_us = -1 },
	};

	(void)state;
	check_rules(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_the_host_fire_where_planted_and_not_nearly_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
