/* What people write on a command line: times, sizes, percentages, lists of numbers. The whole text, or false. */
#ifndef SONDE_BASE_PARSE_UNITS_H
#define SONDE_BASE_PARSE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* "1.5s", "20 ms", "3us", "250ns", "2min", "1h", "0"; exact, rounded to the nanosecond. May be negative. */
bool parse_time(const char *text, int64_t *ret_ns);

/* "4096", "64M", "64MB", "64MiB": all of them powers of two. */
bool parse_bytes(const char *text, uint64_t *ret_bytes);

/* "5%" is 0.05. */
bool parse_share(const char *text, double *ret_share);

/* "0.5", "12", "1e3"; finite. */
bool parse_real(const char *text, double *ret_number);

/* "yes", "no", "true", "false", "on", "off", "1", "0". */
bool parse_truth(const char *text, bool *ret_truth);

/* "0,2-4": numbers from 0 to INT32_MAX. */
bool number_list_is_valid(const char *list);
bool number_list_has(const char *list, int64_t number); /* of a valid list */

#endif
