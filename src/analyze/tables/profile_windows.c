/*
 * The stretches of time that a profile looks at: those of the steps that were asked for, or all but those of the
 * warm-up, each rank by its own; and a range of time that was asked for.
 */
#include "analyze/tables/profile.h"

#include "analyze/math/stats.h"
#include "analyze/tables/step_list.h"
#include "base/error.h"
#include "base/search.h"

static bool in_time(const profile *p, int64_t ns)
{
	const profile_options *o = &p->options;

	return (!o->from_ns && !o->to_ns) || (ns >= o->from_ns && ns < o->to_ns);
}

/* The first that ends after the time. */
static size_t window_after(const profile *p, int64_t ns)
{
	return FIRST_NOT(i, 0, p->n_rank_windows, p->rank_windows[i].to_ns <= ns);
}

int64_t profile_within(const profile *p, int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns = start_ns + dur_ns;

	if (p->options.use_steps)
		return dur_ns;
	for (size_t i = window_after(p, start_ns); i < p->n_rank_windows; i++) {
		const profile_window *w = &p->rank_windows[i];
		if (w->from_ns >= end_ns)
			break;
		dur_ns -= (w->to_ns < end_ns ? w->to_ns : end_ns) - (w->from_ns > start_ns ? w->from_ns : start_ns);
	}
	return dur_ns;
}

bool profile_in_window(const profile *p, int64_t ns)
{
	if (p->skips || !in_time(p, ns))
		return false;
	size_t at = window_after(p, ns);
	bool inside = at < p->n_rank_windows && p->rank_windows[at].from_ns <= ns;
	return inside == p->options.use_steps;
}

bool profile_in_window_or_warmup(const profile *p, int64_t ns)
{
	return p->options.n_warmup ? !p->skips && in_time(p, ns) : profile_in_window(p, ns);
}

/* There may be as many threads as steps. */
void profile_enter_rank(profile *p, int32_t rank)
{
	const profile_window *windows = p->windows.items;
	const step_time *steps = p->known_steps.items;
	size_t first = FIRST_NOT(i, 0, p->windows.n, windows[i].rank < rank);

	p->n_rank_windows = FIRST_NOT(i, first, p->windows.n, windows[i].rank == rank) - first;
	p->rank_windows = p->n_rank_windows ? &windows[first] : NULL;
	first = FIRST_NOT(i, 0, p->known_steps.n, steps[i].rank < rank);
	p->n_rank_steps = FIRST_NOT(i, first, p->known_steps.n, steps[i].rank == rank) - first;
	p->rank_steps = p->n_rank_steps ? &steps[first] : NULL;
}

/* Steps of several threads may overlap. */
static bool add_window(profile *p, const step_time *s)
{
	int64_t to_ns = s->start_ns + (s->dur_ns ? s->dur_ns : 1);
	profile_window *last = p->windows.n ? &p->windows.items[p->windows.n - 1] : NULL;

	if (last && last->rank == s->rank && s->start_ns <= last->to_ns) {
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		return true;
	}
	profile_window *w = VEC_ADD(&p->windows);
	if (w)
		*w = (profile_window){ s->start_ns, to_ns, s->rank };
	return w != NULL;
}

/* The last step of a rank is never one of the warm-up. */
static bool add_windows(profile *p, const step_list *steps)
{
	const profile_options *o = &p->options;
	size_t of_rank = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < steps->n; i++) {
		const step_time *s = &steps->items[i];
		bool is_last = i + 1 == steps->n || s[1].rank != s->rank;
		of_rank = i && s[-1].rank == s->rank ? of_rank + 1 : 0;
		if (o->use_steps ? s->number >= o->first_step && s->number <= o->last_step
				 : of_rank < o->n_warmup && !is_last)
			ok = add_window(p, s);
	}
	return ok;
}

/* Where what is looked at begins and ends, and how much it is: of the first rank, where ranks have their own. */
static void measure(profile *p)
{
	const profile_options *o = &p->options;
	int64_t start_ns = INT64_MAX, end_ns = INT64_MIN, covered = 0;

	if (o->from_ns || o->to_ns) {
		p->start_ns = o->from_ns;
		p->end_ns = o->to_ns == p->trace->end_ns + 1 ? o->to_ns - 1 : o->to_ns; /* and what begins there */
	}
	for (size_t i = 0; i < p->windows.n; i++) {
		const profile_window *w = &p->windows.items[i];
		int64_t from_ns = w->from_ns > p->start_ns ? w->from_ns : p->start_ns;
		int64_t to_ns = w->to_ns < p->end_ns ? w->to_ns : p->end_ns;
		if (from_ns > to_ns)
			continue;
		start_ns = from_ns < start_ns ? from_ns : start_ns;
		end_ns = to_ns > end_ns ? to_ns : end_ns;
		covered = add_bounded(covered, w->rank == p->windows.items[0].rank ? to_ns - from_ns : 0);
	}
	if (o->use_steps && start_ns <= end_ns) {
		p->start_ns = start_ns;
		p->end_ns = end_ns;
	}
	p->span_ns = o->use_steps ? covered : p->end_ns - p->start_ns - covered;
	p->has_window = !o->use_steps || start_ns <= end_ns;
}

sonde_status profile_find_windows(profile *p, sonde_error *err)
{
	const profile_options *o = &p->options;
	sonde_status status = step_list_load(p->trace, o->ranks, &p->known_steps, err);

	if (!status && (o->use_steps || o->n_warmup))
		p->failed |= !add_windows(p, &p->known_steps);
	measure(p);
	if (!status && !p->failed && !p->has_window)
		return steps_missing(o->first_step, o->last_step, o->ranks || o->to_ns ? " there" : "", err);
	return status; /* the caller looks at `failed` */
}
