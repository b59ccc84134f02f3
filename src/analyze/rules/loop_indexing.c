/* A loop in Python takes a tensor apart element by element: the same operators after every aten::select. */
#include "analyze/rule.h"

#include <string.h>

enum { TIMES, WARN };
static const setting_def settings[] = {
	{ "loop_indexing.times", SETTING_NUMBER, "10", "repetitions in a row" },
	{ "loop_indexing.warn", SETTING_SHARE, "1%", "the loops, as a share of the time looked at" },
};

static bool is_select(const evidence *e, size_t i)
{
	return strcmp(row_name(&e->rows, &e->rows.items[i]), "aten::select") == 0;
}

/* Where what follows the select ends: at the next select among its siblings, or at the end of them. */
static size_t group_end(const evidence *e, size_t select)
{
	size_t at = select, next;

	while ((next = row_sibling(e, at)) != SIZE_MAX && !is_select(e, next))
		at = next;
	return e->rows.items[at].end;
}

/* The same operators one after the other; the last group of a loop may go on. */
static bool same_group(const evidence *e, size_t a, size_t b)
{
	for (;;) {
		if (e->rows.items[a].site != e->rows.items[b].site)
			return false;
		a = row_sibling(e, a);
		b = row_sibling(e, b);
		if (a == SIZE_MAX || is_select(e, a))
			return true;
		if (b == SIZE_MAX)
			return false;
	}
}

/* The last sibling of `first` that begins before row `end`. */
static size_t last_before(const evidence *e, size_t first, size_t end)
{
	size_t at = first;

	for (size_t next; (next = row_sibling(e, at)) != SIZE_MAX && next < end;)
		at = next;
	return at;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally loops = { 0 };

	for (size_t i = 0; i < e->rows.n;) {
		uint64_t times = 1;
		size_t next = i;
		size_t group = is_select(e, i) ? group_end(e, i) : i;
		for (next = group; next > i && next < e->rows.n && is_select(e, next) && same_group(e, i, next);
		     times++)
			next = group_end(e, next);
		if (times > 1 && (double)times >= rule_setting(r, TIMES)) {
			size_t last = last_before(e, i, next);
			int64_t ns = row_end_ns(&e->rows.items[last]) - e->rows.items[i].start_ns;
			tally_add(&loops, (uint32_t)i, ns - ns / (int64_t)times);
		}
		i = next > i ? next : i + 1;
	}
	rule_saw(r, "%s loops, %s (%s)", say_count(r, loops.n), say_each(r, loops.ns), say_part(r, loops.ns));
	if (!rule_exceeds(r, loops.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, loops.ns, "a Python loop goes through a tensor element by element");
	finding_evidence(r->result, f,
			 "%s times the same operators follow an aten::select at least %d times in a row: %s.",
			 say_count(r, loops.n), (int)rule_setting(r, TIMES), say_each(r, loops.ns));
	finding_suggest(r->result, f, "do it with one operator over the whole tensor");
	f->confidence = 0.7;
	tally_link(r, f, &loops);
}

const rule loop_indexing_rule = {
	.name = "loop_indexing",
	.checks = "A Python loop goes through a tensor element by element",
	.number = 23,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
