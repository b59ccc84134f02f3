/* Time per name, steps, memory and counters of traces that were worked out on paper. */
#include "analyze/tables/profile.h"

#include <math.h>
#include "unit/analyze/training.h"

static profile *profile_of(const sonde_trace *t, profile_options options)
{
	profile *p = NULL;
	sonde_error err = { .message = "" };

	if (profile_new(t, &options, &p, &err))
		fail_msg("%s", err.message);
	return p;
}

/* The node of a name, below a parent in a tree, on a thread in a list of threads. */
static profile_node *node_of(profile *p, const char *name, uint32_t parent)
{
	for (size_t i = 0; i < p->nodes.n; i++)
		if (strcmp(trace_text(p->trace, p->nodes.items[i].name), name) == 0 &&
		    p->nodes.items[i].parent == parent)
			return &p->nodes.items[i];
	fail_msg("there is no %s", name);
	return NULL;
}

typedef struct expected {
	const char *name;
	uint64_t calls;
	int64_t total_ns, self_ns, min_ns, max_ns;
} expected;

static void assert_node(profile *p, const expected *e, uint32_t parent)
{
	const stats *s = &node_of(p, e->name, parent)->stats;

	if (s->calls != e->calls || s->total_ns != e->total_ns || s->self_ns != e->self_ns || s->min_ns != e->min_ns ||
	    s->max_ns != e->max_ns)
		fail_msg("%s: %d calls, total %d, self %d, %d..%d", e->name, (int)s->calls, (int)s->total_ns,
			 (int)s->self_ns, (int)s->min_ns, (int)s->max_ns);
}

static void assert_nodes(profile *p, const expected *e, size_t n, uint32_t parent)
{
	for (size_t i = 0; i < n; i++)
		assert_node(p, &e[i], parent);
}

static void a_list_has_total_and_self_time_per_name(void **state)
{
	static const expected nodes[] = {
		{ "step", 2, 220, 20, 100, 120 }, { "p", 2, 90, 30, 40, 50 },	   { "q", 2, 110, 110, 50, 60 },
		{ "forward", 2, 60, 20, 20, 40 }, { "matmul", 2, 40, 40, 10, 30 }, { "load", 2, 190, 190, 90, 100 },
	};
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_nodes(p, nodes, 6, PROFILE_NO_NODE);
	assert_int_equal(p->nodes.n, 6);
	profile_work work = profile_work_of(p, node_of(p, "matmul", PROFILE_NO_NODE));
	assert_true(work.flops == 2000 && work.bytes == 32);
	assert_string_equal(trace_text(t, node_of(p, "matmul", PROFILE_NO_NODE)->category), "compute");
	/* All self times together are the time in outermost scopes. */
	int64_t self = 0;
	for (size_t i = 0; i < p->nodes.n; i++)
		self += p->nodes.items[i].stats.self_ns;
	assert_int_equal(self, 220 + 190);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void recursion_counts_its_time_once(void **state)
{
	static const expected f = { "f", 3, 100, 100, 10, 100 }, second = { "f", 4, 130, 130, 10, 100 };
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 0, F }, { 20, F }, { 30, F }, { 40, END | F }, { 60, END | F }, { 100, END | F });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_node(p, &f, PROFILE_NO_NODE);
	assert_int_equal(node_of(p, "f", PROFILE_NO_NODE)->stats.sum_ns, 150);
	profile_free(p);
	sonde_trace_free(t);
	MAKE_EVENTS(&m, 2, { 50, F }, { 80, END | F }); /* another thread's call is no call inside */
	t = make_trace(&m);
	p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_node(p, &second, PROFILE_NO_NODE);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

