/* See decimal.h. The first 30 significant digits are kept: what follows changes nothing that fits. */
#define _GNU_SOURCE
#include "base/decimal.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>

enum { KEPT_DIGITS = 30, EXPONENT_MAX = 100000 };

typedef unsigned __int128 many_digits;

typedef struct decimal {
	many_digits digits;
	int n_digits; /* kept, without leading zeros */
	int exponent; /* of ten */
	bool more;    /* digits other than 0 were left out */
	bool negative;
} decimal;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void add_digit(decimal *d, char c, bool fraction)
{
	if (d->n_digits < KEPT_DIGITS) {
		d->digits = d->digits * 10 + (many_digits)(c - '0');
		d->n_digits += d->digits != 0;
		d->exponent -= fraction;
	} else {
		d->more |= c != '0';
		d->exponent += !fraction;
	}
}

static bool parse_exponent(const char *at, const char *end, int *ret_exponent)
{
	bool negative = at < end && *at == '-';
	int value = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; at < end && is_digit(*at); at++)
		value = value < EXPONENT_MAX ? value * 10 + (*at - '0') : value;
	*ret_exponent = negative ? -value : value;
	return at == end;
}

static bool parse(const char *at, const char *end, decimal *d)
{
	const char *digits;
	int exponent = 0;

	if (at < end && *at == '-')
		d->negative = true, at++;
	for (digits = at; at < end && is_digit(*at); at++)
		add_digit(d, *at, false);
	if (at == digits)
		return false;
	if (at < end && *at == '.') {
		for (digits = ++at; at < end && is_digit(*at); at++)
			add_digit(d, *at, true);
		if (at == digits)
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		if (!parse_exponent(at + 1, end, &exponent))
			return false;
		at = end;
	}
	d->exponent += exponent;
	return at == end;
}

decimal_status decimal_scaled(const char *text, size_t len, int scale, int64_t *ret_value)
{
	decimal d = { 0 };
	decimal_status status = DECIMAL_EXACT;

	*ret_value = 0;
	if (!parse(text, text + len, &d))
		return DECIMAL_BAD;
	many_digits value = d.digits;
	for (d.exponent += scale; d.exponent > 0 && value && value <= INT64_MAX; d.exponent--)
		value *= 10;
	unsigned last = 0; /* the last digit cut off */
	for (; d.exponent < 0 && (value || last); d.exponent++) {
		d.more |= last != 0;
		last = (unsigned)(value % 10);
		value /= 10;
	}
	if (last || d.more)
		status = DECIMAL_ROUNDED;
	value += last >= 5;
	if (value > INT64_MAX) {
		*ret_value = d.negative ? INT64_MIN : INT64_MAX;
		return DECIMAL_RANGE;
	}
	*ret_value = d.negative ? -(int64_t)value : (int64_t)value;
	return status;
}

double decimal_f64(const char *text, char **ret_end)
{
	/* strtod() asks the locale for the decimal point; the "C" locale always exists and is never freed. */
	static locale_t c_locale;
	locale_t locale = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE); /* pairs with the exchange below */

	if (!locale) {
		locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!__atomic_compare_exchange_n(&c_locale, &locale, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			freelocale(made);
		else
			locale = made;
	}
	return locale ? strtod_l(text, ret_end, locale) : strtod(text, ret_end);
}
