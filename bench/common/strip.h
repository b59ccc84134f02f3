/* Copies a trace without the arguments of its events. */
#ifndef BENCH_COMMON_STRIP_H
#define BENCH_COMMON_STRIP_H

#include <stdbool.h>

bool strip_arguments(const char *from, const char *to);

#endif
