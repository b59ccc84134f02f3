/* The tracepoints of bench_peer_lttng: LTTng-UST includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "peers/lttng_events.h"

#if !defined(BENCH_PEERS_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_PEERS_LTTNG_EVENTS_H

#include <stdint.h>
#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, scope_begin, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(bench, scope_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(bench, int_begin, LTTNG_UST_TP_ARGS(int64_t, i),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, i, i)))
LTTNG_UST_TRACEPOINT_EVENT(bench, string_begin, LTTNG_UST_TP_ARGS(const char *, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))
/* clang-format on */

#endif
#include <lttng/tracepoint-event.h>
