/*
 * Status codes and the optional error that every fallible Sonde function shares.
 *
 * A function that can fail returns sonde_status (SONDE_OK is 0) and takes a sonde_error as its last parameter. The
 * error may be NULL; it is filled only on failure and owns no memory.
 */
#ifndef SONDE_ERROR_H
#define SONDE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_API __attribute__((visibility("default")))

typedef enum sonde_status {
	SONDE_OK = 0,
	SONDE_E_USAGE,	     /* a wrong argument */
	SONDE_E_FORMAT,	     /* the input has an unexpected format */
	SONDE_E_TRUNCATED,   /* the input is truncated and unusable */
	SONDE_E_VERSION,     /* written by a newer Sonde, or by one too old */
	SONDE_E_IO,	     /* the system refused: missing file, no permission, disk full */
	SONDE_E_MEMORY,	     /* out of memory */
	SONDE_E_STATE,	     /* wrong state: already started, not started */
	SONDE_E_UNSUPPORTED, /* not possible on this machine */
} sonde_status;

typedef struct sonde_error {
	sonde_status status;
	int64_t position;  /* byte offset in the input, or -1 */
	char message[504]; /* a sentence for a person, without a full stop */
} sonde_error;

#ifdef __cplusplus
}
#endif
#endif
