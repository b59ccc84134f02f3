/* sonde report: where the time went, name by name. */
#include "cli/analysis.h"

#include "cli/select.h"

static const option_def report_options[] = {
	{ .name = "tree", .id = OPTION_TREE, .help = "names as a tree of who called whom", .group = "What to show" },
	{ .name = "threads", .id = OPTION_THREADS, .help = "one table per thread" },
	SELECT_STEPS,
	SELECT_RANKS,
	SELECT_WARMUP_TOO,
	SELECT_FROM,
	SELECT_FILTER,
	SELECT_TOP,
	SELECT_SORT,
	SELECT_TO,
	OUTPUT_ALL("Output"),
	{ .name = NULL },
};

const command report_command = {
	.name = "report",
	.group = "analyse",
	.summary = "Show where the time went, name by name",
	.usage = "[options] FILE...",
	.examples = { "sonde report run.sonde", "sonde report --tree --steps 11..200 run.sonde",
		      "sonde report --csv -o run.csv run.sonde" },
	.options = report_options,
	.run = analysis_run_plain,
};
