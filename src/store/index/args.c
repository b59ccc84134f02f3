/*
 * Reads argument records (args.h) out of an index and puts their text together again. See index/sections.h.
 *
 * A record can only be read after those before it in its block: the reader remembers where it is, so that reading on
 * costs one record, and reading back costs the block. Templates lie behind each other without a table of places; they
 * are found as they are needed.
 */
#include "store/index/args.h"

#include <stdlib.h>
#include <string.h>
#include "base/json_members.h"
#include "base/vec.h"
#include "base/varint.h"
#include "store/index/image.h"

/* A short record may name the same long text in every gap. */
enum { TEXT_MAX = 1 << 28 };

typedef struct template
{
	const uint8_t *pieces, *kinds;
	uint32_t n_gaps, n_args_pieces;
	size_t first_value; /* its values among those of all templates */
	uint64_t pass;	    /* over a block, to which the values belong */
}
template;

struct args_reader {
	const sonde_index *ix;
	VEC(template) templates; /* found so far */
	VEC(int64_t) values;	 /* the last ones of each */
	size_t next_template;	 /* place in the section */
	uint64_t pass;
	uint64_t block; /* UINT64_MAX: none */
	uint64_t next;	/* record at `at` */
	const uint8_t *at, *end;
	const template *current; /* of record next - 1; NULL: it was not read */
	int64_t gaps[ARGS_GAPS_MAX];
	char *text;
	size_t len, capacity;
};

args_reader *args_reader_new(const sonde_index *ix)
{
	args_reader *r = calloc(1, sizeof *r);

	if (r) {
		image_use(ix, SECTION_TEMPLATES, 0, ix->sections[SECTION_TEMPLATES].length);
		r->ix = ix;
		r->block = UINT64_MAX;
	}
	return r;
}

void args_reader_free(args_reader *r)
{
	if (!r)
		return;
	VEC_DONE(&r->templates);
	VEC_DONE(&r->values);
	free(r->text);
	free(r);
}

/* ---- Templates --------------------------------------------------------------------------------------------------- */

static const uint8_t *skip_pieces(const uint8_t *at, const uint8_t *end, uint64_t n)
{
	for (uint64_t len; n && at; n--) {
		at = varint_get(at, end, &len);
		if (at)
			at = len <= (uint64_t)(end - at) ? at + len : NULL;
	}
	return at;
}

/* Adds the next one. False at the end and where it is damaged: those behind it cannot be found. */
static bool add_template(args_reader *r)
{
	const uint8_t *start = r->ix->data[SECTION_TEMPLATES], *at, *end;
	uint64_t n_gaps, n_args_pieces;

	if (!start)
		return false;
	end = start + r->ix->sections[SECTION_TEMPLATES].length;
	at = varint_get(start + r->next_template, end, &n_gaps);
	at = at ? varint_get(at, end, &n_args_pieces) : NULL;
	if (!at || n_gaps > ARGS_GAPS_MAX || n_args_pieces > n_gaps + 1)
		return false;
	const uint8_t *kinds = skip_pieces(at, end, n_gaps + 1);
	if (!kinds || n_gaps > (uint64_t)(end - kinds))
		return false;
	template t = { at, kinds, (uint32_t)n_gaps, (uint32_t)n_args_pieces, r->values.n, 0 };
	template *added = VEC_ADD(&r->templates);
	bool sound = added != NULL;
	for (uint64_t i = 0; i < n_gaps && sound; i++)
		sound = kinds[i] <= ARG_TEXT && VEC_ADD(&r->values);
	if (!sound) {
		r->values.n = t.first_value;
		r->templates.n -= added ? 1 : 0;
		return false;
	}
	*added = t;
	r->next_template = (size_t)(kinds + n_gaps - start);
	return true;
}

