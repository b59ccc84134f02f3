/* Events, paired and repaired. What a sink sees is written down as a line, see log_*(). */
#include <sonde/record.h>
#include "import/recording/walk.h"
#include "unit/import/recording/make_file.h"

enum { A = 40, B, C, PHASE_P = 50, PHASE_Q, STEP = 60, OTHER_STEP, MARK = 70, COUNTER, OP = 80, QUEUE = 90 };

/* ---- What was seen ----------------------------------------------------------------------------------------------- */

typedef struct seen {
	char text[8192];
	size_t len;
	const recording *trace;
} seen;

static void note(seen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(seen *s, const char *format, ...)
{
	va_list args;

	if (s->len)
		s->len += (size_t)snprintf(s->text + s->len, sizeof s->text - s->len, " ");
	va_start(args, format);
	s->len += (size_t)vsnprintf(s->text + s->len, sizeof s->text - s->len, format, args);
	va_end(args);
	assert_true(s->len < sizeof s->text);
}

static const char *name_of(const seen *s, const trace_site *site)
{
	return recording_text(s->trace, site->name);
}

/* +name@start */
static void log_begin(void *context, slice *s, const event *e)
{
	(void)e;
	note(context, "+%s@%d", name_of(context, s->site), (int)s->start_ns);
}

/* -name@start+duration/children, then #number of a step, ~ for one that need not nest, ? open, ! repaired */
static void log_end(void *context, slice *s)
{
	char number[32] = "";

	if (s->site->kind == NAME_STEP)
		snprintf(number, sizeof number, "#%d", (int)s->number);
	note(context, "-%s@%d+%d/%d%s%s%s%s", name_of(context, s->site), (int)s->start_ns, (int)s->dur_ns,
	     (int)s->child_ns, number, s->flags & SLICE_ASYNC ? "~" : "", s->flags & SLICE_OPEN ? "?" : "",
	     s->flags & SLICE_REPAIRED ? "!" : "");
}

static void log_thread(void *context, const trace_thread *thread)
{
	if (thread->number > 1)
		note(context, "thread%u", thread->number);
}

static void log_named(void *context, const trace_thread *thread, const char *name, size_t len, bool process)
{
	(void)thread;
	note(context, "%s=%.*s", process ? "process" : "name", (int)len, name);
}

static void log_instant(void *context, const trace_site *site, int64_t time_ns, const event *e)
{
	(void)e;
	note(context, "*%s@%d", name_of(context, site), (int)time_ns);
}

static void log_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	note(context, "%s@%d=%g", name_of(context, site), (int)time_ns, value);
}

static void log_flow(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins)
{
	note(context, "%s%s@%d:%d", begins ? ">" : "<", name_of(context, site), (int)time_ns, (int)id);
}

static void log_memory(void *context, const walk_memory *m)
{
	note(context, "%s%u:%d=%d@%d in %s", m->is_free ? "free" : "alloc", m->device, (int)m->bytes,
	     (int)m->current_bytes, (int)m->time_ns, m->inside ? name_of(context, m->inside->site) : "-");
}

static void log_launch(void *context, const trace_site *site, int64_t time_ns, uint32_t stream, uint64_t id)
{
	note(context, "launch %s@%d on %u:%d", name_of(context, site), (int)time_ns, stream, (int)id);
}

static void log_device(void *context, const walk_device *d)
{
	note(context, "device %s@%d..%d on %u:%d", name_of(context, d->site), (int)d->start_ns, (int)d->end_ns,
	     d->stream, (int)d->launch);
}

static void log_meta(void *context, const char *key, size_t key_len, const char *value, size_t value_len)
{
	note(context, "meta %.*s=%.*s", (int)key_len, key, (int)value_len, value);
}

