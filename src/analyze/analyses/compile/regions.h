/*
 * The calls of analyses/compile/calls.h summed by what is called, and which compilation was for which; for `compile`.
 *
 *   compile_regions_load()
 *   .items[], .runs[]        regions; for each compilation its region and whether it was compiled before
 *   compile_regions_add()    as a table
 *   compile_regions_done()
 *
 * A backward pass has no number of its own: it is told by the graph that it runs, and by the forward pass with the same
 * sequence number.
 */
#ifndef SONDE_ANALYZE_ANALYSES_COMPILE_REGIONS_H
#define SONDE_ANALYZE_ANALYSES_COMPILE_REGIONS_H

#include "analyze/tables/compile_calls.h"
#include "analyze/tables/op_tree.h"
#include "analyze/result/result.h"
#include "base/intern.h"

typedef struct compile_region {
	uint32_t name, graph; /* strings; graph may be INDEX_NONE */
	uint32_t forward;     /* of a backward pass: the region whose gradients it computes, or COMPILE_OUTSIDE */
	uint8_t kind;	      /* compile_kind */
	int32_t rank;
	uint64_t n, n_runs, n_device;
	int64_t host_ns;   /* without the compiler */
	int64_t own_ns;	   /* and without calls inside */
	int64_t device_ns; /* launched inside */
	int64_t run_ns;	   /* the compiler, for it */
	uint32_t first;	   /* of calls: the earliest */
	int64_t median_ns; /* of the later ones, without the compiler; -1: there are none */
} compile_region;

typedef struct compile_run_of {
	uint32_t region; /* of regions, or COMPILE_OUTSIDE */
	bool is_known, is_again;
} compile_run_of;

typedef struct compile_regions {
	const compile_calls *calls;
	VEC(compile_region) items;
	uint32_t *of_call; /* by call */
	compile_run_of *runs;
	intern_table keys;
} compile_regions;

/* False when out of memory; done() all the same. What it is made from must outlive it. */
bool compile_regions_load(compile_regions *g, const compile_calls *c, const op_tree *tree);
void compile_regions_done(compile_regions *g);

static inline const char *compile_region_name(const compile_regions *g, uint32_t region)
{
	return index_text(g->calls->rows->ix, g->items.items[region].name);
}

void compile_regions_add(const compile_regions *g, const sonde_analyze_options *options, sonde_result *r);
/* The kernels that compilers made; analyses/compile/kernels.c. False when out of memory. */
bool compile_kernels_add(const compile_calls *c, const op_tree *tree, const sonde_analyze_options *options,
			 sonde_result *r, size_t *ret_n);

#endif
