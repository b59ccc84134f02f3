#include "base/json_members.h"

#include <string.h>

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* From behind the opening quote to behind the closing one, or NULL. */
static const char *skip_string(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '"')
			return at + 1;
		if (*at == '\\')
			at++;
	}
	return NULL;
}

/* To the comma or bracket that ends the value, or NULL. */
static const char *skip_value(const char *at, const char *end, char bracket)
{
	size_t depth = 0;

	while (at && at < end) {
		char c = *at;
		if (depth == 0 && (c == ',' || c == bracket))
			return at;
		at++;
		if (c == '"')
			at = skip_string(at, end);
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth -= depth ? 1 : 0;
	}
	return NULL;
}

json_members json_members_of(const char *text, size_t len)
{
	const char *end = text + len, *at = skip_space(text, end);
	bool found = at < end && (*at == '{' || *at == '[');

	return (json_members){ .at = found ? at : NULL, .end = end, .is_object = found && *at == '{' };
}

/* Behind the key and its colon, or NULL. */
static const char *read_key(const char *at, const char *end, json_member *m)
{
	if (at == end || *at != '"')
		return NULL;
	m->key = at + 1;
	at = skip_string(at + 1, end);
	if (!at)
		return NULL;
	m->key_len = (size_t)(at - 1 - m->key);
	at = skip_space(at, end);
	return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

bool json_next(json_members *m, json_member *ret_member)
{
	json_member found = { 0 };
	const char *at = m->at;

	m->at = NULL;
	if (!at || at == m->end || (*at != ',' && *at != '{' && *at != '['))
		return false;
	at = skip_space(at + 1, m->end);
	if (m->is_object)
		at = read_key(at, m->end, &found);
	if (!at)
		return false;
	found.value = at;
	at = skip_value(at, m->end, m->is_object ? '}' : ']');
	if (!at || at == found.value)
		return false;
	m->at = at;
	while (skip_space(at - 1, at) == at)
		at--;
	found.len = (size_t)(at - found.value);
	*ret_member = found;
	return true;
}

bool json_get(const char *text, size_t len, const char *key, const char **ret_value, size_t *ret_len)
{
	json_members m = json_members_of(text, len);
	size_t key_len = strlen(key);
	json_member member;
	bool found = false;

	while (m.is_object && json_next(&m, &member))
		if (member.key_len == key_len && memcmp(member.key, key, key_len) == 0) {
			*ret_value = member.value;
			*ret_len = member.len;
			found = true;
		}
	return found;
}
