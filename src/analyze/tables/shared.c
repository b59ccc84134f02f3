/* What the analyses of a recording have in common: its title, memory, counters, and what is missing from it. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "analyze/tables/imported.h"
#include "base/format_number.h"

const char *trace_title(const sonde_trace *trace)
{
	const char *path = trace->files.n ? trace->files.items[0].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return !path ? "standard input" : slash ? slash + 1 : path;
}

static void free_trace(void *trace)
{
	sonde_trace_free(trace);
}

static void free_profile(void *p)
{
	profile_free(p);
}

bool result_keep_profile(sonde_result *r, profile *p)
{
	result_own(r, free_trace, trace_hold(p->trace));
	result_own(r, free_profile, p);
	return result_ok(r);
}

/* The program: as `sonde record` was told, or as the runtime saw it. */
static const char *program_of(const sonde_trace *trace)
{
	const char *program = NULL;

	for (size_t i = 0; i < trace->streams.n; i++) {
		const trace_stream *s = &trace->streams.items[i];
		for (size_t k = 0; k < s->meta.n; k++)
			if (strcmp(s->meta.items[k].key, "command") == 0)
				return s->meta.items[k].value;
		if (!program && s->info.role == ROLE_PROGRAM && s->info.program[0])
			program = s->info.program;
	}
	return program;
}

static size_t count_processes(const sonde_trace *trace)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->streams.n; i++)
		n += trace->streams.items[i].info.role == ROLE_PROGRAM;
	return n > trace->processes.n ? n : trace->processes.n;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

const char *profile_steps_text(sonde_result *r, const profile *p)
{
	char steps[NUMBER_TEXT];
	size_t n_warmup = p->options.n_warmup, n = p->steps.n;
	const char *text = result_format(r, "%s step%s", format_count(steps, n), plural(n));

	if (n_warmup && text)
		text = result_format(r, "%s after %zu of warm-up", text, n_warmup);
	return text ? text : "";
}

/* In a line that has more to tell: a long path without its directories. */
static const char *short_program(const char *program)
{
	enum { LONG = 24 };
	const char *slash = program ? strrchr(program, '/') : NULL;

	return slash && slash[1] && strlen(program) > LONG && !strchr(program, ' ') ? slash + 1 : program;
}

void result_add_trace(sonde_result *r, const sonde_trace *trace, const profile *p)
{
	char time[NUMBER_TEXT], threads[NUMBER_TEXT];
	const char *program = program_of(trace);
	size_t n_processes = count_processes(trace);

	if (trace_is_imported(trace)) {
		imported_add_trace(r, trace, p);
		return;
	}
	const char *headline =
		result_format(r, "%s   %s%s%s", trace_title(trace), program ? short_program(program) : "",
			      program ? "   " : "", format_ns(time, p->span_ns));
	if (trace->threads.n) /* none: of threads that name nothing nobody knows */
		headline = result_format(r, "%s   %s thread%s", headline ? headline : "",
					 format_count(threads, trace->threads.n), plural(trace->threads.n));
	if (n_processes > 1)
		headline = result_format(r, "%s   %zu processes", headline ? headline : "", n_processes);
	if (p->steps.n)
		headline = result_format(r, "%s   %s", headline ? headline : "", profile_steps_text(r, p));
	if (headline)
		result_headline(r, "%s", headline);
	result_add(r, "file", cell_string(result_string(r, trace_title(trace))));
	result_add(r, "program", cell_string(result_string(r, program)));
	result_add(r, "duration_ns", cell_ns(p->span_ns));
	result_add(r, "n_processes", cell_count(n_processes));
	result_add(r, "n_threads", cell_count(trace->threads.n));
	result_add(r, "n_steps", cell_count(p->steps.n));
}

static const column memory_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "peak_bytes", "peak", CELL_BYTES, 0, false },
	{ "peak_at_ns", "at", CELL_NS, 0, false },
	{ "peak_in", "in", CELL_STRING, 0, false },
	{ "end_bytes", "at the end", CELL_BYTES, 1, false },
	{ "n_allocs", "allocs", CELL_COUNT, 1, false },
	{ "n_frees", "frees", CELL_COUNT, 2, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 2, false },
	{ "n_unknown_frees", "unknown frees", CELL_COUNT, 3, false },
};

