/*
 * The tree of what the host called, with the device time of what each call launched, calls of the same path together.
 *
 *   call_tree    by path; children by device time; paths below call_tree.share of all device time are left out
 *   call_names   by name; time counts once where a name is inside itself, by HTA's rules each time
 *   call_depths  how many calls at which depth; by HTA's rules only
 *
 * Device time is the sum of durations: what overlaps counts twice, as in the tables of kernels.
 *
 * A long trace has millions of paths, because each step has a name of its own, and few that are not left out. Of many
 * calls a first pass adds up device time by the hash of the path: where that is too little, so is the path's. A second
 * one keeps the paths that may be shown and those right below them, which are counted.
 */
#include "analyze/tables/calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/intern.h"

static const setting_def share_setting = { "call_tree.share", SETTING_SHARE, "1%",
					   "minimum share of the device time of a path" };

static const column tree_columns[] = {
	{ "name", "call", CELL_STRING, 0, false },	  { "rank", "rank", CELL_INTEGER, 1, false },
	{ "calls", "calls", CELL_COUNT, 0, false },	  { "host_ns", "host", CELL_NS, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false }, { "kernel_ns", "device", CELL_NS, 0, false },
	{ "direct_ns", "own", CELL_NS, 1, false },	  { "percent", "%", CELL_PERCENT, 0, true },
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
	{ "n_kernels", "kernels", CELL_COUNT, 0, false }, { "direct_ns", "own", CELL_NS, 0, false },
};

/* Calls of one path or name. */
typedef struct group {
	uint32_t name;
	uint32_t parent, first_child, next; /* of a path */
	uint64_t calls, n_launching, n_kernels;
	int64_t host, device, direct, span; /* ticks */
} group;
typedef VEC(group) groups;

/* ---- Sums ---------------------------------------------------------------------------------------------------------
 */

typedef struct name_state {
	uint32_t group;	 /* + 1 */
	uint32_t inside; /* the end of the outermost call of the name so far, in pre-order */
} name_state;

/* By HTA's rules. */
typedef struct depth_sum {
	uint64_t n, n_kernels;
	int64_t direct;
	uint16_t height;
} depth_sum;

/* Of one rank. */
typedef struct builder {
	const work *w;
	sonde_result *r;
	int32_t rank;
	intern_table path_keys;
	groups paths; /* the first one is around everything */
	groups names;
	name_state *states; /* by name, and one more */
	size_t n_names;
	VEC(depth_sum) depths; /* by depth + 1 */
	int64_t device;	       /* of all calls, ticks */
	double share;
	int64_t *buckets; /* ticks by hash of the path; NULL: all paths are kept */
	double least;	  /* a bucket with less has no path that is shown */
	bool failed;
} builder;

enum { FEW_CALLS = 1 << 20, N_BUCKETS = 1 << 20 };
#define NO_PATH UINT32_MAX

static void add_call(group *g, const walked_call *one)
{
	g->host = add_bounded(g->host, one->dur);
	g->n_launching += one->n_kernels != 0;
	g->n_kernels += one->n_kernels;
	g->device = add_bounded(g->device, one->device);
	g->span = add_bounded(g->span, one->n_kernels ? one->last - one->first : 0);
	g->direct = add_bounded(g->direct, one->direct);
}

/* The calls of the path; NULL when out of memory. */
static group *path_group(builder *b, uint32_t parent, uint32_t name, uint32_t *ret_number)
{
	uint32_t path[] = { parent, name };
	uint32_t number = intern_words(&b->path_keys, path, 2);

	if (number == INTERN_NONE)
		return NULL;
	*ret_number = number + 1;
	group *g = number + 1 < b->paths.n ? &b->paths.items[number + 1] : VEC_ADD(&b->paths);
	if (g) {
		g->name = name;
		g->parent = parent;
	}
	return g;
}

static group *name_group(builder *b, uint32_t name, name_state **ret_state)
{
	name_state *state = &b->states[name < b->n_names ? name : b->n_names];
	group *g = state->group ? &b->names.items[state->group - 1] : VEC_ADD(&b->names);

	if (!g)
		return NULL;
	state->group = (uint32_t)(g - b->names.items) + 1;
	g->name = name;
	g->calls++;
	*ret_state = state;
	return g;
}

static uint64_t path_hash(const walked_call *around, uint32_t name)
{
	uint64_t mixed = ((around ? around->hash : 0) ^ name) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed ^ mixed >> 29;
}

static bool is_kept(const builder *b, const walked_call *around)
{
	if (!around || !b->buckets)
		return true;
	int64_t device = b->buckets[around->hash % N_BUCKETS];
	return around->group != NO_PATH && device && (double)device >= b->least;
}

