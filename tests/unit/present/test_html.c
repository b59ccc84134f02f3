/*
 * Results as a page: what is escaped, what is bounded, what is drawn. tests/browser/ opens the same pages:
 *
 *   unit_present_html plain|hostile > page.html
 */
#include "printed.h"

#include <math.h>
#include <string.h>

#include "present/html.h"

static const column name_columns[] = {
	{ .key = "name", .header = "name", .type = CELL_STRING },
	{ .key = "calls", .header = "calls", .type = CELL_COUNT },
	{ .key = "total_ns", .header = "total", .type = CELL_NS },
	{ .key = "peak_bytes", .header = "peak", .type = CELL_BYTES, .priority = 3 },
	{ .key = "hidden", .header = "hidden", .type = CELL_COUNT, .priority = -1 },
	{ .key = "percent", .header = "%", .type = CELL_PERCENT, .bar = true },
};

static const column series_columns[] = {
	{ .key = "stream", .header = "stream", .type = CELL_INTEGER },
	{ .key = "time_ns", .header = "time", .type = CELL_NS },
	{ .key = "queue", .header = "outstanding launches", .type = CELL_COUNT },
};

static const column step_columns[] = {
	{ .key = "step", .header = "step", .type = CELL_INTEGER },
	{ .key = "dur_ns", .header = "duration", .type = CELL_NS },
};

static void add_names(sonde_result *r, const char *const *names, size_t n, size_t n_rows)
{
	table *t = result_table(r, "names", "Where the time went", name_columns, 6);

	for (size_t i = 0; i < n_rows; i++) {
		cell *row = table_row(r, t, i % 7 < 4 ? (unsigned)(i % 7) : 3);

		row[0] = cell_string(names[i % n]);
		row[1] = cell_count(31744 / (i + 1));
		row[2] = cell_ns((int64_t)(11800000000 / (i + 1)));
		row[3] = i % 5 ? cell_bytes((uint64_t)(i + 1) << 20) : cell_unknown();
		row[4] = cell_count(i);
		row[5] = cell_percent(100.0 / (double)(i + 1));
	}
	t->n_shown = n_rows < 20 ? n_rows : 20;
	t->more = "more names: --top all";
}

static void add_series(sonde_result *r, size_t n)
{
	table *t = result_table(r, "queue", "Queue length over time", series_columns, 3);

	for (size_t stream = 0; stream < 3; stream++) {
		for (size_t i = 0; i < n; i++) {
			cell *row = table_row(r, t, 0);
			double x = (double)i / (double)n;

			row[0] = cell_integer(7 + (int64_t)stream);
			row[1] = cell_ns((int64_t)(x * 4.2e9));
			row[2] = cell_count((uint64_t)(40 + 30 * sin(x * 20 + (double)stream) + 10 * (double)(i % 3)) *
					    (stream + 1));
		}
	}
	table_chart(t, CHART_STEPS, "time_ns", "queue", "stream");
	t = result_table(r, "steps", "Steps", step_columns, 2);
	for (size_t i = 0; i < 60; i++) {
		cell *row = table_row(r, t, 0);

		row[0] = cell_integer(11 + (int64_t)i);
		row[1] = cell_ns(62000000 + (int64_t)(i * 7919 % 13) * 900000 + (i == 37 ? 59000000 : 0));
	}
	table_chart(t, CHART_BARS, "step", "dur_ns", NULL);
}

