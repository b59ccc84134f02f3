/*
 * Any trace, any analysis: opens it, runs an analysis by its name, and walks what it gives.
 *
 *   ./example_analyze_any                             records a small run by itself, and lists the analyses
 *   ./example_analyze_any trace.json.gz               where the time went
 *   ./example_analyze_any trace.json.gz bottlenecks   any name of `sonde analyze --list`
 */
#include <math.h>
#include <stdio.h>
#include <sonde/analyze.h>
#include <sonde/session.h>
#include <sonde/trace.h>

/* A recording to look at when none is named. */
static int record(const char *path)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	sonde_session *session;
	sonde_report *report;
	sonde_error err;
	volatile double sum = 0;

	remove(path); /* a recording that exists is never replaced: this one would get another name */
	if (sonde_session_start(&config, &session, &err))
		return fprintf(stderr, "session: %s\n", err.message), 1;
	for (int step = 0; step < 20; step++) {
		SONDE_STEP(step);
		SONDE_SCOPE("work");
		for (int i = 0; i < 20000; i++)
			sum = sum + sqrt(i);
	}
	if (sonde_session_stop(session, &report, &err))
		return fprintf(stderr, "session: %s\n", err.message), 1;
	sonde_report_free(report);
	return 0;
}

static void print_findings(const sonde_result *result)
{
	for (size_t i = 0; i < sonde_result_n_findings(result); i++) {
		const sonde_finding *f = sonde_result_finding(result, i);

		printf("%s: %s", sonde_severity_name(f->severity), f->title);
		if (f->seconds_lost >= 0)
			printf(", %.3f s", f->seconds_lost);
		printf("\n  %s\n", f->suggestion ? f->suggestion : "-");
	}
}

/* A few rows of a table, cell by cell: column, value, unit. */
static void print_rows(const sonde_table *table, size_t n)
{
	for (size_t row = 0; row < n && row < sonde_table_n_rows(table); row++) {
		for (size_t i = 0; i < sonde_table_n_columns(table); i++) {
			sonde_value value = sonde_table_cell(table, row, i);
			sonde_column column;

			sonde_table_column(table, i, &column);
			if (value.type == SONDE_VALUE_STRING)
				printf("%s %s  ", column.key, value.string);
			else if (value.type != SONDE_VALUE_UNKNOWN)
				printf("%s %.6g %s  ", column.key, value.number, column.unit);
		}
		printf("\n");
	}
}

static int analyze(const sonde_trace *trace, const char *name)
{
	sonde_analyze_options options = { .struct_size = sizeof options, .top = 5 };
	sonde_result *result;
	sonde_error err;

	if (sonde_analyze(trace, name, &options, &result, &err))
		return fprintf(stderr, "%s: %s\n", name, err.message), 1;
	print_findings(result);
	if (sonde_result_n_tables(result) > 0)
		print_rows(sonde_result_table(result, 0), 3);
	/* Or all of it, as the command prints it; SONDE_JSON, SONDE_CSV, SONDE_MARKDOWN and SONDE_HTML go to files. */
	int failed = sonde_result_print(result, SONDE_TEXT, NULL, stdout, &err) != SONDE_OK;
	sonde_result_free(result);
	return failed;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "any.sonde", *name, *summary;
	sonde_trace *trace;
	sonde_error err;

	if (argc < 2 && record(path))
		return 1;
	for (size_t i = 0; argc < 2 && sonde_analysis(i, &name, &summary); i++)
		printf("%-12s %s\n", name, summary);
	if (sonde_trace_open(path, &trace, &err))
		return fprintf(stderr, "%s: %s\n", path, err.message), 1;
	int failed = analyze(trace, argc > 2 ? argv[2] : "report");
	sonde_trace_free(trace);
	return failed;
}