/* a calls b, b calls a: each total is what was really spent there. */
static void recursion_through_another_name_counts_once_too(void **state)
{
	static const expected nodes[] = { { "f", 2, 100, 50, 40, 100 }, { "load", 2, 90, 50, 10, 80 } };
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 0, F }, { 10, LOAD }, { 20, F }, { 60, END | F }, { 90, END | LOAD }, { 90, LOAD },
		    { 100, END | LOAD }, { 100, END | F });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_nodes(p, nodes, 2, PROFILE_NO_NODE);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void a_tree_keeps_callers_apart(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	MAKE_EVENTS(&m, 2, { 400, FORWARD }, { 410, MATMUL }, { 430, END | MATMUL }, { 440, END | FORWARD });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_TREE });
	profile_node *nodes = p->nodes.items;
	uint32_t step = (uint32_t)(node_of(p, "step", PROFILE_NO_NODE) - nodes);
	uint32_t phase = (uint32_t)(node_of(p, "p", step) - nodes);
	uint32_t inner = (uint32_t)(node_of(p, "forward", phase) - nodes);
	uint32_t outer = (uint32_t)(node_of(p, "forward", PROFILE_NO_NODE) - nodes);
	assert_node(p, &(expected){ "step", 2, 220, 20, 100, 120 }, PROFILE_NO_NODE);
	assert_node(p, &(expected){ "q", 2, 110, 110, 50, 60 }, step);
	assert_node(p, &(expected){ "matmul", 2, 40, 40, 10, 30 }, inner);
	assert_node(p, &(expected){ "forward", 1, 40, 20, 40, 40 }, PROFILE_NO_NODE);
	assert_node(p, &(expected){ "matmul", 1, 20, 20, 20, 20 }, outer);
	assert_non_null(node_of(p, "matmul", inner));
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

