/*
 * What one call costs while it is recorded, as a ratio to two bare time stamps; and while it is not.
 *
 *   bench_record [--json FILE] [--batches N] [--output FILE]
 *
 * Each case is a loop over BATCH_SCOPES calls that alternates with the floor, see common/measure.h. The writer thread
 * runs and the events go to a real file. What the minimum hides (a full ring, page faults, the end) is what
 * bench_sustained is for.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sonde/record.h>
#include "common/compiled_out.h"
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"

enum { N_NAMES = 8, N_BLOCKS = 64 };

static char names[N_NAMES][32]; /* "layer.3.attention": made at run time, for the compiler not to know them */
static char blocks[N_BLOCKS];	/* their addresses stand for memory */

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

#define LOOP __attribute__((noinline)) static void

LOOP scope(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE("scope");
		__asm__ volatile("");
	}
}

LOOP scopes_by_8(size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		TIMES_8({
			SONDE_SCOPE("scope");
			__asm__ volatile("");
		})
	}
}

LOOP nested(size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		SONDE_SCOPE("outer");
		{
			SONDE_SCOPE("second");
			{
				SONDE_SCOPE("third");
				{
					SONDE_SCOPE("inner");
					__asm__ volatile("");
				}
			}
		}
	}
}

LOOP int_argument(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE_ARGS("int", SONDE_I64("i", (int64_t)i));
		__asm__ volatile("");
	}
}

LOOP string_argument(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE_ARGS("string", SONDE_STR("name", names[i % N_NAMES]));
		__asm__ volatile("");
	}
}

LOOP run_time_name(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sonde_scope s = sonde_begin(names[i % N_NAMES]);
		sonde_end(s);
	}
}

/* The text is copied to the same place each time: what is known about an address does not help. */
LOOP changing_name(size_t n)
{
	static char name[sizeof names[0]];

	for (size_t i = 0; i < n; i++) {
		memcpy(name, names[i % N_NAMES], sizeof name);
		sonde_scope s = sonde_begin(name);
		sonde_end(s);
	}
}

LOOP phase(size_t n)
{
	SONDE_SCOPE("phases");

	for (size_t i = 0; i < n; i += 2) {
		SONDE_PHASE("forward");
		SONDE_PHASE("backward");
	}
}

LOOP op(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_OP("matmul", SONDE_COMPUTE, .flops = 2.0 * (double)i) {
			__asm__ volatile("");
		}
	}
}

LOOP op_with_shape(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t dims[] = { 64, 128, (int64_t)i };
		SONDE_OP("conv", SONDE_COMPUTE, .flops = 2.0 * (double)i, .bytes = (double)i, .shape = dims,
			 .n_dims = 3, .type = "f32") {
			__asm__ volatile("");
		}
	}
}

LOOP counter(size_t n)
{
	for (size_t i = 0; i < n; i++)
		SONDE_COUNTER("loss", i);
}

LOOP alloc_and_free(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sonde_alloc(SONDE_CPU, &blocks[i % N_BLOCKS], 4096, i);
		sonde_free(SONDE_CPU, &blocks[i % N_BLOCKS]);
	}
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

typedef struct recorded_case {
	const char *name;
	measure_loop loop;
	double goal; /* 0: none */
	bool two_threads;
} recorded_case;

static const recorded_case cases[] = {
	{ "scope", scope, 1.05, false },
	{ "4 nested scopes, each", nested, 1.08, false },
	{ "scope, int argument", int_argument, 1.08, false },
	{ "scope, string argument", string_argument, 1.08, false },
	{ "scope, run-time name", run_time_name, 1.25, false },
	{ "scope, run-time name in a reused buffer", changing_name, 0, false },
	{ "scope, two threads at once", scope, 1.05, true },
	{ "phase switch", phase, 0.55, false },
	{ "counter", counter, 0, false },
	{ "op with flops", op, 0, false },
	{ "op with flops, bytes, shape, type", op_with_shape, 0, false },
	{ "alloc and free", alloc_and_free, 0, false },
};

static bool run_case(const recorded_case *c, const char *output, size_t n_batches, results *r)
{
	sonde_config config = {
		.struct_size = sizeof config, .output = output, .memory = true, .shapes = true, .flops = true
	};
	sonde_error err;
	timing t[2];

	unlink(output); /* a recording that exists is never replaced */
	if (sonde_start(&config, &err)) {
		fprintf(stderr, "bench_record: %s\n", err.message);
		return false;
	}
	if (c->two_threads)
		measure_two_threads(c->loop, &t[0], &t[1], BATCH_SCOPES, n_batches);
	else
		measure_interleaved((measure_loop[]){ c->loop, loop_floor }, t, 2, BATCH_SCOPES, n_batches);
	if (sonde_stop(&err)) {
		fprintf(stderr, "bench_record: %s\n", err.message);
		return false;
	}
	if (isnan(r->floor_ns) || t[1].best_ns < r->floor_ns)
		r->floor_ns = t[1].best_ns;
	results_add(r, (result){ .name = c->name,
				 .unit = "ns",
				 .best = t[0].best_ns,
				 .median = t[0].median_ns,
				 .ratio = t[0].best_ns / t[1].best_ns,
				 .goal = c->goal,
				 .kind = c->goal != 0 ? RATIO_AT_MOST : NO_GOAL });
	return true;
}

/* Either takes a fraction of a nanosecond, hence longer batches and more of them. */
static void run_disabled(size_t n_batches, results *r)
{
	timing t[2];

	measure_interleaved((measure_loop[]){ scopes_by_8, loop_empty_by_8 }, t, 2, 10 * BATCH_SCOPES, 5 * n_batches);
	results_add(r, (result){ .name = "scope, recording off, over an empty loop",
				 .unit = "ns",
				 .best = t[0].best_ns - t[1].best_ns,
				 .median = t[0].median_ns - t[1].median_ns,
				 .ratio = NAN,
				 .goal = 0.2,
				 .kind = BEST_AT_MOST });
}

static void run_compiled_out(results *r)
{
	results_add(r, (result){ .name = "compiled out, machine code over an empty loop",
				 .unit = "bytes",
				 .best = (double)compiled_out_bytes(),
				 .median = NAN,
				 .ratio = NAN,
				 .goal = 0,
				 .kind = BEST_AT_MOST });
}

int main(int argc, char **argv)
{
	results r = { .program = "recording one call", .floor_ns = NAN };
	const char *output = "bench_record.sonde";
	size_t n_batches = N_BATCHES;
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },
		{ "--output", .text = &output },
		{ "--batches", .number = &n_batches },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	measure_begin();
	for (size_t i = 0; i < N_NAMES; i++)
		snprintf(names[i], sizeof names[i], "layer.%zu.attention", i);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !r.broken; i++)
		r.broken = !run_case(&cases[i], output, n_batches, &r);
	run_disabled(n_batches, &r);
	run_compiled_out(&r);
	unlink(output);
	return results_finish(&r) ? 0 : 1;
}
