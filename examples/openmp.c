/*
 * Scopes on many threads: every thread has a track of its own, and a report adds the calls of one name up over all of
 * them. Prints how often each name must occur.
 *
 *   sonde record ./example_openmp
 */
#include <math.h>
#include <stdio.h>
#include <omp.h>
#include <sonde/record.h>

enum { N_ROUNDS = 10, N_ITEMS = 100, N = 1000 };

static double work_on(int item)
{
	SONDE_SCOPE_ARGS("item", SONDE_I64("number", item));
	double sum = 0;

	for (int i = 1; i <= N; i++)
		sum += sin(item + 1.0 / i);
	return sum;
}

/* The same names on every thread. Returns how many threads took part. */
static int one_round(double *results)
{
	SONDE_FUNCTION();
	int n_threads = 0;

#pragma omp parallel
	{
		SONDE_SCOPE("worker");
#pragma omp single
		n_threads = omp_get_num_threads();
#pragma omp for schedule(dynamic)
		for (int i = 0; i < N_ITEMS; i++)
			results[i] = work_on(i);
	}
	return n_threads;
}

int main(void)
{
	double results[N_ITEMS];
	int n_workers = 0;

	for (int round = 0; round < N_ROUNDS; round++) {
		SONDE_STEP(round);
		n_workers += one_round(results);
	}
	printf("one_round %d\nworker %d\nitem %d\n", N_ROUNDS, n_workers, N_ROUNDS * N_ITEMS);
	return 0;
}
