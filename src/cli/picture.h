/* What `sonde flame` and `sonde timeline` have in common: their options, and from files to a picture. */
#ifndef SONDE_CLI_PICTURE_H
#define SONDE_CLI_PICTURE_H

#include <sonde/picture.h>

#include "cli/output.h"

enum {
	PICTURE_BY = 1,
	PICTURE_FORMAT,
	PICTURE_MIN,
	PICTURE_SMALL,
	PICTURE_DEPTH,
	PICTURE_PYTHON,
	PICTURE_NO_PYTHON,
	PICTURE_SIZE
};

/* clang-format off */
#define PICTURE_OPTIONS \
	{ .name = "min-duration", .id = PICTURE_MIN, .argument = "T", .help = "omit shorter slices, such as 20us or 1ms" }, \
	{ .name = "group-small", .id = PICTURE_SMALL, .argument = "T", .help = "merge adjacent slices shorter than T" }, \
	{ .name = "max-depth", .id = PICTURE_DEPTH, .argument = "N", .help = "show the outermost N levels" }, \
	{ .name = "python", .id = PICTURE_PYTHON, .help = "include Python functions (default); or --no-python" }, \
	{ .name = "no-python", .id = PICTURE_NO_PYTHON }
/* clang-format on */

typedef struct picture {
	sonde_picture_options options;
	output to;
	size_t n_files;
	const char *const *formats; /* that there are, up to NULL; the first is html */
	const char *format;	    /* NULL: what the name of the output says */
	sonde_status (*write)(const struct picture *p, const sonde_trace *trace, sonde_error *err);
} picture;

/* Reads the arguments of the command and writes the picture. Returns the exit code. */
int picture_run(const command *self, picture *p, int argc, char **argv);

#endif
