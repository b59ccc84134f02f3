/*
 * The tree of what the host called, with the device time of what each call launched, calls of the same path together.
 *
 *   call_tree    by path; children by device time; paths below call_tree.share of all device time are left out
 *   call_names   by name; time counts once where a name is inside itself, by HTA's rules each time
 *   call_depths  how many calls at which depth; by HTA's rules only
 *
 * Device time is the sum of durations: what overlaps counts twice, as in the tables of kernels.
 */
#include "analyze/tables/calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/intern.h"

static const setting_def share_setting = { "call_tree.share", SETTING_SHARE, "1%",
					   "paths with less of the device time are left out" };

static const column tree_columns[] = {
	{ "name", "call", CELL_STRING, 0, false },	  { "rank", "rank", CELL_INTEGER, 1, false },
	{ "calls", "calls", CELL_COUNT, 0, false },	  { "host_ns", "host", CELL_NS, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false }, { "kernel_ns", "device", CELL_NS, 0, false },
	{ "direct_ns", "of its own", CELL_NS, 1, false }, { "percent", "%", CELL_PERCENT, 0, true },
};
static const column name_columns[] = {
	{ "name", "call", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },
	{ "calls", "calls", CELL_COUNT, 0, false },
	{ "host_ns", "host", CELL_NS, 0, false },
	{ "n_launching", "launching", CELL_COUNT, 2, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false },
	{ "kernel_ns", "device", CELL_NS, 0, false },
	{ "span_ns", "device span", CELL_NS, 1, false },
};
static const column depth_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	  { "depth", "depth", CELL_INTEGER, 0, false },
	{ "calls", "calls", CELL_COUNT, 0, false },	  { "height", "height", CELL_COUNT, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false }, { "direct_ns", "of their own", CELL_NS, 0, false },
};

/* Calls of one path or name. */
typedef struct group {
	uint32_t name;
	uint32_t parent, first_child, next; /* of a path */
	uint64_t calls, n_launching, n_kernels;
	int64_t host, device, direct, span; /* ticks */
} group;
typedef VEC(group) groups;

/* What a call and all inside it launched. */
typedef struct launched {
	int64_t first, last; /* from the first start to the last end */
	int64_t device;
	uint16_t height; /* 1: nothing is inside */
} launched;

/* From the back: what is inside a call comes behind it. */
static launched *sum_up(const calls_rank *k)
{
	launched *sums = malloc((k->n + 1) * sizeof *sums);

	for (uint32_t i = 0; sums && i < k->n; i++)
		sums[i] = (launched){ INT64_MAX, INT64_MIN, 0, 1 };
	for (uint32_t i = (uint32_t)k->n; sums && i-- > 0;) {
		launched *s = &sums[i];
		call_span own = call_direct(k, i);
		for (size_t j = 0; j < own.n; j++) {
			int64_t start = own.items[j].start, end = start + own.items[j].dur;
			s->first = start < s->first ? start : s->first;
			s->last = end > s->last ? end : s->last;
			s->device = add_bounded(s->device, own.items[j].dur);
		}
		launched *up = k->items[i].parent == CALL_NONE ? NULL : &sums[k->items[i].parent];
		if (!up)
			continue;
		up->first = s->first < up->first ? s->first : up->first;
		up->last = s->last > up->last ? s->last : up->last;
		up->device = add_bounded(up->device, s->device);
		up->height = s->height < UINT16_MAX && s->height >= up->height ? (uint16_t)(s->height + 1) : up->height;
	}
	return sums;
}

static void add_call(group *g, const calls_rank *k, const launched *sums, uint32_t at)
{
	call_span all = call_subtree(k, at), own = call_direct(k, at);

	g->host = add_bounded(g->host, k->items[at].dur);
	g->n_launching += all.n != 0;
	g->n_kernels += all.n;
	g->device = add_bounded(g->device, sums[at].device);
	g->span = add_bounded(g->span, all.n ? sums[at].last - sums[at].first : 0);
	for (size_t i = 0; i < own.n; i++)
		g->direct = add_bounded(g->direct, own.items[i].dur);
}

/* ---- By path ------------------------------------------------------------------------------------------------------
 */

typedef struct builder {
	const calls *c;
	const calls_rank *k;
	const launched *sums;
	sonde_result *r;
	table *t;
	groups found; /* the first one is around everything */
	double share;
} builder;

static uint32_t name_of(const builder *b, uint32_t at)
{
	return b->c->w->rows.sites[b->k->items[at].site].name;
}

