/*
 * What a trace says of compiled code: how much of the time it runs, what each call of a region costs at first and
 * later, when the compiler ran and what it compiled again, where compiled code is interrupted, which kernels it made.
 */
#include "analyze/analyses/compile/regions.h"
#include "analyze/analyses/compile/times.h"
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "base/format_number.h"

static const column run_columns[] = {
	{ "start_ns", "at", CELL_NS, 0, false },
	{ "name", "what", CELL_STRING, 0, false },
	{ "compile_id", "id", CELL_STRING, 0, false },
	{ "is_again", "again", CELL_BOOL, 0, false },
	{ "is_backward", "backward", CELL_BOOL, 2, false },
	{ "region", "for", CELL_STRING, 1, false },
	{ "rank", "rank", CELL_INTEGER, 4, false },
	{ "step", "step", CELL_INTEGER, 0, false },
	{ "dur_ns", "takes", CELL_NS, 0, false },
};
static const column phase_columns[] = {
	{ "name", "part of the compiler", CELL_STRING, 0, false },
	{ "calls", "calls", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 1, false },
	{ "self_ns", "self", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column break_columns[] = {
	{ "from", "from", CELL_STRING, 0, false },  { "to", "to", CELL_STRING, 0, false },
	{ "how", "how", CELL_STRING, 0, false },    { "count", "count", CELL_COUNT, 0, false },
	{ "gap_ns", "between", CELL_NS, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

typedef struct compilation {
	const work *w;
	op_tree tree;
	compile_calls calls;
	compile_regions regions;
	compile_times times;
} compilation;

/* ---- The compiler ------------------------------------------------------------------------------------------------ */

static const char *plain_name(const compilation *c, sonde_result *r, uint32_t site)
{
	static const char suffix[] = " (dynamo_timed)";
	const char *name = index_text(c->w->rows.ix, c->w->rows.sites[site].name);
	size_t len = strlen(name), extra = sizeof suffix - 1;

	if (len <= extra || strcmp(name + len - extra, suffix) != 0)
		return result_string(r, name);
	return result_format(r, "%.*s", (int)(len - extra < 4096 ? len - extra : 4096), name);
}

static void put_run(const compilation *c, const compile_run *run, sonde_result *r, table *t)
{
	const row *at = ROW_AT(&c->w->rows, run->row);
	const rows_rank *rank = compile_rank_of(&c->w->rows, row_rank(&c->w->rows, at));
	int64_t step = rank_step_at(rank, at->start_ns);
	const compile_run_of *of = &c->regions.runs[run - c->calls.runs.items];
	cell *to = table_row(r, t, 0);

	to[0] = cell_ns(at->start_ns);
	to[1] = cell_string(plain_name(c, r, at->site));
	if (run->id)
		to[2] = cell_string(result_format(r, "%.*s", (int)(run->id_len < 64 ? run->id_len : 64), run->id));
	if (of->is_known)
		to[3] = cell_bool(of->is_again);
	to[4] = cell_bool(run->is_backward);
	if (of->region != COMPILE_OUTSIDE)
		to[5] = cell_string(result_string(r, compile_region_name(&c->regions, of->region)));
	to[6] = cell_integer(row_rank(&c->w->rows, at));
	if (step >= 0)
		to[7] = cell_integer(rank->steps[step].number);
	to[8] = cell_ns(run->ns);
}

static void add_runs(const compilation *c, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "compile_runs", "Compiler runs", run_columns, N_COLUMNS(run_columns));

	for (size_t i = 0; i < c->calls.runs.n; i++)
		put_run(c, &c->calls.runs.items[i], r, t);
	limit_rows(r, t, options, "compilations");
}

typedef struct phase {
	uint64_t n;
	int64_t total_ns, self_ns;
} phase;

/* Rows of the compiler inside rows of the compiler; what is inside takes its time from the one around it. */
static bool sum_phases(const compilation *c, phase *by_site)
{
	const rows *all = &c->w->rows;
	VEC(uint32_t) open = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < all->n; i++) {
		const row *at = ROW_AT(all, i);
		if (c->calls.kinds[at->site] != COMPILE_WORK || at->flags & ROW_ON_STREAM)
			continue;
		while (open.n && rows_at(all, open.items[open.n - 1]).end <= i)
			open.n--;
		phase *p = &by_site[at->site];
		p->n++;
		p->total_ns = add_bounded(p->total_ns, at->dur_ns);
		p->self_ns = add_bounded(p->self_ns, at->dur_ns);
		if (open.n) {
			phase *around = &by_site[rows_at(all, open.items[open.n - 1]).site];
			around->self_ns = add_bounded(around->self_ns, -at->dur_ns);
		}
		uint32_t *top = VEC_ADD(&open);
		ok = top != NULL;
		if (ok)
			*top = i;
	}
	VEC_DONE(&open);
	return ok;
}

static bool add_phases(const compilation *c, int64_t all_ns, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "compile_phases", "Compiler time by part", phase_columns, N_COLUMNS(phase_columns));
	phase *by_site = calloc(c->w->rows.n_sites + 1, sizeof *by_site);
	bool ok = by_site && sum_phases(c, by_site);

	for (uint32_t i = 0; ok && i < c->w->rows.n_sites; i++) {
		if (!by_site[i].n)
			continue;
		cell *to = table_row(r, t, 0);
		to[0] = cell_string(plain_name(c, r, i));
		to[1] = cell_count(by_site[i].n);
		to[2] = cell_ns(by_site[i].total_ns);
		to[3] = cell_ns(by_site[i].self_ns);
		to[4] = percent_of((double)by_site[i].self_ns, (double)all_ns);
	}
	if (ok)
		table_sort(t, 3);
	limit_rows(r, t, options, "parts");
	if (t && !options->top && t->n_shown > 8 && t->n_rows > 8) {
		t->n_shown = 8;
		t->more = result_format(r, "%zu more parts: --top all", t->n_rows - 8);
	}
	free(by_site);
	return ok;
}

/* ---- Breaks ------------------------------------------------------------------------------------------------------ */

typedef struct break_sum {
	uint32_t from, to; /* strings */
	bool is_inside;
	uint64_t n;
	int64_t gap_ns;
} break_sum;

static bool add_breaks(const compilation *c, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "compile_breaks", "Graph breaks", break_columns, N_COLUMNS(break_columns));
	const rows *all = &c->w->rows;
	intern_table keys = { 0 };
	VEC(break_sum) sums = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < c->calls.breaks.n; i++) {
		const compile_break *b = &c->calls.breaks.items[i];
		uint32_t key[] = { all->sites[rows_at(all, b->from).site].name,
				   all->sites[rows_at(all, b->to).site].name, b->is_inside };
		uint32_t number = intern(&keys, (const char *)key, sizeof key);
		break_sum *s = number == INTERN_NONE ? NULL : number < sums.n ? &sums.items[number] : VEC_ADD(&sums);
		ok = s != NULL;
		if (ok)
			*s = (break_sum){ key[0], key[1], b->is_inside, s->n + 1, add_bounded(s->gap_ns, b->gap_ns) };
	}
	for (size_t i = 0; ok && i < sums.n; i++) {
		const break_sum *s = &sums.items[i];
		cell *to = table_row(r, t, 0);
		to[0] = cell_string(result_string(r, index_text(all->ix, s->from)));
		to[1] = cell_string(result_string(r, index_text(all->ix, s->to)));
		to[2] = cell_string(s->is_inside ? "continues" : "adjacent");
		to[3] = cell_count(s->n);
		to[4] = cell_ns(s->gap_ns);
	}
	if (ok)
		table_sort(t, 4);
	limit_rows(r, t, options, "breaks");
	VEC_DONE(&sums);
	intern_done(&keys);
	return ok;
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

