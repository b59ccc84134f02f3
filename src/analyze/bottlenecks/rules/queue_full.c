/* So many launches are outstanding that further ones block. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>

enum { LENGTH, WARN };
static const setting_def settings[] = {
	{ "queue_full.length", SETTING_NUMBER, "1024", "outstanding launches" },
	{ "queue_full.warn", SETTING_SHARE, "1%",
	  "idle time of the device during it, as a share of the selected time" },
};

#define SORT_NAME sort_times
#define SORT_TYPE int64_t
#define SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort_template.h"

/* When what the rank's devices ran was launched, in order; NULL when out of memory. */
static int64_t *find_launches(const evidence *e, const rows_rank *of, size_t *ret_n)
{
	int64_t *launches = malloc((of->n_device + 1) * sizeof *launches);
	size_t n = 0;

	for (size_t i = 0; launches && i < of->n_device; i++) {
		const row *at = evidence_row(e, of->device[i]);
		if (at->launch != ROW_NONE)
			launches[n++] = evidence_row(e, at->launch)->start_ns;
	}
	if (launches && !sort_times(launches, n)) {
		free(launches);
		launches = NULL;
	}
	*ret_n = launches ? n : 0;
	return launches;
}

/* When at least `length` kernels of the rank were launched and had not begun. */
static void find_full(const rule_run *r, const rows_rank *of, int64_t length, int64_t *most, intervals *full)
{
	size_t n, launched = 0, begun = 0;
	int64_t *launches = find_launches(r->e, of, &n), since = 0;

	r->result->failed = r->result->failed || !launches;
	for (size_t i = 0; launches && i < of->n_device; i++) {
		const row *at = evidence_row(r->e, of->device[i]);
		if (at->launch == ROW_NONE)
			continue;
		for (; launched < n && launches[launched] <= at->start_ns; launched++)
			if ((int64_t)(launched + 1 - begun) == length)
				since = launches[launched];
		int64_t outstanding = (int64_t)launched - (int64_t)begun;
		*most = outstanding > *most ? outstanding : *most;
		if (outstanding >= length) {
			intervals_add(full, since, at->start_ns);
			since = at->start_ns;
		}
		begun++;
	}
	free(launches);
	r->result->failed = !intervals_merge(full) || r->result->failed;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t all = 0, lost = 0, most = 0;
	use_part longest = { 0 };

	for (size_t i = 0; i < e->n_ranks; i++) {
		intervals full = { 0 };
		find_full(r, e->ranks[i].of, (int64_t)rule_setting(r, LENGTH), &most, &full);
		all += intervals_length(&full);
		lost = add_bounded(
			lost,
			intervals_overlap(&full, &e->ranks[i].idle)); /* a full queue is fine while the device works */
		interval one;
		for (interval_walk w = intervals_first(&full); intervals_next(&w, &one);)
			if (one.end - one.start > longest.to_ns - longest.from_ns)
				longest = (use_part){ .from_ns = one.start,
						      .to_ns = one.end,
						      .rank = e->ranks[i].of->rank };
		intervals_done(&full);
	}
	rule_saw(r, "at most %s outstanding, full for %s, device idle during them %s", say_count(r, (uint64_t)most),
		 say_each(r, all), say_each(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the launch queue is full and the device idle");
	finding_evidence(r->result, f,
			 "For %s (%s of the time) at least %s launches wait to run, and for %s the device is idle.",
			 say_each(r, all), say_part(r, all), say_count(r, (uint64_t)rule_setting(r, LENGTH)),
			 say_of_it(r, lost, all));
	finding_suggest(r->result, f, "check what the queued work waits for: another stream, a copy, another rank");
	f->confidence = 0.4;
	rule_link_time(r, f, longest.rank, longest.from_ns, longest.to_ns);
}

const rule queue_full_rule = {
	.name = "queue_full",
	.checks = "The launch queue is full",
	.number = 33,
	.needs = NEED_DEVICE,
	.sign_of = "stream_wait exposed_comm straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
