/*
 * Records of arguments, from a reader into the builder. See chrome/apply.h.
 *
 * Whether a gap's values are kept as numbers or as texts is decided here, in the order of the file: numbers until the
 * first text comes, texts from then on. Readers decide for themselves, by what each of them happened to see; their
 * templates that differ in nothing else are a family, and become the same template of the builder.
 */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Families ---------------------------------------------------------------------------------------------------- */

/* Everything of a template but its kinds, as bytes; zeros follow. NULL when out of memory. */
static uint8_t *describe(const args_template *t, size_t *ret_len)
{
	size_t len = 8;

	for (uint32_t i = 0; i <= t->n_gaps; i++)
		len += 4 + t->pieces[i].len;
	uint8_t *bytes = calloc(1, len + 16), *at = bytes;
	if (!bytes)
		return NULL;
	memcpy(at, &t->n_gaps, 4);
	memcpy(at + 4, &t->n_args_pieces, 4);
	at += 8;
	for (uint32_t i = 0; i <= t->n_gaps; i++) {
		memcpy(at, &t->pieces[i].len, 4);
		memcpy(at + 4, t->pieces[i].text, t->pieces[i].len);
		at += 4 + t->pieces[i].len;
	}
	*ret_len = len;
	return bytes;
}

/* Members beside the args are texts from the start. */
static void init_family(chrome_family *f, const args_template *t)
{
	for (uint32_t i = 0; i < t->n_gaps; i++)
		f->kinds[i] = i >= t->n_args_pieces ? ARG_TEXT : ARG_INT;
	f->template = CHROME_NONE;
}

static bool find_family(chrome_apply *a, const chrome_reader *r, chrome_template *t)
{
	size_t len;
	bool is_new;
	uint8_t *bytes = describe(&t->shape, &len);

	if (!bytes)
		return false;
	if (!a->families.n)
		a->seed = r->seed;
	t->family = dict_find(&a->family_names, bytes, len, 0, text_hash(bytes, len, a->seed), &is_new);
	free(bytes);
	if (t->family == CHROME_NONE)
		return false;
	chrome_family *f = is_new ? VEC_ADD(&a->families) : NULL;
	if (f)
		init_family(f, &t->shape);
	if (f && t->shape.n_args_pieces)
		chrome_roles_put(a->b, t->keys, t->shape.n_args_pieces - 1);
	return f || !is_new;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The family has the kinds of the reader's template. */
static uint32_t take_values(builder *b, const chrome_family *f, const chrome_layout *layout, const chrome_template *t,
			    const int64_t *from)
{
	int64_t values[ARGS_GAPS_MAX];

	if (__builtin_expect(layout->in_order, 1))
		return builder_args_at(b, f->template, from);
	for (uint32_t i = 0; i < t->shape.n_gaps; i++)
		values[i] = i == layout->separator ? 0 : from[layout->order[i]];
	return builder_args_at(b, f->template, values);
}

/* A value as the family keeps it; a text where it keeps numbers makes it keep texts. */
static int64_t convert(chrome_family *f, builder *b, chrome_reader *r, uint32_t gap, arg_kind kind, int64_t value)
{
	const pool_text *text = kind == ARG_TEXT ? text_at(r->texts, (uint32_t)value) : NULL;
	int64_t number;
	char digits[24];

	if (f->kinds[gap] == ARG_INT) {
		if (!text)
			return value;
		if (chrome_is_int(text->text, text->len, &number))
			return number;
		f->kinds[gap] = ARG_TEXT;
		f->template = CHROME_NONE;
	}
	if (text)
		return builder_arg_text_at(b, (text_ref)value);
	int len = snprintf(digits, sizeof digits, "%" PRId64, value);
	return builder_arg_text(b, digits, (size_t)len);
}

/* The same where they differ; the family may change, and the reader learns. */
static void convert_values(chrome_family *f, builder *b, chrome_reader *r, const chrome_layout *layout,
			   chrome_template *t, const int64_t *from, int64_t *values)
{
	for (uint32_t i = 0; i < t->shape.n_gaps; i++)
		values[i] = i == layout->separator
				    ? 0
				    : convert(f, b, r, i, (arg_kind)t->shape.kinds[i], from[layout->order[i]]);
	if (f->template == CHROME_NONE) {
		args_template shape = t->shape;
		shape.kinds = f->kinds;
		f->template = builder_template(b, &shape);
		f->version++;
	}
	t->version = memcmp(f->kinds, t->shape.kinds, t->shape.n_gaps) == 0 ? f->version : 0;
	for (uint32_t i = 0; i < t->shape.n_gaps && t->told != f->version; i++)
		if (i != layout->separator && f->kinds[i] == ARG_TEXT && t->shape.kinds[i] == ARG_INT)
			chrome_keep_text(r, &t->shape, i);
	t->told = f->version;
}

static uint32_t add_record(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	const chrome_layout *layout = &r->layouts.items[e->layout];
	const int64_t *from = b->values.items + e->values;
	int64_t values[ARGS_GAPS_MAX];
	chrome_template *t = &r->templates.items[layout->template];
	if (t->family == CHROME_NONE && !find_family(a, r, t)) {
		a->failed = true;
		return 0;
	}
	chrome_family *f = &a->families.items[t->family];
	if (__builtin_expect(t->version && t->version == f->version, 1))
		return take_values(a->b, f, layout, t, from);
	convert_values(f, a->b, r, layout, t, from, values);
	return builder_args(a->b, f->template, values);
}

uint32_t apply_args(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t template = r->layouts.items[e->layout].template;

	if (template == CHROME_NONE)
		return 0;
	const chrome_fact_gaps *facts = &r->templates.items[template].facts;
	uint32_t args = add_record(a, r, b, e);
	if (__builtin_expect(args && (facts->kinds || facts->is_whole), 0))
		apply_facts(a, r, b, e, args);
	return args;
}
