/* What names of collectives and of their types mean, for every format that has them. */
#ifndef SONDE_STORE_COLLECTIVES_H
#define SONDE_STORE_COLLECTIVES_H

#include "format/index/sections.h"

/* By the name of a call or kernel: "_allgather_base", "ncclDevKernel_AllReduce_Sum_f32". */
collective_kind collective_kind_of(const char *name);
/* "all-reduce"; NULL: unknown. */
const char *collective_kind_name(int64_t kind);
/* Bytes of an element: "Float", "c10::Half". -1: unknown. */
int32_t collective_element_bytes(const char *dtype);

#endif
