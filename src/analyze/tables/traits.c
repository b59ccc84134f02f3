/* What a name stands for, from the name itself; see evidence.h. */
#include "analyze/tables/evidence.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/tables/compile_calls.h"
#include "analyze/names/kernel_kind.h"

typedef enum match { STARTS, HOLDS, ENDS, IS } match;

typedef struct naming {
	const char *text;
	match how;
	uint32_t traits;
} naming;

static const naming device_names[] = {
	{ "DtoH", HOLDS, TRAIT_TO_HOST },
	{ "DeviceToHost", HOLDS, TRAIT_TO_HOST },
	{ "HtoD", HOLDS, TRAIT_TO_DEVICE },
	{ "HostToDevice", HOLDS, TRAIT_TO_DEVICE },
	{ "Pageable", HOLDS, TRAIT_PAGEABLE },
	{ "gemm", HOLDS, TRAIT_GEMM },
	{ "GEMM", HOLDS, TRAIT_GEMM },
	{ "cutlass", HOLDS, TRAIT_GEMM },
	{ "Cijk_", HOLDS, TRAIT_GEMM | TRAIT_TENSOR_CORE }, /* Tensile: matrix cores or not is not in the name */
	{ "nvjet", HOLDS, TRAIT_GEMM | TRAIT_TENSOR_CORE },
	{ "convolve", HOLDS, TRAIT_GEMM },
	{ "winograd", HOLDS, TRAIT_GEMM },
	{ "fprop", HOLDS, TRAIT_GEMM },
	{ "dgrad", HOLDS, TRAIT_GEMM },
	{ "wgrad", HOLDS, TRAIT_GEMM },
	/* Names of instructions and of libraries that use nothing else. */
	{ "h884", HOLDS, TRAIT_TENSOR_CORE },
	{ "s884", HOLDS, TRAIT_TENSOR_CORE },
	{ "h1688", HOLDS, TRAIT_TENSOR_CORE },
	{ "s1688", HOLDS, TRAIT_TENSOR_CORE },
	{ "16816", HOLDS, TRAIT_TENSOR_CORE },
	{ "i8816", HOLDS, TRAIT_TENSOR_CORE },
	{ "i16832", HOLDS, TRAIT_TENSOR_CORE },
	{ "hmma", HOLDS, TRAIT_TENSOR_CORE },
	{ "tensorop", HOLDS, TRAIT_TENSOR_CORE },
	{ "TensorOp", HOLDS, TRAIT_TENSOR_CORE },
	{ "xmma", HOLDS, TRAIT_GEMM | TRAIT_TENSOR_CORE },
	{ "wgmma", HOLDS, TRAIT_GEMM | TRAIT_TENSOR_CORE },
	{ "tf32", HOLDS, TRAIT_TENSOR_CORE },
	{ "sm90_", HOLDS, TRAIT_TENSOR_CORE },
	{ "sm100_", HOLDS, TRAIT_TENSOR_CORE },
	{ "flash", HOLDS, TRAIT_TENSOR_CORE },
	{ "scudnn", HOLDS, TRAIT_GEMM | TRAIT_FP32_GEMM }, /* convolutions */
	{ "sgemm", HOLDS, TRAIT_GEMM | TRAIT_FP32_GEMM },
	{ "simt_s", HOLDS, TRAIT_GEMM | TRAIT_FP32_GEMM },
	{ "elementwise_kernel", HOLDS, TRAIT_POINTWISE },
	{ "nchwToNhwc", HOLDS, TRAIT_LAYOUT },
	{ "nhwcToNchw", HOLDS, TRAIT_LAYOUT },
	{ "batched_transpose", HOLDS, TRAIT_LAYOUT },
	{ "transpose_readWrite", HOLDS, TRAIT_LAYOUT },
	{ "SubTensorOpWithCastTensor", HOLDS, TRAIT_LAYOUT },
};

static const naming runtime_names[] = {
	{ "Synchronize", HOLDS, TRAIT_SYNC_CALL },
	{ "cudaMemcpy", IS, TRAIT_SYNC_COPY },
	{ "cudaMemcpy2D", IS, TRAIT_SYNC_COPY },
	{ "hipMemcpy", IS, TRAIT_SYNC_COPY },
	{ "hipMemcpyWithStream", IS, TRAIT_SYNC_COPY },
	{ "cuMemcpyHtoD_v2", IS, TRAIT_SYNC_COPY },
	{ "cuMemcpyDtoH_v2", IS, TRAIT_SYNC_COPY },
	{ "cudaMemset", IS, TRAIT_SYNC_MEMSET },
	{ "cudaMemset2D", IS, TRAIT_SYNC_MEMSET },
	{ "hipMemset", IS, TRAIT_SYNC_MEMSET },
	{ "cudaMalloc", IS, TRAIT_MALLOC },
	{ "cuMemCreate", IS, TRAIT_MALLOC },
	{ "hipMalloc", IS, TRAIT_MALLOC },
	{ "cudaFree", IS, TRAIT_FREE },
	{ "cuMemRelease", IS, TRAIT_FREE },
	{ "hipFree", IS, TRAIT_FREE },
};

