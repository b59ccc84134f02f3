/*
 * Nested parallel regions: 2 threads, each with 3 of its own, each records N scopes "nested".
 *
 *   prog_omp_nested N
 */
#include <omp.h>
#include <stdlib.h>
#include <sonde/record.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		SONDE_SCOPE("outer");
#pragma omp parallel num_threads(3)
		{
			for (long i = 0; i < n; i++) {
				SONDE_SCOPE("nested");
			}
		}
	}
	return 3;
}
