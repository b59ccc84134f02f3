/* Where an export goes: a file, standard output, a directory or a URL, as the user wrote it. */
#ifndef SONDE_EXPORT_TARGET_H
#define SONDE_EXPORT_TARGET_H

#include <stdbool.h>
#include <sonde/export.h>
#include "export/compressed.h"

enum { TARGET_MAX_HOST = 253 }; /* as DNS has it */

typedef struct export_target {
	sonde_target kind;
	const char *path;	 /* of a file or directory; NULL: standard output. Of a URL: from the '/' on, or "/" */
	compression compression; /* of a file */
	/* Of a URL. */
	bool is_secure; /* https */
	char host[TARGET_MAX_HOST + 1];
	unsigned port;
} export_target;

/* The text outlives the target. NULL is standard output. */
sonde_status target_parse(export_target *ret_target, const char *text, sonde_error *err);

/* "a file, standard output or a directory": what sonde_target bits stand for. `to` has room for TARGET_WORDS bytes. */
enum { TARGET_WORDS = 64 };
const char *target_words(char *to, unsigned targets);

/* True if the name of the file, without .gz or .zst, ends in a dot and one of the ends, which commas separate. */
bool target_has_end(const export_target *target, const char *ends);

#endif
