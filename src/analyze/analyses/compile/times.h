/*
 * How much of the time of ranks and steps runs compiled; for `compile`.
 *
 *   compile_times_load()
 *   compile_times_add_shares(), _add_steps()   as tables
 *   compile_times_done()
 *
 * Time is told apart in this order: the compiler runs; compiled code runs; an operator runs that is in no compiled
 * code (eager); none of them does (Python, waiting, what is no operator). All threads of a rank count together.
 */
#ifndef SONDE_ANALYZE_ANALYSES_COMPILE_TIMES_H
#define SONDE_ANALYZE_ANALYSES_COMPILE_TIMES_H

#include "analyze/tables/compile_calls.h"
#include "analyze/math/intervals.h"
#include "analyze/tables/op_tree.h"
#include "analyze/result/result.h"

/* Per rank: when what ran. */
typedef struct rank_times {
	const rows_rank *of;
	intervals compiling, compiled, eager;
	int64_t device_ns; /* launched by compiled code */
} rank_times;

typedef struct compile_times {
	const compile_calls *calls;
	const op_tree *tree;
	rank_times *ranks; /* as rows.ranks */
} compile_times;

/* What a stretch of time is made of; the rest of it is other. */
typedef struct compile_split {
	int64_t all, compiling, compiled, eager;
	int64_t steady_ns, steady_compiled_ns; /* the same of steps in which nothing is compiled */
	size_t n_steady;
	int64_t device_ns, compiled_device_ns;
} compile_split;

/* False when out of memory; done() all the same. What it is made from must outlive it. */
bool compile_times_load(compile_times *t, const compile_calls *c, const op_tree *tree);
void compile_times_done(compile_times *t);

/* Returns the sum over all ranks. */
compile_split compile_times_add_shares(const compile_times *t, sonde_result *r);
bool compile_times_add_steps(const compile_times *t, const sonde_analyze_options *options, sonde_result *r);

/* Something was compiled, then or before. */
static inline bool compile_has_any(const compile_calls *c)
{
	return c->calls.n || c->runs.n;
}
/* Of a row; NULL: the trace has no such rank. */
const rows_rank *compile_rank_of(const rows *r, int32_t rank);

#endif
