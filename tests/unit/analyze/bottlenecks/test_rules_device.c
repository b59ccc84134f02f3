/* Rules about kernels, copies and collectives: each fires where its trouble is planted, and not where it nearly is. */
#include "unit/analyze/bottlenecks/rule_kit.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static void copy_to_the_host(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 8990 : 9990, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 8990, t + 9990, "Memcpy DtoH (Device -> Pinned)", 0);
}

static void copy_pageable(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 8990, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 8990, t + 9990,
	     fires ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)", 0);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void wait_with_work_queued(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 7000, GEMM);
	work(k, STREAM, t + (fires ? 20 : 8900), 5, t + 9000, t + 9990, GEMM, 0);
}

static void launch_late(kit *k, int64_t t, bool fires)
{
	wait_with_work_queued(k, t, !fires);
}

static void launch_short_kernels(kit *k, int64_t t, bool fires)
{
	op(k, t + 100, t + 5100, "aten::many");
	for (int64_t i = 0; i < 50; i++)
		work(k, STREAM, t + 100 + 100 * i, 50, t + 150 + 100 * i, t + 150 + 100 * i + (fires ? 5 : 60), GEMM,
		     0);
	work(k, STREAM, t + 5110, 5, t + 5210, t + 9990, GEMM, 0);
}

static void launch_slowly(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < 10; i++)
		work(k, STREAM, t + 10 + 10 * i, 5, t + 20 + 10 * i, t + 30 + 10 * i, GEMM, 0);
	op(k, t + 200, t + 1300, "aten::mm");
	work(k, STREAM, t + 210, fires ? 1005 : 40, t + 1220, t + 9990, GEMM, 0);
}

static void fill_the_queue(kit *k, int64_t t, bool fires)
{
	int64_t n = fires ? 1100 : 900;

	for (int64_t i = 0; i < n; i++)
		work(k, STREAM, t + 100 + i, 1, t + 8000 + i, t + 8001 + i, GEMM, 0);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void multiply_without_tensor_cores(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 0, 10000, fires ? "gemm_kernel_128x64" : GEMM);
}

static void multiply_in_float32(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 0, 10000, fires ? "ampere_sgemm_128x64_nn" : "ampere_sgemm_tf32_128x64_nn");
}

static void multiply_odd_sizes(kit *k, int64_t t, bool fires)
{
	put(k, MAIN, t + 5, t + 100, "aten::mm", CLASS_COMPUTE, 0,
	    kit_args(k, "Input Dims", fires ? "[[64, 33], [33, 64]]" : "[[63, 32], [32, 64]]", "Input type",
		     "[\"c10::BFloat16\", \"c10::BFloat16\"]"));
	kernel(k, t, 50, 5050, GEMM);
}

static void occupy_little(kit *k, int64_t t, bool fires)
{
	work(k, STREAM, t + 10, 5, t + 50, t + 9050, "softmax_warp_forward",
	     kit_args(k, "est. achieved occupancy %", fires ? "5" : "30", "x", "1"));
}

static void fill_part_of_the_device(kit *k, int64_t t, bool fires)
{
	work(k, STREAM, t + 10, 5, t + 50, t + 9050, "softmax_warp_forward",
	     kit_args(k, "blocks per SM", fires ? "0.25" : "1.5", "x", "1"));
}

static void chain_elementwise(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 0; i < 5; i++)
		work(k, STREAM, t + 10 + 10 * i, 5, t + 50 + 1000 * i, t + 1050 + 1000 * i,
		     fires || i % 3 < 2 ? "void at::native::vectorized_elementwise_kernel<4>" : GEMM, 0);
	work(k, STREAM, t + 80, 5, t + 5050, t + 9990, GEMM, 0);
}

static void convert_layouts(kit *k, int64_t t, bool fires)
{
	work(k, STREAM, t + 10, 5, t + 50, t + (fires ? 1050 : 350), "void cudnn::ops::nchwToNhwcKernel<float>", 0);
	work(k, STREAM, t + 20, 5, t + 1050, t + 9990, GEMM, 0);
}

/* ---- Communication ----------------------------------------------------------------------------------------------- */

