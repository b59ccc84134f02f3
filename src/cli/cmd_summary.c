/* sonde summary: one screen about a recording. */
#include "cli/analysis.h"

#include "cli/select.h"

static const option_def summary_options[] = {
	SELECT_STEPS, SELECT_RANKS, SELECT_WARMUP, SELECT_FROM, SELECT_TO, OUTPUT_ALL(NULL), { .name = NULL },
};

const command summary_command = {
	.name = "summary",
	.group = "look",
	.summary = "Summarize a run on one screen: time, steps, memory",
	.usage = "[options] FILE...",
	.examples = { "sonde summary run.sonde", "sonde summary --json run.sonde",
		      "sonde summary rank0.sonde rank1.sonde" },
	.options = summary_options,
	.run = analysis_run_plain,
};
