/*
 * The same loop twice, once with every macro of a scope in it and once with nothing, compiled with SONDE_LEVEL 0. Each
 * function has a section of its own; the linker marks where they begin and end.
 */
#define SONDE_LEVEL 0
#include "common/compiled_out.h"
#include <sonde/record.h>

extern const unsigned char __start_bench_with[], __stop_bench_with[];
extern const unsigned char __start_bench_without[], __stop_bench_without[];

__attribute__((noinline, section("bench_with"))) void loop_compiled_out(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE("scope");
		SONDE_SCOPE_ARGS("arguments", SONDE_I64("i", (int64_t)i), SONDE_STR("s", "text"));
		SONDE_PHASE("phase");
		SONDE_COUNTER("counter", i);
		SONDE_OP("op", SONDE_COMPUTE, .flops = 1) {
			sonde_scope scope = sonde_begin("run-time name");
			sonde_alloc(SONDE_CPU, &n, i, 0);
			sonde_free(SONDE_CPU, &n);
			sonde_end(scope);
		}
		__asm__ volatile("");
	}
}

__attribute__((noinline, section("bench_without"))) void loop_without(size_t n)
{
	for (size_t i = 0; i < n; i++)
		__asm__ volatile("");
}

int compiled_out_bytes(void)
{
	return (int)((__stop_bench_with - __start_bench_with) - (__stop_bench_without - __start_bench_without));
}
