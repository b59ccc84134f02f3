/* sonde_result_print(): picks the format, fills in the options, and turns a failing stream into an error. */
#include "present/present.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

enum { DEFAULT_WIDTH = 80 };

typedef void print_function(const sonde_result *result, const sonde_print_options *options, FILE *out);

static print_function *const formats[] = {
	[SONDE_TEXT] = text_print,	   [SONDE_JSON] = json_print, [SONDE_CSV] = csv_print,
	[SONDE_MARKDOWN] = markdown_print, [SONDE_HTML] = html_print,
};

bool table_is_tree(const table *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (table_depth(t, i) > 0)
			return true;
	return false;
}

/* What the caller gave, which may come from an older header, over the defaults. */
static sonde_print_options complete_options(const sonde_print_options *given)
{
	sonde_print_options options = { .struct_size = sizeof options };

	if (given)
		memcpy(&options, given, given->struct_size < sizeof options ? given->struct_size : sizeof options);
	if (options.width == 0)
		options.width = DEFAULT_WIDTH;
	return options;
}

sonde_status sonde_result_print(const sonde_result *result, sonde_format format, const sonde_print_options *options,
				FILE *out, sonde_error *err)
{
	sonde_print_options complete = complete_options(options);

	if ((unsigned)format >= sizeof formats / sizeof *formats)
		return error_set(err, SONDE_E_USAGE, -1, "unknown output format (%d)", (int)format);
	if (!result_ok(result))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (complete.table && !sonde_result_find_table(result, complete.table))
		return error_set(err, SONDE_E_USAGE, -1, "%s has no table \"%s\"%s%s", result->name, complete.table,
				 result->tables ? "; the first table is " : "",
				 result->tables ? result->tables->key : "");
	errno = 0;
	formats[format](result, &complete, out);
	return error_of_stream(err, out);
}
