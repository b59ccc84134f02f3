/*
 * Small runs to try rules on: ten steps of 10 ms, each planted with the same trouble, or nearly so.
 *
 *   static void plant(kit *k, int64_t t, bool fires)   one step that begins at t (us); fires: with the trouble
 *   { "dataloader", plant, 2000 }                      loses 2000 us a step; -1: nobody knows how much
 *   check_rules(cases, n)                              each rule alone, once with and once without
 *
 * A kernel of a clean step is one matrix product on tensor cores.
 */
#ifndef TESTS_UNIT_ANALYZE_RULE_KIT_H
#define TESTS_UNIT_ANALYZE_RULE_KIT_H

#include <stdio.h>

/* clang-format off: results have a table_row, too, and rows a type of that name */
#define table_row index_table_row
#include "import/chrome/facts.h"
#include "unit/store/make_builder.h"
#undef table_row
/* clang-format on */

#include "analyze/bottlenecks/rule.h"
#include "store/trace.h"

enum { KIT_STEPS = 10, KIT_STEP = 10000, KIT_TRACKS = 4 };
enum { MAIN, STREAM, OTHER_STREAM, OTHER_THREAD };
#define GEMM "ampere_bf16_s16816gemm_bf16_128x64"

typedef struct kit {
	builder *b;
	uint32_t file;
	uint32_t tracks[KIT_TRACKS];
	int64_t unit; /* ns of what the plants call a microsecond */
	uint64_t correlation;
	int step; /* the one being planted */
	int rank;
} kit;

static inline const char *category_of(site_class class)
{
	return class == CLASS_COMPUTE	? "cpu_op"
	       : class == CLASS_KERNEL	? "kernel"
	       : class == CLASS_COPY	? "gpu_memcpy"
	       : class == CLASS_RUNTIME ? "cuda_runtime"
	       : class == CLASS_PYTHON	? "python_function"
					: "user_annotation";
}

/* {"key": text, ...}: n pairs of a key and the JSON of its value. */
static inline uint32_t kit_args_of(kit *k, const char *const (*pairs)[2], uint32_t n)
{
	enum { PAIRS = 8 };
	static const uint8_t kinds[PAIRS] = { [0 ... PAIRS - 1] = ARG_TEXT };
	char keys[PAIRS][80], json[PAIRS * 400];
	size_t json_len = 0;
	args_piece pieces[PAIRS + 1];
	int64_t values[PAIRS];

	for (uint32_t i = 0; i < n; i++) {
		int len = snprintf(keys[i], sizeof keys[i], "%s\"%s\": ", i ? ", " : "{", pairs[i][0]);
		pieces[i] = (args_piece){ keys[i], (uint32_t)len };
		values[i] = builder_arg_text(k->b, pairs[i][1], strlen(pairs[i][1]));
		json_len += (size_t)snprintf(json + json_len, sizeof json - json_len, "%s%s", keys[i], pairs[i][1]);
		assert_true(json_len + 1 < sizeof json);
	}
	json[json_len++] = '}';
	pieces[n] = (args_piece){ "}", 1 };
	args_template t = { .n_gaps = n, .n_args_pieces = n + 1, .pieces = pieces, .kinds = kinds };
	uint32_t args = builder_args(k->b, builder_template(k->b, &t), values);
	chrome_facts_put(k->b, args, json, json_len);
	return args;
}

static inline uint32_t kit_args(kit *k, const char *key, const char *text, const char *key2, const char *text2)
{
	return kit_args_of(k, (const char *const[][2]){ { key, text }, { key2, text2 } }, 2);
}

static inline void put(kit *k, int track, int64_t from, int64_t to, const char *name, site_class class,
		       uint64_t correlation, uint32_t args)
{
	builder_slice s = { .start_ns = 5000000 + from * k->unit,
			    .dur_ns = (to - from) * k->unit,
			    .site = builder_site(k->b, string_of(k->b, name), string_of(k->b, category_of(class)),
						 class, 0),
			    .args = args,
			    .correlation = correlation ? correlation + 1 : 0 };

	builder_slices(k->b, k->tracks[track], &s, 1);
}

static inline void op(kit *k, int64_t from, int64_t to, const char *name)
{
	put(k, MAIN, from, to, name, CLASS_COMPUTE, 0, 0);
}
static inline void scope(kit *k, int64_t from, int64_t to, const char *name)
{
	put(k, MAIN, from, to, name, CLASS_ANNOTATION, 0, 0);
}
static inline void call(kit *k, int64_t from, int64_t to, const char *name)
{
	put(k, MAIN, from, to, name, CLASS_RUNTIME, 0, 0);
}
/* Work of a device with the call that launched it. */
static inline void work(kit *k, int stream, int64_t launched, int64_t takes, int64_t from, int64_t to, const char *name,
			uint32_t args)
{
	bool is_copy = strncmp(name, "Mem", 3) == 0;
	uint64_t number = ++k->correlation;

	put(k, MAIN, launched, launched + takes, is_copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", CLASS_RUNTIME,
	    number, 0);
	put(k, stream, from, to, name, is_copy ? CLASS_COPY : CLASS_KERNEL, number, args);
}
/* Launched 10 us after the step began. */
static inline void kernel(kit *k, int64_t t, int64_t from, int64_t to, const char *name)
{
	work(k, STREAM, t + 10, 5, t + from, t + to, name, 0);
}