static void communicate_in_the_open(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 8990 : 9990, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 8990, t + 9990, ALL_REDUCE, 0);
}

static void communicate_much(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 9790 : 9990, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 7000, t + 9990, ALL_REDUCE, 0);
}

static void send_late(kit *k, int64_t t, bool fires)
{
	op(k, t + 5, t + 100, "autograd::engine::evaluate_function: MmBackward0");
	kernel(k, t, 1000, 4000, GEMM);
	work(k, STREAM, t + 20, 5, t + 4000, t + 7000, GEMM, 0);
	work(k, OTHER_STREAM, t + 110, 5, t + (fires ? 7000 : 2000), t + 9000, ALL_REDUCE, 0);
}

static void send_little(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 8000, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 8000, t + 9000, ALL_REDUCE,
	     kit_args(k, "In msg nelems", fires ? "100" : "10000000", "dtype", "\"Float\""));
}

static void communicate_on_the_host(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires ? 8000 : 9990, GEMM);
	put(k, OTHER_THREAD, t + 8000, t + 9990, "gloo:all_reduce", CLASS_ANNOTATION, 0, 0);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* Rank 2 arrives 3 ms later than the others, who wait inside their collective. */
static void come_late(kit *k, int64_t t, bool fires)
{
	int64_t arrives = fires && k->rank == 2 ? 8000 : 5000;

	kernel(k, t, 50, arrives, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + arrives, t + 9990, ALL_REDUCE, 0);
}

static void share_unevenly(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, fires && k->rank ? 5990 : 9990, GEMM);
}

static void rules_of_devices_fire_where_planted_and_not_nearly_there(void **state)
{
	static const char volta[] = "[{\"name\": \"V100\", \"computeMajor\": 7, \"computeMinor\": 0}]";
	static const char ampere[] = "[{\"name\": \"A100\", \"computeMajor\": 8, \"computeMinor\": 0}]";
	static const rule_case cases[] = {
		{ .rule = "to_host", .plant = copy_to_the_host, .lost_us = 1000 },
		{ .rule = "pageable", .plant = copy_pageable, .lost_us = 1000 },
		{ .rule = "stream_wait", .plant = wait_with_work_queued, .lost_us = 2000 },
		{ .rule = "host_wait", .plant = launch_late, .lost_us = 2060 },
		{ .rule = "short_kernels", .plant = launch_short_kernels, .lost_us = 2250 },
		{ .rule = "slow_launch", .plant = launch_slowly, .lost_us = 1000 },
		{ .rule = "queue_full", .plant = fill_the_queue, .lost_us = 6900 },
		{ .rule = "tensor_cores", .plant = multiply_without_tensor_cores, .lost_us = 5000, .device = volta },
		{ .rule = "tf32", .plant = multiply_in_float32, .lost_us = 5000, .device = ampere },
		{ .rule = "unaligned", .plant = multiply_odd_sizes, .lost_us = 2500 },
		{ .rule = "low_occupancy", .plant = occupy_little, .lost_us = 7200 },
		{ .rule = "partial_wave", .plant = fill_part_of_the_device, .lost_us = 6750 },
		{ .rule = "pointwise_chain", .plant = chain_elementwise, .lost_us = 4000 },
		{ .rule = "layout", .plant = convert_layouts, .lost_us = 1000 },
		{ .rule = "exposed_comm", .plant = communicate_in_the_open, .lost_us = 1000 },
		{ .rule = "comm_heavy", .plant = communicate_much, .lost_us = 200 },
		{ .rule = "late_comm", .plant = send_late, .lost_us = 2000 },
		{ .rule = "small_collectives", .plant = send_little, .lost_us = 1000 },
		{ .rule = "no_nccl", .plant = communicate_on_the_host, .lost_us = 1990 },
		{ .rule = "straggler", .plant = come_late, .lost_us = 3000, .n_ranks = 4 },
		{ .rule = "imbalance", .plant = share_unevenly, .lost_us = 2000, .n_ranks = 2 },
	};

	(void)state;
	check_rules(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_devices_fire_where_planted_and_not_nearly_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
