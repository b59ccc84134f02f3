/*
 * A program with a known output, exit code 3 and 2 N events: N scopes one after the other.
 *
 *   prog_simple N [MS]     waits MS milliseconds after the first half
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sonde/record.h>

static void record(long n)
{
	for (long i = 0; i < n; i++) {
		SONDE_SCOPE("simple");
	}
}

/* What a library must leave alone: the dispositions and the mask of signals, without the two that glibc uses for its
   threads. */
static void print_signals(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256], what[16];
	unsigned long long set;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "%15[A-Za-z]: %llx", what, &set) == 2 && strncmp(what, "Sig", 3) == 0 &&
		    strcmp(what, "SigQ") != 0)
			printf("%s %llx\n", what, set & ~0x180000000ULL);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000, ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	record(n / 2);
	printf("half\n");
	fflush(stdout);
	if (ms)
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
	record(n - n / 2);
	print_signals();
	printf("done\n");
	return 3;
}
