/* The newest events of a recording: what happens in the window is what happens in the whole recording. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include "import/recording/build.h"
#include "unit/import/random_recording.h"
#include "unit/import/recording/walk_lines.h"

static recording *open_made(const maker *m)
{
	recording *t = NULL;

	assert_int_equal(recording_open_memory(m->bytes, m->len, &t, NULL), SONDE_OK);
	return t;
}

static recording *window_of(recording *whole, uint64_t n_events)
{
	recording *w = NULL;

	assert_int_equal(recording_window(whole, n_events, &w, NULL), SONDE_OK);
	return w;
}

/* ---- Any recording ----------------------------------------------------------------------------------------------- */

/* A step of sonde_step() has no end of its own: that the first one of a window ends one before it cannot be known. So
   there are none here. */
static void make_run_without_steps(random_run *r, uint64_t seed, size_t n_events)
{
	make_run_as(r, seed, n_events, NAME_MARK, STREAM_OPEN);
}

static void slices_that_begin_in_the_window_are_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		random_run r;
		make_run_without_steps(&r, seed, 9000);
		for (uint64_t n = 200; n < 12000; n += 700) {
			recording *whole = open_made(&r.m), *w = window_of(open_made(&r.m), n);
			walk_lines lines = lines_of(w, INT64_MIN);
			assert_same_lines(whole, w, w->is_window ? w->window_ns : INT64_MIN);
			assert_int_equal(lines.counts.n_unmatched_ends * w->is_window, 0);
			assert_int_equal(w->diagnostics.n_kept, whole->diagnostics.n_kept);
			assert_int_equal(w->threads.n, whole->threads.n);
			assert_int_equal(w->start_ns, whole->start_ns);
			assert_true(recording_n_shown(w) <= whole->diagnostics.n_kept);
			lines_done(&lines);
			recording_free(whole);
			recording_free(w);
		}
		run_done(&r);
	}
}

