/* Findings of a page: a ranked list, with what each costs as a bar beside the most expensive one. */
#include "present/html.h"

enum { MAX_FINDINGS = 200, MAX_NAMES = 12 };

static double most_lost(const sonde_result *result)
{
	double most = 0;

	for (size_t i = 0; i < result->n_findings; i++)
		if (result->findings[i]->seconds_lost > most)
			most = result->findings[i]->seconds_lost;
	return most;
}

static void put_cost(page *p, const sonde_finding *f, double most, number_unit unit)
{
	char text[NUMBER_TEXT];

	page_raw(p, "<div class=\"cost\"><strong>");
	page_raw(p, f->seconds_lost < 0 ? "-" : format_in_unit(text, f->seconds_lost * 1e9, unit));
	page_raw(p, "</strong><span>");
	if (f->share >= 0)
		page_format(p, "%s %%", format_percent(text, f->share * 100));
	page_raw(p, "</span>");
	page_bar(p, "lost", most > 0 ? f->seconds_lost / most : 0);
	page_raw(p, "</div>");
}

static void put_labelled(page *p, const char *label, const char *text)
{
	page_format(p, "<p><b>%s</b> ", label);
	page_text(p, text, PAGE_SENTENCE);
	page_raw(p, "</p>");
}

static void put_names(page *p, const sonde_finding *f)
{
	page_raw(p, "<p class=\"names\"><b>Affects</b>");
	for (size_t i = 0; i < f->n_affected && i < MAX_NAMES; i++) {
		page_raw(p, " <code>");
		page_text(p, f->affected[i], PAGE_NAME);
		page_raw(p, "</code>");
	}
	if (f->n_affected > MAX_NAMES)
		page_format(p, " and %zu more", f->n_affected - MAX_NAMES);
	page_raw(p, "</p>");
}

static void put_finding(page *p, const sonde_finding *f, double most, number_unit unit)
{
	char place[FINDING_PLACE];

	page_format(p, "<li class=\"%s\"><div class=\"head\"><span class=\"severity\">%s</span><h3>",
		    sonde_severity_name(f->severity), sonde_severity_name(f->severity));
	page_text(p, f->title, PAGE_TITLE);
	page_raw(p, "</h3>");
	put_cost(p, f, most, unit);
	page_raw(p, "</div><div class=\"body\">");
	if (f->n_evidence)
		page_raw(p, "<p>");
	for (size_t i = 0; i < f->n_evidence; i++) {
		page_raw(p, i ? " " : "");
		page_text(p, f->evidence[i], PAGE_SENTENCE);
	}
	if (f->n_evidence)
		page_raw(p, "</p>");
	if (f->suggestion)
		put_labelled(p, "Change", f->suggestion);
	if (f->n_affected)
		put_names(p, f);
	if (*finding_place(place, sizeof place, f))
		put_labelled(p, "Evidence", place);
	page_raw(p, "</div></li>\n");
}

void html_findings_print(page *p, const sonde_result *result)
{
	size_t n = result->n_findings < MAX_FINDINGS ? result->n_findings : MAX_FINDINGS;
	double most = most_lost(result);
	number_unit unit = number_unit_for(NUMBER_NS, most * 1e9);

	if (!result->has_findings)
		return;
	page_raw(p, "<section class=\"findings\"><h2>Findings</h2>\n");
	if (n == 0)
		page_raw(p, "<p>Nothing worth changing found.</p>\n");
	page_raw(p, n ? "<ol>\n" : "");
	for (size_t i = 0; i < n && !page_is_full(p); i++)
		put_finding(p, result->findings[i], most, unit);
	page_raw(p, n ? "</ol>\n" : "");
	if (n < result->n_findings)
		page_format(p, "<p class=\"cut\">The first %zu of %zu findings; <code>--json</code> has all.</p>\n", n,
			    result->n_findings);
	page_raw(p, "</section>\n");
}
