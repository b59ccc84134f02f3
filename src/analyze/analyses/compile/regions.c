/* See analyses/compile/regions.h. */
#include "analyze/analyses/compile/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "analyze/tables/work.h"

static const column region_columns[] = {
	{ "name", "region", CELL_STRING, 0, false },	 { "compile_id", "id", CELL_STRING, 0, false },
	{ "calls", "calls", CELL_COUNT, 0, false },	 { "host_ns", "host", CELL_NS, 0, false },
	{ "own_ns", "own", CELL_NS, 1, false },		 { "first_ns", "first", CELL_NS, 0, false },
	{ "median_ns", "later", CELL_NS, 0, false },	 { "n_runs", "runs", CELL_COUNT, 0, false },
	{ "run_ns", "compiling", CELL_NS, 0, false },	 { "device_ns", "device", CELL_NS, 1, false },
	{ "n_device", "kernels", CELL_COUNT, 3, false }, { "rank", "rank", CELL_INTEGER, 4, false },
	{ "kind", "kind", CELL_STRING, 2, false },	 { "graph", "graph", CELL_STRING, 3, false },
};
enum { N_REGION_COLUMNS = sizeof region_columns / sizeof region_columns[0] };

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Forward passes by their sequence numbers, which the backward pass has, too. */
typedef struct sequences {
	args_reader *reader; /* NULL: the trace has no arguments */
	const char *key;     /* of sequence numbers; NULL: no argument is one */
	intern_table numbers;
	VEC(uint32_t) calls; /* by number */
} sequences;

/* False: it has none, or out of memory. */
static bool sequence_of(sequences *s, const rows *r, uint32_t number, uint32_t *ret_sequence)
{
	const row *at = number == ROW_NONE ? NULL : ROW_AT(r, number);
	const char *json;
	size_t len;
	char key[64];

	if (!s->reader || !s->key || !at || !at->args || !args_get(s->reader, at->args, s->key, &json, &len))
		return false;
	int n = snprintf(key, sizeof key, "%d %.*s", row_rank(r, at), (int)(len < 24 ? len : 24), json);
	*ret_sequence = intern(&s->numbers, key, (size_t)n);
	return *ret_sequence != INTERN_NONE;
}

static bool load_sequences(sequences *s, const compile_calls *c)
{
	bool has_args = c->rows->ix && index_n_rows(c->rows->ix, SECTION_ARGS) > 0;

	s->reader = has_args ? args_reader_new(c->rows->ix) : NULL;
	s->key = has_args ? index_role_key(c->rows->ix, ROLE_SEQUENCE) : NULL;
	for (uint32_t i = 0; s->reader && i < c->calls.n; i++) {
		uint32_t sequence;
		if (!sequence_of(s, c->rows, c->calls.items[i].function, &sequence))
			continue;
		uint32_t *call = sequence < s->calls.n ? &s->calls.items[sequence] : VEC_ADD(&s->calls);
		if (!call)
			return false;
		*call = i;
	}
	return !has_args || s->reader;
}

static void sequences_done(sequences *s)
{
	args_reader_free(s->reader);
	intern_done(&s->numbers);
	VEC_DONE(&s->calls);
}

/* Regions of forward passes must be there already. */
static uint32_t forward_of(const compile_regions *g, sequences *s, const compile_call *call)
{
	uint32_t sequence;

	if (call->kind != COMPILE_BACKWARD || !sequence_of(s, g->calls->rows, call->row, &sequence) ||
	    sequence >= s->calls.n)
		return COMPILE_OUTSIDE;
	return g->of_call[s->calls.items[sequence]];
}

static uint32_t region_of(compile_regions *g, const compile_call *call, uint32_t forward)
{
	const rows *r = g->calls->rows;
	const row *at = ROW_AT(r, call->row);
	uint32_t graph = call->kind == COMPILE_BACKWARD ? call->graph : INDEX_NONE;
	uint32_t key[] = { r->sites[at->site].name, graph, call->kind, forward, (uint32_t)row_rank(r, at) };
	uint32_t number = intern_words(&g->keys, key, sizeof key / sizeof *key);

	if (number == INTERN_NONE || number < g->items.n)
		return number;
	compile_region *added = VEC_ADD(&g->items);
	if (!added)
		return INTERN_NONE;
	*added = (compile_region){ .name = key[0],
				   .graph = call->graph,
				   .forward = forward,
				   .kind = call->kind,
				   .rank = row_rank(r, at),
				   .first = COMPILE_OUTSIDE,
				   .median_ns = -1 };
	return number;
}

