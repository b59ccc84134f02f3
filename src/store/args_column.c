/*
 * One key of all argument records (args.h) in one pass. See index.h.
 *
 * Of a record only what is wanted is decoded; the rest is skipped, number by number, because nothing else tells where
 * the next record begins.
 */
#include "store/args.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/search.h"
#include "base/vec.h"
#include "format/varint.h"
#include "store/index_image.h"

enum { COLUMNS_MAX_READ = 8 };

/* A value that is wanted of a template: its gap, and the column it goes to. */
typedef struct column_gap {
	uint32_t gap;
	uint8_t column, kind;
	int64_t last; /* of ARG_INT, within the block */
} column_gap;

/* What is wanted of a template, worked out when it is first met. */
typedef struct template_columns {
	uint32_t n_gaps;
	uint32_t n; /* of wanted, which are in the order of gaps */
	uint64_t block;
	column_gap wanted[COLUMNS_MAX_READ];
} template_columns;

typedef struct columns_reader {
	const sonde_index *ix;
	args_reader *templates_of;
	args_column *columns;
	size_t n;
	VEC(template_columns) templates;
	bool failed; /* no memory */
} columns_reader;

/* ---- Templates --------------------------------------------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The piece before a gap ends with the key: `"key": `. */
static bool ends_with_key(args_piece piece, const char *key, size_t key_len)
{
	const char *end = piece.text + piece.len;

	while (end > piece.text && is_space(end[-1]))
		end--;
	end -= end > piece.text && end[-1] == ':';
	while (end > piece.text && is_space(end[-1]))
		end--;
	return (size_t)(end - piece.text) >= key_len + 2 && end[-1] == '"' && end[-2 - (ptrdiff_t)key_len] == '"' &&
	       memcmp(end - 1 - key_len, key, key_len) == 0;
}

/* Which gap of the template is the key's; its last one. -1: none. */
static int gap_of(const args_template *t, const char *key)
{
	size_t key_len = strlen(key);
	int found = -1;

	for (uint32_t i = 0; i < t->n_gaps && i + 1 < t->n_args_pieces; i++)
		if (ends_with_key(t->pieces[i], key, key_len))
			found = (int)i;
	return found;
}

static void want_gap(template_columns *t, column_gap gap)
{
	uint32_t at = t->n++;

	for (; at && t->wanted[at - 1].gap > gap.gap; at--)
		t->wanted[at] = t->wanted[at - 1];
	t->wanted[at] = gap;
}

static bool add_template(columns_reader *c)
{
	args_piece pieces[ARGS_GAPS_MAX + 1];
	args_template t;

	if (!args_template_at(c->templates_of, (uint32_t)c->templates.n, pieces, &t))
		return false;
	template_columns *to = VEC_ADD(&c->templates);
	c->failed = !to;
	if (!to)
		return false;
	*to = (template_columns){ .n_gaps = t.n_gaps, .block = UINT64_MAX };
	for (size_t i = 0; i < c->n; i++) {
		int gap = gap_of(&t, c->columns[i].key);
		if (gap >= 0)
			want_gap(to, (column_gap){ (uint32_t)gap, (uint8_t)i, t.kinds[gap], 0 });
	}
	return true;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void put_value(columns_reader *c, column_gap *of, uint64_t number, uint64_t record)
{
	args_column *to = &c->columns[of->column];

	if (of->kind == ARG_INT)
		number = (uint64_t)(of->last = (int64_t)((uint64_t)of->last + (uint64_t)unzigzag(number)));
	uint8_t kind = of->kind == ARG_INT ? ARGS_IS_INT : ARGS_IS_TEXT;
	if (!to->is_rare) {
		to->values[record] = (int64_t)number;
		to->kinds[record] = kind;
		return;
	}
	args_value *added = VEC_ADD(&to->rare);
	if (added)
		*added = (args_value){ (int64_t)number, (uint32_t)record, kind };
	else
		c->failed = true;
}

/* The first record of the template in a block counts from 0. */
static void start_block(template_columns *t, uint64_t block)
{
	t->block = block;
	for (uint32_t i = 0; i < t->n; i++)
		t->wanted[i].last = 0;
}

/* Returns the end of the record; NULL: it is damaged. */
static const uint8_t *read_record(columns_reader *c, const uint8_t *at, const uint8_t *end, uint64_t record)
{
	uint64_t number;
	uint32_t gap = 0;

	at = varint_get(at, end, &number);
	if (!at)
		return NULL;
	while (c->templates.n <= number)
		if (!add_template(c))
			return NULL;
	template_columns *t = &c->templates.items[number];
	if (t->block != record / ARGS_RECORDS)
		start_block(t, record / ARGS_RECORDS);
	for (uint32_t i = 0; i < t->n; gap = t->wanted[i++].gap + 1) {
		at = varint_skip(at, end, t->wanted[i].gap - gap);
		at = at ? varint_get(at, end, &number) : NULL;
		if (!at)
			return NULL;
		put_value(c, &t->wanted[i], number, record);
	}
	return varint_skip(at, end, t->n_gaps - gap);
}

/* What is behind a damaged record in its block is lost too. */
static void read_block(columns_reader *c, uint64_t block, uint64_t n_records)
{
	const uint64_t *offsets = c->ix->data[SECTION_ARG_BLOCKS];
	const uint8_t *bytes = c->ix->data[SECTION_ARGS];
	uint64_t from = offsets[block], to = offsets[block + 1], record = block * ARGS_RECORDS;
	uint64_t end = n_records - record < ARGS_RECORDS ? n_records : record + ARGS_RECORDS;

	if (from > to || to > c->ix->sections[SECTION_ARGS].length)
		return;
	for (const uint8_t *at = bytes + from; at && record < end; record++)
		at = read_record(c, at, bytes + to, record);
}

bool args_columns_read(const sonde_index *ix, args_column *wanted, size_t n)
{
	uint64_t n_records = ix->sections[SECTION_ARGS].n_rows;
	columns_reader c = { .ix = ix, .templates_of = args_reader_new(ix), .columns = wanted, .n = n };

	assert(n <= COLUMNS_MAX_READ);
	c.failed = !c.templates_of;
	for (size_t i = 0; i < n; i++) {
		if (wanted[i].is_rare)
			continue;
		wanted[i].values = calloc(n_records + 1, sizeof *wanted[i].values);
		wanted[i].kinds = calloc(n_records + 1, sizeof *wanted[i].kinds);
		c.failed |= !wanted[i].values || !wanted[i].kinds;
	}
	for (uint64_t block = 0; !c.failed && block * ARGS_RECORDS < n_records; block++)
		read_block(&c, block, n_records);
	args_reader_free(c.templates_of);
	VEC_DONE(&c.templates);
	if (c.failed)
		args_columns_done(wanted, n);
	return !c.failed;
}

void args_columns_done(args_column *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		VEC_DONE(&wanted[i].rare);
		free(wanted[i].values);
		free(wanted[i].kinds);
		wanted[i].values = NULL;
		wanted[i].kinds = NULL;
	}
}

