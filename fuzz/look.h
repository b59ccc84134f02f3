/* For fuzz targets that have a trace: one way to look at it. */
#ifndef SONDE_FUZZ_LOOK_H
#define SONDE_FUZZ_LOOK_H

#include <stdio.h>
#include <stdlib.h>
#include <sonde/analyze.h>
#include <sonde/trace.h>

static FILE *nowhere(void)
{
	static FILE *file;
	static char buffer[1 << 16];

	if (!file) {
		file = fopen("/dev/null", "w");
		if (!file)
			abort();
		setvbuf(file, buffer, _IOFBF, sizeof buffer);
	}
	return file;
}

static void print(const sonde_result *result, unsigned choice)
{
	static const sonde_format formats[] = { SONDE_TEXT, SONDE_TEXT,	    SONDE_JSON,
						SONDE_CSV,  SONDE_MARKDOWN, SONDE_HTML };
	enum { N_FORMATS = sizeof formats / sizeof formats[0] };
	sonde_print_options wide = { .struct_size = sizeof wide, .width = 200, .color = true, .utf8 = true };

	if (sonde_result_print(result, formats[choice % N_FORMATS], choice % N_FORMATS ? &wide : NULL, nowhere(), NULL))
		abort();
}

static unsigned n_analyses(void)
{
	const char *name, *summary;
	unsigned n = 0;

	while (sonde_analysis(n, &name, &summary))
		n++;
	return n;
}

/* One way to look at it, chosen by the bytes themselves: all of them for each input would take the fuzzer's time. */
static void look(const sonde_trace *trace, unsigned choice)
{
	static const struct {
		const char *name;
		sonde_analyze_options options;
	} ways[] = {
		{ "report", { .struct_size = sizeof ways[0].options, .top = UINT64_MAX } },
		{ "report", { .struct_size = sizeof ways[0].options, .tree = true, .sort = "self" } },
		{ "report", { .struct_size = sizeof ways[0].options, .threads = true, .filter = "a" } },
		{ "report",
		  { .struct_size = sizeof ways[0].options, .use_steps = true, .first_step = 1, .last_step = 50 } },
		{ "summary", { .struct_size = sizeof ways[0].options } },
		{ "info", { .struct_size = sizeof ways[0].options } },
	};
	enum { N_WAYS = sizeof ways / sizeof ways[0] };
	unsigned way = choice % (N_WAYS + 2), rest = choice / (N_WAYS + 2);
	const char *name, *summary;
	sonde_result *result;

	if (way == N_WAYS) {
		if (sonde_export(trace, "chrome", nowhere(), NULL))
			abort();
	} else if (way < N_WAYS) {
		if (sonde_analyze(trace, ways[way].name, &ways[way].options, &result, NULL))
			return;
		print(result, rest);
		sonde_result_free(result);
	} else if (sonde_analysis(rest % n_analyses(), &name, &summary) &&
		   !sonde_analyze(trace, name, NULL, &result, NULL)) {
		print(result, rest / 4);
		sonde_result_free(result);
	}
}

#endif
