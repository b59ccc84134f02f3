/* Sets of time of work.h: each as far as it is from the end of the one before, and how long. */
#include <stdlib.h>
#include "analyze/tables/work.h"

static void append(work_spans *s, int64_t start, int64_t end)
{
	if (!packed_reserve(&s->bytes, s->n_bytes, &s->capacity)) {
		s->failed = true;
		return;
	}
	s->last_at = s->n_bytes;
	s->before_last = s->n ? s->last.end : 0;
	uint8_t *to =
		packed_put(s->bytes + s->n_bytes, packed_sign((int64_t)((uint64_t)start - (uint64_t)s->before_last)));
	to = packed_put(to, packed_sign((int64_t)((uint64_t)end - (uint64_t)start)));
	s->n_bytes = (size_t)(to - s->bytes);
	s->last = (work_span){ start, end };
	s->first = s->n ? s->first : s->last;
	s->n++;
}

void spans_add(work_spans *s, int64_t start, int64_t end)
{
	if (!s->n || start > s->last.end) {
		append(s, start, end);
	} else if (end > s->last.end) {
		int64_t from = s->last.start;
		s->n_bytes = s->last_at;
		s->n--;
		s->last.end = s->before_last;
		append(s, from, end);
	}
}

span_walk spans_first(const work_spans *s)
{
	return (span_walk){ .s = s, .at = s->bytes };
}

int64_t spans_length(const work_spans *s)
{
	int64_t length = 0;
	work_span one;

	for (span_walk w = spans_first(s); spans_next(&w, &one);)
		length += one.end - one.start;
	return length;
}

int64_t spans_overlap(const work_spans *a, const work_spans *b)
{
	span_walk i = spans_first(a), j = spans_first(b);
	work_span x, y;
	bool has_x = spans_next(&i, &x), has_y = spans_next(&j, &y);
	int64_t length = 0;

	while (has_x && has_y) {
		int64_t start = x.start > y.start ? x.start : y.start, end = x.end < y.end ? x.end : y.end;
		length += end > start ? end - start : 0;
		if (x.end < y.end)
			has_x = spans_next(&i, &x);
		else
			has_y = spans_next(&j, &y);
	}
	return length;
}

void spans_done(work_spans *s)
{
	free(s->bytes);
	*s = (work_spans){ 0 };
}
