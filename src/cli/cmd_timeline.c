/* sonde timeline: what happened when, as a page to send. */
#include "cli/picture.h"

#include "cli/select.h"

static const option_def timeline_options[] = {
	{ .name = "steps",
	  .id = OPTION_STEPS,
	  .argument = "A..B",
	  .help = "only steps A to B; also A, A.. and ..B",
	  .group = "What to look at" },
	PICTURE_OPTIONS,
	{ .name = "max-size",
	  .id = PICTURE_SIZE,
	  .argument = "SIZE",
	  .help = "of the data in the page (4M); short slices share a box",
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
	.summary = "A timeline to send: a page that holds its data",
	.usage = "[options] [-o FILE] FILE...",
	.examples = { "sonde timeline -o timeline.html run.sonde",
		      "sonde timeline --steps 11..13 -o steps.html trace.json.gz",
		      "sonde timeline --no-python --max-size 1M -o small.html run.sonde" },
	.options = timeline_options,
	.run = run,
};
