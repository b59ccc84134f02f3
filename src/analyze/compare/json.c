/*
 * A run (compare/run.h) as JSON, and back; nothing of the trace but names and medians.
 *
 *   {"schema": "sonde.baseline/1", "trace": ..., "total_ns": ..., "ranks": ..., "steps": ..., "warmup_steps": ...,
 *    "items": [[kind, name, calls, sum_ns, total_ns, [n, median, mad, error, freedom] per step, per call, whole], ...],
 *    "peaks": [[device, bytes], ...]}
 *
 * What is read may come from anywhere: every number is checked, and one that is missing makes the file none of ours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/run.h"
#include "base/json_members.h"
#include "base/json_read.h"
#include "base/json_write.h"

enum { MOST_ITEMS = 1000000, NUMBER_LEN = 64 };

static const char *const kind_names[] = { "step", "role", "phase", "layer", "host", "device" };
_Static_assert(sizeof kind_names / sizeof kind_names[0] == ITEM_KINDS, "a name for each");

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_number(const json_member *m, double *ret)
{
	char text[NUMBER_LEN];
	char *rest;

	if (!m->len || m->len >= sizeof text || !strchr("-0123456789", m->value[0]))
		return false;
	memcpy(text, m->value, m->len);
	text[m->len] = '\0';
	*ret = strtod(text, &rest);
	return rest != text && !*rest && isfinite(*ret) && *ret >= 0 && *ret < 9e18;
}

static const char *read_text(compare_run *run, const json_member *m)
{
	unsigned repairs = 0;

	if (m->len < 2 || m->value[0] != '"')
		return NULL;
	char *text = malloc(3 * m->len + 1);
	size_t len = text ? json_unescape(m->value + 1, m->len - 2, text, &repairs) : 0;
	const char *copy = text ? arena_strndup(&run->arena, text, len) : NULL;
	free(text);
	return copy;
}

static bool next_number(json_members *m, double *ret)
{
	json_member member;

	return json_next(m, &member) && read_number(&member, ret);
}

static bool read_summary(json_members *from, summary *ret)
{
	json_member member;
	double n;

	if (!json_next(from, &member))
		return false;
	json_members m = json_members_of(member.value, member.len);
	if (!next_number(&m, &n) || !next_number(&m, &ret->median) || !next_number(&m, &ret->mad) ||
	    !next_number(&m, &ret->error) || !next_number(&m, &ret->freedom))
		return false;
	ret->n = (uint64_t)n;
	return true;
}

static bool read_kind(const json_member *m, item_kind *ret)
{
	for (int i = 0; i < ITEM_KINDS; i++)
		if (m->len == strlen(kind_names[i]) + 2 && memcmp(m->value + 1, kind_names[i], m->len - 2) == 0) {
			*ret = (item_kind)i;
			return true;
		}
	return false;
}

static bool read_item(compare_run *run, const json_member *from)
{
	json_members m = json_members_of(from->value, from->len);
	json_member kind, name;
	compare_item *item = run->items.n < MOST_ITEMS ? VEC_ADD(&run->items) : NULL;
	double calls, sum, total;

	if (!item || !json_next(&m, &kind) || !read_kind(&kind, &item->kind) || !json_next(&m, &name) ||
	    !(item->name = read_text(run, &name)))
		return false;
	if (!next_number(&m, &calls) || !next_number(&m, &sum) || !next_number(&m, &total))
		return false;
	item->calls = (uint64_t)calls;
	item->sum_ns = (int64_t)sum;
	item->total_ns = (int64_t)total;
	return read_summary(&m, &item->step) && read_summary(&m, &item->call) && read_summary(&m, &item->whole);
}

static bool read_peak(compare_run *run, const json_member *from)
{
	json_members m = json_members_of(from->value, from->len);
	json_member device;
	double bytes;
	compare_peak *peak = VEC_ADD(&run->peaks);

	if (!peak || !json_next(&m, &device) || !(peak->device = read_text(run, &device)) || !next_number(&m, &bytes))
		return false;
	peak->bytes = (uint64_t)bytes;
	return true;
}

static bool get_count(const char *text, size_t len, const char *key, double *ret)
{
	json_member m;

	return json_get(text, len, key, &m.value, &m.len) && read_number(&m, ret);
}

static bool read_list(compare_run *run, const char *text, size_t len, const char *key,
		      bool (*read)(compare_run *, const json_member *))
{
	const char *list;
	size_t list_len;
	json_member m;

	if (!json_get(text, len, key, &list, &list_len))
		return false;
	json_members all = json_members_of(list, list_len);
	while (json_next(&all, &m))
		if (!read(run, &m))
			return false;
	return true;
}

bool compare_run_read(compare_run *run, const char *text, size_t len)
{
	static const char schema[] = "\"sonde.baseline/1\"";
	double total, ranks, steps, warmup;
	const char *value;
	size_t value_len;

	if (!json_is_valid(text, len) || !json_get(text, len, "schema", &value, &value_len) ||
	    value_len != sizeof schema - 1 || memcmp(value, schema, value_len) != 0)
		return false;
	if (!get_count(text, len, "total_ns", &total) || !get_count(text, len, "ranks", &ranks) ||
	    !get_count(text, len, "steps", &steps) || !get_count(text, len, "warmup_steps", &warmup) || ranks < 1)
		return false;
	run->total_ns = (int64_t)total;
	run->n_ranks = (size_t)ranks;
	run->n_steps = (size_t)steps;
	run->n_warmup = (size_t)warmup;
	run->n_runs = 1;
	if (!read_list(run, text, len, "items", read_item) || !read_list(run, text, len, "peaks", read_peak))
		return false;
	compare_run_sort(run);
	return true;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void put_summary(json_writer *w, const summary *s)
{
	json_begin_array(w);
	json_u64(w, s->n);
	json_f64(w, s->median);
	json_f64(w, s->mad);
	json_f64(w, s->error);
	json_f64(w, s->freedom);
	json_end_array(w);
}

static void put_item(json_writer *w, const compare_item *item)
{
	json_line(w);
	json_begin_array(w);
	json_string(w, kind_names[item->kind]);
	json_string(w, item->name);
	json_u64(w, item->calls);
	json_i64(w, item->sum_ns);
	json_i64(w, item->total_ns);
	put_summary(w, &item->step);
	put_summary(w, &item->call);
	put_summary(w, &item->whole);
	json_end_array(w);
}

static void put_count(json_writer *w, const char *key, uint64_t value)
{
	json_line(w);
	json_key(w, key);
	json_u64(w, value);
}

bool compare_run_write(const compare_run *run, FILE *out)
{
	json_writer w = json_to(out);

	json_begin_object(&w);
	json_line(&w);
	json_key(&w, "schema");
	json_string(&w, "sonde.baseline/1");
	json_line(&w);
	json_key(&w, "trace");
	json_string(&w, run->name);
	put_count(&w, "total_ns", (uint64_t)run->total_ns);
	put_count(&w, "ranks", run->n_ranks);
	put_count(&w, "steps", run->n_steps);
	put_count(&w, "warmup_steps", run->n_warmup);
	json_line(&w);
	json_key(&w, "items");
	json_begin_array(&w);
	for (size_t i = 0; i < run->items.n; i++)
		put_item(&w, &run->items.items[i]);
	json_end_array(&w);
	json_line(&w);
	json_key(&w, "peaks");
	json_begin_array(&w);
	for (size_t i = 0; i < run->peaks.n; i++) {
		json_begin_array(&w);
		json_string(&w, run->peaks.items[i].device);
		json_u64(&w, run->peaks.items[i].bytes);
		json_end_array(&w);
	}
	json_end_array(&w);
	json_line(&w);
	json_end_object(&w);
	fputc('\n', out);
	return json_ok(&w);
}
