/*
 * A session in the program: start, stop, a report each epoch. Links libsonde, not only libsonde-rt.
 *
 *   ./example_session    records by itself, into epoch.sonde in the current directory
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sonde/session.h>

enum { N_EPOCHS = 3, N_STEPS = 20, N = 4096 };

static void forward(float *x)
{
	SONDE_FUNCTION();

	for (int i = 0; i < N; i++)
		x[i] = tanhf(x[i] + 0.1f);
}

static void backward(float *x)
{
	SONDE_FUNCTION();

	SONDE_OP("scale", SONDE_COMPUTE, .flops = 2.0 * N, .bytes = 2.0 * sizeof *x * N) {
		for (int i = 0; i < N; i++)
			x[i] = x[i] * 0.5f + 0.25f;
	}
}

static int train_one_epoch(void)
{
	float *x = calloc(N, sizeof *x);

	if (!x)
		return -1;
	sonde_alloc(SONDE_CPU, x, N * sizeof *x, 1);
	for (int step = 0; step < N_STEPS; step++) {
		SONDE_STEP(step);
		SONDE_PHASE("forward");
		forward(x);
		SONDE_PHASE("backward");
		backward(x);
	}
	sonde_free(SONDE_CPU, x);
	free(x);
	return 0;
}

static void print_epoch(int epoch, const sonde_report *report)
{
	printf("epoch %d: %.1f ms, peak %zu bytes\n", epoch, (double)sonde_report_total_ns(report) / 1e6,
	       sonde_report_peak_bytes(report, SONDE_CPU));
	sonde_report_print(report, stdout, 10); /* the table, top 10 */

	for (size_t i = 0; i < sonde_report_n_ops(report); i++) { /* or walk over it: hotspots first */
		const sonde_op_stats *op = sonde_report_op(report, i);

		if (op->flops > 0)
			printf("%s: %.2f GFLOP/s\n", op->name, op->flops / (double)op->total_ns);
	}
}

/* Any analysis of the session, by its name. */
static int print_bottlenecks(sonde_report *report)
{
	sonde_result *result;
	sonde_error err;

	if (sonde_report_analyze(report, "bottlenecks", NULL, &result, &err))
		return fprintf(stderr, "session: %s\n", err.message), 1;
	printf("%s\n", sonde_result_headline(result));
	for (size_t i = 0; i < sonde_result_n_findings(result); i++)
		printf("  %s\n", sonde_result_finding(result, i)->title);
	sonde_result_free(result);
	return 0;
}

int main(void)
{
	sonde_config config = {
		.struct_size = sizeof config, .memory = true, .shapes = true, .flops = true, .output = "epoch.sonde"
	};
	sonde_error err;

	for (int epoch = 0; epoch < N_EPOCHS; epoch++) {
		sonde_session *session;
		sonde_report *report;

		remove(config.output); /* a recording that exists is never replaced; the last epoch is enough here */
		if (sonde_session_start(&config, &session, &err))
			return fprintf(stderr, "session: %s\n", err.message), 1;
		if (train_one_epoch())
			return 1;
		if (sonde_session_stop(session, &report, &err))
			return fprintf(stderr, "session: %s\n", err.message), 1;
		print_epoch(epoch, report);
		if (print_bottlenecks(report))
			return 1;
		sonde_report_free(report);
	}
	return 0;
}
