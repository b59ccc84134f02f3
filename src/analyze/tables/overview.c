/* See overview.h. */
#include "analyze/tables/overview.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/format_number.h"

const char *trace_title(const sonde_trace *trace)
{
	const char *path = trace->files.n ? trace->files.items[0].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return !path ? "standard input" : slash ? slash + 1 : path;
}

trace_counts trace_count(const sonde_trace *trace)
{
	trace_counts c = { 0 };
	size_t n_tracks, n_processes;
	const index_track *tracks = index_tracks(trace->index, &n_tracks);
	const index_process *processes = index_processes(trace->index, &n_processes);
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	int32_t last_rank = -1;
	uint32_t last_process = INDEX_NONE;

	/* Writers make up processes and threads to label things: those that do something count. Tracks lie by process.
	 */
	for (size_t i = 0; i < n_tracks; i++) {
		const index_track *t = &tracks[i];
		bool works = (t->n_slices && (t->kind == TRACK_THREAD || t->kind == TRACK_ASYNC)) ||
			     (trace->is_recorded && processes[t->process].device < 0);
		c.n_threads += t->kind == TRACK_THREAD && (t->n_slices || trace->is_recorded);
		c.n_streams += t->kind == TRACK_STREAM;
		c.n_processes += works && processes[t->process].pid_text == INDEX_NONE && t->process != last_process;
		last_process = works ? t->process : last_process;
	}
	for (size_t i = 0; i < n_processes; i++) { /* by rank */
		c.n_ranks += processes[i].rank >= 0 && processes[i].rank != last_rank;
		last_rank = processes[i].rank;
	}
	sonde_trace_get_facts(trace, &facts);
	c.n_lost = facts.n_lost;
	c.n_repaired = facts.n_repaired;
	c.n_events = facts.n_events || trace->is_recorded ? facts.n_events : trace->n_events + facts.n_lost;
	return c;
}

const char *trace_origin(const sonde_trace *trace, const char *key)
{
	size_t n, len = strlen(key);
	const index_meta *metas = index_metas(trace->index, &n);
	const char *value = trace_meta_value(trace, key);

	for (size_t i = 0; !value && i < n; i++) {
		const char *other = index_text(trace->index, metas[i].key);
		if (strncmp(other, key, len) == 0 && strncmp(other + len, " of process ", 12) == 0)
			value = index_text(trace->index, metas[i].value);
	}
	return value;
}

const char *trace_program(const sonde_trace *trace)
{
	const char *command = trace->is_recorded ? trace_origin(trace, "command") : NULL;

	return command || !trace->is_recorded ? command : trace_origin(trace, "program");
}

/* ---- The headline ------------------------------------------------------------------------------------------------ */

static const char *add_count(sonde_result *r, const char *text, uint64_t n, const char *one, const char *many)
{
	return n && text ? result_format(r, "%s   %s", text, result_counted(r, n, one, many)) : text;
}

const char *profile_steps_text(sonde_result *r, const profile *p)
{
	size_t n_warmup = p->options.n_warmup;
	const char *text = result_counted(r, p->steps.n, "step", "steps");

	if (n_warmup && text)
		text = result_format(r, "%s after %zu of warm-up", text, n_warmup);
	return text ? text : "";
}

/* In a line that has more to tell: a long path without its directories. */
static const char *short_program(const char *program)
{
	enum { LONG = 24 };
	const char *slash = strrchr(program, '/');

	return slash && slash[1] && strlen(program) > LONG && !strchr(program, ' ') ? slash + 1 : program;
}

void result_add_trace(sonde_result *r, const sonde_trace *trace, const profile *p)
{
	char time[NUMBER_TEXT];
	trace_counts c = trace_count(trace);
	size_t n_files = trace->files.n;
	const char *program = trace_program(trace), *line = trace_title(trace);

	if (n_files > 1 && !trace->recording)
		line = result_format(r, "%s and %zu more", line, n_files - 1);
	if (program && line)
		line = result_format(r, "%s   %s", line, short_program(program));
	line = line ? result_format(r, "%s   %s", line, format_ns(time, p->span_ns)) : NULL;
	line = add_count(r, line, c.n_ranks > 1 ? c.n_ranks : 0, "rank", "ranks");
	line = add_count(r, line, c.n_processes > 1 ? c.n_processes : 0, "process", "processes");
	line = add_count(r, line, c.n_threads, "thread", "threads");
	line = add_count(r, line, c.n_streams, "stream", "streams");
	if (p->steps.n && line)
		line = result_format(r, "%s   %s", line, profile_steps_text(r, p));
	if (line)
		result_headline(r, "%s", line);
	result_add(r, "file", cell_string(result_string(r, trace_title(trace))));
	result_add(r, "n_files", cell_count(n_files));
	result_add(r, "program", program ? cell_string(result_string(r, program)) : cell_unknown());
	result_add(r, "duration_ns", cell_ns(p->span_ns));
	result_add(r, "n_ranks", cell_count(c.n_ranks));
	result_add(r, "n_processes", cell_count(c.n_processes));
	result_add(r, "n_threads", cell_count(c.n_threads));
	result_add(r, "n_streams", cell_count(c.n_streams));
	result_add(r, "n_steps", cell_count(p->steps.n));
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

static const char *id_text(sonde_result *r, const sonde_index *ix, int64_t id, uint32_t text)
{
	return text != INDEX_NONE ? result_string(r, index_text(ix, text)) : result_format(r, "%" PRId64, id);
}

static const char *process_label(sonde_result *r, const sonde_trace *trace, const index_process *p)
{
	const char *id = id_text(r, trace->index, p->pid, p->pid_text);
	const char *name = index_text(trace->index, p->labels != INDEX_NONE && p->device >= 0 ? p->labels : p->name);

	if (!id || !*name || strstr(name, id))
		return *name ? result_string(r, name) : id;
	return p->device >= 0 ? result_string(r, name) : result_format(r, "%s %s", name, id);
}

/* "stream 7", with its process and rank where there are several. */
const char *trace_thread_label(sonde_result *r, const sonde_trace *trace, size_t index)
{
	static const char *const kinds[TRACK_KINDS] = { "thread", "stream", "async", "process" };
	size_t n_tracks, n_processes;
	const index_track *track = &index_tracks(trace->index, &n_tracks)[index];
	const index_process *processes = index_processes(trace->index, &n_processes);
	const index_process *p = &processes[track->process];
	const char *id = id_text(r, trace->index, track->id, track->id_text);
	const char *name = index_text(
		trace->index, track->kind == TRACK_ASYNC && track->name == INDEX_NONE ? track->category : track->name);

	if (!id)
		return NULL;
	const char *label = !*name ? result_format(r, "%s %s", kinds[track->kind], id)
			    : strstr(name, id) || track->kind == TRACK_ASYNC ? result_string(r, name)
									     : result_format(r, "%s %s", name, id);
	if (n_processes > 1 && label)
		label = result_format(r, "%s: %s", process_label(r, trace, p), label);
	if (processes[0].rank != processes[n_processes - 1].rank && p->rank >= 0 && label)
		label = result_format(r, "rank %" PRId32 ": %s", p->rank, label);
	return label;
}
