/*
 * Ticks: the time stamp counter where it can be trusted, CLOCK_MONOTONIC where not.
 *
 * The counter is trusted when the CPU says that it runs at one rate through all power states and the kernel keeps its
 * own time with it (then it has also checked that the cores agree). SONDE_CLOCK=monotonic forces the other way.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include "base/clock.h"

int64_t clock_slow_ticks(void) __attribute__((visibility("hidden")));

int64_t clock_slow_ticks(void)
{
	return monotonic_ns();
}

#if defined(__x86_64__)
static bool counter_is_steady(void)
{
	unsigned a, b, c, d;
	char source[16] = "";

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* no sysfs, as in some containers: the CPU's word counts */
	ssize_t len = read(fd, source, sizeof source - 1);
	close(fd);
	return len <= 0 || strncmp(source, "tsc", 3) == 0;
}
#endif

void clock_choose(void)
{
	const char *forced = secure_getenv("SONDE_CLOCK");

	rt.slow_clock = true;
	rt.clock = CLOCK_NS;
	if (forced && strcmp(forced, "monotonic") == 0)
		return;
#if defined(__x86_64__)
	rt.slow_clock = !counter_is_steady();
	rt.clock = rt.slow_clock ? CLOCK_NS : CLOCK_TSC;
#elif defined(__aarch64__)
	rt.slow_clock = false;
	rt.clock = CLOCK_CNTVCT;
#endif
}

/* The narrowest of 20 brackets: 30 ns wide on current machines. */
clock_pair clock_pair_now(void)
{
	clock_pair best = { .error_ticks = UINT64_MAX };

	for (int i = 0; i < 20; i++) {
		uint64_t before = clock_ticks();
		int64_t ns = monotonic_ns();
		uint64_t after = clock_ticks();
		if (after - before >= best.error_ticks)
			continue;
		best = (clock_pair){ .ticks = before + (after - before) / 2, .ns = ns, .error_ticks = after - before };
	}
	if (rt.slow_clock)
		return (clock_pair){ .ticks = (uint64_t)best.ns, .ns = best.ns };
	return best;
}
