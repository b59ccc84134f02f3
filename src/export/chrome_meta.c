/* Names of processes and threads, and what stands beside the events. See chrome.c. */
#include <stdlib.h>
#include <string.h>
#include "base/intern.h"
#include "export/chrome.h"

/* ---- Metadata ---------------------------------------------------------------------------------------------------- */

void chrome_begin_metadata(chrome_out *c, const char *name, uint32_t process)
{
	chrome_begin_event(c, 'M');
	text_put(&c->to, ", \"name\": \"");
	text_put(&c->to, name);
	text_put(&c->to, "\"");
	chrome_pid(c, process);
}

static void put_text_arg(chrome_out *c, const char *key, uint32_t string)
{
	text_put(&c->to, ", \"args\": {\"");
	text_put(&c->to, key);
	text_put(&c->to, "\": ");
	chrome_string(c, string);
	text_put(&c->to, "}");
	chrome_end_event(c);
}

static void put_sort_arg(chrome_out *c, int32_t sort)
{
	text_put(&c->to, ", \"args\": {\"sort_index\": ");
	text_i64(&c->to, sort);
	text_put(&c->to, "}");
	chrome_end_event(c);
}

static void put_device_arg(chrome_out *c, int32_t device)
{
	text_put(&c->to, ", \"args\": {\"device\": ");
	text_i64(&c->to, device);
	text_put(&c->to, "}");
	chrome_end_event(c);
}

static void put_process(chrome_out *c, uint32_t number)
{
	const index_process *p = &c->processes[number];

	chrome_rank_of(c, number);
	if (p->name != INDEX_NONE)
		chrome_begin_metadata(c, "process_name", number), put_text_arg(c, "name", p->name);
	if (p->labels != INDEX_NONE)
		chrome_begin_metadata(c, "process_labels", number), put_text_arg(c, "labels", p->labels);
	if (p->sort)
		chrome_begin_metadata(c, "process_sort_index", number), put_sort_arg(c, p->sort);
	if (c->trace->is_recorded && p->device >= 0)
		chrome_begin_metadata(c, "sonde_device", number), put_device_arg(c, p->device);
}

static void put_track(chrome_out *c, const index_track *t)
{
	if (t->name != INDEX_NONE)
		chrome_begin_metadata(c, "thread_name", t->process), chrome_tid(c, t, 0),
			put_text_arg(c, "name", t->name);
	if (t->sort || (c->trace->is_recorded && !t->n_slices)) /* nothing else may name it */
		chrome_begin_metadata(c, "thread_sort_index", t->process), chrome_tid(c, t, 0),
			put_sort_arg(c, t->sort);
	if (c->trace->is_recorded && t->device >= 0)
		chrome_begin_metadata(c, "sonde_track_device", t->process), chrome_tid(c, t, 0),
			put_device_arg(c, t->device);
}

/* Two processes of different files may have the same pid: the second gets another. */
bool chrome_choose_pids(chrome_out *c)
{
	int64_t next = INT64_C(1) << 30;
	intern_table seen = { 0 };
	bool ok = true;

	c->pids = malloc((c->n_processes + 1) * sizeof *c->pids);
	if (!c->pids)
		return false;
	for (size_t i = 0; ok && i < c->n_processes; i++) {
		const index_process *p = &c->processes[i];
		int64_t key[2] = { p->pid_text, p->pid };
		c->pids[i] = p->pid_text == INDEX_NONE ? p->pid : 0;
		uint32_t before = seen.n, number = intern(&seen, (const char *)key, sizeof key);
		ok = number != INTERN_NONE;
		if (number < before)
			c->pids[i] = next++;
	}
	intern_done(&seen);
	return ok;
}

