/*
 * See facts.h. Most events say the same as one before them: what they carry is found by the numbers of their values,
 * before any text is looked at.
 */
#define _GNU_SOURCE
#include "import/chrome/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/json_members.h"
#include "import/chrome/apply.h"
#include "store/collectives.h"

enum { FACT_TEXT_MAX = 1 << 20 }; /* longer ones are nothing that anybody reads */

static const struct {
	const char *text;
	uint8_t kind; /* builder_fact_kind */
	bool is_weak;
} facts[CHROME_FACTS] = {
#define FACT(kind, key, text) { text, FACT_##kind, false },
#define FACT_WEAK(kind, key, text) { text, FACT_##kind, true },
#include "import/chrome/facts.def"
#undef FACT
#undef FACT_WEAK
};

/* Values of an args object; text NULL and no number: missing. */
typedef struct fact_values {
	chrome_arg of[CHROME_FACTS];
} fact_values;

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static chrome_fact fact_named(const char *key, size_t len)
{
	chrome_fact i = 0;

	while (i < CHROME_FACTS && (strlen(facts[i].text) != len || memcmp(facts[i].text, key, len) != 0))
		i++;
	return i;
}

chrome_fact_gaps chrome_facts_find(const args_template *t, const args_piece *keys)
{
	chrome_fact_gaps found = { .is_whole = t->n_args_pieces == 2 && !t->pieces[0].len };

	memset(found.gaps, FACT_NO_GAP, sizeof found.gaps);
	for (uint32_t i = 0; !found.is_whole && i + 1 < t->n_args_pieces && i < FACT_NO_GAP; i++) {
		chrome_fact fact = fact_named(keys[i].text, keys[i].len);
		if (fact == CHROME_FACTS)
			continue;
		found.gaps[fact] = (uint8_t)i; /* of several with the same key the last one counts */
		if (!facts[fact].is_weak)
			found.kinds = (uint8_t)(found.kinds | 1u << facts[fact].kind);
	}
	return found;
}

static void put_role(builder *b, const char *key, size_t len)
{
	static const struct {
		fact_role role;
		const char *text;
	} roles[] = {
#define ROLE(role, text) { ROLE_##role, text },
#include "import/chrome/roles.def"
#undef ROLE
	};

	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (strlen(roles[i].text) == len && memcmp(roles[i].text, key, len) == 0)
			builder_role(b, roles[i].role, roles[i].text);
}

