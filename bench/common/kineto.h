/* Writes a trace as PyTorch's profiler does, of any size; the same bytes for the same number of events. */
#ifndef BENCH_COMMON_KINETO_H
#define BENCH_COMMON_KINETO_H

#include <stdbool.h>
#include <stddef.h>

bool kineto_write(const char *path, size_t n_events);

#endif
