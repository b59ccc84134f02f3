/*
 * Chrome JSON in, Chrome JSON out: what the exporter makes of an imported trace, as text. In what goes in, and in what
 * is looked for, ' stands for ".
 */
#ifndef TESTS_UNIT_EXPORT_EXPORTED_H
#define TESTS_UNIT_EXPORT_EXPORTED_H

#include <sonde/trace.h>
#include "unit/store/temp_dir.h"

static inline char *with_quotes(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return copy;
}

/* The export of one file, or of several as the ranks of one trace. The caller frees it. */
static inline char *exported(const char *const *files, size_t n)
{
	char name[32], *paths[8], *text = NULL;
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };
	size_t len;

	for (size_t i = 0; i < n; i++) {
		char *json = with_quotes(files[i]);
		snprintf(name, sizeof name, "t%zu.json", i);
		paths[i] = strdup(temp_path(name));
		temp_write(paths[i], json, strlen(json));
		free(json);
	}
	if (sonde_trace_open_files((const char *const *)paths, n, &t, &err))
		fail_msg("%s", err.message);
	FILE *out = open_memstream(&text, &len);
	if (sonde_export(t, "chrome", out, &err))
		fail_msg("%s", err.message);
	fclose(out);
	sonde_trace_free(t);
	for (size_t i = 0; i < n; i++)
		unlink(paths[i]), free(paths[i]);
	return text;
}

/* Every line of `wanted` is a line of the text, but for the comma at the end; `absent`, if not NULL, is nowhere. */
static inline void expect_lines(const char *text, const char *wanted, const char *absent)
{
	char *lines = with_quotes(wanted), *rest = lines, *missing = absent ? with_quotes(absent) : NULL;

	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *found = text;
		size_t len = strlen(line);
		while (len && (found = strstr(found, line)) &&
		       !((found == text || found[-1] == '\n') && strchr(",\n]", found[len])))
			found++;
		if (!found)
			fail_msg("no line '%s' in\n%s", line, text);
	}
	if (missing && strstr(text, missing))
		fail_msg("there is '%s' in\n%s", missing, text);
	free(lines);
	free(missing);
}

typedef struct export_case {
	const char *json, *wanted, *absent;
} export_case;

static inline void check_exports(const export_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = exported(&cases[i].json, 1);
		expect_lines(text, cases[i].wanted, cases[i].absent);
		free(text);
	}
}
#define CHECK_EXPORTS(cases) check_exports(cases, sizeof(cases) / sizeof(cases)[0])

#endif
