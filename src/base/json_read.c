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

/* Most values of traces are numbers, strings and lists of them: a table decides byte by byte whether a text is one of
   those and valid. */
typedef enum list_byte {
	BYTE_OTHER,
	BYTE_PLAIN,
	BYTE_SPACE,
	BYTE_QUOTE,
	BYTE_ZERO,
	BYTE_DIGIT,
	BYTE_POINT,
	BYTE_COMMA, /* from here on they mean something to the lists around */
	BYTE_OPEN,
	BYTE_CLOSE,
	BYTE_KINDS
} list_byte;

typedef enum list_state {
	LIST_OTHER, /* for the careful way */
	LIST_FIRST, /* a value or the end of the list must follow */
	LIST_VALUE, /* a value must follow */
	LIST_POINT, /* a digit must follow */
	LIST_STRING,
	LIST_DONE, /* from here on the text may end */
	LIST_ZERO,
	LIST_DIGITS,
	LIST_DECIMALS,
	LIST_STATES
} list_state;

static const uint8_t list_bytes[256] = {
	[' '] = BYTE_SPACE, ['!'] = BYTE_PLAIN,		['"'] = BYTE_QUOTE,	    ['#' ... '+'] = BYTE_PLAIN,
	[','] = BYTE_COMMA, ['-'] = BYTE_PLAIN,		['.'] = BYTE_POINT,	    ['/'] = BYTE_PLAIN,
	['0'] = BYTE_ZERO,  ['1' ... '9'] = BYTE_DIGIT, [':' ... 'Z'] = BYTE_PLAIN, ['['] = BYTE_OPEN,
	[']'] = BYTE_CLOSE, ['^' ... '~'] = BYTE_PLAIN,
};

#define BEGINS_VALUE                                                                                                   \
	[BYTE_QUOTE] = LIST_STRING, [BYTE_ZERO] = LIST_ZERO, [BYTE_DIGIT] = LIST_DIGITS, [BYTE_OPEN] = LIST_FIRST
#define ENDS_VALUE [BYTE_SPACE] = LIST_DONE, [BYTE_COMMA] = LIST_VALUE, [BYTE_CLOSE] = LIST_DONE
static const uint8_t list_next[LIST_STATES][BYTE_KINDS] = {
	[LIST_FIRST] = { BEGINS_VALUE, [BYTE_SPACE] = LIST_FIRST, [BYTE_CLOSE] = LIST_DONE },
	[LIST_VALUE] = { BEGINS_VALUE, [BYTE_SPACE] = LIST_VALUE },
	[LIST_POINT] = { [BYTE_ZERO] = LIST_DECIMALS, [BYTE_DIGIT] = LIST_DECIMALS },
	[LIST_STRING] = { LIST_OTHER, LIST_STRING, LIST_STRING, LIST_DONE, LIST_STRING, LIST_STRING, LIST_STRING,
			  LIST_STRING, LIST_STRING, LIST_STRING },
	[LIST_DONE] = { ENDS_VALUE },
	[LIST_ZERO] = { ENDS_VALUE, [BYTE_POINT] = LIST_POINT },
	[LIST_DIGITS] = { ENDS_VALUE, [BYTE_ZERO] = LIST_DIGITS, [BYTE_DIGIT] = LIST_DIGITS,
			  [BYTE_POINT] = LIST_POINT },
	[LIST_DECIMALS] = { ENDS_VALUE, [BYTE_ZERO] = LIST_DECIMALS, [BYTE_DIGIT] = LIST_DECIMALS },
};
#undef BEGINS_VALUE
#undef ENDS_VALUE

/* False: it is none of those, or not valid. */
static bool is_plain_list(const char *text, size_t len)
{
	enum { PLAIN_DEPTH = 16 };
	unsigned state = LIST_VALUE, depth = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned byte = list_bytes[(unsigned char)text[i]];
		state = list_next[state][byte];
		if (byte < BYTE_COMMA || state == LIST_STRING)
			continue;
		if (depth == (byte == BYTE_OPEN ? PLAIN_DEPTH : 0)) /* nothing is open that could go on or end */
			return false;
		depth += (byte == BYTE_OPEN) - (unsigned)(byte == BYTE_CLOSE);
	}
	return depth == 0 && state >= LIST_DONE;
}

/* Iterative: a stack of bits remembers which brackets are open. */
bool json_is_valid(const char *text, size_t len)
{
	if (is_plain_list(text, len))
		return true;
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
