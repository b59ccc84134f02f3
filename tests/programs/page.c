/*
 * A program with something for every view: steps with phases, nested scopes with arguments, memory, counters, and a
 * queue of a device whose work is launched by the host.
 *
 *   prog_page [STEPS [MICROSECONDS]]     40 steps of at least 2,000 microseconds
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sonde/record.h>

enum { LAYERS = 4 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void layer(int i, useconds_t us)
{
	SONDE_SCOPE_ARGS("linear", SONDE_I64("layer", i), SONDE_STR("type", "f32"));
	usleep(us);
}

static void launch(sonde_stream s, useconds_t us)
{
	uint64_t id = sonde_launch("gemm", s);
	int64_t start = now_ns();

	usleep(us);
	sonde_stream_slice(s, id, "gemm", start + 1000, now_ns());
}

int main(int argc, char **argv)
{
	int n_steps = argc > 1 ? atoi(argv[1]) : 40;
	useconds_t us = (useconds_t)(argc > 2 ? atoi(argv[2]) : 2000) / (2 * LAYERS + 2);
	sonde_stream stream = sonde_stream_register("npu0", "queue 1");
	void *kept = malloc(1 << 20);

	sonde_alloc(SONDE_CPU, kept, 1 << 20, 1);
	for (int step = 0; step < n_steps; step++) {
		SONDE_STEP(step);
		SONDE_PHASE("forward");
		void *batch = malloc(1 << 18);
		sonde_alloc(SONDE_CPU, batch, 1 << 18, 2);
		for (int i = 0; i < LAYERS; i++)
			layer(i, us);
		SONDE_PHASE("backward");
		for (int i = LAYERS; i-- > 0;)
			layer(i, us);
		launch(stream, us);
		SONDE_PHASE("optimizer");
		usleep(step == n_steps / 2 ? 10 * us : us);
		sonde_free(SONDE_CPU, batch);
		free(batch);
		SONDE_COUNTER("loss", 1.0 / (step + 1));
	}
	free(kept); /* not told: it is found as never freed */
	puts("done");
	return 0;
}
