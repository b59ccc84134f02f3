/* Flame graphs: analyze/flame/flame.h as arrays. */
#include <stdlib.h>
#include <string.h>
#include "serve/flame_json.h"
#include "serve/routes.h"

enum { NODES_MAX = 20000 };

typedef struct flame_call {
	flame_options options;
	uint8_t *tracks;
	int64_t min;
	size_t max_nodes;
	opened *with; /* NULL: nothing to compare with */
	bool failed;  /* the reply says why */
} flame_call;

static void want_track(void *context, uint64_t track)
{
	((uint8_t *)context)[track] = 1;
}

static void read_tracks(call *c, flame_call *f)
{
	size_t n;

	if (!request_text(c->request, "thread"))
		return;
	index_tracks(c->opened->ix, &n);
	f->tracks = calloc(n + 1, 1);
	if (f->tracks)
		request_numbers(c->request, "thread", n, want_track, f->tracks);
	f->options.tracks = f->tracks;
}

/* Threads are numbers of this trace: the other is taken whole. */
static void read_other(call *c, flame_call *f, reply *out)
{
	int64_t id = request_number(c->request, "with", 1, UINT32_MAX, 0);
	call other = { .server = c->server, .request = c->request };

	if (!id)
		return;
	other.session = session_find(c->server, (uint64_t)id);
	if (!other.session)
		reply_error(out, 404, "not-found", "There is no session %lld.", (long long)id);
	else if (call_open(&other, out))
		f->with = other.opened;
	f->failed = !f->with;
}

static void read_call(call *c, flame_call *f, reply *out)
{
	static const char *const bys[] = { "time", "self", "device", "memory", NULL };
	static const char *const modes[] = { "merged", "ordered", "callers", "callees", NULL };
	flame_options *o = &f->options;

	o->by = (flame_by)request_choice(c->request, "by", bys);
	o->mode = (flame_mode)request_choice(c->request, "mode", modes);
	o->name = request_text(c->request, "name");
	o->no_python = !request_truth(c->request, "python", true);
	o->max_depth = (uint32_t)request_number(c->request, "max_depth", 0, FLAME_DEPTH_MAX, 0);
	o->use_time = request_text(c->request, "from") || request_text(c->request, "to");
	call_range(c, &o->from_ns, &o->to_ns);
	call_steps(c, &o->use_steps, &o->first_step, &o->last_step);
	f->min = request_number(c->request, "min", 0, INT64_MAX, o->mode == FLAME_ORDERED ? -1 : 0);
	f->max_nodes = (size_t)request_number(c->request, "nodes", 1, 1000000, NODES_MAX);
	if (f->min < 0) /* what a wide screen cannot show */
		f->min = (o->to_ns - o->from_ns) / 4000;
	if (o->by >= FLAME_DEVICE && !f->min) /* paths that launch and allocate nothing */
		f->min = 1;
	o->min_ns = f->min;
	read_tracks(c, f);
	read_other(c, f, out);
	if (!f->failed)
		f->failed = call_failed(c, out);
}

/* Nodes that were cut may have left names that none has: the others get new numbers. */
static bool put_names(json_writer *w, flame *f)
{
	uint32_t n_names = f->names.n, n = 0, *numbers = malloc((n_names + 1) * sizeof *numbers);
	uint32_t *used = malloc((n_names + 1) * sizeof *used);

	for (uint32_t i = 0; numbers && used && i < n_names; i++)
		numbers[i] = UINT32_MAX;
	for (size_t i = 0; numbers && used && i < f->nodes.n; i++) {
		uint32_t name = f->nodes.items[i].name;
		if (numbers[name] == UINT32_MAX) {
			used[n] = name;
			numbers[name] = n++;
		}
		f->nodes.items[i].name = numbers[name];
	}
	put_list(w, "names");
	size_t max = w->max_text;
	w->max_text = 0;
	for (uint32_t i = 0; i < n; i++)
		put_name(w, f->names.entries[used[i]].text, f->names.entries[used[i]].len, max);
	w->max_text = max;
	json_end_array(w);
	put_list(w, "classes");
	for (uint32_t i = 0; i < n; i++)
		json_string(w, class_name(f->classes.items[used[i]]));
	json_end_array(w);
	bool ok = numbers && used;
	free(numbers);
	free(used);
	return ok;
}

typedef enum node_column {
	NODE_NAME,
	NODE_PARENT,
	NODE_VALUE,
	NODE_SELF,
	NODE_COUNT,
	NODE_BASE,
	NODE_START
} node_column;

static int64_t column_of(const flame_node *n, node_column which, const sonde_index *ix)
{
	switch (which) {
	case NODE_NAME:
		return n->name;
	case NODE_PARENT:
		return n->parent == FLAME_NONE ? -1 : (int64_t)n->parent;
	case NODE_VALUE:
		return n->value;
	case NODE_SELF:
		return n->self;
	case NODE_COUNT:
		return (int64_t)n->n_slices;
	case NODE_BASE:
		return n->base;
	case NODE_START:
		break;
	}
	return since_start(ix, n->start_ns);
}

static void put_column(json_writer *w, const char *key, const flame *f, node_column which, const sonde_index *ix)
{
	put_list(w, key);
	for (size_t i = 0; i < f->nodes.n; i++)
		json_i64(w, column_of(&f->nodes.items[i], which, ix));
	json_end_array(w);
}

bool put_flame(json_writer *w, flame *f, const flame_options *how, bool has_base, const sonde_index *ix)
{
	json_begin_object(w);
	put_text(w, "unit", how->by == FLAME_MEMORY ? "bytes" : "ns");
	put_i64(w, "total", f->total);
	put_known(w, "base_total", has_base, f->base_total);
	bool ok = put_names(w, f);
	put_column(w, "name", f, NODE_NAME, ix);
	put_column(w, "parent", f, NODE_PARENT, ix);
	put_column(w, "value", f, NODE_VALUE, ix);
	put_column(w, "self", f, NODE_SELF, ix);
	put_column(w, "count", f, NODE_COUNT, ix);
	if (how->mode == FLAME_ORDERED)
		put_column(w, "start", f, NODE_START, ix);
	if (has_base)
		put_column(w, "base", f, NODE_BASE, ix);
	json_key(w, "cut");
	json_begin_object(w);
	put_u64(w, "nodes", f->n_cut);
	put_i64(w, "value", f->cut_value);
	json_end_object(w);
	put_bool(w, "damaged", f->damaged);
	json_end_object(w);
	return ok;
}

static void answer(call *c, reply *out, const flame_call *how)
{
	sonde_error err = { .position = -1 };
	flame f = { 0 };
	sonde_status status = flame_build(&f, c->opened->ix, &how->options, &err);

	if (!status && how->with) {
		flame_options whole = how->options;
		whole.tracks = NULL;
		status = flame_add_base(&f, how->with->ix, &whole, &err);
	}
	if (status)
		reply_failure(out, status, &err);
	else if (!flame_cut(&f, how->min, how->max_nodes))
		reply_out_of_memory(out);
	else if (!put_flame(reply_json(out), &f, &how->options, how->with, c->opened->ix))
		reply_out_of_memory(out);
	flame_done(&f);
}

void api_flame(call *c, reply *out)
{
	flame_call f = { 0 };

	read_call(c, &f, out);
	if (!f.failed)
		answer(c, out, &f);
	if (f.with)
		session_release(c->server, f.with);
	free(f.tracks);
}
