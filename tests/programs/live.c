/* A program to be watched while it runs, a few thousand events a second: prog_live SECONDS [FILE]. It ends after so
   long, or when there is a file of that name. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sonde/record.h>

static void wait_a_little(void)
{
	SONDE_FUNCTION();
	nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	for (int step = 0; time(NULL) < end && (argc < 3 || access(argv[2], F_OK) != 0); step++) {
		SONDE_STEP(step);
		SONDE_PHASE("forward");
		wait_a_little();
		SONDE_PHASE("backward");
		wait_a_little();
		SONDE_COUNTER("loss", 1.0 / (step + 1));
	}
	return 0;
}
