/* Compiled code, compilations and graph breaks of ten steps, worked out on paper. */
#include "unit/analyze/bottlenecks/rule_kit.h"
#include "analyze/tables/compile_calls.h"
#include "unit/analyze/analyze_json.h"

/* Each step: a region of 3 ms that is broken into two, with 0.5 ms of Python between its graphs, then an eager operator
   of 1 ms. The fourth step compiles the first frame again, for 0.8 ms. */
static void plant(kit *k, int64_t t, bool fires)
{
	const char *region = k->step < 3 ? "Torch-Compiled Region: 0/0" : "Torch-Compiled Region: 0/1";

	(void)fires;
	if (k->step == 3) {
		op(k, t + 100, t + 900, "dynamo");
		scope(k, t + 110, t + 120, "dynamo_data: fn=forward, compile_id=0/1");
		op(k, t + 200, t + 800, "_compile.compile_inner (dynamo_timed)");
		op(k, t + 300, t + 700, "aten::mm"); /* the compiler's own */
	}
	op(k, t + 1000, t + 4000, region);
	op(k, t + 1200, t + 2000, "CompiledFunction");
	work(k, STREAM, t + 1300, 5, t + 1400, t + 1900, "triton_poi_fused_add_0", 0);
	op(k, t + 2500, t + 3900, "Torch-Compiled Region: 1/0");
	op(k, t + 2600, t + 3800, "CompiledFunction");
	op(k, t + 5000, t + 6000, "aten::mm");
	work(k, STREAM, t + 5100, 5, t + 5200, t + 5500, GEMM, 0);
}

static void time_is_told_apart_and_regions_are_summed(void **state)
{
	static const rule_case c = { .plant = plant };
	sonde_trace *trace = plant_trace(&c, true);
	static const says cases[] = {
		{ "compile", NULL,
		  "'n_calls': 20,\n 'n_runs': 1,\n 'n_runs_again': 1,\n 'n_breaks': 10,\n 'n_breaks_inside': 10" },
		{ "compile", NULL,
		  "'time_ns': 100000000, 'compiling_ns': 800000, 'compiled_ns': 30000000, 'eager_ns': 10000000, "
		  "'other_ns': 59200000, 'compiled_percent': 30, 'compiled_device_ns': 5000000, 'eager_device_ns': "
		  "3000000" },
		{ "compile", NULL,
		  "{'name': 'Torch-Compiled Region: 0/0', 'compile_id': '0/0', 'calls': 3, 'host_ns': 9000000, "
		  "'own_ns': "
		  "4800000, 'first_ns': 3000000, 'median_ns': 3000000, 'n_runs': 0, 'run_ns': 0, 'device_ns': 1500000, "
		  "'n_device': 3, 'rank': 0, 'kind': 'torch.compile', 'graph': null}" },
		{ "compile", NULL,
		  "{'name': 'Torch-Compiled Region: 0/1', 'compile_id': '0/1', 'calls': 7, 'host_ns': 21000000, "
		  "'own_ns': "
		  "11200000, 'first_ns': 3000000, 'median_ns': 3000000, 'n_runs': 1, 'run_ns': 800000, 'device_ns': "
		  "3500000, 'n_device': 7, 'rank': 0, 'kind': 'torch.compile', 'graph': null}" },
		{ "compile", NULL,
		  "{'start_ns': 30100000, 'name': 'dynamo', 'compile_id': '0/1', 'is_again': true, 'is_backward': "
		  "false, "
		  "'region': 'Torch-Compiled Region: 0/1', 'rank': 0, 'step': 4, 'dur_ns': 800000}" },
		{ "compile", NULL,
		  "'name': '_compile.compile_inner', 'calls': 1, 'total_ns': 600000, 'self_ns': 600000" },
		{ "compile", NULL,
		  "'name': 'dynamo', 'calls': 1, 'total_ns': 800000, 'self_ns': 200000, 'percent': 25}" },
		{ "compile", NULL,
		  "{'from': 'Torch-Compiled Region: 0/1', 'to': 'Torch-Compiled Region: 1/0', 'how': 'continues', "
		  "'count': 7, 'gap_ns': 3500000}" },
		{ "compile", NULL,
		  "{'step': 4, 'rank': 0, 'dur_ns': 10000000, 'compiling_ns': 800000, 'compiled_ns': 3000000, "
		  "'eager_ns': "
		  "1000000, 'other_ns': 5200000, 'n_runs': 1, 'n_breaks': 1, 'compiled_percent': 30}" },
		{ "compile", NULL,
		  "'name': 'triton_poi_fused_add_0', 'calls': 10, 'device_ns': 5000000, 'host_ns': null" },
	};

	(void)state;
	assert_all_say(trace, cases, sizeof cases / sizeof *cases);
	sonde_trace_free(trace);
}

