/* What a device does: computes, communicates or moves memory, told by the name of the kernel. */
#ifndef SONDE_ANALYZE_NAMES_KERNEL_KIND_H
#define SONDE_ANALYZE_NAMES_KERNEL_KIND_H

#include "store/index/index.h"

typedef enum kernel_kind {
	KERNEL_COMPUTE,
	KERNEL_COMMUNICATION,
	KERNEL_MEMORY,
	KERNEL_OTHER,
	KERNEL_KINDS
} kernel_kind;

/* class: of its site; what is CLASS_COPY is memory whatever its name. Never KERNEL_OTHER. */
kernel_kind kernel_kind_of(const char *name, site_class class);

/* As HTA 0.6.1 sees it, mistakes included: every name with "dma" is other, hipMemcpy communicates. */
kernel_kind kernel_kind_hta(const char *name);

/* As TraceLens sees it: three words communicate, whatever is no copy computes, memset too. */
kernel_kind kernel_kind_tracelens(const char *name, bool is_memcpy);

const char *kernel_kind_name(kernel_kind kind); /* "compute" */

#endif
