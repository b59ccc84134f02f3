/* Convolutions of shapes that never change, without cuDNN's or MIOpen's search for the fastest algorithm. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>
#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "autotune.warn", SETTING_SHARE, "30%", "convolutions, as a share of the device time" },
};

typedef struct convolutions {
	tally forward;
	int64_t ns;	      /* of the device, forward and backward */
	uint64_t n_off, n;    /* calls that say whether they search, and do not */
	VEC(uint64_t) shapes; /* hashes; of those calls */
} convolutions;

/* The text of one of the values of a list of texts: ["", "[1, 1]", "False"]. */
static bool item_is(const char *json, size_t len, size_t number, const char *wanted)
{
	const char *end = json + len;
	size_t n = strlen(wanted);

	for (size_t at = 0; json < end; at++) {
		const char *from = memchr(json, '"', (size_t)(end - json));
		const char *to = from ? memchr(from + 1, '"', (size_t)(end - from - 1)) : NULL;
		if (!to)
			return false;
		if (at == number)
			return (size_t)(to - from - 1) == n && memcmp(from + 1, wanted, n) == 0;
		json = to + 1;
	}
	return false;
}

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
	return hash;
}

/* aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark,
   deterministic, cudnn_enabled, allow_tf32) */
static void look_at(const rule_run *r, const args_column *read, uint32_t i, convolutions *c)
{
	enum { BENCHMARK = 9, DETERMINISTIC, ENABLED };
	const row *at = evidence_row(r->e, i);
	size_t len, dims_len;
	const char *values = args_column_text(r->e->rows.ix, &read[0], at->args, &len);
	const char *dims = args_column_text(r->e->rows.ix, &read[1], at->args, &dims_len);

	tally_add(&c->forward, i, row_cost_ns(r->e, i));
	if (!values || !dims)
		return;
	c->n_off += item_is(values, len, BENCHMARK, "False") && item_is(values, len, DETERMINISTIC, "False") &&
		    item_is(values, len, ENABLED, "True");
	uint64_t *shape = VEC_ADD(&c->shapes);
	r->result->failed = r->result->failed || !shape;
	if (shape)
		*shape = hash_of(dims, dims_len);
	c->n = c->shapes.n;
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t count_shapes(convolutions *c)
{
	uint64_t n = 0;

	if (c->n)
		qsort(c->shapes.items, c->n, sizeof *c->shapes.items, by_hash);
	for (uint64_t i = 0; i < c->n; i++)
		n += !i || c->shapes.items[i] != c->shapes.items[i - 1];
	return n;
}

static void judge(rule_run *r, convolutions *c)
{
	const evidence *e = r->e;
	uint64_t n_shapes = count_shapes(c), n_steps = e->n_steps ? e->n_steps * e->n_ranks : 1;
	int64_t all = add_bounded(c->ns, c->forward.ns);

	if (!c->n) {
		rule_no_data(r, c->forward.n ? "no inputs of convolutions" : "no convolutions");
		return;
	}
	rule_saw(r, "%s of %s convolutions without a search, %s shapes, %s of the device time", say_count(r, c->n_off),
		 say_count(r, c->n), say_count(r, n_shapes), say_share(r, all, e->device_ns));
	if (2 * c->n_off <= c->n || n_shapes > c->n / n_steps || e->n_steps < 2 ||
	    (double)all <= rule_setting(r, WARN) * (double)e->device_ns)
		return;
	sonde_finding *f = rule_found(r, -1, "convolutions run with an algorithm that was not benchmarked");
	finding_evidence(r->result, f,
			 "Convolutions take %s of the device time, with %s shapes that repeat in every step, and "
			 "benchmark is off.",
			 say_share(r, all, e->device_ns), say_count(r, n_shapes));
	finding_suggest(r->result, f, "torch.backends.cudnn.benchmark = True before the first step");
	f->confidence = 0.6;
	tally_link(r, f, &c->forward);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	args_column read[] = { { .role = ROLE_INPUT_VALUES }, { .role = ROLE_INPUT_DIMS } };
	convolutions c = { 0 };
	site_set forward = rule_sites_named(r, "aten::_convolution");
	site_set backward = rule_sites_named(r, "aten::convolution_backward");
	bool has_args = args_columns_read(e->rows.ix, read, 2);

	r->result->failed = r->result->failed || !has_args;
	FOR_ROWS(i, r, &forward)
	if (has_args && row_traits(e, ROW_AT(&e->rows, i)) & TRAIT_OP)
		look_at(r, read, (uint32_t)i, &c);
	FOR_ROWS(i, r, &backward)
	if (row_traits(e, ROW_AT(&e->rows, i)) & TRAIT_OP)
		c.ns = add_bounded(c.ns, row_cost_ns(e, (uint32_t)i));
	if (has_args) {
		judge(r, &c);
		args_columns_done(read, 2);
	}
	site_set_done(&forward);
	site_set_done(&backward);
	VEC_DONE(&c.shapes);
}

const rule autotune_rule = {
	.name = "autotune",
	.checks = "Convolutions run with an algorithm that was not benchmarked",
	.number = 50,
	.needs = NEED_DEVICE | NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
