#ifndef BENCH_COMMON_COMPILED_OUT_H
#define BENCH_COMMON_COMPILED_OUT_H

#include <stddef.h>

void loop_compiled_out(size_t n);
void loop_without(size_t n);

/* How much longer the machine code of the first one is. */
int compiled_out_bytes(void);

#endif