static const naming host_names[] = {
	{ "enumerate(DataLoader)", STARTS, TRAIT_LOADER },
	{ "_SingleProcessDataLoaderIter", HOLDS, TRAIT_LOADER_SINGLE },
	{ "gloo:", STARTS, TRAIT_COMM_HOST },
	{ "mpi:", STARTS, TRAIT_COMM_HOST },
	{ "aten::_local_scalar_dense", IS, TRAIT_SCALAR },
	{ "aten::nonzero", IS, TRAIT_SCALAR },
	{ "aten::is_nonzero", IS, TRAIT_SCALAR },
	{ "aten::equal", IS, TRAIT_SCALAR },
	{ "Optimizer.step#", STARTS, TRAIT_OPTIMIZER },
	{ "optimizer", IS, TRAIT_OPTIMIZER },
	{ "optimizer_step", IS, TRAIT_OPTIMIZER },
	{ "Optimizer.zero_grad#", STARTS, TRAIT_ZERO_GRAD },
	{ "zero_grad", IS, TRAIT_ZERO_GRAD },
	{ "aten::_foreach_", STARTS, TRAIT_FOREACH },
	{ "aten::_fused_", STARTS, TRAIT_FOREACH },
	{ "autograd::engine::evaluate_function", STARTS, TRAIT_BACKWARD },
	{ "backward", IS, TRAIT_BACKWARD },
	{ "Backward", ENDS, TRAIT_BACKWARD }, /* of PyTorch before 1.9: AddmmBackward, ReluBackward1 */
	{ "Backward0", ENDS, TRAIT_BACKWARD },
	{ "Backward1", ENDS, TRAIT_BACKWARD },
	{ "DataParallel.forward", IS, TRAIT_DATA_PARALLEL },
	{ "detect_anomaly", HOLDS, TRAIT_DEBUG },
	{ "anomaly_mode.py", HOLDS, TRAIT_DEBUG },
	{ "gradcheck", HOLDS, TRAIT_DEBUG },
	{ "aten::mm", IS, TRAIT_MATMUL },
	{ "aten::addmm", IS, TRAIT_MATMUL },
	{ "aten::bmm", IS, TRAIT_MATMUL },
	{ "aten::baddbmm", IS, TRAIT_MATMUL },
	{ "aten::matmul", IS, TRAIT_MATMUL },
	{ "aten::softmax", IS, TRAIT_SOFTMAX },
	{ "aten::_softmax", IS, TRAIT_SOFTMAX },
	{ "aten::_safe_softmax", IS, TRAIT_SOFTMAX },
	{ "aten::zeros", IS, TRAIT_FILL },
	{ "aten::ones", IS, TRAIT_FILL },
	{ "aten::full", IS, TRAIT_FILL },
	{ "aten::rand", IS, TRAIT_FILL },
	{ "aten::randn", IS, TRAIT_FILL },
	{ "aten::arange", IS, TRAIT_FILL },
	{ "aten::fill_", IS, TRAIT_FILL },
	{ "aten::zero_", IS, TRAIT_FILL },
	{ "aten::normal_", IS, TRAIT_FILL },
	{ "aten::uniform_", IS, TRAIT_FILL },
};

static bool matches(const char *name, const naming *n)
{
	switch (n->how) {
	case STARTS:
		return strncmp(name, n->text, strlen(n->text)) == 0;
	case HOLDS:
		return strstr(name, n->text);
	case ENDS:
		return strlen(name) >= strlen(n->text) && strcmp(name + strlen(name) - strlen(n->text), n->text) == 0;
	case IS:
		return strcmp(name, n->text) == 0;
	}
	return false;
}

static uint32_t look_up(const char *name, const naming *names, size_t n)
{
	uint32_t traits = 0;

	for (size_t i = 0; i < n; i++)
		if (matches(name, &names[i]))
			traits |= names[i].traits;
	return traits;
}

#define LOOK_UP(name, table) look_up(name, table, sizeof(table) / sizeof *(table))

/* What all operators of a framework share is the category; a recording's own scopes have a class only. */
static bool is_op(const char *category, site_class class)
{
	return class == CLASS_COMPUTE || class == CLASS_MEMORY || strcmp(category, "cpu_op") == 0;
}

uint32_t traits_of(const char *name, const char *category, site_class class)
{
	uint32_t traits;

	switch (class) {
	case CLASS_KERNEL:
	case CLASS_COPY:
		if (kernel_kind_of(name, class) == KERNEL_COMMUNICATION)
			return TRAIT_COMM_KERNEL;
		traits = LOOK_UP(name, device_names);
		return traits & TRAIT_TENSOR_CORE ? traits & ~(uint32_t)TRAIT_FP32_GEMM : traits;
	case CLASS_RUNTIME:
		return TRAIT_RUNTIME | LOOK_UP(name, runtime_names);
	case CLASS_DATA_LOAD:
		return TRAIT_LOADER;
	case CLASS_COMMUNICATION:
		return TRAIT_COMM_HOST;
	default:
		break;
	}
	traits = LOOK_UP(name, host_names);
	compile_kind compiled = compile_kind_of(name, category, class);
	traits |= compiled == COMPILE_WORK ? TRAIT_COMPILE : compiled == COMPILE_REGION ? TRAIT_REGION : 0;
	return traits & (TRAIT_LOADER | TRAIT_COMM_HOST) || !is_op(category, class) ? traits : traits | TRAIT_OP;
}

bool *traits_mark_kernels(const rows *r, uint32_t wanted)
{
	bool *marks = calloc(r->n_sites + 1, sizeof *marks);

	for (size_t i = 0; marks && i < r->n_sites; i++)
		marks[i] = r->sites[i].class == CLASS_KERNEL &&
			   traits_of(index_text(r->ix, r->sites[i].name), "", CLASS_KERNEL) & wanted;
	return marks;
}