int64_t chrome_extra_lane(chrome_out *c, const index_track *t)
{
	int64_t tid = c->next_tid++;

	chrome_begin_metadata(c, "sonde_extra_lane", t->process);
	chrome_tid(c, t, tid);
	text_put(&c->to, ", \"args\": {\"tid\": ");
	if (t->id_text != INDEX_NONE)
		chrome_string(c, t->id_text);
	else
		text_i64(&c->to, t->id);
	text_put(&c->to, "}");
	chrome_end_event(c);
	if (t->name != INDEX_NONE)
		chrome_begin_metadata(c, "thread_name", t->process), chrome_tid(c, t, tid),
			put_text_arg(c, "name", t->name);
	return tid;
}

/* Perfetto takes ids below 0 or beyond 32 bits for the main thread's. */
static bool is_readable(const index_track *t)
{
	return t->id_text != INDEX_NONE || (t->id >= 0 && t->id <= UINT32_MAX);
}

void chrome_names(chrome_out *c)
{
	for (uint32_t i = 0; i < c->n_processes; i++)
		put_process(c, i);
	for (size_t i = 0; i < c->n_tracks; i++) {
		const index_track *t = &c->tracks[i];
		if (t->kind != TRACK_THREAD && t->kind != TRACK_STREAM)
			continue;
		if (!is_readable(t))
			c->track_tids[i] = chrome_extra_lane(c, t);
		put_track(c, t);
	}
}

/* ---- Beside the events ------------------------------------------------------------------------------------------- */

static bool is_key(const char *key, const char *wanted)
{
	return strcmp(key, wanted) == 0;
}

bool chrome_is_exported(const chrome_out *c, const index_meta *m)
{
	const char *key = index_text(c->ix, m->key);

	return strncmp(key, "sonde.", 6) != 0 && !is_key(key, "traceEvents") &&
	       (c->flow_bases || !is_key(key, "baseTimeNanoseconds"));
}

/* What the trace says of its base, if it says it once. */
static bool own_base(const chrome_out *c, int64_t *ret_ns)
{
	size_t n, n_found = 0;
	const index_meta *metas = index_metas(c->ix, &n);

	for (size_t i = 0; i < n; i++)
		if (is_key(index_text(c->ix, metas[i].key), "baseTimeNanoseconds")) {
			*ret_ns = trace_bounded_ns(strtoll(index_text(c->ix, metas[i].value), NULL, 10));
			n_found++;
		}
	return n_found == 1;
}

void chrome_meta(chrome_out *c, const index_meta *m)
{
	size_t len;
	const char *value = index_textn(c->ix, m->value, &len);

	chrome_string(c, m->key);
	text_put(&c->to, ": ");
	if (m->json)
		text_json(&c->to, value, len);
	else
		text_quoted(&c->to, value, len);
}

void chrome_top_level(chrome_out *c)
{
	size_t n, n_strings = index_n_strings(c->ix);
	const index_meta *metas = index_metas(c->ix, &n);
	bool *is_written = calloc(n_strings + 1, sizeof *is_written);

	c->to.failed |= !is_written;
	text_put(&c->to, "{");
	for (size_t i = 0; is_written && i < n; i++) {
		bool *written = &is_written[metas[i].key < n_strings ? metas[i].key : n_strings];
		if (*written || !chrome_is_exported(c, &metas[i]) || (c->flow_bases && metas[i].rank >= 0))
			continue;
		chrome_meta(c, &metas[i]);
		text_put(&c->to, ",\n");
		*written = true;
	}
	free(is_written);
	chrome_rank_metas(c);
	if (index_clock_of(c->ix) == INDEX_CLOCK_EPOCH) {
		if (!own_base(c, &c->base_ns))
			c->base_ns = c->trace->start_ns;
		text_put(&c->to, "\"baseTimeNanoseconds\": ");
		text_i64(&c->to, c->base_ns);
		text_put(&c->to, ",\n");
	}
	if (index_clock_of(c->ix) == INDEX_CLOCK_MONOTONIC)
		text_put(&c->to, "\"sonde_clock\": \"monotonic\",\n");
	text_put(&c->to, "\"traceEvents\": [");
}
