/* A walk that goes on where it stopped, when its recording has grown; see walk.h. */
#include "base/error.h"
#include "import/recording/walk_state.h"

static walk *begin_part(const walk_part *part, const walk_apart *apart, sonde_error *err)
{
	walk *w = calloc(1, sizeof *w);

	if (!w) {
		error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		return NULL;
	}
	w->trace = part->trace;
	w->sink = part->sink;
	w->counts = *part->counts;
	w->n_done = part->n_done;
	w->n_total = part->n_total;
	w->apart = *apart;
	return w;
}

static sonde_status end_part(walk *w, walk_part *part, walk_apart *apart, sonde_error *err)
{
	sonde_status status = walk_status(w, err);

	*part->counts = w->counts;
	part->n_done = w->n_done;
	*apart = w->apart;
	free(w->n_open);
	free(w);
	return status;
}

/* What is open was begun in a trace that may be gone: its names are those of this one. */
static void enter_position(walk *w, const trace_thread *thread, const walk_position *p)
{
	walk_enter(w, thread);
	w->now_ns = p->now_ns;
	w->stack = p->stack;
	for (size_t i = 0; i < w->stack.n; i++) {
		slice *s = &w->stack.items[i];
		s->site = walk_find_site(w, s->name_id);
		s->outer = i ? s[-1].user : NULL;
	}
}

sonde_status walk_go_on(walk_part *part, const trace_thread *thread, size_t end_block, bool closes,
			walk_position *position, walk_apart *apart, sonde_error *err)
{
	walk *w = begin_part(part, apart, err);

	if (!w)
		return SONDE_E_MEMORY;
	enter_position(w, thread, position);
	for (size_t i = thread->first_block; i < end_block && !w->failed; i++) {
		const recording_block *b = &w->trace->blocks.items[i];
		uint64_t end_word = b->head.first_word + b->head.n_words;
		if (end_word <= position->next_word)
			continue;
		if (!walk_goes_on(w))
			break;
		walk_block(w, b, position->next_word);
		position->next_word = end_word;
	}
	if (closes)
		walk_close(w);
	position->now_ns = w->now_ns;
	position->stack = w->stack;
	return end_part(w, part, apart, err);
}

sonde_status walk_settle(walk_part *part, uint32_t stream, bool closes, walk_apart *apart, sonde_error *err)
{
	walk *w = begin_part(part, apart, err);

	if (!w)
		return SONDE_E_MEMORY;
	w->stream = &w->trace->streams.items[stream];
	walk_finish_pending(w, closes);
	return end_part(w, part, apart, err);
}

void walk_position_done(walk_position *p)
{
	VEC_DONE(&p->stack);
}

void walk_apart_done(walk_apart *a)
{
	VEC_DONE(&a->pending);
	VEC_DONE(&a->ends);
	intern_done(&a->stacks.ids);
	VEC_DONE(&a->stacks.places);
	VEC_DONE(&a->stacks.addresses);
}
