/* See memory_growth.h. */
#include "analyze/tables/memory_growth.h"

#include <math.h>
#include <stdlib.h>
#include "analyze/math/medians.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* By Kendall's tau: how many of the slopes below and above the median the truth may lie beyond. */
static void interval_of(const double *slopes, size_t n_slopes, size_t n, double *ret_low, double *ret_high)
{
	double spread = normal_quantile(0.975) * sqrt((double)n * (double)(n - 1) * (double)(2 * n + 5) / 18);
	double below = ((double)n_slopes - spread) / 2;

	if (below < 0)
		return;
	*ret_low = slopes[(size_t)below];
	*ret_high = slopes[n_slopes - 1 - (size_t)below];
}

bool robust_slope(const int64_t *values, size_t n, double *ret_slope, double *ret_low, double *ret_high)
{
	size_t n_points = n < GROWTH_POINTS ? n : GROWTH_POINTS, n_slopes = 0;
	double *slopes = malloc((n_points * n_points / 2 + 1) * sizeof *slopes);

	*ret_slope = *ret_low = *ret_high = NAN;
	for (size_t i = 0; slopes && i < n_points; i++)
		for (size_t k = i + 1; k < n_points; k++) {
			size_t from = i * (n - 1) / (n_points - 1), to = k * (n - 1) / (n_points - 1);
			slopes[n_slopes++] = ((double)values[to] - (double)values[from]) / (double)(to - from);
		}
	if (n_slopes) {
		qsort(slopes, n_slopes, sizeof *slopes, compare_doubles);
		*ret_slope = (slopes[n_slopes / 2] + slopes[(n_slopes - 1) / 2]) / 2;
		interval_of(slopes, n_slopes, n_points, ret_low, ret_high);
	}
	bool ok = slopes != NULL;
	free(slopes);
	return ok;
}

/* What it held before anything happened: what the first event left, without the event. */
static int64_t first_level(const memory_events *m, uint32_t device)
{
	int64_t level;

	for (size_t i = 0; i < m->items.n; i++)
		if (m->items.items[i].device == device)
			return __builtin_sub_overflow(m->items.items[i].allocated, m->items.items[i].bytes, &level)
				       ? 0
				       : level;
	return 0;
}

bool memory_growth_measure(memory_growth *g, const memory_events *m, uint32_t device, const rows_step *steps, size_t n)
{
	int64_t level = first_level(m, device);
	size_t k = 0;

	*g = (memory_growth){ .slope = NAN, .low = NAN, .high = NAN };
	g->levels = malloc((n + 1) * sizeof *g->levels);
	if (!g->levels)
		return false;
	for (; g->n_steps < n; g->n_steps++) {
		const rows_step *step = &steps[g->n_steps];
		for (; k < m->items.n && m->items.items[k].time_ns <= step->start_ns + step->dur_ns; k++)
			if (m->items.items[k].device == device)
				level = m->items.items[k].allocated;
		g->n_higher += g->n_steps > 0 && level > g->levels[g->n_steps - 1];
		g->levels[g->n_steps] = level;
	}
	return robust_slope(g->levels, n, &g->slope, &g->low, &g->high);
}

void memory_growth_done(memory_growth *g)
{
	free(g->levels);
	g->levels = NULL;
}
