/*
 * Compares two traces in their indexed form, everything but what belongs to the file alone: its name, its size, what
 * was repaired when it was read. Numbers of strings, sites and records may differ, what they stand for may not.
 *
 *   char why[512];
 *   if (!index_same(a, b, why, sizeof why)) ...
 */
#ifndef SONDE_TESTS_COMPARE_INDEX_H
#define SONDE_TESTS_COMPARE_INDEX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store/index/index.h"

typedef struct comparison {
	const sonde_index *a, *b;
	args_reader *args_a, *args_b;
	fact_reader *messages_a, *messages_b;
	const index_site *sites_a, *sites_b;
	char *why;
	size_t size;
} comparison;

__attribute__((format(printf, 2, 3))) static inline bool differ(comparison *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->why, c->size, format, args);
	va_end(args);
	return false;
}

static inline bool same_text(const comparison *c, uint32_t a, uint32_t b)
{
	size_t len_a, len_b;
	const char *x = index_textn(c->a, a, &len_a), *y = index_textn(c->b, b, &len_b);

	return len_a == len_b && memcmp(x, y, len_a) == 0;
}

static inline bool same_site(const comparison *c, uint64_t a, uint64_t b)
{
	const index_site *x = &c->sites_a[a], *y = &c->sites_b[b];

	return same_text(c, x->name, y->name) && same_text(c, x->category, y->category) && x->class == y->class &&
	       x->kind == y->kind;
}

/* Record + 1, or 0. */
static inline bool same_args(comparison *c, const char *what, uint64_t row, uint64_t a, uint64_t b)
{
	args_text x = { 0 }, y = { 0 };

	bool has_a = a && args_read(c->args_a, (uint32_t)a, &x), has_b = b && args_read(c->args_b, (uint32_t)b, &y);
	if (has_a != has_b || (x.args == NULL) != (y.args == NULL))
		return differ(c, "%s %llu: %.200s | %.200s", what, (unsigned long long)row, x.args ? x.args : "no args",
			      y.args ? y.args : "no args");
	if (x.args && (x.args_len != y.args_len || memcmp(x.args, y.args, x.args_len) != 0))
		return differ(c, "%s %llu: args %.200s | %.200s", what, (unsigned long long)row, x.args, y.args);
	if (x.extra_len != y.extra_len || (x.extra_len && memcmp(x.extra, y.extra, x.extra_len) != 0))
		return differ(c, "%s %llu: members %.*s | %.*s", what, (unsigned long long)row, (int)x.extra_len,
			      x.extra ? x.extra : "", (int)y.extra_len, y.extra ? y.extra : "");
	return true;
}

static inline bool same_processes(comparison *c)
{
	size_t n, m;
	const index_process *x = index_processes(c->a, &n), *y = index_processes(c->b, &m);

	if (n != m)
		return differ(c, "%zu processes, %zu", n, m);
	for (size_t i = 0; i < n; i++)
		if (x[i].pid != y[i].pid || !same_text(c, x[i].pid_text, y[i].pid_text) ||
		    !same_text(c, x[i].name, y[i].name) || !same_text(c, x[i].labels, y[i].labels) ||
		    x[i].sort != y[i].sort || x[i].rank != y[i].rank || x[i].device != y[i].device)
			return differ(c, "process %zu: pid %lld %lld, rank %d %d, device %d %d, sort %d %d", i,
				      (long long)x[i].pid, (long long)y[i].pid, x[i].rank, y[i].rank, x[i].device,
				      y[i].device, x[i].sort, y[i].sort);
	return true;
}

static inline bool same_tracks(comparison *c)
{
	size_t n, m;
	const index_track *x = index_tracks(c->a, &n), *y = index_tracks(c->b, &m);

	if (n != m)
		return differ(c, "%zu tracks, %zu", n, m);
	for (size_t i = 0; i < n; i++)
		if (x[i].kind != y[i].kind || x[i].process != y[i].process || x[i].id != y[i].id ||
		    !same_text(c, x[i].id_text, y[i].id_text) || !same_text(c, x[i].name, y[i].name) ||
		    x[i].sort != y[i].sort || x[i].device != y[i].device || x[i].n_lanes != y[i].n_lanes ||
		    x[i].n_slices != y[i].n_slices || !same_text(c, x[i].category, y[i].category))
			return differ(
				c, "track %zu: kind %u %u, id %lld %lld, %u lanes %u, %llu slices %llu, device %d %d",
				i, x[i].kind, y[i].kind, (long long)x[i].id, (long long)y[i].id, x[i].n_lanes,
				y[i].n_lanes, (unsigned long long)x[i].n_slices, (unsigned long long)y[i].n_slices,
				x[i].device, y[i].device);
	return true;
}

static inline bool same_facts(comparison *c, uint64_t number, uint32_t a, uint32_t b);

