/* Ranks as launchers tell them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/launcher.h"

static const char *const variables[] = { "RANK",	 "WORLD_SIZE",	"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
					 "PMI_RANK",	 "PMI_SIZE",	"MV2_COMM_WORLD_RANK",	"MV2_COMM_WORLD_SIZE",
					 "SLURM_PROCID", "SLURM_NTASKS" };

static void a_rank_is_a_number_among_several(void **state)
{
	static const struct {
		const char *rank_variable, *rank, *size_variable, *size;
		int32_t expected, expected_size;
	} cases[] = {
		{ "RANK", "3", "WORLD_SIZE", "8", 3, 8 },
		{ "OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "2", 0, 2 },
		{ "PMI_RANK", "1", "PMI_SIZE", "2", 1, 2 },
		{ "MV2_COMM_WORLD_RANK", "1", "MV2_COMM_WORLD_SIZE", "2", 1, 2 },
		{ "SLURM_PROCID", "99999", "SLURM_NTASKS", "100000", 99999, 100000 },
		{ "SLURM_PROCID", "0", "SLURM_NTASKS", "1", -1, 0 }, /* a batch job like any other */
		{ "RANK", "3", "PMI_SIZE", "8", -1, 0 },	     /* of two launchers */
		{ "RANK", "first", "WORLD_SIZE", "8", -1, 0 },
		{ "RANK", "3x", "WORLD_SIZE", "8", -1, 0 },
		{ "RANK", "-1", "WORLD_SIZE", "8", -1, 0 },
		{ "RANK", "", "WORLD_SIZE", "8", -1, 0 },
		{ "RANK", "8", "WORLD_SIZE", "8", -1, 0 },
		{ "RANK", "4294967297", "WORLD_SIZE", "4294967299", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int32_t size = 0;
		for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++)
			unsetenv(variables[k]);
		assert_int_equal(launcher_rank(&size), -1);
		setenv(cases[i].rank_variable, cases[i].rank, 1);
		setenv(cases[i].size_variable, cases[i].size, 1);
		assert_int_equal(launcher_rank(&size), cases[i].expected);
		assert_int_equal(size, cases[i].expected_size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_rank_is_a_number_among_several) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
