/* See analyses/compile/calls.h. */
#define _GNU_SOURCE /* memrchr */
#include "analyze/tables/compile_calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

typedef enum match { IS, STARTS, HOLDS } match;

static const struct {
	const char *text;
	match how;
	compile_kind kind;
} names[] = {
	{ "Torch-Compiled Region", STARTS, COMPILE_REGION },
	{ "CompiledFunction", IS, COMPILE_FUNCTION },
	{ "CompiledFunctionBackward", IS, COMPILE_BACKWARD },
	{ "## Call CompiledFxGraph ", STARTS, COMPILE_GRAPH },
	{ "TorchDynamo Cache Lookup", IS, COMPILE_LOOKUP },
	{ "PjitFunction(", STARTS, COMPILE_JIT },
	/* Dynamo's clocks are rows; the outermost of them have names without a suffix since PyTorch 2.6. */
	{ "dynamo_timed", HOLDS, COMPILE_WORK },
	{ "compile_inner", HOLDS, COMPILE_WORK },
	{ "dynamo", IS, COMPILE_WORK },
	{ "entire_frame_compile", IS, COMPILE_WORK },
	{ "entire_backward_compile", IS, COMPILE_WORK },
	/* JAX, inside PjitFunction. */
	{ "trace_to_jaxpr", STARTS, COMPILE_WORK },
	{ "lower_sharding_computation", IS, COMPILE_WORK },
	{ "backend_compile", STARTS, COMPILE_WORK },
	{ "triton_", STARTS, COMPILE_KERNEL },
	{ "cpp_fused_", HOLDS, COMPILE_KERNEL },
};

static compile_kind kind_of_session(const char *name)
{
	if (strcmp(name, "model_run") == 0)
		return COMPILE_SESSION;
	return strcmp(name, "session_initialization") == 0 || strncmp(name, "model_loading", 13) == 0 ? COMPILE_WORK
												      : COMPILE_NONE;
}

compile_kind compile_kind_of(const char *name, const char *category, site_class class)
{
	if (class == CLASS_RUNTIME)
		return strcmp(name, "cudaGraphLaunch") == 0 || strcmp(name, "hipGraphLaunch") == 0 ? COMPILE_LAUNCH
												   : COMPILE_NONE;
	if (class == CLASS_KERNEL)
		return strncmp(name, "triton_", 7) == 0 ? COMPILE_KERNEL : COMPILE_NONE;
	if (class == CLASS_PYTHON || class == CLASS_COPY)
		return COMPILE_NONE;
	if (strcmp(category, "Session") == 0)
		return kind_of_session(name);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = names[i].text;
		if (names[i].how == IS	     ? strcmp(name, text) == 0
		    : names[i].how == STARTS ? strncmp(name, text, strlen(text)) == 0
					     : strstr(name, text) != NULL)
			return names[i].kind;
	}
	return COMPILE_NONE;
}

const char *compile_id_in(const char *name, size_t *ret_len)
{
	static const char *const before[] = { "compile_id=", "Torch-Compiled Region: " };

	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		const char *at = strstr(name, before[i]);
		if (!at)
			continue;
		at += strlen(before[i]);
		*ret_len = strcspn(at, ", ");
		return *ret_len ? at : NULL;
	}
	return NULL;
}

/* What is behind the last / of "0/1"; -1: no number. */
static int64_t number_of(const char *id, size_t len)
{
	enum { MOST_DIGITS = 9 };
	const char *slash = memrchr(id, '/', len);
	int64_t number = 0;

	if (!slash || slash + 1 == id + len || id + len - slash - 1 > MOST_DIGITS)
		return -1;
	for (const char *at = slash + 1; at < id + len; at++) {
		if (*at < '0' || *at > '9')
			return -1;
		number = 10 * number + (*at - '0');
	}
	return number;
}

/* ---- The pass over the rows -------------------------------------------------------------------------------------- */

/* Calls that the row is inside of. What was compiled in each so far, and how long the compiler ran since. */
typedef struct open_call {
	uint32_t call;
	uint32_t last; /* row, or ROW_NONE */
	int64_t pause_ns;
} open_call;