static inline bool same_slices(comparison *c)
{
	size_t n, m;
	const index_lane *x = index_lanes(c->a, &n), *y = index_lanes(c->b, &m);
	static lane_cursor p, q;
	index_slice s, t;

	if (n != m)
		return differ(c, "%zu lanes, %zu", n, m);
	for (uint32_t i = 0; i < n; i++) {
		if (x[i].track != y[i].track || x[i].group != y[i].group || x[i].depth != y[i].depth ||
		    x[i].n_slices != y[i].n_slices)
			return differ(c, "lane %u: group %u %u, depth %u %u, %llu slices %llu", i, x[i].group,
				      y[i].group, x[i].depth, y[i].depth, (unsigned long long)x[i].n_slices,
				      (unsigned long long)y[i].n_slices);
		lane_first(&p, c->a, i, 0);
		lane_first(&q, c->b, i, 0);
		while (lane_next(&p, &s)) {
			if (!lane_next(&q, &t))
				return differ(c, "lane %u cannot be read", i);
			if (s.start_ns != t.start_ns || s.dur_ns != t.dur_ns || s.parent != t.parent ||
			    s.flags != t.flags || !same_site(c, s.site, t.site))
				return differ(
					c, "slice %llu: %s %lld+%lld in %lld flags %u | %s %lld+%lld in %lld flags %u",
					(unsigned long long)s.id, index_text(c->a, c->sites_a[s.site].name),
					(long long)s.start_ns, (long long)s.dur_ns, (long long)s.parent, s.flags,
					index_text(c->b, c->sites_b[t.site].name), (long long)t.start_ns,
					(long long)t.dur_ns, (long long)t.parent, t.flags);
			if (!same_facts(c, s.id, s.args, t.args))
				return false;
			if (!same_args(c, "slice", s.id, s.args, t.args))
				return false;
		}
	}
	return true;
}

/* Columns that are numbers as they are; -1 for no site, no args. */
static inline bool same_table(comparison *c, const char *what, index_kind kind, uint32_t n_columns, int site, int args,
			      int text)
{
	static table_cursor p, q;
	int64_t x[COLUMNS_MAX], y[COLUMNS_MAX];

	if (index_n_rows(c->a, kind) != index_n_rows(c->b, kind))
		return differ(c, "%llu %ss, %llu", (unsigned long long)index_n_rows(c->a, kind), what,
			      (unsigned long long)index_n_rows(c->b, kind));
	table_first(&p, c->a, kind, 0);
	table_first(&q, c->b, kind, 0);
	for (uint64_t row = 0; table_next(&p, x); row++) {
		if (!table_next(&q, y))
			return differ(c, "%s %llu cannot be read", what, (unsigned long long)row);
		for (int i = 0; i < (int)n_columns; i++) {
			bool same = x[i] == y[i];
			if (i == site)
				same = same_site(c, (uint64_t)x[i], (uint64_t)y[i]);
			else if (i == args)
				same = true;
			else if (i == text && !same && (uint64_t)x[i] >> 62 == 1 && (uint64_t)y[i] >> 62 == 1)
				same = same_text(c, (uint32_t)x[i], (uint32_t)y[i]);
			if (!same)
				return differ(c, "%s %llu: column %d is %lld, %lld", what, (unsigned long long)row, i,
					      (long long)x[i], (long long)y[i]);
		}
		if (args >= 0 && !same_args(c, what, row, (uint64_t)x[args], (uint64_t)y[args]))
			return false;
	}
	return true;
}

static inline bool same_message(const comparison *c, const index_message *x, const index_message *y)
{
	return same_text(c, x->name, y->name) && same_text(c, x->dtype, y->dtype) && same_text(c, x->group, y->group) &&
	       same_text(c, x->ranks, y->ranks) && same_text(c, x->in_split, y->in_split) &&
	       same_text(c, x->out_split, y->out_split) && x->kind == y->kind && x->element_bytes == y->element_bytes &&
	       x->in_elements == y->in_elements && x->out_elements == y->out_elements && x->group_size == y->group_size;
}

/* What the slice carried. */
static inline bool same_facts(comparison *c, uint64_t number, uint32_t a, uint32_t b)
{
	int64_t sequence_a = 0, sequence_b = 0;
	const index_message *x = fact_message(c->messages_a, a, &sequence_a);
	const index_message *y = fact_message(c->messages_b, b, &sequence_b);

	if (!x != !y || (x && !same_message(c, x, y)) || sequence_a != sequence_b)
		return differ(c, "slice %llu: another collective", (unsigned long long)number);
	return true;
}