/* JAX tells a call twice, and compiles within it: in parts, and again when the shapes change. */
static void plant_jit(kit *k, int64_t t, bool fires)
{
	(void)fires;
	scope(k, t + 1000, t + 5000, "PjitFunction(f)");
	scope(k, t + 1000, t + 4900, "PjitFunction(f)");
	if (k->step == 0 || k->step == 5) {
		scope(k, t + 1100, t + 1400, "lower_sharding_computation");
		scope(k, t + 1500, t + 3500, "backend_compile_and_load");
	}
}

static void a_call_that_compiles_within_itself_costs_more_at_first(void **state)
{
	static const rule_case c = { .plant = plant_jit };
	sonde_trace *trace = plant_trace(&c, true);
	static const says cases[] = {
		{ "compile", NULL, "'n_calls': 10,\n 'n_runs': 2,\n 'n_runs_again': 1,\n 'n_breaks': 0" },
		{ "compile", NULL,
		  "{'name': 'PjitFunction(f)', 'compile_id': null, 'calls': 10, 'host_ns': 35400000, 'own_ns': "
		  "35400000, "
		  "'first_ns': 4000000, 'median_ns': 4000000, 'n_runs': 2, 'run_ns': 4600000, 'device_ns': null, "
		  "'n_device': null, 'rank': 0, 'kind': 'jax.jit', 'graph': null}" },
		{ "compile", NULL, "'compile_id': null, 'is_again': true" },
	};

	(void)state;
	assert_all_say(trace, cases, sizeof cases / sizeof *cases);
	sonde_trace_free(trace);
}

static void ids_are_found_in_names(void **state)
{
	static const struct {
		const char *name, *id;
	} cases[] = {
		{ "Torch-Compiled Region: 0/1", "0/1" },
		{ "Torch-Compiled Region: !0/2/0", "!0/2/0" },
		{ "entire_frame_compile_data: fn_name=f, compile_id=7/0, is_forward=True", "7/0" },
		{ "Torch-Compiled Region", NULL },
		{ "Torch-Compiled Region: ", NULL },
		{ "compile_id=", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t len = 0;
		const char *id = compile_id_in(cases[i].name, &len);
		if (!id != !cases[i].id || (id && (len != strlen(cases[i].id) || memcmp(id, cases[i].id, len) != 0)))
			fail_msg("%s: %.*s", cases[i].name, (int)len, id ? id : "");
	}
}

/* Names and nesting that nobody would write; the sums stay in bounds. */
static void plant_nonsense(kit *k, int64_t t, bool fires)
{
	(void)fires;
	op(k, t, t + 9000, "Torch-Compiled Region: 99999999999999999999/99999999999999999999");
	op(k, t, t + 9000, "Torch-Compiled Region: /");
	op(k, t, t + 9000, "dynamo");
	scope(k, t, t + 9000, "compile_id=//x,");
	op(k, t, t + 9000, "CompiledFunctionBackward");
	op(k, t, t + 9000, "CompiledFunction");
	scope(k, t, t, "## Call CompiledFxGraph ");
	put(k, STREAM, t, t + 1, "Torch-Compiled Region: 0/0", CLASS_ANNOTATION, 0, 0);
}

static void a_hostile_trace_is_counted(void **state)
{
	static const rule_case c = { .plant = plant_nonsense };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "compile", NULL);

	(void)state;
	assert_says(text, "'n_runs': 10,\n 'n_runs_again': 0");
	assert_says(text, "'compile_id': '//x', 'is_again': null");
	free(text);
	sonde_trace_free(trace);
}

static void plant_nothing(kit *k, int64_t t, bool fires)
{
	(void)fires;
	op(k, t, t + 10, "aten::mm");
}

static void a_trace_without_a_compiler_says_so(void **state)
{
	static const rule_case c = { .plant = plant_nothing };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "compile", NULL);

	(void)state;
	assert_says(text, "'compile_share': [],\n 'compile_regions': []");
	assert_says(text, "'compile_steps': []");
	assert_says(text, "no compiled code");
	free(text);
	sonde_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_told_apart_and_regions_are_summed),
		cmocka_unit_test(a_call_that_compiles_within_itself_costs_more_at_first),
		cmocka_unit_test(ids_are_found_in_names),
		cmocka_unit_test(a_hostile_trace_is_counted),
		cmocka_unit_test(a_trace_without_a_compiler_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
