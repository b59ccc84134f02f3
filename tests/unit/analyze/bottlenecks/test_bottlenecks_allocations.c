/* Every allocation fails once while all rules look at a trace, and the analyses that share their parts: no crash, no
   leak, and either SONDE_E_MEMORY or a whole answer. */
#include "unit/analyze/bottlenecks/rule_kit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer has its own malloc\n");
	return 77;
}

#else

#include "unit/failing_malloc.h"

static sonde_trace *trace;

static void plant_much(kit *k, int64_t t, bool fires)
{
	builder_allocation a = { .time_ns = 5000000 + (t + 10) * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device_type = 1,
				 .address = 64 + (uint64_t)k->step,
				 .bytes = 1 << 20,
				 .total_bytes = 990 + ((int64_t)k->step << 20),
				 .reserved_bytes = 1 << 30 };

	(void)fires;
	builder_allocation_add(k->b, &a);
	scope(k, t, t + 2000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	op(k, t + 2000, t + 2100, "aten::mm");
	work(k, STREAM, t + 2010, 5, t + 2050, t + 4000, "volta_sgemm_128x64", 0);
	work(k, OTHER_STREAM, t + 2020, 5, t + 4000 + 500 * k->rank, t + 6000, "ncclDevKernel_AllReduce_Sum_f32", 0);
	call(k, t + 5000, t + 6100, "cudaStreamSynchronize");
	op(k, t + 7000, t + 9000, "Torch-Compiled Region: 0/0");
	op(k, t + 7100, t + 7200, "dynamo");
	op(k, t + 7300, t + 8000, "Torch-Compiled Region: 1/1");
	work(k, STREAM, t + 7400, 5, t + 7500, t + 7600, "triton_poi_fused_add_0", 0);
	op(k, t + 9100, t + 9200, "CompiledFunctionBackward");
}

static const char *analysis;

static sonde_status analyze(sonde_error *err)
{
	sonde_result *result = NULL;
	sonde_status status = sonde_analyze(trace, analysis, NULL, &result, err);

	sonde_result_free(result);
	return status;
}

static void every_allocation_may_fail(void **state)
{
	static const rule_case c = { .plant = plant_much,
				     .n_ranks = 2,
				     .device = "[{\"computeMajor\": 8, \"totalGlobalMem\": 1000}]" };

	static const char *const names[] = { "bottlenecks", "leaks", "compile", "gpu" };

	(void)state;
	trace = plant_trace(&c, true);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		analysis = names[i];
		fail_each_allocation(analysis, analyze, 1);
	}
	sonde_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
