/* Tensors are converted from one type to another again and again. */
#include "analyze/rule.h"

#include <string.h>

enum { WARN, COUNT };
static const setting_def settings[] = {
	{ "dtype_changes.warn", SETTING_SHARE, "3%", "conversions, as a share of the time looked at" },
	{ "dtype_changes.count", SETTING_NUMBER, "2", "conversions per step, at least" },
};

static bool is_copy(const evidence *e, const row *at)
{
	return strcmp(row_name(&e->rows, at), "aten::_to_copy") == 0;
}

/* A copy between host and device has no kernel, so kernels inside convert. */
static bool is_inside_copy(const evidence *e, uint32_t i)
{
	for (; i != ROW_NONE; i = evidence_row(e, i)->parent)
		if (is_copy(e, evidence_row(e, i)))
			return true;
	return false;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally changes = { 0 };

	for (size_t i = 0; i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		if (e->has_device && at->class == CLASS_KERNEL && at->launch != ROW_NONE &&
		    is_inside_copy(e, at->launch))
			tally_add(&changes, (uint32_t)i, at->dur_ns);
		else if (!e->has_device && is_copy(e, at) &&
			 !row_is_inside(e, (uint32_t)i, TRAIT_LOADER | TRAIT_OPTIMIZER)) /* which convert scalars */
			tally_add(&changes, (uint32_t)i, at->dur_ns);
	}
	rule_saw(r, "%s conversions, %s (%s)", say_count(r, changes.n), say_each(r, changes.ns),
		 say_part(r, changes.ns));
	double n_steps = e->n_steps ? (double)(e->n_steps * e->n_ranks) : 1;
	if ((double)changes.n < rule_setting(r, COUNT) * n_steps || !rule_exceeds(r, changes.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, changes.ns, "tensors change their type again and again");
	finding_evidence(r->result, f, "%s conversions by aten::_to_copy take %s.", say_count(r, changes.n),
			 say_each(r, changes.ns));
	finding_suggest(r->result, f,
			"keep one type: parameters in the type of the computation, autocast around more "
			"than single operators");
	f->confidence = 0.7;
	tally_link(r, f, &changes);
}

const rule dtype_changes_rule = {
	.name = "dtype_changes",
	.checks = "Tensors change their type again and again",
	.number = 49,
	.sign_of = "overhead",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