/* Read on from window to window, as a server does: what it keeps does not grow, and misses nothing new. */
static void windows_follow_each_other(void **state)
{
	const char *path = temp_path("grows.sonde");
	random_run r;
	recording *before = NULL;

	(void)state;
	make_run_without_steps(&r, 11, 30000);
	for (size_t i = 50; i < r.cuts.n; i += 20) {
		recording_source source = { .path = path, .before = before };
		recording *t = NULL, *fresh = NULL;
		FILE *f = fopen(path, before ? "r+b" : "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(r.m.bytes, 1, r.cuts.items[i], f), r.cuts.items[i]);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(recording_open(&source, 1, &t, NULL), SONDE_OK);
		assert_int_equal(recording_open(&(recording_source){ .path = path }, 1, &fresh, NULL), SONDE_OK);
		assert_int_equal(t->diagnostics.n_kept, fresh->diagnostics.n_kept);
		t = window_of(t, 1500);
		assert_same_lines(fresh, t, t->is_window ? t->window_ns : INT64_MIN);
		assert_true(t->blocks.n < 400);
		recording_free(fresh);
		recording_free(before);
		before = t;
	}
	assert_true(before->is_window);
	assert_true(before->whole->blocks.n < 400);
	recording_free(before);
	run_done(&r);
	temp_clear();
}

/* ---- One that can be worked out on paper ------------------------------------------------------------------------- */

enum { TRAIN = 140, A_STEP, FORWARD, MATMUL, IDLE, A_PHASE };

/* Thread 1 works: train { step 1 { forward }, step 2 { forward { matmul | matmul } }, step 3 ... }, the bar is where
   the window of six events begins. Thread 2 waits in `idle` since its second event. */
static void make_cut(maker *m)
{
	make_start(m);
	m->info.state = STREAM_OPEN;
	m->info.end_ns = 0;
	make_stream(m, &m->info);
	make_name(m, TRAIN, NAME_SCOPE, "train");
	make_name(m, A_STEP, NAME_STEP, "step");
	make_name(m, FORWARD, NAME_SCOPE, "forward");
	make_name(m, MATMUL, NAME_SCOPE, "matmul");
	make_name(m, IDLE, NAME_SCOPE, "idle");
	make_name(m, A_PHASE, NAME_PHASE, "phase");
	MAKE_EVENTS(m, 2, { 5, EVENT_THREAD_NAME, 2, { 6, make_text("waiter") } }, { 6, MATMUL }, { 7, END | MATMUL });
	MAKE_EVENTS(m, 2, { 8, IDLE });
	MAKE_EVENTS(m, 1, { 10, EVENT_THREAD_NAME, 2, { 6, make_text("worker") } }, { 11, TRAIN },
		    { 12, A_STEP, 1, { 1 } }, { 13, FORWARD }, { 14, END | FORWARD }, { 15, END | A_STEP });
	MAKE_EVENTS(m, 1, { 20, A_STEP, 1, { 2 } }, { 21, FORWARD }, { 22, MATMUL }, { 23, END | MATMUL });
	MAKE_EVENTS(m, 1, { 30, MATMUL }, { 31, END | MATMUL }, { 32, END | FORWARD }, { 33, END | A_STEP });
	MAKE_EVENTS(m, 1, { 40, A_STEP, 1, { 3 } }, { 41, END | A_STEP });
}

typedef struct seen {
	const recording *trace;
	char text[1000];
} seen;

static void see(void *context, slice *s)
{
	seen *all = context;
	size_t len = strlen(all->text);

	snprintf(all->text + len, sizeof all->text - len, "%s %u %d+%d%s%s; ",
		 recording_text(all->trace, s->site->name), s->depth, (int)s->start_ns, (int)s->dur_ns,
		 s->flags & SLICE_CUT ? " cut" : "", s->flags & SLICE_OPEN ? " open" : "");
}

static void scopes_across_the_cut_begin_with_the_window(void **state)
{
	maker m = { 0 };

	(void)state;
	make_cut(&m);
	recording *w = window_of(open_made(&m), 6);
	seen all = { .trace = w };
	walk_sink sink = { .context = &all, .end = see };
	walk_counts counts;
	assert_true(w->is_window);
	assert_int_equal(w->window_ns, 30);
	assert_int_equal(recording_walk(w, &sink, &counts, NULL), SONDE_OK);
	/* `train` has no end in the window and no begin: that it is open cannot be known. */
	assert_string_equal(all.text, "matmul 2 30+1; forward 1 30+2 cut; step 0 30+3 cut; step 0 40+1; "
				      "idle 0 30+11 cut open; ");
	assert_int_equal(counts.n_unmatched_ends, 0);
	assert_int_equal(counts.n_repaired, 0);
	assert_int_equal(recording_n_shown(w), 7); /* the last block of each thread is there */
	assert_string_equal(w->threads.items[0].name, "worker");
	assert_string_equal(w->threads.items[1].name, "waiter");
	recording_free(w);
	make_done(&m);
}

/* A step that is cut is shown as a slice and does not count as a step. */
static void the_index_of_a_window_has_whole_steps_only(void **state)
{
	maker m = { 0 };
	sonde_index *ix = NULL;
	size_t n, n_sites;

	(void)state;
	make_cut(&m);
	recording *w = window_of(open_made(&m), 6);
	assert_int_equal(recording_build_index(w, 1, &ix, NULL), SONDE_OK);
	const index_step *steps = index_steps(ix, &n);
	assert_int_equal(n, 1);
	assert_int_equal(steps[0].number, 3);
	index_sites(ix, &n_sites);
	assert_int_equal(index_n_slices(ix), 5);
	index_diagnostics(ix, &n);
	assert_int_equal(n, 1); /* a scope open at the end */
	index_slice s;
	size_t n_repaired = 0;
	for (uint64_t i = 0; i < index_n_slices(ix); i++) {
		assert_true(index_slice_at(ix, i, &s));
		n_repaired += (s.flags & SLICE_IS_REPAIRED) != 0;
	}
	assert_int_equal(n_repaired, 3);
	index_free(ix);
	recording_free(w);
	make_done(&m);
}

static void a_window_of_everything_is_everything(void **state)
{
	maker m = { 0 };

	(void)state;
	make_cut(&m);
	recording *whole = open_made(&m), *w = window_of(open_made(&m), 100);
	assert_false(w->is_window);
	assert_int_equal(recording_n_shown(w), whole->diagnostics.n_kept);
	assert_same_lines(whole, w, INT64_MIN);
	recording_free(w);
	recording_free(whole);
	make_done(&m);
}

/* ---- A scan of more than is wanted ------------------------------------------------------------------------------- */

static void a_scan_keeps_few_blocks_of_a_large_recording(void **state)
{
	enum { N_BLOCKS = 70000 };
	const char *path = temp_path("large.sonde");
	maker m = { 0 };
	recording *t = NULL, *all = NULL;

	(void)state;
	make_cut(&m);
	for (uint64_t i = 0; i < N_BLOCKS; i++)
		MAKE_EVENTS(&m, 1, { 100 + 10 * i, FORWARD }, { 105 + 10 * i, END | FORWARD });
	make_save(&m, path);
	recording_source source = { .path = path, .whole_max = 1000 };
	assert_int_equal(recording_open(&source, 1, &t, NULL), SONDE_OK);
	assert_int_equal(recording_open(&(recording_source){ .path = path }, 1, &all, NULL), SONDE_OK);
	assert_true(t->is_window);
	assert_true(t->blocks.n < N_BLOCKS / 2);
	assert_int_equal(t->diagnostics.n_kept, all->diagnostics.n_kept);
	t = window_of(t, 2000);
	assert_same_lines(all, t, t->window_ns);
	assert_int_equal(t->threads.n, 2);
	assert_string_equal(t->threads.items[0].name, "worker");
	recording_free(t);
	recording_free(all);
	make_done(&m);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_that_begin_in_the_window_are_the_same),
		cmocka_unit_test(windows_follow_each_other),
		cmocka_unit_test(scopes_across_the_cut_begin_with_the_window),
		cmocka_unit_test(the_index_of_a_window_has_whole_steps_only),
		cmocka_unit_test(a_window_of_everything_is_everything),
		cmocka_unit_test(a_scan_keeps_few_blocks_of_a_large_recording),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