/* The operation is taken out of the middle of the stack; what begins then is inside what is still open. */
static void a_tree_survives_operations_that_end_out_of_order(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, LOAD }, { 20, EVENT_OP_BEGIN, 4, { 1, MATMUL } }, { 30, FORWARD },
		    { 40, EVENT_OP_END, 1, { 1 } }, { 50, F }, { 60, END | F }, { 70, END | FORWARD }, { 80, F },
		    { 85, END | F }, { 90, END | LOAD });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_TREE });
	uint32_t load = (uint32_t)(node_of(p, "load", PROFILE_NO_NODE) - p->nodes.items);
	uint32_t forward = (uint32_t)(node_of(p, "forward", load) - p->nodes.items);
	assert_node(p, &(expected){ "matmul", 1, 20, 20, 20, 20 }, PROFILE_NO_NODE); /* beside its thread */
	assert_node(p, &(expected){ "f", 1, 10, 10, 10, 10 }, forward);
	assert_node(p, &(expected){ "f", 1, 5, 5, 5, 5 }, load);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void threads_can_be_kept_apart(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	MAKE_EVENTS(&m, 2, { 400, MATMUL, 2 }, { 430, END | MATMUL });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_THREADS });
	assert_node(p, &(expected){ "matmul", 2, 40, 40, 10, 30 }, 0);
	assert_node(p, &(expected){ "matmul", 1, 30, 30, 30, 30 }, 1);
	assert_node(p, &(expected){ "load", 2, 190, 190, 90, 100 }, 1);
	assert_string_equal(t->threads.items[0].name, "main");
	assert_string_equal(t->threads.items[1].name, "");
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void steps_have_their_phases(void **state)
{
	static const int64_t steps[][5] = { { 0, 100, 100, 40, 50 }, { 1, 200, 120, 50, 60 } };
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_int_equal(p->steps.n, 2);
	assert_int_equal(p->phases.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const profile_step *s = &p->steps.items[i];
		assert_int_equal(s->number, steps[i][0]);
		assert_int_equal(s->start_ns, steps[i][1]);
		assert_int_equal(s->dur_ns, steps[i][2]);
		assert_int_equal(s->phase_ns[0], steps[i][3]);
		assert_int_equal(s->phase_ns[1], steps[i][4]);
	}
	assert_int_equal(p->phases.items[0].stats.self_ns, 30);
	assert_int_equal(p->step_stats.sum_ns, 220);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void a_phase_inside_itself_counts_once_in_its_step(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	/* f calls itself in its phase p */
	MAKE_EVENTS(&m, 1, { 100, STEP, 1, { 0 } }, { 110, F }, { 110, P }, { 120, F }, { 120, P }, { 150, Q },
		    { 160, END | F }, { 170, Q }, { 180, END | F }, { 200, END | STEP });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_int_equal(p->phases.n, 2);
	assert_int_equal(p->phases.items[0].stats.calls, 2);
	assert_int_equal(p->phases.items[0].stats.total_ns, 60);
	assert_int_equal(p->steps.items[0].phase_ns[0], 60);
	assert_int_equal(p->phases.items[1].stats.total_ns, 20);
	assert_int_equal(p->steps.items[0].phase_ns[1], 20);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void only_what_began_in_the_steps_asked_for_counts(void **state)
{
	maker m = { 0 };
	sonde_error err;
	profile *none = NULL;

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .use_steps = true, .first_step = 1, .last_step = 5 });
	assert_node(p, &(expected){ "step", 1, 120, 10, 120, 120 }, PROFILE_NO_NODE);
	assert_node(p, &(expected){ "matmul", 1, 30, 30, 30, 30 }, PROFILE_NO_NODE);
	assert_node(p, &(expected){ "load", 1, 90, 90, 90, 90 }, PROFILE_NO_NODE); /* on the other thread */
	assert_int_equal(p->steps.n, 1);
	assert_int_equal(p->start_ns, 200);
	assert_int_equal(p->end_ns, 320);
	profile_free(p);
	assert_int_equal(
		profile_new(t, &(profile_options){ .use_steps = true, .first_step = 7, .last_step = 9 }, &none, &err),
		SONDE_E_USAGE);
	assert_string_equal(err.message, "the trace has no steps 7..9");
	profile_options window = { .from_ns = 205, .to_ns = 216 };
	p = profile_of(t, window);
	assert_node(p, &(expected){ "forward", 1, 40, 10, 40, 40 }, PROFILE_NO_NODE);
	assert_node(p, &(expected){ "p", 1, 50, 10, 50, 50 }, PROFILE_NO_NODE);
	assert_int_equal(node_of(p, "matmul", PROFILE_NO_NODE)->stats.calls, 0);
	assert_int_equal(p->steps.n, 0);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void the_warm_up_is_left_out_and_what_is_before_it_stays(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	profile *all = profile_of(t, (profile_options){ 0 }), *p = profile_of(t, (profile_options){ .n_warmup = 1 });
	assert_node(p, &(expected){ "step", 1, 120, 10, 120, 120 }, PROFILE_NO_NODE);
	assert_int_equal(p->steps.n, 1);
	assert_int_equal(p->steps.items[0].start_ns, 200);
	assert_int_equal(p->start_ns, all->start_ns);
	assert_int_equal(p->end_ns, all->end_ns);
	assert_int_equal(p->span_ns, all->span_ns - 100);
	assert_true(profile_in_window(p, 99) && !profile_in_window(p, 100) && !profile_in_window(p, 199));
	assert_true(profile_in_window(p, 200) && profile_in_window_or_warmup(p, 100));
	profile_free(all);
	profile_free(p);
	p = profile_of(t, (profile_options){ .n_warmup = 7 }); /* the last step stays */
	assert_int_equal(p->steps.n, 1);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void frames_are_no_activity(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ 0 });
	assert_true(p->activity.is_known && !p->activity.has_device);
	assert_int_equal(p->activity.cpu_ns, 100 + 90); /* load, and forward within it but for nothing */
	profile_free(p);
	p = profile_of(t, (profile_options){ .use_steps = true, .first_step = 1, .last_step = 1 });
	assert_int_equal(p->activity.cpu_ns, 90);
	profile_free(p);
	p = profile_of(t, (profile_options){ .n_warmup = 1 });
	assert_int_equal(p->activity.cpu_ns, 10 + 90); /* 90..100, 210..300 */
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void layers_have_a_history(void **state)
{
	enum { FC = 50, STEPS = 2 * PROFILE_HISTORY + 1 };
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	make_name(&m, FC, NAME_MODULE, "fc");
	for (uint64_t i = 0; i < STEPS; i++) /* step i takes 10, its layer 1, and 4 in the last one */
		MAKE_EVENTS(&m, 1, { 10 * i, STEP, 1, { i } }, { 10 * i + 1, FC },
			    { 10 * i + (i + 1 < STEPS ? 2 : 5), END | FC }, { 10 * i + 10, END | STEP });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ 0 });
	assert_int_equal(p->layers.n, 1);
	const profile_layer *fc = p->layers.items[0];
	assert_int_equal(fc->stats.calls, STEPS);
	assert_int_equal(fc->stats.max_ns, 4);
	assert_true(fc->is_slowest_known);
	assert_int_equal(fc->slowest_step, STEPS - 1);
	assert_int_equal(fc->per_point, 4); /* too many for one point each, or two */
	assert_int_equal(fc->history[0].calls, 4);
	assert_int_equal(fc->history[1].first, 4);
	assert_int_equal(fc->history[PROFILE_HISTORY / 2].calls, 1);
	assert_int_equal(fc->history[PROFILE_HISTORY / 2].total_ns, 4);
	profile_free(p);
	p = profile_of(t, (profile_options){ .use_steps = true, .first_step = 7, .last_step = 9 });
	assert_int_equal(p->layers.items[0]->stats.calls, 3);
	assert_int_equal(p->layers.items[0]->history[2].first, 9);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void memory_has_a_peak_with_its_place(void **state)
{
	maker m = { 0 };
	int64_t ns[PROFILE_POINTS];
	uint64_t peaks[PROFILE_POINTS];

	(void)state;
	make_start(&m); /* 0..1000 */
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 100, EVENT_ALLOC, 5, { 0, 1, 50, 0, 50 } }, { 200, FORWARD },
		    { 250, EVENT_ALLOC, 5, { 0, 2, 100, 0, 150 } }, { 251, EVENT_FREE, 4, { 0, 2, 100, 50 } },
		    { 300, END | FORWARD }, { 900, EVENT_FREE, 4, { 0, 1, 50, 0 } },
		    { 910, EVENT_FREE, 4, { 0, 9, UINT64_MAX, 0 } });
	MAKE_EVENTS(&m, 2, { 500, EVENT_ALLOC, 5, { 1, 1, 7, 0, 7 } });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_int_equal(p->memory.n, 2);
	const profile_memory *cpu = p->memory.items[0], *gpu = p->memory.items[1];
	assert_string_equal(cpu->device, "cpu");
	assert_string_equal(gpu->device, "gpu0");
	assert_int_equal(cpu->peak_bytes, 150);
	assert_int_equal(cpu->peak_ns, 250);
	assert_string_equal(trace_text(t, cpu->peak_inside), "forward");
	assert_int_equal(cpu->current_bytes, 0);
	assert_int_equal(cpu->n_allocs, 2);
	assert_int_equal(cpu->n_frees, 3);
	assert_int_equal(cpu->n_unknown_frees, 1);
	assert_int_equal(cpu->allocated_bytes, 150);
	assert_int_equal(gpu->peak_bytes, 7);
	assert_int_equal(gpu->peak_inside, INDEX_NONE);
	assert_int_equal(profile_timeline(p, cpu, ns, peaks, 10000), PROFILE_POINTS);
	for (size_t i = 0; i < PROFILE_POINTS; i++) {
		size_t at_alloc = 100 * PROFILE_POINTS / 1000, at_peak = 250 * PROFILE_POINTS / 1000;
		size_t at_free = 900 * PROFILE_POINTS / 1000;
		uint64_t expected_peak = i < at_alloc ? 0 : i == at_peak ? 150 : i <= at_free ? 50 : 0;
		assert_int_equal(peaks[i], expected_peak);
		assert_int_equal(ns[i], 1000 * i / PROFILE_POINTS);
	}
	static const uint64_t four[] = { 50, 150, 50, 50 }, one[] = { 150 };
	assert_int_equal(profile_timeline(p, cpu, ns, peaks, 4), 4);
	assert_memory_equal(peaks, four, sizeof four);
	assert_int_equal(ns[3], 750);
	assert_int_equal(profile_timeline(p, cpu, ns, peaks, 1), 1);
	assert_memory_equal(peaks, one, sizeof one);
	assert_int_equal(profile_timeline(p, cpu, ns, peaks, 0), 0);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void counters_have_their_first_and_last_value_in_time(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 50, LOSS, 1, { make_double(3) } }, { 90, LOSS, 1, { make_double(-1) } });
	MAKE_EVENTS(&m, 2, { 10, LOSS, 1, { make_double(9) } }, { 95, LOSS, 1, { make_double(2) } });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_int_equal(p->counters.n, 1);
	const profile_counter *c = &p->counters.items[0];
	assert_int_equal(c->n, 4);
	assert_true(c->first == 9 && c->last == 2 && c->min == -1 && c->max == 9);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void a_counter_that_is_no_number_at_times_has_its_range(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, LOSS, 1, { make_double(NAN) } }, { 50, LOSS, 1, { make_double(3) } },
		    { 60, LOSS, 1, { make_double(NAN) } }, { 90, LOSS, 1, { make_double(5) } });
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	const profile_counter *c = &p->counters.items[0];
	assert_int_equal(c->n, 4);
	assert_true(isnan(c->first) && c->last == 5 && c->min == 3 && c->max == 5);
	profile_free(p);
	sonde_trace_free(t);
	make_done(&m);
}

