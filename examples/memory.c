/*
 * Memory and devices by call: who holds how much, now and over time; and a device with a queue of its own.
 *
 *   sonde record ./example_memory
 */
#include <stdio.h>
#include <stdlib.h>
#include <sonde/record.h>

enum { N_TENSORS = 10, KIB = 1024 };

static void print_memory(const char *when, sonde_device device)
{
	sonde_memory now = sonde_memory_now(device);

	if (now.known)
		printf("%s: %zu bytes in %zu blocks, peak %zu\n", when, now.current_bytes, now.n_live, now.peak_bytes);
	else
		printf("%s: memory is not recorded\n", when);
}

/* What is alive, block by block, and how it came about over time. */
static void print_details(void)
{
	sonde_memory_block blocks[N_TENSORS];
	sonde_memory_point points[512];
	size_t n_blocks = sonde_memory_snapshot(SONDE_CPU, blocks, N_TENSORS); /* may be more than fit */
	size_t n_points = sonde_memory_timeline(SONDE_CPU, points, 512);
	size_t largest = 0, peak = 0;

	for (size_t i = 0; i < n_blocks && i < N_TENSORS; i++)
		largest = blocks[i].bytes > largest ? blocks[i].bytes : largest;
	for (size_t i = 0; i < n_points; i++)
		peak = points[i].peak_bytes > peak ? points[i].peak_bytes : peak;
	printf("%zu live blocks, the largest of %zu bytes; highest point of the timeline %zu\n", n_blocks, largest,
	       peak);
}

/* 1, 2, 3 ... KiB; all but the last two are freed again. */
static void use_cpu_memory(void *tensors[N_TENSORS])
{
	SONDE_FUNCTION();

	for (size_t i = 0; i < N_TENSORS; i++) {
		size_t bytes = (i + 1) * KIB;

		tensors[i] = malloc(bytes);
		if (!tensors[i])
			abort();
		sonde_alloc(SONDE_CPU, tensors[i], bytes, i + 1); /* after malloc ... */
	}
	for (size_t i = 0; i < N_TENSORS - 2; i++) {
		sonde_free(SONDE_CPU, tensors[i]); /* ... and before free */
		free(tensors[i]);
		tensors[i] = NULL;
	}
}

/* Any device: the launch on the host and the work on the queue are tied together by the id. */
static void use_device(void)
{
	sonde_stream queue = sonde_stream_register("npu0", "queue 1");
	uint64_t id = sonde_launch("conv3x3", queue);
	int64_t start_ns = sonde_now_ns();

	sonde_stream_slice(queue, id, "conv3x3", start_ns, start_ns + 100000);
}

int main(void)
{
	void *tensors[N_TENSORS];
	const void *on_gpu = (const void *)(uintptr_t)0x1000; /* any number that is unique on the device */

	use_cpu_memory(tensors);
	print_memory("cpu", SONDE_CPU);
	print_details();

	sonde_alloc(SONDE_GPU(0), on_gpu, 64 * KIB, 100);
	print_memory("gpu", SONDE_GPU(0));
	sonde_free(SONDE_GPU(0), on_gpu);
	use_device();

	for (size_t i = N_TENSORS - 2; i < N_TENSORS; i++) {
		sonde_free(SONDE_CPU, tensors[i]);
		free(tensors[i]);
	}
	print_memory("end", SONDE_CPU);
	return 0;
}
