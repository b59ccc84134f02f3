/*
 * See json_write.h. `filled` is a stack of bits: bit `depth` says whether the level that is open has an element yet.
 * What is short is put together first, with what comes before it, and is one fwrite; of a long text each run of bytes
 * that need nothing is one.
 */
#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/format_number.h"
#include "base/utf8.h"

enum {
	LEAD = 3 + JSON_MAX_DEPTH, /* at most, of what comes before a key or a value */
	SHORT = 64,
	DIGITS = 20,
};

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
	w->n_bytes += len;
}

static size_t write_line(const json_writer *w, char *to)
{
	to[0] = '\n';
	memset(to + 1, ' ', w->depth);
	return 1 + w->depth;
}

/* What comes before a key or a value: a comma, a new line. Returns how many bytes, up to LEAD. */
static size_t write_lead(json_writer *w, char *to)
{
	uint64_t bit = UINT64_C(1) << w->depth;
	size_t n = 0;

	if (w->after_key) {
		w->after_key = false;
		return 0;
	}
	if (w->filled & bit) {
		to[n++] = ',';
		if (!w->line_due)
			to[n++] = ' ';
	}
	w->filled |= bit;
	if (w->line_due)
		n += write_line(w, to + n);
	w->line_due = false;
	return n;
}

/* A value that needs no quotes. */
static void put_value(json_writer *w, const char *text, size_t len)
{
	char line[LEAD + SHORT];
	size_t n = write_lead(w, line);

	if (len <= SHORT) {
		memcpy(line + n, text, len);
		put(w, line, n + len);
	} else {
		put(w, line, n);
		put(w, text, len);
	}
}

static void begin(json_writer *w, char bracket)
{
	assert(w->depth < JSON_MAX_DEPTH);
	put_value(w, &bracket, 1);
	w->depth++;
	w->filled &= ~(UINT64_C(1) << w->depth);
}

static void end(json_writer *w, char bracket)
{
	char line[LEAD + 1];
	size_t n = 0;

	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	if (w->line_due)
		n = write_line(w, line);
	w->line_due = false;
	line[n++] = bracket;
	put(w, line, n);
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
	return code < 0x20 || code == '<' || code == '"' || code == '\\' || (code >= 0x7f && code < 0xa0) ||
	       code == 0x2028 || code == 0x2029;
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

static void put_escaped(json_writer *w, const char *text, size_t len)
{
	size_t run = 0, special_len;
	char special[6];

	for (size_t i = 0; i < len;) {
		if (is_plain((unsigned char)text[i]) && !(w->in_page && text[i] == '<')) {
			i++;
			continue;
		}
		put(w, text + run, i - run);
		i += write_special(special, &special_len, text + i, len - i);
		put(w, special, special_len);
		run = i;
	}
	put(w, text + run, len - run);
}

static void put_long(json_writer *w, const char *text, size_t len)
{
	size_t half = w->max_text && len > w->max_text ? w->max_text / 2 : len, tail = len - half;

	put(w, "\"", 1);
	if (half < len) { /* not into the middle of a character */
		while (half > 0 && (text[half] & 0xc0) == 0x80)
			half--;
		while (tail < len && (text[tail] & 0xc0) == 0x80)
			tail++;
	}
	put_escaped(w, text, half);
	if (half < len) {
		put(w, "\u2026", sizeof "\u2026" - 1);
		put_escaped(w, text + tail, len - tail);
	}
	put(w, "\"", 1);
}

/* Text in quotes, and what follows it. */
static void put_quoted(json_writer *w, const char *text, size_t len, const char *behind, size_t behind_len)
{
	char line[LEAD + JSON_QUOTED(SHORT) + 2];
	size_t n = write_lead(w, line);

	if (len <= SHORT && !w->in_page && !w->max_text) {
		n += json_quote(line + n, text, len);
	} else {
		put(w, line, n);
		put_long(w, text, len);
		n = 0;
	}
	memcpy(line + n, behind, behind_len);
	put(w, line, n + behind_len);
}

void json_key(json_writer *w, const char *key)
{
	put_quoted(w, key, strlen(key), ": ", 2);
	w->after_key = true;
}

void json_stringn(json_writer *w, const char *text, size_t len)
{
	put_quoted(w, text, len, "", 0);
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
	put_value(w, text, len);
}

/* With n_decimals the number of so many digits less. */
static void put_number(json_writer *w, bool is_negative, uint64_t value, unsigned n_decimals)
{
	char digits[DIGITS + 2];
	size_t at = sizeof digits;

	for (; n_decimals; value /= 10) {
		digits[--at] = (char)('0' + value % 10);
		if (--n_decimals == 0)
			digits[--at] = '.';
	}
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (is_negative)
		digits[--at] = '-';
	put_value(w, digits + at, sizeof digits - at);
}

void json_u64(json_writer *w, uint64_t value)
{
	put_number(w, false, value, 0);
}

void json_i64(json_writer *w, int64_t value)
{
	put_number(w, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

void json_us(json_writer *w, int64_t ns)
{
	put_number(w, ns < 0, ns < 0 ? -(uint64_t)ns : (uint64_t)ns, 3);
}

void json_f64(json_writer *w, double value)
{
	char text[NUMBER_TEXT];

	if (!isfinite(value)) {
		json_null(w);
		return;
	}
	format_exact(text, value);
	put_value(w, text, strlen(text));
}

void json_bool(json_writer *w, bool value)
{
	put_value(w, value ? "true" : "false", value ? 4 : 5);
}

void json_null(json_writer *w)
{
	put_value(w, "null", 4);
}

void json_line(json_writer *w)
{
	w->line_due = true;
}
