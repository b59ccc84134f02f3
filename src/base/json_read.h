/* Parts of JSON text that comes from strangers. */
#ifndef SONDE_BASE_JSON_READ_H
#define SONDE_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_READ_DEPTH = 512 };

/* What json_unescape found and repaired. */
typedef enum json_repair {
	JSON_BAD_UTF8 = 1,    /* bytes became U+FFFD */
	JSON_BAD_ESCAPE = 2,  /* kept as it stands; a lone surrogate became U+FFFD */
	JSON_CONTROL = 4,     /* characters below U+0020 that should have been escaped: kept */
	JSON_BARE_QUOTES = 8, /* kept */
} json_repair;

/* Turns the text between a string's quotes into UTF-8. `to` has room for 3 * len bytes. Returns how many it wrote. */
size_t json_unescape(const char *text, size_t len, char *to, unsigned *ret_repairs);

/* True when the text is one JSON value and nothing else but white space. */
bool json_is_valid(const char *text, size_t len);

#endif
