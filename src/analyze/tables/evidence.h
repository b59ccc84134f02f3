/*
 * What the rules of `sonde bottlenecks` look at: the rows of a trace, what each name is, and per rank who was busy
 * when.
 *
 *   evidence_load()    reads the rows without the warm-up, sorts them into sets of time
 *   evidence.ranks[]   per rank: the time looked at and what filled it
 *   evidence_done()
 *
 * The time looked at is that of the steps; pauses between them that are longer than half a step (the profiler was off)
 * are left out. Without steps it is everything. It goes on to the end of the last work that a step launched.
 *
 * The warm-up goes by warmup.h, the same for all analyses.
 */
#ifndef SONDE_ANALYZE_TABLES_EVIDENCE_H
#define SONDE_ANALYZE_TABLES_EVIDENCE_H

#include "analyze/math/intervals.h"
#include "analyze/tables/rows.h"
#include "base/search.h"

/* What a name stands for; several may be true. */
typedef enum trait {
	TRAIT_LOADER = 1 << 0,	      /* the program waits for its next batch */
	TRAIT_LOADER_SINGLE = 1 << 1, /* ... and makes it itself */
	TRAIT_COMM_KERNEL = 1 << 2,   /* a collective on the device */
	TRAIT_COMM_HOST = 1 << 3,     /* a collective on the processor */
	TRAIT_TO_HOST = 1 << 4,	      /* copies */
	TRAIT_TO_DEVICE = 1 << 5,
	TRAIT_PAGEABLE = 1 << 6,
	TRAIT_SYNC_CALL = 1 << 7,   /* cudaStreamSynchronize ... */
	TRAIT_SYNC_COPY = 1 << 8,   /* cudaMemcpy without Async */
	TRAIT_SYNC_MEMSET = 1 << 9, /* cudaMemset without Async */
	TRAIT_MALLOC = 1 << 10,	    /* cudaMalloc */
	TRAIT_FREE = 1 << 11,	    /* cudaFree */
	TRAIT_SCALAR = 1 << 12,	    /* operators that give the host a value: .item(), nonzero() */
	TRAIT_GEMM = 1 << 13,	    /* kernels that tensor cores could run */
	TRAIT_TENSOR_CORE = 1 << 14,
	TRAIT_FP32_GEMM = 1 << 15,
	TRAIT_POINTWISE = 1 << 16, /* kernels that touch each element once */
	TRAIT_LAYOUT = 1 << 17,	   /* kernels that only move elements */
	TRAIT_OPTIMIZER = 1 << 18,
	TRAIT_ZERO_GRAD = 1 << 19,
	TRAIT_FOREACH = 1 << 20, /* operators over many tensors at once */
	TRAIT_BACKWARD = 1 << 21,
	TRAIT_OP = 1 << 22, /* an operator of a framework, or a scope of class compute */
	TRAIT_COMPILE = 1 << 23,
	TRAIT_REGION = 1 << 24, /* a call into a compiled graph */
	TRAIT_DATA_PARALLEL = 1 << 25,
	TRAIT_DEBUG = 1 << 26,	/* anomaly detection, gradcheck */
	TRAIT_MATMUL = 1 << 27, /* operators */
	TRAIT_SOFTMAX = 1 << 28,
	TRAIT_FILL = 1 << 29,	/* operators that make a tensor out of nothing */
	TRAIT_RUNTIME = 1 << 30 /* calls into a device's driver */
} trait;

typedef struct evidence_rank {
	const rows_rank *of;
	uint32_t main_track; /* of its steps; INDEX_NONE: not known */
	intervals span;	     /* the time looked at */
	int64_t span_ns;
	intervals compute, comm, copies; /* on the device */
	intervals idle;			 /* of the device, within the span */
	intervals loading, comm_host;	 /* of the host */
	intervals ops;			 /* operators and driver calls of the host, all threads */
	/* The device is idle while the host ... */
	int64_t idle_loading_ns, idle_comm_ns, idle_ops_ns, idle_other_ns;
} evidence_rank;

typedef struct evidence {
	const sonde_analyze_options *options;
	rows rows;
	uint32_t *traits;   /* of sites */
	uint32_t *launched; /* device rows whose launch is known, by the row that launched them */
	size_t n_launched;
	evidence_rank *ranks;
	size_t n_ranks;
	bool has_device, has_comm;
	int64_t span_ns;   /* the sum over all ranks */
	int64_t device_ns; /* length of all kernels and copies */
	size_t n_warmup;
	const rows_step *steps; /* those of the first rank that has any */
	size_t n_steps;
	int64_t median_step_ns;
	int compute_major;     /* of the device, 0: not known */
	int64_t device_memory; /* bytes; 0: not known */
} evidence;

/* evidence_done() afterwards, also on failure. */
sonde_status evidence_load(evidence *e, const sonde_trace *trace, const sonde_analyze_options *options,
			   sonde_error *err);
void evidence_done(evidence *e);

#define evidence_row(e, i) ROW_AT(&(e)->rows, i)
static inline uint32_t row_traits(const evidence *e, const row *r)
{
	return e->traits[r->site];
}
/* When the device is idle and the host neither loads, nor communicates, nor is in an operator: *ret, to be done with.
   Returns false when out of memory. */
bool evidence_other(evidence_rank *k, intervals *ret);
/* How long the device was busy between the two; start <= end. */
static inline int64_t evidence_busy_ns(const evidence_rank *k, int64_t start, int64_t end)
{
	return intervals_overlap_with(&k->span, start, end) - intervals_overlap_with(&k->idle, start, end);
}
/* By number, binary search; NULL: not there. */
static inline evidence_rank *evidence_find_rank(const evidence *e, int32_t rank)
{
	size_t at = FIRST_NOT(i, 0, e->n_ranks, e->ranks[i].of->rank < rank);

	return at < e->n_ranks && e->ranks[at].of->rank == rank ? &e->ranks[at] : NULL;
}
/* What a host row costs: the device time it launched where there is a device, else its own. */
int64_t row_cost_ns(const evidence *e, uint32_t i);

/* The next row inside the same parent, or SIZE_MAX. */
static inline size_t row_sibling(const evidence *e, size_t i)
{
	const row *at = ROW_AT(&e->rows, i);

	if (at->end >= e->rows.n || rows_at(&e->rows, at->end).parent != at->parent ||
	    rows_at(&e->rows, at->end).track != at->track)
		return SIZE_MAX;
	return at->end;
}

/* By site: kernels that have the trait. NULL when out of memory; the caller frees. */
bool *traits_mark_kernels(const rows *r, uint32_t wanted);
uint32_t traits_of(const char *name, const char *category, site_class class); /* traits.c */

#endif
