/*
 * Which of two ways to do something is faster, for sure: records both, compares the recordings, and asks by how much.
 *
 *   ./example_compare                      rows or columns first
 *   ./example_compare before.json after.json
 */
#include <stdio.h>
#include <sonde/compare.h>
#include <sonde/session.h>
#include <sonde/trace.h>

enum { SIDE = 1024, STEPS = 40 };
static float matrix[SIDE][SIDE];

static float sum_rows(void)
{
	float sum = 0;

	SONDE_SCOPE("sum");
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++)
			sum += matrix[row][column];
	return sum;
}

static float sum_columns(void)
{
	float sum = 0;

	SONDE_SCOPE("sum");
	for (int column = 0; column < SIDE; column++)
		for (int row = 0; row < SIDE; row++)
			sum += matrix[row][column];
	return sum;
}

static int record(const char *path, float (*work)(void))
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	sonde_session *session;
	sonde_report *report;
	sonde_error err;
	volatile float sum = 0;

	remove(path); /* a recording that exists is never replaced: this one would get another name */
	if (sonde_session_start(&config, &session, &err))
		return fprintf(stderr, "session: %s\n", err.message), 1;
	for (int step = 0; step < STEPS; step++) {
		SONDE_STEP(step);
		sum = sum + work();
	}
	if (sonde_session_stop(session, &report, &err))
		return fprintf(stderr, "session: %s\n", err.message), 1;
	sonde_report_free(report);
	return 0;
}

static int open_run(const char *path, sonde_trace **ret_trace)
{
	sonde_error err;

	if (sonde_trace_open(path, ret_trace, &err))
		return fprintf(stderr, "%s: %s\n", path, err.message), 1;
	return 0;
}

static int compare(const sonde_trace *const *traces)
{
	sonde_compare_options options = { .struct_size = sizeof options, .fail_above = 0.05 };
	sonde_result *result;
	sonde_error err;

	if (sonde_compare(traces, 2, &options, &result, &err))
		return fprintf(stderr, "compare: %s\n", err.message), 1;
	printf("%s\n", sonde_result_headline(result));
	if (sonde_result_value(result, "is_certain").integer)
		printf("that is %+.1f to %+.1f %% per %s\n", sonde_result_value(result, "low_percent").number,
		       sonde_result_value(result, "high_percent").number, sonde_result_value(result, "per").string);
	/* What a build would fail for. */
	for (size_t i = 0; i < sonde_result_n_findings(result); i++)
		printf("regression: %s\n", sonde_result_finding(result, i)->title);
	int failed = sonde_result_print(result, SONDE_TEXT, NULL, stdout, &err) != SONDE_OK;
	sonde_result_free(result);
	return failed;
}

int main(int argc, char **argv)
{
	const char *paths[] = { argc > 2 ? argv[1] : "rows.sonde", argc > 2 ? argv[2] : "columns.sonde" };
	sonde_trace *traces[2] = { NULL, NULL };

	for (int i = 0; i < SIDE; i++)
		matrix[i][i] = (float)argc;
	if (argc < 3 && (record(paths[0], sum_rows) || record(paths[1], sum_columns)))
		return 1;
	int failed = open_run(paths[0], &traces[0]) || open_run(paths[1], &traces[1]) ||
		     compare((const sonde_trace *const *)traces);
	sonde_trace_free(traces[0]);
	sonde_trace_free(traces[1]);
	return failed;
}
