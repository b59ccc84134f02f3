#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

sonde_status error_set(sonde_error *err, sonde_status status, int64_t position, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	err->status = status;
	err->position = position;
	va_start(args, format);
	vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	return status;
}

sonde_status error_prefix(sonde_error *err, sonde_status status, const char *context)
{
	char message[sizeof err->message];

	if (!err)
		return status;
	memcpy(message, err->message, sizeof message);
	snprintf(err->message, sizeof err->message, "%.300s: %.190s", context, message);
	return status;
}

sonde_status error_of_stream(sonde_error *err, FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return SONDE_OK;
	return error_set(err, SONDE_E_IO, -1, "cannot write the result: %s", errno ? strerror(errno) : "write error");
}
