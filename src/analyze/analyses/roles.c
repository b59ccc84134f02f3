/* Where the time of a step goes: kernels, copies, communication, driver calls, waiting for data, operators, nothing. */
#include "analyze/tables/step_roles.h"

static const column step_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },    { "step", "step", CELL_INTEGER, 0, false },
	{ "start_ns", "start", CELL_NS, 5, false },    { "dur_ns", "time", CELL_NS, 0, false },
	{ "kernel_ns", "kernel", CELL_NS, 0, false },  { "memcpy_ns", "copy", CELL_NS, 0, false },
	{ "memset_ns", "memset", CELL_NS, 4, false },  { "communication_ns", "comm", CELL_NS, 0, false },
	{ "runtime_ns", "driver", CELL_NS, 0, false }, { "loader_ns", "data", CELL_NS, 0, false },
	{ "host_ns", "host", CELL_NS, 0, false },      { "other_ns", "other", CELL_NS, 0, false },
};
enum { FIRST_ROLE = 4 };

static const column role_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },  { "role", "role", CELL_STRING, 0, false },
	{ "avg_ns", "per step", CELL_NS, 0, false }, { "total_ns", "total", CELL_NS, 1, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};

static void put_step(sonde_result *r, table *t, int32_t rank, const step_roles *s, const role_step *step)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_integer(rank);
	if (!s->is_made_up)
		c[1] = cell_integer(step->number);
	c[2] = cell_ns(step->start_ns);
	c[3] = cell_ns(step->end_ns - step->start_ns);
	for (int k = 0; k < STEP_ROLES; k++)
		c[FIRST_ROLE + k] = cell_ns(step_roles_cost(s, (step_role)k, step->start_ns, step->end_ns));
}

static void put_roles(sonde_result *r, table *t, int32_t rank, const step_roles *s)
{
	int64_t whole = 0, total[STEP_ROLES] = { 0 };

	for (size_t i = 0; i < s->n_steps; i++) {
		const role_step *step = &s->steps[i];
		whole = add_bounded(whole, step->end_ns - step->start_ns);
		for (int k = 0; k < STEP_ROLES; k++)
			total[k] =
				add_bounded(total[k], step_roles_cost(s, (step_role)k, step->start_ns, step->end_ns));
	}
	for (int k = 0; k < STEP_ROLES; k++) {
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(rank);
		c[1] = cell_string(step_role_name((step_role)k));
		c[2] = cell_ns(total[k] / (int64_t)s->n_steps);
		c[3] = cell_ns(total[k]);
		c[4] = whole ? cell_percent(100.0 * (double)total[k] / (double)whole) : cell_unknown();
	}
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *roles = result_table(r, "roles", "Average step time by role", role_columns,
				    sizeof role_columns / sizeof role_columns[0]);
	table *steps = result_table(r, "role_steps", "Step by step", step_columns,
				    sizeof step_columns / sizeof step_columns[0]);
	bool ok = true, made_up = false;
	size_t n_cut = 0;

	for (size_t k = 0; ok && k < w->rows.n_ranks; k++) {
		step_roles s;
		ok = step_roles_find(&s, w, k);
		if (ok)
			put_roles(r, roles, w->rows.ranks[k].rank, &s);
		for (size_t i = 0; ok && i < s.n_steps; i++)
			put_step(r, steps, w->rows.ranks[k].rank, &s, &s.steps[i]);
		made_up |= ok && s.is_made_up;
		n_cut += s.n_cut;
		step_roles_done(&s);
	}
	limit_rows(r, steps, options, "steps");
	table_chart(steps, CHART_BARS, "step", "dur_ns", "rank");
	if (made_up)
		result_note_add(r, "steps", "the trace has no steps: the whole trace counts as one");
	if (n_cut)
		result_note_add(r, "cut off",
				"%zu step%s at the end skipped: the recording ended before the device finished %s",
				n_cut, n_cut == 1 ? "" : "s", n_cut == 1 ? "it" : "them");
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis roles_work = { .add = add, .needs_no_device = true };

const analysis roles_analysis = {
	.name = "roles",
	.summary = "Step time by role: kernels, copies, communication, driver, data loading, operators, other",
	.work = &roles_work,
};
