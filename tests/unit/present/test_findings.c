/* Findings in every format. */
#include "printed.h"

#include <string.h>

#include "base/screen_text.h"
#include "present/present.h"

static sonde_result *make_findings(void)
{
	sonde_result *r = result_new("bottlenecks");
	sonde_finding *f = result_finding(r, "dataloader", SONDE_HIGH, "data loading holds up every step");

	finding_lost(f, 1940000000, 12125000000);
	finding_evidence(r, f, "The training thread waits in `loader_next` 10.2 ms per step (median of 190).");
	finding_evidence(r, f, "The loader thread is busy 98 %% of the time.");
	finding_suggest(
		r, f, "load in more than one thread, or prefetch 2 batches; the loader needs 1.9 threads to keep up.");
	finding_steps(f, 11, 200);
	finding_time(f, 4810000000, 9200000000);
	for (uint64_t i = 0; i < 7; i++)
		finding_slice(r, f, 17 + i);
	finding_affects(r, f, "loader_next");
	f = result_finding(r, "clock", SONDE_LOW, "=an unknown loss, \"quoted\"");
	f->rank = 3;
	f->confidence = 0.5;
	result_note_add(r, "checked", "63 rules");
	return r;
}

static void as_text_they_are_numbered_and_wrapped(void **state)
{
	(void)state;
	sonde_result *r = make_findings();

	assert_printed(r, SONDE_TEXT,
		       "1  high    data loading holds up every step                       1.94 s  16.0 %\n"
		       "   The training thread waits in `loader_next` 10.2 ms per step (median of 190).\n"
		       "   The loader thread is busy 98 % of the time.\n"
		       "   Change: load in more than one thread, or prefetch 2 batches; the loader needs\n"
		       "   1.9 threads to keep up.\n"
		       "   Affects: loader_next\n"
		       "   Evidence: steps 11-200, 4.81 s to 9.20 s, slices 17, 18, 19, 20, 21 and 2\n"
		       "   more\n"
		       "2  low     =an unknown loss, \"quoted\"                                  -       -\n"
		       "   Evidence: rank 3\n"
		       "\n"
		       "checked   63 rules\n");
	sonde_result_free(r);
}

static void a_short_time_long_after_the_start_is_told_by_its_length(void **state)
{
	static const struct {
		int64_t from_ns, to_ns;
		const char *says;
	} cases[] = {
		{ 25100000, 25400000, "25.1 ms to 25.4 ms" },
		{ 25100000, 25112300, "25.1 ms for 12.3 us" },
		{ 0, 12300, "0 s to 12.3 us" },
	};
	char place[FINDING_PLACE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_finding f = { .rank = -1 };
		finding_time(&f, cases[i].from_ns, cases[i].to_ns);
		assert_string_equal(finding_place(place, sizeof place, &f), cases[i].says);
	}
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	(void)state;
	sonde_result *r = make_findings();

	for (unsigned width = 48; width < 200; width += 7) {
		char *text = printed(r, SONDE_TEXT, width, true, false);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(screen_columns(line, true) <= width);
		free(text);
	}
	sonde_result_free(r);
}

static void in_json_the_unknown_is_null(void **state)
{
	(void)state;
	sonde_result *r = make_findings();
	char *text = printed(r, SONDE_JSON, 80, true, false);

	assert_non_null(strstr(text, "\"rule\": \"dataloader\", \"severity\": \"high\", \"seconds_lost\": 1.94, "
				     "\"share\": 0.16, \"confidence\": 1, "));
	assert_non_null(strstr(text, "\"slices\": [17, 18, 19, 20, 21, 22, 23], \"from_ns\": 4810000000, "));
	assert_non_null(strstr(text, "\"severity\": \"low\", \"seconds_lost\": null, \"share\": null, "
				     "\"confidence\": 0.5, "));
	assert_non_null(strstr(text, "\"rank\": 3}"));
	free(text);
	sonde_result_free(r);
}

static void no_findings_are_an_empty_list(void **state)
{
	(void)state;
	sonde_result *r = result_new("bottlenecks");
	result_expect_findings(r);
	char *json = printed(r, SONDE_JSON, 80, true, false), *csv = printed(r, SONDE_CSV, 80, true, false);

	assert_non_null(strstr(json, "\"findings\": []"));
	assert_int_equal(strncmp(csv, "rule,severity,", 14), 0);
	free(json);
	free(csv);
	sonde_result_free(r);
}

static void in_csv_each_is_a_row(void **state)
{
	(void)state;
	sonde_result *r = make_findings();

	assert_printed(
		r, SONDE_CSV,
		"rule,severity,seconds_lost,share,confidence,title,suggestion,rank,first_step,last_step,from_ns,"
		"to_ns,evidence,affected\r\n"
		"dataloader,high,1.94,0.16,1,data loading holds up every step,\"load in more than one thread, or "
		"prefetch 2 batches; the loader needs 1.9 threads to keep up.\",,11,200,4810000000,9200000000,\"The "
		"training thread waits in `loader_next` 10.2 ms per step (median of 190). The loader thread is busy "
		"98 % of the time.\",\"loader_next\"\r\n"
		"clock,low,,,0.5,\"'=an unknown loss, \"\"quoted\"\"\",,3,,,,,,\r\n");
	sonde_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text_they_are_numbered_and_wrapped),
		cmocka_unit_test(a_short_time_long_after_the_start_is_told_by_its_length),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(in_json_the_unknown_is_null),
		cmocka_unit_test(no_findings_are_an_empty_list),
		cmocka_unit_test(in_csv_each_is_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
