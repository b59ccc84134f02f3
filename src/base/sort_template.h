/*
 * A stable merge sort that is fast on what is nearly sorted; included once for each type:
 *
 *   #define SORT_NAME sort_rows
 *   #define SORT_TYPE row
 *   #define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)       strictly before
 *   #include "base/sort_template.h"
 *
 *   static bool sort_rows(row *items, size_t n);      false when out of memory: still the same items, in some order
 *
 * Stretches that are in order are found as they lie and merged, each with its neighbour and the shorter first. A merge
 * leaves alone what is in place at both ends and copies the shorter of the rest, so sorted input takes one pass and no
 * memory, and no input more than half of its own size.
 */
#include "base/big.h"
#include "base/search.h"
#define SORT_JOIN_(a, b) a##b
#define SORT_JOIN(a, b) SORT_JOIN_(a, b)
#define SORT_(what) SORT_JOIN(SORT_NAME, what)

typedef SORT_TYPE SORT_(_item);
enum { SORT_(_short_run) = 16, SORT_(_gallop) = 8 };

typedef struct SORT_(_state) {
	SORT_(_item) * items;
	SORT_(_item) * spare; /* room for the shorter side of a merge */
	size_t n_spare;
	size_t first[64], n_runs; /* where runs begin; each is at least twice as long as the next */
	size_t end;		  /* of the last run */
} SORT_(_state);

/* How many of the n sorted items are not after the key; `left`: are before it. Looks near the start first. */
static size_t SORT_(_count)(const SORT_(_item) * items, size_t n, const SORT_(_item) * key, bool left)
{
	size_t low = 0, step = 1;

#define SORT_COUNTS(i) (left ? SORT_BEFORE(&items[i], key) : !SORT_BEFORE(key, &items[i]))
	while (low + step <= n && SORT_COUNTS(low + step - 1)) {
		low += step;
		step *= 2;
	}
	size_t high = low + step <= n ? low + step - 1 : n;
	return FIRST_NOT(i, low, high, SORT_COUNTS(i));
}

/* The same, looking near the end first. */
static size_t SORT_(_count_back)(const SORT_(_item) * items, size_t n, const SORT_(_item) * key, bool left)
{
	size_t high = n, step = 1;

	while (step <= high && !SORT_COUNTS(high - step)) {
		high -= step;
		step *= 2;
	}
	size_t low = step <= high ? high - step + 1 : 0;
	return FIRST_NOT(i, low, high, SORT_COUNTS(i));
#undef SORT_COUNTS
}

static bool SORT_(_spare)(SORT_(_state) * s, size_t n)
{
	if (n <= s->n_spare)
		return true;
	free(s->spare);
	s->spare = big_alloc(n, sizeof *s->spare);
	s->n_spare = s->spare ? n : 0;
	return s->spare;
}

/* a[0, n_a) before b = a + n_a, a in spare memory, to the front of both. */
static void SORT_(_merge_up)(SORT_(_item) * to, const SORT_(_item) * a, size_t n_a, const SORT_(_item) * b, size_t n_b)
{
	size_t wins_a = 0, wins_b = 0;

	while (n_a && n_b) {
		if (SORT_BEFORE(b, a)) {
			*to++ = *b++;
			n_b--;
			wins_a = 0;
			wins_b++;
		} else {
			*to++ = *a++;
			n_a--;
			wins_b = 0;
			wins_a++;
		}
		if (wins_a == SORT_(_gallop) && n_b) {
			size_t n = SORT_(_count)(a, n_a, b, false);
			memcpy(to, a, n * sizeof *a);
			to += n, a += n, n_a -= n;
			wins_a = 0;
		} else if (wins_b == SORT_(_gallop) && n_a) {
			size_t n = SORT_(_count)(b, n_b, a, true);
			memmove(to, b, n * sizeof *b);
			to += n, b += n, n_b -= n;
			wins_b = 0;
		}
	}
	memcpy(to, a, n_a * sizeof *a);
}

/* The same from the back: b is in spare memory, a lies at the front of the n_a + n_b places. */
static void SORT_(_merge_down)(SORT_(_item) * a, size_t n_a, const SORT_(_item) * b, size_t n_b)
{
	SORT_(_item) *to = a + n_a + n_b;
	size_t wins_a = 0, wins_b = 0;

	while (n_a && n_b) {
		if (SORT_BEFORE(&b[n_b - 1], &a[n_a - 1])) {
			*--to = a[--n_a];
			wins_b = 0;
			wins_a++;
		} else {
			*--to = b[--n_b];
			wins_a = 0;
			wins_b++;
		}
		if (wins_a == SORT_(_gallop) && n_a) {
			size_t n = n_a - SORT_(_count_back)(a, n_a, &b[n_b - 1], false);
			to -= n, n_a -= n;
			memmove(to, a + n_a, n * sizeof *a);
			wins_a = 0;
		} else if (wins_b == SORT_(_gallop) && n_b) {
			size_t n = n_b - SORT_(_count_back)(b, n_b, &a[n_a - 1], true);
			to -= n, n_b -= n;
			memcpy(to, b + n_b, n * sizeof *b);
			wins_b = 0;
		}
	}
	memcpy(to - n_b, b, n_b * sizeof *b);
}

/* Merges the last two runs. */
static bool SORT_(_merge)(SORT_(_state) * s)
{
	SORT_(_item) *a = s->items + s->first[s->n_runs - 2], *b = s->items + s->first[s->n_runs - 1];
	size_t n_b = s->end - s->first[s->n_runs - 1];

	s->n_runs--;
	a += SORT_(_count)(a, (size_t)(b - a), b, false);
	size_t n_a = (size_t)(b - a);
	if (!n_a)
		return true;
	n_b = SORT_(_count_back)(b, n_b, b - 1, true);
	if (!SORT_(_spare)(s, n_a < n_b ? n_a : n_b))
		return false;
	if (n_a <= n_b) {
		memcpy(s->spare, a, n_a * sizeof *a);
		SORT_(_merge_up)(a, s->spare, n_a, b, n_b);
	} else {
		memcpy(s->spare, b, n_b * sizeof *b);
		SORT_(_merge_down)(a, n_a, s->spare, n_b);
	}
	return true;
}

/* The end of the run that begins at `from`, made SORT_short_run long where it is shorter. */
static size_t SORT_(_run)(SORT_(_item) * items, size_t from, size_t n)
{
	size_t end = from + 1, least = n - from < SORT_(_short_run) ? n : from + SORT_(_short_run);

	while (end < n && !SORT_BEFORE(&items[end], &items[end - 1]))
		end++;
	for (; end < least; end++) {
		SORT_(_item) item = items[end];
		size_t at = end;
		for (; at > from && SORT_BEFORE(&item, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
	return end;
}

static bool SORT_NAME(SORT_(_item) * items, size_t n)
{
	SORT_(_state) s = { .items = items };
	bool ok = true;

	while (ok && s.end < n) {
		s.first[s.n_runs++] = s.end;
		s.end = SORT_(_run)(items, s.end, n);
		while (ok && s.n_runs > 1 &&
		       s.first[s.n_runs - 1] - s.first[s.n_runs - 2] < 2 * (s.end - s.first[s.n_runs - 1]))
			ok = SORT_(_merge)(&s);
	}
	while (ok && s.n_runs > 1)
		ok = SORT_(_merge)(&s);
	free(s.spare);
	return ok;
}

#undef SORT_JOIN_
#undef SORT_JOIN
#undef SORT_
#undef SORT_NAME
#undef SORT_TYPE
#undef SORT_BEFORE
