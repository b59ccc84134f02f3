/* Functions of SQL beside SQLite's own: numbers for people. */
#include "query/table.h"

#include <string.h>
#include "base/format_number.h"

static void put_text(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, (int)strlen(text), SQLITE_TRANSIENT);
}

/* format_ns(1940000000): '1.94 s' */
static void sql_format_ns(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[NUMBER_TEXT];

	(void)argc;
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		put_text(context, format_ns(text, sqlite3_value_int64(argv[0])));
}

/* format_bytes(327155712): '312 MiB'; of what was freed -312 MiB */
static void sql_format_bytes(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[NUMBER_TEXT + 1] = "-";
	sqlite3_int64 bytes = sqlite3_value_int64(argv[0]);

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (bytes < 0)
		format_bytes(text + 1, 0 - (uint64_t)bytes);
	else
		format_bytes(text, (uint64_t)bytes);
	put_text(context, text);
}

int query_add_functions(sqlite3 *db)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = sqlite3_create_function_v2(db, "format_ns", 1, flags, NULL, sql_format_ns, NULL, NULL, NULL);

	return code ? code
		    : sqlite3_create_function_v2(db, "format_bytes", 1, flags, NULL, sql_format_bytes, NULL, NULL,
						 NULL);
}
