/* Text and markup of a page; see html.h. */
#include "present/html.h"

#include <string.h>

#include "base/utf8.h"

void page_raw(page *p, const char *markup)
{
	fputs(markup, p->out);
	p->n_bytes += strlen(markup);
}

/* What HTML could act on, in text and in attributes in any quotes. */
static const char *entity(uint32_t code)
{
	switch (code) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '`':
		return "&#96;";
	case '\n':
	case '\r':
	case '\t':
		return " ";
	}
	return NULL;
}

static size_t put_character(page *p, const char *at, size_t len)
{
	uint32_t code = 0;
	size_t n = utf8_decode(at, len, &code);
	const char *replaced = n ? entity(code) : NULL;

	if (replaced)
		page_raw(p, replaced);
	else if (n == 0 || utf8_is_control(code))
		page_raw(p, "\xef\xbf\xbd");
	else
		p->n_bytes += fwrite(at, 1, n, p->out);
	return n ? n : 1;
}

void page_text(page *p, const char *text, size_t max)
{
	size_t len = strlen(text), half = len > max ? max / 2 : len;
	const char *at = text, *end = text + len, *tail = len > max ? end - half : end;

	while (at < text + half)
		at += put_character(p, at, (size_t)(end - at));
	while (tail < end && (*tail & 0xc0) == 0x80) /* not into the middle of a character */
		tail++;
	if (len > max)
		page_raw(p, "\u2026");
	while (tail < end)
		tail += put_character(p, tail, (size_t)(end - tail));
}