static walk_counts walk_into(const maker *m, seen *s)
{
	const walk_sink sink = {
		.context = s,
		.thread = log_thread,
		.named = log_named,
		.begin = log_begin,
		.end = log_end,
		.instant = log_instant,
		.counter = log_counter,
		.flow = log_flow,
		.memory = log_memory,
		.launch = log_launch,
		.device = log_device,
		.meta = log_meta,
	};
	recording *t = make_recording(m);
	walk_counts counts;

	*s = (seen){ .trace = t };
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	recording_free(t);
	return counts;
}

static void make_names(maker *m)
{
	static const struct {
		uint16_t id;
		name_kind kind;
		const char *name;
	} names[] = { { A, NAME_SCOPE, "a" },
		      { B, NAME_SCOPE, "b" },
		      { C, NAME_SCOPE, "c" },
		      { PHASE_P, NAME_PHASE, "p" },
		      { PHASE_Q, NAME_PHASE, "q" },
		      { STEP, NAME_STEP, "step" },
		      { OTHER_STEP, NAME_STEP, "loop" },
		      { MARK, NAME_MARK, "mark" },
		      { COUNTER, NAME_COUNTER, "loss" },
		      { OP, NAME_OP, "op" },
		      { QUEUE, NAME_STREAM, "queue" } };

	make_start(m);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		make_name(m, names[i].id, names[i].kind, names[i].name);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* Events of one thread of a recording that ends at 1000, what is seen of them, and what is counted. */
typedef struct walk_case {
	const char *what;
	made_event events[16];
	const char *seen;
	uint64_t n_open, n_repaired, n_unmatched, n_clamped;
} walk_case;

static void run_cases(const walk_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++) {
		const walk_case *c = &cases[i];
		maker m = { 0 };
		seen s;
		size_t n = 0;

		while (n < 16 && c->events[n].code)
			n++;
		make_names(&m);
		make_events(&m, 1, c->events, n);
		walk_counts counts = walk_into(&m, &s);
		if (strcmp(s.text, c->seen) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", c->what, s.text, c->seen);
		if (counts.n_open != c->n_open || counts.n_repaired != c->n_repaired ||
		    counts.n_unmatched_ends != c->n_unmatched || counts.n_clamped != c->n_clamped)
			fail_msg("%s: %d open, %d repaired, %d unmatched, %d clamped", c->what, (int)counts.n_open,
				 (int)counts.n_repaired, (int)counts.n_unmatched_ends, (int)counts.n_clamped);
		make_done(&m);
	}
}
#define RUN_CASES(cases) run_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void scopes_nest(void **state)
{
	static const walk_case cases[] = {
		{ "one", { { 10, A }, { 30, END | A } }, "+a@10 -a@10+20/0" },
		{ "no time at all", { { 10, A }, { 10, END | A } }, "+a@10 -a@10+0/0" },
		{ "two inside one",
		  { { 10, A }, { 12, B }, { 15, END | B }, { 20, C }, { 27, END | C }, { 30, END | A } },
		  "+a@10 +b@12 -b@12+3/0 +c@20 -c@20+7/0 -a@10+20/10" },
		{ "itself",
		  { { 10, A }, { 12, A }, { 15, END | A }, { 30, END | A } },
		  "+a@10 +a@12 -a@12+3/0 -a@10+20/3" },
		{ "ended without a name",
		  { { 10, A }, { 12, B }, { 15, END }, { 30, END } },
		  "+a@10 +b@12 -b@12+3/0 -a@10+20/3" },
		{ "an end without a begin",
		  { { 10, END | A }, { 20, A }, { 25, END | B }, { 30, END | A }, { 40, END } },
		  "+a@20 -a@20+10/0",
		  .n_unmatched = 3 },
		{ "open at the end of the recording",
		  { { 10, A }, { 20, B } },
		  "+a@10 +b@20 -b@20+980/0? -a@10+990/980?",
		  .n_open = 2 },
		/* longjmp from b to a: a's end says that b is over */
		{ "left without an end",
		  { { 10, A }, { 12, B }, { 14, C }, { 30, END | A } },
		  "+a@10 +b@12 +c@14 -c@14+16/0! -b@12+18/16! -a@10+20/18",
		  .n_repaired = 2 },
		{ "left without an end, again and again",
		  { { 10, A }, { 12, B }, { 20, END | A }, { 30, A }, { 31, B }, { 32, END | B }, { 40, END | A } },
		  "+a@10 +b@12 -b@12+8/0! -a@10+10/8 +a@30 +b@31 -b@31+1/0 -a@30+10/1",
		  .n_repaired = 1 },
	};

	(void)state;
	RUN_CASES(cases);
}

static void phases_follow_each_other(void **state)
{
	static const walk_case cases[] = {
		{ "the next one ends the last",
		  { { 10, A }, { 11, PHASE_P }, { 20, PHASE_Q }, { 40, END | A } },
		  "+a@10 +p@11 -p@11+9/0 +q@20 -q@20+20/0 -a@10+30/29" },
		{ "the same again", { { 10, PHASE_P }, { 20, PHASE_P } }, "+p@10 -p@10+10/0 +p@20 -p@20+980/0" },
		{ "scopes inside belong to them",
		  { { 10, A }, { 11, PHASE_P }, { 12, B }, { 15, END | B }, { 20, PHASE_Q }, { 40, END | A } },
		  "+a@10 +p@11 +b@12 -b@12+3/0 -p@11+9/3 +q@20 -q@20+20/0 -a@10+30/29" },
		{ "an end without a name means the scope around",
		  { { 10, A }, { 11, PHASE_P }, { 20, END }, { 30, END } },
		  "+a@10 +p@11 -p@11+9/0 -a@10+10/9",
		  .n_unmatched = 1 },
		{ "inside a scope inside a phase",
		  { { 10, PHASE_P }, { 20, A }, { 21, PHASE_Q }, { 30, END | A }, { 40, PHASE_Q }, { 50, PHASE_P } },
		  "+p@10 +a@20 +q@21 -q@21+9/0 -a@20+10/9 -p@10+30/10 +q@40 -q@40+10/0 +p@50 -p@50+950/0" },
		{ "left with a scope in them",
		  { { 10, A }, { 11, PHASE_P }, { 12, B }, { 20, END | A } },
		  "+a@10 +p@11 +b@12 -b@12+8/0! -p@11+9/8 -a@10+10/9",
		  .n_repaired = 1 },
	};

	(void)state;
	RUN_CASES(cases);
}

static void steps_have_numbers_and_ends(void **state)
{
	static const walk_case cases[] = {
		{ "by a block",
		  { { 10, STEP, 1, { 7 } }, { 20, END | STEP }, { 20, STEP, 1, { 8 } }, { 31, END | STEP } },
		  "+step@10 -step@10+10/0#7 +step@20 -step@20+11/0#8" },
		{ "by the next one",
		  { { 10, STEP, 1, { 7 } }, { 20, STEP, 1, { 8 } }, { 31, END | STEP } },
		  "+step@10 -step@10+10/0#7 +step@20 -step@20+11/0#8" },
		{ "by the next one, with phases in it",
		  { { 10, STEP, 1, { 0 } },
		    { 12, PHASE_P },
		    { 20, STEP, 1, { 1 } },
		    { 21, PHASE_P },
		    { 31, END | STEP } },
		  "+step@10 +p@12 -p@12+8/0 -step@10+10/8#0 +step@20 +p@21 -p@21+10/0 -step@20+11/10#1" },
		{ "by the next one, with a scope left in it",
		  { { 10, STEP, 1, { 0 } }, { 12, A }, { 20, STEP, 1, { 1 } }, { 31, END | STEP } },
		  "+step@10 +a@12 -a@12+8/0! -step@10+10/8#0 +step@20 -step@20+11/0#1",
		  .n_repaired = 1 },
		{ "negative, as it was given",
		  { { 10, STEP, 1, { (uint64_t)-5 } }, { 20, END | STEP } },
		  "+step@10 -step@10+10/0#-5" },
		{ "another loop's steps inside",
		  { { 10, STEP, 1, { 0 } },
		    { 12, OTHER_STEP, 1, { 5 } },
		    { 15, OTHER_STEP, 1, { 6 } },
		    { 20, END | STEP } },
		  "+step@10 +loop@12 -loop@12+3/0#5 +loop@15 -loop@15+5/0#6! -step@10+10/8#0",
		  .n_repaired = 1 },
		{ "open at the end", { { 10, STEP, 1, { 3 } } }, "+step@10 -step@10+990/0#3?", .n_open = 1 },
		{ "without a number", { { 10, STEP }, { 20, END | STEP } }, "+step@10 -step@10+10/0#0" },
	};

	(void)state;
	RUN_CASES(cases);
}

static void operations_end_in_any_order(void **state)
{
#define OP_BEGIN(time, serial)                                                                                         \
	{                                                                                                              \
		time, EVENT_OP_BEGIN, 4,                                                                               \
		{                                                                                                      \
			serial, OP                                                                                     \
		}                                                                                                      \
	}
#define OP_END(time, serial)                                                                                           \
	{                                                                                                              \
		time, EVENT_OP_END, 1,                                                                                 \
		{                                                                                                      \
			serial                                                                                         \
		}                                                                                                      \
	}
	static const walk_case cases[] = {
		{ "nested",
		  { { 10, A }, OP_BEGIN(12, 1), OP_END(20, 1), { 30, END | A } },
		  "+a@10 +op@12 -op@12+8/0~ -a@10+20/8" },
		{ "with a scope inside",
		  { OP_BEGIN(12, 1), { 14, A }, { 16, END | A }, OP_END(20, 1) },
		  "+op@12 +a@14 -a@14+2/0 -op@12+8/2~" },
		{ "the first one first",
		  { OP_BEGIN(10, 1), OP_BEGIN(12, 2), OP_END(20, 1), OP_END(22, 2) },
		  "+op@10 +op@12 -op@10+10/0~ -op@12+10/0~" },
		{ "inside a scope that began later",
		  { OP_BEGIN(10, 1), { 12, A }, OP_END(20, 1), { 30, END | A } },
		  "+op@10 +a@12 -op@10+10/0~ -a@12+18/0" },
		{ "after the scope in which it began",
		  { { 10, A }, OP_BEGIN(12, 1), { 20, END | A }, OP_END(50, 1) },
		  "+a@10 +op@12 -a@10+10/0 -op@12+38/0~" },
		{ "after it, with a scope inside that is inside of both",
		  { { 10, A }, OP_BEGIN(12, 1), { 14, B }, { 16, END | B }, { 20, END | A }, OP_END(50, 1) },
		  "+a@10 +op@12 +b@14 -b@14+2/0 -a@10+10/2 -op@12+38/2~" },
		{ "between scopes that are inside of both",
		  { { 10, A },
		    OP_BEGIN(12, 1),
		    { 14, B },
		    { 16, END | B },
		    { 17, B },
		    OP_END(18, 1),
		    { 19, END | B },
		    { 20, END | A } },
		  "+a@10 +op@12 +b@14 -b@14+2/0 +b@17 -op@12+6/2~ -b@17+2/0 -a@10+10/4" },
		{ "never",
		  { { 10, A }, OP_BEGIN(12, 1), { 20, END | A } },
		  "+a@10 +op@12 -a@10+10/0 -op@12+988/0~?",
		  .n_open = 1 },
		{ "twice", { OP_BEGIN(10, 1), OP_END(20, 1), OP_END(30, 1) }, "+op@10 -op@10+10/0~", .n_unmatched = 1 },
		{ "without ever beginning", { OP_END(30, 9) }, "", .n_unmatched = 1 },
	};

	(void)state;
	RUN_CASES(cases);
}

static void times_never_run_backwards(void **state)
{
	static const walk_case cases[] = {
		{ "an end before its begin", { { 50, A }, { 40, END | A } }, "+a@50 -a@50+0/0", .n_clamped = 1 },
		{ "a begin before its predecessor",
		  { { 50, A }, { 40, B }, { 60, END | B }, { 70, END | A } },
		  "+a@50 +b@50 -b@50+10/0 -a@50+20/10",
		  .n_clamped = 1 },
		{ "a measured time below 0",
		  { { 50, EVENT_OP_RECORD, 3, { OP, 20, (uint64_t)-7 } } },
		  "+op@20 -op@20+0/0~",
		  .n_clamped = 1 },
		{ "a device that ends before it begins",
		  { { 50, EVENT_STREAM_SLICE, 5, { QUEUE, 0, OP, 30, 20 } } },
		  "device op@30..30 on 90:0",
		  .n_clamped = 1 },
	};

	(void)state;
	RUN_CASES(cases);
}

static void everything_else_is_seen_too(void **state)
{
	const walk_case cases[] = {
		{ "marks and counters",
		  { { 10, MARK }, { 20, COUNTER, 1, { make_double(-1.5) } }, { 30, COUNTER } },
		  "*mark@10 loss@20=-1.5 loss@30=0" },
		{ "flows",
		  { { 10, EVENT_FLOW_BEGIN, 2, { MARK, 5 } }, { 20, EVENT_FLOW_END, 2, { MARK, 5 } } },
		  ">mark@10:5 <mark@20:5" },
		{ "memory",
		  { { 10, EVENT_ALLOC, 5, { 1, 4096, 100, 7, 150 } },
		    { 20, A },
		    { 30, EVENT_FREE, 4, { 1, 4096, 100, 50 } },
		    { 40, END | A } },
		  "alloc1:100=150@10 in - +a@20 free1:100=50@30 in a -a@20+20/0" },
		{ "devices",
		  { { 10, EVENT_LAUNCH, 3, { OP, QUEUE, 6 } },
		    { 20, EVENT_STREAM_SLICE, 5, { QUEUE, 6, OP, 12, 18 } } },
		  "launch op@10 on 90:6 device op@12..18 on 90:6" },
		{ "measured elsewhere", { { 50, EVENT_OP_RECORD, 3, { OP, 20, 15 } } }, "+op@20 -op@20+15/0~" },
		{ "texts",
		  { { 10, EVENT_META, 4, { 5, make_text("model"), 6, make_text("resnet") } },
		    { 11, EVENT_THREAD_NAME, 2, { 4, make_text("main") } },
		    { 12, EVENT_PROCESS_NAME, 2, { 6, make_text("rank 3") } } },
		  "meta model=resnet name=main process=rank 3" },
		{ "nothing to see",
		  { { 10, EVENT_PAUSE, 1, { 1 } },
		    { 11, EVENT_STACK, 2, { 1, 2 } },
		    { 12, EVENT_SNAPSHOT, 4, { 1 } },
		    { 13, EVENT_OP_META, 5, { 1 } },
		    { 14, 30, 1, { 1 } } },
		  "" },
	};

	(void)state;
	RUN_CASES(cases);
}

/* Of a recording by a stranger, or of a later version. */
static void payloads_that_are_too_short_are_passed_over(void **state)
{
	static const uint32_t codes[] = {
		EVENT_THREAD_NAME,
		EVENT_PROCESS_NAME,
		EVENT_META,
		EVENT_ALLOC,
		EVENT_FREE,
		EVENT_SNAPSHOT,
		EVENT_FLOW_BEGIN,
		EVENT_FLOW_END,
		EVENT_OP_BEGIN,
		EVENT_OP_END,
		EVENT_OP_META,
		EVENT_OP_RECORD,
		EVENT_LAUNCH,
		EVENT_STREAM_SLICE,
		EVENT_STACK,
		EVENT_PAUSE,
		A,
		STEP,
		COUNTER,
		OP,
	};

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		for (uint32_t n = 0; n <= 5; n++) {
			maker m = { 0 };
			seen s;
			make_names(&m);
			MAKE_EVENTS(&m, 1, { 10, codes[i], n, { UINT64_MAX, UINT64_MAX, UINT64_MAX, 3, 1 } });
			walk_into(&m, &s);
			make_done(&m);
		}
}

static void an_operation_may_end_on_another_thread(void **state)
{
	maker m = { 0 };
	seen s;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, A }, OP_BEGIN(12, 1), OP_BEGIN(13, 2), { 20, END | A });
	MAKE_EVENTS(&m, 2, { 5, B }, OP_END(40, 2), OP_END(50, 1), { 60, END | B });
	walk_counts counts = walk_into(&m, &s);
	assert_string_equal(s.text, "+a@10 +op@12 +op@13 -a@10+10/0 thread2 +b@5 -b@5+55/0 -op@13+27/0~ -op@12+38/0~");
	assert_int_equal(counts.n_open + counts.n_repaired + counts.n_unmatched_ends, 0);
	make_done(&m);
}