static inline bool same_counters(comparison *c)
{
	size_t n, m;
	const index_counter *x = index_counters(c->a, &n), *y = index_counters(c->b, &m);

	if (n != m)
		return differ(c, "%zu counters, %zu", n, m);
	for (size_t i = 0; i < n; i++)
		if (!same_text(c, x[i].name, y[i].name) || !same_text(c, x[i].series, y[i].series) ||
		    !same_text(c, x[i].category, y[i].category) || x[i].track != y[i].track ||
		    x[i].first_value != y[i].first_value || x[i].n_values != y[i].n_values)
			return differ(c, "counter %zu: %s, %s", i, index_text(c->a, x[i].name),
				      index_text(c->b, y[i].name));
	return true;
}

static inline bool same_steps(comparison *c)
{
	size_t n, m;
	const index_step *x = index_steps(c->a, &n), *y = index_steps(c->b, &m);

	if (n != m)
		return differ(c, "%zu steps, %zu", n, m);
	for (size_t i = 0; i < n; i++)
		if (memcmp(&x[i], &y[i], sizeof x[i]) != 0)
			return differ(c, "step %zu", i);
	return true;
}

static inline bool is_of_the_file(const char *key)
{
	return strncmp(key, "sonde.", 6) == 0 || strcmp(key, "baseTimeNanoseconds") == 0;
}

static inline bool has_meta(const comparison *c, const sonde_index *ix, const index_meta *wanted, bool swapped)
{
	size_t n;
	const index_meta *m = index_metas(ix, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t key = swapped ? wanted->key : m[i].key, other = swapped ? m[i].key : wanted->key;
		uint32_t value = swapped ? wanted->value : m[i].value,
			 other_value = swapped ? m[i].value : wanted->value;
		if (m[i].rank == wanted->rank && m[i].json == wanted->json && same_text(c, key, other) &&
		    same_text(c, value, other_value))
			return true;
	}
	return false;
}

static inline bool same_metas(comparison *c)
{
	size_t n, m;
	const index_meta *x = index_metas(c->a, &n), *y = index_metas(c->b, &m);

	for (size_t i = 0; i < n; i++)
		if (!is_of_the_file(index_text(c->a, x[i].key)) && !has_meta(c, c->b, &x[i], true))
			return differ(c, "meta %s of rank %d is not in the second", index_text(c->a, x[i].key),
				      x[i].rank);
	for (size_t i = 0; i < m; i++)
		if (!is_of_the_file(index_text(c->b, y[i].key)) && !has_meta(c, c->a, &y[i], false))
			return differ(c, "meta %s of rank %d is not in the first", index_text(c->b, y[i].key),
				      y[i].rank);
	return true;
}

static inline bool same_all(comparison *c)
{
	if (index_start_ns(c->a) != index_start_ns(c->b) || index_end_ns(c->a) != index_end_ns(c->b) ||
	    index_clock_of(c->a) != index_clock_of(c->b))
		return differ(c, "from %lld to %lld clock %d, from %lld to %lld clock %d",
			      (long long)index_start_ns(c->a), (long long)index_end_ns(c->a), (int)index_clock_of(c->a),
			      (long long)index_start_ns(c->b), (long long)index_end_ns(c->b),
			      (int)index_clock_of(c->b));
	return same_processes(c) && same_tracks(c) && same_slices(c) && same_steps(c) &&
	       same_table(c, "instant", SECTION_INSTANTS, INSTANT_COLUMNS, INSTANT_SITE, INSTANT_ARGS, -1) &&
	       same_table(c, "flow point", SECTION_FLOWS, FLOW_COLUMNS, FLOW_SITE, FLOW_ARGS, FLOW_ID) &&
	       same_table(c, "launch", SECTION_LAUNCHES, LAUNCH_COLUMNS, -1, -1, -1) &&
	       same_table(c, "allocation", SECTION_ALLOCATIONS, ALLOCATION_COLUMNS, ALLOCATION_SITE, ALLOCATION_ARGS,
			  -1) &&
	       same_counters(c) && same_table(c, "counter value", SECTION_VALUES, VALUE_COLUMNS, -1, -1, -1) &&
	       same_table(c, "sample", SECTION_SAMPLES, SAMPLE_COLUMNS, SAMPLE_SITE, SAMPLE_ARGS, -1) && same_metas(c);
}

static inline bool index_same(const sonde_index *a, const sonde_index *b, char *why, size_t size)
{
	comparison c = { .a = a, .b = b, .why = why, .size = size };
	size_t n;

	c.args_a = args_reader_new(a);
	c.args_b = args_reader_new(b);
	c.messages_a = fact_reader_new(a, SECTION_COLLECTIVES);
	c.messages_b = fact_reader_new(b, SECTION_COLLECTIVES);
	c.sites_a = index_sites(a, &n);
	c.sites_b = index_sites(b, &n);
	bool same = c.args_a && c.args_b && c.messages_a && c.messages_b ? same_all(&c) : differ(&c, "out of memory");
	args_reader_free(c.args_a);
	args_reader_free(c.args_b);
	fact_reader_free(c.messages_a);
	fact_reader_free(c.messages_b);
	return same;
}

#endif
