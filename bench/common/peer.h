/*
 * The program of a peer: the same cases as bench_record, as far as the peer has them, with the peer's own means. The
 * script that runs it (peers/<name>.sh) has the peer record it.
 *
 *   bench_peer_<name> [--json FILE] [--batches N]   the cases
 *   bench_peer_<name> --off                         while the peer does not record
 *   bench_peer_<name> --flat-out N                  N scopes, as fast as they come
 */
#ifndef BENCH_COMMON_PEER_H
#define BENCH_COMMON_PEER_H

#include "common/measure.h"

/* NULL: the peer has no such thing. */
typedef struct peer {
	const char *name;
	measure_loop scope;
	measure_loop scopes_by_8; /* n scopes, eight in a turn */
	measure_loop nested;	  /* n scopes, four in each other in a turn */
	measure_loop int_argument;
	measure_loop string_argument;
} peer;

/* Returns what main returns. */
int peer_main(const peer *p, int argc, char **argv);

#endif
