/*
 * What part of a trace to look at and by whose rules, the same for every command that runs an analysis: --steps,
 * --ranks, --from, --to, --warmup, --compat, --set, and how the names are shown.
 *
 *   selection s = selection_begin();          the table of options has SELECT_STEPS, SELECT_RANKS, ...
 *   selection_option(&s, &o, id)              for ids that the command does not know itself
 *   sonde_analyze(trace, name, selection_options(&s), ...)
 *
 * Values are checked here, before a file is opened.
 */
#ifndef SONDE_CLI_SELECT_H
#define SONDE_CLI_SELECT_H

#include <sonde/analyze.h>

#include "cli/options.h"

enum {
	OPTION_STEPS = 1100,
	OPTION_RANKS,
	OPTION_FROM,
	OPTION_TO,
	OPTION_WARMUP,
	OPTION_COMPAT,
	OPTION_SET,
	OPTION_TOP,
	OPTION_FILTER,
	OPTION_SORT,
	OPTION_TREE,
	OPTION_THREADS,
};

/* clang-format off */
#define SELECT_STEPS { .name = "steps", .id = OPTION_STEPS, .argument = "A..B", .help = "select steps A to B; also A, A.. and ..B" }
#define SELECT_RANKS { .name = "ranks", .id = OPTION_RANKS, .argument = "LIST", .help = "select ranks, such as 0,2-4 (default all)" }
#define SELECT_FROM { .name = "from", .id = OPTION_FROM, .argument = "T", .help = "select events since T, with --to T until T: 1.5s, 20ms" }
#define SELECT_TO { .name = "to", .id = OPTION_TO, .argument = "T" }
#define SELECT_WARMUP { .name = "warmup", .id = OPTION_WARMUP, .argument = "RULE", .help = "skip first steps: auto (default), none or a number" }
#define SELECT_COMPAT { .name = "compat", .id = OPTION_COMPAT, .argument = "TOOL", .help = "use the definitions of hta or tracelens" }
#define SELECT_SET { .name = "set", .id = OPTION_SET, .argument = "KEY=VALUE", .help = "change a threshold; sonde analyze NAME --list lists them" }
#define SELECT_TOP { .name = "top", .id = OPTION_TOP, .argument = "N", .help = "show N rows, or all (default 20; JSON and CSV: all)" }
#define SELECT_FILTER { .name = "filter", .id = OPTION_FILTER, .argument = "TEXT", .help = "select names with TEXT; ^TEXT: at start, TEXT$: at end" }
#define SELECT_SORT { .name = "sort", .id = OPTION_SORT, .argument = "COL", .help = "sort by total (default), self, calls, avg, p95, max, name" }
/* Where --help has no room for it. */
#define SELECT_WARMUP_TOO { .name = "warmup", .id = OPTION_WARMUP, .argument = "RULE" }
/* Those that not every analysis knows. */
#define SELECT_OTHERS \
	{ .name = "sort", .id = OPTION_SORT, .argument = "COL" }, \
	{ .name = "tree", .id = OPTION_TREE }, \
	{ .name = "threads", .id = OPTION_THREADS }
/* clang-format on */

enum { SELECT_MAX_SETTINGS = 64 };

typedef struct selection {
	sonde_analyze_options options;
	sonde_setting settings[SELECT_MAX_SETTINGS];
} selection;

selection selection_begin(void);

/* Takes one of the options above. False, after saying why, when the value is wrong. */
bool selection_option(selection *s, const options *o, int id);
bool selection_takes(int id); /* it is one of them */

/* Checks what only all options together can tell; false after saying why. */
bool selection_end(selection *s, const command *c);

#endif
