/* What an operator computes, told by its name, else by the kernel it launches. */
#ifndef SONDE_ANALYZE_NAMES_OP_CATEGORY_H
#define SONDE_ANALYZE_NAMES_OP_CATEGORY_H

#include <stdbool.h>

typedef enum op_category {
	OP_OTHER,
	OP_GEMM,
	OP_GROUPED_GEMM_FWD,
	OP_GROUPED_GEMM_BWD,
	OP_CONV_FWD,
	OP_CONV_BWD,
	OP_SDPA_FWD,
	OP_SDPA_BWD,
	OP_INFERENCE_ATTENTION,
	OP_NORM_FWD,
	OP_NORM_BWD,
	OP_ROPE_FWD,
	OP_ROPE_BWD,
	OP_SSM_FWD,
	OP_SSM_BWD,
	OP_MOE_FUSED,
	OP_MOE_AUX,
	OP_MOE_COMM_FWD,
	OP_MOE_COMM_BWD,
	OP_CROSS_ENTROPY_FWD,
	OP_CROSS_ENTROPY_BWD,
	OP_ELEMENTWISE,
	OP_REDUCE,
	OP_MULTI_TENSOR_APPLY,
	OP_TRITON,
	OP_RECORD_PARAM_COMMS,
	/* those that only we tell apart */
	OP_SOFTMAX,
	OP_POOLING,
	OP_EMBEDDING,
	OP_INDEXING,
	OP_DROPOUT,
	OP_COPY,
	OP_CATEGORIES
} op_category;

const char *op_category_name(op_category c);

/* By the operator's name; OP_OTHER: it does not say. tracelens: only names that TraceLens knows. */
op_category op_category_of_name(const char *name, bool tracelens);
/* By the name of the first kernel it launches. */
op_category op_category_of_kernel(const char *kernel);

#endif
