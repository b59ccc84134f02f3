/* The careful reader: one event, whatever it looks like. See chrome.h. */
#include "import/chrome/scan.h"

#include <string.h>
#include "base/decimal.h"

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* Key, colon, and where the value begins. */
static read_status read_key(const uint8_t **at, const uint8_t *end, chrome_member *m, uint32_t *repairs)
{
	const uint8_t *p = *at;

	if (*p != '"')
		return READ_BAD;
	read_status status = chrome_skip_string(&p, end, STRING_KEY, repairs);
	if (status != READ_OK)
		return status;
	m->key = *at + 1;
	m->key_len = (uint32_t)(p - 1 - m->key);
	*at = skip_space(skip_space(p, end) + 1, end); /* behind the colon, which skip_string saw */
	m->value = *at;
	return *at == end ? READ_MORE : READ_OK;
}

/* What stands between two members. *ret_done: the object ends here. */
static read_status next_member(const uint8_t **at, const uint8_t *end, bool first, bool *ret_done, uint32_t *repairs)
{
	const uint8_t *p = skip_space(*at, end);
	int n_commas = 0;

	for (; p < end && *p == ','; n_commas++)
		p = skip_space(p + 1, end);
	*at = p;
	if (p == end)
		return READ_MORE;
	*ret_done = *p == '}';
	if (n_commas != (first || *ret_done ? 0 : 1))
		*repairs |= REPAIR(COMMA);
	return READ_OK;
}

static read_status read_args(chrome_parts *parts, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at + 1;
	bool done = false;

	parts->n_args = 0;
	parts->args_whole = false;
	for (size_t n = 0;; n++) {
		chrome_member m;
		read_status status = next_member(&p, end, n == 0, &done, &parts->repairs);
		if (status == READ_OK && done)
			return *at = p + 1, READ_OK;
		if (status == READ_OK)
			status = read_key(&p, end, &m, &parts->repairs);
		if (status == READ_OK)
			status = chrome_skip_value(&p, end, true, &parts->repairs);
		if (status != READ_OK)
			return *at = p, status;
		m.value_len = (uint32_t)(p - m.value);
		if (n < CHROME_ARGS)
			parts->args[parts->n_args++] = m;
		else
			parts->args_whole = true;
	}
}

static void add_member(chrome_parts *parts, const chrome_member *m)
{
	chrome_member_kind kind = chrome_member_kind_of(m);

	if (kind == MEMBER_KINDS) {
		if (parts->n_extra == CHROME_EXTRA || m->key_len > CHROME_EXTRA_KEY)
			parts->repairs |= REPAIR(MEMBERS);
		else
			parts->extra[parts->n_extra++] = *m;
		if (m->key_len == 3 && memcmp(m->key, "id2", 3) == 0 && !parts->known[MEMBER_ID].value)
			parts->known[MEMBER_ID] = *m;
		return;
	}
	if (parts->known[kind].value && (kind != MEMBER_ID || parts->known[kind].key_len == m->key_len))
		parts->repairs |= REPAIR(DUPLICATE);
	parts->known[kind] = *m;
}

static read_status read_parts(chrome_parts *parts, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at + 1;
	bool done = false;

	parts->start = *at;
	for (bool first = true;; first = false) {
		chrome_member m;
		read_status status = next_member(&p, end, first, &done, &parts->repairs);
		if (status == READ_OK && done)
			break;
		if (status == READ_OK)
			status = read_key(&p, end, &m, &parts->repairs);
		if (status == READ_OK) {
			bool args = m.key_len == 4 && memcmp(m.key, "args", 4) == 0 && *p == '{';
			status = args ? read_args(parts, &p, end) : chrome_skip_value(&p, end, true, &parts->repairs);
		}
		if (status == READ_OK) {
			m.value_len = (uint32_t)(p - m.value);
			add_member(parts, &m);
		}
		if (status != READ_OK)
			return *at = p, status;
	}
	*at = parts->end = p + 1;
	/* Where a few more arguments make one text of them, others are to be taken apart. */
	parts->clean = parts->repairs == 0 && !parts->args_whole;
	return READ_OK;
}

/* ---- From parts to an event -------------------------------------------------------------------------------------- */

/* The text between the quotes of a string, or the whole value. */
static const uint8_t *inner(const chrome_member *m, size_t *ret_len)
{
	bool quoted = m->value_len >= 2 && m->value[0] == '"';

	*ret_len = quoted ? m->value_len - 2 : m->value_len;
	return quoted ? m->value + 1 : m->value;
}

bool chrome_time(const uint8_t *text, size_t len, int64_t *ret_ns, uint32_t *repairs)
{
	decimal_status status = decimal_scaled((const char *)text, len, 3, ret_ns);

	if (status == DECIMAL_BAD)
		return false;
	if (status == DECIMAL_ROUNDED)
		*repairs |= REPAIR(ROUNDED);
	int64_t bounded = trace_bounded_ns(*ret_ns);
	if (bounded != *ret_ns)
		*repairs |= REPAIR(RANGE);
	*ret_ns = bounded;
	return true;
}

static bool read_time(const chrome_member *m, int64_t *ret_ns, uint32_t *repairs)
{
	size_t len;
	const uint8_t *text = m->value ? inner(m, &len) : NULL;

	return text && chrome_time(text, len, ret_ns, repairs);
}

/* Missing: 0. */
static chrome_token read_token(chrome_reader *r, const chrome_member *m)
{
	size_t len;
	const uint8_t *text = m->value ? inner(m, &len) : NULL;

	return text ? reader_token(r, text, len) : (chrome_token){ 0 };
}