static void log_operation(void *context, slice *s)
{
	if (s->flags & SLICE_ASYNC)
		log_end(context, s);
}

/* The end of an operation that lies below more scopes than are looked through, see NEAR in walk.c. */
static void an_operation_deep_in_the_stack_still_gets_its_end(void **state)
{
	enum { DEPTH = 700 };
	maker m = { 0 };
	seen s;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, OP_BEGIN(1, 1));
	for (uint64_t i = 0; i < DEPTH; i++)
		MAKE_EVENTS(&m, 1, { 2 + i / 10, A });
	MAKE_EVENTS(&m, 1, OP_END(100, 1));
	for (uint64_t i = 0; i < DEPTH; i++)
		MAKE_EVENTS(&m, 1, { 200, END | A });
	recording *t = make_recording(&m);
	const walk_sink sink = { .context = &s, .end = log_operation };
	walk_counts counts;
	s = (seen){ .trace = t };
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	assert_string_equal(s.text, "-op@1+99/198~");
	assert_int_equal(counts.n_slices, DEPTH + 1);
	assert_int_equal(counts.n_open + counts.n_repaired + counts.n_unmatched_ends, 0);
	recording_free(t);
	make_done(&m);
}

static void threads_do_not_mix(void **state)
{
	maker m = { 0 };
	seen s;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 2, { 10, A });
	MAKE_EVENTS(&m, 1, { 11, B });
	MAKE_EVENTS(&m, 2, { 12, END | B }, { 13, END | A });
	MAKE_EVENTS(&m, 1, { 14, END | B });
	walk_counts counts = walk_into(&m, &s);
	assert_string_equal(s.text, "+b@11 -b@11+3/0 thread2 +a@10 -a@10+3/0");
	assert_int_equal(counts.n_unmatched_ends, 1);
	make_done(&m);
}

