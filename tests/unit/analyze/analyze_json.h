/* Runs an analysis and looks for parts of what it says as JSON. */
#ifndef TESTS_UNIT_ANALYZE_ANALYZE_JSON_H
#define TESTS_UNIT_ANALYZE_ANALYZE_JSON_H

#include <sonde/analyze.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result, which it frees, as JSON; the caller frees that. */
static inline char *json_of(sonde_result *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sonde_result_print(r, SONDE_JSON, NULL, out, NULL), SONDE_OK);
	assert_int_equal(fclose(out), 0);
	sonde_result_free(r);
	return text;
}

/* The result as JSON; the caller frees. */
static inline char *analyze(const sonde_trace *t, const char *name, const sonde_analyze_options *o)
{
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	if (sonde_analyze(t, name, o, &r, &err))
		fail_msg("%s: %s", name, err.message);
	return json_of(r);
}

/* ' stands for ". */
static inline void assert_says(const char *text, const char *part)
{
	char wanted[512];
	size_t n = 0;

	for (; part[n]; n++)
		wanted[n] = part[n] == '\'' ? '"' : part[n];
	wanted[n] = 0;
	if (!strstr(text, wanted))
		fail_msg("no %s in\n%s", wanted, text);
}

typedef struct says {
	const char *analysis, *compat, *part;
} says;

static inline void assert_all_say(const sonde_trace *t, const says *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sonde_analyze_options o = { .struct_size = sizeof o, .compat = cases[i].compat };
		char *text = analyze(t, cases[i].analysis, &o);
		assert_says(text, cases[i].part);
		free(text);
	}
}

#endif