void result_add_memory(sonde_result *r, const profile *p)
{
	char bytes[NUMBER_TEXT], at[NUMBER_TEXT];

	if (!p->memory.n)
		return;
	table *t = result_table(r, "memory", NULL, memory_columns, sizeof memory_columns / sizeof memory_columns[0]);
	for (size_t i = 0; i < p->memory.n; i++) {
		const profile_memory *m = p->memory.items[i];
		const char *inside = m->peak_inside == INTERN_NONE ? NULL : trace_text(p->trace, m->peak_inside);
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, m->device));
		c[1] = cell_bytes(m->peak_bytes);
		int64_t peak_at = m->peak_bytes ? m->peak_ns - p->start_ns : 0;
		if (m->peak_bytes)
			c[2] = cell_ns(peak_at);
		c[3] = cell_string(inside);
		c[4] = cell_bytes(m->current_bytes);
		c[5] = cell_count(m->n_allocs);
		c[6] = cell_count(m->n_frees);
		c[7] = cell_bytes(m->allocated_bytes);
		c[8] = cell_count(m->n_unknown_frees);
		result_note_add(r, "memory", "%s peak %s%s%s%s%s", m->device, format_bytes(bytes, m->peak_bytes),
				m->peak_bytes ? " at " : "", m->peak_bytes ? format_ns(at, peak_at) : "",
				inside ? " in " : "", inside ? inside : "");
	}
	if (t)
		t->n_shown = 0;
}

static const column timeline_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "peak_bytes", "peak", CELL_BYTES, 0, false },
};
static const column snapshot_columns[] = {
	{ "device", "snapshot of", CELL_STRING, 0, false },  { "time_ns", "at", CELL_NS, 0, false },
	{ "current_bytes", "in use", CELL_BYTES, 0, false }, { "peak_bytes", "peak so far", CELL_BYTES, 0, false },
	{ "n_live", "blocks", CELL_COUNT, 0, false },
};

/* For programs: the curve of each device, and the snapshots that were taken. */
void result_add_memory_curves(sonde_result *r, const profile *p)
{
	int64_t times[PROFILE_POINTS];
	uint64_t peaks[PROFILE_POINTS];

	table *t = p->memory.n ? result_table(r, "memory_timeline", NULL, timeline_columns, 3) : NULL;
	for (size_t i = 0; i < p->memory.n; i++) {
		size_t n = profile_timeline(p, p->memory.items[i], times, peaks, PROFILE_POINTS);
		const char *device = result_string(r, p->memory.items[i]->device);
		for (size_t k = 0; k < n; k++) {
			cell *c = table_row(r, t, 0);
			c[0] = cell_string(device);
			c[1] = cell_ns(times[k]);
			c[2] = cell_bytes(peaks[k]);
		}
	}
	table_chart(t, CHART_STEPS, "time_ns", "peak_bytes", "device");
	if (t)
		t->n_shown = 0;
	t = p->snapshots.n ? result_table(r, "memory_snapshots", NULL, snapshot_columns, 5) : NULL;
	for (size_t i = 0; i < p->snapshots.n; i++) {
		const profile_snapshot *s = &p->snapshots.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, s->device));
		c[1] = cell_ns(s->what.time_ns - p->start_ns);
		c[2] = cell_bytes(s->what.current_bytes);
		c[3] = cell_bytes(s->what.peak_bytes);
		c[4] = cell_count(s->what.n_live);
	}
	if (t && t->n_rows > 10)
		t->n_shown = 10;
}

static const column counter_columns[] = {
	{ "name", "counter", CELL_STRING, 0, false }, { "n_values", "values", CELL_COUNT, 0, false },
	{ "first", "first", CELL_NUMBER, 0, false },  { "last", "last", CELL_NUMBER, 0, false },
	{ "min", "min", CELL_NUMBER, 1, false },      { "max", "max", CELL_NUMBER, 1, false },
};

void result_add_counters(sonde_result *r, const profile *p)
{
	char first[NUMBER_TEXT], last[NUMBER_TEXT];

	if (!p->counters.n)
		return;
	table *t =
		result_table(r, "counters", NULL, counter_columns, sizeof counter_columns / sizeof counter_columns[0]);
	for (size_t i = 0; i < p->counters.n; i++) {
		const profile_counter *k = &p->counters.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(trace_text(p->trace, k->name));
		c[1] = cell_count(k->n);
		c[2] = cell_number(k->first);
		c[3] = cell_number(k->last);
		c[4] = cell_number(k->min);
		c[5] = cell_number(k->max);
		if (i < 8)
			result_note_add(r, "counter", "%s from %s to %s, %s", trace_text(p->trace, k->name),
					format_number(first, k->first), format_number(last, k->last),
					result_counted(r, k->n, "values"));
	}
	if (t)
		t->n_shown = 0;
}

