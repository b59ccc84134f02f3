/* The futex lock, between threads. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/lock.h"

enum { N_THREADS = 4, N_ROUNDS = 50000 };

static struct shared {
	lock lock;
	uint64_t count; /* deliberately not atomic */
	uint32_t inside;
	uint32_t overlaps;
} shared;

static void *count_up(void *unused)
{
	(void)unused;
	for (int i = 0; i < N_ROUNDS; i++) {
		lock_take(&shared.lock);
		if (__atomic_add_fetch(&shared.inside, 1, __ATOMIC_RELAXED) != 1)
			__atomic_add_fetch(&shared.overlaps, 1, __ATOMIC_RELAXED);
		shared.count++;
		__atomic_sub_fetch(&shared.inside, 1, __ATOMIC_RELAXED);
		lock_release(&shared.lock);
	}
	return NULL;
}

static void only_one_thread_is_inside_and_none_is_forgotten(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(shared.count, (uint64_t)N_THREADS * N_ROUNDS);
	assert_int_equal(shared.overlaps, 0);
	assert_int_equal(shared.lock.word, 0);
}

static void a_free_lock_leaves_errno_alone(void **state)
{
	lock l = { 0 };

	(void)state;
	errno = 4711;
	lock_take(&l);
	assert_int_equal(l.word, 1);
	lock_release(&l);
	assert_int_equal(l.word, 0);
	assert_int_equal(errno, 4711);
}

static void waiting_for_a_word_that_has_changed_returns_at_once(void **state)
{
	uint32_t word = 2;
	int64_t before = monotonic_ns();

	(void)state;
	futex_wait(&word, 1, 60 * INT64_C(1000000000));
	assert_true(monotonic_ns() - before < 30 * INT64_C(1000000000));
}

static void waiting_ends_with_its_time(void **state)
{
	uint32_t word = 1;
	int64_t before = monotonic_ns();

	(void)state;
	futex_wait(&word, 1, 2000000);
	assert_true(monotonic_ns() - before < 30 * INT64_C(1000000000));
}

static uint32_t signalled, n_woken;

static void *wait_for_signal(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&signalled, __ATOMIC_ACQUIRE))
		futex_wait(&signalled, 0, -1);
	__atomic_add_fetch(&n_woken, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void all_waiting_threads_wake(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_signal, NULL), 0);
	__atomic_store_n(&signalled, 1, __ATOMIC_RELEASE);
	futex_wake_all(&signalled);
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(n_woken, N_THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_one_thread_is_inside_and_none_is_forgotten),
		cmocka_unit_test(a_free_lock_leaves_errno_alone),
		cmocka_unit_test(waiting_for_a_word_that_has_changed_returns_at_once),
		cmocka_unit_test(waiting_ends_with_its_time),
		cmocka_unit_test(all_waiting_threads_wake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
