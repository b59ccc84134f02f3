/*
 * The layers of a profile: modules of the model, SONDE_MODULE or nn.Module, with how long a call takes and how that
 * changed from step to step.
 *
 * The history of a layer has at most PROFILE_HISTORY points. Each is one step, or one call where there are no steps;
 * when there are more, neighbours are joined and each point stands for twice as many.
 */
#include "analyze/tables/profile.h"

#include <string.h>
#include "base/search.h"

bool profile_is_layer(const profile *p, const trace_site *site)
{
	static const char module[] = "nn.Module: ";

	return site->kind == NAME_MODULE || strncmp(trace_text(p->trace, site->name), module, sizeof module - 1) == 0;
}

static void join_points(profile_layer *l)
{
	for (size_t i = 0; i < PROFILE_HISTORY / 2; i++) {
		profile_point a = l->history[2 * i], b = l->history[2 * i + 1];
		l->history[i] = (profile_point){ a.calls + b.calls, add_bounded(a.total_ns, b.total_ns),
						 a.calls ? a.first : b.first };
	}
	memset(l->history + PROFILE_HISTORY / 2, 0, PROFILE_HISTORY / 2 * sizeof *l->history);
	l->per_point *= 2;
}

/* at: how many steps, or calls, were before it. */
static void add_point(profile_layer *l, uint64_t at, int64_t number, int64_t dur_ns)
{
	while (at / l->per_point >= PROFILE_HISTORY)
		join_points(l);
	profile_point *point = &l->history[at / l->per_point];
	if (!point->calls++)
		point->first = number;
	point->total_ns = add_bounded(point->total_ns, dur_ns);
}

static profile_layer *layer_of(profile *p, uint32_t name, uint32_t *number)
{
	if (*number)
		return p->layers.items[*number - 1];
	profile_layer *l = calloc(1, sizeof *l), **place = l ? VEC_ADD(&p->layers) : NULL;
	if (!place) {
		free(l);
		p->failed = true;
		return NULL;
	}
	*place = l;
	l->name = name;
	l->per_point = 1;
	*number = (uint32_t)p->layers.n;
	return l;
}

/* The step it began in: the one around it on its thread, else the rank's at that time. False: none is known. */
static bool find_step(const profile *p, const slice *s, uint64_t *ret_at, int64_t *ret_number)
{
	uint64_t open = p->open_steps.n ? p->open_steps.items[p->open_steps.n - 1] : 0;

	if (open) {
		*ret_at = open - 1 - p->thread_steps;
		*ret_number = p->steps.items[open - 1].number;
		return true;
	}
	size_t n = FIRST_NOT(i, 0, p->n_rank_steps, p->rank_steps[i].start_ns <= s->start_ns);
	if (!n || s->start_ns - p->rank_steps[n - 1].start_ns >= p->rank_steps[n - 1].dur_ns)
		return false;
	*ret_at = n - 1;
	*ret_number = p->rank_steps[n - 1].number;
	return true;
}

void profile_add_layer(profile *p, const slice *s, uint32_t *number)
{
	profile_layer *l = layer_of(p, s->site->name, number);
	uint64_t at = 0;
	int64_t step = 0;

	if (!l)
		return;
	bool in_step = find_step(p, s, &at, &step);
	if (!l->stats.calls || s->dur_ns > l->stats.max_ns) {
		l->is_slowest_known = in_step;
		l->slowest_step = step;
	}
	if (in_step)
		add_point(l, at, step, s->dur_ns);
	else if (!p->steps.n && !p->n_rank_steps) /* what is outside of all steps has no place among them */
		add_point(l, l->stats.calls, (int64_t)l->stats.calls, s->dur_ns);
	stats_add(&l->stats, s->dur_ns);
	if (s->dur_ns > s->child_ns)
		l->stats.self_ns = add_bounded(l->stats.self_ns, s->dur_ns - s->child_ns);
}
