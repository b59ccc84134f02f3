/* sonde report: where the time went, name by name. */
#include "cli/analysis.h"

#include "cli/select.h"

static const option_def report_options[] = {
	{ .name = "tree", .id = OPTION_TREE, .help = "show names as a call tree", .group = "Selection" },
	{ .name = "threads", .id = OPTION_THREADS, .help = "print one table per thread" },
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
	.group = "analyze",
	.summary = "Show where the time went, by name",
	.usage = "[options] FILE...",
	.examples = { "sonde report run.sonde", "sonde report --tree --steps 11..200 run.sonde",
		      "sonde report --csv -o run.csv run.sonde" },
	.options = report_options,
	.run = analysis_run_plain,
};