/* Values of the arguments and extra members in the order of the text. */
static void put_values(chrome_reader *r, chrome_batch *b, const chrome_parts *p, const chrome_layout *layout,
		       chrome_event *e)
{
	const args_template *shape = &r->templates.items[layout->template].shape;
	size_t first = b->values.n;

	for (uint32_t i = 0; i < layout->n_values; i++)
		if (!VEC_ADD(&b->values)) {
			b->failed = true;
			b->values.n = first;
			return;
		}
	e->values = (uint32_t)first;
	size_t n_args = p->args_whole							     ? 1
			: p->known[MEMBER_ARGS].value && *p->known[MEMBER_ARGS].value == '{' ? p->n_args
											     : 0;
	for (uint32_t i = 0; i < shape->n_gaps; i++) {
		if (i == layout->separator)
			continue;
		const chrome_member *m = i < n_args ? p->args_whole ? &p->known[MEMBER_ARGS] : &p->args[i]
						    : &p->extra[i - n_args - (i > layout->separator)];
		int64_t value;
		if (shape->kinds[i] == ARG_TEXT || !chrome_is_int(m->value, m->value_len, &value))
			value = reader_text(r, m->value, m->value_len, &e->repairs);
		b->values.items[first + layout->order[i]] = value;
	}
	if (layout->correlation >= 0) {
		e->id = b->values.items[first + layout->order[layout->correlation]];
		if (shape->kinds[layout->correlation] == ARG_INT || reader_int(r, e->id, &e->id))
			e->flags |= EVENT_HAS_CORRELATION;
	}
}

/* A member that is to be found among the extra ones. */
static void keep_member(chrome_parts *p, const chrome_member *m)
{
	if (p->n_extra < CHROME_EXTRA) {
		p->extra[p->n_extra++] = *m;
	} else {
		p->repairs |= REPAIR(MEMBERS);
		p->clean = false;
	}
}

/* An id belongs to the arguments of what is not found by it later. */
static void keep_id(chrome_parts *p)
{
	const chrome_member *id = &p->known[MEMBER_ID], *phase = &p->known[MEMBER_PHASE];

	if (id->value && id->key_len == 2 && phase->value && phase->value_len == 3 &&
	    strchr("stf", phase->value[1]) == NULL)
		keep_member(p, id);
}

static void put_event(chrome_reader *r, chrome_batch *b, chrome_parts *p, const uint8_t *base)
{
	chrome_event e = { .at = (uint32_t)(p->start - base) };
	const chrome_member *known = p->known;
	size_t len = 0;

	if (p->known[MEMBER_ARGS].value && *p->known[MEMBER_ARGS].value != '{') {
		/* Not an object: kept as it stands. */
		keep_member(p, &p->known[MEMBER_ARGS]);
		p->known[MEMBER_ARGS].value = NULL;
		p->n_args = 0;
		p->args_whole = false;
		p->clean = false;
	}
	keep_id(p);
	e.repairs = p->repairs;
	e.layout = chrome_layout_of(r, p, p->clean);
	if (e.layout == CHROME_NONE) {
		b->failed = true;
		return;
	}
	const chrome_layout *layout = &r->layouts.items[e.layout];
	e.flags = layout->flags;
	if (read_time(&known[MEMBER_TS], &e.ts_ns, &e.repairs))
		e.flags |= EVENT_HAS_TIME;
	if (read_time(&known[MEMBER_DUR], &e.dur_ns, &e.repairs))
		e.flags |= EVENT_HAS_DURATION;
	if (layout->template != CHROME_NONE)
		put_values(r, b, p, layout, &e);
	if (known[MEMBER_ID].value) {
		uint32_t global = 0;
		chrome_token id = reader_id(r, known[MEMBER_ID].value, known[MEMBER_ID].value_len, &global);
		e.repairs |= reader_token_repairs(r, id);
		e.flags |= (uint8_t)global;
		if (!(e.flags & EVENT_HAS_CORRELATION) || layout->phase != 'X') {
			e.id = id.is_text ? id.number | INT64_C(1) << 62 : id.number;
			e.flags = (uint8_t)((e.flags | EVENT_HAS_ID) & ~EVENT_HAS_CORRELATION);
		}
	}
	e.track = reader_track(r, read_token(r, &known[MEMBER_PID]), read_token(r, &known[MEMBER_TID]));
	e.repairs |= e.track < r->tracks.n ? r->tracks.items[e.track].repairs : 0;
	const uint8_t *category =
		known[MEMBER_CATEGORY].value ? inner(&known[MEMBER_CATEGORY], &len) : (const uint8_t *)"";
	uint32_t category_id = reader_string(r, category, len);
	if (r->failed) {
		b->failed = true;
		return;
	}
	const uint8_t *name = (const uint8_t *)"";
	len = 0;
	if (known[MEMBER_NAME].value) {
		name = inner(&known[MEMBER_NAME], &len);
		e.flags |= EVENT_HAS_NAME;
	}
	e.site = reader_site(r, name, len, category_id, &e.repairs);
	chrome_event *to = VEC_ADD(&b->events);
	if (to)
		*to = e;
	b->failed |= !to || r->failed;
}

read_status chrome_read(chrome_reader *r, chrome_batch *b, const uint8_t **at, const uint8_t *end, const uint8_t *base)
{
	chrome_parts parts;

	memset(parts.known, 0, sizeof parts.known);
	parts.n_args = parts.n_extra = 0;
	parts.args_whole = false;
	parts.repairs = 0;
	read_status status = read_parts(&parts, at, end);
	if (status == READ_OK)
		put_event(r, b, &parts, base);
	return status;
}
