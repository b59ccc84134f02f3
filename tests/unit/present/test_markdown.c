/* Results as Markdown: what a person pastes, and what a name cannot do there. */
#include "printed.h"

static const column columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "calls", .header = "calls", .type = CELL_COUNT },
	{ .key = "total_ns", .header = "total", .type = CELL_NS },
	{ .key = "hidden", .header = "hidden", .type = CELL_COUNT, .priority = -1 },
};

static void add_row(sonde_result *r, table *t, unsigned depth, const char *name, uint64_t calls, int64_t total_ns)
{
	cell *row = table_row(r, t, depth);

	row[0] = cell_string(name);
	row[1] = cell_count(calls);
	row[2] = cell_ns(total_ns);
}

static void a_result_is_headline_findings_tables_and_notes(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	sonde_finding *f = result_finding(r, "dataloader", SONDE_HIGH, "data loading holds up every step");
	table *t = result_table(r, "names", NULL, columns, 4);

	finding_lost(f, 1940000000, 12125000000);
	finding_evidence(r, f, "The loader is busy.");
	finding_evidence(r, f, "Always.");
	finding_suggest(r, f, "prefetch");
	finding_affects(r, f, "loader_next");
	finding_steps(f, 3, 3);
	result_headline(r, "run.sonde   12.4 s");
	add_row(r, t, 0, "step", 31744, 11800000000);
	add_row(r, t, 1, "aten::mm", 190, 10000000);
	add_row(r, t, 1, "left out", 190, 1);
	t->n_shown = 2;
	t->more = "1 more name: --top all";
	result_table(r, "empty", "Nothing", columns, 4);
	result_note_add(r, "memory", "cpu peak 312 MiB");
	assert_printed(r, SONDE_MARKDOWN,
		       "## report\n"
		       "\n"
		       "run.sonde   12.4 s\n"
		       "\n"
		       "### Findings\n"
		       "\n"
		       "1. **high: data loading holds up every step**, 1.94 s, 16.0 %\n"
		       "\n"
		       "   The loader is busy. Always.\n"
		       "   - Change: prefetch\n"
		       "   - Affects: loader\\_next\n"
		       "   - Evidence: step 3\n"
		       "\n"
		       "### names\n"
		       "\n"
		       "| name | calls | total |\n"
		       "| --- | ---: | ---: |\n"
		       "| step | 31,744 | 11.8 s |\n"
		       "| &emsp;aten::mm | 190 | 0.01 s |\n"
		       "\n"
		       "1 more name: --top all\n"
		       "\n"
		       "### Nothing\n"
		       "\n"
		       "| name | calls | total |\n"
		       "| --- | ---: | ---: |\n"
		       "\n"
		       "(none)\n"
		       "\n"
		       "- **memory** cpu peak 312 MiB\n");
	sonde_result_free(r);
}

static void names_are_text_and_nothing_else(void **state)
{
	static const struct {
		const char *name, *written;
	} cases[] = {
		{ "aten::mm.out", "aten::mm.out" },
		{ "a|b", "a\\|b" },
		{ "<img src=x>", "\\<img src=x\\>" },
		{ "[x](javascript:1)", "\\[x\\](javascript:1)" },
		{ "**b** _i_ `c` ~~s~~", "\\*\\*b\\*\\* \\_i\\_ \\`c\\` \\~\\~s\\~\\~" },
		{ "&lt;", "\\&lt;" },
		{ "https://x.org", "https\\://x.org" },
		{ "www.x.org a@b.c", "www\\.x.org a\\@b.c" },
		{ "# no heading", "\\# no heading" },
		{ "1. no list", "1\\. no list" },
		{ "two\nlines", "two lines" },
		{ "\x1b[31m \xff", "\xef\xbf\xbd\\[31m \xef\xbf\xbd" },
		{ "a\\b", "a\\\\b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("x");
		char expected[256];

		result_headline(r, "%s", cases[i].name);
		snprintf(expected, sizeof expected, "## x\n\n%s\n", cases[i].written);
		assert_printed(r, SONDE_MARKDOWN, expected);
		sonde_result_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_headline_findings_tables_and_notes),
		cmocka_unit_test(names_are_text_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