/* ---- What is missing --------------------------------------------------------------------------------------------- */

typedef struct loss {
	const char *key, *text;
	uint64_t n;
} loss;

/* Where the plural ends among the first words, "invalid escapes", "unbound flow points"; 0: there is none. */
static size_t plural_end(const char *what)
{
	static const char *const stops[] = { "in", "of", "that", "by", "because" };
	const char *at = what;

	for (int word = 0; word < 3; word++) {
		size_t len = strcspn(at, " ,:");

		for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
			if (len == strlen(stops[i]) && strncmp(at, stops[i], len) == 0)
				return 0;
		if (len > 2 && at[len - 1] == 's' && at[len - 2] != 's')
			return (size_t)(at - what) + len;
		if (at[len] != ' ')
			return 0;
		at += len + 1;
	}
	return 0;
}

const char *result_counted(sonde_result *r, uint64_t n, const char *what)
{
	static const char are[] = " that are ";
	char number[NUMBER_TEXT];
	size_t end = n == 1 ? plural_end(what) : 0;
	const char *rest = what + end, *verb = end ? strstr(rest, are) : NULL;
	size_t kept = end < 4 || memcmp(rest - 4, "ches", 4) != 0 ? end - (end > 0) : end - 2;

	if (!verb)
		return result_format(r, "%s %.*s%s", format_count(number, n), (int)kept, what, rest);
	return result_format(r, "%s %.*s%.*s that is %s", format_count(number, n), (int)kept, what, (int)(verb - rest),
			     rest, verb + sizeof are - 1);
}

/* "12 lost because the ring was full, 3 ..." of those that are not 0; "" when all are. */
static const char *sentence(sonde_result *r, const loss *losses, size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n && text; i++)
		if (losses[i].n)
			text = result_format(r, "%s%s%s", text, *text ? ", " : "",
					     result_counted(r, losses[i].n, losses[i].text));
	return text ? text : "";
}

static uint64_t sum(const loss *losses, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += losses[i].n;
	return total;
}

static void add_values(sonde_result *r, const loss *losses, size_t n)
{
	for (size_t i = 0; i < n; i++)
		result_add(r, losses[i].key, cell_count(losses[i].n));
}

static void note_clock(sonde_result *r, const sonde_trace *trace)
{
	for (size_t i = 0; i < trace->streams.n; i++) {
		const trace_stream *s = &trace->streams.items[i];
		if (s->tick_ns > 0 || s->info.role != ROLE_PROGRAM || !s->n_kept)
			continue;
		result_note_add(r, "clock",
				"the file holds too few clock readings: its times are ticks, not nanoseconds");
		return;
	}
}

static void add_state(sonde_result *r, const sonde_trace *trace)
{
	const trace_diagnostics *d = &trace->diagnostics;
	uint64_t n_live = 0, n_joined = 0;
	char number[NUMBER_TEXT];

	for (size_t i = 0; i < trace->streams.n; i++) {
		n_live += trace->streams.items[i].live;
		n_joined += trace->streams.items[i].n_joined;
	}
	result_add(r, "n_unclosed", cell_count(d->n_unclosed_streams));
	result_add(r, "n_recovered", cell_count(n_joined));
	if (n_live)
		result_note_add(r, "note", "the program is still running: this is what it recorded so far");
	else if (n_joined)
		result_note_add(r, "note", "the program was killed; %s events were recovered from its ring",
				format_count(number, n_joined));
	if (d->n_rings_missing)
		result_note_add(
			r, "note",
			"the recording was not closed and its ring is gone: events of its last moments may be missing, "
			"their number is unknown");
}

enum { N_LOST = 5 };

static void list_lost(const trace_diagnostics *d, loss *ret_lost)
{
	const loss lost[N_LOST] = {
		{ "n_lost_full", "because the ring was full", d->n_lost_full },
		{ "n_lost_overwritten", "overwritten by newer ones", d->n_lost_overwritten },
		{ "n_lost_signal", "in signal handlers", d->n_lost_signal },
		{ "n_lost_io", "that could not be written", d->n_lost_io },
		{ "n_lost_damaged", "in damaged parts of the file", d->n_lost_damaged },
	};

	memcpy(ret_lost, lost, sizeof lost);
}

