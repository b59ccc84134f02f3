/* See compare/stats.h. */
#include "analyze/math/medians.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_TAIL = 1000, PANELS = 400, HALVINGS = 60, MANY_FREEDOM = 200, JOIN_MOST = 1024, LOG_MOST = 20 };

/* ---- Quantiles --------------------------------------------------------------------------------------------------- */

double normal_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		if (erfc(-middle / sqrt(2)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* Simpson's rule over cos(x)^power from a to b. */
static double cosine_area(double power, double a, double b)
{
	double h = (b - a) / PANELS, sum = pow(cos(a), power) + pow(fmax(cos(b), 0), power);

	for (int i = 1; i < PANELS; i++)
		sum += (i % 2 ? 4 : 2) * pow(cos(a + i * h), power);
	return sum * h / 3;
}

/* With t = sqrt(freedom) * tan(x), Student's density is cos(x)^(freedom - 1) up to a factor. Tails are measured from
   their own end, so that small ones are exact. */
double student_quantile(double p, double freedom)
{
	if (freedom > MANY_FREEDOM)
		return normal_quantile(p);
	double tail = p < 0.5 ? p : 1 - p, power = freedom - 1, end = acos(0), low = 0, high = end;
	double wanted = tail * 2 * cosine_area(power, 0, end);
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		if (cosine_area(power, middle, end) > wanted)
			low = middle;
		else
			high = middle;
	}
	double t = sqrt(freedom) * tan((low + high) / 2);
	return p < 0.5 ? -t : t;
}

/* The interval of a hundred names asks for the same few quantiles again and again. */
static double two_sided(double level, double freedom)
{
	static __thread struct {
		double level, freedom, t;
	} known[64];
	double whole = freedom < 1 ? 1 : freedom > MANY_FREEDOM ? MANY_FREEDOM + 1 : floor(freedom);
	size_t at = (size_t)whole % 64;

	if (known[at].level != level || known[at].freedom != whole) {
		known[at].level = level;
		known[at].freedom = whole;
		known[at].t = student_quantile(1 - (1 - level) / 2, whole);
	}
	return known[at].t;
}

double level_for(size_t n)
{
	return 1 - 0.05 / (double)(n ? n : 1);
}

/* ---- Summaries --------------------------------------------------------------------------------------------------- */

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_reals(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle_of(const int64_t *sorted, size_t n)
{
	return ((double)sorted[(n - 1) / 2] + (double)sorted[n / 2]) / 2;
}

/* The k-th smallest distance from the median is found between the sorted samples to its left and right. */
static double distance_median(const int64_t *sorted, size_t n, double median)
{
	size_t left = 0, right, wanted = (n - 1) / 2;
	double at = 0, before = 0;

	while (left < n && (double)sorted[left] < median)
		left++;
	right = left;
	for (size_t i = 0; i <= wanted + (n % 2 == 0); i++) {
		double below = left > 0 ? median - (double)sorted[left - 1] : INFINITY;
		double above = right < n ? (double)sorted[right] - median : INFINITY;
		before = at;
		at = below < above ? below : above;
		if (below < above)
			left--;
		else
			right++;
	}
	return n % 2 ? at : (before + at) / 2;
}

/* P(binomial(n, 1/2) < c) as a normal quantile, its sign turned. */
static double tail_quantile(size_t n, size_t c)
{
	if (n > EXACT_TAIL)
		return ((double)n / 2 - (double)c + 0.5) / (sqrt((double)n) / 2);
	double term = pow(0.5, (double)n), sum = 0;
	for (size_t i = 0; i < c; i++) {
		sum += term;
		term *= (double)(n - i) / (double)(i + 1);
	}
	return -normal_quantile(sum);
}

/* From the logarithms where that works, since times are skewed: then error / median is that of the logarithm. */
static double median_error(const int64_t *sorted, size_t n, double median)
{
	double wanted = floor(((double)n + 1) / 2 - sqrt((double)n) + 0.5);
	size_t c = wanted < 1 ? 1 : (size_t)wanted;

	if (n < 2)
		return 0;
	double low = (double)sorted[c - 1], high = (double)sorted[n - c];
	double span = low > 0 ? median * log(high / low) : high - low;
	return span / (2 * tail_quantile(n, c));
}

static summary of_sorted(const int64_t *sorted, size_t n)
{
	double median = n ? middle_of(sorted, n) : 0;

	summary s = { .n = n,
		      .median = median,
		      .mad = n ? distance_median(sorted, n, median) : 0,
		      .error = median_error(sorted, n, median),
		      .freedom = n ? (double)n - 1 : 0,
		      .n_few = n <= SUMMARY_FEW ? n : 0 };
	for (size_t i = 0; i < s.n_few; i++)
		s.few[i] = (double)sorted[i];
	return s;
}

summary summary_of(int64_t *samples, size_t n)
{
	if (n)
		qsort(samples, n, sizeof *samples, compare_ns);
	return of_sorted(samples, n);
}

/* How much a sample is like the one before, 0 to 0.9; outliers are cut so that they do not hide it. */
static double likeness(const int64_t *samples, size_t n, const summary *s)
{
	double reach = 3 * 1.4826 * s->mad, last = 0, products = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double off = fmax(-reach, fmin(reach, (double)samples[i] - s->median));
		products += i ? off * last : 0;
		squares += off * off;
		last = off;
	}
	double r = squares > 0 ? products / squares : 0;
	return r < 0 ? 0 : r > 0.9 ? 0.9 : r;
}

summary summary_in_time(const int64_t *samples, size_t n)
{
	int64_t *sorted = malloc((n + 1) * sizeof *sorted);
	summary s = { 0 };

	if (!sorted)
		return s;
	memcpy(sorted, samples, n * sizeof *sorted);
	s = summary_of(sorted, n);
	free(sorted);
	if (n >= 10) {
		double r = likeness(samples, n, &s), fewer = (1 - r) / (1 + r);
		s.error /= sqrt(fewer);
		s.freedom = fmax(1, s.freedom * fewer);
	}
	return s;
}

summary summary_scaled(summary s, double factor)
{
	s.median *= factor;
	s.mad *= factor;
	s.error *= factor;
	for (size_t i = 0; i < s.n_few; i++)
		s.few[i] *= factor;
	return s;
}

summary summary_joined(const summary *runs, size_t n)
{
	double medians[JOIN_MOST], mean = 0, squares = 0, errors = 0, mads = 0;
	summary all = { 0 };

	n = n > JOIN_MOST ? JOIN_MOST : n;
	for (size_t i = 0; i < n; i++) {
		medians[i] = runs[i].median;
		all.n += runs[i].n;
		all.freedom += runs[i].freedom;
		mean += runs[i].median / (double)n;
		errors += runs[i].error * runs[i].error / (double)n;
		mads += runs[i].mad / (double)n;
	}
	if (!n)
		return all;
	qsort(medians, n, sizeof *medians, compare_reals);
	all.median = (medians[(n - 1) / 2] + medians[n / 2]) / 2;
	all.mad = mads;
	for (size_t i = 0; i < n; i++)
		squares += (medians[i] - mean) * (medians[i] - mean);
	all.error = sqrt(errors / (double)n);
	if (n >= 3) {
		double spread = squares / (double)(n - 1) * (1 + 1 / (double)n);
		all.error = sqrt(errors / (double)n + spread);
		all.freedom = (double)n - 1;
	}
	return all;
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

/* How many of the n * m pairs to leave out at each end: the most for which U, how many pairs are in order, falls there
   with less than `tail` when both sides are alike. Ways to get each U: the product of (1 - x^(m + i)) / (1 - x^i). */
static size_t pairs_outside(size_t n, size_t m, double tail)
{
	double ways[SUMMARY_FEW * SUMMARY_FEW + 1] = { 1 }, all = 0, sum = 0;
	size_t most = n * m, k = 0;

	for (size_t i = 1; i <= n; i++) {
		for (size_t u = most; u >= m + i && u <= most; u--)
			ways[u] -= ways[u - m - i];
		for (size_t u = i; u <= most; u++)
			ways[u] += ways[u - i];
	}
	for (size_t u = 0; u <= most; u++)
		all += ways[u];
	for (; k < most / 2 && sum + ways[k] <= tail * all; k++)
		sum += ways[k];
	return k;
}

/* False: there are too many samples for it, or too few. */
static bool exact_interval(const summary *a, const summary *b, double level, double *ret_low, double *ret_high)
{
	double ratios[SUMMARY_FEW * SUMMARY_FEW];
	size_t n = 0, k;

	if (!a->n_few || !b->n_few)
		return false;
	k = pairs_outside(a->n_few, b->n_few, (1 - level) / 2);
	if (!k)
		return false;
	for (size_t i = 0; i < a->n_few; i++)
		for (size_t j = 0; j < b->n_few; j++)
			ratios[n++] = a->few[i] > 0 ? b->few[j] / a->few[i] : b->few[j] > 0 ? INFINITY : 1;
	qsort(ratios, n, sizeof *ratios, compare_reals);
	*ret_low = ratios[k - 1] - 1;
	*ret_high = ratios[n - k] - 1;
	return true;
}

difference difference_of(const summary *a, const summary *b, double level)
{
	difference d = { .change = NAN, .low = NAN, .high = NAN, .ns = b->median - a->median };

	if (a->median > 0)
		d.change = b->median / a->median - 1;
	if (exact_interval(a, b, level, &d.low, &d.high)) {
		d.is_certain = d.low > 0 || d.high < 0;
		return d;
	}
	if (a->n < SUMMARY_ENOUGH || b->n < SUMMARY_ENOUGH || a->median <= 0 || b->median <= 0)
		return d;
	double x = a->error / a->median, y = b->error / b->median, variance = x * x + y * y;
	double parts = pow(x, 4) / fmax(a->freedom, 1) + pow(y, 4) / fmax(b->freedom, 1);
	double freedom = parts > 0 ? variance * variance / parts : MANY_FREEDOM;
	double reach = fmin(sqrt(variance) * two_sided(level, freedom), LOG_MOST);
	d.low = exp(log(b->median / a->median) - reach) - 1;
	d.high = exp(log(b->median / a->median) + reach) - 1;
	d.is_certain = d.low > 0 || d.high < 0;
	return d;
}
