/* See straggler_search.h. */
#include "analyze/tables/straggler_search.h"

#include <stdlib.h>
#include "analyze/names/kernel_kind.h"
#include "analyze/math/stats.h"
#include "base/error.h"
#include "base/search.h"

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* The step in which the reference launched it, or the first rank that has it; n_steps: none. */
static size_t step_of(const straggler_search *s, const collective_event *e)
{
	const collective_member *m = &s->found.members.items[e->first];

	for (uint32_t i = 1; i < e->n && m->rank < s->found.reference; i++)
		m += m[1].rank <= s->found.reference;
	const row *at = ROW_AT(s->rows, collective_of(&s->found, m)->row);
	int64_t ns = at->launch != ROW_NONE ? rows_at(s->rows, at->launch).start_ns : at->start_ns;
	ns -= s->found.ranks[m->rank].offset;

	if (!s->steps)
		return 0;
	size_t n = FIRST_NOT(i, 0, s->n_steps, s->steps[i].start_ns <= ns);
	bool is_in = n > 0 && ns < s->steps[n - 1].start_ns + s->steps[n - 1].dur_ns;
	return is_in ? n - 1 : s->n_steps;
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of n >= 1 values, which it sorts. */
static int64_t middle_of(int64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, compare_ns);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* What the ranks that wait from `from` to `to` do not compute meanwhile. */
static int64_t lost_between(straggler_search *s, const collective_event *e, size_t latest, int64_t from, int64_t to)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		uint32_t rank = s->found.members.items[e->first + i].rank;
		int64_t offset = s->found.ranks[rank].offset;
		if (rank != latest)
			s->values[n++] =
				to - from - intervals_overlap_with(&s->ranks[rank].compute, from + offset, to + offset);
	}
	return n ? middle_of(s->values, n) : 0;
}

static void add_collective(straggler_search *s, const collective_event *e)
{
	const collectives *c = &s->found;
	const collective_member *members = &c->members.items[e->first];
	int64_t last = INT64_MIN, before = INT64_MIN;
	size_t latest = 0, step = step_of(s, e);

	for (uint32_t i = 0; i < e->n; i++) {
		int64_t start = collective_start(c, &members[i]);
		if (start > last) {
			before = last;
			last = start;
			latest = members[i].rank;
		} else if (start > before) {
			before = start;
		}
	}
	for (uint32_t i = 0; i < e->n; i++)
		s->ranks[members[i].rank].waited_ns =
			add_bounded(s->ranks[members[i].rank].waited_ns, last - collective_start(c, &members[i]));
	int64_t lost = lost_between(s, e, latest, before, last);
	s->ranks[latest].n_last++;
	s->ranks[latest].late_ns = add_bounded(s->ranks[latest].late_ns, last - before);
	s->ranks[latest].lost_ns = add_bounded(s->ranks[latest].lost_ns, lost);
	if (step < s->n_steps)
		s->ranks[latest].by_step[step] += lost;
}

size_t stragglers_worst(const straggler_search *s, size_t step, int64_t *ret_next)
{
	size_t worst = 0;
	int64_t most = INT64_MIN, next = INT64_MIN;

	for (size_t i = 0; i < s->found.n_ranks; i++) {
		int64_t late = step < s->n_steps ? s->ranks[i].by_step[step] : s->ranks[i].lost_ns;
		if (late > most) {
			next = most;
			most = late;
			worst = i;
		} else if (late > next) {
			next = late;
		}
	}
	*ret_next = next > 0 ? next : 0;
	return worst;
}

static bool find_compute(straggler_search *s, const uint8_t *kinds, size_t rank)
{
	const rows_rank *from = &s->rows->ranks[rank];

	for (size_t i = 0; i < from->n_device; i++) {
		const row *at = ROW_AT(s->rows, from->device[i]);
		if (kinds[at->site] == KERNEL_COMPUTE)
			intervals_add(&s->ranks[rank].compute, at->start_ns, row_end_ns(at));
	}
	return intervals_merge(&s->ranks[rank].compute);
}

/* By site. */
static uint8_t *find_kinds(const rows *r)
{
	uint8_t *kinds = malloc(r->n_sites + 1);

	for (size_t i = 0; kinds && i < r->n_sites; i++)
		kinds[i] = (uint8_t)kernel_kind_of(index_text(r->ix, r->sites[i].name), (site_class)r->sites[i].class);
	return kinds;
}

static bool make_ranks(straggler_search *s)
{
	uint8_t *kinds = find_kinds(s->rows);
	bool ok = kinds && (s->ranks = calloc(s->found.n_ranks + 1, sizeof *s->ranks)) &&
		  (s->values = calloc(s->found.n_ranks + 1, sizeof *s->values));

	for (size_t i = 0; ok && i < s->found.n_ranks; i++)
		ok = (s->ranks[i].by_step = calloc(s->n_steps + 1, sizeof(int64_t))) && find_compute(s, kinds, i);
	free(kinds);
	return ok;
}

static bool sum_up(straggler_search *s)
{
	const rows_rank *reference = &s->rows->ranks[s->found.reference];
	int64_t next;

	s->steps = reference->n_steps ? reference->steps : NULL;
	s->n_steps = reference->n_steps ? reference->n_steps : 1;
	s->span_ns = s->steps ? 0 : reference->end_ns - reference->start_ns;
	for (size_t i = 0; s->steps && i < s->n_steps; i++)
		s->span_ns = add_bounded(s->span_ns, s->steps[i].dur_ns);
	if (!make_ranks(s))
		return false;
	for (size_t i = 0; i < s->found.events.n; i++)
		if (s->found.events.items[i].n > 1)
			add_collective(s, &s->found.events.items[i]);
	for (size_t i = 0; i < s->n_steps; i++)
		s->ranks[stragglers_worst(s, i, &next)].n_worst++;
	return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

sonde_status stragglers_search(const rows *r, straggler_search *ret, sonde_error *err)
{
	straggler_search *s = ret;
	size_t n_with = 0;

	*s = (straggler_search){ .rows = r };
	if (r->n_ranks < 2) {
		s->missing = "one rank; open the traces of several ranks together";
		return SONDE_OK;
	}
	sonde_status status = collectives_find(r, NULL, &s->found, err);
	for (size_t i = 0; !status && i < s->found.n_ranks; i++)
		n_with += s->found.ranks[i].n > 0;
	if (!status && n_with < 2)
		s->missing = "no two ranks communicate";
	else if (!status && !sum_up(s))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return status;
}

void stragglers_done(straggler_search *s)
{
	for (size_t i = 0; s->ranks && i < s->found.n_ranks; i++) {
		free(s->ranks[i].by_step);
		intervals_done(&s->ranks[i].compute);
	}
	free(s->ranks);
	free(s->values);
	collectives_done(&s->found);
	*s = (straggler_search){ 0 };
}

bool stragglers_lasting(const straggler_search *s, straggler_limits limits, size_t *ret_rank)
{
	int64_t next;
	const lateness *l = &s->ranks[ *ret_rank = stragglers_worst(s, SIZE_MAX, &next)];

	return l->lost_ns > 0 && l->lost_ns >= 2 * next &&
	       (double)s->span_ns > limits.factor * (double)(s->span_ns - l->lost_ns) &&
	       (double)l->n_worst > limits.steps * (double)s->n_steps;
}