static void a_recording_that_was_not_closed_ends_with_its_last_event(void **state)
{
	maker m = { 0 };
	seen s;

	(void)state;
	make_names(&m);
	stream_block info = m.info;
	info.state = STREAM_RECOVERED;
	info.end_ns = 0;
	make_stream(&m, &info);
	MAKE_EVENTS(&m, 1, { 10, A }, { 20, MARK });
	MAKE_EVENTS(&m, 2, { 10, A }, { 700, MARK });
	walk_into(&m, &s);
	assert_string_equal(s.text, "+a@10 *mark@20 -a@10+10/0? thread2 +a@10 *mark@700 -a@10+690/0?");
	make_done(&m);
}

static void names_that_nothing_explains_are_counted_and_shown(void **state)
{
	maker m = { 0 };
	seen s;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, 999 }, { 20, END | 999 }, { 30, NAME_FULL_ID }, { 40, END | NAME_FULL_ID });
	walk_counts counts = walk_into(&m, &s);
	assert_string_equal(s.text, "+(unnamed)@10 -(unnamed)@10+10/0 +(too many names)@30 -(too many names)@30+10/0");
	assert_int_equal(counts.n_unknown, 1);
	make_done(&m);
}

/* ---- Much ----------------------------------------------------------------------------------------------------------
 */

