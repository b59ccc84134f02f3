/* Rules about use over time, convolutions, links and pipelines: each fires where its trouble is planted, and not where
   it nearly is. */
#include "unit/analyze/bottlenecks/rule_kit.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

static void idle_once(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, k->step != 3 ? 9990 : fires ? 500 : 2000, GEMM);
}

/* Four samples a step; the device works during the first. */
static void sample(kit *k, int64_t t, const char *name, double value)
{
	for (int64_t i = 1; i <= 4; i++)
		builder_value(k->b, k->tracks[MAIN], string_of(k->b, name), INDEX_NONE, string_of(k->b, "machine"),
			      5000000 + (t + 2500 * i) * k->unit, value);
	kernel(k, t, 50, 2500, GEMM);
}

/* As sonde record writes them: the time so far, in the program and in the system. */
static void use_processor_time(kit *k, int64_t t, bool fires)
{
	for (int64_t i = 1; i <= 4; i++) {
		double so_far = (double)((t + 2500 * i) * k->unit) * (fires ? 0.99 : 0.8);
		int64_t time_ns = 5000000 + (t + 2500 * i) * k->unit;
		builder_value(k->b, k->tracks[MAIN], string_of(k->b, "cpu time ns"), string_of(k->b, "user"),
			      string_of(k->b, "process"), time_ns, 0.75 * so_far);
		builder_value(k->b, k->tracks[MAIN], string_of(k->b, "cpu time ns"), string_of(k->b, "system"),
			      string_of(k->b, "process"), time_ns, 0.25 * so_far);
	}
	kernel(k, t, 50, 2500, GEMM);
}

static void use_the_processor(kit *k, int64_t t, bool fires)
{
	sample(k, t, "CPU utilization", fires ? 95 : 85);
}

static void wait_for_disks(kit *k, int64_t t, bool fires)
{
	sample(k, t, "cpu iowait", fires ? 60 : 45);
}

static void use_little_memory(kit *k, int64_t t, bool fires)
{
	builder_allocation a = { .time_ns = 5000000 + (t + 10) * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device_type = 1,
				 .address = 64,
				 .bytes = 100,
				 .total_bytes = fires ? 100 : 800,
				 .reserved_bytes = -1 };

	builder_allocation_add(k->b, &a);
	kernel(k, t, 50, 6000, GEMM);
}

static void convolve(kit *k, int64_t t, bool fires)
{
	const char *inputs =
		fires ? "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"1\", "
			"\"False\", \"False\", \"True\", \"True\"]"
		      : "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"1\", "
			"\"True\", \"False\", \"True\", \"True\"]";

	put(k, MAIN, t + 5, t + 100, "aten::_convolution", CLASS_COMPUTE, 0,
	    kit_args(k, "Concrete Inputs", inputs, "Input Dims", "[[8, 3, 32, 32], [16, 3, 3, 3]]"));
	kernel(k, t, 50, 5000, GEMM);
	work(k, STREAM, t + 110, 5, t + 5000, t + 9990, GEMM, 0);
}

/* 400 MB among eight: 700 MB over each link, of 300 GB/s. */
static void send_slowly(kit *k, int64_t t, bool fires)
{
	const char *const pairs[][2] = { { "Collective name", "\"allreduce\"" },
					 { "dtype", "\"Float\"" },
					 { "In msg nelems", "100000000" },
					 { "Out msg nelems", "100000000" },
					 { "Group size", "8" } };

	kernel(k, t, 50, 3990, GEMM);
	work(k, OTHER_STREAM, t + 20, 5, t + 3990, t + (fires ? 9990 : 7990), ALL_REDUCE, kit_args_of(k, pairs, 5));
}

/* Four stages, four microbatches: three sevenths of the time must be waiting. */
static void run_a_pipeline(kit *k, int64_t t, bool fires)
{
	int n = k->rank == 0 || k->rank == 3 ? 8 : 16;

	kernel(k, t, 50, fires ? 2050 : 4050, GEMM);
	for (int i = 0; i < n; i++)
		work(k, OTHER_STREAM, t + 20 + 2 * i, 1, t + 100 + 10 * i, t + 105 + 10 * i, "ncclDevKernel_SendRecv",
		     kit_args(k, "Collective name", i % 2 ? "\"send\"" : "\"recv\"", "dtype", "\"Float\""));
}

static void rules_of_use_fire_where_planted_and_not_nearly_there(void **state)
{
	static const rule_case cases[] = {
		{ .rule = "uneven_use", .plant = idle_once, .lost_us = 955 },
		{ .rule = "cpu_bottleneck", .plant = use_the_processor, .lost_us = 7500 },
		{ .rule = "cpu_bottleneck", .plant = use_processor_time, .lost_us = 7500 },
		{ .rule = "io_bottleneck", .plant = wait_for_disks, .lost_us = 7500 },
		{ .rule = "small_batch",
		  .plant = use_little_memory,
		  .lost_us = 4050,
		  .device = "[{\"totalGlobalMem\": 1000}]" },
		{ .rule = "autotune", .plant = convolve, .lost_us = -1 },
		{ .rule = "bus_bandwidth",
		  .plant = send_slowly,
		  .lost_us = 3667,
		  .device = "[{\"name\": \"A100-SXM4-80GB\"}]" },
		{ .rule = "pipeline_bubble", .plant = run_a_pipeline, .lost_us = 3714, .n_ranks = 4 },
	};

	(void)state;
	check_rules(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_use_fire_where_planted_and_not_nearly_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
