/*
 * What the host called, inside what, and what each call launched: the table behind the analyses of operators
 * (op_delays, sequences, call_tree, counters).
 *
 *   calls_of()         of work, made when it is first asked for: by the rules of HTA 0.6.1 (compat/hta/calls.c)
 *   calls.ranks[]      calls track after track, in pre-order: what is inside call i is [i + 1, items[i].end)
 *   calls_parts_each() the same, some at a time, by our rules: for what looks at one operator after the other
 *   calls_walk()       the same, one at a time, by our rules: for what adds up
 *
 * What calls launched lies together in the same order, so that a subtree's is a range too. Times are ticks of work.h.
 */
#ifndef SONDE_ANALYZE_TABLES_CALLS_H
#define SONDE_ANALYZE_TABLES_CALLS_H

#include "analyze/tables/work.h"
#include "base/vec.h"

#define CALL_NONE UINT32_MAX

typedef struct call {
	int64_t start, dur;
	uint32_t row; /* of work.rows */
	uint32_t site;
	uint32_t parent; /* call, or CALL_NONE */
	uint32_t end;	 /* first call behind what is inside */
	uint32_t first;	 /* of kernels: its own, then those of what is inside */
	int32_t depth;	 /* 0: nothing is around it */
} call;

typedef struct call_kernel {
	int64_t start, dur;
	uint32_t row;
	uint32_t site;
} call_kernel;

typedef struct calls_rank {
	int32_t rank;
	call *items; /* and one more behind the last, for its first */
	size_t n;
	call_kernel *kernels; /* those of a call by start */
	size_t n_kernels;
	call_kernel *others; /* of calls_of(): host rows that HTA has no place for */
	size_t n_others;
} calls_rank;

typedef struct calls {
	const work *w;
	bool *is_op; /* by site: an operator of a framework */
	calls_rank *ranks;
	size_t n_ranks;
} calls;

typedef struct call_span {
	const call_kernel *items;
	size_t n;
} call_span;

/* Those it launched itself. */
static inline call_span call_direct(const calls_rank *k, uint32_t at)
{
	return (call_span){ k->kernels + k->items[at].first, k->items[at + 1].first - k->items[at].first };
}
/* With those that what is inside it launched. */
static inline call_span call_subtree(const calls_rank *k, uint32_t at)
{
	uint32_t first = k->items[at].first;

	return (call_span){ k->kernels + first, k->items[k->items[at].end].first - first };
}
/* The nearest operator at or above it, or CALL_NONE. */
static inline uint32_t call_op(const calls *c, const calls_rank *k, uint32_t at)
{
	while (at != CALL_NONE && !c->is_op[k->items[at].site])
		at = k->items[at].parent;
	return at;
}
static inline const char *call_name(const calls *c, uint32_t site)
{
	return index_text(c->w->rows.ix, c->w->rows.sites[site].name);
}

/* The names of sites behind each other: "a -> b -> c"; a long list is cut and says so. */
const char *call_names(const calls *c, sonde_result *r, const uint32_t *names, size_t n);

/* ---- Some at a time: calls_parts.c --------------------------------------------------------------------------------
 */

typedef struct calls_parts {
	calls c;	    /* without ranks */
	uint32_t *launched; /* device rows by the row that launched them */
	size_t n_launched;
	/* Of the part */
	VEC(call) calls;
	VEC(call_kernel) kernels;
	VEC(uint32_t) new_of; /* by row: how many calls come before it */
	/* For calls_parts_say_coverage(): what calls launched so far, and what nobody known did */
	size_t n_kernels, n_others;
	int64_t others_ns;
} calls_parts;

/* calls_parts_done() afterwards, also when it says false: out of memory. */
bool calls_parts_init(calls_parts *p, const work *w);
void calls_parts_done(calls_parts *p);
/* Called with the calls of a part, as of a rank. False ends it. */
typedef bool calls_visit(void *context, const calls_rank *part);
/* All parts of a rank, in the order of rows. What is inside a row of the sites marked in `whole` is in its part. False
   when out of memory, or when the visitor says so. */
bool calls_parts_each(calls_parts *p, int32_t rank, const bool *whole, calls_visit *visit, void *context);
/* Says how much of the device's work the calls do not cover. */
void calls_parts_say_coverage(const calls_parts *p, sonde_result *r, const char *label);

/* ---- One after the other: calls_walk.c ----------------------------------------------------------------------------
 */

/* A call between its begin and its end. */
typedef struct walked_call {
	int64_t dur;
	uint32_t site;
	uint32_t at, end; /* what is inside comes in (at, end) */
	int32_t depth;	  /* 0: nothing is around it */
	/* The visitor's own */
	uint32_t group;
	bool is_counted;
	uint64_t hash;
	/* When it ends: what it launched itself, and with what is inside. Ticks. */
	size_t n_direct, n_kernels;
	int64_t direct, device;
	int64_t first, last; /* from the first start to the last end of all */
	uint16_t height;     /* 1: nothing is inside */
} walked_call;

typedef struct calls_visitor {
	/* around: NULL where nothing is. False ends the walk. */
	bool (*begin)(void *context, walked_call *call, const walked_call *around);
	void (*end)(void *context, const walked_call *call);
	void *context;
} calls_visitor;

/* All calls of a rank, by our rules. False when out of memory, or when the visitor says so. */
bool calls_walk(calls_parts *p, int32_t rank, const calls_visitor *visitor);
/* Those of calls_of(). */
bool calls_walk_rank(const calls_rank *k, const calls_visitor *visitor);

/* By HTA's rules. NULL when out of memory. It lives as long as the work. */
const calls *calls_of(const work *w, const sonde_analyze_options *options);
void calls_done(calls *c);
/* For calls_of(); false when out of memory. */
bool calls_load_hta(calls *c, const sonde_analyze_options *options);
/* Fills in first of all calls, from how many each launched, and makes room for the kernels. */
bool calls_place(calls_rank *k, const uint32_t *n_launched);

#endif
