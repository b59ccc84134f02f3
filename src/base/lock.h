/*
 * A lock of one word on a futex. Unlike a pthread mutex it may be taken in a signal handler (by a thread that does not
 * hold it), survives fork by being set to { 0 } in the child, and never touches errno when it is free.
 */
#ifndef SONDE_BASE_LOCK_H
#define SONDE_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lock {
	uint32_t word; /* 0 free, 1 held, 2 held and waited for */
} lock;

void lock_take(lock *l);
void lock_release(lock *l);

/* Sleeps until *word is no longer `seen`, at most timeout_ns; may wake early. */
void futex_wait(const uint32_t *word, uint32_t seen, int64_t timeout_ns);
void futex_wake_all(const uint32_t *word);

#endif
