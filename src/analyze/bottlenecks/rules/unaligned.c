/* Matrix products in 16 bits whose weights have sizes that tensor cores do not like. */
#define _GNU_SOURCE /* memmem */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { WARN, MULTIPLE };
static const setting_def settings[] = {
	{ "unaligned.warn", SETTING_SHARE, "1%", "these products, as a share of the selected time" },
	{ "unaligned.multiple", SETTING_NUMBER, "8", "sizes should be multiples of this" },
};

static bool is_16_bit(const char *type, size_t len)
{
	return memmem(type, len, "Half", 4) || memmem(type, len, "BFloat16", 8);
}

/* The last two sizes of the last matrix in "[[64], [32, 17], [17, 64], []]". */
static bool is_odd(const char *dims, size_t len, int64_t multiple)
{
	int64_t last[2] = { 0, 0 }, now[2] = { 0, 0 }, value = 0;
	size_t n = 0;
	bool in_number = false;

	for (size_t i = 0; i < len; i++) {
		if (dims[i] >= '0' && dims[i] <= '9') {
			value = in_number ? value * 10 + (dims[i] - '0') : dims[i] - '0';
			value = value > 1000000000 ? 1000000000 : value;
			in_number = true;
			continue;
		}
		if (in_number) {
			now[0] = now[1];
			now[1] = value;
			n++;
		}
		in_number = false;
		if (dims[i] == '[')
			n = 0;
		if (dims[i] == ']' && n >= 2) {
			last[0] = now[0];
			last[1] = now[1];
			n = 0;
		}
	}
	return multiple > 0 && last[1] > 0 && (last[0] % multiple || last[1] % multiple);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	args_column columns_read[] = { { .role = ROLE_INPUT_DIMS }, { .role = ROLE_INPUT_TYPES } };
	tally odd = { 0 };
	uint64_t n = 0;

	if (!args_columns_read(e->rows.ix, columns_read, 2)) {
		r->result->failed = true;
		return;
	}
	site_set products = rule_sites(r, TRAIT_MATMUL);
	FOR_ROWS(i, r, &products)
	{
		const row *at = ROW_AT(&e->rows, i);
		size_t type_len, dims_len;
		if (row_is_inside(e, (uint32_t)i, TRAIT_MATMUL))
			continue;
		const char *type = args_column_text(e->rows.ix, &columns_read[1], at->args, &type_len);
		const char *dims = args_column_text(e->rows.ix, &columns_read[0], at->args, &dims_len);
		if (!type || !dims || !is_16_bit(type, type_len))
			continue;
		n++;
		if (is_odd(dims, dims_len, (int64_t)rule_setting(r, MULTIPLE)))
			tally_add(&odd, (uint32_t)i, row_cost_ns(e, (uint32_t)i));
	}
	args_columns_done(columns_read, 2);
	site_set_done(&products);
	if (!n) {
		rule_no_data(r, "no shapes of 16-bit products");
		return;
	}
	rule_saw(r, "%s of %s products, %s", say_count(r, odd.n), say_count(r, n), say_each(r, odd.ns));
	if (!rule_exceeds(r, odd.ns, WARN))
		return;
	sonde_finding *f =
		rule_found(r, odd.ns / 2, "matrix sizes are not multiples of %d", (int)rule_setting(r, MULTIPLE));
	finding_evidence(r->result, f, "%s of %s matrix products in 16 bits have weights of odd sizes and take %s.",
			 say_count(r, odd.n), say_count(r, n), say_each(r, odd.ns));
	finding_suggest(r->result, f, "pad vocabulary and hidden sizes to a multiple of 8, preferably 64");
	f->confidence = 0.6;
	tally_link(r, f, &odd);
}

const rule unaligned_rule = {
	.name = "unaligned",
	.checks = "Matrix sizes are not multiples of 8",
	.number = 21,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
