/* See screen_text.h. One scanner, next_glyph(), decides what a terminal gets to see; all else counts and copies. */
#include "base/screen_text.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* The next thing to print. */
typedef struct glyph {
	size_t n_bytes; /* of the text, at least 1 */
	unsigned columns;
	bool safe; /* false: prints as '?' */
} glyph;

static glyph next_glyph(const char *text, size_t len, bool utf8)
{
	uint32_t code;
	size_t n = utf8_decode(text, len, &code);

	if (n == 0)
		return (glyph){ 1, 1, false };
	if (utf8_is_control(code) || (!utf8 && code >= 0x80))
		return (glyph){ n, 1, false };
	return (glyph){ n, utf8_columns(code), true };
}

static unsigned columns_upto(const char *text, size_t len, unsigned max, bool utf8)
{
	unsigned columns = 0;

	for (size_t i = 0; i < len && columns <= max;) {
		glyph g = next_glyph(text + i, len - i, utf8);

		columns += g.columns;
		i += g.n_bytes;
	}
	return columns;
}

unsigned screen_columnsn(const char *text, size_t len, bool utf8)
{
	return columns_upto(text, len, UINT_MAX, utf8);
}

/* Bytes that so many columns take, and some that combine with them. */
static size_t bytes_of(unsigned columns)
{
	return (size_t)columns * 16 + 64;
}

unsigned screen_columns_upto(const char *text, unsigned max, bool utf8)
{
	return columns_upto(text, strlen(text), max, utf8);
}

unsigned screen_columns(const char *text, bool utf8)
{
	return screen_columnsn(text, strlen(text), utf8);
}

unsigned screen_putn(FILE *out, const char *text, size_t len, bool utf8)
{
	unsigned columns = 0;

	for (size_t i = 0; i < len;) {
		glyph g = next_glyph(text + i, len - i, utf8);

		if (g.safe)
			fwrite(text + i, 1, g.n_bytes, out);
		else
			fputc('?', out);
		columns += g.columns;
		i += g.n_bytes;
	}
	return columns;
}

unsigned screen_put(FILE *out, const char *text, bool utf8)
{
	return screen_putn(out, text, strlen(text), utf8);
}

/* Bytes of the longest head that fits into max columns. */
static size_t head_of(const char *text, size_t len, unsigned max, bool utf8)
{
	size_t i = 0;

	for (unsigned columns = 0; i < len;) {
		glyph g = next_glyph(text + i, len - i, utf8);

		columns += g.columns;
		if (columns > max)
			break;
		i += g.n_bytes;
	}
	return i;
}

/* Where to begin to look for the last columns of a text: behind the head or, of a long one, close to the end. */
static size_t tail_from(const char *text, size_t head, size_t len, unsigned columns)
{
	size_t tail = len - head > bytes_of(columns) ? len - bytes_of(columns) : head;

	while (tail > head && tail < len && (text[tail] & 0xc0) == 0x80) /* not into the middle of a character */
		tail++;
	return tail;
}

unsigned screen_put_cut(FILE *out, const char *text, unsigned max, bool utf8)
{
	return screen_put_cutn(out, text, strlen(text), max, utf8);
}

unsigned screen_put_cutn(FILE *out, const char *text, size_t len, unsigned max, bool utf8)
{
	const char *dots = utf8 ? "\u2026" : "..";
	unsigned columns = columns_upto(text, len, max, utf8), room = utf8 ? 1 : 2;

	if (columns <= max)
		return screen_putn(out, text, len, utf8);
	if (max <= room)
		return screen_putn(out, text, head_of(text, len, max, utf8), utf8);
	unsigned before = (max - room + 1) / 2, after = max - room - before;
	size_t head = head_of(text, len, before, utf8), tail = tail_from(text, head, len, after);
	unsigned taken = screen_putn(out, text, head, utf8);
	for (unsigned left = screen_columnsn(text + tail, len - tail, utf8); tail < len;) {
		glyph g = next_glyph(text + tail, len - tail, utf8);

		if (left <= after && g.columns > 0) /* what combines goes with what it combines with */
			break;
		left -= g.columns;
		tail += g.n_bytes;
	}
	fputs(dots, out);
	return taken + room + screen_putn(out, text + tail, len - tail, utf8);
}

void screen_pad(FILE *out, unsigned n)
{
	while (n--)
		fputc(' ', out);
}
