/* The optimizer updates tensor after tensor where one fused call would do. */
#include "analyze/bottlenecks/rule.h"

enum { OPS, WARN };
static const setting_def settings[] = {
	{ "single_tensor_optimizer.ops", SETTING_NUMBER, "50", "operators per call of the optimizer" },
	{ "single_tensor_optimizer.warn", SETTING_SHARE, "1%", "the optimizer, as a share of the selected time" },
};

static int64_t idle_inside(const evidence *e, const row *scope)
{
	const evidence_rank *k = evidence_find_rank(e, row_rank(&e->rows, scope));

	return k ? intervals_overlap_with(&k->idle, scope->start_ns, row_end_ns(scope)) : 0;
}

/* Operators without others inside that lie in the row; 0 when it works on many tensors at once. *work grows by what
   is not lost: while the device works, or what they do themselves on the host. */
static uint64_t count_ops(const evidence *e, uint32_t scope, int64_t *work)
{
	uint64_t n = 0;
	int64_t sum = 0;

	for (uint32_t i = scope + 1; i < evidence_row(e, scope)->end; i++) {
		const row *at = evidence_row(e, i);
		if (row_traits(e, at) & TRAIT_FOREACH) {
			*work = add_bounded(*work, evidence_row(e, scope)->dur_ns);
			return 0;
		}
		if (!(row_traits(e, at) & TRAIT_OP) ||
		    (at->end > i + 1 && row_traits(e, evidence_row(e, i + 1)) & TRAIT_OP))
			continue;
		n++;
		sum = add_bounded(sum, at->dur_ns);
	}
	const row *at = evidence_row(e, scope);
	*work = add_bounded(*work, e->has_device ? at->dur_ns - idle_inside(e, at) : sum);
	return n;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally scopes = { 0 };
	uint64_t n_ops = 0, n = 0;
	int64_t work = 0, whole = 0;

	site_set sites = rule_sites(r, TRAIT_OPTIMIZER);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (at->flags & ROW_ON_STREAM || row_is_inside(e, (uint32_t)i, TRAIT_OPTIMIZER))
			continue;
		n++;
		uint64_t ops = count_ops(e, (uint32_t)i, &work);
		n_ops += ops;
		whole = add_bounded(whole, at->dur_ns);
		if ((double)ops > rule_setting(r, OPS))
			tally_add(&scopes, (uint32_t)i, at->dur_ns);
	}
	site_set_done(&sites);
	if (!n) {
		rule_no_data(r, "no optimizer");
		return;
	}
	int64_t lost = whole > work ? whole - work : 0;
	rule_saw(r, "%s operators in %s calls, %s of %s between them", say_count(r, n_ops), say_count(r, n),
		 say_each(r, lost), say_each(r, whole));
	if (!scopes.n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the optimizer updates one tensor at a time");
	finding_evidence(r->result, f, "The optimizer calls %s operators each time; %s of its %s is call overhead.",
			 say_count(r, n_ops / n), say_each(r, lost), say_each(r, whole));
	finding_suggest(r->result, f, "use fused=True, or foreach=True if the device has no fused version");
	f->confidence = 0.7;
	tally_link(r, f, &scopes);
}

const rule single_tensor_optimizer_rule = {
	.name = "single_tensor_optimizer",
	.checks = "The optimizer updates one tensor at a time",
	.number = 24,
	.sign_of = "overhead",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
