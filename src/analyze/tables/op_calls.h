/*
 * Calls of operators that launched something, what it took on the device, and which calls are alike.
 *
 *   op_calls_load()    of all ranks of a work, by its rules; calls back for each call
 *   op_of_item()       the operator of a device row, op_group_of() the group of its call
 *   .groups[]          calls of the same rank, name, category and arguments
 *   op_calls_done()
 *
 * A device row belongs to the nearest operator above its launch, or to the launch itself where none is. Its direct
 * time is what that one launched, its subtree's what everything inside it did; what overlaps counts once. Communication
 * waits for others and says little about an operator: it counts for subtrees only.
 *
 * One pass over the rows; a call is there from its begin to its end. 8 bytes a device row, and what the direct time of
 * a call needs packed, some 3.
 */
#ifndef SONDE_ANALYZE_TABLES_OP_CALLS_H
#define SONDE_ANALYZE_TABLES_OP_CALLS_H

#include "analyze/names/op_category.h"
#include "analyze/tables/work.h"
#include "base/intern.h"

#define OP_NONE UINT32_MAX

typedef struct op_call {
	uint32_t row;		 /* the operator, or the launch */
	uint32_t rank;		 /* of work.ranks */
	uint32_t first_item;	 /* that it launched; by first_of_rank + item */
	int64_t direct, subtree; /* ticks */
} op_call;

/* Called with a call when it ends: what is inside comes first. False ends it. */
typedef bool op_visit(void *context, const op_call *call);

enum { OP_DIMS, OP_TYPES, OP_STRIDES, OP_INPUTS, OP_ARGS };

typedef struct op_group {
	uint32_t name; /* string */
	uint32_t rank; /* of work.ranks */
	op_category category;
	uint32_t sample;     /* row of the first of them */
	uint32_t first_item; /* of that one */
	uint32_t n;
	__int128 direct, subtree; /* ticks */
	uint8_t *directs;	  /* of each, packed */
	size_t n_bytes, capacity;
} op_group;

typedef struct op_calls {
	const work *w;
	uint32_t *op_of_item;	 /* the operator, or the launch, or ROW_NONE; by first_of_rank + item */
	uint32_t *group_of_item; /* of the call whose direct time it is, or OP_NONE */
	size_t *first_of_rank;	 /* and one more */
	VEC(op_group) groups;	 /* by first_item */
	args_column args[OP_ARGS];
	bool has_args;
	uint8_t *site_category; /* op_category, by site */
	bool *is_op;		/* by site */
	intern_table keys;	/* of groups */
} op_calls;

/* op_calls_done() afterwards, also on failure. visit: may be NULL. False when out of memory. */
bool op_calls_load(op_calls *o, const work *w, op_visit *visit, void *context);
void op_calls_done(op_calls *o);

/* The operator above what launched the item, or the launch, or ROW_NONE. */
static inline uint32_t op_of_item(const op_calls *o, size_t rank, size_t item)
{
	return o->op_of_item[o->first_of_rank[rank] + item];
}
/* The group of the call whose direct time it is, or OP_NONE. */
static inline uint32_t op_group_of(const op_calls *o, size_t rank, size_t item)
{
	return o->group_of_item[o->first_of_rank[rank] + item];
}
/* The direct times of a group's calls, sorted; to be freed. NULL when out of memory. */
int64_t *op_group_directs(const op_group *g);
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
