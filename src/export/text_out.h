/*
 * Text on its way to a file, in large pieces.
 *
 *   text_out o = { .out = file };
 *   text_put(&o, "x: "), text_i64(&o, 3), text_quoted(&o, name, len);
 *   text_flush(&o);
 *   text_done(&o);                    `failed`: out of memory; errors of the file are ferror()'s
 */
#ifndef SONDE_EXPORT_TEXT_OUT_H
#define SONDE_EXPORT_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct text_out {
	FILE *out; /* NULL: everything stays in bytes */
	char *bytes;
	size_t n, capacity;
	bool failed;
} text_out;

/* Room for len more bytes behind what is there, or NULL. */
char *text_room(text_out *o, size_t len);
void text_putn(text_out *o, const char *text, size_t len);
void text_put(text_out *o, const char *text);
void text_quoted(text_out *o, const char *text, size_t len); /* as a string of JSON */
void text_u64(text_out *o, uint64_t value);
void text_i64(text_out *o, int64_t value);
void text_us(text_out *o, int64_t ns);			   /* nanoseconds as microseconds: 12.345 */
void text_json(text_out *o, const char *json, size_t len); /* a value that is JSON, or the text of what is none */
void text_flush(text_out *o);
void text_done(text_out *o);

#endif
