/*
 * Templates, texts and records of arguments; see args.h for what they look like.
 *
 * Templates and texts are interned. Records go straight to their final bytes: the values of a template's last record
 * in the block are kept beside it, to write differences.
 */
#include "base/varint.h"
#include "store/build/builder_state.h"

/* What records of a template need. */
typedef struct args_state {
	uint64_t first_value; /* in args_writer.values */
	uint32_t block;	      /* + 1: of its last record */
	uint16_t n_gaps;
	uint8_t kinds[ARGS_GAPS_MAX];
} args_state;

static bool put(bulk *to, const void *bytes, size_t len)
{
	void *at = bulk_add(to, len);

	if (at && len)
		memcpy(at, bytes, len);
	return at;
}

static bool put_varint(bulk *to, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	return put(to, bytes, (size_t)(varint_put(bytes, value) - bytes));
}

static bool encode(bulk *to, const args_template *t)
{
	bool ok = put_varint(to, t->n_gaps) && put_varint(to, t->n_args_pieces);

	for (uint32_t i = 0; ok && i <= t->n_gaps; i++)
		ok = put_varint(to, t->pieces[i].len) && put(to, t->pieces[i].text, t->pieces[i].len);
	return ok && (!t->n_gaps || put(to, t->kinds, t->n_gaps));
}

/* Zeroed places for the values of a new template. */
static bool add_state(args_writer *w, const args_template *t)
{
	args_state *state = VEC_ADD(&w->states);

	if (!state)
		return false;
	if (!t->n_gaps)
		return true;
	int64_t *values = bulk_add(&w->values, t->n_gaps * sizeof *values);
	if (!values)
		return false;
	memset(values, 0, t->n_gaps * sizeof *values);
	memcpy(state->kinds, t->kinds, t->n_gaps);
	state->n_gaps = (uint16_t)t->n_gaps;
	state->first_value = w->values.n / sizeof *values - t->n_gaps;
	return true;
}

uint32_t builder_template(builder *b, const args_template *t)
{
	args_writer *w = &b->args;
	bulk encoded = { 0 };
	uint32_t number = INTERN_NONE, n = w->templates.n;

	if (t->n_gaps > ARGS_GAPS_MAX || t->n_args_pieces > t->n_gaps + 1) {
		builder_fail(b, SONDE_E_USAGE, "a template with too many gaps");
		return 0;
	}
	if (encode(&encoded, t))
		number = intern(&w->templates, (const char *)encoded.bytes, encoded.n);
	bulk_done(&encoded);
	if (number == INTERN_NONE || (number == n && !add_state(w, t))) {
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
		return 0;
	}
	return number;
}

uint32_t builder_arg_text(builder *b, const char *json, size_t len)
{
	text_pool *p = builder_texts(b);
	const uint8_t *text = (const uint8_t *)json;
	uint32_t place = p ? text_pool_find(p, text, len, text_hash_safe(text, len, p->seed)) : TEXT_NONE;

	if (place == TEXT_NONE) {
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
		return 0;
	}
	return builder_arg_text_at(b, text_ref_of(p, place));
}

text_pool *builder_texts(builder *b)
{
	if (!b->args.texts)
		b->args.texts = text_pool_new();
	return b->args.texts;
}

/* Where the number of the text is kept; NULL when out of memory. */
static uint32_t *number_of(args_writer *w, uint32_t id)
{
	size_t n = w->text_numbers.n / sizeof(uint32_t);
	uint32_t *more = id < n ? NULL : bulk_add(&w->text_numbers, (id + UINT64_C(1) - n) * sizeof *more);

	if (more)
		memset(more, 0, (id + UINT64_C(1) - n) * sizeof *more);
	return id < n || more ? (uint32_t *)w->text_numbers.bytes + id : NULL;
}

