/* See csv_write.h. */
#include "base/csv_write.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f || text[i] == '"' || text[i] == ',')
			return false;
	return true;
}

static void put_clean(FILE *out, const char *text, size_t len)
{
	while (len > 0) {
		uint32_t code = 0;
		size_t n = utf8_decode(text, len, &code);
		bool is_space = code == '\t' || code == '\n' || code == '\r';

		if (n == 0 || (utf8_is_control(code) && !is_space))
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(text, 1, n, out);
		if (code == '"')
			fputc('"', out);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
}

static bool has_any(const char *text, size_t len, const char *set)
{
	for (; *set; set++)
		if (memchr(text, *set, len))
			return true;
	return false;
}

static bool looks_like_formula(const char *text, size_t len)
{
	return len && text[0] && strchr("=+-@\t\r", text[0]);
}

void csv_put(FILE *out, const char *text, size_t len)
{
	bool is_formula = looks_like_formula(text, len);
	bool is_quoted = is_formula || (len && text[0] == ' ') || has_any(text, len, ",\"\r\n");

	if (is_quoted)
		fputc('"', out);
	if (is_formula)
		fputc('\'', out);
	if (is_plain(text, len))
		fwrite(text, 1, len, out);
	else
		put_clean(out, text, len);
	if (is_quoted)
		fputc('"', out);
}

void csv_put_texts(FILE *out, const char *const *texts, size_t n, const char *between)
{
	if (n == 0)
		return;
	fputc('"', out);
	if (looks_like_formula(texts[0], strlen(texts[0])))
		fputc('\'', out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? between : "", out);
		put_clean(out, texts[i], strlen(texts[i]));
	}
	fputc('"', out);
}