static void the_last_value_of_a_fact_counts(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	for (uint64_t i = 0; i < 100; i++)
		MAKE_EVENTS(&m, 1, { i, EVENT_META, 4, { 2, make_text("lr"), 1, 'a' + i % 10 } },
			    { i, EVENT_META, 4, { 5, make_text("model"), 2, make_text("r5") } });
	sonde_trace *t = make_trace(&m);
	assert_string_equal(trace_meta_value(t, "lr"), "j");
	assert_string_equal(trace_meta_value(t, "model"), "r5");
	assert_null(trace_meta_value(t, "lrs"));
	sonde_trace_free(t);
	make_done(&m);
}

static uint32_t find_track(const sonde_trace *t, track_kind kind)
{
	size_t n;
	const index_track *tracks = index_tracks(t->index, &n);
	uint32_t i = 0;

	while (i < n && tracks[i].kind != kind)
		i++;
	assert_true(i < n);
	return i;
}

static void device_slices_and_measured_operations_count_as_calls(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, FORWARD }, { 20, EVENT_STREAM_SLICE, 5, { 90, 0, MATMUL, 500, 530 } },
		    { 21, EVENT_OP_RECORD, 3, { MATMUL, 5, 7 } }, { 30, END | FORWARD });
	sonde_trace *t = make_trace(&m);
	for (profile_shape shape = PROFILE_FLAT; shape <= PROFILE_TREE; shape++) {
		profile *p = profile_of(t, (profile_options){ .shape = shape });
		bool is_apart = shape == PROFILE_THREADS;
		if (is_apart) { /* operations of the thread, the thread, the stream of the device */
			assert_node(p, &(expected){ "matmul", 1, 7, 7, 7, 7 }, find_track(t, TRACK_ASYNC));
			assert_node(p, &(expected){ "matmul", 1, 30, 30, 30, 30 }, find_track(t, TRACK_STREAM));
		} else {
			assert_node(p, &(expected){ "matmul", 2, 37, 37, 7, 30 }, PROFILE_NO_NODE);
		}
		assert_node(p, &(expected){ "forward", 1, 20, 20, 20, 20 },
			    is_apart ? find_track(t, TRACK_THREAD) : PROFILE_NO_NODE);
		profile_free(p);
	}
	sonde_trace_free(t);
	make_done(&m);
}

