/* See collective_args.h. */
#define _GNU_SOURCE
#include "analyze/tables/collective_args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool collective_reader_init(collective_reader *c, const rows *r)
{
	*c = (collective_reader){ .rows = r };
	if (!r->ix || !index_n_rows(r->ix, SECTION_ARGS))
		return true;
	c->args = args_reader_new(r->ix);
	return c->args != NULL;
}

void collective_reader_done(collective_reader *c)
{
	args_reader_free(c->args);
	intern_done(&c->texts);
}

/* ---- Kinds and sizes --------------------------------------------------------------------------------------------- */

/* The longer words first: an all-reduce is no reduce. */
static collective_kind kind_of(const char *name)
{
	static const struct {
		const char *word;
		collective_kind kind;
	} words[] = {
		{ "allreduce", COLLECTIVE_ALL_REDUCE }, { "reducescatter", COLLECTIVE_REDUCE_SCATTER },
		{ "allgather", COLLECTIVE_ALL_GATHER }, { "alltoall", COLLECTIVE_ALL_TO_ALL },
		{ "barrier", COLLECTIVE_BARRIER },	{ "broadcast", COLLECTIVE_BROADCAST },
		{ "gather", COLLECTIVE_GATHER },	{ "scatter", COLLECTIVE_SCATTER },
		{ "reduce", COLLECTIVE_REDUCE },	{ "send", COLLECTIVE_SEND_RECV },
		{ "recv", COLLECTIVE_SEND_RECV },
	};
	char plain[128];
	size_t n = 0;

	for (; *name && n + 1 < sizeof plain; name++)
		if (*name != '_')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = 0;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(plain, words[i].word))
			return words[i].kind;
	return COLLECTIVE_UNKNOWN;
}

static int64_t size_of(const char *dtype)
{
	static const struct {
		const char *names;
		int64_t bytes;
	} sizes[] = {
		{ " double long int64 float64 complexfloat ", 8 },
		{ " float int int32 float32 complexhalf ", 4 },
		{ " half bfloat16 short int16 float16 ", 2 },
		{ " byte char bool int8 uint8 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz ", 1 },
		{ " complexdouble ", 16 },
	};
	char word[40] = " ";
	const char *from = strncmp(dtype, "c10::", 5) == 0 ? dtype + 5 : dtype;
	size_t n = 1;

	for (; *from && n + 2 < sizeof word; from++)
		word[n++] = (char)tolower((unsigned char)*from);
	word[n] = ' ';
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (n > 1 && strstr(sizes[i].names, word))
			return sizes[i].bytes;
	return -1;
}

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

/* The text without its quotes; they have no escapes that matter here. */
static const char *keep(collective_reader *c, const char *json, size_t len)
{
	bool quoted = len >= 2 && json[0] == '"';
	uint32_t number = intern(&c->texts, json + quoted, len - 2 * (size_t)quoted);

	c->failed |= number == INTERN_NONE;
	return number == INTERN_NONE ? NULL : intern_text(&c->texts, number);
}

static int64_t number(const char *json, size_t len)
{
	char text[32];
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof text; i++)
		if (json[i] != '"')
			text[n++] = json[i];
	text[n] = 0;
	char *end;
	long long value = strtoll(text, &end, 10);
	return n && !*end && value >= 0 ? value : -1;
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

static void take(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	reading *r = context;
	collective_args *to = r->to;
	const struct {
		const char *key;
		const char **text;
		int64_t *number;
	} members[] = {
		{ "Collective name", &to->name, NULL },	     { "dtype", &to->dtype, NULL },
		{ "Process Group Name", &to->group, NULL },  { "Process Group Ranks", &to->ranks, NULL },
		{ "In split size", &to->in_split, NULL },    { "Out split size", &to->out_split, NULL },
		{ "In msg nelems", NULL, &to->in_elements }, { "Out msg nelems", NULL, &to->out_elements },
		{ "Group size", NULL, &to->group_size },     { "Seq", NULL, &to->sequence },
	};

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		if (strlen(members[i].key) != key_len || memcmp(members[i].key, key, key_len) != 0)
			continue;
		if (members[i].text)
			*members[i].text = keep(r->c, json, len);
		else
			*members[i].number = number(json, len);
	}
}

/* Of a call on the host: what goes in. */
static void take_inputs(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	reading *r = context;

	if (key_len == 10 && memcmp(key, "Input Dims", 10) == 0)
		r->to->in_elements = count_elements(json, len);
	else if (key_len == 10 && memcmp(key, "Input type", 10) == 0)
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

	if (c->args && own->args)
		args_each(c->args, own->args, take, &r);
	int lowest = at == ROW_NONE ? 0 : rows_at(c->rows, at).depth;
	while (!own_only && c->args && !says_something(&a) && at != ROW_NONE) {
		const row *above = ROW_AT(c->rows, at);
		if (lowest - above->depth >= FAR)
			break;
		if (above->args && strcmp(row_name(c->rows, above), COLLECTIVE_PARAMS) == 0)
			args_each(c->args, above->args, take, &r);
		at = above->parent;
	}
	if (!says_something(&a) && c->args && own->args && !(own->flags & ROW_DEVICE))
		args_each(c->args, own->args, take_inputs, &r);
	a.element_bytes = a.dtype ? size_of(a.dtype) : -1;
	a.kind = kind_of(a.name ? a.name : row_name(c->rows, own));
	return a;
}
