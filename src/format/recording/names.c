#include "format/recording/names.h"

#include <string.h>

enum { MAX_KEY_BYTES = 127 }; /* so that all arguments fit: 24 + 3 * 255 + 16 * 129 < NAME_RECORD_MAX */

/* Length of text in bytes, at most max, never inside a UTF-8 sequence. */
static size_t clip(const char *text, size_t len, size_t max, uint8_t *cut)
{
	if (len <= max)
		return len;
	*cut = 1;
	len = max;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static size_t text_len(const char *text)
{
	return text ? strlen(text) : 0;
}

static char *put(char *out, const char *text, size_t len)
{
	if (len)
		memcpy(out, text, len);
	return out + len;
}

size_t name_write(void *buffer, const name_parts *parts)
{
	name_record *r = buffer;

	memset(r, 0, sizeof *r);
	r->id = parts->id;
	r->kind = parts->kind;
	r->category = parts->category;
	r->line = parts->line;
	r->name_len = (uint8_t)clip(parts->name, parts->name_len, NAME_MAX_BYTES, &r->cut);
	r->file_len = (uint8_t)clip(parts->file, text_len(parts->file), NAME_MAX_BYTES, &r->cut);
	r->function_len = (uint8_t)clip(parts->function, text_len(parts->function), NAME_MAX_BYTES, &r->cut);
	char *out = put(r->text, parts->name, r->name_len);
	out = put(out, parts->file, r->file_len);
	out = put(out, parts->function, r->function_len);
	char *args = out;
	for (size_t i = 0; i < parts->n_args && i < NAME_MAX_ARGS; i++) {
		size_t len = clip(parts->args[i].key, text_len(parts->args[i].key), MAX_KEY_BYTES, &r->cut);
		*out++ = (char)parts->args[i].type;
		*out++ = (char)len;
		out = put(out, parts->args[i].key, len);
		r->n_args++;
	}
	r->args_len = (uint16_t)(out - args);
	do /* at least one: a record of a name alone is a C string */
		*out++ = 0;
	while ((out - (char *)buffer) % 8);
	r->size = (uint16_t)(out - (char *)buffer);
	return r->size;
}

const name_record *name_read(const void *at, size_t len)
{
	const name_record *r = at;

	if (len < sizeof *r || r->size < sizeof *r || r->size % 8 || r->size > len || r->size > NAME_RECORD_MAX)
		return NULL;
	if (sizeof *r + r->name_len + r->file_len + r->function_len + r->args_len > r->size)
		return NULL;
	return r->kind < NAME_KINDS && r->id >= NAME_FULL_ID ? r : NULL;
}

bool name_arg(const name_record *record, unsigned i, uint8_t *ret_type, const char **ret_key, size_t *ret_len)
{
	const char *at = record->text + record->name_len + record->file_len + record->function_len;
	const char *end = at + record->args_len;

	if (i >= record->n_args)
		return false;
	for (;; i--) {
		if (end - at < 2 || end - at - 2 < (unsigned char)at[1])
			return false;
		if (i == 0)
			break;
		at += 2 + (unsigned char)at[1];
	}
	*ret_type = (uint8_t)at[0];
	*ret_key = at + 2;
	*ret_len = (unsigned char)at[1];
	return true;
}
