/*
 * See pairing.h.
 *
 * The begins of a list are linked, the one that began last first. Those of all lists share one array, whose free places
 * are linked too. Ends that are kept are sorted once, when all is read.
 */
#include "import/pairing.h"

#define SORT_NAME sort_kept
#define SORT_TYPE pairing_kept
#define SORT_BEFORE(a, b) ((a)->end.ts_ns < (b)->end.ts_ns)
#include "base/sort_template.h"

enum { IS_FREE = UINT32_C(1) << 31 }; /* in pairing_open.flags */

static void count(pairing_count *c, uint64_t at)
{
	if (!c->n || at < c->first_at)
		c->first_at = at;
	c->n++;
}

static uint32_t max_waiting(const pairing *p)
{
	return p->max_waiting ? p->max_waiting : PAIRING_MAX_WAITING;
}

/* ---- The begins of a list ---------------------------------------------------------------------------------------- */

static bool grow_lists(pairing *p, uint32_t list)
{
	while (p->innermost.n <= list)
		if (!VEC_ADD(&p->innermost)) {
			p->failed = true;
			return false;
		}
	return true;
}

/* Where the number of the innermost begin stands; NULL when out of memory. */
static inline uint32_t *innermost(pairing *p, uint32_t list)
{
	if (__builtin_expect(p->innermost.n <= list, 0) && !grow_lists(p, list))
		return NULL;
	return &p->innermost.items[list];
}

/* Returns index + 1; 0 when out of memory. */
static uint32_t add_open(pairing *p, const pairing_open *begin)
{
	uint32_t index = p->free;
	pairing_open *to;

	if (index) {
		to = &p->begins.items[index - 1];
		p->free = to->below_;
	} else {
		to = VEC_ADD(&p->begins);
		index = (uint32_t)p->begins.n;
	}
	if (!to) {
		p->failed = true;
		return 0;
	}
	*to = *begin;
	p->n_open++;
	return index;
}

static void free_open(pairing *p, uint32_t index)
{
	pairing_open *s = &p->begins.items[index - 1];

	s->flags = IS_FREE;
	s->below_ = p->free;
	p->free = index;
	p->n_open--;
}

/* Into the list that starts at *top, above what began before it. */
static void link_open(pairing *p, uint32_t *top, uint32_t index)
{
	pairing_open *begins = p->begins.items, *s = &begins[index - 1];

	for (int i = 0; *top && begins[*top - 1].ts_ns > s->ts_ns && i < PAIRING_SEARCHED; i++)
		top = &begins[*top - 1].below_;
	s->below_ = *top;
	*top = index;
}

/* Where the number of the innermost begin of this name stands that is not after end_ns; NULL: there is none. */
static uint32_t *find_named(const pairing *p, uint32_t *top, uint32_t name, int64_t end_ns)
{
	for (int i = 0; *top && i < PAIRING_SEARCHED; i++) {
		pairing_open *s = &p->begins.items[*top - 1];
		if (s->ts_ns <= end_ns && (name == PAIRING_ANY || s->name == name))
			return top;
		top = &s->below_;
	}
	return NULL;
}

static uint32_t *find_open(const pairing *p, uint32_t *top, uint32_t name, int64_t end_ns)
{
	uint32_t *found = find_named(p, top, name, end_ns);

	return found || p->nests ? found : find_named(p, top, PAIRING_ANY, end_ns);
}

static pairing_open take_open(pairing *p, uint32_t *at)
{
	uint32_t index = *at;
	pairing_open taken = p->begins.items[index - 1];

	*at = taken.below_;
	free_open(p, index);
	return taken;
}

/* ---- Begins and ends as they come -------------------------------------------------------------------------------- */

void pairing_begin(pairing *p, uint32_t list, const pairing_open *begin)
{
	uint32_t *top = innermost(p, list);

	if (!top)
		return;
	if (__builtin_expect(p->n_open >= max_waiting(p), 0)) {
		count(&p->dropped, begin->at);
		return;
	}
	uint32_t index = add_open(p, begin);
	if (index)
		link_open(p, top, index);
}

/* Closes what began inside of the begin `wanted`, with its end. Returns where the number of `wanted` stands. */
static uint32_t *close_inner(pairing *p, uint32_t *top, uint32_t wanted, const pairing_stop *end)
{
	while (*top != wanted) {
		if (p->begins.items[*top - 1].ts_ns > end->ts_ns) { /* begins later, and has its end elsewhere */
			top = &p->begins.items[*top - 1].below_;
			continue;
		}
		count(&p->crossed, end->at);
		pairing_open crossed = take_open(p, top);
		p->close(p->context, &crossed, end, PAIRING_CROSSED);
	}
	return top;
}

bool pairing_end(pairing *p, uint32_t list, const pairing_stop *end, pairing_open *ret_begin)
{
	uint32_t *top = innermost(p, list), *found = top ? find_open(p, top, end->name, end->ts_ns) : NULL;

	if (!found)
		return false;
	if (p->nests)
		found = close_inner(p, top, *found, end);
	*ret_begin = take_open(p, found);
	return true;
}

void pairing_keep_end(pairing *p, uint32_t list, const pairing_stop *end)
{
	if (p->kept.n >= max_waiting(p)) {
		count(&p->dropped, end->at);
		return;
	}
	pairing_kept *to = VEC_ADD(&p->kept);
	if (to)
		*to = (pairing_kept){ .end = *end, .list = list };
	p->failed |= !to;
}

/* ---- When all is read -------------------------------------------------------------------------------------------- */

static void match_kept(pairing *p, const pairing_kept *k)
{
	uint32_t *top = innermost(p, k->list);

	if (!top)
		return;
	uint32_t *found = find_open(p, top, k->end.name, k->end.ts_ns);
	if (!found) /* ends before it begins */
		found = find_open(p, top, k->end.name, INT64_MAX);
	if (!found) {
		count(&p->lost_ends, k->end.at);
		return;
	}
	pairing_open begin = take_open(p, found);
	p->close(p->context, &begin, &k->end, PAIRING_MATCHED);
}

void pairing_match_kept(pairing *p)
{
	sort_kept(p->kept.items, p->kept.n); /* or, out of memory, in the order of the file */
	for (size_t i = 0; i < p->kept.n; i++)
		match_kept(p, &p->kept.items[i]);
	VEC_DONE(&p->kept);
}

void pairing_close_open(pairing *p, int64_t last_ns)
{
	for (size_t i = 0; i < p->begins.n; i++) {
		const pairing_open *s = &p->begins.items[i];
		if (s->flags & IS_FREE)
			continue;
		pairing_stop end = { .ts_ns = last_ns > s->ts_ns ? last_ns : s->ts_ns, .at = s->at, .name = s->name };
		count(&p->unclosed, s->at);
		p->close(p->context, s, &end, PAIRING_UNCLOSED);
	}
	VEC_DONE(&p->begins);
	VEC_DONE(&p->innermost);
	p->n_open = p->free = 0;
}

void pairing_done(pairing *p)
{
	VEC_DONE(&p->begins);
	VEC_DONE(&p->innermost);
	VEC_DONE(&p->kept);
	p->n_open = p->free = 0;
}
