/*
 * Layouts and templates: what the careful reader teaches the matcher. See chrome.h.
 *
 * A layout is what events of the same members have in common. The matcher's tree has a node for every piece of text and
 * the gap behind it; events that begin alike share their first nodes.
 */
#include "import/chrome/chrome.h"

#include <stdlib.h>
#include <string.h>

/* ---- Templates --------------------------------------------------------------------------------------------------- */

bool chrome_is_int(const uint8_t *text, size_t len, int64_t *ret_value)
{
	bool negative = len && text[0] == '-';
	size_t at = negative;
	uint64_t value = 0;

	if (len == at || len - at > 18 || (text[at] == '0' && (len - at > 1 || negative)))
		return false;
	for (; at < len; at++) {
		if (text[at] < '0' || text[at] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[at] - '0');
	}
	*ret_value = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* A template while it is made. */
typedef struct draft {
	args_piece pieces[ARGS_GAPS_MAX + 1], keys[ARGS_GAPS_MAX];
	uint8_t kinds[ARGS_GAPS_MAX];
	const chrome_member *members[ARGS_GAPS_MAX]; /* NULL: of the gap between args and extra members */
	uint32_t n_pieces, n_gaps, n_args_pieces, separator;
	char extra[CHROME_EXTRA][CHROME_EXTRA_KEY + 8]; /* pieces of extra members */
} draft;

static void draft_piece(draft *d, const uint8_t *from, const uint8_t *to)
{
	d->pieces[d->n_pieces++] = (args_piece){ (const char *)from, (uint32_t)(to - from) };
}

static void draft_gap(draft *d, const chrome_member *m)
{
	int64_t value;

	d->keys[d->n_gaps] = (args_piece){ (const char *)m->key, m->key_len };
	d->members[d->n_gaps] = m;
	d->kinds[d->n_gaps++] = chrome_is_int(m->value, m->value_len, &value) ? ARG_INT : ARG_TEXT;
}

/* The pieces around the values of the args object and of the extra members; their order is the template's. */
static void draft_make(draft *d, const chrome_parts *p)
{
	const chrome_member *args = &p->known[MEMBER_ARGS];
	const uint8_t *at = args->value, *end = at ? at + args->value_len : NULL;

	d->n_pieces = d->n_gaps = d->n_args_pieces = 0;
	d->separator = CHROME_NONE;
	if (at && p->args_whole) {
		draft_piece(d, at, at);
		draft_gap(d, args);
		d->kinds[0] = ARG_TEXT;
		draft_piece(d, at, at);
	} else if (at) {
		for (size_t i = 0; i < p->n_args; i++) {
			draft_piece(d, at, p->args[i].value);
			draft_gap(d, &p->args[i]);
			at = p->args[i].value + p->args[i].value_len;
		}
		draft_piece(d, at, end);
	}
	d->n_args_pieces = d->n_pieces;
	if (at && p->n_extra) {
		d->separator = d->n_gaps;
		d->keys[d->n_gaps] = (args_piece){ "", 0 };
		d->members[d->n_gaps] = NULL;
		d->kinds[d->n_gaps++] = ARG_INT;
	}
	for (size_t i = 0; i < p->n_extra; i++) {
		const chrome_member *m = &p->extra[i];
		size_t n = 0;
		if (i)
			d->extra[i][n++] = ',', d->extra[i][n++] = ' ';
		d->extra[i][n++] = '"';
		memcpy(d->extra[i] + n, m->key, m->key_len);
		n += m->key_len;
		memcpy(d->extra[i] + n, "\": ", 3);
		d->pieces[d->n_pieces++] = (args_piece){ d->extra[i], (uint32_t)(n + 3) };
		draft_gap(d, m);
		d->kinds[d->n_gaps - 1] = ARG_TEXT;
	}
	if (p->n_extra)
		d->pieces[d->n_pieces++] = (args_piece){ "", 0 };
}

static const args_piece *copy_pieces(chrome_reader *r, const args_piece *pieces, size_t n)
{
	args_piece *copy = arena_alloc(&r->arena, (n + 1) * sizeof *copy);

	for (size_t i = 0; copy && i < n; i++) {
		const char *text = arena_strndup(&r->arena, pieces[i].text, pieces[i].len);
		if (!text)
			return NULL;
		copy[i] = (args_piece){ text, pieces[i].len };
	}
	return copy;
}

static bool add_template(chrome_reader *r, const draft *d)
{
	uint8_t *kinds = arena_alloc(&r->arena, d->n_gaps + 1);
	const args_piece *pieces = copy_pieces(r, d->pieces, d->n_pieces), *keys = copy_pieces(r, d->keys, d->n_gaps);
	chrome_template *t = kinds && pieces && keys ? VEC_ADD(&r->templates) : NULL;

	if (!t)
		return false;
	memcpy(kinds, d->kinds, d->n_gaps);
	*t = (chrome_template){
		.shape = { .n_gaps = d->n_gaps, .n_args_pieces = d->n_args_pieces, .pieces = pieces, .kinds = kinds },
		.keys = keys,
		.family = CHROME_NONE,
	};
	t->facts = chrome_facts_find(&t->shape, keys);
	return true;
}

/* The same for templates that differ in kinds alone. */
static uint64_t shape_of(const chrome_reader *r, const args_piece *pieces, uint32_t n_gaps)
{
	uint64_t shape = n_gaps;

	for (uint32_t i = 0; i <= n_gaps; i++)
		shape = text_hash_safe((const uint8_t *)pieces[i].text, pieces[i].len, r->seed ^ shape);
	return shape;
}

void chrome_keep_text(chrome_reader *r, const args_template *t, uint32_t gap)
{
	uint64_t shape = shape_of(r, t->pieces, t->n_gaps);
	bool known = r->text_gaps.n >= CHROME_TEXT_GAPS;

	for (size_t i = 0; i < r->text_gaps.n && !known; i++)
		known = r->text_gaps.items[i].shape == shape && r->text_gaps.items[i].gap == gap;
	text_gap *g = known ? NULL : VEC_ADD(&r->text_gaps);
	if (g) { /* without it the result is the same */
		*g = (text_gap){ shape, gap };
		r->forget = true;
	}
}

void chrome_forget(chrome_reader *r)
{
	if (!r->forget || r->n_forgotten == CHROME_FORGET_MAX)
		return;
	r->forget = false;
	r->n_forgotten++;
	r->root = (layout_node){ 0 };
	r->last_end = &r->root;
	r->n_nodes = 0;
}

static void draft_text_gaps(const chrome_reader *r, draft *d)
{
	uint64_t shape = r->text_gaps.n && d->n_gaps ? shape_of(r, d->pieces, d->n_gaps) : 0;

	for (size_t i = 0; i < r->text_gaps.n; i++) {
		const text_gap *g = &r->text_gaps.items[i];
		if (g->shape == shape && g->gap < d->n_gaps && d->members[g->gap])
			d->kinds[g->gap] = ARG_TEXT;
	}
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

typedef VEC(uint8_t) bytes;

static bool put_bytes(bytes *b, const void *from, size_t n)
{
	if (b->capacity - b->n < n) {
		size_t more = (b->n + n) * 2;
		uint8_t *grown = realloc(b->items, more);
		if (!grown)
			return false;
		b->items = grown;
		b->capacity = more;
	}
	memcpy(b->items + b->n, from, n);
	b->n += n;
	return true;
}

/* Everything that makes a layout differ from another, as bytes. */
static bool describe(bytes *to, const chrome_layout *l, const draft *d)
{
	bool ok = put_bytes(to, &l->phase, 1) && put_bytes(to, &l->scope, 1) && put_bytes(to, &l->flags, 1) &&
		  put_bytes(to, &d->n_gaps, 4) && put_bytes(to, &d->n_args_pieces, 4) &&
		  put_bytes(to, l->order, d->n_gaps) && put_bytes(to, d->kinds, d->n_gaps);

	for (uint32_t i = 0; ok && i < d->n_pieces; i++)
		ok = put_bytes(to, &d->pieces[i].len, 4) && put_bytes(to, d->pieces[i].text, d->pieces[i].len);
	return ok;
}

/* The gap of a member of the args object, of several the last one; -1: there is none. */
static int16_t gap_of(const draft *d, const char *key)
{
	for (uint32_t i = d->n_args_pieces ? d->n_args_pieces - 1 : 0; i > 0; i--)
		if (d->keys[i - 1].len == strlen(key) && memcmp(d->keys[i - 1].text, key, d->keys[i - 1].len) == 0)
			return (int16_t)(i - 1);
	return -1;
}

/* order[i]: which value of the text gap i of the template is. */
static void put_order(chrome_layout *l, const draft *d)
{
	for (uint32_t i = 0; i < d->n_gaps; i++) {
		uint8_t before = 0;
		for (uint32_t k = 0; k < d->n_gaps && d->members[i]; k++)
			if (d->members[k])
				before = (uint8_t)(before + (d->members[k]->value < d->members[i]->value));
		l->order[i] = before;
	}
	l->in_order = d->separator == CHROME_NONE;
	for (uint32_t i = 0; i < d->n_gaps; i++)
		l->in_order &= l->order[i] == i;
}

static void put_memory(chrome_layout *l, const draft *d)
{
	static const char *const keys[MEMORY_ARGS] = {
		[MEMORY_BYTES] = "Bytes",      [MEMORY_ADDRESS] = "Addr",	   [MEMORY_DEVICE_TYPE] = "Device Type",
		[MEMORY_DEVICE] = "Device Id", [MEMORY_TOTAL] = "Total Allocated", [MEMORY_RESERVED] = "Total Reserved",
	};

	for (size_t i = 0; i < MEMORY_ARGS; i++)
		l->memory[i] = gap_of(d, keys[i]);
}

static char first_char(const chrome_member *m, char otherwise)
{
	return m->value && m->value_len == 3 && m->value[0] == '"' ? (char)m->value[1] : otherwise;
}

static uint32_t find_layout(chrome_reader *r, const chrome_parts *p, const draft *d)
{
	const chrome_member *bp = &p->known[MEMBER_BP];
	chrome_layout l = {
		.phase = first_char(&p->known[MEMBER_PHASE], 0),
		.scope = first_char(&p->known[MEMBER_SCOPE], 't'),
		.flags = bp->value && first_char(bp, 0) == 'e' ? EVENT_BINDS_ENCLOSING : 0,
		.template = CHROME_NONE,
		.n_values = d->n_gaps - (d->separator != CHROME_NONE),
		.separator = d->separator,
		.correlation = gap_of(d, "correlation"),
		.device = gap_of(d, "device"),
	};
	bytes description = { 0 };
	bool is_new = false;

	put_order(&l, d);
	put_memory(&l, d);
	uint32_t number = CHROME_NONE;
	if (describe(&description, &l, d))
		number = reader_find(r, &r->shapes, description.items, description.n, 0, &is_new);
	VEC_DONE(&description);
	if (number == CHROME_NONE || !is_new)
		return number;
	/* Numbers of layouts and shapes go together; templates may be fewer. */
	chrome_layout *to = VEC_ADD(&r->layouts);
	if (!to || (d->n_pieces && !add_template(r, d))) {
		r->failed = true;
		return CHROME_NONE;
	}
	if (d->n_pieces)
		l.template = (uint32_t)r->templates.n - 1;
	*to = l;
	return number;
}

/* ---- The matcher's tree ------------------------------------------------------------------------------------------ */

typedef struct gap {
	const uint8_t *from, *to;
	uint8_t kind;
	bool quoted;
	uint8_t *template_kind; /* of a value of the arguments */
} gap;

static void add_gap(gap *gaps, size_t *n, gap g)
{
	size_t at = (*n)++;

	for (; at > 0 && gaps[at - 1].from > g.from; at--)
		gaps[at] = gaps[at - 1];
	gaps[at] = g;
}

static void add_known(gap *gaps, size_t *n, const chrome_member *m, gap_kind kind)
{
	bool quoted = m->value && m->value[0] == '"';

	if (m->value)
		add_gap(gaps, n,
			(gap){ .from = m->value + quoted,
			       .to = m->value + m->value_len - quoted,
			       .kind = (uint8_t)kind,
			       .quoted = quoted });
}

/* All gaps in the order of the text. False: this event is no model for others. */
static bool find_gaps(const chrome_parts *p, draft *d, gap *gaps, size_t *n)
{
	static const struct {
		chrome_member_kind member;
		gap_kind gap;
	} known[] = { { MEMBER_NAME, GAP_NAME }, { MEMBER_TS, GAP_TS },	  { MEMBER_DUR, GAP_DUR },
		      { MEMBER_PID, GAP_PID },	 { MEMBER_TID, GAP_TID }, { MEMBER_ID, GAP_ID } };
	const uint8_t *id = p->known[MEMBER_ID].value;
	bool kept = false;

	*n = 0;
	for (uint32_t i = 0; i < d->n_gaps; i++) {
		const chrome_member *m = d->members[i];
		if (!m)
			continue;
		bool is_id = id && m->value == id;
		kept |= is_id;
		add_gap(gaps, n,
			(gap){ .from = m->value,
			       .to = m->value + m->value_len,
			       .kind = is_id			? GAP_KEPT_ID
				       : d->kinds[i] == ARG_INT ? GAP_INT
								: GAP_TEXT,
			       .template_kind = &d->kinds[i] });
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].gap != GAP_ID || !kept)
			add_known(gaps, n, &p->known[known[i].member], known[i].gap);
	return !p->known[MEMBER_NAME].value || p->known[MEMBER_NAME].value[0] == '"';
}

/* The child of `node` with this piece and gap; GAP_TEXT is preferred to GAP_INT, as it takes both. */
static layout_node *child_of(const layout_node *node, const uint8_t *piece, size_t len, const gap *g)
{
	layout_node *found = NULL;

	for (layout_node *n = node->child; n; n = n->next) {
		if (n->len != len || memcmp(n->piece, piece, len) != 0)
			continue;
		if (n->gap == GAP_TEXT && g->kind == GAP_INT)
			return n;
		if (n->gap == g->kind && n->quoted == g->quoted)
			found = n;
	}
	return found;
}

static layout_node *add_child(chrome_reader *r, layout_node *parent, const uint8_t *piece, size_t len, const gap *g)
{
	uint8_t *copy = r->n_nodes < CHROME_LAYOUT_NODES ? arena_alloc(&r->arena, len + 64) : NULL;
	layout_node *n = copy ? arena_alloc(&r->arena, sizeof *n) : NULL;

	if (!n)
		return NULL;
	memcpy(copy, piece, len);
	n->piece = copy;
	n->len = (uint32_t)len;
	n->gap = g->kind;
	n->quoted = g->quoted;
	n->next = parent->child;
	parent->child = n;
	r->n_nodes++;
	return n;
}

/* Walks the tree along the event and adds what is missing; the kinds of the arguments' values follow the tree. Returns
   the node of the event's end, or NULL. */
static layout_node *learn(chrome_reader *r, const chrome_parts *p, draft *d)
{
	gap gaps[ARGS_GAPS_MAX + 8];
	const uint8_t *at = p->start;
	layout_node *node = &r->root;
	size_t n;

	if (!find_gaps(p, d, gaps, &n))
		return NULL;
	gaps[n++] = (gap){ .from = p->end, .to = p->end, .kind = GAP_END };
	for (size_t i = 0; i < n; i++) {
		size_t len = (size_t)(gaps[i].from - at);
		layout_node *child = child_of(node, at, len, &gaps[i]);
		if (!child)
			child = add_child(r, node, at, len, &gaps[i]);
		if (!child)
			return NULL;
		if (gaps[i].template_kind && child->gap == GAP_TEXT)
			*gaps[i].template_kind = ARG_TEXT;
		at = gaps[i].to;
		node = child;
	}
	return node;
}

uint32_t chrome_layout_of(chrome_reader *r, const chrome_parts *p, bool teach)
{
	draft d;
	size_t len = 0;

	draft_make(&d, p);
	draft_text_gaps(r, &d);
	layout_node *end = teach && !r->careful ? learn(r, p, &d) : NULL;
	uint32_t number = find_layout(r, p, &d);
	if (end && number != CHROME_NONE) {
		const chrome_member *category = &p->known[MEMBER_CATEGORY];
		const uint8_t *text = category->value;
		if (text)
			len = text[0] == '"' ? category->value_len - 2 : category->value_len, text += text[0] == '"';
		end->layout = number;
		end->category = reader_string(r, text ? text : (const uint8_t *)"", len);
		const chrome_layout *layout = &r->layouts.items[number];
		int16_t at = layout->correlation;
		end->correlation = at >= 0 ? layout->order[at] : -1;
		end->is_text = at >= 0 && r->templates.items[layout->template].shape.kinds[at] == ARG_TEXT;
	}
	return number;
}
