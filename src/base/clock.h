/* Clocks: the nanoseconds that everything is told in. */
#ifndef SONDE_BASE_CLOCK_H
#define SONDE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
