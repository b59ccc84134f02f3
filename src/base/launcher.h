/* What the launcher of a distributed run tells each of its processes through the environment. */
#ifndef SONDE_BASE_LAUNCHER_H
#define SONDE_BASE_LAUNCHER_H

#include <stdint.h>

/* The process's rank among *ret_size, 2 or more, as torchrun, Open MPI, MPICH, MVAPICH or Slurm say it. -1: none of
   them started it, or it is alone. */
int32_t launcher_rank(int32_t *ret_size);

#endif
