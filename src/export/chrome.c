/*
 * Chrome's trace format: the same events again, so that importing the export gives the same trace.
 *
 * Slices are complete events (X), asynchronous ones b and e. Times are microseconds with three decimals. Where the
 * trace counts from 1970 they count from its baseTimeNanoseconds, else from where the trace counts. Arguments and
 * members that mean nothing to Sonde are written as they were read.
 *
 * Slices that overlap others on their track go to a thread of their own, as viewers drop them otherwise; a metadata
 * event says where they belong: {"ph": "M", "name": "sonde_extra_lane", "pid": P, "tid": T2, "args": {"tid": T}}. So do
 * threads whose ids viewers cannot read.
 */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/json_members.h"
#include "base/json_read.h"
#include "export/chrome.h"
#include "export/exporter.h"
#include "format/index/own_category.h"
#include "store/walk.h"

/* ---- Parts of an event ------------------------------------------------------------------------------------------- */

void chrome_string(chrome_out *c, uint32_t string)
{
	size_t len;
	const char *text = index_textn(c->ix, string, &len);

	text_quoted(&c->to, text, len);
}

void chrome_pid(chrome_out *c, uint32_t process)
{
	const index_process *p = &c->processes[process];

	text_put(&c->to, ", \"pid\": ");
	if (p->pid_text != INDEX_NONE && !c->pids[process])
		chrome_string(c, p->pid_text);
	else
		text_i64(&c->to, c->pids[process]);
}

void chrome_tid(chrome_out *c, const index_track *t, int64_t extra)
{
	text_put(&c->to, ", \"tid\": ");
	extra = extra ? extra : c->track_tids[t - c->tracks];
	if (extra)
		text_i64(&c->to, extra);
	else if (t->id_text != INDEX_NONE)
		chrome_string(c, t->id_text);
	else
		text_i64(&c->to, t->id);
}

void chrome_begin_event(chrome_out *c, char phase)
{
	text_put(&c->to, c->has_event ? ",\n{\"ph\": \"" : "\n{\"ph\": \"");
	text_putn(&c->to, &phase, 1);
	text_put(&c->to, "\"");
	c->has_event = true;
}

void chrome_end_event(chrome_out *c)
{
	text_put(&c->to, "}");
}

/* Of a recording with what the name stands for. */
static void put_category(const chrome_out *c, const index_site *site, text_out *to)
{
	char own[OWN_CATEGORY_MAX];
	size_t len;
	const char *category = index_textn(c->ix, site->category, &len);
	text_out whole = { 0 };

	if (!len && !c->trace->is_recorded)
		return;
	text_putn(&whole, category, len);
	if (c->trace->is_recorded)
		text_putn(&whole, own, own_category_write(own, site->class, site->kind));
	text_put(to, ", \"cat\": ");
	text_quoted(to, whole.bytes ? whole.bytes : "", whole.n);
	to->failed |= whole.failed;
	text_done(&whole);
}

/* The name and the category of a site are quoted once. */
static const char *site_text(chrome_out *c, uint64_t site)
{
	text_out text = { 0 };
	size_t name_len;

	if (site >= c->n_sites)
		return ", \"name\": \"?\"";
	if (c->site_texts[site])
		return c->site_texts[site];
	const char *name = index_textn(c->ix, c->sites[site].name, &name_len);
	text_put(&text, ", \"name\": ");
	text_quoted(&text, name, name_len);
	put_category(c, &c->sites[site], &text);
	text_putn(&text, "", 1);
	c->to.failed |= text.failed;
	c->site_texts[site] = text.bytes;
	return text.failed ? "" : text.bytes;
}

void chrome_ts(chrome_out *c, int64_t ns)
{
	text_put(&c->to, ", \"ts\": ");
	text_us(&c->to, ns - c->base_ns);
}

/* Member by member: what a value that is no JSON does not take along. */
static void put_cleaned(chrome_out *c, const char *args, size_t len)
{
	json_members members = json_members_of(args, len);
	json_member m;
	bool first = true;

	text_put(&c->to, "{");
	while (members.is_object && json_next(&members, &m)) {
		text_put(&c->to, first ? "" : ", ");
		first = false;
		/* The key as it stands, if a string can hold it that way. */
		if (m.key > args && json_is_valid(m.key - 1, m.key_len + 2))
			text_putn(&c->to, m.key - 1, m.key_len + 2);
		else
			text_quoted(&c->to, m.key, m.key_len);
		text_put(&c->to, ": ");
		text_json(&c->to, m.value, m.len);
	}
	text_put(&c->to, "}");
}

