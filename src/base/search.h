/*
 * Binary search in anything that has an order.
 *
 *   size_t at = FIRST_NOT(i, 0, v.n, v.items[i].start_ns < ns);      the first that starts at ns or later, or v.n
 *   size_t n = FIRST_NOT(i, 0, v.n, v.items[i].start_ns <= ns);      how many start no later; the last one is at n - 1
 *   size_t end = FIRST_NOT(i, at, v.n, v.items[i].rank == rank);     behind the last of those that begin at `at`
 *   size_t block = FIRST_NOT(i, 1, n_blocks, first[i] <= id) - 1;    the last that begins no later, or else the first
 */
#ifndef SONDE_BASE_SEARCH_H
#define SONDE_BASE_SEARCH_H

#include <stddef.h>

/* The first i of [from, to) for which the condition does not hold, or `to`. Before that one it holds for all, behind it
   for none. Looked at are about log2(to - from) of them; where `to` is not above `from` none is, and it is `from`. */
#define FIRST_NOT(i, from, to, condition)                                                                              \
	({                                                                                                             \
		size_t low_ = (from), high_ = (to);                                                                    \
		while (low_ < high_) {                                                                                 \
			size_t i = low_ + (high_ - low_) / 2;                                                          \
			if (condition)                                                                                 \
				low_ = i + 1;                                                                          \
			else                                                                                           \
				high_ = i;                                                                             \
		}                                                                                                      \
		low_;                                                                                                  \
	})

#endif
