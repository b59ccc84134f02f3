/* What a walk finds, as text: one line for each slice that has ended, in a list that is sorted to be compared. */
#ifndef SONDE_TESTS_WALK_LINES_H
#define SONDE_TESTS_WALK_LINES_H

#include <inttypes.h>
#include <stdio.h>
#include "import/recording/walk.h"

typedef struct walk_lines {
	const recording *trace;
	int64_t from_ns; /* slices that began earlier, and those that were cut, are left out */
	VEC(char *) lines;
	walk_counts counts;
} walk_lines;

static inline void add_slice_line(void *context, slice *s)
{
	walk_lines *w = context;
	char text[200];

	if (s->start_ns < w->from_ns || s->flags & SLICE_CUT)
		return;
	snprintf(text, sizeof text, "thread %u: %s %" PRId64 " + %" PRId64 " number %" PRId64 " flags %u",
		 s->thread->number, recording_text(w->trace, s->site->name), s->start_ns, s->dur_ns, s->number,
		 s->flags);
	char **line = VEC_ADD(&w->lines);
	assert_non_null(line);
	*line = strdup(text);
	assert_non_null(*line);
}

static inline int compare_slice_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline walk_lines lines_of(const recording *t, int64_t from_ns)
{
	walk_lines w = { .trace = t, .from_ns = from_ns };
	walk_sink sink = { .context = &w, .end = add_slice_line };

	assert_int_equal(recording_walk(t, &sink, &w.counts, NULL), SONDE_OK);
	if (w.lines.n)
		qsort(w.lines.items, w.lines.n, sizeof w.lines.items[0], compare_slice_lines);
	return w;
}

static inline void lines_done(walk_lines *w)
{
	for (size_t i = 0; i < w->lines.n; i++)
		free(w->lines.items[i]);
	VEC_DONE(&w->lines);
}

static inline void assert_same_lines(const recording *a, const recording *b, int64_t from_ns)
{
	walk_lines x = lines_of(a, from_ns), y = lines_of(b, from_ns);

	for (size_t i = 0; i < x.lines.n && i < y.lines.n; i++)
		assert_string_equal(x.lines.items[i], y.lines.items[i]);
	assert_int_equal(x.lines.n, y.lines.n);
	lines_done(&x);
	lines_done(&y);
}

#endif