static void make_many(maker *m, uint64_t first_word, size_t n, made_event what)
{
	enum { BATCH = 4000 };
	static made_event events[BATCH];

	for (size_t i = 0; i < BATCH; i++)
		events[i] = what;
	for (; n; n -= n < BATCH ? n : BATCH, first_word += BATCH * (what.n_words ? 2 + what.n_words : 1))
		make_events_at(m, 1, first_word, events, n < BATCH ? n : BATCH);
}

static void nesting_beyond_any_stack_is_counted(void **state)
{
	maker m = { 0 };
	walk_counts counts;
	const walk_sink silent = { 0 };

	(void)state;
	make_names(&m);
	make_many(&m, 0, 100010, (made_event){ 10, A });
	make_many(&m, 200000, 100000, (made_event){ 20, END | A });
	recording *t = make_recording(&m);
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_slices, 100000);
	assert_int_equal(counts.n_too_deep, 10);
	assert_int_equal(counts.n_unmatched_ends, 0);
	recording_free(t);
	make_done(&m);
}

/* A search through all of the stack for each would take minutes. */
static void ends_in_vain_below_a_deep_stack_take_no_time(void **state)
{
	maker m = { 0 };
	walk_counts counts;
	const walk_sink silent = { 0 };

	(void)state;
	make_names(&m);
	make_many(&m, 0, 90000, (made_event){ 10, A });
	make_many(&m, 200000, 200000, (made_event){ 20, END | B });
	make_many(&m, 600000, 40000, (made_event){ 30, EVENT_OP_END, 1, { 5 } });
	recording *t = make_recording(&m);
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_unmatched_ends, 240000);
	recording_free(t);
	make_done(&m);
}

