/* What a handler answers: JSON as it is written, bytes, or an error. */
#ifndef SONDE_SERVE_HTTP_REPLY_H
#define SONDE_SERVE_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/json_write.h"
#include <sonde/error.h>

struct MHD_Response;

typedef struct reply {
	unsigned status; /* of HTTP */
	const char *type;
	char *bytes; /* malloc'ed */
	size_t len;
	FILE *stream; /* that fills bytes, while it is open */
	json_writer json;
	uint64_t generation;	     /* of the trace that was asked; 0: none was */
	struct MHD_Response *events; /* instead of bytes: an answer that goes on */
} reply;

/* The JSON that is answered: reply_json() once, then write, until the handler returns. Never NULL: when out of memory
   what is written goes nowhere and the answer is an error. */
json_writer *reply_json(reply *out);
/* Takes malloc'ed bytes; NULL: out of memory. */
void reply_bytes(reply *out, const char *type, void *bytes, size_t len);
/* Instead of what was written so far. The message is a sentence. */
void reply_error(reply *out, unsigned status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The HTTP status and code that a failed call of the library stands for. */
void reply_failure(reply *out, sonde_status status, const sonde_error *err);
void reply_out_of_memory(reply *out);

/* No more is written; bytes are there. */
void reply_finish(reply *out);
void reply_done(reply *out);

/* "key": value */
void put_text(json_writer *w, const char *key, const char *value); /* NULL: null */
void put_i64(json_writer *w, const char *key, int64_t value);
void put_u64(json_writer *w, const char *key, uint64_t value);
void put_f64(json_writer *w, const char *key, double value);
void put_bool(json_writer *w, const char *key, bool value);
/* null where it is not known */
void put_known(json_writer *w, const char *key, bool is_known, int64_t value);
void put_list(json_writer *w, const char *key); /* begins an array */
/* A value: the text or, where it is longer than max bytes (0: any length; at most PUT_NAME_MAX), its ends and how long
   it is: "aten::...backward (cut, 1,048,576 bytes)". */
enum { PUT_NAME_MAX = 1000 };
void put_name(json_writer *w, const char *text, size_t len, size_t max);

#endif
