/* A result as one page that needs nothing else. See html.h. */
#include "present/html.h"

#include <string.h>

/* Where npm was not there to build the page: what is readable without it. */
static const char bare_page[] = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
				"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">\n"
				"<title>@TITLE@</title>\n</head>\n<body>\n@STATIC@</body>\n</html>\n";

const char *html_headline(const sonde_result *result)
{
	return result->headline ? result->headline : result->summary ? result->summary : result->name;
}

/* The page up to a mark; returns what follows it. */
static const char *put_until(FILE *out, const char *markup, const char *mark)
{
	const char *at = strstr(markup, mark);

	fwrite(markup, 1, (size_t)(at - markup), out);
	return at + strlen(mark);
}

void html_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	page p = { .out = out };
	bool is_built = *page_of_report;
	const char *markup = put_until(out, is_built ? page_of_report : bare_page, "@TITLE@");

	(void)options;
	page_text(&p, html_headline(result), PAGE_NAME);
	markup = put_until(out, markup, "@STATIC@");
	html_static_print(&p, result);
	if (is_built) {
		markup = put_until(out, markup, "@DATA@");
		html_data_print(result, out);
	}
	fputs(markup, out);
}
