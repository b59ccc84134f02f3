/*
 * Members of an object and elements of an array that lie as JSON text, one after the other, without a tree.
 *
 *   json_members m = json_members_of(text, len);
 *   while (json_next(&m, &member)) ...             keys as they lie in the text, without quotes; values as JSON
 *
 * What is no JSON ends the loop early; nothing is read beyond the text.
 */
#ifndef SONDE_BASE_JSON_MEMBERS_H
#define SONDE_BASE_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json_members {
	const char *at, *end; /* at the bracket or comma before the next one; NULL: none left */
	bool is_object;
} json_members;

typedef struct json_member {
	const char *key; /* NULL in an array */
	size_t key_len;
	const char *value;
	size_t len;
} json_member;

json_members json_members_of(const char *text, size_t len);
bool json_next(json_members *m, json_member *ret_member);

/* The value of a key of an object; of several the last. False: there is none. */
bool json_get(const char *text, size_t len, const char *key, const char **ret_value, size_t *ret_len);

#endif
