/* UTF-8 that may be broken or hostile: decode one code point, and say how much room it takes on a terminal. */
#ifndef SONDE_BASE_UTF8_H
#define SONDE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length (1-4) of the code point at text and stores it, or 0 when the bytes are not UTF-8: cut off,
   overlong, a surrogate or above U+10FFFF. len is at least 1. */
size_t utf8_decode(const char *text, size_t len, uint32_t *ret_code);

/* Columns of a terminal: 0 for what combines, 2 for East Asian wide characters, else 1. */
unsigned utf8_columns(uint32_t code);

/* C0, DEL, C1, and what changes the direction or the lines of text: never to be sent to a terminal. */
bool utf8_is_control(uint32_t code);

#endif