static template *template_of(args_reader *r, uint64_t number)
{
	while (r->templates.n <= number)
		if (!add_template(r))
			return NULL;
	return &r->templates.items[number];
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static bool read_gaps(args_reader *r, template *t, const uint8_t *at)
{
	int64_t *last = t->n_gaps ? r->values.items + t->first_value : NULL;
	uint64_t number;

	if (t->pass != r->pass && t->n_gaps)
		memset(last, 0, t->n_gaps * sizeof *last);
	t->pass = r->pass;
	for (uint32_t i = 0; i < t->n_gaps; i++) {
		at = varint_get(at, r->end, &number);
		if (!at)
			return false;
		if (t->kinds[i] == ARG_INT)
			number = (uint64_t)(last[i] = (int64_t)((uint64_t)last[i] + (uint64_t)unzigzag(number)));
		r->gaps[i] = (int64_t)number;
	}
	r->at = at;
	r->current = t;
	return true;
}

static bool read_next(args_reader *r)
{
	uint64_t number;
	const uint8_t *at = varint_get(r->at, r->end, &number);
	template *t = at ? template_of(r, number) : NULL;

	r->current = NULL;
	if (!t || !read_gaps(r, t, at)) {
		r->block = UINT64_MAX;
		return false;
	}
	r->next++;
	return true;
}

static bool open_block(args_reader *r, uint64_t block)
{
	const uint8_t *bytes = r->ix->data[SECTION_ARGS];
	uint64_t from, to;

	r->block = UINT64_MAX;
	r->current = NULL;
	if (!image_offsets(r->ix, SECTION_ARG_BLOCKS, SECTION_ARGS, block, &from, &to) ||
	    !image_use(r->ix, SECTION_ARGS, from, to - from))
		return false;
	r->block = block;
	r->next = block * ARGS_RECORDS;
	r->at = bytes + from;
	r->end = bytes + to;
	r->pass++;
	return true;
}

/* Template and gaps of the record become the current ones. */
static bool seek_record(args_reader *r, uint64_t record)
{
	if (record >= r->ix->sections[SECTION_ARGS].n_rows)
		return false;
	if (r->current && record + 1 == r->next)
		return true;
	if ((r->block != record / ARGS_RECORDS || record < r->next) && !open_block(r, record / ARGS_RECORDS))
		return false;
	while (r->next <= record)
		if (!read_next(r))
			return false;
	return true;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool append(args_reader *r, const void *text, uint64_t len)
{
	if (len > TEXT_MAX - r->len)
		return false;
	if (r->len + len + 1 > r->capacity) {
		size_t more = 2 * (r->len + len) + 256;
		char *grown = realloc(r->text, more);
		if (!grown)
			return false;
		r->text = grown;
		r->capacity = more;
	}
	if (len)
		memcpy(r->text + r->len, text, len);
	r->len += len;
	r->text[r->len] = 0;
	return true;
}

static bool append_int(args_reader *r, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		digits[--at] = '-';
	return append(r, digits + at, sizeof digits - at);
}

const char *args_text_at(const sonde_index *ix, uint64_t number, size_t *ret_len)
{
	const char *bytes = ix->data[SECTION_ARG_TEXT_BYTES];
	uint64_t from, to;

	if (!image_offsets(ix, SECTION_ARG_TEXTS, SECTION_ARG_TEXT_BYTES, number, &from, &to) ||
	    !image_use(ix, SECTION_ARG_TEXT_BYTES, from, to - from))
		return NULL;
	*ret_len = to - from;
	return *ret_len ? bytes + from : "";
}

static bool append_text(args_reader *r, uint64_t number)
{
	size_t len;
	const char *text = args_text_at(r->ix, number, &len);

	return text && append(r, text, len);
}

/* The current record. *ret_args_len: where the args end and the extra members begin. */
static bool put_together(args_reader *r, size_t *ret_args_len)
{
	const template *t = r->current;
	const uint8_t *piece = t->pieces;

	r->len = *ret_args_len = 0;
	for (uint32_t i = 0; i <= t->n_gaps; i++) {
		uint64_t len;
		piece = varint_get(piece, t->kinds, &len); /* add_template has been there */
		if (!piece || !append(r, piece, len))
			return false;
		piece += len;
		if (i + 1 == t->n_args_pieces)
			*ret_args_len = r->len; /* and the gap is none of theirs */
		else if (i < t->n_gaps && t->kinds[i] == ARG_INT && !append_int(r, r->gaps[i]))
			return false;
		else if (i < t->n_gaps && t->kinds[i] == ARG_TEXT && !append_text(r, (uint64_t)r->gaps[i]))
			return false;
	}
	return true;
}

bool args_read(args_reader *r, uint32_t args, args_text *ret_text)
{
	size_t args_len;

	*ret_text = (args_text){ 0 };
	if (args == 0 || !seek_record(r, args - 1) || !put_together(r, &args_len))
		return false;
	if (r->current->n_args_pieces) {
		ret_text->args = r->text;
		ret_text->args_len = args_len;
	}
	if (r->current->n_args_pieces <= r->current->n_gaps) {
		ret_text->extra = r->text + args_len;
		ret_text->extra_len = r->len - args_len;
	}
	return true;
}

bool args_record(args_reader *r, uint32_t args, uint32_t *ret_template, const int64_t **ret_values)
{
	if (args == 0 || !seek_record(r, args - 1))
		return false;
	*ret_template = (uint32_t)(r->current - r->templates.items);
	*ret_values = r->gaps;
	return true;
}

bool args_template_at(args_reader *r, uint32_t number, args_piece *pieces, args_template *ret_template)
{
	const template *t = template_of(r, number);
	const uint8_t *at = t ? t->pieces : NULL;

	for (uint32_t i = 0; at && i <= t->n_gaps; i++) {
		uint64_t len;
		at = varint_get(at, t->kinds, &len);
		if (!at || len > UINT32_MAX)
			return false;
		pieces[i] = (args_piece){ (const char *)at, (uint32_t)len };
		at += len;
	}
	if (at)
		*ret_template = (args_template){ t->n_gaps, t->n_args_pieces, pieces, t->kinds };
	return at;
}

/* ---- Members of the object --------------------------------------------------------------------------------------- */

bool args_each(args_reader *r, uint32_t args, args_each_fn *each, void *context)
{
	args_text text;
	json_member m;

	if (!args_read(r, args, &text) || !text.args)
		return false;
	json_members members = json_members_of(text.args, text.args_len);
	while (members.is_object && json_next(&members, &m))
		each(context, m.key, m.key_len, m.value, m.len);
	return true;
}

/* Of several with the same key the last one counts, as JSON readers have it. */
bool args_get(args_reader *r, uint32_t args, const char *key, const char **ret_json, size_t *ret_len)
{
	args_text text;

	return args_read(r, args, &text) && text.args && json_get(text.args, text.args_len, key, ret_json, ret_len);
}