/* Groups are numbered in the order in which calls begin. */
static bool begin_call(void *context, walked_call *one, const walked_call *around)
{
	builder *b = context;
	uint32_t name = b->w->rows.sites[one->site].name;
	name_state *state;

	one->hash = b->buckets ? path_hash(around, name) : 0;
	one->group = NO_PATH;
	if (is_kept(b, around)) {
		group *g = path_group(b, around ? around->group : 0, name, &one->group);
		if (!g)
			return false;
		g->calls++;
	}
	if (!name_group(b, name, &state))
		return false;
	one->is_counted = b->w->is_hta || one->at >= state->inside;
	if (one->is_counted)
		state->inside = one->end;
	return true;
}

static void add_depth(builder *b, const walked_call *one)
{
	while (!b->failed && b->depths.n < (size_t)one->depth + 2)
		b->failed = !VEC_ADD(&b->depths);
	if (b->failed)
		return;
	depth_sum *s = &b->depths.items[one->depth + 1];
	s->n++;
	s->n_kernels += one->n_direct;
	s->direct = add_bounded(s->direct, one->direct);
	s->height = one->height > s->height ? one->height : s->height;
}

static void end_call(void *context, const walked_call *one)
{
	builder *b = context;
	uint32_t name = b->w->rows.sites[one->site].name;

	if (one->group != NO_PATH)
		add_call(&b->paths.items[one->group], one);
	if (one->is_counted)
		add_call(&b->names.items[b->states[name < b->n_names ? name : b->n_names].group - 1], one);
	if (!one->depth)
		b->device = add_bounded(b->device, one->device);
	if (b->w->is_hta)
		add_depth(b, one);
}

static bool begin_hash(void *context, walked_call *one, const walked_call *around)
{
	const builder *b = context;

	one->hash = path_hash(around, b->w->rows.sites[one->site].name);
	return true;
}

static void end_hash(void *context, const walked_call *one)
{
	builder *b = context;
	int64_t *bucket = &b->buckets[one->hash % N_BUCKETS];

	if (!one->device)
		return;
	*bucket = add_bounded(*bucket, one->device);
	if (!one->depth)
		b->device = add_bounded(b->device, one->device);
}

/* Which paths cannot be shown, for begin_call(). False when out of memory. */
static bool look_ahead(builder *b, calls_parts *parts)
{
	calls_visitor visitor = { begin_hash, end_hash, b };
	size_t n_kernels = parts->n_kernels;

	b->buckets = calloc(N_BUCKETS, sizeof *b->buckets);
	if (!b->buckets || (parts->n_launched && !calls_walk(parts, b->rank, &visitor)))
		return false;
	b->least = b->share * (double)b->device;
	b->device = 0;
	parts->n_kernels = n_kernels;
	return true;
}

/* Rows that HTA has no place for are calls of their names nevertheless. */
static bool add_others(builder *b, const calls_rank *k)
{
	name_state *state;

	for (size_t i = 0; i < k->n_others; i++) {
		group *g = name_group(b, b->w->rows.sites[k->others[i].site].name, &state);
		if (!g)
			return false;
		g->host = add_bounded(g->host, k->others[i].dur);
	}
	while (!b->depths.n)
		if (!VEC_ADD(&b->depths))
			return false;
	b->depths.items[0].n = k->n_others;
	return true;
}

static void builder_done(builder *b)
{
	intern_done(&b->path_keys);
	VEC_DONE(&b->paths);
	VEC_DONE(&b->names);
	VEC_DONE(&b->depths);
	free(b->states);
	free(b->buckets);
}

/* ---- By path ------------------------------------------------------------------------------------------------------
 */

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
	ranked *order = malloc((b->paths.n + 1) * sizeof *order);

	for (size_t i = 0; order && i < b->paths.n; i++)
		order[i] = (ranked){ b->paths.items[i].device, b->paths.items[i].host, (uint32_t)i };
	if (order && b->paths.n)
		qsort(order, b->paths.n, sizeof *order, by_device);
	for (size_t i = 0; order && i < b->paths.n; i++) {
		uint32_t at = order[i].group;
		if (!at)
			continue;
		group *parent = &b->paths.items[b->paths.items[at].parent];
		b->paths.items[at].next = parent->first_child;
		parent->first_child = at;
	}
	free(order);
	return order != NULL;
}

static void put_path(const builder *b, const group *g, unsigned depth, table *t)
{
	cell *c = table_row(b->r, t, depth);

	c[0] = cell_string(result_string(b->r, index_text(b->w->rows.ix, g->name)));
	c[1] = cell_integer(b->rank);
	c[2] = cell_count(g->calls);
	c[3] = work_cell(b->w, g->host);
	c[4] = cell_count(g->n_kernels);
	c[5] = work_cell(b->w, g->device);
	c[6] = work_cell(b->w, g->direct);
	c[7] = b->device ? cell_percent(100 * (double)g->device / (double)b->device) : cell_unknown();
}

