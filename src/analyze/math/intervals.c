/* See intervals.h. */
#include "analyze/math/intervals.h"

#include <stdlib.h>
#include "analyze/math/packed.h"
#include "base/search.h"

#define SORT_NAME sort_intervals
#define SORT_TYPE interval
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

enum { LOOSE_LEAST = 4096 };

/* Behind the last one. */
static void append(intervals *s, int64_t start, int64_t end)
{
	interval_block *block = s->n % INTERVAL_BLOCK ? NULL : VEC_ADD(&s->blocks);

	if (!packed_reserve(&s->bytes, s->n_bytes, &s->capacity) || (s->n % INTERVAL_BLOCK == 0 && !block)) {
		s->failed = true;
		return;
	}
	if (block)
		*block = (interval_block){ start, s->length, s->n_bytes };
	uint8_t *to = s->bytes + s->n_bytes;
	if (!block)
		to = packed_put(to, (uint64_t)start - (uint64_t)s->last.end);
	to = packed_put(to, (uint64_t)end - (uint64_t)start);
	s->last_at = s->n_bytes;
	s->n_bytes = (size_t)(to - s->bytes);
	s->last = (interval){ start, end };
	/* A set that is not merged yet may be longer than any time. */
	s->length = (int64_t)((uint64_t)s->length + (uint64_t)end - (uint64_t)start);
	s->n++;
}

/* The last one again, until later. */
static void lengthen(intervals *s, int64_t end)
{
	uint64_t gap;

	if (!packed_reserve(&s->bytes, s->n_bytes, &s->capacity)) {
		s->failed = true;
		return;
	}
	uint8_t *at = s->bytes + s->last_at;
	if ((s->n - 1) % INTERVAL_BLOCK)
		at += packed_get(at, &gap) - at;
	s->n_bytes = (size_t)(packed_put(at, (uint64_t)end - (uint64_t)s->last.start) - s->bytes);
	s->length = (int64_t)((uint64_t)s->length + (uint64_t)end - (uint64_t)s->last.end);
	s->last.end = end;
}

void intervals_clear(intervals *s)
{
	s->n = s->n_bytes = s->blocks.n = s->loose.n = 0;
	s->length = 0;
	s->failed = false;
}

static interval_walk walk_from(const intervals *s, size_t block)
{
	const uint8_t *at = block < s->blocks.n ? s->bytes + s->blocks.items[block].at : NULL;

	return (interval_walk){ s, block * INTERVAL_BLOCK, at, 0 };
}

interval_walk intervals_first(const intervals *s)
{
	return walk_from(s, 0);
}

