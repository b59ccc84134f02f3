/* Tensors are converted from one type to another again and again. */
#include "analyze/bottlenecks/rule.h"

enum { WARN, COUNT };
static const setting_def settings[] = {
	{ "dtype_changes.warn", SETTING_SHARE, "3%", "conversions, as a share of the selected time" },
	{ "dtype_changes.count", SETTING_NUMBER, "2", "minimum conversions per step" },
};

/* A copy between host and device has no kernel, so kernels inside convert. */
static bool is_inside_copy(const evidence *e, const site_set *copies, uint32_t i)
{
	for (; i != ROW_NONE; i = evidence_row(e, i)->parent)
		if (copies->has[evidence_row(e, i)->site])
			return true;
	return false;
}

static void add_kernels(const rule_run *r, const site_set *copies, tally *changes)
{
	const evidence *e = r->e;
	site_set kernels = rule_kernels(r);

	FOR_ROWS(i, r, &kernels)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (at->class == CLASS_KERNEL && at->launch != ROW_NONE && is_inside_copy(e, copies, at->launch))
			tally_add(changes, (uint32_t)i, at->dur_ns);
	}
	site_set_done(&kernels);
}

/* Loaders and optimizers convert scalars. */
static void add_copies(const rule_run *r, const site_set *copies, tally *changes)
{
	FOR_ROWS(i, r, copies)
	if (!row_is_inside(r->e, (uint32_t)i, TRAIT_LOADER | TRAIT_OPTIMIZER))
		tally_add(changes, (uint32_t)i, rows_at(&r->e->rows, i).dur_ns);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally changes = { 0 };

	site_set copies = rule_sites_named(r, "aten::_to_copy");
	bool has_copies = rule_next(r, &copies, 0) < e->rows.n;

	if (has_copies && e->has_device)
		add_kernels(r, &copies, &changes);
	else if (has_copies)
		add_copies(r, &copies, &changes);
	site_set_done(&copies);
	rule_saw(r, "%s conversions, %s (%s)", say_count(r, changes.n), say_each(r, changes.ns),
		 say_part(r, changes.ns));
	double n_steps = e->n_steps ? (double)(e->n_steps * e->n_ranks) : 1;
	if ((double)changes.n < rule_setting(r, COUNT) * n_steps || !rule_exceeds(r, changes.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, changes.ns, "tensors are converted between types repeatedly");
	finding_evidence(r->result, f, "%s conversions by aten::_to_copy take %s.", say_count(r, changes.n),
			 say_each(r, changes.ns));
	finding_suggest(r->result, f,
			"keep one type: parameters in the compute type, autocast around more than single operators");
	f->confidence = 0.7;
	tally_link(r, f, &changes);
}

const rule dtype_changes_rule = {
	.name = "dtype_changes",
	.checks = "Tensors are converted between types repeatedly",
	.number = 49,
	.sign_of = "overhead",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