typedef struct loader {
	compile_calls *to;
	VEC(open_call) open;
	open_call outside; /* the same for what is in no call */
	uint32_t work_end; /* rows before it are inside a run of the compiler */
	bool has_regions;  /* the track has regions: what is part of them is no call of its own */
} loader;

static compile_kind kind_at(const loader *l, const row *at)
{
	return (compile_kind)l->to->kinds[at->site];
}

static open_call *innermost(loader *l)
{
	return l->open.n ? &l->open.items[l->open.n - 1] : &l->outside;
}

static void close_calls(loader *l, uint32_t number)
{
	const rows *r = l->to->rows;

	while (l->open.n) {
		open_call top = *innermost(l);
		uint32_t call = l->to->calls.items[top.call].row;
		if (rows_at(r, call).end > number)
			return;
		l->open.n--;
		*innermost(l) = (open_call){ .call = innermost(l)->call, .last = call };
	}
}

static bool add_break(loader *l, uint32_t number)
{
	const rows *r = l->to->rows;
	const open_call *in = innermost(l);
	const row *at = ROW_AT(r, number);
	bool is_inside = l->open.n > 0;
	uint32_t from = is_inside ? l->to->calls.items[in->call].row : in->last;

	if (from == ROW_NONE || kind_at(l, ROW_AT(r, from)) != COMPILE_REGION || rows_at(r, from).site == at->site)
		return true;
	if (!is_inside && (rows_at(r, from).parent != at->parent || at->parent == ROW_NONE))
		return true;
	int64_t since = is_inside && in->last == ROW_NONE ? rows_at(r, from).start_ns : row_end_ns(ROW_AT(r, in->last));
	int64_t gap = at->start_ns - since - in->pause_ns;
	compile_break *b = VEC_ADD(&l->to->breaks);
	if (b)
		*b = (compile_break){ from, number, gap > 0 ? gap : 0, is_inside };
	return b != NULL;
}

static bool add_call(loader *l, uint32_t number, compile_kind kind)
{
	const rows *r = l->to->rows;
	uint32_t around = l->open.n ? innermost(l)->call : COMPILE_OUTSIDE;

	if (kind == COMPILE_REGION && !add_break(l, number))
		return false;
	compile_call *call = VEC_ADD(&l->to->calls);
	open_call *open = call ? VEC_ADD(&l->open) : NULL;
	if (!open)
		return false;
	l->has_regions = l->has_regions || kind == COMPILE_REGION;
	*call = (compile_call){
		.row = number, .around = around, .graph = INDEX_NONE, .function = ROW_NONE, .kind = (uint8_t)kind
	};
	*open = (open_call){ .call = (uint32_t)l->to->calls.n - 1, .last = ROW_NONE };
	if (around != COMPILE_OUTSIDE) {
		int64_t *inner = &l->to->calls.items[around].inner_ns;
		*inner = add_bounded(*inner, rows_at(r, number).dur_ns);
	}
	return true;
}

/* Within a call these are parts of it; the first graph tells which backward pass it is. */
static void add_part(loader *l, uint32_t number, compile_kind kind)
{
	const rows *r = l->to->rows;
	open_call *in = innermost(l);
	compile_call *call = &l->to->calls.items[in->call];

	if (kind == COMPILE_GRAPH && call->graph == INDEX_NONE)
		call->graph = r->sites[rows_at(r, number).site].name;
	if (kind == COMPILE_FUNCTION && call->function == ROW_NONE)
		call->function = number;
	*in = (open_call){ .call = in->call, .last = number };
}

/* The clocks of Dynamo have a row right inside that tells the id. */
static void read_id(const rows *r, compile_run *run)
{
	enum { ROWS_LOOKED_AT = 8 };
	uint32_t end = rows_at(r, run->row).end;

	run->number = -1;
	for (uint32_t i = run->row; i < end && i < run->row + ROWS_LOOKED_AT && !run->id; i++)
		run->id = compile_id_in(row_name(r, ROW_AT(r, i)), &run->id_len);
	if (run->id)
		run->number = number_of(run->id, run->id_len);
	run->is_backward = strstr(row_name(r, ROW_AT(r, run->row)), "backward") != NULL;
}

