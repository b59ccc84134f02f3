/* What `sonde record` says about processes: one that execs is named again. */
#define _GNU_SOURCE
#include "import/recording/recording.h"

#include <stdlib.h>

static int compare_places(const void *a, const void *b, void *context)
{
	const uint32_t *x = a, *y = b;
	const recording_process *processes = context;

	if (processes[*x].pid != processes[*y].pid)
		return processes[*x].pid < processes[*y].pid ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* Where it came first, it has its last name; the others lose theirs. */
static void name_once(recording_process *processes, const uint32_t *order, size_t n)
{
	for (size_t first = 0, i = 1; i <= n; i++) {
		if (i < n && processes[order[i]].pid == processes[order[first]].pid)
			continue;
		const char *last = processes[order[i - 1]].command;
		for (size_t k = first; k < i; k++)
			processes[order[k]].command = k == first ? last : NULL;
		first = i;
	}
}

bool recording_settle_processes(recording *t)
{
	size_t n = t->processes.n, n_kept = 0;
	recording_process *processes = t->processes.items;
	uint32_t *order = malloc((n + 1) * sizeof *order);

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (n)
		qsort_r(order, n, sizeof *order, compare_places, processes);
	name_once(processes, order, n);
	for (size_t i = 0; i < n; i++)
		if (processes[i].command)
			processes[n_kept++] = processes[i];
	t->processes.n = n_kept;
	free(order);
	return true;
}
