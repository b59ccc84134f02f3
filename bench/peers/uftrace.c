/*
 * uftrace's scope is a function: this file is compiled with -pg, which makes every function but the loops call the
 * tracer. Arguments are taken as told on the command line of uftrace, see uftrace.sh.
 */
#include "common/peer.h"

#define LOOP __attribute__((noinline, no_instrument_function)) static void
#define TRACED __attribute__((noipa)) static void

TRACED traced(void)
{
	__asm__ volatile("");
}

TRACED inner(void)
{
	__asm__ volatile("");
}

TRACED third(void)
{
	inner();
	__asm__ volatile("");
}

TRACED second(void)
{
	third();
	__asm__ volatile("");
}

TRACED outer(void)
{
	second();
	__asm__ volatile("");
}

TRACED traced_int(size_t i)
{
	keep(i);
}

TRACED traced_string(const char *text)
{
	keep((uint64_t)(uintptr_t)text);
}

LOOP scope(size_t n)
{
	for (size_t i = 0; i < n; i++)
		traced();
}

LOOP scopes_by_8(size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		TIMES_8(traced();)
	}
}

LOOP nested(size_t n)
{
	for (size_t i = 0; i < n; i += 4)
		outer();
}

LOOP int_argument(size_t n)
{
	for (size_t i = 0; i < n; i++)
		traced_int(i);
}

LOOP string_argument(size_t n)
{
	for (size_t i = 0; i < n; i++)
		traced_string("layer.3.attention");
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	const peer uftrace = { "uftrace", scope, scopes_by_8, nested, int_argument, string_argument };

	return peer_main(&uftrace, argc, argv);
}
