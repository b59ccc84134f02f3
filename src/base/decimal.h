/* Decimal text to whole numbers, exactly: never through a double. */
#ifndef SONDE_BASE_DECIMAL_H
#define SONDE_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

typedef enum decimal_status {
	DECIMAL_EXACT,
	DECIMAL_ROUNDED, /* it had more digits than the result: rounded to the nearest */
	DECIMAL_RANGE,	 /* beyond int64_t: *ret_value is the nearest bound */
	DECIMAL_BAD,	 /* not a number */
} decimal_status;

/* The number that the whole text is, as JSON writes numbers, times 10^scale. */
decimal_status decimal_scaled(const char *text, size_t len, int scale, int64_t *ret_value);

/* The double nearest to the number at the start of the text, whatever the locale; *ret_end: behind it. */
double decimal_f64(const char *text, char **ret_end);

#endif