static bool has_note(const sonde_result *r, const char *label)
{
	for (const result_note *n = r->notes; n; n = n->next)
		if (strcmp(n->label, label) == 0)
			return true;
	return false;
}

void result_note_losses(sonde_result *r, const sonde_trace *trace)
{
	loss lost[N_LOST];
	sonde_error err;

	if (!has_note(r, "damaged") && sonde_trace_damage(trace, &err))
		result_note_add(r, "damaged", "byte %" PRId64 ": %s", err.position, err.message);
	if (has_note(r, "lost") || has_note(r, "damaged"))
		return;
	if (trace_is_imported(trace)) {
		imported_note_losses(r, trace);
		return;
	}
	list_lost(&trace->diagnostics, lost);
	if (sum(lost, N_LOST))
		result_note_add(r, "lost", "events: %s", sentence(r, lost, N_LOST));
}

static bool has_table(const sonde_result *r, const char *key)
{
	for (const table *t = r->tables; t; t = t->next)
		if (strcmp(t->key, key) == 0)
			return true;
	return false;
}

void result_add_losses(sonde_result *r, const sonde_trace *trace, const walk_counts *counts)
{
	const trace_diagnostics *d = &trace->diagnostics;
	loss lost[N_LOST];
	const loss repaired[] = {
		{ "n_open", "scopes open at the end", counts->n_open },
		{ "n_repaired", "scopes without an end, closed with the scope around them", counts->n_repaired },
		{ "n_unmatched_ends", "ends without a begin", counts->n_unmatched_ends },
		{ "n_clamped", "time stamps before their predecessor's", counts->n_clamped },
		{ "n_times_outside", "events with times far outside of the recording, moved to when they were recorded",
		  counts->n_outside },
		{ "n_unknown_names", "events with an unknown name", counts->n_unknown },
		{ "n_names_refused", "names that found no room", d->n_names_refused },
		{ "n_too_deep", "scopes nested too deep", counts->n_too_deep },
	};
	enum { N_REPAIRED = sizeof repaired / sizeof repaired[0] };
	list_lost(d, lost);
	uint64_t n_lost = sum(lost, N_LOST), n_repaired = sum(repaired, N_REPAIRED);

	if (trace_is_imported(trace)) {
		imported_add_losses(r, trace, counts);
		return;
	}
	result_add(r, "n_emitted", d->n_rings_missing ? cell_unknown() : cell_count(d->n_kept + n_lost));
	result_add(r, "n_kept", cell_count(d->n_kept));
	result_add(r, "n_lost", d->n_rings_missing ? cell_unknown() : cell_count(n_lost));
	add_values(r, lost, N_LOST);
	result_add(r, "n_repaired_total", cell_count(n_repaired));
	add_values(r, repaired, N_REPAIRED);
	result_add(r, "n_damaged_blocks", cell_count(d->n_damaged_blocks + counts->n_damaged));
	result_add(r, "skipped_bytes", cell_bytes(d->skipped_bytes));
	result_add(r, "truncated_bytes", cell_bytes(d->truncated_bytes));
	result_add(r, "first_damage_byte", d->first_damage < 0 ? cell_unknown() : cell_integer(d->first_damage));
	add_state(r, trace);
	note_clock(r, trace);
	if (!d->n_kept && !n_lost)
		result_note_add(
			r, "note",
			"no events: the program was not built with libsonde-rt, or nothing it names was reached%s",
			trace->samples.n && !has_table(r, "processes") ? "; sonde summary shows what it used" : "");
	if (n_lost || n_repaired)
		result_note_add(r, n_lost ? "lost" : "repaired", "%s%s%s%s", n_lost ? "events: " : "",
				sentence(r, lost, N_LOST), n_lost && n_repaired ? "; repaired: " : "",
				sentence(r, repaired, N_REPAIRED));
	if (d->truncated_bytes)
		result_note_add(r, "damaged", "the file is cut off: its last %" PRIu64 " bytes are not a whole block",
				d->truncated_bytes);
	if (d->torn_index_bytes)
		result_note_add(r, "index", "damaged or cut off; everything is read from the recording in front of it");
	if (d->first_damage >= 0)
		result_note_add(r, "damaged", "from byte %" PRId64 " on: %" PRIu64 " bytes in %s", d->first_damage,
				d->skipped_bytes, result_counted(r, d->n_damaged_blocks, "blocks skipped"));
}
