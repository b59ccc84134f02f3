/*
 * Writes JSON to a stream as it is made: no tree, no allocation, commas and quotes are the writer's business.
 *
 *   json_writer w = json_to(file);
 *   json_begin_object(&w);
 *   json_key(&w, "calls"), json_u64(&w, 31744);
 *   json_key(&w, "names"), json_begin_array(&w);
 *   json_line(&w), json_string(&w, "forward");      json_line(): the next value or key starts a new line
 *   json_end_array(&w);
 *   json_end_object(&w);
 *   if (!json_ok(&w)) ...                           the stream failed; further calls were harmless
 *
 * What comes out is valid whatever goes in: bytes that are not UTF-8 become U+FFFD, control characters (also DEL, C1,
 * U+2028 and U+2029) are escaped, NaN and infinity become null, and the decimal point does not depend on the locale.
 * A double has as few digits as give the same double back. At most JSON_MAX_DEPTH levels.
 */
#ifndef SONDE_BASE_JSON_WRITE_H
#define SONDE_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 63 };

typedef struct json_writer {
	FILE *out;
	uint64_t filled; /* one bit per level: a comma is due before the next element */
	unsigned depth;
	bool after_key;
	bool line_due;
	bool in_page;	 /* inside of HTML: "<" is escaped, so that nothing ends the element */
	size_t n_bytes;	 /* written so far */
	size_t max_text; /* longer strings are cut in the middle; 0: none are */
} json_writer;

json_writer json_to(FILE *out);
void json_begin_object(json_writer *w);
void json_end_object(json_writer *w);
void json_begin_array(json_writer *w);
void json_end_array(json_writer *w);
void json_key(json_writer *w, const char *key);
void json_string(json_writer *w, const char *text); /* NULL: null */
void json_stringn(json_writer *w, const char *text, size_t len);
void json_i64(json_writer *w, int64_t value);
void json_u64(json_writer *w, uint64_t value);
void json_us(json_writer *w, int64_t ns); /* in microseconds, with all three decimals */
void json_f64(json_writer *w, double value);
void json_bool(json_writer *w, bool value);
void json_null(json_writer *w);
void json_raw(json_writer *w, const char *text, size_t len); /* a value that is JSON already */
void json_line(json_writer *w);				     /* indented by one space per level */
bool json_ok(const json_writer *w);

/* The same to memory: text in quotes. `to` has room for JSON_QUOTED(len) bytes. Returns how many there are. */
#define JSON_QUOTED(len) (6 * (size_t)(len) + 2)
size_t json_quote(char *to, const char *text, size_t len);

#endif