static bool group_paths(builder *b)
{
	uint32_t *group_of = malloc((b->k->n + 1) * sizeof *group_of);
	intern_table paths = { 0 };
	bool ok = group_of && VEC_ADD(&b->found);

	for (uint32_t i = 0; ok && i < b->k->n; i++) {
		uint32_t parent = b->k->items[i].parent;
		uint32_t path[] = { parent == CALL_NONE ? 0 : group_of[parent], name_of(b, i) };
		uint32_t number = intern_words(&paths, path, 2);
		ok = number != INTERN_NONE;
		group_of[i] = number + 1;
		group *g = !ok ? NULL : number + 1 < b->found.n ? &b->found.items[number + 1] : VEC_ADD(&b->found);
		ok = g != NULL;
		if (!ok)
			break;
		g->name = path[1];
		g->parent = path[0];
		g->calls++;
		add_call(g, b->k, b->sums, i);
	}
	intern_done(&paths);
	free(group_of);
	return ok;
}

typedef struct ranked {
	int64_t device, host;
	uint32_t group;
} ranked;

/* The least first: each becomes the first child of its parent, before those that are there. */
static int by_device(const void *a, const void *b)
{
	const ranked *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->group > y->group ? -1 : x->group < y->group;
}

static bool order_children(builder *b)
{
	ranked *order = malloc((b->found.n + 1) * sizeof *order);

	for (size_t i = 0; order && i < b->found.n; i++)
		order[i] = (ranked){ b->found.items[i].device, b->found.items[i].host, (uint32_t)i };
	if (order && b->found.n)
		qsort(order, b->found.n, sizeof *order, by_device);
	for (size_t i = 0; order && i < b->found.n; i++) {
		uint32_t at = order[i].group;
		if (!at)
			continue;
		group *parent = &b->found.items[b->found.items[at].parent];
		b->found.items[at].next = parent->first_child;
		parent->first_child = at;
	}
	free(order);
	return order != NULL;
}

static void put_path(builder *b, const group *g, unsigned depth, int64_t device)
{
	cell *c = table_row(b->r, b->t, depth);

	c[0] = cell_string(result_string(b->r, index_text(b->c->w->rows.ix, g->name)));
	c[1] = cell_integer(b->k->rank);
	c[2] = cell_count(g->calls);
	c[3] = work_cell(b->c->w, g->host);
	c[4] = cell_count(g->n_kernels);
	c[5] = work_cell(b->c->w, g->device);
	c[6] = work_cell(b->c->w, g->direct);
	c[7] = device ? cell_percent(100 * (double)g->device / (double)device) : cell_unknown();
}

/* Down, on, or up, as in a book; what is below the share is left out with all inside it. */
static size_t put_paths(builder *b)
{
	int64_t device = 0;
	unsigned depth = 0;
	size_t n_left_out = 0;

	for (size_t i = 0; i < b->k->n_kernels; i++)
		device = add_bounded(device, b->k->kernels[i].dur);
	uint32_t at = b->found.items[0].first_child;
	while (at) {
		const group *g = &b->found.items[at];
		bool shows = (double)g->device >= b->share * (double)device && (g->device || !b->share);
		if (shows)
			put_path(b, g, depth, device);
		else
			n_left_out++;
		if (shows && g->first_child) {
			at = g->first_child;
			depth++;
			continue;
		}
		while (at && !b->found.items[at].next) {
			at = b->found.items[at].parent;
			depth -= depth > 0;
		}
		at = b->found.items[at].next;
	}
	return n_left_out;
}

/* ---- By name ------------------------------------------------------------------------------------------------------
 */

