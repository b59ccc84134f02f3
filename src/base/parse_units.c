/* See parse_units.h. */
#include "base/parse_units.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

enum { MAX_SECONDS = 1000000000 }; /* thirty years; everything up to there fits, whatever the unit */

static const struct {
	const char *name;
	int scale; /* 10^scale nanoseconds */
	int64_t times;
} time_units[] = {
	{ "ns", 0, 1 }, { "us", 3, 1 }, { "\u00b5s", 3, 1 }, { "\u03bcs", 3, 1 },
	{ "ms", 6, 1 }, { "s", 9, 1 },	{ "min", 9, 60 },    { "h", 9, 3600 },
};

bool parse_time(const char *text, int64_t *ret_ns)
{
	size_t len = strspn(text, "+-0123456789."), number = len;

	while (text[len] == ' ')
		len++;
	for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
		if (strcmp(text + len, time_units[i].name) != 0)
			continue;
		decimal_status status = decimal_scaled(text, number, time_units[i].scale, ret_ns);
		return (status == DECIMAL_EXACT || status == DECIMAL_ROUNDED) &&
		       !__builtin_mul_overflow(*ret_ns, time_units[i].times, ret_ns) &&
		       *ret_ns <= MAX_SECONDS * INT64_C(1000000000) && *ret_ns >= -MAX_SECONDS * INT64_C(1000000000);
	}
	*ret_ns = 0;
	return strcmp(text, "0") == 0;
}

static bool parse_whole(const char *text, uint64_t *ret_number, const char **ret_rest)
{
	char *rest;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &rest, 10);
	*ret_rest = rest;
	return errno == 0;
}

bool parse_bytes(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	const char *rest, *unit;

	if (!parse_whole(text, ret_bytes, &rest))
		return false;
	if (!*rest)
		return true;
	unit = strchr(units, *rest & ~0x20); /* in capitals */
	unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 64;
	if (shift == 64 || *ret_bytes > UINT64_MAX >> shift)
		return false;
	*ret_bytes <<= shift;
	return !rest[1] || strcmp(rest + 1, "B") == 0 || strcmp(rest + 1, "iB") == 0;
}

/* A plain number at the start of the text: no infinity, no hexadecimal, no spaces before it. */
static bool parse_leading_real(const char *text, double *ret_number, char **ret_rest)
{
	size_t len = strspn(text, "+-0123456789.eE");

	if (len == 0)
		return false;
	*ret_number = decimal_f64(text, ret_rest);
	return *ret_rest == text + len && isfinite(*ret_number);
}

bool parse_share(const char *text, double *ret_share)
{
	char *rest;

	if (!parse_leading_real(text, ret_share, &rest))
		return false;
	*ret_share /= 100;
	return strcmp(rest + strspn(rest, " "), "%") == 0;
}

bool parse_real(const char *text, double *ret_number)
{
	char *rest;

	return parse_leading_real(text, ret_number, &rest) && !*rest;
}

bool parse_truth(const char *text, bool *ret_truth)
{
	static const char *const words[][2] = { { "no", "yes" }, { "false", "true" }, { "off", "on" }, { "0", "1" } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		for (int truth = 0; truth < 2; truth++) {
			if (strcmp(text, words[i][truth]) != 0)
				continue;
			*ret_truth = truth;
			return true;
		}
	}
	return false;
}

/* "2" or "2-4" at *at, which moves on behind it and its comma. */
static bool next_range(const char **at, uint64_t *ret_first, uint64_t *ret_last)
{
	if (!parse_whole(*at, ret_first, at))
		return false;
	*ret_last = *ret_first;
	if (**at == '-' && !parse_whole(*at + 1, ret_last, at))
		return false;
	if (*ret_last < *ret_first || *ret_last > INT32_MAX || (**at && **at != ','))
		return false;
	if (**at == ',' && !*++*at) /* nothing behind the last comma */
		return false;
	return true;
}

bool number_list_is_valid(const char *list)
{
	uint64_t first, last;

	do {
		if (!next_range(&list, &first, &last))
			return false;
	} while (*list);
	return true;
}

bool number_list_has(const char *list, int64_t number)
{
	uint64_t first, last;

	while (*list && next_range(&list, &first, &last))
		if (number >= (int64_t)first && number <= (int64_t)last)
			return true;
	return false;
}
