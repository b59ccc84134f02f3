/* What rules share; see rule.h. */
#include "analyze/bottlenecks/rule.h"

#include <stdarg.h>
#include <string.h>
#include "base/format_number.h"
#include "base/search.h"

double rule_setting(const rule_run *r, size_t i)
{
	return setting(r->e->options, &r->rule->settings[i]);
}

void rule_saw(rule_run *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = result_ok(r->result) ? arena_vprintf(&r->result->arena, format, args) : NULL;
	va_end(args);
	r->result->failed = r->result->failed || !text;
	r->saw = text ? text : "";
}

void rule_no_data(rule_run *r, const char *missing)
{
	r->verdict = VERDICT_NO_DATA;
	r->missing = missing;
	r->saw = missing;
}

bool rule_exceeds(const rule_run *r, int64_t lost_ns, size_t i)
{
	return r->e->span_ns > 0 && (double)lost_ns > rule_setting(r, i) * (double)r->e->span_ns;
}

static sonde_severity severity_of(double share)
{
	return share >= 0.40 ? SONDE_CRITICAL : share >= 0.15 ? SONDE_HIGH : share >= 0.05 ? SONDE_MEDIUM : SONDE_LOW;
}

sonde_finding *rule_found(rule_run *r, int64_t lost_ns, const char *title_format, ...)
{
	const evidence *e = r->e;
	va_list args;

	lost_ns = lost_ns > e->span_ns ? e->span_ns : lost_ns;
	va_start(args, title_format);
	const char *title = result_ok(r->result) ? arena_vprintf(&r->result->arena, title_format, args) : NULL;
	va_end(args);
	double share = lost_ns >= 0 && e->span_ns > 0 ? (double)lost_ns / (double)e->span_ns : 0;
	sonde_finding *f = result_finding(r->result, r->rule->name, severity_of(share), "%s", title ? title : "");
	int64_t n = e->n_ranks ? (int64_t)e->n_ranks : 1;
	if (lost_ns >= 0)
		finding_lost(f, lost_ns / n, e->span_ns / n);
	if (e->n_steps)
		finding_steps(f, e->steps[0].number, e->steps[e->n_steps - 1].number);
	r->verdict = VERDICT_FOUND;
	return f;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char *keep(const rule_run *r, const char *text)
{
	const char *kept = result_string(r->result, text);

	return kept ? kept : "";
}

const char *say_ns(const rule_run *r, int64_t ns)
{
	char text[NUMBER_TEXT];

	return keep(r, format_ns(text, ns));
}

const char *say_share(const rule_run *r, int64_t part_ns, int64_t whole_ns)
{
	char text[NUMBER_TEXT];
	double percent = whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0;
	const char *kept = result_format(r->result, "%s %%", format_percent(text, percent));

	return kept ? kept : "";
}

const char *say_bytes(const rule_run *r, int64_t bytes)
{
	char text[NUMBER_TEXT];

	return keep(r, format_bytes(text, bytes > 0 ? (uint64_t)bytes : 0));
}

const char *say_count(const rule_run *r, uint64_t n)
{
	char text[NUMBER_TEXT];

	return keep(r, format_count(text, n));
}

const char *say_some(const rule_run *r, uint64_t n, const char *one, const char *more)
{
	const char *text = result_format(r->result, "%s %s", say_count(r, n), n == 1 ? one : more);

	return text ? text : "";
}

const char *say_times(const rule_run *r, uint64_t n)
{
	return n == 1 ? "once" : say_some(r, n, "", "times");
}

const char *say_each(const rule_run *r, int64_t ns)
{
	return say_ns(r, ns / (r->e->n_ranks ? (int64_t)r->e->n_ranks : 1));
}

const char *say_part(const rule_run *r, int64_t ns)
{
	return say_share(r, ns, r->e->span_ns);
}

const char *say_of_it(const rule_run *r, int64_t part_ns, int64_t whole_ns)
{
	const char *part = say_each(r, part_ns);

	if (strcmp(part, say_each(r, whole_ns)) == 0)
		return "all of it";
	const char *text = result_format(r->result, "%s of it", part);
	return text ? text : "";
}

const char *say_per_rank(const rule_run *r)
{
	return r->e->n_ranks > 1 ? " per rank" : "";
}

/* ---- Tallies ----------------------------------------------------------------------------------------------------- */

void tally_add(tally *t, uint32_t number, int64_t ns)
{
	size_t at = t->n_worst;

	t->n++;
	t->ns = add_bounded(t->ns, ns);
	while (at > 0 && t->worst_ns[at - 1] < ns)
		at--;
	if (at == TALLY_WORST)
		return;
	t->n_worst += t->n_worst < TALLY_WORST;
	for (size_t i = t->n_worst - 1; i > at; i--) {
		t->worst[i] = t->worst[i - 1];
		t->worst_ns[i] = t->worst_ns[i - 1];
	}
	t->worst[at] = number;
	t->worst_ns[at] = ns;
}

void tally_link(rule_run *r, sonde_finding *f, const tally *t)
{
	for (size_t i = 0; i < t->n_worst; i++) {
		const row *at = evidence_row(r->e, t->worst[i]);
		finding_slice(r->result, f, at->slice);
		finding_affects(r->result, f, row_name(&r->e->rows, at));
		if (i == 0)
			finding_time(f, at->start_ns, row_end_ns(at));
	}
}

static site_set empty_set(const rule_run *r)
{
	site_set s;

	if (!site_set_init(&s, &r->e->rows))
		r->result->failed = true;
	return s;
}

site_set rule_sites(const rule_run *r, uint32_t traits)
{
	site_set s = empty_set(r);

	for (uint32_t i = 0; s.has && i < r->e->rows.n_sites; i++)
		if (r->e->traits[i] & traits)
			site_set_add(&s, i);
	return s;
}

site_set rule_sites_named(const rule_run *r, const char *name)
{
	const rows *all = &r->e->rows;
	site_set s = empty_set(r);

	for (uint32_t i = 0; s.has && i < all->n_sites; i++)
		if (strcmp(index_text(all->ix, all->sites[i].name), name) == 0)
			site_set_add(&s, i);
	return s;
}

site_set rule_kernels(const rule_run *r)
{
	const rows *all = &r->e->rows;
	site_set s = empty_set(r);

	for (uint32_t i = 0; s.has && i < all->n_sites; i++)
		if (all->sites[i].class == CLASS_KERNEL || all->sites[i].class == CLASS_COPY)
			site_set_add(&s, i);
	return s;
}

tally tally_rows(const rule_run *r, uint32_t traits)
{
	site_set sites = rule_sites(r, traits);
	tally t = { 0 };

	FOR_ROWS(i, r, &sites)
	tally_add(&t, (uint32_t)i, rows_at(&r->e->rows, i).dur_ns);
	site_set_done(&sites);
	return t;
}

bool row_is_inside(const evidence *e, uint32_t number, uint32_t traits)
{
	for (uint32_t at = evidence_row(e, number)->parent; at != ROW_NONE; at = evidence_row(e, at)->parent)
		if (row_traits(e, evidence_row(e, at)) & traits)
			return true;
	return false;
}

uint32_t row_at(const evidence *e, uint32_t track, int64_t ns)
{
	size_t first = e->rows.first_of_track[track];
	size_t next = FIRST_NOT(i, first, e->rows.first_of_track[track + 1], rows_at(&e->rows, i).start_ns <= ns);

	if (next == first)
		return ROW_NONE;
	uint32_t at = (uint32_t)next - 1;
	while (at != ROW_NONE && row_end_ns(evidence_row(e, at)) < ns)
		at = evidence_row(e, at)->parent;
	return at;
}