void chrome_roles_put(builder *b, const args_piece *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put_role(b, keys[i].text, keys[i].len);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Not negative; -1: unknown. */
static int64_t whole_of(const chrome_arg *v)
{
	int64_t value = v->number;

	if (!v->is_int && (!v->text || !chrome_is_int(v->text, v->len, &value)))
		return -1;
	return value < 0 ? -1 : value;
}

/* As text between quotes; INDEX_NONE: unknown. */
static uint32_t string_of(builder *b, const chrome_arg *v)
{
	char number[24];

	if (v->is_int)
		return builder_string(b, number, (size_t)snprintf(number, sizeof number, "%" PRId64, v->number));
	return v->text && v->len < FACT_TEXT_MAX ? builder_string(b, (const char *)v->text, v->len) : INDEX_NONE;
}

static const char *text_of(const builder *b, uint32_t string)
{
	size_t len;
	const char *text = string == INDEX_NONE ? NULL : builder_text(b, string, &len);

	return text ? text : "";
}

/* ---- Collectives ------------------------------------------------------------------------------------------------- */

static uint32_t make_message(builder *b, const fact_values *v)
{
	index_message m = {
		.name = string_of(b, &v->of[KEY_COLLECTIVE_NAME]),
		.dtype = string_of(b, &v->of[KEY_COLLECTIVE_DTYPE]),
		.group = string_of(b, &v->of[KEY_COLLECTIVE_GROUP]),
		.ranks = string_of(b, &v->of[KEY_COLLECTIVE_RANKS]),
		.in_split = string_of(b, &v->of[KEY_COLLECTIVE_IN_SPLIT]),
		.out_split = string_of(b, &v->of[KEY_COLLECTIVE_OUT_SPLIT]),
		.in_elements = whole_of(&v->of[KEY_COLLECTIVE_IN]),
		.out_elements = whole_of(&v->of[KEY_COLLECTIVE_OUT]),
		.group_size = whole_of(&v->of[KEY_COLLECTIVE_SIZE]),
	};

	m.kind = (int32_t)collective_kind_of(text_of(b, m.name));
	m.element_bytes = collective_element_bytes(text_of(b, m.dtype));
	return builder_message(b, &m);
}

static void put_collective(builder *b, uint32_t args, uint32_t message, const chrome_arg *sequence)
{
	int64_t row[COLLECTIVE_COLUMNS] = {
		[COLLECTIVE_ARGS] = args, [COLLECTIVE_MESSAGE] = message, [COLLECTIVE_SEQUENCE] = whole_of(sequence)
	};

	builder_fact(b, FACT_COLLECTIVE, row);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static chrome_arg value_of(const json_member *m)
{
	bool quoted = m->len >= 2 && m->value[0] == '"';
	chrome_arg v = { .text = (const uint8_t *)m->value + quoted, .len = m->len - 2 * (size_t)quoted };

	v.is_int = !quoted && chrome_is_int(v.text, v.len, &v.number);
	return v;
}

void chrome_facts_put(builder *b, uint32_t args, const char *json, size_t len)
{
	json_members members = json_members_of(json, len);
	fact_values v = { 0 };
	json_member m;
	unsigned kinds = 0;

	while (members.is_object && json_next(&members, &m)) {
		chrome_fact fact = fact_named(m.key, m.key_len);
		put_role(b, m.key, m.key_len);
		if (fact == CHROME_FACTS)
			continue;
		v.of[fact] = value_of(&m);
		kinds |= facts[fact].is_weak ? 0 : 1u << facts[fact].kind;
	}
	if (args && kinds & 1u << FACT_COLLECTIVE)
		put_collective(b, args, make_message(b, &v), &v.of[KEY_COLLECTIVE_SEQUENCE]);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* An event whose values are looked at. */
typedef struct fact_event {
	const chrome_reader *r;
	const chrome_batch *b;
	const chrome_event *e;
	const chrome_fact_gaps *gaps;
} fact_event;

static chrome_arg event_value(const fact_event *of, chrome_fact fact)
{
	uint8_t gap = of->gaps->gaps[fact];

	return gap == FACT_NO_GAP ? (chrome_arg){ 0 } : apply_arg(of->r, of->b, of->e, gap);
}

/* What the values of a kind are, without a look at texts. */
typedef struct fact_key {
	uint64_t is_text, is_there;
	int64_t values[CHROME_FACTS];
} fact_key;

static size_t make_key(const fact_event *of, builder_fact_kind kind, chrome_fact without, fact_key *ret_key)
{
	const chrome_layout *layout = &of->r->layouts.items[of->e->layout];
	const uint8_t *kinds = of->r->templates.items[layout->template].shape.kinds;
	const int64_t *values = of->b->values.items + of->e->values;
	size_t n = 0;

	ret_key->is_text = ret_key->is_there = 0;
	for (chrome_fact i = 0; i < CHROME_FACTS; i++) {
		uint8_t gap = of->gaps->gaps[i];
		if (gap == FACT_NO_GAP || facts[i].kind != kind || i == without)
			continue;
		ret_key->is_there |= UINT64_C(1) << i;
		ret_key->is_text |= (uint64_t)(kinds[gap] == ARG_TEXT) << i;
		ret_key->values[n++] = values[layout->order[gap]];
	}
	return offsetof(fact_key, values) + n * sizeof ret_key->values[0];
}
_Static_assert(CHROME_FACTS <= 64, "bits of a key");

/* The number of what the event carries, made when it is the first to say so. CHROME_NONE when out of memory. */
static uint32_t fact_number(chrome_apply *a, const fact_event *of, builder_fact_kind kind, chrome_fact without,
			    uint32_t (*make)(builder *b, const fact_values *v))
{
	fact_key key;
	chrome_known_facts *known = &a->facts[kind];
	uint32_t number = intern(&known->keys, (const char *)&key, make_key(of, kind, without, &key));

	if (number < known->numbers.n)
		return known->numbers.items[number];
	uint32_t *added = number == INTERN_NONE ? NULL : VEC_ADD(&known->numbers);
	if (!added)
		return CHROME_NONE;
	fact_values v = { 0 };
	for (chrome_fact i = 0; i < CHROME_FACTS; i++)
		v.of[i] = event_value(of, i);
	return *added = make(a->b, &v);
}

void apply_facts(chrome_apply *a, const chrome_reader *r, const chrome_batch *b, const chrome_event *e, uint32_t args)
{
	const chrome_layout *layout = &r->layouts.items[e->layout];
	const chrome_fact_gaps *gaps = &r->templates.items[layout->template].facts;
	fact_event of = { r, b, e, gaps };

	if (gaps->is_whole) {
		const pool_text *text = text_at(r->texts, (uint32_t)b->values.items[e->values + layout->order[0]]);
		chrome_facts_put(a->b, args, (const char *)text->text, text->len);
	}
	if (gaps->kinds & 1u << FACT_COLLECTIVE) {
		uint32_t number = fact_number(a, &of, FACT_COLLECTIVE, KEY_COLLECTIVE_SEQUENCE, make_message);
		chrome_arg sequence = event_value(&of, KEY_COLLECTIVE_SEQUENCE);
		a->failed |= number == CHROME_NONE;
		if (number != CHROME_NONE)
			put_collective(a->b, args, number, &sequence);
	}
}
