/*
 * What the analyses of an imported trace have in common: its title, names for its tracks, and what an importer repaired
 * or lost. The counterpart of shared.c, which calls these.
 */
#include "analyze/tables/imported.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/format_number.h"

imported_counts imported_count(const sonde_trace *trace)
{
	imported_counts c = { 0 };
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
		bool works = t->n_slices && (t->kind == TRACK_THREAD || t->kind == TRACK_ASYNC);
		c.n_threads += t->kind == TRACK_THREAD && t->n_slices;
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
	c.n_events = facts.n_events ? facts.n_events : trace->diagnostics.n_kept + facts.n_lost;
	return c;
}

static const char *add_count(sonde_result *r, const char *text, uint64_t n, const char *what)
{
	char number[NUMBER_TEXT];

	if (!n || !text)
		return text;
	return result_format(r, "%s   %s %s%s", text, format_count(number, n), what,
			     n == 1			     ? ""
			     : what[strlen(what) - 1] == 's' ? "es"
							     : "s");
}

void imported_add_trace(sonde_result *r, const sonde_trace *trace, const profile *p)
{
	char time[NUMBER_TEXT];
	imported_counts c = imported_count(trace);
	size_t n_files = trace->files.n;

	const char *line = trace_title(trace);
	if (n_files > 1)
		line = result_format(r, "%s and %zu more", line, n_files - 1);
	line = line ? result_format(r, "%s   %s", line, format_ns(time, p->span_ns)) : NULL;
	line = add_count(r, line, c.n_ranks > 1 ? c.n_ranks : 0, "rank");
	line = add_count(r, line, c.n_processes > 1 ? c.n_processes : 0, "process");
	line = add_count(r, line, c.n_threads, "thread");
	line = add_count(r, line, c.n_streams, "stream");
	if (p->steps.n && line)
		line = result_format(r, "%s   %s", line, profile_steps_text(r, p));
	if (line)
		result_headline(r, "%s", line);
	result_add(r, "file", cell_string(result_string(r, trace_title(trace))));
	result_add(r, "n_files", cell_count(n_files));
	result_add(r, "program", cell_unknown());
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
const char *imported_thread_label(sonde_result *r, const sonde_trace *trace, size_t index)
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

/* ---- What is missing --------------------------------------------------------------------------------------------- */

static const column diagnostic_columns[] = {
	{ "kind", "found in the file", CELL_STRING, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "lost", "lost", CELL_BOOL, 0, false },
	{ "first_byte", "first at byte", CELL_INTEGER, 0, false },
	{ "file", "of", CELL_STRING, 1, false },
};

/* "12 damaged events; 3 ..." of those that lost events, or of those that did not. */
static const char *sentence(sonde_result *r, const sonde_trace *trace, bool lost)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);
	const char *text = "";

	for (size_t i = 0; i < n && text; i++)
		if ((d[i].lost != 0) == lost && d[i].count)
			text = result_format(r, "%s%s%s", text, *text ? "; " : "",
					     result_counted(r, d[i].count, index_text(trace->index, d[i].kind)));
	return text ? text : "";
}

table *imported_add_diagnostics(sonde_result *r, const sonde_trace *trace)
{
	enum { MOST = 1000 };
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);
	table *t = n ? result_table(r, "diagnostics", NULL, diagnostic_columns,
				    sizeof diagnostic_columns / sizeof diagnostic_columns[0])
		     : NULL;

	for (size_t i = 0; i < n && i < MOST; i++) {
		cell *c = table_row(r, t, 0);
		const char *file = index_text(trace->index, d[i].file), *slash = strrchr(file, '/');
		c[0] = cell_string(result_string(r, index_text(trace->index, d[i].kind)));
		c[1] = cell_count(d[i].count);
		c[2] = cell_bool(d[i].lost != 0);
		if (d[i].first >= 0)
			c[3] = cell_integer(d[i].first);
		if (*file)
			c[4] = cell_string(result_string(r, slash ? slash + 1 : file));
	}
	return t;
}

/* Nobody knows how much is missing then. */
static bool ends_early(const sonde_trace *trace)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].count && strcmp(index_text(trace->index, d[i].kind), "early end of the file") == 0)
			return true;
	return false;
}

void imported_note_losses(sonde_result *r, const sonde_trace *trace)
{
	bool is_cut = ends_early(trace);
	const char *lost = sentence(r, trace, true);

	if (*lost || is_cut)
		result_note_add(r, "lost", "%s%s%s", lost, *lost && is_cut ? "; " : "",
				is_cut ? "the file ends early: whatever came after is missing" : "");
}

void imported_add_losses(sonde_result *r, const sonde_trace *trace, const walk_counts *counts)
{
	imported_counts c = imported_count(trace);

	result_add(r, "n_emitted", cell_count(c.n_events));
	result_add(r, "n_kept", cell_count(c.n_events > c.n_lost ? c.n_events - c.n_lost : 0));
	result_add(r, "n_lost", cell_count(c.n_lost));
	result_add(r, "n_repaired_total", cell_count(c.n_repaired));
	result_add(r, "n_open", cell_count(counts->n_open));
	result_add(r, "n_repaired", cell_count(counts->n_repaired));
	result_add(r, "n_damaged_blocks", cell_count(counts->n_damaged));
	imported_note_losses(r, trace);
	if (c.n_repaired)
		result_note_add(r, "noted", "%s", sentence(r, trace, false));
	/* Checksums are right and the content is not: result_note_losses() has nothing to say. */
	if (counts->n_damaged && !index_is_damaged(trace->index))
		result_note_add(r, "damaged", "blocks of the index that could not be read: %" PRIu64,
				counts->n_damaged);
	if (!c.n_events)
		result_note_add(r, "note", "no events");
}
