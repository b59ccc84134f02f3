/*
 * Operations: what they do, how much work it is, and how to record those that end elsewhere or were measured by someone
 * else.
 *
 *   sonde record ./example_ops
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sonde/record.h>

enum { N = 128, N_FETCHES = 4 };

static float a[N][N], b[N][N], c[N][N];

/* The block is the operation. FLOPs and bytes give its speed, and how much of the machine it uses. */
static void matmul(void)
{
	SONDE_OP("matmul", SONDE_COMPUTE, .flops = 2.0 * N * N * N, .bytes = 3.0 * sizeof c,
		 .shape = (int64_t[]){ N, N, N }, .n_dims = 3, .type = "f32") {
		memset(c, 0, sizeof c);
		for (int i = 0; i < N; i++)
			for (int k = 0; k < N; k++)
				for (int j = 0; j < N; j++)
					c[i][j] += a[i][k] * b[k][j];
	}
}

/* The whole function is the operation, whichever way it returns. */
static float trace_of_product(void)
{
	SONDE_OP_FUNCTION(SONDE_COMPUTE, .flops = N, .bytes = sizeof c[0]);
	float sum = 0;

	for (int i = 0; i < N; i++)
		sum += c[i][i];
	return sum;
}

/* Begins in one thread and ends in another: hand the operation over, end it once. */
static void *fetch(void *arg)
{
	sonde_op *op = arg;

	for (int i = 0; i < N * N; i++)
		a[i / N][i % N] = b[i / N][i % N] = (float)(i % 10);
	sonde_op_metadata(*op, "source", "memory");
	sonde_op_metadata_i64(*op, "rows", N); /* a number, to sort and sum by */
	sonde_op_end(*op);
	return NULL;
}

/* A device that says afterwards how long it took: anything with a start and a duration on CLOCK_MONOTONIC. */
static void record_device_work(void)
{
	int64_t dur_ns = 250000, start_ns = sonde_now_ns() - dur_ns;

	sonde_op_record("npu_conv", SONDE_COMPUTE, start_ns, dur_ns);
}

int main(void)
{
	for (int i = 0; i < N_FETCHES; i++) {
		sonde_op op = sonde_op_begin("fetch", SONDE_DATA_LOAD);
		pthread_t thread;

		if (pthread_create(&thread, NULL, fetch, &op))
			return 1;
		pthread_join(thread, NULL);
		matmul();
		record_device_work();
	}
	sonde_instant("checkpoint written", SONDE_CUSTOM("storage")); /* a category of your own */
	float trace = trace_of_product();
	SONDE_MARK_ARGS("done", SONDE_I64("fetches", N_FETCHES), SONDE_F64("trace", (double)trace));
	printf("%d of each: fetch, matmul, npu_conv; c[1][1] = %.0f\n", N_FETCHES, (double)c[1][1]);
	return 0;
}
