/*
 * Times far outside of all others: a damaged word, or a clock that was not the trace's. One of them would make a trace
 * last for decades.
 *
 *   is_far_range()           cheap: whether a range is so long that there may be some
 *   builder_find_times()     the range of a file's times without those that are far outside of it
 *   builder_set_apart()      events that leave that range end where it does, on a track of their own
 *
 * Far is what is at least FAR_LEAST_NS and FAR_SPANS times the range of the others away, where it is at most one time
 * in a thousand or, of a small trace, a handful at least FAR_FEW_NS away. Files are looked at one by one: ranks may
 * have clocks of their own, and a program may do something again years later.
 */
#ifndef SONDE_STORE_BUILD_FAR_TIMES_H
#define SONDE_STORE_BUILD_FAR_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define FAR_LEAST_NS INT64_C(2592000000000000) /* 30 days */
#define FAR_FEW_NS INT64_C(315360000000000000) /* 10 years */
enum { FAR_SPANS = 1000, FAR_SHARE = 1000, FAR_FEW = 16 };

typedef struct builder builder;

typedef struct time_range {
	int64_t start_ns, end_ns;
} time_range;

/* The distance from which on a time is far from a range of this length. */
static inline int64_t far_distance(int64_t span_ns)
{
	int64_t spans = span_ns > INT64_MAX / 4 / FAR_SPANS ? INT64_MAX / 4 : span_ns * FAR_SPANS;

	return spans > FAR_LEAST_NS ? spans : FAR_LEAST_NS;
}

static inline bool is_far_range(int64_t start_ns, int64_t end_ns)
{
	return start_ns < end_ns && (uint64_t)end_ns - (uint64_t)start_ns >= (uint64_t)FAR_LEAST_NS;
}

/* True: some times of the file are far outside of *ret_range, which all others lie in. */
bool builder_find_times(const builder *b, uint32_t file, time_range *ret_range);
/* Returns how many events there are; a meta entry has the times of the first ones. */
uint64_t builder_set_apart(builder *b, uint32_t file, time_range range);

#endif
