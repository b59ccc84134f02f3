/* The kernels that compilers made: how often they ran, how long, and from which file they come. See
 * analyses/compile/regions.h.
 */
#include "analyze/analyses/compile/regions.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "analyze/tables/work.h"

static const column kernel_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false },	   { "calls", "calls", CELL_COUNT, 0, false },
	{ "device_ns", "device", CELL_NS, 0, false },	   { "host_ns", "host", CELL_NS, 0, false },
	{ "backend", "backend", CELL_STRING, 2, false },   { "kernel_hash", "hash", CELL_STRING, -1, false },
	{ "kernel_file", "file", CELL_STRING, -1, false },
};
enum { N_KERNEL_COLUMNS = sizeof kernel_columns / sizeof kernel_columns[0] };

typedef struct generated {
	uint32_t name; /* string */
	uint32_t args; /* of a call on the host; record + 1, 0: none */
	uint64_t n, n_device;
	int64_t host_ns, device_ns;
} generated;
typedef VEC(generated) generated_list;

static bool add_row(const compile_calls *c, intern_table *keys, generated_list *list, const row *at)
{
	uint32_t name = c->rows->sites[at->site].name;
	uint32_t number = intern_words(keys, &name, 1);
	generated *g = number == INTERN_NONE ? NULL : number < list->n ? &list->items[number] : VEC_ADD(list);

	if (!g)
		return false;
	g->name = name;
	if (at->flags & ROW_DEVICE) {
		g->n_device++;
		g->device_ns = add_bounded(g->device_ns, at->dur_ns);
		return true;
	}
	g->n++;
	g->host_ns = add_bounded(g->host_ns, at->dur_ns);
	g->args = g->args ? g->args : at->args;
	return true;
}

/* The text of a string without its quotes; what is no string is unknown. */
static cell arg_cell(args_reader *reader, uint32_t args, const char *key, sonde_result *r)
{
	const char *json;
	size_t len;

	if (!reader || !args || !args_get(reader, args, key, &json, &len) || len < 2 || json[0] != '"')
		return cell_unknown();
	return cell_string(result_format(r, "%.*s", (int)(len - 2 < 4096 ? len - 2 : 4096), json + 1));
}

static void put_kernel(const compile_calls *c, args_reader *reader, const generated *g, sonde_result *r, table *t)
{
	cell *to = table_row(r, t, 0);

	to[0] = cell_string(result_string(r, index_text(c->rows->ix, g->name)));
	to[1] = cell_count(g->n_device > g->n ? g->n_device : g->n);
	if (g->n_device)
		to[2] = cell_ns(g->device_ns);
	if (g->n)
		to[3] = cell_ns(g->host_ns);
	to[4] = arg_cell(reader, g->args, "kernel_backend", r);
	to[5] = arg_cell(reader, g->args, "kernel_hash", r);
	to[6] = arg_cell(reader, g->args, "kernel_file", r);
}

typedef struct row_sum {
	uint64_t n;
	int64_t host_ns, device_ns;
} row_sum;

static row_sum sum_of_kind(const compile_calls *c, const op_tree *tree, compile_kind kind)
{
	row_sum sum = { 0 };

	for (uint32_t i = 0; i < c->rows->n; i++)
		if (c->kinds[rows_at(c->rows, i).site] == kind) {
			sum.n++;
			sum.host_ns = add_bounded(sum.host_ns, rows_at(c->rows, i).dur_ns);
			sum.device_ns = add_bounded(sum.device_ns, op_tree_ns(tree, i));
		}
	return sum;
}

/* Graphs that the device itself recorded, one launch for many kernels; and how long it took to check the guards. */
static void add_sums(const compile_calls *c, const op_tree *tree, sonde_result *r)
{
	row_sum launches = sum_of_kind(c, tree, COMPILE_LAUNCH), lookups = sum_of_kind(c, tree, COMPILE_LOOKUP);

	result_add(r, "n_graph_launches", cell_count(launches.n));
	result_add(r, "graph_launch_ns", launches.n ? cell_ns(launches.host_ns) : cell_unknown());
	result_add(r, "graph_device_ns", launches.n ? cell_ns(launches.device_ns) : cell_unknown());
	result_add(r, "n_lookups", cell_count(lookups.n));
	result_add(r, "lookup_ns", lookups.n ? cell_ns(lookups.host_ns) : cell_unknown());
}

bool compile_kernels_add(const compile_calls *c, const op_tree *tree, const sonde_analyze_options *options,
			 sonde_result *r, size_t *ret_n)
{
	table *t = result_table(r, "compile_kernels", "Generated kernels", kernel_columns, N_KERNEL_COLUMNS);
	bool has_args = index_n_rows(c->rows->ix, SECTION_ARGS) > 0;
	args_reader *reader = has_args ? args_reader_new(c->rows->ix) : NULL;
	intern_table keys = { 0 };
	generated_list list = { 0 };
	bool ok = !has_args || reader;

	for (size_t i = 0; ok && i < c->rows->n; i++)
		if (c->kinds[rows_at(c->rows, i).site] == COMPILE_KERNEL)
			ok = add_row(c, &keys, &list, ROW_AT(c->rows, i));
	for (size_t i = 0; ok && i < list.n; i++)
		put_kernel(c, reader, &list.items[i], r, t);
	table_sort(t, c->rows->n_device ? 2 : 3);
	limit_rows(r, t, options, "kernels");
	add_sums(c, tree, r);
	*ret_n = list.n;
	VEC_DONE(&list);
	intern_done(&keys);
	args_reader_free(reader);
	return ok;
}
