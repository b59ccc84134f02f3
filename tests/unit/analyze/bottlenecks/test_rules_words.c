/* What rules say, and how: one of a kind, the call that explains it all, names of what others find. */
#include "unit/analyze/bottlenecks/rule_kit.h"

/* The host is in one operator for most of a step; elsewhere the device is busy. */
static void begin_to_use_the_device(kit *k, int64_t t, bool fires)
{
	(void)fires;
	if (k->step == 3)
		op(k, t, t + 8000, "aten::empty");
	work(k, STREAM, t + (k->step == 3 ? 8005 : 5), 5, t + (k->step == 3 ? 8010 : 10), t + 9990, GEMM, 0);
}

static void copy_once(kit *k, int64_t t, bool fires)
{
	(void)fires;
	kernel(k, t, 50, k->step == 3 ? 5000 : 9990, GEMM);
	if (k->step == 3)
		call(k, t + 1000, t + 5000, "cudaMemcpy");
}

/* Sixty microseconds are usual. */
static void launch_slowly_once(kit *k, int64_t t, bool fires)
{
	(void)fires;
	work(k, STREAM, t + 10, k->step == 3 ? 5000 : 60, t + (k->step == 3 ? 5010 : 70), t + 9990, GEMM, 0);
}

static void save_slowly_at_times(kit *k, int64_t t, bool fires)
{
	(void)fires;
	for (int64_t i = 0; i < 3; i++)
		scope(k, t + 3000 * i, t + 3000 * i + (i == 0 && k->step % 5 == 0 ? 2900 : 100), "save");
}

/* Every copy runs while nothing computes. */
static void copy_with_nothing_beside(kit *k, int64_t t, bool fires)
{
	(void)fires;
	kernel(k, t, 50, 5000, GEMM);
	work(k, STREAM, t + 5010, 5, t + 6000, t + 8000, "Memcpy HtoD (Pageable -> Device)", 0);
}

static void rules_say_what_is_true(void **state)
{
	static const struct {
		rule_case c;
		const char *title, *says;
	} cases[] = {
		{ { .rule = "launch_bound", .plant = begin_to_use_the_device },
		  "the device waits for one call of the host",
		  "For 8.00 ms of it the host is in one call of `aten::empty`." },
		{ { .rule = "sync_copy", .plant = copy_once },
		  "the host blocks in copies",
		  "1 synchronous copy blocks the host for 4.00 ms; the device is then idle for 5.05 ms." },
		{ { .rule = "pageable", .plant = copy_with_nothing_beside },
		  "copies use pageable memory",
		  "10 copies from or to pageable memory take 20.0 ms, all of it while nothing computes." },
		{ { .rule = "slow_launch", .plant = launch_slowly_once },
		  "some launch calls take very long",
		  "1 launch call takes more than 120 us where 60.0 us is usual" },
		{ { .rule = "call_outliers", .plant = save_slowly_at_times },
		  "some calls of `save` take far longer than usual",
		  "Half of the 30 calls of `save` take 100 us or less" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_analyze_options options = { .struct_size = sizeof options, .warmup = "none" };
		sonde_trace *trace = plant_trace(&cases[i].c, true);
		sonde_result *result = result_new("bottlenecks");
		evidence e;
		rule_run r = { .rule = rule_named(cases[i].c.rule), .e = &e, .result = result, .saw = "" };

		assert_int_equal(evidence_load(&e, trace, &options, NULL), SONDE_OK);
		r.rule->run(&r);
		if (result->n_findings != 1)
			fail_msg("%s: %s", cases[i].c.rule, r.saw);
		const sonde_finding *f = result->findings[0];
		assert_string_equal(f->title, cases[i].title);
		if (!strstr(f->evidence[f->n_evidence - 1], cases[i].says))
			fail_msg("%s: %s", cases[i].c.rule, f->evidence[f->n_evidence - 1]);
		evidence_done(&e);
		sonde_result_free(result);
		sonde_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_say_what_is_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
