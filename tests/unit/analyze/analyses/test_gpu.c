/* What monitors wrote down of a GPU, told by its names, and what the program allocated on it. */
#include <math.h>
#include "unit/analyze/bottlenecks/rule_kit.h"
#include "unit/analyze/analyze_json.h"

static void value(kit *k, int64_t t, const char *name, double of)
{
	builder_value(k->b, k->tracks[MAIN], string_of(k->b, name), INDEX_NONE, string_of(k->b, "machine"),
		      5000000 + t * k->unit, of);
}

/* The kernel runs for 6 of 10 ms; power is 100 W but for the last step's 400; what is no GPU's is left out. */
static void plant(kit *k, int64_t t, bool fires)
{
	builder_allocation a = { .time_ns = 5000000 + (t + 10) * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device_type = 1,
				 .address = (uint64_t)k->step,
				 .bytes = 1000,
				 .total_bytes = 1000 * (k->step + 1),
				 .reserved_bytes = -1 };

	builder_allocation_add(k->b, &a);
	a.time_ns += k->unit;
	a.bytes = -900;
	a.total_bytes = 100;
	builder_allocation_add(k->b, &a);
	kernel(k, t, 100, 6100, GEMM);
	if (!fires)
		return;
	value(k, t, "GPU 0 power (W)", k->step == 9 ? 400 : 100);
	value(k, t, "system.gpu.0.temp", 40 + k->step);
	value(k, t, "nvml memory used", 1e9);
	value(k, t, "gpu0 sm clock", 1410);
	value(k, t, "gpu utilization %", k->step % 2 ? 100 : 0);
	value(k, t, "cpu temp", 90);
	value(k, t, "loss", 1);
	value(k, t, "gpu power of nobody", (double)NAN);
}

static void counters_are_told_by_their_names(void **state)
{
	static const rule_case c = { .plant = plant };
	sonde_trace *trace = plant_trace(&c, true);
	sonde_analyze_options o = { .struct_size = sizeof o, .warmup = "none" };
	char *text = analyze(trace, "gpu", &o);

	(void)state;
	assert_says(text, "'utilization_percent': 60,");
	/* 100 W hold until 400 W come with the last value. */
	assert_says(text, "{'name': 'GPU 0 power (W)', 'kind': 'power', 'rank': 0, 'n_values': 10, 'min': 100, 'mean': "
			  "100, 'max': 400, 'max_at_ns': 90000000, 'last': 400}");
	assert_says(text, "{'name': 'system.gpu.0.temp', 'kind': 'temperature', 'rank': 0, 'n_values': 10, 'min': 40, "
			  "'mean': 44, 'max': 49, 'max_at_ns': 90000000, 'last': 49}");
	assert_says(text, "'name': 'nvml memory used', 'kind': 'memory'");
	assert_says(text, "'name': 'gpu0 sm clock', 'kind': 'clock'");
	assert_says(text, "'name': 'gpu utilization %', 'kind': 'use', 'rank': 0, 'n_values': 10, 'min': 0");
	/* The peak does not hold: what was freed right behind it is gone. */
	assert_says(text, "{'device': 'gpu0', 'rank': 0, 'time_ns': 90010000, 'allocated_bytes': 10000}");
	assert_says(text, "{'device': 'gpu0', 'rank': 0, 'time_ns': 90011000, 'allocated_bytes': 100}");
	assert_null(strstr(text, "cpu temp"));
	assert_null(strstr(text, "loss"));
	assert_null(strstr(text, "nobody"));
	assert_null(strstr(text, "no GPU counters"));
	free(text);
	sonde_trace_free(trace);
}

static void without_counters_it_says_what_would_have_them(void **state)
{
	static const rule_case c = { .plant = plant };
	sonde_trace *trace = plant_trace(&c, false);
	char *text = analyze(trace, "gpu", NULL);

	(void)state;
	assert_says(text, "'gpu_counters': []");
	assert_says(text, "temperature, power, clock, memory or utilization");
	assert_says(text, "SONDE_COUNTER");
	free(text);
	sonde_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_told_by_their_names),
		cmocka_unit_test(without_counters_it_says_what_would_have_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
