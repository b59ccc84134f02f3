/* Filling in a sonde_error: what, where, and what the caller knows on top. */
#ifndef SONDE_BASE_ERROR_H
#define SONDE_BASE_ERROR_H

#include <stdint.h>
#include <stdio.h>
#include <sonde/error.h>

/* Fills *err if there is one and returns status, so that a failure is one line: return error_set(err, ...). */
sonde_status error_set(sonde_error *err, sonde_status status, int64_t position, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "context: " before the message and returns its status. */
sonde_status error_prefix(sonde_error *err, sonde_status status, const char *context);

/* Writes out what the stream still holds, and tells why that or anything before it failed. errno was 0 before all of
 * it. */
sonde_status error_of_stream(sonde_error *err, FILE *out);

#endif