typedef void plant_fn(kit *k, int64_t t, bool fires);

typedef struct rule_case {
	const char *rule;
	plant_fn *plant;
	int64_t lost_us;    /* a step and rank; -1: not known */
	int n_ranks;	    /* 0: 1 */
	const char *device; /* deviceProperties */
	int64_t unit;	    /* ns, 0: 1000 */
} rule_case;

static inline void begin_rank(kit *k, int rank)
{
	k->file = (uint32_t)rank;
	k->rank = rank;
	uint32_t cpu = builder_process(k->b, k->file, 100, INDEX_NONE),
		 gpu = builder_process(k->b, k->file, 900, INDEX_NONE);
	for (int i = 0; i < KIT_TRACKS; i++) {
		bool is_stream = i == STREAM || i == OTHER_STREAM;
		k->tracks[i] = builder_track(k->b, is_stream ? TRACK_STREAM : TRACK_THREAD, is_stream ? gpu : cpu,
					     7 + i, INDEX_NONE, INDEX_NONE);
	}
	builder_file_rank(k->b, k->file, rank);
}

static inline sonde_trace *plant_trace(const rule_case *c, bool fires)
{
	kit k = { .b = builder_with_threads(1), .unit = c->unit ? c->unit : 1000 };
	sonde_trace *trace = NULL;
	char name[32];

	for (int rank = 0; rank < (c->n_ranks ? c->n_ranks : 1); rank++) {
		begin_rank(&k, rank);
		for (k.step = 0; k.step < KIT_STEPS; k.step++) {
			snprintf(name, sizeof name, "ProfilerStep#%d", k.step + 1);
			put(&k, MAIN, k.step * KIT_STEP, (k.step + 1) * KIT_STEP, name, CLASS_STEP, 0, 0);
			c->plant(&k, k.step * KIT_STEP, fires);
		}
	}
	if (c->device)
		chrome_devices_put(k.b, -1, c->device, strlen(c->device));
	assert_int_equal(trace_of_index(finish(k.b), &trace, NULL), SONDE_OK);
	return trace;
}

#define RULE(name) &name##_rule,
static const rule *const all_rules[] = {
#include "analyze/bottlenecks/rules.def"
};
#undef RULE

static inline const rule *rule_named(const char *name)
{
	for (size_t i = 0; i < sizeof all_rules / sizeof *all_rules; i++)
		if (strcmp(all_rules[i]->name, name) == 0)
			return all_rules[i];
	return NULL;
}

static inline void check_rule(const rule_case *c, bool fires)
{
	sonde_analyze_options options = { .struct_size = sizeof options, .warmup = "none" };
	sonde_trace *trace = plant_trace(c, fires);
	sonde_result *result = result_new("bottlenecks");
	evidence e;
	rule_run r = { .rule = rule_named(c->rule), .e = &e, .result = result, .saw = "" };

	assert_non_null(r.rule);
	assert_int_equal(evidence_load(&e, trace, &options, NULL), SONDE_OK);
	r.rule->run(&r);
	assert_true(result_ok(result));
	if ((r.verdict == VERDICT_FOUND) != fires || result->n_findings != (fires ? 1u : 0u))
		fail_msg("%s %s: %s", c->rule, fires ? "does not fire" : "fires", r.saw);
	assert_true(*r.saw);
	if (fires) {
		const sonde_finding *f = result->findings[0];
		double planted = (double)c->lost_us * KIT_STEPS * (double)(c->unit ? c->unit : 1000) / 1e9;
		if (c->lost_us < 0 ? f->seconds_lost >= 0
				   : f->seconds_lost < 0.8 * planted || f->seconds_lost > 1.2 * planted)
			fail_msg("%s: %g s, planted %g s", c->rule, f->seconds_lost, planted);
		assert_true(f->n_evidence > 0 && f->suggestion && f->confidence > 0 && f->confidence <= 1);
		if (!f->n_slices || !f->has_time || f->to_ns <= f->from_ns)
			fail_msg("%s: nothing to look at: %zu slices, %d", c->rule, f->n_slices, f->has_time);
	}
	evidence_done(&e);
	sonde_result_free(result);
	sonde_trace_free(trace);
}

static inline void check_rules(const rule_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_rule(&cases[i], true);
		check_rule(&cases[i], false);
	}
}

#endif
