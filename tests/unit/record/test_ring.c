/* A ring of 256 KiB that is full all the time: every event is in the file or counted. */
#include <pthread.h>
#include "unit/record/recorded.h"

enum { N_EVENTS = 200000, N_THREADS = 3, SMALL = 256 << 10, LARGE = 2 << 20 };

/* The values of the counter "n" by thread: rising, and where they end. */
typedef struct values {
	uint64_t n;
	double first, last;
	bool rising, contiguous;
} values;

static void on_value(void *context, const trace_site *site, int64_t time_ns, double value)
{
	values *v = context;

	(void)site, (void)time_ns;
	if (!v->n++) {
		v->first = value;
	} else {
		v->rising &= value > v->last;
		v->contiguous &= value == v->last + 1;
	}
	v->last = value;
}

typedef struct outcome {
	uint64_t n_kept, n_full, n_overwritten;
	values values;
} outcome;

static void *emit(void *unused)
{
	(void)unused;
	for (int i = 0; i < N_EVENTS; i++)
		SONDE_COUNTER("n", i);
	return NULL;
}

static outcome record(const char *full, unsigned n_threads, size_t buffer)
{
	pthread_t threads[N_THREADS];
	outcome o = { .values = { .rising = true, .contiguous = true } };
	const walk_sink sink = { .context = &o.values, .counter = on_value };
	walk_counts counts;
	recording *t = NULL;

	record_start((sonde_config){ .full = full, .buffer = buffer });
	if (n_threads == 1)
		emit(NULL);
	for (unsigned i = 0; n_threads > 1 && i < n_threads; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, emit, NULL), 0);
	for (unsigned i = 0; n_threads > 1 && i < n_threads; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(recording_open_path(sonde_output(), &t, NULL), SONDE_OK);
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	const recording_diagnostics *d = &t->diagnostics;
	o.n_kept = d->n_kept;
	o.n_full = d->n_lost_full;
	o.n_overwritten = d->n_lost_overwritten;
	assert_int_equal(d->n_lost_signal + d->n_lost_io + d->n_lost_damaged, 0);
	assert_int_equal(counts.n_counters, d->n_kept);
	/* Emitted = kept + lost. */
	assert_int_equal(o.n_kept + o.n_full + o.n_overwritten, (uint64_t)N_EVENTS * n_threads);
	recording_free(t);
	return o;
}

static void block_loses_nothing(void **state)
{
	(void)state;
	for (unsigned n_threads = 1; n_threads <= N_THREADS; n_threads += N_THREADS - 1) {
		outcome o = record("block", n_threads, SMALL);
		assert_int_equal(o.n_kept, (uint64_t)N_EVENTS * n_threads);
		if (n_threads == 1)
			assert_true(o.values.contiguous && o.values.first == 0 && o.values.last == N_EVENTS - 1);
	}
}

static void drop_counts_each_event_that_found_no_room(void **state)
{
	(void)state;
	for (unsigned n_threads = 1; n_threads <= N_THREADS; n_threads += N_THREADS - 1) {
		outcome o = record("drop", n_threads, SMALL);
		assert_int_equal(o.n_overwritten, 0);
		assert_true(o.n_kept > 0);
		if (n_threads == 1)
			assert_true(o.values.rising && o.values.first == 0);
	}
}

static void overwrite_keeps_the_newest(void **state)
{
	(void)state;
	for (unsigned n_threads = 1; n_threads <= N_THREADS; n_threads += N_THREADS - 1) {
		outcome o = record("overwrite", n_threads, SMALL);
		assert_int_equal(o.n_full, 0);
		assert_true(o.n_overwritten > 0);
		assert_true(o.n_kept > 0 && o.n_kept <= SMALL / 24 + 1); /* three words each */
		if (n_threads == 1)
			assert_true(o.values.contiguous && o.values.last == N_EVENTS - 1);
	}
}

/* Threads that come and go leave their chunks behind in good order. */
static void *emit_few(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		SONDE_MARK("m");
	return NULL;
}

static void hundreds_of_threads_share_the_ring(void **state)
{
	enum { ROUNDS = 40, AT_ONCE = 10 };

	(void)state;
	record_start((sonde_config){ .buffer = 256 << 10 });
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[AT_ONCE];
		for (int i = 0; i < AT_ONCE; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, emit_few, NULL), 0);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_instants, ROUNDS * AT_ONCE * 100);
	assert_int_equal(r->trace->threads.n, ROUNDS * AT_ONCE);
	assert_int_equal(r->trace->diagnostics.n_kept, ROUNDS * AT_ONCE * 100);
	record_done(r);
}

/* The ring was made for a small one. */
static void a_later_recording_may_have_a_larger_buffer(void **state)
{
	outcome o = record("overwrite", 1, LARGE);

	(void)state;
	assert_in_range(o.n_kept, 2 * SMALL / 24, LARGE / 24 + 1);
	assert_true(o.values.contiguous && o.values.last == N_EVENTS - 1);
	o = record("block", N_THREADS, (size_t)8 << 30); /* more than it can have: as much as there is */
	assert_int_equal(o.n_kept, (uint64_t)N_EVENTS * N_THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_loses_nothing),
		cmocka_unit_test(drop_counts_each_event_that_found_no_room),
		cmocka_unit_test(overwrite_keeps_the_newest),
		cmocka_unit_test(hundreds_of_threads_share_the_ring),
		cmocka_unit_test(a_later_recording_may_have_a_larger_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
