/*
 * Scopes, phases, steps, counters: nothing to set up, nothing to tear down. Fits a line to points by gradient descent.
 *
 *   sonde record ./example_scopes, or SONDE_ENABLED=1 SONDE_REPORT=10 ./example_scopes with no command at all
 */
#include <stdio.h>
#include <sonde/record.h>

enum { N_POINTS = 10000, N_STEPS = 100 };

typedef struct tensor {
	const float *data;
	int64_t dims[1];
} tensor;

typedef struct line {
	float slope, offset;
	float d_slope, d_offset;
} line;

/* A scope with what it worked on. The arguments are not even evaluated while nothing is recorded. */
static void predict(const line *l, tensor x, float *ret_y)
{
	SONDE_SCOPE_ARGS("linear", SONDE_I64("layer", 0), SONDE_SHAPE("x", x.dims, 1), SONDE_STR("type", "f32"));

	for (int64_t i = 0; i < x.dims[0]; i++)
		ret_y[i] = l->slope * x.data[i] + l->offset;
}

/* The mean square error; leaves the differences in y. */
static double forward(const line *l, tensor x, float *y)
{
	SONDE_FUNCTION(); /* a scope named "forward" up to the end of the function, however it is left */
	double sum = 0;

	predict(l, x, y);
	for (int64_t i = 0; i < x.dims[0]; i++) {
		y[i] -= 2 * x.data[i] + 1; /* what the line should be */
		sum += y[i] * y[i];
	}
	return sum / (double)x.dims[0];
}

static void backward(line *l, tensor x, const float *difference)
{
	SONDE_FUNCTION();

	for (int64_t i = 0; i < x.dims[0]; i++) {
		l->d_slope += 2 * difference[i] * x.data[i] / N_POINTS;
		l->d_offset += 2 * difference[i] / N_POINTS;
	}
}

static void update(line *l)
{
	l->slope -= 0.5f * l->d_slope;
	l->offset -= 0.5f * l->d_offset;
	l->d_slope = l->d_offset = 0;
}

static void fill(float *x, int step)
{
	for (int i = 0; i < N_POINTS; i++)
		x[i] = (float)((i * 7 + step) % 1000) / 1000;
}

int main(void)
{
	static float data[N_POINTS], y[N_POINTS];
	tensor x = { data, { N_POINTS } };
	line l = { 0, 0, 0, 0 };
	double loss = 0;

	for (int step = 0; step < N_STEPS; step++) {
		SONDE_STEP(step);    /* until the end of the block */
		SONDE_PHASE("data"); /* until the next phase */
		fill(data, step);
		SONDE_PHASE("forward");
		loss = forward(&l, x, y);
		SONDE_PHASE("backward");
		backward(&l, x, y);
		SONDE_PHASE("optimizer");
		update(&l);
		SONDE_COUNTER("loss", loss);
	}
	SONDE_MARK("trained");
	printf("%d steps: y = %.2f x + %.2f, loss %.6f\n", N_STEPS, l.slope, l.offset, loss);
	return 0;
}
