/* The page: the files of web/dist, made into C by cmake/page.cmake. */
#ifndef SONDE_SERVE_PAGE_H
#define SONDE_SERVE_PAGE_H

#include <stddef.h>

typedef struct page_file {
	const char *path; /* "/app.js"; NULL ends the list */
	const char *type;
	const unsigned char *gzip;
	size_t len;
} page_file;

extern const page_file page_files[];

/* web/src/file/file.html with style and scripts in it, and places for @VIEWS@, @TITLE@ and @DATA@ in that order. Empty
   when the page was not built. */
extern const char page_to_mail[];

#endif