static int64_t not_negative(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

static void add_call(compile_regions *g, const op_tree *tree, uint32_t number)
{
	const compile_call *call = &g->calls->calls.items[number];
	const rows *r = g->calls->rows;
	const row *at = ROW_AT(r, call->row);
	compile_region *to = &g->items.items[g->of_call[number]];
	int64_t own_work = call->work_ns - call->inner_work_ns;
	size_t n_device;

	op_tree_subtree(tree, call->row, &n_device);
	to->n++;
	to->n_device += n_device;
	to->host_ns = add_bounded(to->host_ns, not_negative(at->dur_ns - call->work_ns));
	to->own_ns = add_bounded(to->own_ns, not_negative(at->dur_ns - call->inner_ns - own_work));
	to->device_ns = add_bounded(to->device_ns, op_tree_ns(tree, call->row));
	if (to->first == COMPILE_OUTSIDE || at->start_ns < rows_at(r, g->calls->calls.items[to->first].row).start_ns)
		to->first = number;
}

typedef struct later_call {
	uint32_t region;
	int64_t ns;
} later_call;

static int by_region(const void *a, const void *b)
{
	const later_call *x = a, *y = b;

	return x->region != y->region ? (x->region < y->region ? -1 : 1) : (x->ns > y->ns) - (x->ns < y->ns);
}

/* The compiler and what it warms up are in the first call; the others tell what a call costs. */
static bool find_medians(compile_regions *g)
{
	const compile_calls *c = g->calls;
	later_call *later = malloc((c->calls.n + 1) * sizeof *later);
	size_t n = 0;

	for (uint32_t i = 0; later && i < c->calls.n; i++)
		if (g->items.items[g->of_call[i]].first != i)
			later[n++] = (later_call){ g->of_call[i],
						   not_negative(rows_at(c->rows, c->calls.items[i].row).dur_ns -
								c->calls.items[i].work_ns) };
	if (n)
		qsort(later, n, sizeof *later, by_region);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && later[k].region == later[i].region; k++)
			;
		g->items.items[later[i].region].median_ns = later[i + (k - i - 1) / 2].ns;
	}
	free(later);
	return later != NULL;
}

/* ---- Compilations ------------------------------------------------------------------------------------------------ */

/* A rank has its own frames. INTERN_NONE when out of memory. */
static uint32_t intern_id(intern_table *ids, int32_t rank, const char *id, size_t len)
{
	char key[96];
	int n = snprintf(key, sizeof key, "%d %.*s", rank, (int)(len < 64 ? len : 64), id);

	return intern(ids, key, (size_t)n);
}

/* The regions that have a number in their name, by that number. */
static bool find_by_id(const compile_regions *g, intern_table *ids, uint32_t *found, size_t *ret_n)
{
	*ret_n = 0;
	for (uint32_t i = 0; i < g->items.n; i++) {
		size_t len;
		const char *id = compile_id_in(compile_region_name(g, i), &len);
		if (g->items.items[i].kind != COMPILE_REGION || !id)
			continue;
		uint32_t number = intern_id(ids, g->items.items[i].rank, id, len);
		if (number == INTERN_NONE)
			return false;
		if (number == *ret_n)
			found[(*ret_n)++] = i;
	}
	return true;
}

static void place_run(compile_regions *g, const compile_run *run, compile_run_of *of, uint32_t by_id)
{
	of->region = run->call == COMPILE_OUTSIDE ? COMPILE_OUTSIDE : g->of_call[run->call];
	if (run->id && !run->is_backward)
		of->region = by_id;
	compile_region *region = of->region == COMPILE_OUTSIDE ? NULL : &g->items.items[of->region];
	of->is_known = run->number >= 0 || (region && region->kind == COMPILE_JIT);
	of->is_again = run->number > 0 || (run->number < 0 && of->is_known && region->n_runs > 0);
	if (region) {
		region->n_runs++;
		region->run_ns = add_bounded(region->run_ns, run->ns);
	}
}

