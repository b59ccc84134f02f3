/* See analyses/leaks/sums.h. */
#include "analyze/analyses/leaks/sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- Where a block comes from ------------------------------------------------------------------------------------ */

static bool is_op(const leak_sums *l, const row *at)
{
	return l->rows->trace->is_recorded || l->tree.is_op[at->site];
}

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Frames of the libraries say less than the line that called them. */
static bool is_user_frame(const char *name)
{
	static const char *const others[] = { "nn.Module: ", "<built-in", "torch/", "<string>", "<frozen" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (starts_with(name, others[i]))
			return false;
	return !strstr(name, "/site-packages/");
}

/* The innermost operator (of a recording: scope), the nearest name around it that the program gave, the line of it. */
void leak_find_place(const leak_sums *l, const memory_event *e, leak_place *to)
{
	const rows *all = l->rows;

	to->op = to->scope = to->python = INDEX_NONE;
	for (uint32_t at = e->row; at != ROW_NONE; at = rows_at(all, at).parent) {
		const row *one = ROW_AT(all, at);
		uint32_t name = all->sites[one->site].name;
		bool is_module = starts_with(row_name(all, one), "nn.Module: ");
		if (one->class == CLASS_STEP || one->class == CLASS_RUNTIME)
			continue; /* calls of a driver say less than what calls them */
		if (one->class == CLASS_PYTHON && !is_module) {
			if (to->python == INDEX_NONE && is_user_frame(row_name(all, one)))
				to->python = name;
		} else if (is_op(l, one) && to->op == INDEX_NONE)
			to->op = name;
		else if ((!is_op(l, one) || all->trace->is_recorded) && to->scope == INDEX_NONE)
			to->scope = name;
	}
}

static bool add_block(leak_sums *l, uint32_t number)
{
	const memory_event *e = &l->events.items.items[number];
	leak_device *d = &l->devices[e->device];
	int64_t step = rank_step_at(d->rank, e->time_ns);
	leak_place p = { .device = e->device, .bytes = e->bytes, .first = step, .last_counted = LEAK_NO_STEP };

	leak_find_place(l, e, &p);
	uint32_t key[] = { p.device, p.op, p.scope, p.python, (uint32_t)p.bytes, (uint32_t)(p.bytes >> 32) };
	uint32_t id = intern(&l->keys, (const char *)key, sizeof key), *block = VEC_ADD(&l->blocks);
	if (id == INTERN_NONE || !block)
		return false;
	*block = number;
	if (id == l->places.n) {
		leak_place *added = VEC_ADD(&l->places);
		if (!added)
			return false;
		*added = p;
	}
	leak_place *at = &l->places.items[id];
	at->n++;
	at->last = step;
	at->n_steps += step >= 0 && step != at->last_counted;
	at->last_counted = step;
	if (step >= 0) {
		d->stays[step] += (uint64_t)e->bytes;
		d->n_stays[step]++;
	}
	return true;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static const rows_rank *rank_with_steps(const rows *r, int32_t rank)
{
	for (size_t i = 0; i < r->n_ranks; i++)
		if (r->ranks[i].rank == rank && r->ranks[i].n_steps)
			return &r->ranks[i];
	return NULL;
}

static bool load_device(leak_sums *l, uint32_t i)
{
	leak_device *d = &l->devices[i];
	const memory_device *of = &l->events.devices.items[i];

	d->rank = rank_with_steps(l->rows, of->rank);
	size_t n_steps = d->rank ? d->rank->n_steps : 0;
	d->stays = calloc(n_steps + 1, sizeof *d->stays);
	d->n_stays = calloc(n_steps + 1, sizeof *d->n_stays);
	return d->stays && d->n_stays &&
	       memory_growth_measure(&d->growth, &l->events, i, d->rank ? d->rank->steps : NULL, n_steps);
}

static bool add_event(leak_sums *l, uint32_t number)
{
	const memory_event *e = &l->events.items.items[number];
	leak_device *d = &l->devices[e->device];
	uint64_t bytes = e->bytes < 0 ? 0 - (uint64_t)e->bytes : (uint64_t)e->bytes;

	d->first = d->first ? d->first : e;
	if (!e->is_chosen)
		return true;
	d->is_seen = true;
	if (e->bytes > 0) {
		d->n_allocs++;
		d->allocated += bytes;
	}
	if (!l->events.devices.items[e->device].has_addresses)
		return true;
	if (e->bytes > 0 && e->is_lost) {
		d->n_lost++;
		d->lost += bytes;
	}
	if ((e->bytes < 0 || e->is_unknown_free) && e->pair == EVENT_NONE) {
		d->n_unknown++;
		d->n_sizeless += e->is_unknown_free;
		d->unknown += bytes;
	}
	if (!event_stays(e))
		return true;
	d->n++;
	d->bytes += bytes;
	return add_block(l, number);
}

bool leak_sums_load(leak_sums *l, const rows *r, const rows_options *chosen)
{
	*l = (leak_sums){ .rows = r };
	if (!op_tree_load(&l->tree, l->rows) || !memory_events_load(&l->events, l->rows, chosen))
		return false;
	l->devices = calloc(l->events.devices.n + 1, sizeof *l->devices);
	bool ok = l->devices;
	for (uint32_t i = 0; ok && i < l->events.devices.n; i++)
		ok = load_device(l, i);
	for (uint32_t i = 0; ok && i < l->events.items.n; i++)
		ok = add_event(l, i);
	return ok;
}

void leak_sums_done(leak_sums *l)
{
	for (size_t i = 0; l->devices && i < l->events.devices.n; i++) {
		free(l->devices[i].stays);
		free(l->devices[i].n_stays);
		memory_growth_done(&l->devices[i].growth);
	}
	free(l->devices);
	VEC_DONE(&l->places);
	VEC_DONE(&l->blocks);
	intern_done(&l->keys);
	memory_events_done(&l->events);
	op_tree_done(&l->tree);
}