uint32_t builder_arg_text_at(builder *b, text_ref text)
{
	uint32_t *number = builder_or_fail(b, number_of(&b->args, (uint32_t)(text >> 32)));
	uint32_t *at = number && !*number ? builder_or_fail(b, bulk_add(&b->args.text_order, sizeof *at)) : NULL;

	if (at) {
		*at = (uint32_t)text;
		*number = (uint32_t)(at - (uint32_t *)b->args.text_order.bytes) + 1;
	}
	return number && *number ? *number - 1 : 0;
}

/* Begins a block where one is due. */
static bool begin_record(args_writer *w)
{
	uint64_t offset = w->spilled_bytes + w->records.n;

	return w->n_records % ARGS_RECORDS != 0 || put(&w->blocks, &offset, sizeof offset);
}

/* The template's values of the block before are not to be counted from. */
static int64_t *last_values(args_writer *w, args_state *state)
{
	int64_t *last = state->n_gaps ? (int64_t *)w->values.bytes + state->first_value : NULL;
	uint32_t block = w->n_records / ARGS_RECORDS + 1;

	if (state->block != block && state->n_gaps)
		memset(last, 0, state->n_gaps * sizeof *last);
	state->block = block;
	return last;
}

static inline uint32_t text_number(builder *b, text_ref text)
{
	const bulk *numbers = &b->args.text_numbers;
	uint32_t number = text >> 32 < numbers->n / sizeof number ? ((const uint32_t *)numbers->bytes)[text >> 32] : 0;

	return __builtin_expect(number != 0, 1) ? number - 1 : builder_arg_text_at(b, text);
}

static inline __attribute__((always_inline)) uint32_t add_record(builder *b, uint32_t template, const int64_t *values,
								 bool places)
{
	args_writer *w = &b->args;

	if (template >= w->states.n || w->n_records == UINT32_MAX - 1) {
		builder_fail(b, SONDE_E_USAGE,
			     template >= w->states.n ? "arguments of a template that does not exist"
						     : "more than 4294967294 records of arguments");
		return 0;
	}
	args_state *state = &w->states.items[template];
	if (!begin_record(w) || !bulk_reserve(&w->records, (1 + (size_t)state->n_gaps) * VARINT_MAX)) {
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
		return 0;
	}
	int64_t *last = last_values(w, state);
	uint8_t *start = w->records.bytes + w->records.n, *at = varint_put(start, template);
	for (uint32_t i = 0, n = state->n_gaps; i < n; i++) {
		uint64_t value = (uint64_t)values[i];
		if (state->kinds[i] == ARG_INT) {
			value = zigzag((int64_t)(value - (uint64_t)last[i]));
			last[i] = values[i];
		} else if (places) {
			value = text_number(b, value);
		}
		at = varint_put(at, value);
	}
	w->records.n += (size_t)(at - start);
	return ++w->n_records;
}

uint32_t builder_args(builder *b, uint32_t template, const int64_t *values)
{
	return add_record(b, template, values, false);
}

uint32_t builder_args_at(builder *b, uint32_t template, const int64_t *values)
{
	return add_record(b, template, values, true);
}

void args_writer_done(args_writer *w)
{
	intern_done(&w->templates);
	if (!w->borrows_texts)
		text_pool_free(w->texts);
	bulk_done(&w->text_order);
	bulk_done(&w->text_numbers);
	VEC_DONE(&w->states);
	bulk_done(&w->values);
	bulk_done(&w->records);
	VEC_DONE(&w->spilled);
	bulk_done(&w->blocks);
	*w = (args_writer){ 0 };
}

bool args_writer_copy(args_writer *to, const args_writer *from)
{
	to->texts = from->texts;
	to->borrows_texts = from->texts;
	to->n_records = from->n_records;
	return intern_copy(&to->templates, &from->templates) && bulk_copy(&to->text_order, &from->text_order) &&
	       bulk_copy(&to->text_numbers, &from->text_numbers) && VEC_COPY(&to->states, &from->states) &&
	       bulk_copy(&to->values, &from->values) && bulk_copy(&to->records, &from->records) &&
	       bulk_copy(&to->blocks, &from->blocks);
}