static sonde_result *plain_page(void)
{
	static const char *const names[] = {
		"step",
		"forward",
		"attention",
		"aten::_scaled_dot_product_flash_attention_backward",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		"std::array<char*, 3ul>>"
		"(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		"optimizer",
	};
	sonde_result *r = result_new("bottlenecks");
	sonde_finding *f;

	result_headline(r, "run.sonde   ./train --epochs 3   12.4 s   2 threads   200 steps (10 warm-up excluded)");
	f = result_finding(r, "dataloader", SONDE_HIGH, "data loading holds up every step");
	finding_lost(f, 1940000000, 12400000000);
	finding_evidence(r, f,
			 "The training thread waits in loader_next 10.2 ms per step (median of 190) while the loader "
			 "thread is busy 98 %% of the time.");
	finding_suggest(
		r, f, "load in more than one thread, or prefetch 2 batches; the loader needs 1.9 threads to keep up.");
	finding_affects(r, f, "loader_next");
	finding_affects(r, f, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	finding_steps(f, 11, 200);
	finding_time(f, 4810000000, 9200000000);
	finding_slice(r, f, 1873);
	f = result_finding(r, "exposed_comm", SONDE_CRITICAL, "communication is not hidden behind computation");
	finding_lost(f, 3100000000, 12400000000);
	finding_evidence(r, f, "Of 3.40 s of communication 3.10 s run while nothing is computed.");
	finding_suggest(r, f, "smaller buckets, so that the first one starts while backward still runs.");
	f->rank = 2;
	f = result_finding(r, "pageable", SONDE_MEDIUM, "copies from pageable memory");
	finding_lost(f, 110000000, 12400000000);
	finding_evidence(r, f, "1,200 copies of 3.1 MiB each took 2.3 times as long as pinned ones would.");
	finding_suggest(r, f, "pin_memory=True.");
	f = result_finding(r, "memory", SONDE_LOW, "memory grows from step to step");
	finding_evidence(r, f, "1.00 MiB per step, 190 MiB so far.");
	result_rank_findings(r);
	add_names(r, names, 7, 200);
	add_series(r, 4000);
	result_table(r, "empty", "Recompiled graphs", step_columns, 2);
	result_note_add(r, "memory", "cpu peak 312 MiB at 4.81 s in backward");
	result_note_add(r, "checked",
			"63 rules: 4 found something, 36 passed, 23 had no data (no device rows: 19; no ranks: 4)");
	return r;
}

/* Names that would do something if anything let them. */
static sonde_result *hostile_page(void)
{
	static const char *const attacks[] = {
		"<script>window.pwned = 1</script>",
		"</script><script>window.pwned = 1</script>",
		"</style></title></table></td><img src=x onerror=\"window.pwned = 1\">",
		"\" onmouseover=\"window.pwned = 1\" x=\"",
		"' onfocus='window.pwned = 1' autofocus='",
		"<svg onload=window.pwned=1><iframe srcdoc='<script>parent.pwned = 1</script>'>",
		"javascript:window.pwned=1",
		"<!-- <![CDATA[ --> ]]> &lt;b&gt; &#60;script&#62; {{1}} ${1} `x`",
		"\xff\xfe broken \xc3 utf-8 \x01\x02\x1b[31m \xe2\x80\xae turned",
		"=HYPERLINK(\"http://example.com\")",
		"<base href=\"https://example.com/\"><link rel=stylesheet href=//example.com/x.css><meta "
		"http-equiv=refresh "
		"content=\"0;url=https://example.com\">",
	};
	enum { N = sizeof attacks / sizeof *attacks, LONG = 1 << 20 };
	sonde_result *r = result_new("<script>window.pwned = 1</script>");
	char *wide = malloc(LONG + 1);

	assert_non_null(wide);
	memset(wide, '<', LONG);
	wide[LONG] = '\0';
	const char *names[N + 1];
	memcpy(names, attacks, sizeof attacks);
	names[N] = result_string(r, wide);
	column *columns = arena_alloc(&r->arena, 4 * sizeof *columns);
	columns[0] = (column){ .key = attacks[0], .header = attacks[1], .type = CELL_STRING };
	columns[1] = (column){ .key = attacks[3], .header = attacks[2], .type = CELL_NS };
	columns[2] = (column){ .key = names[N], .header = names[N], .type = CELL_PERCENT, .bar = true };
	columns[3] = (column){ .key = "series", .header = attacks[4], .type = CELL_STRING };
	table *t = result_table(r, attacks[3], attacks[1], columns, 4);
	for (size_t i = 0; i < 200; i++) {
		cell *row = table_row(r, t, (unsigned)i);

		row[0] = cell_string(names[i % (N + 1)]);
		row[1] = cell_ns(i % 3 ? (int64_t)i : INT64_MIN + (int64_t)i);
		row[2] = cell_percent(i % 4 ? (double)i : i % 8 ? (double)INFINITY : (double)NAN);
		row[3] = cell_string(names[i % (N + 1)]);
	}
	table_chart(t, CHART_LINE, attacks[3], names[N], "series");
	result_headline(r, "%s %s", attacks[2], wide);
	for (size_t i = 0; i <= N; i++) {
		sonde_finding *f = result_finding(r, attacks[0], (sonde_severity)(i % 4), "%s", names[i]);

		finding_lost(f, (int64_t)i * 1000, 5000);
		finding_evidence(r, f, "%s", names[i]);
		finding_suggest(r, f, "%s", names[i]);
		for (size_t k = 0; k <= N; k++)
			finding_affects(r, f, names[k]);
		result_note_add(r, names[i], "%s", names[i]);
	}
	free(wide);
	return r;
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void text_cannot_become_markup(void **state)
{
	(void)state;
	sonde_result *r = hostile_page();
	char *text = printed(r, SONDE_HTML, 80, true, false);
	static const char *const none[] = { "<img",  "<iframe",		"<svg onload", "<base",
					    "<link", " onmouseover=\"", "\" onerror" };

	/* The page's script and its data; neither where npm was not there to build it. */
	assert_int_equal(count(text, "<script"), *page_of_report ? 2 : 0);
	assert_int_equal(count(text, "</script"), *page_of_report ? 2 : 0);
	assert_int_equal(count(text, "</noscript"), *page_of_report ? 1 : 0);
	assert_int_equal(count(text, "</html>"), 1);
	assert_int_equal(count(text, "<meta http-equiv="), 1);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_null(strstr(text, none[i]));
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t');
	assert_true(strlen(text) < 2 << 20); /* of more than 60 MB */
	free(text);
	sonde_result_free(r);
}

/* What the page's script reads. */
static char *data_of(const sonde_result *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	html_data_print(r, out);
	fclose(out);
	return text;
}

static void a_page_says_what_it_leaves_out(void **state)
{
	(void)state;
	static const char *const names[] = { "a" };
	sonde_result *r = result_new("report");
	add_names(r, names, 1, PAGE_ROWS + 1);
	for (size_t i = 0; i <= PAGE_FINDINGS; i++)
		result_finding(r, "rule", SONDE_LOW, "title");
	char *text = data_of(r), *whole = printed(r, SONDE_HTML, 80, true, false);

	assert_non_null(strstr(text, "\"cut\": \"This page has 5,000 of 5,001 rows; --csv --table names has all.\""));
	assert_int_equal(count(text, "[\"a\", "), PAGE_ROWS);
	assert_non_null(strstr(text, "This page has the first 200 of 201 findings; --json has all."));
	assert_non_null(strstr(whole, "<p>100 of 5,001 rows; <code>--csv --table names</code> has all.</p>"));
	assert_int_equal(count(whole, "<tr>"), 101);
	free(text);
	free(whole);
	sonde_result_free(r);
}

static void the_whole_page_has_a_budget(void **state)
{
	(void)state;
	sonde_result *r = result_new("report");
	char wide[PAGE_NAME + 1];

	memset(wide, '<', PAGE_NAME);
	wide[PAGE_NAME] = '\0';
	const char *names[] = { wide };
	for (int i = 0; i < 10; i++)
		add_names(r, names, 1, PAGE_ROWS);
	char *text = data_of(r), *whole = printed(r, SONDE_HTML, 80, true, false);
	assert_true(strlen(text) > PAGE_BUDGET);
	assert_true(strlen(text) < PAGE_BUDGET + PAGE_BUDGET / 8);
	assert_non_null(strstr(text, "\"This page has 0 of 5,000 rows"));
	assert_true(strlen(whole) < PAGE_BUDGET + 2 * STATIC_BUDGET);
	assert_string_equal(whole + strlen(whole) - 8, "</html>\n");
	free(text);
	free(whole);
	sonde_result_free(r);
}

static void count_row(void *context, size_t row)
{
	size_t *found = context;

	found[0]++;
	found[1] += row == 123456;
}

static void a_chart_keeps_its_peaks_and_its_size(void **state)
{
	(void)state;
	sonde_result *r = result_new("queue");
	table *t = result_table(r, "queue", NULL, series_columns, 3);
	enum { N = 200000 };

	for (int i = 0; i < N; i++) {
		cell *row = table_row(r, t, 0);

		row[0] = cell_integer(i % 2);
		row[1] = cell_ns(i * 1000);
		row[2] = cell_count(i == 123456 ? 1000 : 1);
	}
	table_chart(t, CHART_LINE, "time_ns", "queue", "stream");
	table_chart(t, CHART_LINE, "no such column", "queue", NULL); /* ignored */
	size_t found[2] = { 0 };
	html_rows_each(t, count_row, found);
	assert_in_range(found[0], 2 * 2 * 800,
			2 * 2 * 800 + 8); /* of two series the first and the last of each place */
	assert_int_equal(found[1], 1);
	char *text = data_of(r);
	assert_non_null(strstr(text, "of 200,000 rows, those in the chart; --csv --table "
				     "queue has all."));
	free(text);
	sonde_result_free(r);
}

static void parts_of_a_row_are_told_by_their_keys(void **state)
{
	(void)state;
	static const column part_columns[] = { { "rank", "rank", CELL_INTEGER, 0, false },
					       { "busy_ns", "busy", CELL_NS, 0, false },
					       { "idle_ns", "idle", CELL_NS, 0, false } };
	static const char *const keys[] = { "busy_ns", "no such column", "idle_ns", NULL };
	sonde_result *r = result_new("parts");
	table *t = result_table(r, "parts", NULL, part_columns, 3);

	table_parts(t, keys);
	assert_int_equal(t->n_parts, 2);
	char *text = data_of(r);
	assert_non_null(strstr(text, "\"parts\": [\"busy_ns\", \"idle_ns\"]"));
	free(text);
	sonde_result_free(r);
}

/* Axes without extent and values beyond what divides: all rows, or those of the chart. */
static void odd_series_end(void **state)
{
	(void)state;
	static const int64_t cases[][2] = {
		{ 5, 5 }, { INT64_MAX - 1, INT64_MAX }, { INT64_MIN, INT64_MAX }, { 0, 1 }
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		sonde_result *r = result_new("odd");
		table *t = result_table(r, "odd", NULL, step_columns, 2);

		for (int k = 0; k < PAGE_ROWS + 2; k++) {
			cell *row = table_row(r, t, 0);

			row[0] = cell_integer(cases[i][k % 2]);
			row[1] = cell_ns(cases[i][k % 2]);
		}
		table_chart(t, CHART_BARS, "step", "dur_ns", NULL);
		size_t found[2] = { 0 };
		html_rows_each(t, count_row, found);
		assert_in_range(found[0], 2, PAGE_ROWS + 2);
		free(printed(r, SONDE_HTML, 80, true, false));
		sonde_result_free(r);
	}
}

static void markdown_is_inert_too(void **state)
{
	(void)state;
	sonde_result *r = hostile_page();
	char *text = printed(r, SONDE_MARKDOWN, 80, true, false);

	for (const char *at = text; (at = strchr(at, '<')); at++)
		assert_true(at > text && at[-1] == '\\');
	assert_null(strstr(text, "p://"));
	assert_null(strstr(text, "s://"));
	assert_true(strlen(text) < 1 << 20);
	free(text);
	sonde_result_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_cannot_become_markup),
		cmocka_unit_test(a_page_says_what_it_leaves_out),
		cmocka_unit_test(the_whole_page_has_a_budget),
		cmocka_unit_test(a_chart_keeps_its_peaks_and_its_size),
		cmocka_unit_test(parts_of_a_row_are_told_by_their_keys),
		cmocka_unit_test(odd_series_end),
		cmocka_unit_test(markdown_is_inert_too),
	};

	if (argc < 2)
		return cmocka_run_group_tests(tests, NULL, NULL);
	sonde_result *r = strcmp(argv[1], "hostile") == 0 ? hostile_page() : plain_page();
	sonde_status status = sonde_result_print(r, SONDE_HTML, NULL, stdout, NULL);
	sonde_result_free(r);
	return status ? 1 : 0;
}
