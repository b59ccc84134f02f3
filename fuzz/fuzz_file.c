/* Any bytes as a recording: opened from memory, so that no other file is read or changed, then reported, described and
   exported. */
#include <stdint.h>
#include <stdio.h>
#include "store/trace.h"
#include <sonde/analyze.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const sonde_trace *trace, const char *name, const sonde_analyze_options *options, FILE *out)
{
	static const sonde_format formats[] = { SONDE_TEXT, SONDE_JSON, SONDE_CSV };
	sonde_result *result;

	if (sonde_analyze(trace, name, options, &result, NULL))
		return;
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		sonde_result_print(result, formats[i], NULL, out, NULL);
	sonde_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	const sonde_analyze_options tree = { .struct_size = sizeof tree, .tree = true };
	const sonde_analyze_options steps = { .struct_size = sizeof steps, .use_steps = true, .last_step = 1000 };
	sonde_trace *trace;

	if (!out)
		out = fopen("/dev/null", "w");
	if (!out || trace_open_memory(data, size, &trace, NULL))
		return 0;
	look(trace, "report", NULL, out);
	look(trace, "report", &tree, out);
	look(trace, "report", &steps, out);
	look(trace, "summary", NULL, out);
	look(trace, "info", NULL, out);
	sonde_export(trace, "chrome", out, NULL);
	sonde_trace_free(trace);
	return 0;
}
