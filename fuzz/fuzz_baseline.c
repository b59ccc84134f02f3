/*
 * A run of a baseline from a stranger: read, and if it is one, written and read again; what comes back is the same, and
 * every comparison with it is one of finite or unknown numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void check_again(const compare_run *run)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	compare_run again = { .n_runs = 0 };

	expect(out && compare_run_write(run, out) && fclose(out) == 0);
	expect(compare_run_read(&again, text, len));
	expect(again.items.n == run->items.n && again.peaks.n == run->peaks.n && again.n_steps == run->n_steps);
	for (size_t i = 0; i < run->items.n; i++)
		expect(again.items.items[i].kind == run->items.items[i].kind);
	compare_run_done(&again);
	free(text);
}

static void compare_all(const compare_run *run)
{
	for (size_t i = 1; i < run->items.n && i < 100; i++) {
		const summary *a = &run->items.items[i - 1].step, *b = &run->items.items[i].step;
		difference d = difference_of(a, b, 0.95);
		expect(isnan(d.low) || isnan(d.high) || d.low <= d.high);
		summary both[2] = { *a, *b }, joined = summary_joined(both, 2);
		difference_of(&joined, b, 0.999);
		expect(compare_run_find(run, run->items.items[i].kind, run->items.items[i].name) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare_run run = { .n_runs = 0 };

	if (compare_run_read(&run, (const char *)data, size)) {
		check_again(&run);
		compare_all(&run);
	}
	compare_run_done(&run);
	return 0;
}
