/*
 * See json_write.h. `filled` is a stack of bits: bit `depth` says whether the level that is open has an element yet.
 * Text is scanned for runs of bytes that need nothing, and each run is one fwrite.
 */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/format_number.h"
#include "base/utf8.h"

json_writer json_to(FILE *out)
{
	return (json_writer){ .out = out };
}

bool json_ok(const json_writer *w)
{
	return !ferror(w->out);
}

static void put(json_writer *w, const char *text, size_t len)
{
	fwrite_unlocked(text, 1, len, w->out);
}

static void put_char(json_writer *w, char c)
{
	putc_unlocked(c, w->out);
}

static void put_line(json_writer *w)
{
	put_char(w, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		put_char(w, ' ');
}

/* What comes before a key or a value: a comma, a new line. */
static void separate(json_writer *w)
{
	uint64_t bit = UINT64_C(1) << w->depth;

	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->filled & bit)
		put(w, w->line_due ? "," : ", ", w->line_due ? 1 : 2);
	w->filled |= bit;
	if (w->line_due)
		put_line(w);
	w->line_due = false;
}

static void begin(json_writer *w, char bracket)
{
	assert(w->depth < JSON_MAX_DEPTH);
	separate(w);
	put_char(w, bracket);
	w->depth++;
	w->filled &= ~(UINT64_C(1) << w->depth);
}

static void end(json_writer *w, char bracket)
{
	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	if (w->line_due)
		put_line(w);
	w->line_due = false;
	put_char(w, bracket);
}

void json_begin_object(json_writer *w)
{
	begin(w, '{');
}

void json_end_object(json_writer *w)
{
	end(w, '}');
}

void json_begin_array(json_writer *w)
{
	begin(w, '[');
}

void json_end_array(json_writer *w)
{
	end(w, ']');
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static size_t write_escape(char *to, uint32_t code)
{
	static const char from[] = "\"\\\n\t\r\b\f", letters[] = "\"\\ntrbf", digits[] = "0123456789abcdef";
	const char *found = code && code < 0x80 ? strchr(from, (int)code) : NULL;

	to[0] = '\\';
	if (found) {
		to[1] = letters[found - from];
		return 2;
	}
	to[1] = 'u';
	for (int i = 0; i < 4; i++)
		to[2 + i] = digits[code >> (12 - 4 * i) & 15];
	return 6;
}

static bool needs_escape(uint32_t code)
{
	return code < 0x20 || code == '"' || code == '\\' || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
	       code == 0x2029;
}

/* Writes what is at text, which is not plain, at most six bytes for each of it. Returns how many bytes of text that
   was. */
static size_t write_special(char *to, size_t *ret_len, const char *text, size_t len)
{
	uint32_t code;
	size_t n = utf8_decode(text, len, &code);

	if (n == 0) {
		memcpy(to, "\xef\xbf\xbd", 3);
		*ret_len = 3;
		return 1;
	}
	if (needs_escape(code)) {
		*ret_len = write_escape(to, code);
	} else {
		memcpy(to, text, n);
		*ret_len = n;
	}
	return n;
}

static void put_quoted(json_writer *w, const char *text, size_t len)
{
	size_t run = 0, special_len;
	char special[6];

	put_char(w, '"');
	for (size_t i = 0; i < len;) {
		if (is_plain((unsigned char)text[i])) {
			i++;
			continue;
		}
		put(w, text + run, i - run);
		i += write_special(special, &special_len, text + i, len - i);
		put(w, special, special_len);
		run = i;
	}
	put(w, text + run, len - run);
	put_char(w, '"');
}

size_t json_quote(char *to, const char *text, size_t len)
{
	size_t n = 0, special_len;

	to[n++] = '"';
	for (size_t i = 0; i < len;) {
		if (is_plain((unsigned char)text[i])) {
			to[n++] = text[i++];
			continue;
		}
		i += write_special(to + n, &special_len, text + i, len - i);
		n += special_len;
	}
	to[n++] = '"';
	return n;
}

void json_key(json_writer *w, const char *key)
{
	separate(w);
	put_quoted(w, key, strlen(key));
	put(w, ": ", 2);
	w->after_key = true;
}

void json_stringn(json_writer *w, const char *text, size_t len)
{
	separate(w);
	put_quoted(w, text, len);
}

void json_string(json_writer *w, const char *text)
{
	if (text)
		json_stringn(w, text, strlen(text));
	else
		json_null(w);
}

void json_raw(json_writer *w, const char *text, size_t len)
{
	separate(w);
	put(w, text, len);
}

static void put_digits(json_writer *w, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put(w, digits + at, sizeof digits - at);
}

void json_u64(json_writer *w, uint64_t value)
{
	separate(w);
	put_digits(w, value);
}

void json_i64(json_writer *w, int64_t value)
{
	separate(w);
	if (value < 0)
		put_char(w, '-');
	put_digits(w, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_f64(json_writer *w, double value)
{
	char text[NUMBER_TEXT];

	if (!isfinite(value)) {
		json_null(w);
		return;
	}
	separate(w);
	format_exact(text, value);
	put(w, text, strlen(text));
}

void json_bool(json_writer *w, bool value)
{
	separate(w);
	put(w, value ? "true" : "false", value ? 4 : 5);
}

void json_null(json_writer *w)
{
	separate(w);
	put(w, "null", 4);
}

void json_line(json_writer *w)
{
	w->line_due = true;
}
