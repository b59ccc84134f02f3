/*
 * One key of all argument records (args.h) in one pass. See index/sections.h.
 *
 * Of a record only what is wanted is decoded; the rest is skipped, number by number, because nothing else tells where
 * the next record begins.
 *
 * Up to MANY_RECORDS all values are kept. Of more, which would take 9 bytes each, blocks of records are read as they
 * are asked for; slices that are looked at in order have records that lie in order, or nearly so, so the last blocks
 * do.
 */
#include "store/index/args.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/search.h"
#include "base/vec.h"
#include "base/varint.h"
#include "store/index/image.h"

enum { COLUMNS_MAX_READ = 8, MANY_RECORDS = 1 << 20, BLOCKS_KEPT = 256, RELEASE_BLOCKS = 1024 };

/* A value that is wanted of a template: its gap, and the column it goes to. */
typedef struct column_gap {
	uint32_t gap;
	uint8_t column, kind;
	int64_t last; /* of ARG_INT, within the block */
} column_gap;

/* What is wanted of a template, worked out when it is first met. */
typedef struct template_columns {
	uint32_t n_gaps;
	uint32_t n;    /* of wanted, which are in the order of gaps */
	uint64_t pass; /* over a block */
	column_gap wanted[COLUMNS_MAX_READ];
} template_columns;

typedef struct columns_reader {
	const sonde_index *ix;
	args_reader *templates_of;
	args_column *columns;
	size_t n;
	bool in_blocks; /* reads what is not rare; else only that is left out which has no room for its values */
	int64_t *values[COLUMNS_MAX_READ]; /* where those that are not rare go, of the record `first` and those behind
					      it */
	uint8_t *kinds[COLUMNS_MAX_READ];
	uint64_t first, pass;
	VEC(template_columns) templates;
	bool failed; /* no memory */
} columns_reader;

struct args_blocks {
	columns_reader reader;
	args_column columns[COLUMNS_MAX_READ]; /* their keys */
	uint32_t *slot_of;		       /* by block; UINT32_MAX: it is not there */
	uint64_t block_in[BLOCKS_KEPT];	       /* UINT64_MAX: none */
	size_t next, n_filled;		       /* slot to use; how often one was */
	int64_t *values;		       /* ARGS_RECORDS of each column in each slot */
	uint8_t *kinds;
};

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
	*to = (template_columns){ .n_gaps = t.n_gaps };
	for (size_t i = 0; i < c->n; i++) {
		bool is_read = c->in_blocks ? !c->columns[i].is_rare : c->columns[i].is_rare || c->values[i];
		int gap = is_read && c->columns[i].key ? gap_of(&t, c->columns[i].key) : -1;
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
		c->values[of->column][record - c->first] = (int64_t)number;
		c->kinds[of->column][record - c->first] = kind;
		return;
	}
	args_value *added = VEC_ADD(&to->rare);
	if (added)
		*added = (args_value){ (int64_t)number, (uint32_t)record, kind };
	else
		c->failed = true;
}

/* The first record of the template in a block counts from 0. */
static void start_block(template_columns *t, uint64_t pass)
{
	t->pass = pass;
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
	if (t->pass != c->pass)
		start_block(t, c->pass);
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
	const uint8_t *bytes = c->ix->data[SECTION_ARGS];
	uint64_t from, to, record = block * ARGS_RECORDS;
	uint64_t end = n_records - record < ARGS_RECORDS ? n_records : record + ARGS_RECORDS;

	c->pass++;
	if (!image_offsets(c->ix, SECTION_ARG_BLOCKS, SECTION_ARGS, block, &from, &to) ||
	    !image_use(c->ix, SECTION_ARGS, from, to - from))
		return;
	for (const uint8_t *at = bytes + from; at && record < end; record++)
		at = read_record(c, at, bytes + to, record);
}

/* ---- Blocks of many ---------------------------------------------------------------------------------------------- */

