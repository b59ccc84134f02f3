/* Text and markup of a page; see html.h. */
#include "present/html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

void page_raw(page *p, const char *markup)
{
	fputs(markup, p->out);
	p->n_bytes += strlen(markup);
}

void page_format(page *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vfprintf(p->out, format, args);
	va_end(args);
	p->n_bytes += n > 0 ? (size_t)n : 0;
}

bool page_is_full(const page *p)
{
	return p->n_bytes >= PAGE_BUDGET;
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

void page_table_title(page *p, const table *t)
{
	char words[PAGE_NAME + 1];

	if (t->title) {
		page_text(p, t->title, PAGE_NAME);
		return;
	}
	snprintf(words, sizeof words, "%s", t->key);
	for (char *at = words; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	if (words[0] >= 'a' && words[0] <= 'z')
		words[0] = (char)(words[0] - 'a' + 'A');
	page_text(p, words, PAGE_NAME);
}

void page_bar(page *p, const char *class_name, double share)
{
	double width = share > 0 ? fmin(share, 1) * 100 : 0;

	page_format(p,
		    "<svg class=\"%s\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		    "<rect class=\"rest\" width=\"100\" height=\"8\"/><rect class=\"part\" width=\"%.2f\" "
		    "height=\"8\"/></svg>",
		    class_name, width);
}