/* "compiled code runs 62 % of the 4 steps without compilation". */
static const char *say_share(const compile_split *s, sonde_result *r)
{
	char percent[NUMBER_TEXT], device[NUMBER_TEXT], ns[NUMBER_TEXT];
	const char *text;

	if (s->n_steady && s->steady_ns > 0)
		text = result_format(
			r, "compiled code runs %s %% of the %s",
			format_percent(percent, 100 * (double)s->steady_compiled_ns / (double)s->steady_ns),
			!s->compiling	   ? "time"
			: s->n_steady == 1 ? "one step without compilation"
					   : result_format(r, "%zu steps without compilation", s->n_steady));
	else
		text = result_format(r, "compiled code runs for %s", format_ns(ns, s->compiled));
	if (s->device_ns <= 0)
		return text;
	return result_format(r, "%s and launched %s %% of the device time", text,
			     format_percent(device, 100 * (double)s->compiled_device_ns / (double)s->device_ns));
}

static void answer(const compilation *c, const compile_split *s, sonde_result *r)
{
	char took[NUMBER_TEXT], count[NUMBER_TEXT], again[NUMBER_TEXT];
	uint64_t n_again = 0, n_inside = 0, n_runs = c->calls.runs.n;

	for (size_t i = 0; i < n_runs; i++)
		n_again += c->regions.runs[i].is_again && !c->calls.runs.items[i].is_backward;
	for (size_t i = 0; i < c->calls.breaks.n; i++)
		n_inside += c->calls.breaks.items[i].is_inside;
	result_add(r, "n_calls", cell_count(c->calls.calls.n));
	result_add(r, "n_runs", cell_count(n_runs));
	result_add(r, "n_runs_again", cell_count(n_again));
	result_add(r, "n_breaks", cell_count(c->calls.breaks.n));
	result_add(r, "n_breaks_inside", cell_count(n_inside));
	if (!compile_has_any(&c->calls))
		return;
	const char *share = say_share(s, r);
	if (!n_runs)
		result_answer(r, "%s; the trace has no compilations", share);
	else
		result_answer(r, "%s; the compiler ran for %s, %s%s", share, format_ns(took, s->compiling),
			      n_runs == 1 ? "once" : result_format(r, "%s times", format_count(count, n_runs)),
			      n_again ? result_format(r, ", %s of them recompilations", format_count(again, n_again))
				      : "");
}