static void blocks_free(struct args_blocks *b)
{
	if (!b)
		return;
	args_reader_free(b->reader.templates_of);
	VEC_DONE(&b->reader.templates);
	free(b->slot_of);
	free(b->values);
	free(b->kinds);
	free(b);
}

/* NULL when out of memory. Templates are looked at now, so that nothing can fail later. */
static struct args_blocks *blocks_new(const sonde_index *ix, const args_column *wanted, size_t n)
{
	struct args_blocks *b = calloc(1, sizeof *b);
	uint64_t n_blocks = divided_up(ix->sections[SECTION_ARGS].n_rows, ARGS_RECORDS);

	if (!b)
		return NULL;
	for (size_t i = 0; i < n; i++)
		b->columns[i] = (args_column){ .key = wanted[i].key, .is_rare = wanted[i].is_rare };
	b->reader = (columns_reader){
		.ix = ix, .templates_of = args_reader_new(ix), .columns = b->columns, .n = n, .in_blocks = true
	};
	memset(b->block_in, 0xff, sizeof b->block_in);
	b->slot_of = malloc((n_blocks + 1) * sizeof *b->slot_of);
	b->values = malloc(BLOCKS_KEPT * n * ARGS_RECORDS * sizeof *b->values);
	b->kinds = malloc(BLOCKS_KEPT * n * ARGS_RECORDS);
	bool ok = b->reader.templates_of && b->slot_of && b->values && b->kinds;
	if (ok)
		memset(b->slot_of, 0xff, (n_blocks + 1) * sizeof *b->slot_of);
	while (ok && add_template(&b->reader))
		;
	if (ok && !b->reader.failed)
		return b;
	blocks_free(b);
	return NULL;
}

/* Reads the block to a slot: the one that was filled first. */
static uint32_t blocks_fill(struct args_blocks *b, uint64_t block)
{
	columns_reader *c = &b->reader;
	size_t slot = b->next;

	b->next = (slot + 1) % BLOCKS_KEPT;
	if (b->block_in[slot] != UINT64_MAX)
		b->slot_of[b->block_in[slot]] = UINT32_MAX;
	b->block_in[slot] = block;
	b->slot_of[block] = (uint32_t)slot;
	c->first = block * ARGS_RECORDS;
	for (size_t i = 0; i < c->n; i++) {
		c->values[i] = b->values + (slot * c->n + i) * ARGS_RECORDS;
		c->kinds[i] = b->kinds + (slot * c->n + i) * ARGS_RECORDS;
		memset(c->kinds[i], ARGS_MISSING, ARGS_RECORDS);
	}
	if (++b->n_filled % RELEASE_BLOCKS == 0)
		index_release_pages(c->ix);
	read_block(c, block, c->ix->sections[SECTION_ARGS].n_rows);
	return (uint32_t)slot;
}

