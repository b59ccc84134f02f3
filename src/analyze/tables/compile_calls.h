/*
 * What compilers left in a trace: calls into what they made, the times they ran themselves, and where compiled code is
 * interrupted. torch.compile above all; jax.jit and the sessions of ONNX Runtime as far as they say.
 *
 *   compile_calls_load()   one pass over the rows
 *   .calls[]               track after track, in pre-order: what a call is inside of comes before it
 *   .runs[]                each time a compiler ran, what it ran inside of it is part of it
 *   .breaks[]              one compiled graph follows another of the same function
 *   compile_calls_done()
 *
 * A call of PyTorch is a row "Torch-Compiled Region: 0/1": frame 0, compiled for the second time. Where a function is
 * broken into several graphs, what follows the break is compiled by itself and called from within the region before it.
 */
#ifndef SONDE_ANALYZE_TABLES_COMPILE_CALLS_H
#define SONDE_ANALYZE_TABLES_COMPILE_CALLS_H

#include "analyze/tables/rows.h"
#include "base/vec.h"

#define COMPILE_OUTSIDE UINT32_MAX

typedef enum compile_kind {
	COMPILE_NONE,
	COMPILE_REGION,	  /* Torch-Compiled Region: 0/1 */
	COMPILE_FUNCTION, /* CompiledFunction: within a region; PyTorch before 2.1 has none around it */
	COMPILE_BACKWARD, /* CompiledFunctionBackward */
	COMPILE_GRAPH,	  /* ## Call CompiledFxGraph HASH ##: within either */
	COMPILE_JIT,	  /* PjitFunction(f) of JAX */
	COMPILE_SESSION,  /* model_run of ONNX Runtime */
	COMPILE_WORK,	  /* the compiler runs */
	COMPILE_KERNEL,	  /* code that it made: triton_poi_fused_add_0, graph_0_cpp_fused_relu_0 */
	COMPILE_LAUNCH,	  /* of a graph that the device recorded: cudaGraphLaunch */
	COMPILE_LOOKUP,	  /* which of the compiled ones fits: TorchDynamo Cache Lookup, that checks the guards */
} compile_kind;

compile_kind compile_kind_of(const char *name, const char *category, site_class class);

typedef struct compile_call {
	uint32_t row;
	uint32_t around;       /* of calls, or COMPILE_OUTSIDE */
	uint32_t graph;	       /* the name of the first graph in it, string or INDEX_NONE */
	uint32_t function;     /* the row of the first function in it, which its backward pass refers to; ROW_NONE */
	uint8_t kind;	       /* compile_kind */
	int64_t work_ns;       /* the compiler ran inside it, or inside a call inside it */
	int64_t inner_ns;      /* calls right inside it */
	int64_t inner_work_ns; /* of work_ns: in calls right inside it */
} compile_call;

typedef struct compile_run {
	uint32_t row;
	uint32_t call; /* around it, or COMPILE_OUTSIDE */
	int64_t ns;
	const char *id; /* "0/1", not ended; NULL: it does not say */
	size_t id_len;
	int64_t number;	  /* behind the last /: from 1 on it is compiled again; -1: it does not say */
	bool is_backward; /* of a backward pass, which is compiled when it first runs */
} compile_run;

typedef struct compile_break {
	uint32_t from, to; /* rows of calls */
	int64_t gap_ns;	   /* between what was compiled before it and after it, without compiling */
	bool is_inside;	   /* `to` is inside `from`. Else it stands behind it and may be another function */
} compile_break;

typedef struct compile_calls {
	const rows *rows;
	uint8_t *kinds; /* by site */
	VEC(compile_call) calls;
	VEC(compile_run) runs;
	VEC(compile_break) breaks;
} compile_calls;

/* False when out of memory; done() all the same. The rows must outlive it. */
bool compile_calls_load(compile_calls *c, const rows *r);
void compile_calls_done(compile_calls *c);

/* What stands behind "compile_id=", or behind "Torch-Compiled Region: "; NULL: nothing does. */
const char *compile_id_in(const char *name, size_t *ret_len);

#endif