/* The one that is found lies beyond what is looked through first. */
static void an_end_far_out_closes_all_that_is_inside(void **state)
{
	maker m = { 0 };
	walk_counts counts;
	const walk_sink silent = { 0 };

	(void)state;
	make_names(&m);
	make_many(&m, 0, 1, (made_event){ 5, B });
	make_many(&m, 1, 5000, (made_event){ 10, A });
	make_many(&m, 200000, 1, (made_event){ 20, END | C });
	make_many(&m, 300000, 1, (made_event){ 20, END | B });
	make_many(&m, 400000, 1, (made_event){ 20, END | A });
	make_many(&m, 500000, 1, (made_event){ 20, END | B });
	recording *t = make_recording(&m);
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_repaired, 5000);
	assert_int_equal(counts.n_unmatched_ends, 3);
	recording_free(t);
	make_done(&m);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static void log_arg(void *context, const walk_arg *arg)
{
	seen *s = context;

	note(s, "%.*s=", (int)arg->key_len, arg->key);
	if (arg->type == SONDE_ARG_I64_)
		note(s, "%d", (int)arg->i64);
	else if (arg->type == SONDE_ARG_F64_)
		note(s, "%g", arg->f64);
	else if (arg->type == SONDE_ARG_STR_)
		note(s, "'%.*s'", (int)arg->text_len, arg->text);
	else
		for (uint64_t i = 0; arg->n_dims != UINT64_MAX && i < arg->n_dims; i++)
			note(s, "%d", (int)arg->dims[i]);
}

