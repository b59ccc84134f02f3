/*
 * The same collective on several ranks, and what their clocks differ by.
 *
 *   collectives_find()   the communication kernels of every rank or, where no two ranks have any, what Gloo, MPI or UCC
 *                        did on the host
 *   .events[]            by time: one collective, and its members on the ranks that have it
 *   collectives_done()
 *
 * What belongs together has the same key: group and sequence number where the trace has them, else group, name and
 * size, else group and name. Of a key that comes several times the first of one rank is the first of another where they
 * have as many of them, else the nearest end decides, so that one that is missing does not shift the others.
 *
 * A collective ends on all ranks at once, so the middle of the differences between ends is the difference of the
 * clocks; a rank that shares none with the reference is set by one that does.
 *
 * By TraceLens's rules the i-th of a group on one rank is the i-th on every other, and clocks are believed.
 */
#ifndef SONDE_ANALYZE_TABLES_COLLECTIVE_MATCH_H
#define SONDE_ANALYZE_TABLES_COLLECTIVE_MATCH_H

#include "analyze/tables/collective_args.h"
#include "analyze/tables/work.h"
#include "base/vec.h"

typedef enum collective_method {
	COLLECTIVE_BY_SEQUENCE,
	COLLECTIVE_BY_SIZE,
	COLLECTIVE_BY_ORDER,
	COLLECTIVE_BY_END, /* some of the name are missing on a rank */
	COLLECTIVE_METHODS
} collective_method;

typedef struct collective {
	int64_t start, end; /* by the rank's own clock, in ticks */
	uint32_t key;
	uint32_t row;
	collective_args args;
} collective;

typedef struct collective_rank {
	int32_t rank;
	collective *items; /* by key, then by start */
	size_t n, capacity;
	size_t n_matched; /* with another rank */
	int64_t offset;	  /* its clock is ahead of the reference's by so much */
	bool is_aligned;
} collective_rank;

typedef struct collective_member {
	uint32_t rank, item; /* of ranks, of their items */
} collective_member;

typedef struct collective_event {
	uint32_t first, n; /* of members, by rank */
	collective_method method;
	int64_t start; /* of its first member, on the common clock */
} collective_event;

typedef struct collectives {
	collective_rank *ranks;
	size_t n_ranks;
	size_t reference; /* of ranks: the one with the most */
	VEC(collective_event) events;
	VEC(collective_member) members;
	size_t n_by[COLLECTIVE_METHODS]; /* events of several ranks, by method */
	bool on_host;
	/* while it looks */
	const rows *rows;
	const work *w;		  /* NULL: our rules */
	collective_reader reader; /* owns the texts of args */
	intern_table keys;
	VEC(collective_method) methods; /* by key */
} collectives;

/* w: of the rows, where its rules may be TraceLens's; else NULL. */
sonde_status collectives_find(const rows *r, const work *w, collectives *ret, sonde_error *err);
void collectives_done(collectives *c);
/* It looks at host rows of such sites, beside what launched a kernel. */
bool collectives_look_at(const char *name, site_class class);

static inline const collective *collective_of(const collectives *c, const collective_member *m)
{
	return &c->ranks[m->rank].items[m->item];
}
/* On the common clock. */
static inline int64_t collective_start(const collectives *c, const collective_member *m)
{
	return collective_of(c, m)->start - c->ranks[m->rank].offset;
}
static inline int64_t collective_end(const collectives *c, const collective_member *m)
{
	return collective_of(c, m)->end - c->ranks[m->rank].offset;
}

const char *collective_method_name(collective_method m); /* "group and sequence number" */
/* "12 by group and sequence number, 3 by name and size" */
const char *collective_methods_text(const collectives *c, sonde_result *r);

#endif