/* Compilers that tell no id run in several parts within the call that they compile for. */
static bool add_run(loader *l, uint32_t number)
{
	const rows *r = l->to->rows;
	const row *at = ROW_AT(r, number);
	compile_run run = { .row = number, .call = l->open.n ? innermost(l)->call : COMPILE_OUTSIDE, .ns = at->dur_ns };

	read_id(r, &run);
	innermost(l)->pause_ns = add_bounded(innermost(l)->pause_ns, at->dur_ns);
	l->work_end = at->end;
	if (run.call != COMPILE_OUTSIDE)
		l->to->calls.items[run.call].work_ns = add_bounded(l->to->calls.items[run.call].work_ns, at->dur_ns);
	compile_run *last = l->to->runs.n ? &l->to->runs.items[l->to->runs.n - 1] : NULL;
	if (last && !run.id && !last->id && run.call != COMPILE_OUTSIDE && last->call == run.call) {
		last->ns = add_bounded(last->ns, at->dur_ns);
		return true;
	}
	compile_run *added = VEC_ADD(&l->to->runs);
	if (added)
		*added = run;
	return added != NULL;
}

static bool look_at(loader *l, uint32_t number)
{
	const row *at = ROW_AT(l->to->rows, number);
	compile_kind kind = kind_at(l, at);

	if (number < l->work_end || at->flags & ROW_ON_STREAM)
		return true;
	close_calls(l, number);
	if (kind == COMPILE_WORK)
		return add_run(l, number);
	const compile_call *in = l->open.n ? &l->to->calls.items[innermost(l)->call] : NULL;
	bool is_part = kind == COMPILE_FUNCTION || kind == COMPILE_GRAPH;
	if (in && is_part)
		add_part(l, number, kind);
	else if (is_part && l->has_regions)
		return true; /* rows of the track overlap, so that it lies beside the region it belongs to */
	else if (!in || kind == COMPILE_REGION || kind == COMPILE_BACKWARD ||
		 rows_at(l->to->rows, in->row).site != at->site) /* JAX has two rows for each call */
		return add_call(l, number, kind);
	return true;
}

static bool mark_sites(compile_calls *c, const rows *r)
{
	c->kinds = malloc(r->n_sites + 1);
	for (size_t i = 0; c->kinds && i < r->n_sites; i++)
		c->kinds[i] = (uint8_t)compile_kind_of(index_text(r->ix, r->sites[i].name),
						       index_text(r->ix, r->sites[i].category),
						       (site_class)r->sites[i].class);
	return c->kinds != NULL;
}

bool compile_calls_load(compile_calls *c, const rows *r)
{
	loader l = { .to = c };

	*c = (compile_calls){ .rows = r };
	site_set sites = { 0 };
	bool ok = mark_sites(c, r) && site_set_init(&sites, r);
	for (uint32_t i = 0; ok && i < r->n_sites; i++)
		if (c->kinds[i] != COMPILE_NONE && c->kinds[i] < COMPILE_KERNEL)
			site_set_add(&sites, i);
	for (size_t track = 0; ok && track < r->n_tracks; track++) {
		l.open.n = 0;
		l.work_end = 0;
		l.has_regions = false;
		l.outside = (open_call){ .last = ROW_NONE };
		for (size_t i = rows_next(r, &sites, r->first_of_track[track]); ok && i < r->first_of_track[track + 1];
		     i = rows_next(r, &sites, i + 1))
			ok = look_at(&l, (uint32_t)i);
	}
	site_set_done(&sites);
	VEC_DONE(&l.open);
	for (size_t i = c->calls.n; i-- > 0;) {
		compile_call *call = &c->calls.items[i];
		if (call->around == COMPILE_OUTSIDE)
			continue;
		compile_call *around = &c->calls.items[call->around];
		around->work_ns = add_bounded(around->work_ns, call->work_ns);
		around->inner_work_ns = add_bounded(around->inner_work_ns, call->work_ns);
	}
	return ok;
}

void compile_calls_done(compile_calls *c)
{
	free(c->kinds);
	VEC_DONE(&c->calls);
	VEC_DONE(&c->runs);
	VEC_DONE(&c->breaks);
}
