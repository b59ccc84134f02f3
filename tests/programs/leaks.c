/*
 * A program that keeps memory: 20 steps, each with a buffer of 4096 bytes that stays ("cache"), one of 65536 that is
 * freed in the step ("compute"), and one of 100 that the next step frees; weights of 10000 bytes before the first.
 * It frees one block that it never said it had, and writes down what a GPU's monitor would: 200, 201 ... W.
 *
 *   prog_leaks [clean]      clean: frees the buffers of "cache", too
 */
#include <string.h>
#include <sonde/record.h>

enum { STEPS = 20 };
static char addresses[4 * STEPS]; /* none is ever used */

int main(int argc, char **argv)
{
	int is_clean = argc > 1 && strcmp(argv[1], "clean") == 0;
	sonde_device cpu = SONDE_CPU;

	sonde_alloc(cpu, addresses, 10000, 0);
	for (int i = 0; i < STEPS; i++) {
		SONDE_STEP(i);
		char *at = addresses + 1 + 3 * i;
		{
			SONDE_SCOPE("cache");
			sonde_alloc(cpu, at, 4096, 0);
			if (is_clean)
				sonde_free(cpu, at);
		}
		SONDE_SCOPE("compute");
		SONDE_COUNTER("gpu0 power (W)", 200 + i);
		sonde_alloc(cpu, at + 1, 65536, 0);
		sonde_alloc(cpu, at + 2, 100, 0);
		sonde_free(cpu, at + 1);
		if (i > 0)
			sonde_free(cpu, at - 1);
		if (i == 10)
			sonde_free(cpu, &addresses[sizeof addresses - 1]);
	}
	return 0;
}