static void log_args(void *context, slice *s, const event *e)
{
	walk_args(s->site, e, log_arg, context);
}

static void assert_args(const name_parts *parts, const made_event *e, const char *expected)
{
	maker m = { 0 };
	seen s;
	const walk_sink sink = { .context = &s, .begin = log_args };
	walk_counts counts;

	make_start(&m);
	make_name_of(&m, parts);
	make_events(&m, 1, e, 1);
	recording *t = make_recording(&m);
	s = (seen){ .trace = t };
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	assert_string_equal(s.text, expected);
	recording_free(t);
	make_done(&m);
}

static void arguments_have_their_keys_and_types(void **state)
{
	const name_parts scope = { .id = A,
				   .kind = NAME_SCOPE,
				   .name = "a",
				   .name_len = 1,
				   .args = { { SONDE_ARG_I64_, "layer" },
					     { SONDE_ARG_STR_, "type" },
					     { SONDE_ARG_SHAPE_, "x" },
					     { SONDE_ARG_F64_, "rate" } },
				   .n_args = 4 };
	const name_parts op = { .id = A, .kind = NAME_OP, .name = "a", .name_len = 1 };
	const struct {
		const name_parts *parts;
		made_event event;
		const char *expected;
	} cases[] = {
		{ &scope,
		  { 10, A, 7, { (uint64_t)-3, 3, make_text("f32"), 2, 64, 128, make_double(0.5) } },
		  "layer= -3 type= 'f32' x= 64 128 rate= 0.5" },
		{ &scope, { 10, A, 5, { 4, 0, UINT64_MAX, make_double(2) } }, "layer= 4 type= '' x= rate= 2" },
		{ &scope, { 10, A, 3, { 4, 3, make_text("f32") } }, "layer= 4 type= 'f32'" },
		{ &scope, { 10, A, 3, { 4, 300, make_text("f32") } }, "layer= 4" },
		{ &scope, { 10, A, 5, { 4, 0, 77, 1, 2 } }, "layer= 4 type= ''" },
		{ &scope, { 10, A }, "" },
		{ &op,
		  { 10, A, 7, { make_double(8), make_double(4), 3, make_text("f32"), 2, 3, 4 } },
		  "flops= 8 bytes= 4 type= 'f32' shape= 3 4" },
		{ &op, { 10, A, 4, { 0, make_double(4), 0, UINT64_MAX } }, "bytes= 4" },
		{ &op, { 10, A, 1, { make_double(8) } }, "flops= 8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_args(cases[i].parts, &cases[i].event, cases[i].expected);
}

static void add_work(void *context, slice *s)
{
	double *sums = context;

	sums[0] += s->flops;
	sums[1] += s->bytes;
}

static void operations_carry_their_work(void **state)
{
	maker m = { 0 };
	walk_counts counts;
	double sums[2] = { 0 };
	const walk_sink sink = { .context = sums, .end = add_work };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, OP, 4, { make_double(100), make_double(50), 0, 0 } }, { 20, END | OP },
		    { 30, EVENT_OP_BEGIN, 6, { 1, OP, make_double(7), make_double(3), 0, 0 } }, OP_END(40, 1));
	recording *t = make_recording(&m);
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	assert_true(sums[0] == 107 && sums[1] == 53);
	recording_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_nest),
		cmocka_unit_test(phases_follow_each_other),
		cmocka_unit_test(steps_have_numbers_and_ends),
		cmocka_unit_test(operations_end_in_any_order),
		cmocka_unit_test(times_never_run_backwards),
		cmocka_unit_test(everything_else_is_seen_too),
		cmocka_unit_test(payloads_that_are_too_short_are_passed_over),
		cmocka_unit_test(an_operation_may_end_on_another_thread),
		cmocka_unit_test(an_operation_deep_in_the_stack_still_gets_its_end),
		cmocka_unit_test(threads_do_not_mix),
		cmocka_unit_test(a_recording_that_was_not_closed_ends_with_its_last_event),
		cmocka_unit_test(names_that_nothing_explains_are_counted_and_shown),
		cmocka_unit_test(nesting_beyond_any_stack_is_counted),
		cmocka_unit_test(ends_in_vain_below_a_deep_stack_take_no_time),
		cmocka_unit_test(an_end_far_out_closes_all_that_is_inside),
		cmocka_unit_test(arguments_have_their_keys_and_types),
		cmocka_unit_test(operations_carry_their_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