/* Written behind what is there and not kept. */
static bool extra_is_valid(chrome_out *c, const args_text *text)
{
	char *to = text_room(&c->to, text->extra_len + 2);

	if (!to)
		return false;
	to[0] = '{';
	memcpy(to + 1, text->extra, text->extra_len);
	to[text->extra_len + 1] = '}';
	return json_is_valid(to, text->extra_len + 2);
}

/* with_args: else only the members of the event that mean nothing to Sonde. */
static void put_record(chrome_out *c, uint64_t args, bool with_args)
{
	args_text text;

	if (!args || args > UINT32_MAX || !args_read(c->args, (uint32_t)args, &text))
		return;
	if (text.args && with_args) {
		text_put(&c->to, ", \"args\": ");
		if (json_is_valid(text.args, text.args_len))
			text_putn(&c->to, text.args, text.args_len);
		else
			put_cleaned(c, text.args, text.args_len);
	}
	if (text.extra_len && extra_is_valid(c, &text)) {
		text_put(&c->to, ", ");
		text_putn(&c->to, text.extra, text.extra_len);
	}
}

static void put_args(chrome_out *c, uint64_t args)
{
	put_record(c, args, c->with_args);
}

/* Has the event an id of its own among what put_args() writes? `put`: writes that alone, for another event. */
static bool own_id(chrome_out *c, uint64_t args, bool put)
{
	text_out object = { 0 };
	args_text text;
	json_member m;
	bool found = false;

	if (!args || args > UINT32_MAX || !args_read(c->args, (uint32_t)args, &text) || !text.extra_len ||
	    !extra_is_valid(c, &text))
		return false;
	text_put(&object, "{"), text_putn(&object, text.extra, text.extra_len), text_put(&object, "}");
	json_members members = json_members_of(object.bytes, object.failed ? 0 : object.n);
	while (json_next(&members, &m)) {
		if (!(m.key_len == 2 && memcmp(m.key, "id", 2) == 0) &&
		    !(m.key_len == 3 && memcmp(m.key, "id2", 3) == 0))
			continue;
		found = true;
		if (put) {
			text_put(&c->to, ", \""), text_putn(&c->to, m.key, m.key_len), text_put(&c->to, "\": ");
			text_putn(&c->to, m.value, m.len);
		}
	}
	c->to.failed |= object.failed;
	text_done(&object);
	return found;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

static void on_thread(void *context, const trace_thread *thread)
{
	chrome_out *c = context;

	c->track = thread->number;
	c->group = 0;
}

static void put_async(chrome_out *c, const slice *s, const index_track *t)
{
	c->next_id++;
	/* An end stands right behind its begin, so they belong together whatever else has the same id. */
	for (int end = 0; end < (s->flags & SLICE_OPEN ? 1 : 2); end++) {
		chrome_begin_event(c, end ? 'e' : 'b');
		text_put(&c->to, site_text(c, s->id));
		chrome_pid(c, t->process);
		text_put(&c->to, ", \"tid\": 0");
		if (!own_id(c, s->args, end)) {
			text_put(&c->to, ", \"id\": ");
			text_u64(&c->to, c->next_id);
		}
		chrome_ts(c, s->start_ns + (end ? s->dur_ns : 0));
		if (!end)
			put_args(c, s->args);
		chrome_end_event(c);
	}
}

/* Slices that overlap those before; lanes of one group come together. */
static void begin_group(chrome_out *c, const index_track *t, uint32_t group)
{
	size_t n, end = (size_t)t->first_lane + t->n_lanes;
	const index_lane *lanes = index_lanes(c->ix, &n);

	c->extra_tid = chrome_extra_lane(c, t);
	c->group = group;
	if (c->next_lane < t->first_lane)
		c->next_lane = t->first_lane;
	for (; c->next_lane < end && lanes[c->next_lane].group <= group; c->next_lane++)
		if (lanes[c->next_lane].group == group)
			c->lane_tids[c->next_lane] = c->extra_tid;
}

static void on_begin(void *context, slice *s, const struct event *e)
{
	chrome_out *c = context;
	const index_track *t = &c->tracks[c->track];
	bool is_open = s->flags & SLICE_OPEN;

	(void)e;
	if (t->kind == TRACK_ASYNC) {
		put_async(c, s, t);
		return;
	}
	if (s->depth == 0 && s->group != c->group)
		begin_group(c, t, s->group);
	chrome_begin_event(c, is_open ? 'B' : 'X');
	text_put(&c->to, site_text(c, s->id));
	chrome_pid(c, t->process);
	chrome_tid(c, t, c->group ? c->extra_tid : 0);
	chrome_ts(c, s->start_ns);
	if (!is_open) {
		text_put(&c->to, ", \"dur\": ");
		text_us(&c->to, s->dur_ns);
	}
	put_record(c, s->args, c->with_args || s->site->kind == NAME_STEP); /* they have its number */
	chrome_end_event(c);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* What every event has. */
static void put_event(chrome_out *c, char phase, uint64_t site, uint64_t track, int64_t extra_tid, int64_t ns)
{
	const index_track *t = &c->tracks[track < c->n_tracks ? track : 0];

	chrome_begin_event(c, phase);
	text_put(&c->to, site_text(c, site));
	chrome_pid(c, t->process);
	if (t->kind == TRACK_THREAD || t->kind == TRACK_STREAM)
		chrome_tid(c, t, extra_tid);
	else
		text_put(&c->to, ", \"tid\": 0");
	chrome_ts(c, ns);
}

static void put_instant(chrome_out *c, const int64_t *row)
{
	int64_t scope = row[INSTANT_SCOPE];
	bool is_plain = scope != 'n' && scope != 'O';

	put_event(c, is_plain ? 'i' : (char)scope, (uint64_t)row[INSTANT_SITE], (uint64_t)row[INSTANT_TRACK], 0,
		  trace_index_ns(c->trace, row[INSTANT_TIME]));
	if (!is_plain && !own_id(c, (uint64_t)row[INSTANT_ARGS], false))
		text_put(&c->to, ", \"id\": 0");
	else if (is_plain && scope > ' ' && scope < 0x7f && scope != '"' && scope != '\\') {
		text_put(&c->to, ", \"s\": \"");
		text_putn(&c->to, (char[]){ (char)scope }, 1);
		text_put(&c->to, "\"");
	}
	put_args(c, (uint64_t)row[INSTANT_ARGS]);
	chrome_end_event(c);
}

static void put_sample(chrome_out *c, const int64_t *row)
{
	put_event(c, 'P', (uint64_t)row[SAMPLE_SITE], (uint64_t)row[SAMPLE_TRACK], 0,
		  trace_index_ns(c->trace, row[SAMPLE_TIME]));
	put_args(c, (uint64_t)row[SAMPLE_ARGS]);
	chrome_end_event(c);
}

/* Of a recording, in the words of Kineto; then what else is known. */
static void put_allocation_args(chrome_out *c, const int64_t *row)
{
	static const struct {
		const char *key;
		allocation_column column;
	} members[] = { { "{\"Bytes\": ", ALLOCATION_BYTES },
			{ ", \"Device Id\": ", ALLOCATION_DEVICE },
			{ ", \"Device Type\": ", ALLOCATION_DEVICE_TYPE },
			{ ", \"Total Allocated\": ", ALLOCATION_TOTAL } };
	args_text text;

	text_put(&c->to, ", \"args\": ");
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		text_put(&c->to, members[i].key);
		text_i64(&c->to, row[members[i].column]);
	}
	text_put(&c->to, ", \"Addr\": ");
	text_u64(&c->to, (uint64_t)row[ALLOCATION_ADDRESS]);
	if (row[ALLOCATION_ARGS] && args_read(c->args, (uint32_t)row[ALLOCATION_ARGS], &text) && text.args_len > 2 &&
	    json_is_valid(text.args, text.args_len)) {
		text_put(&c->to, ", ");
		text_putn(&c->to, text.args + 1, text.args_len - 2);
	}
	text_put(&c->to, "}");
}

static void put_allocation(chrome_out *c, const int64_t *row)
{
	uint64_t site = (uint64_t)row[ALLOCATION_SITE];
	bool is_recorded = site < c->n_sites && c->sites[site].kind == NAME_DEVICE;

	put_event(c, 'i', site, (uint64_t)row[ALLOCATION_TRACK], 0, trace_index_ns(c->trace, row[ALLOCATION_TIME]));
	text_put(&c->to, ", \"s\": \"t\"");
	if (is_recorded)
		put_allocation_args(c, row);
	else
		put_record(c, (uint64_t)row[ALLOCATION_ARGS], true); /* they are the allocation */
	chrome_end_event(c);
}

static uint32_t flow_process(const chrome_out *c, const int64_t *row)
{
	uint64_t track = (uint64_t)row[FLOW_TRACK];

	return c->tracks[track < c->n_tracks ? track : 0].process;
}

static void put_flow(chrome_out *c, const int64_t *row)
{
	index_slice at;
	bool bound = row[FLOW_SLICE] > 0 && index_slice_at(c->ix, (uint64_t)row[FLOW_SLICE] - 1, &at);
	int64_t from = bound ? trace_bounded_ns(at.start_ns) : c->trace->start_ns, phase = row[FLOW_PHASE];
	uint64_t id = (uint64_t)row[FLOW_ID];

	put_event(c, phase == 's' || phase == 't' ? (char)phase : 'f', (uint64_t)row[FLOW_SITE],
		  (uint64_t)row[FLOW_TRACK], bound ? c->lane_tids[at.lane] : 0,
		  trace_bounded_ns(from + trace_bounded_ns(row[FLOW_TIME])));
	text_put(&c->to, ", \"id\": ");
	if (id >> 62 == 1)
		chrome_string(c, (uint32_t)id);
	else
		text_i64(&c->to, (int64_t)id + (c->flow_bases ? c->flow_bases[flow_process(c, row)] : 0));
	if (phase == 'F')
		text_put(&c->to, ", \"bp\": \"e\"");
	put_args(c, (uint64_t)row[FLOW_ARGS]);
	chrome_end_event(c);
}

static void put_table(chrome_out *c, table_cursor *cursor, index_kind kind,
		      void (*put_row)(chrome_out *c, const int64_t *row))
{
	int64_t row[COLUMNS_MAX];

	table_first(cursor, c->ix, kind, 0);
	while (!c->to.failed && table_next(cursor, row))
		put_row(c, row);
}

static void put_tables(chrome_out *c, table_cursor *cursor)
{
	put_table(c, cursor, SECTION_INSTANTS, put_instant);
	put_table(c, cursor, SECTION_ALLOCATIONS, put_allocation);
	chrome_counters(c, cursor);
	put_table(c, cursor, SECTION_FLOWS, put_flow);
	put_table(c, cursor, SECTION_SAMPLES, put_sample);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool prepare(chrome_out *c)
{
	c->tracks = index_tracks(c->ix, &c->n_tracks);
	c->processes = index_processes(c->ix, &c->n_processes);
	c->sites = index_sites(c->ix, &c->n_sites);
	c->site_texts = calloc(c->n_sites + 1, sizeof *c->site_texts);
	c->track_tids = calloc(c->n_tracks + 1, sizeof *c->track_tids);
	c->lane_tids = calloc(index_n_rows(c->ix, SECTION_LANES) + 1, sizeof *c->lane_tids);
	c->args = args_reader_new(c->ix);
	c->next_tid = 1 << 22; /* above what Linux gives out */
	for (size_t i = 0; i < c->n_tracks; i++)
		if (c->tracks[i].id >= c->next_tid && c->tracks[i].id < INT32_MAX)
			c->next_tid = c->tracks[i].id + 1;
	return c->site_texts && c->track_tids && c->lane_tids && c->args && chrome_choose_pids(c) &&
	       chrome_find_ranks(c);
}

static void done(chrome_out *c)
{
	for (size_t i = 0; c->site_texts && i < c->n_sites; i++)
		free(c->site_texts[i]);
	free(c->site_texts);
	free(c->track_tids);
	free(c->lane_tids);
	free(c->pids);
	free(c->flow_bases);
	text_done(&c->to);
	args_reader_free(c->args);
}

static sonde_status put_events(chrome_out *c, sonde_error *err)
{
	const walk_sink sink = { .context = c, .thread = on_thread, .begin = on_begin, .launches_are_slices = true };
	table_cursor *cursor = malloc(sizeof *cursor);
	walk_counts counts;

	chrome_names(c);
	sonde_status status = trace_walk(c->trace, &sink, &counts, err);
	if (!status && cursor)
		put_tables(c, cursor);
	c->to.failed |= !cursor;
	free(cursor);
	return status;
}

enum { CHROME_ARGS };
static const setting_def settings[] = {
	[CHROME_ARGS] = { "args", SETTING_BOOL, "yes",
			  "write the arguments of events; without them files are smaller" },
	{ .key = NULL },
};

static sonde_status run(const export_job *job, sonde_error *err)
{
	FILE *out = job->out;
	chrome_out c = { .trace = job->trace,
			 .ix = job->trace->index,
			 .to = { .out = out },
			 .with_args = export_truth(job, &settings[CHROME_ARGS]) };
	sonde_status status = SONDE_OK;

	if (prepare(&c)) {
		chrome_top_level(&c);
		status = put_events(&c, err);
		text_put(&c.to, "\n]}\n");
		text_flush(&c.to);
	} else {
		c.to.failed = true;
	}
	if (!status && c.to.failed)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && (ferror(out) || fflush(out) != 0))
		status = error_set(err, SONDE_E_IO, -1, "cannot write the export");
	done(&c);
	return status;
}

const exporter chrome_exporter = {
	.name = "chrome",
	.summary = "Chrome trace JSON, for Perfetto and chrome://tracing",
	.ends = "json",
	.targets = SONDE_TARGET_FILE,
	.settings = settings,
	.run = run,
};
