/* What the processes of a program used, as `sonde record` saw it from outside. */
#include "analyze/analysis.h"

static const column process_columns[] = {
	{ "pid", "pid", CELL_INTEGER, 0, false },
	{ "command", "process", CELL_STRING, 0, false },
	{ "cpu_ns", "cpu time", CELL_NS, 0, false },
	{ "peak_rss_bytes", "peak rss", CELL_BYTES, 0, false },
	{ "peak_threads", "threads", CELL_COUNT, 0, false },
	{ "minor_faults", "faults", CELL_COUNT, 1, false },
	{ "major_faults", "major", CELL_COUNT, 2, false },
	{ "read_bytes", "read", CELL_BYTES, 1, false },
	{ "write_bytes", "written", CELL_BYTES, 1, false },
	{ "n_samples", "samples", CELL_COUNT, 3, false },
};

typedef struct usage {
	process_sample last;
	uint64_t peak_rss, peak_threads, n;
} usage;

static usage usage_of(const sonde_trace *trace, int32_t pid)
{
	usage u = { 0 };

	for (size_t i = 0; i < trace->samples.n; i++) {
		const process_sample *s = &trace->samples.items[i];
		if (s->pid != pid)
			continue;
		if (s->read_bytes == UINT64_MAX) { /* a process that has ended tells nobody: as it was */
			uint64_t read_bytes = u.n ? u.last.read_bytes : UINT64_MAX, write_bytes = u.last.write_bytes;
			u.last = *s;
			u.last.read_bytes = read_bytes;
			u.last.write_bytes = write_bytes;
		} else {
			u.last = *s;
		}
		u.n++;
		u.peak_rss = s->rss_bytes > u.peak_rss ? s->rss_bytes : u.peak_rss;
		u.peak_rss = s->peak_rss_bytes > u.peak_rss ? s->peak_rss_bytes : u.peak_rss;
		u.peak_threads = s->n_threads > u.peak_threads ? s->n_threads : u.peak_threads;
	}
	return u;
}

void result_add_processes(sonde_result *r, const sonde_trace *trace)
{
	enum { SHOWN = 8, MOST = 1000 };

	if (!trace->processes.n)
		return;
	table *t =
		result_table(r, "processes", NULL, process_columns, sizeof process_columns / sizeof process_columns[0]);
	for (size_t i = 0; i < trace->processes.n && i < MOST; i++) {
		const trace_process *process = &trace->processes.items[i];
		usage u = usage_of(trace, process->pid);
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(process->pid);
		c[1] = cell_string(result_string(r, process->command));
		c[9] = cell_count(u.n);
		if (!u.n)
			continue;
		if (u.last.user_ns + u.last.system_ns) /* 0: below what the kernel counts in, mostly 10 ms */
			c[2] = cell_ns((int64_t)(u.last.user_ns + u.last.system_ns));
		if (u.peak_rss) /* 0: it was only seen before it had memory, and after */
			c[3] = cell_bytes(u.peak_rss);
		c[4] = cell_count(u.peak_threads);
		c[5] = cell_count(u.last.minor_faults);
		c[6] = cell_count(u.last.major_faults);
		if (u.last.read_bytes != UINT64_MAX) {
			c[7] = cell_bytes(u.last.read_bytes);
			c[8] = cell_bytes(u.last.write_bytes);
		}
	}
	if (t && t->n_rows > SHOWN) {
		t->n_shown = SHOWN;
		t->more = result_format(r, "%zu more processes: --json has them", t->n_rows - SHOWN);
	}
}
