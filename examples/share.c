/*
 * From a trace to what others can look at: an answer in SQL, pictures to send, and the dashboard in a browser.
 *
 *   ./example_share                       records a small run by itself; serves it for a moment
 *   ./example_share trace.json.gz serve   serves until Enter
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sonde/picture.h>
#include <sonde/query.h>
#include <sonde/serve.h>
#include <sonde/session.h>

static int complain(const char *what, const sonde_error *err)
{
	return fprintf(stderr, "%s: %s\n", what, err->message), 1;
}

/* A recording to look at when none is named. */
static int record(const char *path)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	sonde_session *session;
	sonde_error err;
	volatile double sum = 0;

	remove(path); /* a recording that exists is never replaced: this one would get another name */
	if (sonde_session_start(&config, &session, &err))
		return complain("session", &err);
	for (int step = 0; step < 20; step++) {
		SONDE_STEP(step);
		SONDE_SCOPE("work");
		for (int i = 0; i < 20000; i++)
			sum = sum + sqrt(i);
	}
	return sonde_session_stop(session, NULL, &err) ? complain("session", &err) : 0;
}

static int ask(const sonde_trace *trace, const char *sql)
{
	sonde_query *query;
	sonde_error err;
	size_t at = 0;
	bool is_row = false;

	if (sonde_query_open(trace, NULL, &query, &err))
		return complain("query", &err);
	sonde_status status = sonde_query_prepare(query, sql, &at, &err);
	while (!status && !(status = sonde_query_step(query, &is_row, &err)) && is_row)
		for (size_t i = 0; i < sonde_query_n_columns(query); i++) {
			sonde_cell cell = sonde_query_cell(query, i);

			printf("%s ", sonde_query_column(query, i));
			if (cell.type == SONDE_CELL_INTEGER)
				printf("%" PRId64 "\n", cell.integer);
			else
				printf("%s\n", cell.type == SONDE_CELL_TEXT ? cell.text : "-");
		}
	sonde_query_free(query);
	return status ? complain("query", &err) : 0;
}

static int draw(const sonde_trace *trace)
{
	sonde_picture_options options = { .struct_size = sizeof options, .name = "a small run" };
	FILE *flame = fopen("share_flame.svg", "w"), *timeline = fopen("share_timeline.html", "w");
	sonde_error err = { .message = "cannot be written" };
	int failed = !flame || !timeline || sonde_flame_write(trace, "svg", &options, flame, &err) ||
		     sonde_timeline_write(trace, &options, timeline, &err);

	if (flame)
		fclose(flame);
	if (timeline)
		fclose(timeline);
	return failed ? complain("picture", &err) : 0;
}

static int serve(const char *path, bool waits)
{
	sonde_server *server;
	sonde_error err;

	if (sonde_server_start(&path, 1, NULL, &server, &err))
		return complain("serve", &err);
	printf("%s is at %s\n", sonde_server_has_page(server) ? "the page" : "the API", sonde_server_url(server));
	fflush(stdout);
	if (waits)
		getchar();
	sonde_server_stop(server);
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "share.sonde", *name, *summary;
	sonde_trace *trace;
	sonde_error err;

	if (argc < 2 && record(path))
		return 1;
	if (sonde_trace_open(path, &trace, &err))
		return complain(path, &err);
	for (size_t i = 0; sonde_query_table(i, &name, &summary); i++)
		printf("%-16s %s\n", name, summary);
	int failed = ask(trace, "select name, count(*) as calls, sum(dur) as ns "
				"from slices group by 1 order by 3 desc limit 3") ||
		     draw(trace);
	sonde_trace_free(trace);
	return failed || serve(path, argc > 2);
}
