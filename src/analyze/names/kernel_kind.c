/* See kernel_kind.h. */
#define _GNU_SOURCE
#include "analyze/names/kernel_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool begins_any(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (begins(name, *list))
			return true;
	return false;
}

static bool has_any(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strstr(name, *list))
			return true;
	return false;
}

/* Kernels of libraries that move data between devices: NCCL in both of its families (ncclKernel until 2.18,
   ncclDevKernel since), RCCL (which has NCCL's names, and its own), NVSHMEM, DeepEP, MSCCL++, oneCCL, HCCL, and the
   kernels that vLLM, SGLang, TensorRT-LLM and PyTorch's symmetric memory bring along. */
static const char *const communication[] = {
	"nccl",
	"rccl",
	"mscclpp",
	"mscclKernel",
	"nvshmem",
	"hccl",
	"oneccl",
	"cross_device_reduce",
	"multimem_all_reduce",
	"multimem_all_gather",
	"multimem_one_shot",
	"one_shot_all_reduce",
	"two_shot_all_reduce",
	"oneShotAllReduce",
	"twoShotAllReduce",
	"oneShotAllreduce",
	"twoShotAllreduce",
	"allreduce_fusion_kernel",
	"all_reduce_one_shot",
	"all_reduce_two_shot",
	"reduce_scatter_cross_device",
	"all_gather_cross_device",
	"quickreduce",
	"quick_reduce",
	"deep_ep::",
	"collective_subgraph_execution",
	NULL,
};

static const char *const memory[] = {
	"Memcpy",      "Memset", "hipMemcpy", "hipMemset", "CopyDeviceToHost", "CopyHostToDevice", "CopyDeviceToDevice",
	"dma_request", "dma ",	 NULL,
};

kernel_kind kernel_kind_of(const char *name, site_class class)
{
	if (class == CLASS_COPY || begins_any(name, memory))
		return KERNEL_MEMORY;
	if (class == CLASS_COMMUNICATION || has_any(name, communication))
		return KERNEL_COMMUNICATION;
	return KERNEL_COMPUTE;
}

/* ---- As HTA does it ---------------------------------------------------------------------------------------------- */

/* cuda.*LaunchKernel from the start */
static bool is_launch(const char *name)
{
	return begins(name, "cuda") && strstr(name + 4, "LaunchKernel");
}

/* A "." of its expressions is no newline, so that what ".*" finds lies in the first line. */
static bool in_first_line(const char *name, const char *const *list)
{
	size_t len = strcspn(name, "\n");

	for (; *list; list++)
		if (memmem(name, len, *list, strlen(*list)))
			return true;
	return false;
}

kernel_kind kernel_kind_hta(const char *name)
{
	static const char *const communicates[] = { "nccl", "hip", "hccl", NULL };
	static const char *const nccl_kernel[] = { "ncclKernel", NULL };
	static const char *const moves[] = { "Memcpy", "Memset", "dma", NULL }; /* what begins with hip is above */
	static const char *const other[] = {
		"Stream Wait Event",
		"runFunction",
		"job_exe",
		"packet",
		"pe_exe",
		"cpum_exe_subgraph",
		"collective_subgraph_execution",
		NULL,
	};
	static const char *const other_part[] = { "Memcpy", "Memset", "dma", "Sync", NULL };

	if (begins_any(name, communicates) || in_first_line(name, nccl_kernel))
		return KERNEL_COMMUNICATION;
	if (begins_any(name, moves))
		return KERNEL_MEMORY;
	return begins_any(name, other) || in_first_line(name, other_part) || is_launch(name) ? KERNEL_OTHER
											     : KERNEL_COMPUTE;
}

/* ---- As TraceLens does it ---------------------------------------------------------------------------------------- */

kernel_kind kernel_kind_tracelens(const char *name, bool is_memcpy)
{
	static const char *const copies[] = { "MEMORY_COPY_", "__amd_rocclr_copyBuffer", NULL };

	if (is_memcpy || begins_any(name, copies))
		return KERNEL_MEMORY;
	return strcasestr(name, "nccl") || strcasestr(name, "rccl") || strcasestr(name, "cross_device_reduce")
		       ? KERNEL_COMMUNICATION
		       : KERNEL_COMPUTE;
}

const char *kernel_kind_name(kernel_kind kind)
{
	static const char *const names[KERNEL_KINDS] = { "compute", "communication", "memory", "other" };

	return names[kind];
}
