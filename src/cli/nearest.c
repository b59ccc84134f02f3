/* The word that was probably meant: least edit distance, where swapping two neighbours counts as one edit. */
#include "cli/cli.h"

#include <string.h>

enum { MAX_WORD = 32, FAR = 99 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned edit_distance(const char *a, const char *b)
{
	unsigned d[MAX_WORD + 1][MAX_WORD + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX_WORD || m > MAX_WORD)
		return FAR;
	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			unsigned replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least(replaced, least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

const char *nearest(const char *word, const char *(*next)(const void *list, size_t index), const void *list)
{
	const char *found = NULL, *candidate;
	/* A third of the letters may be wrong, and at least one. */
	unsigned best = strlen(word) < 6 ? 2 : (unsigned)(strlen(word) / 3 + 1);

	for (size_t i = 0; (candidate = next(list, i)); i++) {
		unsigned distance = edit_distance(word, candidate);

		if (distance < best && distance < strlen(candidate)) {
			best = distance;
			found = candidate;
		}
	}
	return found;
}
