/*
 * What ThreadSanitizer has to know when the program is built with it and this library is not.
 *
 * It then sees the program's own stores into memory that it shares with us, and calls such as memset in which we touch
 * that memory, but neither our atomics nor our futexes in between. These name the order that they make; without
 * ThreadSanitizer its functions are not there and nothing is called.
 */
#ifndef SONDE_BASE_SANITIZER_H
#define SONDE_BASE_SANITIZER_H

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

/* What happened before a release of the address, or an atomic store of that order to it, is before what follows. */
static inline void sanitizer_acquire(const void *address)
{
	if (__tsan_acquire)
		__tsan_acquire((void *)address);
}

static inline void sanitizer_release(const void *address)
{
	if (__tsan_release)
		__tsan_release((void *)address);
}

#endif
