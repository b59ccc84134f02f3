/*
 * Random recordings: two processes with several threads and everything that an event can be. They grow block by block.
 *
 *   random_run r;
 *   make_run(&r, 17, 3000);                           always the same one for a seed
 *   trace_open_memory(r.m.bytes, r.cuts.items[i], ..) what there was of it behind block i
 *   put(&r, 0, 1, (made_event){ .code = MARK });      more: of the second thread of the first process
 *   flush(&r, 0, 1);
 *   run_done(&r);
 */
#ifndef SONDE_TESTS_RANDOM_RECORDING_H
#define SONDE_TESTS_RANDOM_RECORDING_H

#include "base/vec.h"
#include "unit/import/recording/make_file.h"
#include <sonde/record.h>

enum { SCOPE = 140, N_SCOPES = 6, PHASE = 150, STEP, MARK, COUNTER, OP, QUEUE, FLOW, LATE };
enum { THREADS = 3, STREAMS = 2 };

typedef struct thread_state {
	made_event events[600];
	size_t n, depth;
	uint32_t open[40];
} thread_state;

typedef struct random_run {
	maker m;
	thread_state threads[STREAMS][THREADS];
	uint64_t ticks, next_serial, serials[STREAMS][64], seed;
	size_t n_serials[STREAMS];
	name_kind step_kind;
	VEC(size_t) cuts; /* behind every block */
	stream_state state;
} random_run;

static inline uint64_t below(random_run *r, uint64_t n)
{
	r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (r->seed >> 33) % n;
}

static inline void cut_here(random_run *r)
{
	size_t *cut = VEC_ADD(&r->cuts);

	assert_non_null(cut);
	*cut = r->m.len;
}

static inline void use_stream(random_run *r, size_t stream)
{
	r->m.stream = MAKE_STREAM + stream;
}

/* The clock runs a little faster now and then. */
static inline void put_clock(random_run *r, size_t stream)
{
	clock_pair pair = { r->ticks, (int64_t)(r->ticks + r->ticks / 3 + below(r, 50)), 0 };

	use_stream(r, stream);
	make_clock(&r->m, &pair, 1);
	r->ticks += 100; /* pairs rise */
	cut_here(r);
}

static inline void flush(random_run *r, size_t stream, size_t thread)
{
	thread_state *t = &r->threads[stream][thread];

	if (!t->n)
		return;
	use_stream(r, stream);
	make_events(&r->m, (uint32_t)(stream * THREADS + thread), t->events, t->n);
	t->n = 0;
	cut_here(r);
}

static inline void put(random_run *r, size_t stream, size_t thread, made_event e)
{
	thread_state *t = &r->threads[stream][thread];

	r->ticks += 1 + below(r, 200);
	e.ticks = r->ticks;
	t->events[t->n++] = e;
	if (t->n == 300 || below(r, 80) == 0)
		flush(r, stream, thread);
}

static inline void put_scope(random_run *r, size_t stream, size_t thread)
{
	thread_state *t = &r->threads[stream][thread];

	if (t->depth && (t->depth == 40 || below(r, 2))) {
		size_t at = below(r, 50) ? t->depth - 1 : below(r, t->depth); /* some ends are missing */
		put(r, stream, thread, (made_event){ .code = END | t->open[at] });
		t->depth = at;
	} else {
		uint32_t id = SCOPE + (uint32_t)below(r, N_SCOPES);
		t->open[t->depth++] = id;
		put(r, stream, thread, (made_event){ .code = id });
	}
}

static inline void put_op(random_run *r, size_t stream, size_t thread)
{
	size_t n = r->n_serials[stream];

	if (n && (n == 64 || below(r, 2))) {
		size_t at = below(r, n);
		put(r, stream, thread,
		    (made_event){ .code = EVENT_OP_END, .n_words = 1, .words = { r->serials[stream][at] } });
		r->serials[stream][at] = r->serials[stream][n - 1];
		r->n_serials[stream]--;
	} else {
		uint64_t serial = ++r->next_serial;
		r->serials[stream][r->n_serials[stream]++] = serial;
		put(r, stream, thread,
		    (made_event){
			    .code = EVENT_OP_BEGIN,
			    .n_words = 7,
			    .words = { serial, OP, make_double(2), make_double(3), 3, make_text("f32"), UINT64_MAX } });
	}
}

static inline void put_device(random_run *r, size_t stream, size_t thread)
{
	uint64_t launch = ++r->next_serial, start = r->ticks + r->ticks / 3 + below(r, 500);

	put(r, stream, thread, (made_event){ .code = EVENT_LAUNCH, .n_words = 3, .words = { SCOPE, QUEUE, launch } });
	put(r, stream, thread,
	    (made_event){ .code = EVENT_STREAM_SLICE,
			  .n_words = 5,
			  .words = { QUEUE, launch, SCOPE + 1, start, start + below(r, 300) } });
}

