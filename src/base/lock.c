#include "base/lock.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/sanitizer.h"

void futex_wait(const uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
	struct timespec ts = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &ts, NULL, 0);
}

void futex_wake_all(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void lock_take(lock *l)
{
	uint32_t seen = 0;

	if (!__atomic_compare_exchange_n(&l->word, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
			futex_wait(&l->word, 2, -1);
	sanitizer_acquire(l);
}

void lock_release(lock *l)
{
	sanitizer_release(l);
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
