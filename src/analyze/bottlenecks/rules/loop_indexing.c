/*
 * A loop in Python takes tensors apart element by element: the same operators after every aten::select. A pass of the
 * loop may have several of them, one for each tensor: pred[i] == label[i].
 */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { TIMES, WARN };
enum { MOST_SELECTS = 4 }; /* in a pass of a loop */
static const setting_def settings[] = {
	{ "loop_indexing.times", SETTING_NUMBER, "10", "minimum consecutive repetitions" },
	{ "loop_indexing.warn", SETTING_SHARE, "1%", "the loops, as a share of the selected time" },
};

#define SELECT "aten::select"

static bool is_select(const evidence *e, size_t i)
{
	return strcmp(row_name(&e->rows, ROW_AT(&e->rows, i)), SELECT) == 0;
}

/* The next one among its siblings, or SIZE_MAX. */
static size_t next_select(const evidence *e, size_t at)
{
	do
		at = row_sibling(e, at);
	while (at != SIZE_MAX && !is_select(e, at));
	return at;
}

/* The same operators follow both selects, as many as there are up to the next one behind a. The last of them behind b,
   which may go on; SIZE_MAX: they do not. */
static size_t same_group(const evidence *e, size_t a, size_t b)
{
	for (;;) {
		if (rows_at(&e->rows, a).site != rows_at(&e->rows, b).site)
			return SIZE_MAX;
		size_t last = b;
		a = row_sibling(e, a);
		b = row_sibling(e, b);
		if (a == SIZE_MAX || is_select(e, a))
			return last;
		if (b == SIZE_MAX)
			return SIZE_MAX;
	}
}

/* How often what is behind the select comes again, with n_selects in each pass; where the last pass ends. */
static uint64_t passes(const evidence *e, size_t select, size_t n_selects, size_t *ret_last)
{
	size_t at = select, found;
	uint64_t n = 0;

	for (size_t i = 0; i < n_selects && at != SIZE_MAX; i++)
		at = next_select(e, at);
	while (at != SIZE_MAX && (found = same_group(e, select, at)) != SIZE_MAX) {
		*ret_last = found;
		select = next_select(e, select);
		at = next_select(e, at);
		n++;
	}
	return n / n_selects + 1;
}

/* A loop that begins with the select; where it ends, or SIZE_MAX. */
static size_t find_loop(const rule_run *r, size_t select, uint64_t *ret_times)
{
	size_t last = SIZE_MAX;

	for (size_t n = 1; n <= MOST_SELECTS; n++) {
		*ret_times = passes(r->e, select, n, &last);
		if (*ret_times > 1 && (double)*ret_times >= rule_setting(r, TIMES))
			return last;
	}
	return SIZE_MAX;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally loops = { 0 };
	uint64_t n_passes = 0;
	interval worst = { 0 };

	site_set selects = rule_sites_named(r, SELECT);

	FOR_ROWS(i, r, &selects)
	{
		uint64_t times = 0;
		size_t last = find_loop(r, i, &times);
		if (last == SIZE_MAX)
			continue;
		interval loop = { .start = rows_at(&e->rows, i).start_ns, .end = row_end_ns(ROW_AT(&e->rows, last)) };
		int64_t ns = loop.end - loop.start;
		tally_add(&loops, (uint32_t)i, ns - ns / (int64_t)times);
		worst = ns > worst.end - worst.start ? loop : worst;
		n_passes += times;
		i = rows_at(&e->rows, last).end - 1;
	}
	site_set_done(&selects);
	rule_saw(r, "%s loops, %s (%s)", say_count(r, loops.n), say_each(r, loops.ns), say_part(r, loops.ns));
	if (!rule_exceeds(r, loops.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, loops.ns, "a loop reads tensors element by element");
	finding_evidence(r->result, f,
			 "%s in which the same operators follow every aten::select, %s passes in total; one pass each "
			 "would save %s.",
			 say_some(r, loops.n, "loop", "loops"), say_count(r, n_passes), say_each(r, loops.ns));
	finding_suggest(r->result, f, "use one operator over the whole tensor");
	f->confidence = 0.7;
	tally_link(r, f, &loops);
	finding_time(f, worst.start, worst.end);
}

const rule loop_indexing_rule = {
	.name = "loop_indexing",
	.checks = "A Python loop reads a tensor element by element",
	.number = 23,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