/* Records were read in order. */
static args_value find_rare(const args_column *c, uint32_t record)
{
	size_t at = FIRST_NOT(i, 0, c->rare.n, c->rare.items[i].record < record);

	return at < c->rare.n && c->rare.items[at].record == record ? c->rare.items[at] : (args_value){ 0 };
}

static args_value column_value(const sonde_index *ix, const args_column *c, uint32_t args)
{
	if (!args || args > ix->sections[SECTION_ARGS].n_rows)
		return (args_value){ 0 };
	return c->is_rare ? find_rare(c, args - 1) : (args_value){ c->values[args - 1], args - 1, c->kinds[args - 1] };
}

static const char *text_of(const sonde_index *ix, args_value value, size_t *ret_len)
{
	const uint64_t *offsets = ix->data[SECTION_ARG_TEXTS];

	if (value.kind != ARGS_IS_TEXT)
		return NULL;
	uint64_t number = (uint64_t)value.value;
	if (number >= ix->sections[SECTION_ARG_TEXTS].n_rows || offsets[number] > offsets[number + 1] ||
	    offsets[number + 1] > ix->sections[SECTION_ARG_TEXT_BYTES].length)
		return NULL;
	*ret_len = offsets[number + 1] - offsets[number];
	return (const char *)ix->data[SECTION_ARG_TEXT_BYTES] + offsets[number];
}

const char *args_column_text(const sonde_index *ix, const args_column *c, uint32_t args, size_t *ret_len)
{
	return text_of(ix, column_value(ix, c, args), ret_len);
}

/* A text without its quotes, terminated; "" when it is too long for a number. */
static const char *number_text(const char *json, size_t len, char *to, size_t size)
{
	bool quoted = len >= 2 && json[0] == '"';

	json += quoted;
	len -= 2 * (size_t)quoted;
	if (len >= size)
		len = 0;
	memcpy(to, json, len);
	to[len] = 0;
	return to;
}

int64_t args_column_int(const sonde_index *ix, const args_column *c, uint32_t args, int64_t otherwise)
{
	char buffer[64];
	size_t len;
	int64_t value;
	args_value found = column_value(ix, c, args);
	const char *json = text_of(ix, found, &len);

	if (!json)
		return found.kind == ARGS_IS_INT ? found.value : otherwise;
	const char *text = number_text(json, len, buffer, sizeof buffer);
	return decimal_scaled(text, strlen(text), 0, &value) == DECIMAL_EXACT ? value : otherwise;
}

double args_column_f64(const sonde_index *ix, const args_column *c, uint32_t args, double otherwise)
{
	char buffer[64], *end;
	size_t len;
	args_value found = column_value(ix, c, args);
	const char *json = text_of(ix, found, &len);

	if (!json)
		return found.kind == ARGS_IS_INT ? (double)found.value : otherwise;
	const char *text = number_text(json, len, buffer, sizeof buffer);
	double value = decimal_f64(text, &end);
	return *text && !*end ? value : otherwise;
}