/* As many names as there can be, each a phase and a counter: looking each one up in a list would take minutes. */
static void many_phases_and_counters_take_no_time(void **state)
{
	enum { N = 30000 };
	maker m = { 0 };
	made_event *events = calloc(2 * N, sizeof *events);

	(void)state;
	make_start(&m);
	for (unsigned i = 0; i < N; i++) {
		char name[16];
		snprintf(name, sizeof name, "n%u", i);
		make_name(&m, (uint16_t)(1000 + 2 * i), NAME_PHASE, name);
		make_name(&m, (uint16_t)(1001 + 2 * i), NAME_COUNTER, name);
		events[2 * i] = (made_event){ 10 + i, 1000 + 2 * i };
		events[2 * i + 1] = (made_event){ 10 + i, 1001 + 2 * i, 1, { 0 } };
	}
	for (uint64_t round = 0; round < 4; round++)
		make_events_at(&m, 1, round * 1000000, events, 2 * N);
	sonde_trace *t = make_trace(&m);
	profile *p = profile_of(t, (profile_options){ .shape = PROFILE_FLAT });
	assert_int_equal(p->phases.n, N);
	assert_int_equal(p->counters.n, N);
	profile_free(p);
	sonde_trace_free(t);
	free(events);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_total_and_self_time_per_name),
		cmocka_unit_test(recursion_counts_its_time_once),
		cmocka_unit_test(recursion_through_another_name_counts_once_too),
		cmocka_unit_test(a_tree_keeps_callers_apart),
		cmocka_unit_test(a_tree_survives_operations_that_end_out_of_order),
		cmocka_unit_test(threads_can_be_kept_apart),
		cmocka_unit_test(steps_have_their_phases),
		cmocka_unit_test(a_phase_inside_itself_counts_once_in_its_step),
		cmocka_unit_test(only_what_began_in_the_steps_asked_for_counts),
		cmocka_unit_test(the_warm_up_is_left_out_and_what_is_before_it_stays),
		cmocka_unit_test(frames_are_no_activity),
		cmocka_unit_test(layers_have_a_history),
		cmocka_unit_test(memory_has_a_peak_with_its_place),
		cmocka_unit_test(counters_have_their_first_and_last_value_in_time),
		cmocka_unit_test(a_counter_that_is_no_number_at_times_has_its_range),
		cmocka_unit_test(the_last_value_of_a_fact_counts),
		cmocka_unit_test(device_slices_and_measured_operations_count_as_calls),
		cmocka_unit_test(many_phases_and_counters_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
