/* What is missing from a trace, and what was repaired in it: the diagnostics of its index, and its file. */
#include <inttypes.h>
#include <string.h>
#include "analyze/tables/overview.h"
#include "base/format_number.h"

const char *result_counted(sonde_result *r, uint64_t n, const char *one, const char *many)
{
	char number[NUMBER_TEXT];

	return result_format(r, "%s %s", format_count(number, n), n == 1 ? one : many);
}

static uint64_t count_of(const sonde_trace *trace, diagnostic_kind kind)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += d[i].kind == (uint32_t)kind ? d[i].count : 0;
	return sum;
}

static int64_t first_of(const sonde_trace *trace, diagnostic_kind kind)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].kind == (uint32_t)kind)
			return d[i].first;
	return -1;
}

/* ---- As a table -------------------------------------------------------------------------------------------------- */

static const column diagnostic_columns[] = {
	{ "kind", "found in the file", CELL_STRING, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "lost", "lost", CELL_BOOL, 0, false },
	{ "first_byte", "first at byte", CELL_INTEGER, 0, false },
	{ "file", "of", CELL_STRING, 1, false },
};

table *result_add_diagnostics(sonde_result *r, const sonde_trace *trace)
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
		c[0] = cell_string(result_string(r, index_text(trace->index, d[i].text)));
		c[1] = cell_count(d[i].count);
		c[2] = cell_bool(d[i].lost != 0);
		if (d[i].first >= 0)
			c[3] = cell_integer(d[i].first);
		if (*file)
			c[4] = cell_string(result_string(r, slash ? slash + 1 : file));
	}
	return t;
}

/* ---- As sentences ------------------------------------------------------------------------------------------------ */

static const char *text_of(sonde_result *r, const sonde_trace *trace, const index_diagnostic *d)
{
	const char *text = index_text(trace->index, d->text);
	const diagnostic_info *info = d->kind < DIAGNOSTIC_KINDS ? &diagnostic_infos[d->kind] : NULL;
	bool has_own = !info || strcmp(text, info->many) != 0;

	return result_counted(r, d->count, has_own ? text : info->one, text);
}

/* "12 damaged events; 3 ..." of those with this effect. */
static const char *sentence(sonde_result *r, const sonde_trace *trace, diagnostic_effect effect)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(trace->index, &n);
	const char *text = "";

	for (size_t i = 0; i < n && text; i++)
		if (diagnostic_is(&d[i], effect) && d[i].count)
			text = result_format(r, "%s%s%s", text, *text ? "; " : "", text_of(r, trace, &d[i]));
	return text ? text : "";
}

static bool has_note(const sonde_result *r, const char *label)
{
	for (const result_note *n = r->notes; n; n = n->next)
		if (strcmp(n->label, label) == 0)
			return true;
	return false;
}

/* How much is missing is unknown then. */
static bool ends_early(const sonde_trace *trace)
{
	return count_of(trace, DIAGNOSTIC_TEXT_CUT) > 0;
}

static void note_lost(sonde_result *r, const sonde_trace *trace)
{
	bool is_cut = ends_early(trace);
	const char *lost = sentence(r, trace, EFFECT_LOSS);

	if (*lost || is_cut)
		result_note_add(r, "lost", "%s%s%s", lost, *lost && is_cut ? "; " : "",
				is_cut ? "the file ends early: later events are missing" : "");
}

void result_note_losses(sonde_result *r, const sonde_trace *trace)
{
	sonde_error err;

	if (!has_note(r, "damaged") && sonde_trace_damage(trace, &err))
		result_note_add(r, "damaged", "byte %" PRId64 ": %s", err.position, err.message);
	if (!has_note(r, "lost") && !has_note(r, "damaged"))
		note_lost(r, trace);
}

/* ---- With every count -------------------------------------------------------------------------------------------- */

/* Of a recording, also those that are 0. */
static void add_counts(sonde_result *r, const sonde_trace *trace, uint64_t n_damaged)
{
	for (diagnostic_kind i = 0; i < DIAGNOSTIC_KINDS; i++) {
		uint64_t n = count_of(trace, i) + (i == DIAGNOSTIC_DAMAGED_BLOCKS ? n_damaged : 0);
		if (diagnostic_infos[i].key && (trace->is_recorded || n || i == DIAGNOSTIC_DAMAGED_BLOCKS))
			result_add(r, diagnostic_infos[i].key,
				   i == DIAGNOSTIC_SKIPPED_BYTES || i == DIAGNOSTIC_TRUNCATED_BYTES ? cell_bytes(n)
												    : cell_count(n));
	}
	int64_t first = first_of(trace, DIAGNOSTIC_DAMAGED_BLOCKS);
	if (trace->is_recorded)
		result_add(r, "first_damage_byte", first < 0 ? cell_unknown() : cell_integer(first));
}

