/*
 * Pairs begins with their ends, for every importer.
 *
 * Begins and ends belong to a list: a thread, an id, whatever has scopes of its own. Lists are numbers from 0 on that
 * the importer chooses, with few gaps. Events need not be in the order of time. An end finds its begin by name or, when
 * its name is PAIRING_ANY, takes the innermost one; it never takes one that begins after it, until all is read.
 *
 *   pairing p = { .nests = true, .close = add_slice, .context = importer };
 *   pairing_begin(&p, list, &begin);
 *   if (pairing_end(&p, list, &end, &begin))       that is the scope: the caller closes it
 *           ...
 *   else
 *           pairing_keep_end(&p, list, &end);      its begin has not come yet
 *   pairing_match_kept(&p);                        when all is read: ends that were kept, in the order of time
 *   pairing_close_open(&p, last_ns);               then the begins that have no end
 *   pairing_done(&p);
 *
 * Scopes that pairing_end() does not return go to `close`. Memory is bounded: at most `max_waiting` begins and as many
 * ends wait, the others are dropped and counted. So is time: an end looks at PAIRING_SEARCHED begins.
 */
#ifndef SONDE_IMPORT_PAIRING_H
#define SONDE_IMPORT_PAIRING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

#define PAIRING_ANY UINT32_MAX /* a name that every begin has */

enum { PAIRING_SEARCHED = 1024, PAIRING_MAX_WAITING = 1 << 24 };

/* A begin, with what becomes of it. Only `ts_ns` and `name` mean something here. */
typedef struct pairing_open {
	int64_t ts_ns;
	uint64_t at; /* byte in the file, for the counts */
	uint64_t correlation;
	uint32_t name;
	uint32_t site, track; /* the builder's */
	uint32_t args;	      /* record + 1, 0: none */
	uint32_t flags;	      /* SLICE_ bits, at most 8 of them */
	uint32_t below_;      /* of pairing.c */
} pairing_open;

typedef struct pairing_stop {
	int64_t ts_ns;
	uint64_t at;
	uint32_t name; /* PAIRING_ANY: it has none */
	uint32_t args; /* record + 1, 0: none */
} pairing_stop;

typedef enum pairing_fate {
	PAIRING_MATCHED, /* by an end that came before its begin */
	PAIRING_CROSSED, /* the end is that of a scope around it; it had none of its own */
	PAIRING_UNCLOSED,
} pairing_fate;

/* How often, and the lowest `at`. */
typedef struct pairing_count {
	uint64_t n, first_at;
} pairing_count;

typedef struct pairing_kept {
	pairing_stop end;
	uint32_t list;
} pairing_kept;

typedef struct pairing {
	/* Scopes nest: an end also closes what began inside of its scope. Else they may cross, as those of an id do; an
	   end whose name no begin has then takes the innermost one. */
	bool nests;
	void (*close)(void *context, const pairing_open *begin, const pairing_stop *end, pairing_fate fate);
	void *context;
	uint32_t max_waiting;		  /* 0: PAIRING_MAX_WAITING */
	pairing_count crossed, unclosed;  /* begins without an end of their own */
	pairing_count lost_ends, dropped; /* ends without a begin; either one, beyond max_waiting */
	bool failed;			  /* out of memory */
	/* Of pairing.c. */
	VEC(pairing_open) begins; /* open, and free ones */
	uint32_t n_open, free;	  /* index + 1 of the first free one */
	VEC(uint32_t) innermost;  /* by list: index + 1 */
	VEC(pairing_kept) kept;
} pairing;

void pairing_begin(pairing *p, uint32_t list, const pairing_open *begin);

/* Takes the begin of this end out. Returns false if there is none so far. */
bool pairing_end(pairing *p, uint32_t list, const pairing_stop *end, pairing_open *ret_begin);
void pairing_keep_end(pairing *p, uint32_t list, const pairing_stop *end);

void pairing_match_kept(pairing *p);
void pairing_close_open(pairing *p, int64_t last_ns);
void pairing_done(pairing *p);

#endif
