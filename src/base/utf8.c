#include "base/utf8.h"

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *ret_code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;

	if (n == 0 || n > len)
		return 0;
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (!continues(p[i]))
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return n;
}

typedef struct range {
	uint32_t first, last;
} range;

static bool is_in(uint32_t code, const range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* After the East Asian Width property of Unicode, in whole blocks: exact enough to keep lines from wrapping. */
unsigned utf8_columns(uint32_t code)
{
	static const range wide[] = { { 0x1100, 0x115f }, { 0x2e80, 0x303e },	{ 0x3041, 0xa4cf },  { 0xa960, 0xa97f },
				      { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },	{ 0xfe30, 0xfe6f },  { 0xff00, 0xff60 },
				      { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
	static const range combining[] = { { 0x0300, 0x036f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
					   { 0x200b, 0x200d }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
					   { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0000, 0xe0fff } };

	if (code < 0x300)
		return 1;
	if (is_in(code, combining, sizeof combining / sizeof *combining))
		return 0;
	return is_in(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

bool utf8_is_control(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return true;
	return (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x061c;
}
