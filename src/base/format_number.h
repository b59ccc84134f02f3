/*
 * Numbers for people: three significant digits, a space, a unit, thousands separators. Independent of the locale.
 *
 *   char text[NUMBER_TEXT];
 *   format_ns(text, 1940000000)           "1.94 s"
 *   format_bytes(text, 327155712)         "312 MiB"
 *   format_count(text, 31744)             "31,744"
 *   format_percent(text, 61.84)           "61.8"
 *
 * A column of a table has one unit: find it with number_unit_for() from its largest value, then format_in_unit() each.
 * Below 1 a number has two decimals; what is not zero never prints as zero but as "<0.01 s". Each function returns
 * its buffer, so that it can stand in a printf().
 */
#ifndef SONDE_BASE_FORMAT_NUMBER_H
#define SONDE_BASE_FORMAT_NUMBER_H

#include <stdint.h>

enum { NUMBER_TEXT = 48 };

typedef struct number_unit {
	const char *name;
	double scale;
} number_unit;

typedef enum number_kind { NUMBER_NS, NUMBER_BYTES } number_kind;

/* The unit in which magnitude (>= 0) reads best; no time at all is "0 s". */
number_unit number_unit_for(number_kind kind, double magnitude);

char *format_in_unit(char *ret_text, double value, number_unit unit);
char *format_ns(char *ret_text, int64_t ns);
char *format_bytes(char *ret_text, uint64_t bytes);
char *format_count(char *ret_text, uint64_t count);
char *format_percent(char *ret_text, double percent);
char *format_number(char *ret_text, double number); /* no unit; very large and small ones as 1.23e-07 */

/* For programs: as few digits as give the same double back; "" for NaN and infinity. */
char *format_exact(char *ret_text, double number);

#endif