/* Down, on, or up, as in a book; what is below the share is left out with all inside it. */
static size_t put_paths(const builder *b, table *t)
{
	const group *paths = b->paths.items;
	unsigned depth = 0;
	size_t n_left_out = 0;
	uint32_t at = paths[0].first_child;

	while (at) {
		const group *g = &paths[at];
		bool shows = (double)g->device >= b->share * (double)b->device && (g->device || !b->share);
		if (shows)
			put_path(b, g, depth, t);
		else
			n_left_out++;
		if (shows && g->first_child) {
			at = g->first_child;
			depth++;
			continue;
		}
		while (at && !paths[at].next) {
			at = paths[at].parent;
			depth -= depth > 0;
		}
		at = paths[at].next;
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

static void put_names(builder *b, table *t)
{
	if (b->names.n)
		qsort(b->names.items, b->names.n, sizeof *b->names.items, by_device_and_host);
	for (size_t i = 0; i < b->names.n; i++) {
		const group *g = &b->names.items[i];
		cell *c = table_row(b->r, t, 0);
		c[0] = cell_string(result_string(b->r, index_text(b->w->rows.ix, g->name)));
		c[1] = cell_integer(b->rank);
		c[2] = cell_count(g->calls);
		c[3] = work_cell(b->w, g->host);
		c[4] = cell_count(g->n_launching);
		c[5] = cell_count(g->n_kernels);
		c[6] = work_cell(b->w, g->device);
		c[7] = work_cell(b->w, g->span);
	}
}

/* ---- By depth, for HTA --------------------------------------------------------------------------------------------
 */

static void put_depths(const builder *b, table *t)
{
	for (size_t i = 0; i < b->depths.n; i++) {
		const depth_sum *s = &b->depths.items[i];
		if (!s->n)
			continue;
		cell *c = table_row(b->r, t, 0);
		c[0] = cell_integer(b->rank);
		c[1] = cell_integer((int64_t)i - 1);
		c[2] = cell_count(s->n);
		c[3] = cell_count(s->height);
		c[4] = cell_count(s->n_kernels);
		c[5] = work_cell(b->w, s->direct);
	}
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

typedef struct call_tables {
	table *tree, *names, *depths;
	size_t n_left_out;
} call_tables;

/* parts: by our rules; k: by HTA's. */
static bool add_rank(builder *b, calls_parts *parts, const calls_rank *k, call_tables *to)
{
	calls_visitor visitor = { begin_call, end_call, b };

	b->n_names = index_n_strings(b->w->rows.ix);
	b->states = calloc(b->n_names + 1, sizeof *b->states);
	bool is_long = !k && b->share > 0 && b->w->rows.n > FEW_CALLS;
	bool ok = b->states && VEC_ADD(&b->paths) && (!is_long || look_ahead(b, parts)) &&
		  (k ? calls_walk_rank(k, &visitor) && add_others(b, k) : calls_walk(parts, b->rank, &visitor));
	if (!ok || b->failed || !order_children(b))
		return false;
	to->n_left_out += put_paths(b, to->tree);
	put_names(b, to->names);
	put_depths(b, to->depths);
	return true;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	call_tables to = {
		.tree = result_table(r, "call_tree", "Calls and the device time they launched", tree_columns,
				     sizeof tree_columns / sizeof tree_columns[0]),
		.names = result_table(r, "call_names", "Calls by name", name_columns,
				      sizeof name_columns / sizeof name_columns[0]),
		.depths = w->is_hta ? result_table(r, "call_depths", "Calls by depth", depth_columns,
						   sizeof depth_columns / sizeof depth_columns[0])
				    : NULL,
	};
	calls_parts parts = { 0 };
	const calls *c = w->is_hta ? calls_of(w, options) : NULL;
	bool ok = w->is_hta ? c != NULL : calls_parts_init(&parts, w);

	for (size_t i = 0; ok && i < (c ? c->n_ranks : w->n_ranks); i++) {
		const calls_rank *k = c ? &c->ranks[i] : NULL;
		builder b = { .w = w,
			      .r = r,
			      .rank = k ? k->rank : w->ranks[i].rank,
			      .share = setting(options, &share_setting) };
		ok = add_rank(&b, &parts, k, &to);
		builder_done(&b);
	}
	limit_rows(r, to.names, options, "names");
	if (to.tree && to.n_left_out)
		to.tree->more = result_format(r, "%zu more paths: --set call_tree.share=0%%", to.n_left_out);
	if (ok && !c)
		calls_parts_say_coverage(&parts, r, "call_tree");
	calls_parts_done(&parts);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis call_tree_work = { .add = add };

static const setting_def *settings(size_t index)
{
	return index ? NULL : &share_setting;
}

const analysis call_tree_analysis = {
	.name = "call_tree",
	.summary = "Host calls as a tree, with the device time they launched",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &call_tree_work,
};
