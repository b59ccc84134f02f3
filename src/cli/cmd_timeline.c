/* sonde timeline: what happened when, as a page to send. */
#include "cli/picture.h"

#include "cli/select.h"

static const option_def timeline_options[] = {
	{ .name = "steps",
	  .id = OPTION_STEPS,
	  .argument = "A..B",
	  .help = "select steps A to B; also A, A.. and ..B",
	  .group = "Selection" },
	PICTURE_OPTIONS,
	{ .name = "max-size",
	  .id = PICTURE_SIZE,
	  .argument = "SIZE",
	  .help = "limit the data in the page (default 4M)",
	  .group = "Output" },
	OUTPUT_FILE,
	{ .name = NULL },
};

static sonde_status write_timeline(const picture *p, const sonde_trace *trace, sonde_error *err)
{
	return sonde_timeline_write(trace, &p->options, p->to.stream, err);
}

static int run(const command *self, int argc, char **argv)
{
	static const char *const formats[] = { "html", NULL };
	picture p = { .formats = formats, .write = write_timeline };

	return picture_run(self, &p, argc, argv);
}

const command timeline_command = {
	.name = "timeline",
	.group = "share",
	.summary = "Write a timeline as a self-contained page",
	.usage = "[options] [-o FILE] FILE...",
	.examples = { "sonde timeline -o timeline.html run.sonde",
		      "sonde timeline --steps 11..13 -o steps.html trace.json.gz",
		      "sonde timeline --no-python --max-size 1M -o small.html run.sonde" },
	.options = timeline_options,
	.run = run,
};
