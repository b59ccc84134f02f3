/* See json_read.h. */
#include "base/json_read.h"

#include <string.h>
#include "base/utf8.h"

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

static size_t put_code(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 63));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 63));
		to[2] = (char)(0x80 | (code & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 63));
	to[2] = (char)(0x80 | (code >> 6 & 63));
	to[3] = (char)(0x80 | (code & 63));
	return 4;
}

/* The four hexadecimal digits behind \u. */
static bool hex4(const char *at, const char *end, uint32_t *ret_code)
{
	uint32_t code = 0;

	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		int digit = c >= '0' && c <= '9'		 ? c - '0'
			    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								 : -1;
		if (digit < 0)
			return false;
		code = code << 4 | (uint32_t)digit;
	}
	*ret_code = code;
	return true;
}

/* One escape, at the backslash. Returns the bytes read. */
static size_t unescape_one(const char *at, const char *end, char **to, unsigned *repairs)
{
	static const char from[] = "\"\\/bfnrt", becomes[] = "\"\\/\b\f\n\r\t";
	const char *simple = end - at > 1 && at[1] ? strchr(from, at[1]) : NULL;
	uint32_t code, low;

	if (simple) {
		*(*to)++ = becomes[simple - from];
		return 2;
	}
	if (end - at < 2 || at[1] != 'u' || !hex4(at + 2, end, &code)) {
		*repairs |= JSON_BAD_ESCAPE;
		*(*to)++ = '\\';
		return 1;
	}
	if (code >= 0xd800 && code < 0xdc00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u' &&
	    hex4(at + 8, end, &low) && low >= 0xdc00 && low < 0xe000) {
		*to += put_code(*to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
		return 12;
	}
	if (code >= 0xd800 && code < 0xe000) {
		*repairs |= JSON_BAD_ESCAPE;
		code = 0xfffd;
	}
	*to += put_code(*to, code);
	return 6;
}

size_t json_unescape(const char *text, size_t len, char *to, unsigned *ret_repairs)
{
	const char *end = text + len;
	char *start = to;

	*ret_repairs = 0;
	while (text < end) {
		unsigned char c = (unsigned char)*text;
		if (c == '\\') {
			text += unescape_one(text, end, &to, ret_repairs);
		} else if (c < 0x80) {
			*ret_repairs |= c < 0x20 ? JSON_CONTROL : c == '"' ? JSON_BARE_QUOTES : 0;
			*to++ = *text++;
		} else {
			uint32_t code;
			size_t n = utf8_decode(text, (size_t)(end - text), &code);
			if (!n)
				*ret_repairs |= JSON_BAD_UTF8, code = 0xfffd;
			to += put_code(to, code);
			text += n ? n : 1;
		}
	}
	return (size_t)(to - start);
}

/* ---- Validity ---------------------------------------------------------------------------------------------------- */

typedef struct checker {
	const char *at, *end;
} checker;

static void skip_space(checker *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
		c->at++;
}

static bool take(checker *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool check_string(checker *c)
{
	if (!take(c, '"'))
		return false;
	while (c->at < c->end && *c->at != '"') {
		unsigned char ch = (unsigned char)*c->at;
		uint32_t code;
		if (ch < 0x20)
			return false;
		if (ch == '\\') {
			if (c->end - c->at < 2 || (c->at[1] != 'u' && !(c->at[1] && strchr("\"\\/bfnrt", c->at[1]))))
				return false;
			if (c->at[1] == 'u' && !hex4(c->at + 2, c->end, &code))
				return false;
			c->at += c->at[1] == 'u' ? 6 : 2;
			continue;
		}
		size_t n = ch < 0x80 ? 1 : utf8_decode(c->at, (size_t)(c->end - c->at), &code);
		if (!n)
			return false;
		c->at += n;
	}
	return take(c, '"');
}

static bool take_digits(checker *c)
{
	const char *first = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at > first;
}

static bool check_number(checker *c)
{
	take(c, '-');
	if (!take(c, '0') && !take_digits(c))
		return false;
	if (take(c, '.') && !take_digits(c))
		return false;
	if (take(c, 'e') || take(c, 'E')) {
		if (!take(c, '+'))
			take(c, '-');
		return take_digits(c);
	}
	return true;
}

static bool check_word(checker *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

static bool check_scalar(checker *c)
{
	switch (c->at < c->end ? *c->at : 0) {
	case '"':
		return check_string(c);
	case 't':
		return check_word(c, "true");
	case 'f':
		return check_word(c, "false");
	case 'n':
		return check_word(c, "null");
	default:
		return check_number(c);
	}
}

static bool check_key(checker *c)
{
	skip_space(c);
	if (!check_string(c))
		return false;
	skip_space(c);
	return take(c, ':');
}

/* Iterative: a stack of bits remembers which brackets are open. */
bool json_is_valid(const char *text, size_t len)
{
	checker c = { text, text + len };
	uint8_t is_object[JSON_READ_DEPTH / 8] = { 0 };
	int depth = 0;

	for (;;) {
		skip_space(&c);
		bool object = c.at < c.end && *c.at == '{';
		if (object || (c.at < c.end && *c.at == '[')) {
			c.at++;
			skip_space(&c);
			if (!take(&c, object ? '}' : ']')) {
				if (depth == JSON_READ_DEPTH - 1 || (object && !check_key(&c)))
					return false;
				depth++;
				is_object[depth / 8] &= (uint8_t) ~(1u << depth % 8);
				is_object[depth / 8] |= (uint8_t)((unsigned)object << depth % 8);
				continue;
			}
		} else if (!check_scalar(&c)) {
			return false;
		}
		for (;; depth--) { /* a value is complete: what follows it? */
			skip_space(&c);
			if (depth == 0)
				return c.at == c.end;
			object = is_object[depth / 8] >> depth % 8 & 1;
			if (take(&c, ',')) {
				if (object && !check_key(&c))
					return false;
				break;
			}
			if (!take(&c, object ? '}' : ']'))
				return false;
		}
	}
}
