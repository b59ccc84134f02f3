#include "export/text_out.h"

#include <stdlib.h>
#include <string.h>
#include "base/json_read.h"
#include "base/json_write.h"

enum { ROOM = 1 << 16 };

void text_flush(text_out *o)
{
	if (!o->out)
		return;
	fwrite(o->bytes, 1, o->n, o->out);
	o->n = 0;
}

char *text_room(text_out *o, size_t len)
{
	if (o->n > ROOM)
		text_flush(o);
	if (o->capacity - o->n >= len)
		return o->bytes + o->n;
	size_t more = 2 * (o->n + len);
	char *grown = more > len ? realloc(o->bytes, more) : NULL;
	if (!grown) {
		o->failed = true;
		return NULL;
	}
	o->bytes = grown;
	o->capacity = more;
	return o->bytes + o->n;
}

void text_putn(text_out *o, const char *text, size_t len)
{
	char *to = text_room(o, len);

	if (to) {
		memcpy(to, text, len);
		o->n += len;
	}
}

void text_put(text_out *o, const char *text)
{
	text_putn(o, text, strlen(text));
}

void text_quoted(text_out *o, const char *text, size_t len)
{
	char *to = text_room(o, JSON_QUOTED(len));

	if (to)
		o->n += json_quote(to, text, len);
}

void text_u64(text_out *o, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	text_putn(o, digits + at, sizeof digits - at);
}

void text_i64(text_out *o, int64_t value)
{
	if (value < 0)
		text_put(o, "-");
	text_u64(o, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void text_us(text_out *o, int64_t ns)
{
	uint64_t value = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned below = (unsigned)(value % 1000);

	if (ns < 0)
		text_put(o, "-");
	text_u64(o, value / 1000);
	text_putn(o,
		  (char[]){ '.', (char)('0' + below / 100), (char)('0' + below / 10 % 10), (char)('0' + below % 10) },
		  4);
}

void text_json(text_out *o, const char *json, size_t len)
{
	if (json_is_valid(json, len))
		text_putn(o, json, len);
	else
		text_quoted(o, json, len);
}

void text_done(text_out *o)
{
	free(o->bytes);
	*o = (text_out){ 0 };
}
