/*
 * Calls of operators that launched something, what it took on the device, and which calls are alike.
 *
 *   op_calls_load()    of all ranks of a work, by its rules
 *   .calls[], op_call_of()
 *   .groups[]          calls of the same rank, name, category and arguments; their calls in .by_group
 *   op_calls_done()
 *
 * A device row belongs to the nearest operator above its launch, or to the launch itself where none is. Its direct
 * time is what that one launched, its subtree's what everything inside it did; what overlaps counts once. Communication
 * waits for others and says little about an operator: it counts for subtrees only.
 */
#ifndef SONDE_ANALYZE_TABLES_OP_CALLS_H
#define SONDE_ANALYZE_TABLES_OP_CALLS_H

#include "analyze/names/op_category.h"
#include "analyze/tables/work.h"
#include "base/intern.h"

#define OP_NONE UINT32_MAX

typedef struct op_call {
	uint32_t row;	/* the operator, or the launch */
	uint32_t outer; /* the call around it, or OP_NONE */
	uint32_t group;
	uint32_t first_row;	    /* device row that it launched and that began first */
	uint32_t rank;		    /* of work.ranks */
	int64_t direct, direct_end; /* ticks: so far, and until when */
	int64_t subtree, subtree_end;
} op_call;

enum { OP_DIMS, OP_TYPES, OP_STRIDES, OP_INPUTS, OP_ARGS };

typedef struct op_group {
	uint32_t name; /* string */
	uint32_t rank; /* of work.ranks */
	op_category category;
	uint32_t sample;	  /* row of one of them */
	uint32_t first, n;	  /* of by_group */
	__int128 direct, subtree; /* ticks */
} op_group;

typedef struct op_calls {
	const work *w;
	VEC(op_call) calls;
	uint32_t *op_of_item; /* the operator, or the launch, or ROW_NONE; by first_of_rank + item */
	size_t *first_of_rank;
	uint32_t *call_of_row; /* or OP_NONE */
	VEC(op_group) groups;
	uint32_t *by_group; /* calls, group after group, the shortest first */
	args_column args[OP_ARGS];
	bool has_args;
	/* while it loads */
	uint8_t *site_category; /* op_category, by site */
	bool *is_op;		/* by site */
	intern_table keys;	/* of groups */
} op_calls;

/* op_calls_done() afterwards, also on failure. */
bool op_calls_load(op_calls *o, const work *w); /* false when out of memory */
void op_calls_done(op_calls *o);

/* The operator above what launched the item, or the launch, or ROW_NONE. */
static inline uint32_t op_of_item(const op_calls *o, size_t rank, size_t item)
{
	return o->op_of_item[o->first_of_rank[rank] + item];
}
/* The call whose direct time it is, or OP_NONE. */
static inline uint32_t op_call_of(const op_calls *o, size_t rank, size_t item)
{
	uint32_t op = op_of_item(o, rank, item);

	return op == ROW_NONE || o->w->ranks[rank].items[item].kind == KERNEL_COMMUNICATION ? OP_NONE
											    : o->call_of_row[op];
}
/* Calls with the same key have the same name and arguments; by TraceLens's rules also the same thread. */
typedef struct op_key {
	uint32_t name, rank, track;
	uint32_t more; /* what else the caller tells apart; 0 */
	int64_t args[OP_ARGS];
} op_key;
op_key op_key_of(const op_calls *o, uint32_t rank, uint32_t op);
/* One of the arguments of an operator's row as JSON, cut when it is long; NULL: it has none. */
const char *op_args(const op_calls *o, uint32_t op, int which, sonde_result *r);
const char *op_shapes(const op_calls *o, uint32_t op, sonde_result *r); /* "64x3, 5"; NULL: not known */

#endif
