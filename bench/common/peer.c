#define _GNU_SOURCE
#include "common/peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/results.h"

static void add(results *r, const char *name, timing loop, timing floor)
{
	if (isnan(r->floor_ns) || floor.best_ns < r->floor_ns)
		r->floor_ns = floor.best_ns;
	results_add(r, (result){ .name = name,
				 .unit = "ns",
				 .best = loop.best_ns,
				 .median = loop.median_ns,
				 .ratio = loop.best_ns / floor.best_ns });
}

static void run_case(results *r, const char *name, measure_loop loop, size_t n_batches)
{
	timing t[2];

	if (!loop)
		return;
	measure_interleaved((measure_loop[]){ loop, loop_floor }, t, 2, BATCH_SCOPES, n_batches);
	add(r, name, t[0], t[1]);
}

static void run_cases(results *r, const peer *p, size_t n_batches)
{
	timing t[2];

	run_case(r, "scope", p->scope, n_batches);
	run_case(r, "4 nested scopes, each", p->nested, n_batches);
	run_case(r, "scope, int argument", p->int_argument, n_batches);
	run_case(r, "scope, string argument", p->string_argument, n_batches);
	measure_two_threads(p->scope, &t[0], &t[1], BATCH_SCOPES, n_batches);
	add(r, "scope, two threads at once", t[0], t[1]);
}

static void run_off(results *r, const peer *p)
{
	timing t[2];

	measure_interleaved((measure_loop[]){ p->scopes_by_8, loop_empty_by_8 }, t, 2, 10 * BATCH_SCOPES,
			    5 * N_BATCHES);
	results_add(r, (result){ .name = "scope, recording off, over an empty loop",
				 .unit = "ns",
				 .best = t[0].best_ns - t[1].best_ns,
				 .median = t[0].median_ns - t[1].median_ns,
				 .ratio = NAN });
}

static void run_flat_out(results *r, const peer *p, size_t n)
{
	r->floor_ns = measure_floor_ns();
	int64_t start = now_ns();
	p->scope(n);
	double ns = (double)(now_ns() - start) / (double)n;
	results_add(r, (result){ .name = "10 M scopes flat out, each",
				 .unit = "ns",
				 .best = ns,
				 .median = NAN,
				 .ratio = ns / r->floor_ns });
}

int peer_main(const peer *p, int argc, char **argv)
{
	results r = { .program = p->name, .floor_ns = NAN };
	size_t n_batches = N_BATCHES, n_flat_out = 0;
	bool off = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--off") == 0)
			off = true;
		else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
			r.json_path = argv[++i];
		else if (strcmp(argv[i], "--batches") == 0 && i + 1 < argc)
			n_batches = strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--flat-out") == 0 && i + 1 < argc)
			n_flat_out = strtoul(argv[++i], NULL, 10);
	}
	measure_begin();
	if (off)
		run_off(&r, p);
	else if (n_flat_out)
		run_flat_out(&r, p, n_flat_out);
	else
		run_cases(&r, p, n_batches ? n_batches : N_BATCHES);
	return results_finish(&r) ? 0 : 1;
}
