/* Where the counter of the CPU cannot be trusted, clock_gettime takes its place and everything else stays the same. */
#include <pthread.h>
#include "unit/record/recorded.h"

enum { N_CALLS = 50000, N_THREADS = 2 };

static void everything_is_recorded_with_nanoseconds(void **state)
{
	const int64_t dims[] = { 2, 3 };

	(void)state;
	record_start((sonde_config){ .memory = true, .shapes = true, .flops = true });
	{
		SONDE_SCOPE_ARGS("a", SONDE_SHAPE("x", dims, 2), SONDE_STR("s", "text"));
		SONDE_STEP(5);
		SONDE_PHASE("p");
		SONDE_COUNTER("loss", 0.5);
		SONDE_MARK("m");
		SONDE_OP("op", SONDE_COMPUTE, .flops = 8) {
		}
		sonde_end(sonde_begin("named"));
		sonde_alloc(SONDE_CPU, dims, 16, 0);
	}
	assert_recorded(
		"+a(x=2x3,s=text) +step#5 +p loss=0.5 *m +op(flops=8) -op +named -named alloc0:16=16 -p -step -a");
}

static void *call(void *unused)
{
	(void)unused;
	for (int i = 0; i < N_CALLS; i++) {
		SONDE_SCOPE("shared");
		SONDE_COUNTER("i", i);
	}
	return NULL;
}

static void threads_count_exactly(void **state)
{
	pthread_t threads[N_THREADS];
	const walk_sink silent = { 0 };
	walk_counts counts;
	recording *t = NULL;

	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(recording_open_path(sonde_output(), &t, NULL), SONDE_OK);
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_slices, N_THREADS * N_CALLS);
	assert_int_equal(counts.n_counters, N_THREADS * N_CALLS);
	assert_int_equal(counts.n_clamped + counts.n_open + counts.n_unmatched_ends, 0);
	recording_free(t);
}

static int64_t first_ns, last_ns;

static void note_time(void *context, const trace_site *site, int64_t time_ns, const event *e)
{
	(void)context, (void)site, (void)e;
	first_ns = first_ns ? first_ns : time_ns;
	last_ns = time_ns;
}

static void times_are_those_of_the_system(void **state)
{
	const walk_sink sink = { .instant = note_time };
	walk_counts counts;
	recording *t = NULL;

	(void)state;
	record_start((sonde_config){ 0 });
	int64_t before = sonde_now_ns();
	SONDE_MARK("first");
	usleep(2000);
	SONDE_MARK("last");
	int64_t after = sonde_now_ns();
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(recording_open_path(sonde_output(), &t, NULL), SONDE_OK);
	assert_int_equal(t->streams.items[0].info.clock, CLOCK_NS);
	assert_true(t->streams.items[0].tick_ns == 1);
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	assert_true(first_ns >= before && last_ns <= after && last_ns - first_ns >= 2000000);
	recording_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_recorded_with_nanoseconds),
		cmocka_unit_test(threads_count_exactly),
		cmocka_unit_test(times_are_those_of_the_system),
	};

	setenv("SONDE_CLOCK", "monotonic", 1); /* chosen once in a process, at the first start */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
