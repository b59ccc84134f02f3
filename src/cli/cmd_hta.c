/* sonde hta: what the devices of one or many ranks did, and why not more. */
#include "cli/analysis.h"

#include "cli/select.h"

static const option_def hta_options[] = {
	SELECT_STEPS,  SELECT_RANKS, SELECT_WARMUP, SELECT_FROM,	  SELECT_TO,
	SELECT_COMPAT, SELECT_SET,   SELECT_TOP,    OUTPUT_ALL("Output"), { .name = NULL },
};

const command hta_command = {
	.name = "hta",
	.group = "analyze",
	.summary = "Show device time and the causes of waiting, per rank",
	.usage = "[options] FILE...",
	.examples = { "sonde hta trace.json.gz", "sonde hta --steps 11..20 rank*.json.gz",
		      "sonde hta --compat hta --json trace.json.gz" },
	.options = hta_options,
	.run = analysis_run_plain,
};
