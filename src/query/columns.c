/* See columns.h. */
#include "query/columns.h"

#include <string.h>

static const char *const class_names[CLASS_KINDS] = {
	[CLASS_OTHER] = "other",
	[CLASS_COMPUTE] = "compute",
	[CLASS_MEMORY] = "memory",
	[CLASS_DATA_LOAD] = "data-load",
	[CLASS_SYNC] = "sync",
	[CLASS_COMMUNICATION] = "communication",
	[CLASS_RUNTIME] = "runtime",
	[CLASS_KERNEL] = "kernel",
	[CLASS_COPY] = "copy",
	[CLASS_PYTHON] = "python",
	[CLASS_ANNOTATION] = "annotation",
	[CLASS_PHASE] = "phase",
	[CLASS_STEP] = "step",
	[CLASS_OVERHEAD] = "overhead",
};

static const char *const kind_names[TRACK_KINDS] = {
	[TRACK_THREAD] = "thread",
	[TRACK_STREAM] = "stream",
	[TRACK_ASYNC] = "async",
	[TRACK_PROCESS] = "process",
};

static void cell_constant(query_cell *ret_cell, const char *text)
{
	cell_text(ret_cell, text, strlen(text));
}

void cell_string_of(const query_cursor *c, uint32_t string, query_cell *ret_cell)
{
	size_t len;

	if (string == INDEX_NONE) {
		cell_null(ret_cell);
		return;
	}
	const char *text = index_textn(c->ix, string, &len);
	cell_text(ret_cell, text, len);
}

void cell_known(query_cell *ret_cell, int64_t value)
{
	if (value < 0)
		cell_null(ret_cell);
	else
		cell_int(ret_cell, value);
}

void cell_args(query_cursor *c, uint64_t args, query_cell *ret_cell)
{
	args_reader *r = args && args <= UINT32_MAX ? cursor_args(c) : NULL;
	args_text text;

	cell_null(ret_cell);
	if (!r || !args_read(r, (uint32_t)args, &text) || !text.args)
		return;
	cell_text(ret_cell, text.args, text.args_len);
	ret_cell->is_fleeting = true;
}

void get_number(query_cursor *c, uint64_t number, unsigned which, query_cell *ret_cell)
{
	(void)c, (void)which;
	cell_int(ret_cell, (int64_t)number);
}

void get_site(query_cursor *c, uint64_t site, unsigned which, query_cell *ret_cell)
{
	if (site >= c->n_sites) {
		cell_null(ret_cell);
		return;
	}
	const index_site *s = &c->sites[site];
	switch (which) {
	case SITE_NAME:
		cell_string_of(c, s->name, ret_cell);
		break;
	case SITE_CATEGORY:
		cell_string_of(c, s->category, ret_cell);
		break;
	case SITE_CLASS:
		cell_constant(ret_cell, class_names[s->class < CLASS_KINDS ? s->class : CLASS_OTHER]);
		break;
	case SITE_CALLS:
		cell_int(ret_cell, (int64_t)s->n_slices);
		break;
	case SITE_TOTAL:
		cell_int(ret_cell, s->total_ns);
		break;
	case SITE_SELF:
		cell_int(ret_cell, s->self_ns);
		break;
	default: /* without slices there is neither */
		if (s->n_slices)
			cell_int(ret_cell, which == SITE_MIN ? s->min_ns : s->max_ns);
		else
			cell_null(ret_cell);
	}
}

/* What a track's process says. */
static void get_of_process(const query_cursor *c, const index_track *t, unsigned which, query_cell *ret_cell)
{
	size_t n;
	const index_process *processes = index_processes(c->ix, &n);

	if (t->process >= n) {
		cell_null(ret_cell);
		return;
	}
	const index_process *p = &processes[t->process];
	if (which == TRACK_RANK || which == TRACK_DEVICE)
		cell_known(ret_cell, which == TRACK_RANK ? p->rank : p->device);
	else if (which == TRACK_PROCESS_NAME)
		cell_string_of(c, p->name, ret_cell);
	else if (p->pid_text != INDEX_NONE)
		cell_string_of(c, p->pid_text, ret_cell);
	else
		cell_int(ret_cell, p->pid);
}

static void get_id(const query_cursor *c, const index_track *t, bool is_there, query_cell *ret_cell)
{
	if (!is_there)
		cell_null(ret_cell);
	else if (t->id_text != INDEX_NONE)
		cell_string_of(c, t->id_text, ret_cell);
	else
		cell_int(ret_cell, t->id);
}

void get_track(query_cursor *c, uint64_t track, unsigned which, query_cell *ret_cell)
{
	if (track >= c->n_tracks) {
		cell_null(ret_cell);
		return;
	}
	const index_track *t = &c->tracks[track];
	switch (which) {
	case TRACK_NUMBER:
		cell_int(ret_cell, (int64_t)track);
		break;
	case TRACK_KIND:
		cell_constant(ret_cell, kind_names[t->kind < TRACK_KINDS ? t->kind : TRACK_THREAD]);
		break;
	case TRACK_NAME:
		cell_string_of(c, t->name, ret_cell);
		break;
	case TRACK_TID:
		get_id(c, t, t->kind == TRACK_THREAD, ret_cell);
		break;
	case TRACK_STREAM_NUMBER:
		get_id(c, t, t->kind == TRACK_STREAM, ret_cell);
		break;
	case TRACK_DEVICE:
		if (t->device >= 0)
			cell_int(ret_cell, t->device);
		else
			get_of_process(c, t, which, ret_cell);
		break;
	case TRACK_CATEGORY:
		cell_string_of(c, t->category, ret_cell);
		break;
	case TRACK_PROCESS_NUMBER:
		cell_int(ret_cell, t->process);
		break;
	case TRACK_SORT:
		cell_int(ret_cell, t->sort);
		break;
	case TRACK_LANES:
		cell_int(ret_cell, t->n_lanes);
		break;
	case TRACK_SLICES:
		cell_int(ret_cell, (int64_t)t->n_slices);
		break;
	default:
		get_of_process(c, t, which, ret_cell);
	}
}