static void add_file_state(sonde_result *r, const sonde_trace *trace)
{
	const recording_facts *f = trace->recording;

	if (!f)
		return;
	result_add(r, "n_unclosed", cell_count(f->n_unclosed));
	result_add(r, "n_recovered", cell_count(f->n_recovered));
	if (f->is_live)
		result_note_add(r, "note", "the program is still running: the results cover its recording so far");
	else if (f->n_recovered)
		result_note_add(r, "note", "the program was killed; %s recovered from its ring",
				result_counted(r, f->n_recovered, "event was", "events were"));
	if (f->has_ticks)
		result_note_add(r, "clock", "the file has too few clock readings: times are ticks, not nanoseconds");
	if (f->torn_index_bytes)
		result_note_add(r, "index", "damaged or truncated; Sonde reads the recording instead");
}

static void note_damage(sonde_result *r, const sonde_trace *trace)
{
	uint64_t n_cut = count_of(trace, DIAGNOSTIC_TRUNCATED_BYTES), n = count_of(trace, DIAGNOSTIC_DAMAGED_BLOCKS);

	if (n_cut)
		result_note_add(r, "damaged", "the file is truncated: its last %s not a complete block",
				result_counted(r, n_cut, "byte is", "bytes are"));
	if (first_of(trace, DIAGNOSTIC_DAMAGED_BLOCKS) >= 0)
		result_note_add(r, "damaged", "from byte %" PRId64 " on: %" PRIu64 " bytes in %s",
				first_of(trace, DIAGNOSTIC_DAMAGED_BLOCKS), count_of(trace, DIAGNOSTIC_SKIPPED_BYTES),
				result_counted(r, n, "block skipped", "blocks skipped"));
	if (count_of(trace, DIAGNOSTIC_RINGS_MISSING))
		result_note_add(r, "note",
				"the recording was not closed and its ring does not exist: an unknown number of its "
				"last events may be missing");
}

static bool has_table(const sonde_result *r, const char *key)
{
	for (const table *t = r->tables; t; t = t->next)
		if (strcmp(t->key, key) == 0)
			return true;
	return false;
}

static void note_nothing(sonde_result *r, const sonde_trace *trace)
{
	bool shows_use = trace_has_samples(trace) && !has_table(r, "processes");

	if (!trace->is_recorded)
		result_note_add(r, "note", "no events");
	else
		result_note_add(r, "note",
				"no events: the program was not built with libsonde-rt, or reached no scope%s",
				shows_use ? "; sonde summary shows its resource use" : "");
}

void result_add_losses(sonde_result *r, const sonde_trace *trace, const walk_counts *counts)
{
	trace_counts c = trace_count(trace);
	bool is_unknown = count_of(trace, DIAGNOSTIC_RINGS_MISSING) > 0;
	uint64_t n_kept = c.n_events > c.n_lost ? c.n_events - c.n_lost : 0;

	result_add(r, "n_emitted", is_unknown ? cell_unknown() : cell_count(c.n_events));
	result_add(r, "n_kept", cell_count(n_kept));
	result_add(r, "n_lost", is_unknown ? cell_unknown() : cell_count(c.n_lost));
	result_add(r, "n_repaired_total", cell_count(c.n_repaired));
	add_counts(r, trace, counts->n_damaged);
	add_file_state(r, trace);
	note_lost(r, trace);
	if (c.n_repaired)
		result_note_add(r, trace->is_recorded ? "repaired" : "noted", "%s", sentence(r, trace, EFFECT_REPAIR));
	note_damage(r, trace);
	/* Checksums are right and the content is not: result_note_losses() has nothing to say. */
	if (counts->n_damaged && !index_is_damaged(trace->index))
		result_note_add(r, "damaged", "blocks of the index that could not be read: %" PRIu64,
				counts->n_damaged);
	if (!c.n_events)
		note_nothing(r, trace);
}