static bool load_runs(compile_regions *g)
{
	const compile_calls *c = g->calls;
	intern_table ids = { 0 };
	uint32_t *by_id = malloc((g->items.n + 1) * sizeof *by_id);
	size_t n_ids = 0;
	bool ok = by_id && find_by_id(g, &ids, by_id, &n_ids);

	g->runs = calloc(c->runs.n + 1, sizeof *g->runs);
	ok = ok && g->runs;
	for (size_t i = 0; ok && i < c->runs.n; i++) {
		const compile_run *run = &c->runs.items[i];
		uint32_t id = 0;
		if (run->id)
			id = intern_id(&ids, row_rank(c->rows, ROW_AT(c->rows, run->row)), run->id, run->id_len);
		ok = id != INTERN_NONE;
		place_run(g, run, &g->runs[i], run->id && id < n_ids ? by_id[id] : COMPILE_OUTSIDE);
	}
	free(by_id);
	intern_done(&ids);
	return ok;
}

/* Those of one direction. False when out of memory. */
static bool add_calls(compile_regions *g, const op_tree *tree, sequences *s, bool backward)
{
	const compile_calls *c = g->calls;

	for (uint32_t i = 0; i < c->calls.n; i++) {
		const compile_call *call = &c->calls.items[i];
		if ((call->kind == COMPILE_BACKWARD) != backward)
			continue;
		g->of_call[i] = region_of(g, call, forward_of(g, s, call));
		if (g->of_call[i] == INTERN_NONE)
			return false;
		add_call(g, tree, i);
	}
	return true;
}

bool compile_regions_load(compile_regions *g, const compile_calls *c, const op_tree *tree)
{
	sequences s = { 0 };

	*g = (compile_regions){ .calls = c };
	g->of_call = malloc((c->calls.n + 1) * sizeof *g->of_call);
	bool ok = g->of_call && load_sequences(&s, c) && add_calls(g, tree, &s, false) && add_calls(g, tree, &s, true);
	sequences_done(&s);
	return ok && find_medians(g) && load_runs(g);
}

void compile_regions_done(compile_regions *g)
{
	VEC_DONE(&g->items);
	free(g->of_call);
	free(g->runs);
	intern_done(&g->keys);
}

/* ---- As a table -------------------------------------------------------------------------------------------------- */

static const char *kind_name(uint8_t kind)
{
	static const char *const kinds[] = {
		[COMPILE_REGION] = "torch.compile", [COMPILE_FUNCTION] = "torch.compile",
		[COMPILE_GRAPH] = "torch.compile",  [COMPILE_BACKWARD] = "torch.compile, backward",
		[COMPILE_JIT] = "jax.jit",	    [COMPILE_SESSION] = "ONNX Runtime",
	};

	return kinds[kind];
}

/* "## Call CompiledFxGraph fzon7cbj2x ##": the hash alone. */
static const char *graph_hash(const compile_regions *g, sonde_result *r, uint32_t graph)
{
	static const char before[] = "## Call CompiledFxGraph ";
	const char *name = graph == INDEX_NONE ? NULL : index_text(g->calls->rows->ix, graph);

	if (!name || strncmp(name, before, sizeof before - 1) != 0)
		return NULL;
	name += sizeof before - 1;
	return result_format(r, "%.*s", (int)(strcspn(name, " ") & 255), name);
}

static void put_region(const compile_regions *g, uint32_t i, sonde_result *r, cell *c)
{
	const compile_region *of = &g->items.items[i];
	size_t id_len;
	const char *id =
		compile_id_in(compile_region_name(g, of->forward == COMPILE_OUTSIDE ? i : of->forward), &id_len);

	c[0] = cell_string(result_string(r, compile_region_name(g, i)));
	if (id)
		c[1] = cell_string(result_format(r, "%.*s", (int)(id_len < 64 ? id_len : 64), id));
	c[2] = cell_count(of->n);
	c[3] = cell_ns(of->host_ns);
	c[4] = cell_ns(of->own_ns);
	c[5] = cell_ns(rows_at(g->calls->rows, g->calls->calls.items[of->first].row).dur_ns);
	if (of->median_ns >= 0)
		c[6] = cell_ns(of->median_ns);
	c[7] = cell_count(of->n_runs);
	c[8] = cell_ns(of->run_ns);
	if (g->calls->rows->n_device) {
		c[9] = cell_ns(of->device_ns);
		c[10] = cell_count(of->n_device);
	}
	c[11] = cell_integer(of->rank);
	c[12] = cell_string(kind_name(of->kind));
	c[13] = cell_string(graph_hash(g, r, of->graph));
}

void compile_regions_add(const compile_regions *g, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "compile_regions", "Compiled regions", region_columns, N_REGION_COLUMNS);

	for (uint32_t i = 0; i < g->items.n; i++)
		put_region(g, i, r, table_row(r, t, 0));
	table_sort(t, 4); /* own */
	limit_rows(r, t, options, "regions");
}
