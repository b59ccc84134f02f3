/*
 * LTTng-UST's scope is two tracepoints. They do nothing until a session enables them, see lttng.sh.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peers/lttng_events.h"
#include "common/peer.h"

#define LOOP __attribute__((noinline)) static void
#define TRACED_SCOPE                                                                                                   \
	lttng_ust_tracepoint(bench, scope_begin);                                                                      \
	__asm__ volatile("");                                                                                          \
	lttng_ust_tracepoint(bench, scope_end);

LOOP scope(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		TRACED_SCOPE
	}
}

LOOP scopes_by_8(size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		TIMES_8(TRACED_SCOPE)
	}
}

LOOP nested(size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		lttng_ust_tracepoint(bench, scope_begin);
		lttng_ust_tracepoint(bench, scope_begin);
		lttng_ust_tracepoint(bench, scope_begin);
		TRACED_SCOPE
		lttng_ust_tracepoint(bench, scope_end);
		lttng_ust_tracepoint(bench, scope_end);
		lttng_ust_tracepoint(bench, scope_end);
	}
}

LOOP int_argument(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lttng_ust_tracepoint(bench, int_begin, (int64_t)i);
		lttng_ust_tracepoint(bench, scope_end);
	}
}

LOOP string_argument(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lttng_ust_tracepoint(bench, string_begin, "layer.3.attention");
		lttng_ust_tracepoint(bench, scope_end);
	}
}

int main(int argc, char **argv)
{
	const peer lttng = { "LTTng-UST", scope, scopes_by_8, nested, int_argument, string_argument };

	return peer_main(&lttng, argc, argv);
}
