/*
 * See format_number.h. A value is rounded to an integer count of its last decimal place first and printed from that,
 * so that 9.996 is "10.0" and not "10.00".
 */
#include "base/format_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const number_unit ns_units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
static const number_unit byte_units[] = {
	{ "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { "TiB", 1099511627776 }
};

static const number_unit *units_of(number_kind kind, unsigned *ret_n)
{
	*ret_n = kind == NUMBER_NS ? sizeof ns_units / sizeof *ns_units : sizeof byte_units / sizeof *byte_units;
	return kind == NUMBER_NS ? ns_units : byte_units;
}

number_unit number_unit_for(number_kind kind, double magnitude)
{
	unsigned n, best = 0;
	const number_unit *units = units_of(kind, &n);

	/* 999.6 ms reads as 1.00 s, 1023.6 KiB as 1.00 MiB. */
	while (best + 1 < n && magnitude >= units[best + 1].scale * (1 - 0.5 / (kind == NUMBER_NS ? 1000 : 1024)))
		best++;
	return magnitude > 0 || kind != NUMBER_NS ? units[best] : units[n - 1];
}

char *format_count(char *ret_text, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
	char *at = ret_text;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return ret_text;
}

/* value >= 0 with the given number of decimals. */
static void format_fixed(char *text, double value, unsigned decimals)
{
	static const double powers[] = { 1, 10, 100 };
	uint64_t scaled = (uint64_t)(value * powers[decimals] + 0.5), power = (uint64_t)powers[decimals];

	format_count(text, scaled / power);
	if (decimals)
		snprintf(text + strlen(text), 16, ".%0*u", (int)decimals, (unsigned)(scaled % power));
}

static unsigned decimals_for(double value)
{
	return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

/* printf uses the locale's decimal point, of one byte or more. */
static char *set_full_stop(char *text)
{
	char *point = text + strspn(text, "-0123456789e");
	size_t len = strcspn(point, "+-0123456789e");

	if (len) {
		*point = '.';
		memmove(point + 1, point + len, strlen(point + len) + 1);
	}
	return text;
}

/* 1.23e-07 */
static char *format_scientific(char *text, double number)
{
	snprintf(text, NUMBER_TEXT, "%.2e", number);
	return set_full_stop(text);
}

/* Without its unit. max_decimals is 0 for what cannot be split: a nanosecond, a byte. */
static char *format_value(char *text, double value, unsigned max_decimals)
{
	double size = fabs(value);
	unsigned decimals = decimals_for(size);

	if (size >= 1e15)
		return format_scientific(text, value);
	if (decimals > max_decimals)
		decimals = max_decimals;
	if (size == 0)
		return strcpy(text, "0");
	if (size < 0.005 && max_decimals == 2)
		return strcpy(text, value < 0 ? ">-0.01" : "<0.01");
	if (value < 0)
		*text = '-';
	format_fixed(text + (value < 0), size, decimals);
	return text;
}

char *format_in_unit(char *ret_text, double value, number_unit unit)
{
	if (!isfinite(value))
		return strcpy(ret_text, "-");
	format_value(ret_text, value / unit.scale, unit.scale == 1 ? 0 : 2);
	size_t len = strlen(ret_text);
	snprintf(ret_text + len, NUMBER_TEXT - len, " %s", unit.name);
	return ret_text;
}

char *format_ns(char *ret_text, int64_t ns)
{
	return format_in_unit(ret_text, (double)ns, number_unit_for(NUMBER_NS, fabs((double)ns)));
}

char *format_bytes(char *ret_text, uint64_t bytes)
{
	return format_in_unit(ret_text, (double)bytes, number_unit_for(NUMBER_BYTES, (double)bytes));
}

char *format_percent(char *ret_text, double percent)
{
	return isfinite(percent) ? format_value(ret_text, percent, 2) : strcpy(ret_text, "-");
}

char *format_number(char *ret_text, double number)
{
	if (!isfinite(number))
		return strcpy(ret_text, "-");
	if (number != 0 && fabs(number) < 0.01)
		return format_scientific(ret_text, number);
	if (fabs(number) >= 0.01 && fabs(number) < 0.995) {
		unsigned long thousandths = (unsigned long)(fabs(number) * 1000 + 0.5);

		snprintf(ret_text, NUMBER_TEXT, "%s0.%03lu", number < 0 ? "-" : "", thousandths);
		return ret_text;
	}
	return format_value(ret_text, number, 2);
}

char *format_exact(char *ret_text, double number)
{
	if (!isfinite(number))
		return strcpy(ret_text, "");
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(ret_text, NUMBER_TEXT, "%.*g", digits, number);
		if (strtod(ret_text, NULL) == number)
			break;
	}
	return set_full_stop(ret_text);
}
