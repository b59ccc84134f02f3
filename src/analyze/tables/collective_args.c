/* See collective_args.h. */
#define _GNU_SOURCE
#include "analyze/tables/collective_args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "store/collectives.h"

bool collective_reader_init(collective_reader *c, const rows *r)
{
	*c = (collective_reader){ .rows = r, .facts = fact_reader_new(r->ix, SECTION_COLLECTIVES) };
	if (!c->facts)
		return false;
	if (!r->ix || !index_n_rows(r->ix, SECTION_ARGS))
		return true;
	c->dims_key = index_role_key(r->ix, ROLE_INPUT_DIMS);
	c->types_key = index_role_key(r->ix, ROLE_INPUT_TYPES);
	c->args = args_reader_new(r->ix);
	return c->args != NULL;
}

void collective_reader_done(collective_reader *c)
{
	fact_reader_free(c->facts);
	args_reader_free(c->args);
	intern_done(&c->texts);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

int64_t collective_bytes(const collective_args *a)
{
	int64_t elements = a->kind == COLLECTIVE_ALL_GATHER ? a->out_elements : a->in_elements, bytes;

	return elements < 0 || a->element_bytes < 0 || __builtin_mul_overflow(elements, a->element_bytes, &bytes)
		       ? -1
		       : bytes;
}

int64_t collective_list_next(const char **at)
{
	char *end;

	*at += strspn(*at, "[, \"");
	if (!isdigit((unsigned char)**at))
		return -1;
	long long value = strtoll(*at, &end, 10);
	*at = end;
	return value;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct reading {
	collective_reader *c;
	collective_args *to;
} reading;

static const char *keep(collective_reader *c, const char *text, size_t len)
{
	uint32_t number = intern(&c->texts, text, len);

	c->failed |= number == INTERN_NONE;
	return number == INTERN_NONE ? NULL : intern_text(&c->texts, number);
}

/* Elements of the first list of a list: "[[64, 3], [5]]" has 192. */
static int64_t count_elements(const char *json, size_t len)
{
	int64_t product = 1, value = 0;
	bool has_digit = false;

	if (len < 2 || json[0] != '[' || json[1] != '[')
		return -1;
	for (size_t i = 2; i < len; i++) {
		if (isdigit((unsigned char)json[i])) {
			has_digit = true;
			if (__builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, json[i] - '0', &value))
				return -1;
			continue;
		}
		if (has_digit && __builtin_mul_overflow(product, value, &product))
			return -1;
		has_digit = false;
		value = 0;
		if (json[i] == ']')
			return product;
	}
	return -1;
}

/* "["float", ...]": float */
static const char *first_text(collective_reader *c, const char *json, size_t len)
{
	const char *from = memchr(json, '"', len);
	const char *to = from ? memchr(from + 1, '"', len - (size_t)(from + 1 - json)) : NULL;

	return to && to > from + 1 ? keep(c, from + 1, (size_t)(to - from - 1)) : NULL;
}

static void take_text(const collective_reader *c, const char **to, uint32_t string)
{
	if (string != INDEX_NONE)
		*to = index_text(c->rows->ix, string);
}

static void take_number(int64_t *to, int64_t number)
{
	if (number >= 0)
		*to = number;
}

/* What the arguments say; the rest stays as it is. */
static void take(collective_reader *c, uint32_t args, collective_args *to)
{
	int64_t sequence;
	const index_message *m = fact_message(c->facts, args, &sequence);

	if (!m)
		return;
	take_text(c, &to->name, m->name);
	take_text(c, &to->dtype, m->dtype);
	take_text(c, &to->group, m->group);
	take_text(c, &to->ranks, m->ranks);
	take_text(c, &to->in_split, m->in_split);
	take_text(c, &to->out_split, m->out_split);
	take_number(&to->in_elements, m->in_elements);
	take_number(&to->out_elements, m->out_elements);
	take_number(&to->group_size, m->group_size);
	take_number(&to->sequence, sequence);
}

static bool is_key(const char *wanted, const char *key, size_t len)
{
	return wanted && strlen(wanted) == len && memcmp(wanted, key, len) == 0;
}

/* Of a call on the host: what goes in. */
static void take_inputs(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	reading *r = context;

	if (is_key(r->c->dims_key, key, key_len))
		r->to->in_elements = count_elements(json, len);
	else if (is_key(r->c->types_key, key, key_len))
		r->to->dtype = first_text(r->c, json, len);
}

static bool says_something(const collective_args *a)
{
	return a->name || a->group || a->sequence >= 0;
}

collective_args collective_args_read(collective_reader *c, uint32_t number_of, bool own_only)
{
	enum { FAR = 16 };
	collective_args a = {
		.in_elements = -1, .out_elements = -1, .element_bytes = -1, .group_size = -1, .sequence = -1
	};
	const row *own = ROW_AT(c->rows, number_of);
	reading r = { c, &a };
	uint32_t at = own->flags & ROW_DEVICE ? own->launch : own->parent;

	take(c, own->args, &a);
	int lowest = at == ROW_NONE ? 0 : rows_at(c->rows, at).depth;
	while (!own_only && !says_something(&a) && at != ROW_NONE) {
		const row *above = ROW_AT(c->rows, at);
		if (lowest - above->depth >= FAR)
			break;
		if (above->args && strcmp(row_name(c->rows, above), COLLECTIVE_PARAMS) == 0)
			take(c, above->args, &a);
		at = above->parent;
	}
	if (!says_something(&a) && c->args && own->args && !(own->flags & ROW_DEVICE))
		args_each(c->args, own->args, take_inputs, &r);
	a.element_bytes = a.dtype ? collective_element_bytes(a.dtype) : -1;
	a.kind = collective_kind_of(a.name ? a.name : row_name(c->rows, own));
	return a;
}
