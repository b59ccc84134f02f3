/*
 * See profile.h. Nodes are found by name through an array (list, threads) or by parent and name through a hash (tree).
 * A name that is on the stack already does not add to its total again, so a recursive function's total is the time that
 * was really spent in it.
 */
#include "analyze/tables/profile.h"

#include <math.h>
#include <string.h>
#include "analyze/names/profiler_frame.h"
#include "analyze/tables/step_list.h"
#include "analyze/tables/warmup.h"
#include "base/error.h"
#include "base/parse_units.h"

/* Where the things of a name are; numbers + 1, 0: nowhere. */
typedef struct profile_name {
	uint32_t epoch; /* of the node */
	uint32_t node, phase, counter, layer;
	uint32_t n_open;	/* how often it is on the stack */
	uint32_t n_open_phases; /* and as a phase */
	uint32_t step; /* the name that stands for all that differ by the number of the step; + 1, 0: it is none */
	uint8_t is_layer;
	bool is_frame; /* around the profile, not of the program */
} profile_name;
enum { LAYER_UNKNOWN, LAYER_NONE, LAYER_ONE };
typedef VEC(uint32_t) step_names;

/* ---- What is looked at ------------------------------------------------------------------------------------------- */

profile_options profile_options_from(const sonde_trace *trace, const sonde_analyze_options *o)
{
	profile_options options = {
		.use_steps = o->use_steps,
		.first_step = o->first_step,
		.last_step = o->last_step,
		.n_warmup = warmup_given(o),
		.ranks = o->ranks,
	};

	if (!o->use_time)
		return options;
	int64_t span = trace->end_ns - trace->start_ns;
	/* Nothing begins before the trace does. */
	int64_t from = o->from_ns > 0 ? o->from_ns : 0, to = o->to_ns > 0 ? o->to_ns : 0;
	options.from_ns = trace->start_ns + (from < span ? from : span);
	options.to_ns = to <= span ? trace->start_ns + to : add_bounded(trace->end_ns, 1);
	return options;
}

/* ---- What is no name of its own --------------------------------------------------------------------------------- */

/* "ProfilerStep#5" goes to the first that differs from it by the number alone. Few differ by more. */
static bool join_step(profile *p, uint32_t string, step_names *firsts)
{
	size_t len, other_len;
	const char *text = index_textn(p->trace->index, string, &len);

	len = step_name_length(text, len);
	for (size_t i = 0; i < firsts->n && text[len]; i++) {
		const char *other = index_textn(p->trace->index, firsts->items[i], &other_len);
		if (step_name_length(other, other_len) == len && memcmp(text, other, len) == 0) {
			p->names[string].step = firsts->items[i] + 1;
			return true;
		}
	}
	p->names[string].step = string + 1;
	uint32_t *first = text[len] ? VEC_ADD(firsts) : &string;
	if (first)
		*first = string;
	return first != NULL;
}

static bool join_names(profile *p)
{
	size_t n = 0;
	const index_site *sites = index_sites(p->trace->index, &n);
	size_t n_strings = index_n_strings(p->trace->index);
	step_names firsts = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++) {
		if (sites[i].name >= n_strings) /* of a damaged index */
			continue;
		p->names[sites[i].name].is_frame |= is_profiler_frame(index_text(p->trace->index, sites[i].category));
		if (sites[i].class == CLASS_STEP && !p->names[sites[i].name].step)
			ok = join_step(p, sites[i].name, &firsts);
	}
	VEC_DONE(&firsts);
	return ok;
}

/* The profiler's own row, and a step's copy on a device. */
static bool is_left_out(const profile *p, const trace_site *site)
{
	const profile_name *name = &p->names[site->name];

	return name->is_frame || (name->step && site->kind != NAME_STEP);
}

