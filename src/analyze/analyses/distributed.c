/*
 * What communication costs a run of several ranks: per step how much of it hides behind computation, and of the time in
 * collectives how much was waiting for others.
 *
 * A collective moves its data when all have come: the shortest duration over the ranks is its transfer, what a rank
 * spends in it beyond that is waiting. Which ones are the same is told by collective_match.h. Computation is kernels
 * where there is a device, operators where there is none.
 */
#include "analyze/tables/collective_match.h"
#include "analyze/tables/step_roles.h"

#include <stdlib.h>

static const column step_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },   { "step", "step", CELL_INTEGER, 0, false },
	{ "dur_ns", "time", CELL_NS, 0, false },      { "computation_ns", "computation", CELL_NS, 0, false },
	{ "overlap_ns", "both", CELL_NS, 0, false },  { "communication_ns", "communication", CELL_NS, 0, false },
	{ "other_ns", "neither", CELL_NS, 1, false }, { "transfer_ns", "transfer", CELL_NS, 1, false },
	{ "wait_ns", "waiting", CELL_NS, 0, false },
};
static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	      { "count", "collectives", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 0, false },	      { "transfer_ns", "transfer", CELL_NS, 0, false },
	{ "wait_ns", "waiting", CELL_NS, 0, false },	      { "wait_percent", "waiting %", CELL_PERCENT, 0, true },
	{ "n_unmatched", "unmatched", CELL_COUNT, 2, false },
};
static const column name_columns[] = {
	{ "name", "collective", CELL_STRING, 0, false },
	{ "count", "calls", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 0, false },
	{ "mean_ns", "mean", CELL_NS, 1, false },
	{ "transfer_ns", "transfer", CELL_NS, 0, false },
	{ "wait_ns", "waiting", CELL_NS, 0, false },
	{ "wait_percent", "waiting %", CELL_PERCENT, 0, true },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

typedef struct wait_sum {
	uint64_t n;
	int64_t total_ns, transfer_ns;
} wait_sum;

typedef struct distributed {
	const work *w;
	step_roles *roles; /* by rank of the rows */
	wait_sum **steps;  /* by rank and step */
	collectives found;
	wait_sum *ranks; /* by rank of found */
	wait_sum *names; /* by string; n of it on all ranks */
	size_t n_names;
} distributed;

static void add_wait(wait_sum *to, int64_t dur_ns, int64_t transfer_ns)
{
	to->n++;
	to->total_ns = add_bounded(to->total_ns, dur_ns);
	to->transfer_ns = add_bounded(to->transfer_ns, transfer_ns);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static wait_sum *step_at(const distributed *d, int32_t rank, int64_t ns)
{
	for (size_t k = 0; k < d->w->rows.n_ranks; k++) {
		size_t at = d->w->rows.ranks[k].rank == rank ? step_roles_at(&d->roles[k], ns) : SIZE_MAX;
		if (at != SIZE_MAX)
			return &d->steps[k][at];
	}
	return NULL;
}

/* One collective on all ranks that have it; one that a single rank has is no match. */
static void add_match(distributed *d, const collective_event *e)
{
	const rows *r = &d->w->rows;
	const collective_member *members = &d->found.members.items[e->first];
	int64_t shortest = INT64_MAX;

	for (uint32_t i = 0; i < e->n; i++) {
		const collective *at = collective_of(&d->found, &members[i]);
		shortest = at->end - at->start < shortest ? at->end - at->start : shortest;
	}
	for (uint32_t i = 0; e->n > 1 && i < e->n; i++) {
		const collective *at = collective_of(&d->found, &members[i]);
		wait_sum *step = step_at(d, d->found.ranks[members[i].rank].rank, at->start);
		add_wait(&d->ranks[members[i].rank], at->end - at->start, shortest);
		add_wait(&d->names[r->sites[rows_at(r, at->row).site].name], at->end - at->start, shortest);
		if (step)
			add_wait(step, at->end - at->start, shortest);
	}
}

static sonde_status find_waits(distributed *d, sonde_error *err)
{
	sonde_status status = collectives_find(&d->w->rows, NULL, &d->found, err);
	const collectives *c = &d->found;

	if (status)
		return status;
	d->n_names = index_n_strings(d->w->rows.ix);
	d->ranks = calloc(c->n_ranks + 1, sizeof *d->ranks);
	d->names = calloc(d->n_names + 1, sizeof *d->names);
	if (!d->ranks || !d->names)
		return out_of_memory(err);
	for (size_t i = 0; i < c->events.n; i++)
		add_match(d, &c->events.items[i]);
	return SONDE_OK;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static cell share(int64_t part, int64_t whole)
{
	return whole > 0 ? cell_percent(100.0 * (double)part / (double)whole) : cell_unknown();
}

static void put_step(const distributed *d, size_t k, size_t i, const intervals *both, sonde_result *r, table *t)
{
	const step_roles *s = &d->roles[k];
	const role_step *step = &s->steps[i];
	int64_t from = step->start_ns, to = step->end_ns;
	const intervals *computing = &s->active[s->active[STEP_KERNEL].n ? STEP_KERNEL : STEP_HOST];
	int64_t computation = intervals_overlap_with(computing, from, to);
	int64_t communication = intervals_overlap_with(&s->active[STEP_COMMUNICATION], from, to);
	int64_t overlap = intervals_overlap_with(both, from, to);
	cell *c = table_row(r, t, 0);

	c[0] = cell_integer(d->w->rows.ranks[k].rank);
	if (!s->is_made_up)
		c[1] = cell_integer(step->number);
	c[2] = cell_ns(to - from);
	c[3] = cell_ns(computation - overlap);
	c[4] = cell_ns(overlap);
	c[5] = cell_ns(communication - overlap);
	c[6] = cell_ns(to - from - computation - communication + overlap);
	if (d->steps[k][i].n) {
		c[7] = cell_ns(d->steps[k][i].transfer_ns);
		c[8] = cell_ns(d->steps[k][i].total_ns - d->steps[k][i].transfer_ns);
	}
}

static bool add_steps(const distributed *d, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "distributed_steps", "Steps: computation, communication and both together",
				step_columns, N_COLUMNS(step_columns));
	bool ok = true;

	for (size_t k = 0; ok && k < d->w->rows.n_ranks; k++) {
		const step_roles *s = &d->roles[k];
		const intervals *computing = &s->active[s->active[STEP_KERNEL].n ? STEP_KERNEL : STEP_HOST];
		intervals both = { 0 };
		ok = intervals_intersect(computing, &s->active[STEP_COMMUNICATION], &both);
		for (size_t i = 0; ok && i < s->n_steps; i++)
			put_step(d, k, i, &both, r, t);
		intervals_done(&both);
	}
	limit_rows(r, t, options, "steps");
	return ok;
}

static void add_ranks(const distributed *d, sonde_result *r)
{
	table *t = result_table(r, "distributed_ranks", "Ranks: transfer and waiting", rank_columns,
				N_COLUMNS(rank_columns));

	for (size_t k = 0; k < d->found.n_ranks; k++) {
		const wait_sum *s = &d->ranks[k];
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(d->found.ranks[k].rank);
		c[1] = cell_count(s->n);
		c[2] = cell_ns(s->total_ns);
		c[3] = cell_ns(s->transfer_ns);
		c[4] = cell_ns(s->total_ns - s->transfer_ns);
		c[5] = share(s->total_ns - s->transfer_ns, s->total_ns);
		c[6] = cell_count(d->found.ranks[k].n - s->n);
	}
	if (t && !t->n_rows)
		t->n_shown = 0;
}

static void add_names(const distributed *d, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "distributed_collectives", "Collectives, all ranks", name_columns,
				N_COLUMNS(name_columns));

	for (size_t i = 0; i < d->n_names; i++) {
		const wait_sum *s = &d->names[i];
		if (!s->n)
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(d->w->rows.ix, (uint32_t)i)));
		c[1] = cell_count(s->n);
		c[2] = cell_ns(s->total_ns);
		c[3] = cell_ns(s->total_ns / (int64_t)s->n);
		c[4] = cell_ns(s->transfer_ns);
		c[5] = cell_ns(s->total_ns - s->transfer_ns);
		c[6] = share(s->total_ns - s->transfer_ns, s->total_ns);
	}
	table_sort(t, 2);
	limit_rows(r, t, options, "collectives");
	if (t && !t->n_rows)
		t->n_shown = 0;
}