static int by_device_and_host(const void *a, const void *b)
{
	const group *x = a, *y = b;

	if (x->device != y->device)
		return x->device > y->device ? -1 : 1;
	if (x->host != y->host)
		return x->host > y->host ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

typedef struct name_state {
	uint32_t group;	 /* + 1 */
	uint32_t inside; /* the end of the outermost call of the name so far, in pre-order */
} name_state;

static group *name_group(builder *b, name_state *names, size_t n_names, uint32_t site, name_state **ret_state)
{
	uint32_t name = b->c->w->rows.sites[site].name;
	name_state *state = &names[name < n_names ? name : n_names];
	group *g = state->group ? &b->found.items[state->group - 1] : VEC_ADD(&b->found);

	if (!g)
		return NULL;
	state->group = (uint32_t)(g - b->found.items) + 1;
	g->name = name;
	g->calls++;
	*ret_state = state;
	return g;
}

static bool group_names(builder *b)
{
	size_t n_names = index_n_strings(b->c->w->rows.ix);
	name_state *names = calloc(n_names + 1, sizeof *names), *state;
	bool ok = names != NULL;

	b->found.n = 0;
	for (uint32_t i = 0; ok && i < b->k->n; i++) {
		group *g = name_group(b, names, n_names, b->k->items[i].site, &state);
		ok = g != NULL;
		if (ok && (b->c->w->is_hta || i >= state->inside)) {
			add_call(g, b->k, b->sums, i);
			state->inside = b->k->items[i].end;
		}
	}
	for (size_t i = 0; ok && b->c->w->is_hta && i < b->k->n_others; i++) {
		group *g = name_group(b, names, n_names, b->k->others[i].site, &state);
		ok = g != NULL;
		if (ok)
			g->host = add_bounded(g->host, b->k->others[i].dur);
	}
	if (ok && b->found.n)
		qsort(b->found.items, b->found.n, sizeof *b->found.items, by_device_and_host);
	free(names);
	return ok;
}

static void put_names(builder *b, table *t)
{
	for (size_t i = 0; i < b->found.n; i++) {
		const group *g = &b->found.items[i];
		cell *c = table_row(b->r, t, 0);
		c[0] = cell_string(result_string(b->r, index_text(b->c->w->rows.ix, g->name)));
		c[1] = cell_integer(b->k->rank);
		c[2] = cell_count(g->calls);
		c[3] = work_cell(b->c->w, g->host);
		c[4] = cell_count(g->n_launching);
		c[5] = cell_count(g->n_kernels);
		c[6] = work_cell(b->c->w, g->device);
		c[7] = work_cell(b->c->w, g->span);
	}
}

/* ---- By depth, for HTA --------------------------------------------------------------------------------------------
 */

typedef struct depth_sum {
	uint64_t n, n_kernels;
	int64_t direct;
	uint16_t height;
} depth_sum;

static bool put_depths(builder *b, table *t)
{
	depth_sum *sums = calloc(b->k->n + 2, sizeof *sums);

	if (!sums)
		return false;
	sums[0].n = b->k->n_others;
	for (size_t i = 0; i < b->k->n; i++) {
		depth_sum *s = &sums[b->k->items[i].depth + 1];
		call_span own = call_direct(b->k, (uint32_t)i);
		s->n++;
		s->n_kernels += own.n;
		for (size_t j = 0; j < own.n; j++)
			s->direct = add_bounded(s->direct, own.items[j].dur);
		s->height = b->sums[i].height > s->height ? b->sums[i].height : s->height;
	}
	for (size_t i = 0; i < b->k->n + 1; i++) {
		if (!sums[i].n)
			continue;
		cell *c = table_row(b->r, t, 0);
		c[0] = cell_integer(b->k->rank);
		c[1] = cell_integer((int64_t)i - 1);
		c[2] = cell_count(sums[i].n);
		c[3] = cell_count(sums[i].height);
		c[4] = cell_count(sums[i].n_kernels);
		c[5] = work_cell(b->c->w, sums[i].direct);
	}
	free(sums);
	return true;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *tree = result_table(r, "call_tree", "Calls, and the device time of what they launched", tree_columns,
				   sizeof tree_columns / sizeof tree_columns[0]);
	table *names = result_table(r, "call_names", "The same by name", name_columns,
				    sizeof name_columns / sizeof name_columns[0]);
	table *depths = w->is_hta ? result_table(r, "call_depths", "Calls by depth", depth_columns,
						 sizeof depth_columns / sizeof depth_columns[0])
				  : NULL;
	const calls *c = calls_of(w, options);
	builder b = { .c = c, .r = r, .share = setting(options, &share_setting) };
	size_t n_left_out = 0;
	bool ok = c != NULL;

	for (size_t i = 0; ok && i < c->n_ranks; i++) {
		launched *sums = sum_up(&c->ranks[i]);
		b.k = &c->ranks[i];
		b.sums = sums;
		b.t = tree;
		b.found.n = 0;
		ok = sums && group_paths(&b) && order_children(&b);
		n_left_out += ok ? put_paths(&b) : 0;
		ok = ok && group_names(&b);
		if (ok)
			put_names(&b, names);
		ok = ok && (!w->is_hta || put_depths(&b, depths));
		free(sums);
	}
	limit_rows(r, names, options, "names");
	if (tree && n_left_out)
		tree->more = result_format(r, "%zu more paths: --set call_tree.share=0%%", n_left_out);
	if (ok)
		calls_say_coverage(c, r, "call_tree");
	VEC_DONE(&b.found);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis call_tree_work = { .add = add };

static const setting_def *settings(size_t index)
{
	return index ? NULL : &share_setting;
}

const analysis call_tree_analysis = {
	.name = "call_tree",
	.summary = "What the host called, as a tree, with the device time of what each call launched",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &call_tree_work,
};