static uint32_t name_of(const profile *p, const trace_site *site)
{
	return p->names[site->name].step ? p->names[site->name].step - 1 : site->name;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static uint32_t add_node(profile *p, const trace_site *site, uint32_t parent)
{
	profile_node *node = VEC_ADD(&p->nodes);

	if (!node) {
		p->failed = true;
		return PROFILE_NO_NODE;
	}
	node->name = name_of(p, site);
	node->text = trace_text(p->trace, node->name);
	if (p->names[site->name].step)
		node->text = arena_strndup(&p->arena, node->text, step_name_length(node->text, strlen(node->text)));
	p->failed |= !node->text;
	node->category = site->category;
	node->kind = site->kind & 15;
	node->parent = parent;
	return (uint32_t)p->nodes.n - 1;
}

static uint32_t list_node(profile *p, const trace_site *site)
{
	profile_name *name = &p->names[name_of(p, site)];

	if (name->epoch != p->epoch) {
		uint32_t parent = p->options.shape == PROFILE_THREADS ? (uint32_t)(p->thread - p->trace->threads.items)
								      : PROFILE_NO_NODE;
		name->node = add_node(p, site, parent);
		name->epoch = p->epoch;
	}
	return name->node;
}

static size_t slot_of(const profile *p, uint32_t parent, uint32_t name)
{
	uint64_t key = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(key >> 20) & (p->n_slots - 1);
}

static bool grow_slots(profile *p)
{
	size_t n = p->n_slots ? p->n_slots * 2 : 1024;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return false;
	free(p->slots);
	p->slots = slots;
	p->n_slots = n;
	for (size_t i = 0; i < p->nodes.n; i++) {
		size_t slot = slot_of(p, p->nodes.items[i].parent, p->nodes.items[i].name);
		while (slots[slot])
			slot = (slot + 1) & (n - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	return true;
}

static uint32_t tree_node(profile *p, const trace_site *site, uint32_t parent)
{
	if (p->nodes.n * 2 >= p->n_slots && !grow_slots(p)) {
		p->failed = true;
		return PROFILE_NO_NODE;
	}
	uint32_t name = name_of(p, site);
	size_t slot = slot_of(p, parent, name);
	for (; p->slots[slot]; slot = (slot + 1) & (p->n_slots - 1)) {
		const profile_node *node = &p->nodes.items[p->slots[slot] - 1];
		if (node->parent == parent && node->name == name)
			return p->slots[slot] - 1;
	}
	uint32_t node = add_node(p, site, parent);
	if (node != PROFILE_NO_NODE)
		p->slots[slot] = node + 1;
	return node;
}

static uint32_t enter_tree(profile *p, const slice *s)
{
	return tree_node(p, s->site, s->depth ? (uint32_t)(uintptr_t)s->outer : PROFILE_NO_NODE);
}

/* ---- Steps and phases -------------------------------------------------------------------------------------------- */

static void begin_step(profile *p, const slice *s)
{
	uint64_t *open = VEC_ADD(&p->open_steps);
	bool counts = open && profile_in_window(p, s->start_ns);
	profile_step *step = counts ? VEC_ADD(&p->steps) : NULL;

	p->failed |= !open || (counts && !step);
	if (!open)
		return;
	*open = step ? p->steps.n : 0;
	if (step)
		*step = (profile_step){ .number = s->number, .start_ns = s->start_ns };
}

static void end_step(profile *p, const slice *s)
{
	uint64_t index = p->open_steps.n ? p->open_steps.items[--p->open_steps.n] : 0;

	if (!index)
		return;
	p->steps.items[index - 1].dur_ns = s->dur_ns;
	p->steps.items[index - 1].flags = s->flags;
	stats_add(&p->step_stats, s->dur_ns);
	p->step_stats.total_ns = p->step_stats.sum_ns;
}

static void end_phase(profile *p, const slice *s, bool outermost)
{
	profile_name *name = &p->names[s->site->name];
	profile_phase *phase = name->phase ? &p->phases.items[name->phase - 1] : VEC_ADD(&p->phases);

	if (!phase) {
		p->failed = true;
		return;
	}
	size_t i = (size_t)(phase - p->phases.items);
	name->phase = (uint32_t)i + 1;
	phase->name = s->site->name;
	stats_add(&phase->stats, s->dur_ns);
	phase->stats.self_ns = add_bounded(phase->stats.self_ns, s->dur_ns - s->child_ns);
	if (!outermost) /* of a function that calls itself */
		return;
	phase->stats.total_ns = add_bounded(phase->stats.total_ns, s->dur_ns);
	uint64_t index = p->open_steps.n ? p->open_steps.items[p->open_steps.n - 1] : 0;
	if (index)
		phase->in_steps_ns = add_bounded(phase->in_steps_ns, s->dur_ns);
	if (index && i < PROFILE_PHASES) {
		int64_t *sum = &p->steps.items[index - 1].phase_ns[i];
		*sum = add_bounded(*sum, s->dur_ns);
	}
}

/* ---- The sink ---------------------------------------------------------------------------------------------------- */

static void on_thread(void *context, const trace_thread *thread)
{
	profile *p = context;

	size_t number = (size_t)(thread - p->trace->threads.items);
	int32_t rank = rank_of_track(p->trace, number);

	p->thread = thread;
	p->skips = p->options.ranks && !number_list_has(p->options.ranks, rank);
	profile_enter_rank(p, rank);
	profile_activity_thread(p, number);
	p->thread_steps = p->steps.n;
	p->open_steps.n = 0;
	if (p->options.shape == PROFILE_THREADS)
		p->epoch++;
}

static void on_begin(void *context, slice *s, const struct event *e)
{
	profile *p = context;

	(void)e;
	uint32_t node = is_left_out(p, s->site)		   ? PROFILE_NO_NODE
			: p->options.shape == PROFILE_TREE ? enter_tree(p, s)
							   : list_node(p, s->site);
	s->user = (void *)(uintptr_t)node;
	profile_activity_begin(p, s);
	if (!(s->flags & SLICE_ASYNC))
		p->names[s->site->name].n_open++;
	if (s->site->kind == NAME_PHASE)
		p->names[s->site->name].n_open_phases++;
	if (s->site->kind == NAME_STEP)
		begin_step(p, s);
}

static void add_slice_memory(profile_work *work, const slice *s)
{
	slice_memory *m = &work->memory;

	work->is_memory_unknown |= (s->flags & SLICE_MEMORY_UNKNOWN) != 0;
	m->allocated_bytes = memory_sum(m->allocated_bytes, s->memory.allocated_bytes);
	m->freed_bytes = memory_sum(m->freed_bytes, s->memory.freed_bytes);
	m->peak_bytes = s->memory.peak_bytes > m->peak_bytes ? s->memory.peak_bytes : m->peak_bytes;
}

/* outermost: no call of the same name is around it, which has its memory as well. */
static void add_work(profile *p, profile_node *node, const slice *s, bool outermost)
{
	enum { MOST = (1 << 27) - 1 };
	profile_work *work = node->work		 ? &p->works.items[node->work - 1]
			     : p->works.n < MOST ? VEC_ADD(&p->works)
						 : NULL;

	if (!work) {
		p->failed = true;
		return;
	}
	node->work = ((uint32_t)(work - p->works.items) + 1) & MOST;
	work->flops += s->flops;
	work->bytes += s->bytes;
	if (outermost)
		add_slice_memory(work, s);
}

profile_work profile_work_of(const profile *p, const profile_node *node)
{
	return node->work ? p->works.items[node->work - 1] : (profile_work){ 0 };
}

static void add_slice(profile *p, const slice *s, uint32_t index, bool outermost)
{
	profile_node *node = &p->nodes.items[index];
	int64_t ns = profile_within(p, s->start_ns, s->dur_ns), self_ns = s->dur_ns - s->child_ns;

	if (node->category != s->site->category)
		node->mixed = true;
	stats_add(&node->stats, ns);
	if (outermost)
		node->stats.total_ns = add_bounded(node->stats.total_ns, ns);
	if (self_ns > 0) /* children of the warm-up are in child_ns */
		node->stats.self_ns = add_bounded(node->stats.self_ns, self_ns < ns ? self_ns : ns);
	if (s->flops != 0 || s->bytes != 0 || s->memory.allocated_bytes || s->memory.freed_bytes ||
	    s->flags & SLICE_MEMORY_UNKNOWN)
		add_work(p, node, s, outermost);
}

static void on_end(void *context, slice *s)
{
	profile *p = context;
	uint32_t node = (uint32_t)(uintptr_t)s->user;
	profile_name *name = &p->names[s->site->name];
	bool outermost = s->flags & SLICE_ASYNC || --name->n_open == 0;
	bool outermost_phase = s->site->kind == NAME_PHASE && --name->n_open_phases == 0;

	profile_activity_end(p, s);
	if (s->site->kind == NAME_STEP)
		end_step(p, s);
	if (node == PROFILE_NO_NODE || !profile_in_window(p, s->start_ns))
		return;
	add_slice(p, s, node, outermost || p->options.shape == PROFILE_TREE);
	if (s->site->kind == NAME_PHASE)
		end_phase(p, s, outermost_phase);
	if (name->is_layer == LAYER_UNKNOWN)
		name->is_layer = profile_is_layer(p, s->site) ? LAYER_ONE : LAYER_NONE;
	if (name->is_layer == LAYER_ONE)
		profile_add_layer(p, s, &name->layer);
}

/* What `sonde record` saw of the processes; an index has it as counters: import/recording/feed.c. */
static bool is_sample(const profile *p, const trace_site *site)
{
	return p->trace->is_recorded && strcmp(trace_text(p->trace, site->category), "process") == 0;
}

static void on_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	profile *p = context;
	profile_name *name = &p->names[site->name];

	if (!profile_in_window_or_warmup(p, time_ns) || is_sample(p, site))
		return;
	profile_counter *c = name->counter ? &p->counters.items[name->counter - 1] : VEC_ADD(&p->counters);
	if (!c) {
		p->failed = true;
		return;
	}
	name->counter = (uint32_t)(c - p->counters.items) + 1;
	if (!c->n || time_ns < c->first_ns)
		c->first = value, c->first_ns = time_ns;
	if (!c->n || time_ns >= c->last_ns)
		c->last = value, c->last_ns = time_ns;
	c->min = !c->n || isnan(c->min) || value < c->min ? value : c->min; /* of what is a number */
	c->max = !c->n || isnan(c->max) || value > c->max ? value : c->max;
	c->name = site->name;
	c->n++;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool prepare(profile *p)
{
	size_t n_strings = index_n_strings(p->trace->index) + 1;

	p->names = calloc(n_strings, sizeof *p->names);
	p->epoch = 1;
	return p->names && join_names(p) && profile_activity_prepare(p);
}

static int compare_steps(const void *a, const void *b)
{
	const profile_step *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* What was there for the walk only; a result may keep the rest. */
static void end_walk(profile *p)
{
	free(p->names);
	p->names = NULL;
	free(p->slots);
	p->slots = NULL;
	VEC_DONE(&p->open_steps);
	profile_activity_done(p);
}

static void finish(profile *p)
{
	end_walk(p);
	if (p->steps.n)
		qsort(p->steps.items, p->steps.n, sizeof p->steps.items[0], compare_steps);
	stats_finish(&p->step_stats);
	for (size_t i = 0; i < p->nodes.n; i++)
		stats_finish(&p->nodes.items[i].stats);
	for (size_t i = 0; i < p->phases.n; i++)
		stats_finish(&p->phases.items[i].stats);
	for (size_t i = 0; i < p->layers.n; i++)
		stats_finish(&p->layers.items[i]->stats);
}

sonde_status profile_new(const sonde_trace *trace, const profile_options *options, profile **ret_profile,
			 sonde_error *err)
{
	profile *p = calloc(1, sizeof *p);
	const walk_sink sink = {
		.context = p,
		.thread = on_thread,
		.begin = on_begin,
		.end = on_end,
		.counter = on_counter,
		.memory = profile_add_memory,
		.snapshot = profile_add_snapshot,
	};

	if (!p)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	p->trace = trace;
	p->options = *options;
	p->start_ns = trace->start_ns;
	p->end_ns = trace->end_ns;
	sonde_status status =
		prepare(p) ? profile_find_windows(p, err) : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && !p->failed)
		status = trace_walk(trace, &sink, &p->counts, err);
	p->failed |= !status && !p->failed && !profile_activity_finish(p);
	if (!status && p->failed)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (status) {
		profile_free(p);
		return status;
	}
	finish(p);
	*ret_profile = p;
	return SONDE_OK;
}

void profile_free(profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nodes.n; i++)
		stats_done(&p->nodes.items[i].stats);
	for (size_t i = 0; i < p->phases.n; i++)
		stats_done(&p->phases.items[i].stats);
	for (size_t i = 0; i < p->memory.n; i++)
		free(p->memory.items[i]);
	stats_done(&p->step_stats);
	for (size_t i = 0; i < p->layers.n; i++) {
		stats_done(&p->layers.items[i]->stats);
		free(p->layers.items[i]);
	}
	end_walk(p);
	VEC_DONE(&p->layers);
	VEC_DONE(&p->nodes);
	VEC_DONE(&p->works);
	VEC_DONE(&p->steps);
	VEC_DONE(&p->phases);
	VEC_DONE(&p->memory);
	VEC_DONE(&p->snapshots);
	VEC_DONE(&p->counters);
	VEC_DONE(&p->windows);
	VEC_DONE(&p->known_steps);
	arena_done(&p->arena);
	free(p);
}
