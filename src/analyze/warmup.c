/* See warmup.h. */
#include "analyze/warmup.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/compare_stats.h"

enum { LEAST_STEPS = 4 };

static size_t find_end(const int64_t *dur_ns, size_t n)
{
	size_t half = n / 2, i = 0;
	int64_t *later = malloc((n - half) * sizeof *later);

	if (!later)
		return SIZE_MAX;
	memcpy(later, dur_ns + half, (n - half) * sizeof *later);
	summary s = summary_of(later, n - half);
	free(later);
	while (i < half && (double)dur_ns[i] > 1.1 * s.median && (double)dur_ns[i] > s.median + 3 * 1.4826 * s.mad)
		i++;
	return i;
}

bool warmup_is_rule(const char *text)
{
	return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 ||
	       (*text && text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 9);
}

size_t warmup_steps(const char *rule, const int64_t *dur_ns, size_t n)
{
	if (rule && strcmp(rule, "none") == 0)
		return 0;
	if (rule && strcmp(rule, "auto") != 0) {
		unsigned long given = strtoul(rule, NULL, 10);
		return n == 0 ? 0 : given < n ? given : n - 1;
	}
	return n < LEAST_STEPS ? 0 : find_end(dur_ns, n);
}
