/* See intervals.h. */
#include "analyze/intervals.h"

#include <stdlib.h>
#include "base/search.h"
#include "base/vec.h"

#define SORT_NAME sort_intervals
#define SORT_TYPE interval
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "store/sort_template.h"

/* How long it and all before it are; a set that is not merged yet may be longer than any time. */
static int64_t length_to(const interval *i)
{
	return (int64_t)((uint64_t)i->before + (uint64_t)i->end - (uint64_t)i->start);
}

static void append(intervals *s, int64_t start, int64_t end)
{
	int64_t before = s->n ? length_to(&s->items[s->n - 1]) : 0;
	interval *i = s->n < s->capacity ? &s->items[s->n++] : VEC_ADD(s);

	if (i)
		*i = (interval){ start, end, before };
	else
		s->failed = true;
}

/* What comes in the order of time is merged at once, so that most sets never need sorting. */
void intervals_add(intervals *s, int64_t start, int64_t end)
{
	if (end <= start)
		return;
	interval *last = s->n ? &s->items[s->n - 1] : NULL;
	if (last && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	s->unsorted |= last && start < last->start;
	append(s, start, end);
}

bool intervals_merge(intervals *s)
{
	size_t n = 0;

	if (s->failed)
		return false;
	if (!s->unsorted)
		return true;
	if (!sort_intervals(s->items, s->n)) {
		s->failed = true;
		return false;
	}
	s->unsorted = false;
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->items[i].start <= s->items[n - 1].end) {
			if (s->items[i].end > s->items[n - 1].end)
				s->items[n - 1].end = s->items[i].end;
		} else {
			s->items[n] = s->items[i];
			s->items[n].before = n ? length_to(&s->items[n - 1]) : 0;
			n++;
		}
	}
	s->n = n;
	return true;
}

void intervals_done(intervals *s)
{
	free(s->items);
	*s = (intervals){ 0 };
}

int64_t intervals_length(const intervals *s)
{
	return s->n ? length_to(&s->items[s->n - 1]) : 0;
}

/* Steps through both at once: the next stretch that both have, from *i and *j on. */
static bool next_common(const intervals *a, const intervals *b, size_t *i, size_t *j, interval *ret_common)
{
	while (*i < a->n && *j < b->n) {
		const interval *x = &a->items[*i], *y = &b->items[*j];
		int64_t start = x->start > y->start ? x->start : y->start;
		int64_t end = x->end < y->end ? x->end : y->end;
		if (x->end < y->end)
			++*i;
		else
			++*j;
		if (start < end) {
			*ret_common = (interval){ .start = start, .end = end };
			return true;
		}
	}
	return false;
}

int64_t intervals_overlap(const intervals *a, const intervals *b)
{
	int64_t length = 0;
	interval common;

	for (size_t i = 0, j = 0; next_common(a, b, &i, &j, &common);)
		length += common.end - common.start;
	return length;
}

/* The first from `low` on that begins at ns or later. */
static size_t first_from(const intervals *s, size_t low, int64_t ns)
{
	size_t high = s->n;

	for (size_t step = 1; step < high - low; step *= 2) /* mostly it is near */
		if (s->items[low + step].start >= ns)
			high = low + step;
	return FIRST_NOT(i, low, high, s->items[i].start < ns);
}

int64_t intervals_overlap_with(const intervals *s, int64_t start, int64_t end)
{
	size_t from = FIRST_NOT(i, 0, s->n, s->items[i].end <= start);
	size_t to = from < s->n && s->items[from].start < end ? first_from(s, from, end) : from;

	if (from == to)
		return 0;
	const interval *first = &s->items[from], *last = &s->items[to - 1];
	return length_to(last) - first->before - (start > first->start ? start - first->start : 0) -
	       (last->end > end ? last->end - end : 0);
}

bool intervals_union(const intervals *a, const intervals *b, intervals *ret)
{
	size_t i = 0, j = 0;

	ret->n = 0;
	ret->unsorted = ret->failed = false;
	while (i < a->n || j < b->n) {
		const interval *next = j == b->n || (i < a->n && a->items[i].start <= b->items[j].start)
					       ? &a->items[i++]
					       : &b->items[j++];
		intervals_add(ret, next->start, next->end);
	}
	return !ret->failed;
}

bool intervals_intersect(const intervals *a, const intervals *b, intervals *ret)
{
	interval common;

	ret->n = 0;
	ret->unsorted = ret->failed = false;
	for (size_t i = 0, j = 0; next_common(a, b, &i, &j, &common);)
		append(ret, common.start, common.end);
	return !ret->failed;
}

bool intervals_subtract(const intervals *a, const intervals *b, intervals *ret)
{
	size_t j = 0;

	ret->n = 0;
	ret->unsorted = ret->failed = false;
	for (size_t i = 0; i < a->n; i++) {
		int64_t from = a->items[i].start, end = a->items[i].end;
		while (j < b->n && b->items[j].end <= from)
			j++;
		/* The last one that reaches into it may reach into the next of a as well: j stays. */
		for (size_t k = j; k < b->n && b->items[k].start < end && from < end; k++) {
			if (b->items[k].start > from)
				append(ret, from, b->items[k].start);
			from = b->items[k].end;
			j = k;
		}
		if (from < end)
			append(ret, from, end);
	}
	return !ret->failed;
}
