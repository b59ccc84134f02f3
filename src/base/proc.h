/* What /proc says about a process. */
#ifndef SONDE_BASE_PROC_H
#define SONDE_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

/* When the process began, in clock ticks after boot: together with the pid it names a process for good. 0: unknown. */
uint64_t proc_start_time(int32_t pid);

/* True when a process with this pid and start time is certainly gone. */
bool proc_is_gone(int32_t pid, uint64_t start_time);

/* Anonymous memory of this process that is resident: what it allocated and has not given back. 0: unknown. */
uint64_t proc_anonymous_bytes(void);

#endif