bool intervals_next(interval_walk *w, interval *ret)
{
	uint64_t number = 0;

	if (w->i >= w->s->n)
		return false;
	if (w->i % INTERVAL_BLOCK == 0) {
		ret->start = w->s->blocks.items[w->i / INTERVAL_BLOCK].start;
	} else {
		w->at = packed_get(w->at, &number);
		ret->start = (int64_t)((uint64_t)w->end + number);
	}
	w->at = packed_get(w->at, &number);
	ret->end = w->end = (int64_t)((uint64_t)ret->start + number);
	w->i++;
	return true;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

/* What came out of order goes in. */
static bool settle(intervals *s)
{
	const interval *loose = s->loose.items;
	size_t n = s->loose.n, i = 0;
	intervals both = { 0 };
	interval one;
	bool ok = sort_intervals(s->loose.items, n);
	interval_walk w = intervals_first(s);

	for (bool has_one = intervals_next(&w, &one); ok && (has_one || i < n);) {
		if (has_one && (i == n || one.start <= loose[i].start)) {
			intervals_add(&both, one.start, one.end);
			has_one = intervals_next(&w, &one);
		} else {
			intervals_add(&both, loose[i].start, loose[i].end);
			i++;
		}
	}
	s->loose.n = 0;
	if (!ok || both.failed) {
		intervals_done(&both);
		s->failed = true;
		return false;
	}
	both.loose.items = s->loose.items; /* more may come */
	both.loose.capacity = s->loose.capacity;
	s->loose.items = NULL;
	intervals_done(s);
	*s = both;
	return true;
}

static void add_loose(intervals *s, int64_t start, int64_t end)
{
	interval *last = s->loose.n ? &s->loose.items[s->loose.n - 1] : NULL;

	if (last && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	/* As many as are worth a look at all the others. */
	if (s->loose.n >= LOOSE_LEAST && s->loose.n >= s->n / 4 && !settle(s))
		return;
	interval *to = VEC_ADD(&s->loose);
	s->failed = s->failed || !to;
	if (to)
		*to = (interval){ start, end };
}

/* What comes in the order of time is merged at once, so that most sets never need sorting. */
void intervals_add(intervals *s, int64_t start, int64_t end)
{
	if (end <= start)
		return;
	if (s->n && start < s->last.start)
		add_loose(s, start, end);
	else if (!s->n || start > s->last.end)
		append(s, start, end);
	else if (end > s->last.end)
		lengthen(s, end);
}

bool intervals_merge(intervals *s)
{
	if (s->failed || (s->loose.n && !settle(s)))
		return false;
	VEC_DONE(&s->loose);
	return true;
}

void intervals_done(intervals *s)
{
	free(s->bytes);
	VEC_DONE(&s->blocks);
	VEC_DONE(&s->loose);
	*s = (intervals){ 0 };
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

int64_t intervals_length(const intervals *s)
{
	return s->length;
}

interval intervals_span(const intervals *s)
{
	return (interval){ s->blocks.items[0].start, s->last.end };
}

/* The last block that starts no later, or the first. */
static size_t block_at(const intervals *s, int64_t ns)
{
	return FIRST_NOT(i, 1, s->blocks.n, s->blocks.items[i].start <= ns) - 1;
}

bool intervals_find(const intervals *s, int64_t ns, interval *ret)
{
	for (interval_walk w = walk_from(s, block_at(s, ns)); intervals_next(&w, ret) && ret->start <= ns;)
		if (ns < ret->end)
			return true;
	return false;
}

/* Its length before a time. */
static int64_t length_before(const intervals *s, int64_t ns)
{
	if (!s->n || ns <= s->blocks.items[0].start)
		return 0;
	if (ns >= s->last.end)
		return s->length;
	const interval_block *block = &s->blocks.items[block_at(s, ns)];
	const uint8_t *at = s->bytes + block->at;
	uint64_t length = (uint64_t)block->before, number;
	uint64_t left = (uint64_t)ns - (uint64_t)block->start; /* from where we are to the time */
	for (size_t i = 0; i < INTERVAL_BLOCK; i++) {	       /* the last one of all ends behind the time */
		if (i) {
			at = packed_get(at, &number);
			if (left <= number)
				break;
			left -= number;
		}
		at = packed_get(at, &number);
		length += left < number ? left : number;
		if (left <= number)
			break;
		left -= number;
	}
	return (int64_t)length;
}

int64_t intervals_overlap_with(const intervals *s, int64_t start, int64_t end)
{
	return start < end ? length_before(s, end) - length_before(s, start) : 0;
}

/* ---- Two sets ---------------------------------------------------------------------------------------------------- */

typedef struct common_walk {
	interval_walk a, b;
	interval x, y;
	bool has_x, has_y;
} common_walk;

static common_walk common_first(const intervals *a, const intervals *b)
{
	common_walk w = { .a = intervals_first(a), .b = intervals_first(b) };

	w.has_x = intervals_next(&w.a, &w.x);
	w.has_y = intervals_next(&w.b, &w.y);
	return w;
}

/* Steps through both at once: the next stretch that both have. */
static bool common_next(common_walk *w, interval *ret)
{
	while (w->has_x && w->has_y) {
		*ret = (interval){ w->x.start > w->y.start ? w->x.start : w->y.start,
				   w->x.end < w->y.end ? w->x.end : w->y.end };
		if (w->x.end < w->y.end)
			w->has_x = intervals_next(&w->a, &w->x);
		else
			w->has_y = intervals_next(&w->b, &w->y);
		if (ret->start < ret->end)
			return true;
	}
	return false;
}

int64_t intervals_overlap(const intervals *a, const intervals *b)
{
	int64_t length = 0;
	interval common;

	for (common_walk w = common_first(a, b); common_next(&w, &common);)
		length += common.end - common.start;
	return length;
}

bool intervals_union(const intervals *a, const intervals *b, intervals *ret)
{
	common_walk w = common_first(a, b);

	intervals_clear(ret);
	while (w.has_x || w.has_y) {
		if (!w.has_y || (w.has_x && w.x.start <= w.y.start)) {
			intervals_add(ret, w.x.start, w.x.end);
			w.has_x = intervals_next(&w.a, &w.x);
		} else {
			intervals_add(ret, w.y.start, w.y.end);
			w.has_y = intervals_next(&w.b, &w.y);
		}
	}
	return !ret->failed;
}

bool intervals_intersect(const intervals *a, const intervals *b, intervals *ret)
{
	interval common;

	intervals_clear(ret);
	for (common_walk w = common_first(a, b); common_next(&w, &common);)
		append(ret, common.start, common.end);
	return !ret->failed;
}

bool intervals_subtract(const intervals *a, const intervals *b, intervals *ret)
{
	common_walk w = common_first(a, b);

	intervals_clear(ret);
	for (; w.has_x; w.has_x = intervals_next(&w.a, &w.x)) {
		int64_t from = w.x.start;
		while (w.has_y && w.y.end <= from)
			w.has_y = intervals_next(&w.b, &w.y);
		/* The last one that reaches into it may reach into the next of a as well: it stays. */
		while (w.has_y && w.y.start < w.x.end && from < w.x.end) {
			if (w.y.start > from)
				append(ret, from, w.y.start);
			from = w.y.end;
			if (w.y.end < w.x.end)
				w.has_y = intervals_next(&w.b, &w.y);
			else
				break;
		}
		if (from < w.x.end)
			append(ret, from, w.x.end);
	}
	return !ret->failed;
}