static inline void put_memory(random_run *r, size_t stream, size_t thread)
{
	uint64_t address = 4096 + below(r, 100) * 64;

	if (below(r, 2))
		put(r, stream, thread,
		    (made_event){ .code = EVENT_ALLOC,
				  .n_words = 5,
				  .words = { SONDE_CPU, address, 64, below(r, 3), r->ticks } });
	else
		put(r, stream, thread,
		    (made_event){ .code = EVENT_FREE, .n_words = 4, .words = { SONDE_CPU, address, 64, r->ticks } });
	if (below(r, 3) == 0)
		put(r, stream, thread,
		    (made_event){ .code = EVENT_STACK, .n_words = 2, .words = { below(r, 9000), 77 } });
}

static inline void put_said(random_run *r, size_t stream, size_t thread)
{
	uint64_t value = make_text("v0") + below(r, 9) * 256;

	if (below(r, 2))
		put(r, stream, thread,
		    (made_event){ .code = EVENT_META, .n_words = 4, .words = { 3, make_text("key"), 2, value } });
	else
		put(r, stream, thread,
		    (made_event){ .code = below(r, 2) ? EVENT_PROCESS_NAME : EVENT_THREAD_NAME,
				  .n_words = 2,
				  .words = { 2, value } });
}

static inline void put_other(random_run *r, size_t stream, size_t thread)
{
	switch (below(r, 9)) {
	case 0:
		put(r, stream, thread, (made_event){ .code = PHASE });
		break;
	case 1:
		put(r, stream, thread, (made_event){ .code = STEP, .n_words = 1, .words = { r->ticks } });
		break;
	case 2:
		put(r, stream, thread, (made_event){ .code = MARK });
		break;
	case 3:
		put(r, stream, thread,
		    (made_event){ .code = COUNTER, .n_words = 1, .words = { make_double((double)below(r, 100)) } });
		break;
	case 4:
		put(r, stream, thread,
		    (made_event){ .code = below(r, 2) ? EVENT_FLOW_BEGIN : EVENT_FLOW_END,
				  .n_words = 2,
				  .words = { FLOW, below(r, 20) } });
		break;
	case 5:
		put_device(r, stream, thread);
		break;
	case 6:
		put_said(r, stream, thread);
		break;
	case 7:
		put(r, stream, thread,
		    (made_event){ .code = EVENT_OP_RECORD,
				  .n_words = 3,
				  .words = { OP, r->ticks + r->ticks / 3, below(r, 900) } });
		break;
	default:
		put_memory(r, stream, thread);
	}
}

static inline void put_names(random_run *r)
{
	char name[] = "scope 0";

	for (uint16_t i = 0; i < N_SCOPES; i++, name[6]++)
		make_name(&r->m, (uint16_t)(SCOPE + i), NAME_SCOPE, name);
	make_name(&r->m, PHASE, NAME_PHASE, "phase");
	make_name(&r->m, STEP, r->step_kind, "step");
	make_name(&r->m, MARK, NAME_MARK, "mark");
	make_name(&r->m, COUNTER, NAME_COUNTER, "counter");
	make_name(&r->m, OP, NAME_OP, "op");
	make_name(&r->m, QUEUE, NAME_STREAM, "queue");
	make_name(&r->m, FLOW, NAME_SCOPE, "flow");
}

static inline void put_stream(random_run *r, size_t stream)
{
	stream_block info = { .state = r->state,
			      .role = ROLE_PROGRAM,
			      .clock = CLOCK_TSC,
			      .pid = (uint32_t)(77 + stream),
			      .start_ns = (int64_t)(r->ticks + r->ticks / 3),
			      .program = "train" };

	use_stream(r, stream);
	make_stream(&r->m, &info);
	put_names(r);
	put_clock(r, stream);
}

/* step_kind: what a step is recorded as; state: of its programs. */
static inline void make_run_as(random_run *r, uint64_t seed, size_t n_events, name_kind step_kind, stream_state state)
{
	*r = (random_run){ .seed = seed, .ticks = 1000, .step_kind = step_kind, .state = state };
	put_stream(r, 0);
	for (size_t i = 0; i < n_events; i++) {
		/* The second process and the last threads come later. */
		size_t stream = i > n_events / 4 ? below(r, STREAMS) : 0;
		size_t thread = below(r, i > n_events / 3 ? THREADS : THREADS - 1);
		if (i == n_events / 4)
			put_stream(r, 1);
		if (below(r, 300) == 0)
			put_clock(r, stream);
		uint64_t what = below(r, 10);
		if (what < 7)
			put_scope(r, stream, thread);
		else if (what == 7)
			put_op(r, stream, thread);
		else
			put_other(r, stream, thread);
	}
	for (size_t s = 0; s < STREAMS; s++)
		for (size_t t = 0; t < THREADS; t++)
			flush(r, s, t);
	put_clock(r, 0);
	put_clock(r, 1);
}

/* Of programs that still run. */
static inline void make_run(random_run *r, uint64_t seed, size_t n_events)
{
	make_run_as(r, seed, n_events, NAME_STEP, STREAM_OPEN);
}

static inline void run_done(random_run *r)
{
	VEC_DONE(&r->cuts);
	make_done(&r->m);
}

#endif
