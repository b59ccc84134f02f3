/* Arguments of Chrome's events, looked at. See chrome/apply.h. */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/decimal.h"

void apply_text(chrome_apply *a, const void *text, size_t len)
{
	if (apply_room(a, len)) {
		memcpy(a->text.items + a->text.n, text, len);
		a->text.n += len;
	}
}

void apply_assemble(chrome_apply *a, const chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	const chrome_layout *layout = &r->layouts.items[e->layout];

	a->text.n = 0;
	if (layout->template == CHROME_NONE)
		return;
	const args_template *t = &r->templates.items[layout->template].shape;
	for (uint32_t i = 0; i < t->n_args_pieces; i++) {
		apply_text(a, t->pieces[i].text, t->pieces[i].len);
		if (i + 1 == t->n_args_pieces)
			break;
		int64_t value = b->values.items[e->values + layout->order[i]];
		char number[24];
		const pool_text *text = t->kinds[i] == ARG_TEXT ? text_at(r->texts, (uint32_t)value) : NULL;
		int len = text ? 0 : snprintf(number, sizeof number, "%" PRId64, value);
		apply_text(a, text ? (const char *)text->text : number, text ? text->len : (size_t)len);
	}
}

chrome_arg apply_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, uint32_t gap)
{
	const chrome_layout *layout = &r->layouts.items[e->layout];
	int64_t value = b->values.items[e->values + layout->order[gap]];

	if (r->templates.items[layout->template].shape.kinds[gap] == ARG_INT)
		return (chrome_arg){ .is_int = true, .number = value };
	const pool_text *text = text_at(r->texts, (uint32_t)value);
	bool quoted = text->len >= 2 && text->text[0] == '"';
	if (!quoted && chrome_is_int(text->text, text->len, &value)) /* elsewhere that key has texts */
		return (chrome_arg){ .is_int = true, .number = value };
	return (chrome_arg){ .text = text->text + quoted, .len = text->len - 2 * (size_t)quoted };
}

uint32_t apply_n_args(const chrome_reader *r, const chrome_event *e)
{
	uint32_t template = r->layouts.items[e->layout].template;

	if (template == CHROME_NONE || !r->templates.items[template].shape.n_args_pieces)
		return 0;
	return r->templates.items[template].shape.n_args_pieces - 1;
}

bool apply_find_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, const char *key,
		    chrome_arg *ret_arg)
{
	uint32_t n = apply_n_args(r, e);

	for (uint32_t i = n; i > 0; i--) { /* of several with the same key the last one counts */
		const args_piece *k = &r->templates.items[r->layouts.items[e->layout].template].keys[i - 1];
		if (k->len == strlen(key) && memcmp(k->text, key, k->len) == 0) {
			*ret_arg = apply_arg(r, b, e, i - 1);
			return true;
		}
	}
	return false;
}

static int64_t int_of(chrome_arg found, int64_t otherwise)
{
	int64_t value;

	if (found.is_int)
		return found.number;
	decimal_status status = decimal_scaled((const char *)found.text, found.len, 0, &value);
	if (status == DECIMAL_RANGE && found.text[0] != '-') {
		/* Addresses go beyond int64_t. */
		char text[32];
		snprintf(text, sizeof text, "%.*s", (int)found.len, (const char *)found.text);
		return (int64_t)strtoull(text, NULL, 10);
	}
	return status == DECIMAL_BAD ? otherwise : value;
}

int64_t apply_int_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, const char *key,
		      int64_t otherwise)
{
	chrome_arg found;

	return apply_find_arg(r, b, e, key, &found) ? int_of(found, otherwise) : otherwise;
}

int64_t apply_int_gap(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, int16_t gap,
		      int64_t otherwise)
{
	return gap < 0 ? otherwise : int_of(apply_arg(r, b, e, (uint32_t)gap), otherwise);
}
