#include "import/arg_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "base/format_number.h"
#include "base/json_write.h"

void arg_set_clear(arg_set *a)
{
	a->text.n = a->gaps.n = 0;
}

void arg_set_done(arg_set *a)
{
	VEC_DONE(&a->text);
	VEC_DONE(&a->gaps);
	VEC_DONE(&a->scratch);
}

/* Room for len more bytes, or NULL. */
static char *make_room(arg_set *a, char **items, size_t *n, size_t *capacity, size_t len)
{
	size_t wanted = *n + len;

	if (wanted > *capacity) {
		size_t more = 2 * wanted;
		char *grown = more > len ? realloc(*items, more) : NULL;
		if (!grown) {
			a->failed = true;
			return NULL;
		}
		*items = grown;
		*capacity = more;
	}
	return *items + *n;
}

static void put(arg_set *a, const char *text, size_t len)
{
	char *to = make_room(a, &a->text.items, &a->text.n, &a->text.capacity, len);

	if (!to)
		return;
	memcpy(to, text, len);
	a->text.n += len;
}

void arg_key(arg_set *a, const char *key, size_t len)
{
	put(a, a->text.n ? ", " : "{", a->text.n ? 2 : 1);
	char *to = make_room(a, &a->text.items, &a->text.n, &a->text.capacity, JSON_QUOTED(len));
	if (to)
		a->text.n += json_quote(to, key, len);
	put(a, ": ", 2);
}

static void add_gap(arg_set *a, arg_kind kind, int64_t value)
{
	arg_gap *gap = VEC_ADD(&a->gaps);

	if (gap)
		*gap = (arg_gap){ a->text.n, value, (uint8_t)kind };
	a->failed |= !gap;
}

void arg_json(arg_set *a, const char *json, size_t len)
{
	if (a->gaps.n < ARGS_GAPS_MAX)
		add_gap(a, ARG_TEXT, builder_arg_text(a->builder, json, len));
	else
		put(a, json, len);
}

void arg_i64(arg_set *a, int64_t value)
{
	char text[24];

	if (a->gaps.n < ARGS_GAPS_MAX)
		add_gap(a, ARG_INT, value);
	else
		put(a, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void arg_u64(arg_set *a, uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX)
		arg_i64(a, (int64_t)value);
	else
		arg_json(a, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

void arg_f64(arg_set *a, double value)
{
	char text[NUMBER_TEXT] = "";

	/* Whole numbers that a double holds exactly; -0 is not one of them. */
	if (value == floor(value) && fabs(value) < 9007199254740992.0 && !(value == 0 && signbit(value)))
		arg_i64(a, (int64_t)value);
	else if (isfinite(value))
		arg_json(a, text, strlen(format_exact(text, value)));
	else
		arg_json(a, "null", 4);
}

void arg_string(arg_set *a, const char *text, size_t len)
{
	a->scratch.n = 0;
	char *to = make_room(a, &a->scratch.items, &a->scratch.n, &a->scratch.capacity, JSON_QUOTED(len));
	if (to)
		arg_json(a, to, json_quote(to, text, len));
}

uint32_t arg_set_finish(arg_set *a)
{
	args_piece pieces[ARGS_GAPS_MAX + 1];
	uint8_t kinds[ARGS_GAPS_MAX];
	int64_t values[ARGS_GAPS_MAX];
	size_t from = 0, n = a->gaps.n;

	if (!a->text.n)
		return 0;
	put(a, "}", 1);
	if (a->failed)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const arg_gap *gap = &a->gaps.items[i];
		pieces[i] = (args_piece){ a->text.items + from, (uint32_t)(gap->at - from) };
		kinds[i] = gap->kind;
		values[i] = gap->value;
		from = gap->at;
	}
	pieces[n] = (args_piece){ a->text.items + from, (uint32_t)(a->text.n - from) };
	args_template t = { .n_gaps = (uint32_t)n, .n_args_pieces = (uint32_t)n + 1, .pieces = pieces, .kinds = kinds };
	return builder_args(a->builder, builder_template(a->builder, &t), values);
}

saved_args *arg_set_save(arg_set *a)
{
	size_t gaps_bytes = a->gaps.n * sizeof *a->gaps.items;
	saved_args *saved = a->text.n ? malloc(sizeof *saved + gaps_bytes + a->text.n) : NULL;

	a->failed |= a->text.n && !saved;
	if (!saved)
		return NULL;
	saved->text_len = a->text.n;
	saved->n_gaps = a->gaps.n;
	if (gaps_bytes)
		memcpy(saved->gaps, a->gaps.items, gaps_bytes);
	memcpy(saved->gaps + a->gaps.n, a->text.items, a->text.n);
	return saved;
}

saved_args *saved_args_copy(const saved_args *saved)
{
	size_t bytes = sizeof *saved + saved->n_gaps * sizeof saved->gaps[0] + saved->text_len;
	saved_args *copy = malloc(bytes);

	return copy ? memcpy(copy, saved, bytes) : NULL;
}

void arg_set_load(arg_set *a, const saved_args *saved)
{
	arg_set_clear(a);
	if (!saved)
		return;
	put(a, (const char *)(saved->gaps + saved->n_gaps), saved->text_len);
	for (size_t i = 0; i < saved->n_gaps; i++) {
		arg_gap *gap = VEC_ADD(&a->gaps);
		if (gap)
			*gap = saved->gaps[i];
		a->failed |= !gap;
	}
}