static bool has_kind(const compilation *c, compile_kind kind)
{
	for (size_t i = 0; i < c->calls.calls.n; i++)
		if (c->calls.calls.items[i].kind == kind)
			return true;
	return false;
}

static void explain(const compilation *c, bool has_kernels, sonde_result *r)
{
	if (!compile_has_any(&c->calls))
		result_note_add(r, "note",
				has_kernels ? "compiled kernels ran, but their launches are not in the trace: they "
					      "belong to a CUDA graph, or the host was not recorded"
					    : "no compiled code: torch.profiler records the regions of torch.compile, "
					      "and its compilations if the profiler is on during them");
	if (c->calls.breaks.n)
		result_note_add(r, "note",
				"TORCH_LOGS=graph_breaks prints the cause of a graph break; a trace does not have it. "
				"An adjacent graph may also be another function");
	if (c->calls.runs.n && has_kind(c, COMPILE_REGION))
		result_note_add(r, "note",
				"TORCH_LOGS=recompiles prints the cause of a recompilation; a trace does not have it. "
				"Compilation in other processes appears only as waiting");
}

static bool load(compilation *c)
{
	return op_tree_load(&c->tree, &c->w->rows) && compile_calls_load(&c->calls, &c->w->rows) &&
	       compile_regions_load(&c->regions, &c->calls, &c->tree) &&
	       compile_times_load(&c->times, &c->calls, &c->tree);
}

static bool add_tables(const compilation *c, const sonde_analyze_options *options, sonde_result *r)
{
	compile_split s = compile_times_add_shares(&c->times, r);

	compile_regions_add(&c->regions, options, r);
	add_runs(c, options, r);
	size_t n_kernels = 0;
	bool ok = add_phases(c, s.compiling, options, r) && add_breaks(c, options, r) &&
		  compile_times_add_steps(&c->times, options, r) &&
		  compile_kernels_add(&c->calls, &c->tree, options, r, &n_kernels);
	answer(c, &s, r);
	explain(c, n_kernels > 0, r);
	for (table *t = r->tables; t; t = t->next)
		t->n_shown = t->n_rows ? t->n_shown : 0; /* what is not there need not be shown */
	return ok;
}

static void compilation_done(compilation *c)
{
	compile_times_done(&c->times);
	compile_regions_done(&c->regions);
	compile_calls_done(&c->calls);
	op_tree_done(&c->tree);
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	compilation c = { .w = w };
	bool ok = !w->rows.ix || (load(&c) && add_tables(&c, options, r));

	if (!w->rows.ix)
		explain(&c, false, r);
	compilation_done(&c);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis compile_work = { .add = add, .needs_no_device = true };

const analysis compile_analysis = {
	.name = "compile",
	.summary = "Compiled and eager time, cost of compilation, recompilations, graph breaks",
	.keeps_warmup = true, /* that is where compilers run */
	.work = &compile_work,
};
