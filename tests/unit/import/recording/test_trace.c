/* Whatever state a recording is in, opening it gives an index; its owner finds that in the file the next time. */
#include <sys/stat.h>
#include "import/recording/trace.h"
#include "unit/analyze/training.h"
#include <sonde/analyze.h>

static sonde_trace *open_path(const char *path)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open(path, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static size_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (size_t)st.st_size;
}

static void save_training(const char *path, stream_state state)
{
	maker m = { 0 };

	make_training(&m);
	m.info.state = state;
	make_totals(&m);
	make_save(&m, path);
	make_done(&m);
}

static void a_finished_recording_keeps_its_index(void **state)
{
	const char *path = temp_path("run.sonde");

	(void)state;
	save_training(path, STREAM_CLOSED);
	size_t before = size_of(path);
	sonde_trace *t = open_path(path);
	assert_int_equal(index_n_slices(t->index), 12);
	assert_true(t->is_recorded);
	sonde_trace_free(t);
	size_t after = size_of(path);
	assert_true(after > before);
	t = open_path(path);
	assert_int_equal(index_n_slices(t->index), 12);
	assert_true(index_is_mapped(t->index));
	sonde_trace_free(t);
	assert_int_equal(size_of(path), after);
}

static void one_that_may_grow_is_left_alone(void **state)
{
	const char *path = temp_path("open.sonde");

	(void)state;
	save_training(path, STREAM_OPEN);
	size_t before = size_of(path);
	sonde_trace *t = open_path(path);
	assert_int_equal(index_n_slices(t->index), 12);
	assert_int_equal(t->recording->n_unclosed, 1);
	sonde_trace_free(t);
	assert_int_equal(size_of(path), before);
}

static void a_read_only_file_has_it_in_memory(void **state)
{
	const char *path = temp_path("read.sonde");
	sonde_result *r = NULL;

	(void)state;
	if (geteuid() == 0)
		skip(); /* root writes it all the same */
	save_training(path, STREAM_CLOSED);
	assert_int_equal(chmod(path, 0400), 0);
	size_t before = size_of(path);
	sonde_trace *t = open_path(path);
	assert_int_equal(sonde_analyze(t, "steps", NULL, &r, NULL), SONDE_OK);
	sonde_result_free(r);
	sonde_trace_free(t);
	assert_int_equal(size_of(path), before);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
	(void)context, (void)done, (void)total;
	return false;
}

static void stopping_leaves_the_file_as_it_was(void **state)
{
	const char *path = temp_path("stopped.sonde");
	sonde_open_options stop = { .struct_size = sizeof stop, .progress = stop_at_once };
	sonde_trace *t = NULL;

	(void)state;
	save_training(path, STREAM_CLOSED);
	size_t before = size_of(path);
	assert_int_equal(sonde_trace_open_with(&path, 1, &stop, &t, NULL), SONDE_E_STATE);
	assert_int_equal(size_of(path), before);
}

static void its_file_is_described(void **state)
{
	const char *path = temp_path("facts.sonde");

	(void)state;
	save_training(path, STREAM_CLOSED);
	sonde_trace *t = open_path(path);
	const recording_facts *f = t->recording;
	assert_int_equal(f->streams.n, 1);
	assert_string_equal(f->streams.items[0].state, "closed");
	assert_int_equal(f->streams.items[0].n_events, 20);
	assert_int_equal(f->threads.n, 2);
	assert_string_equal(f->threads.items[0].name, "main");
	assert_true(f->event_bytes > 0);
	assert_false(f->is_live || f->is_window || f->has_ticks);
	assert_non_null(trace_recording(t));
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finished_recording_keeps_its_index),
		cmocka_unit_test(one_that_may_grow_is_left_alone),
		cmocka_unit_test(a_read_only_file_has_it_in_memory),
		cmocka_unit_test(stopping_leaves_the_file_as_it_was),
		cmocka_unit_test(its_file_is_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