static void explain(const distributed *d, sonde_result *r)
{
	size_t n = 0;
	bool communicates = false;

	for (size_t k = 0; k < d->found.n_ranks; k++)
		n += d->ranks[k].n;
	for (size_t k = 0; k < d->w->rows.n_ranks; k++)
		communicates = communicates || d->roles[k].active[STEP_COMMUNICATION].n;
	if (!communicates)
		result_answer(r, "the trace has no collectives");
	if (d->w->rows.n_ranks < 2)
		result_note_add(r, "waiting", "one rank: waiting is unknown; open the files of all ranks");
	else if (!n)
		result_note_add(r, "waiting", "no collective spans more than one of these ranks");
	else
		result_note_add(r, "matched", "%s", collective_methods_text(&d->found, r));
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	distributed d = { .w = w };
	size_t n = w->rows.n_ranks, n_roles = 0;
	bool ok = true;
	sonde_status status = SONDE_OK;

	d.roles = calloc(n + 1, sizeof *d.roles);
	d.steps = calloc(n + 1, sizeof *d.steps);
	ok = d.roles && d.steps;
	for (size_t k = 0; ok && k < n; k++) {
		ok = step_roles_find(&d.roles[n_roles++], w, k);
		d.steps[k] = ok ? calloc(d.roles[k].n_steps + 1, sizeof **d.steps) : NULL;
		ok = d.steps[k] != NULL;
	}
	if (ok && w->rows.ix)
		status = find_waits(&d, err);
	if (ok && !status) {
		ok = add_steps(&d, options, r);
		add_ranks(&d, r);
		add_names(&d, options, r);
		explain(&d, r);
	}
	for (size_t k = 0; k < n_roles; k++) {
		step_roles_done(&d.roles[k]);
		free(d.steps[k]);
	}
	free(d.roles);
	free(d.steps);
	free(d.ranks);
	free(d.names);
	collectives_done(&d.found);
	return ok ? status : out_of_memory(err);
}

static const work_analysis distributed_work = { .add = add, .needs_no_device = true };

const analysis distributed_analysis = {
	.name = "distributed",
	.summary = "Cost of communication: hidden or exposed per step, transfer or waiting per rank",
	.work = &distributed_work,
};
