/* See launcher.h. */
#define _GNU_SOURCE
#include "base/launcher.h"

#include <stdlib.h>

/* -1: not set, or no number. */
static int32_t number_of(const char *variable)
{
	const char *text = secure_getenv(variable);
	int64_t number = 0;

	if (!text || !*text)
		return -1;
	for (; *text >= '0' && *text <= '9' && number <= INT32_MAX; text++)
		number = number * 10 + (*text - '0');
	return *text || number > INT32_MAX ? -1 : (int32_t)number;
}

int32_t launcher_rank(int32_t *ret_size)
{
	static const struct {
		const char *rank, *size;
	} launchers[] = {
		{ "RANK", "WORLD_SIZE" }, /* torchrun */
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMI_RANK", "PMI_SIZE" }, /* MPICH */
		{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};

	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		int32_t rank = number_of(launchers[i].rank), size = number_of(launchers[i].size);
		if (rank >= 0 && size >= 2 && rank < size) {
			*ret_size = size;
			return rank;
		}
	}
	return -1;
}
