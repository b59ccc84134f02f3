/* A program to be watched while it runs: a few thousand events a second, for so many seconds. */
#include <stdlib.h>
#include <time.h>
#include <sonde/record.h>

static void wait_a_little(void)
{
	SONDE_FUNCTION();
	nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	for (int step = 0; time(NULL) < end; step++) {
		SONDE_STEP(step);
		SONDE_PHASE("forward");
		wait_a_little();
		SONDE_PHASE("backward");
		wait_a_little();
		SONDE_COUNTER("loss", 1.0 / (step + 1));
	}
	return 0;
}