static args_value blocks_value(struct args_blocks *b, size_t place, uint32_t record)
{
	uint32_t slot = b->slot_of[record / ARGS_RECORDS];

	if (slot == UINT32_MAX)
		slot = blocks_fill(b, record / ARGS_RECORDS);
	size_t at = (slot * b->reader.n + place) * ARGS_RECORDS + record % ARGS_RECORDS;
	return (args_value){ b->values[at], record, b->kinds[at] };
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static bool make_room(columns_reader *c, args_column *wanted, uint64_t n_records)
{
	bool has_many = n_records > MANY_RECORDS, ok = true;
	struct args_blocks *blocks = NULL;

	for (size_t i = 0; ok && i < c->n; i++) {
		args_column *to = &wanted[i];
		if (to->is_rare)
			continue;
		if (has_many) {
			blocks = blocks ? blocks : blocks_new(c->ix, wanted, c->n);
			to->blocks = blocks;
			to->place = i;
			ok = blocks != NULL;
			continue;
		}
		c->values[i] = to->values = calloc(n_records + 1, sizeof *to->values);
		c->kinds[i] = to->kinds = calloc(n_records + 1, sizeof *to->kinds);
		ok = to->values && to->kinds;
	}
	return ok;
}

bool args_columns_read(const sonde_index *ix, args_column *wanted, size_t n)
{
	uint64_t n_records = ix->sections[SECTION_ARGS].n_rows;
	columns_reader c = { .ix = ix, .templates_of = args_reader_new(ix), .columns = wanted, .n = n };
	bool reads_all = n_records <= MANY_RECORDS;

	assert(n <= COLUMNS_MAX_READ);
	for (size_t i = 0; i < n; i++) {
		reads_all |= wanted[i].is_rare;
		if (wanted[i].role != ROLE_NONE)
			wanted[i].key = index_role_key(ix, wanted[i].role);
	}
	c.failed = !c.templates_of || !make_room(&c, wanted, n_records);
	for (uint64_t block = 0; reads_all && !c.failed && block * ARGS_RECORDS < n_records; block++) {
		read_block(&c, block, n_records);
		if (block % RELEASE_BLOCKS == RELEASE_BLOCKS - 1)
			index_release_pages(ix);
	}
	args_reader_free(c.templates_of);
	VEC_DONE(&c.templates);
	if (c.failed)
		args_columns_done(wanted, n);
	return !c.failed;
}

void args_columns_done(args_column *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct args_blocks *blocks = wanted[i].blocks;
		VEC_DONE(&wanted[i].rare);
		free(wanted[i].values);
		free(wanted[i].kinds);
		wanted[i].values = NULL;
		wanted[i].kinds = NULL;
		for (size_t k = i; blocks && k < n; k++)
			wanted[k].blocks = wanted[k].blocks == blocks ? NULL : wanted[k].blocks;
		blocks_free(blocks);
	}
}

/* Records were read in order. */
static args_value find_rare(const args_column *c, uint32_t record)
{
	size_t at = FIRST_NOT(i, 0, c->rare.n, c->rare.items[i].record < record);

	return at < c->rare.n && c->rare.items[at].record == record ? c->rare.items[at] : (args_value){ 0 };
}

args_value args_column_value(const sonde_index *ix, const args_column *c, uint32_t args)
{
	if (!args || args > ix->sections[SECTION_ARGS].n_rows)
		return (args_value){ 0 };
	if (c->is_rare)
		return find_rare(c, args - 1);
	return c->blocks ? blocks_value(c->blocks, c->place, args - 1)
			 : (args_value){ c->values[args - 1], args - 1, c->kinds[args - 1] };
}

/* Of blocks: a template has the key, which is looked for without reading them. */
static bool blocks_have(const struct args_blocks *b, size_t place)
{
	for (size_t i = 0; i < b->reader.templates.n; i++)
		for (uint32_t k = 0; k < b->reader.templates.items[i].n; k++)
			if (b->reader.templates.items[i].wanted[k].column == place)
				return true;
	return false;
}

bool args_column_has_any(const sonde_index *ix, const args_column *c)
{
	uint64_t n = c->kinds ? ix->sections[SECTION_ARGS].n_rows : 0;

	if (c->blocks)
		return blocks_have(c->blocks, c->place);
	for (uint64_t i = 0; i < n; i++)
		if (c->kinds[i] != ARGS_MISSING)
			return true;
	return c->rare.n != 0;
}

static const char *text_of(const sonde_index *ix, args_value value, size_t *ret_len)
{
	return value.kind == ARGS_IS_TEXT ? args_text_at(ix, (uint64_t)value.value, ret_len) : NULL;
}

const char *args_column_text(const sonde_index *ix, const args_column *c, uint32_t args, size_t *ret_len)
{
	return text_of(ix, args_column_value(ix, c, args), ret_len);
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
	args_value found = args_column_value(ix, c, args);
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
	args_value found = args_column_value(ix, c, args);
	const char *json = text_of(ix, found, &len);

	if (!json)
		return found.kind == ARGS_IS_INT ? (double)found.value : otherwise;
	const char *text = number_text(json, len, buffer, sizeof buffer);
	double value = decimal_f64(text, &end);
	return *text && !*end ? value : otherwise;
}
