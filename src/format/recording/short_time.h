/*
 * A time in 16 bits: its first eleven binary digits, rounded up. So it is exact up to 2048 ns and beyond never too
 * short and less than a 1024th too long.
 *
 * The lower 10 bits are the digits behind the first, which is 1; the upper 6 bits are how many places follow, plus 1.
 * Where they are 0, the first is 0. So of two times the longer has never the smaller number.
 */
#ifndef SONDE_FORMAT_RECORDING_SHORT_TIME_H
#define SONDE_FORMAT_RECORDING_SHORT_TIME_H

#include <stdint.h>

enum { SHORT_TIME_BITS = 10, SHORT_TIME_FIRST = 1 << SHORT_TIME_BITS };

static inline uint16_t short_time_of(uint64_t ns)
{
	if (ns < 2 * SHORT_TIME_FIRST)
		return (uint16_t)ns;
	unsigned places = 63 - SHORT_TIME_BITS - (unsigned)__builtin_clzll(ns);
	/* Where rounding makes it 2048, that adds up to 1024 with one place more. */
	uint64_t digits = ((ns - 1) >> places) + 1;
	return (uint16_t)((places << SHORT_TIME_BITS) + digits);
}

/* Of a number that no time has: anything. */
static inline uint64_t short_time_ns(uint16_t time)
{
	if (time < 2 * SHORT_TIME_FIRST)
		return time;
	uint64_t digits = SHORT_TIME_FIRST + time % SHORT_TIME_FIRST;
	return digits << ((time >> SHORT_TIME_BITS) - 1);
}

#endif
