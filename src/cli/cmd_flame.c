/* sonde flame: where the time goes, as a picture to send. */
#include "cli/picture.h"

#include "cli/select.h"

static const option_def flame_options[] = {
	{ .name = "by",
	  .id = PICTURE_BY,
	  .argument = "WHAT",
	  .help = "time (default), self, device or memory",
	  .group = "What to look at" },
	SELECT_STEPS,
	PICTURE_OPTIONS,
	{ .name = "format",
	  .id = PICTURE_FORMAT,
	  .argument = "NAME",
	  .help = "html, svg, json, folded; else what FILE ends in",
	  .group = "Output" },
	{ .name = "max-size", .id = PICTURE_SIZE, .argument = "SIZE", .help = "of the data in a page (4M)" },
	OUTPUT_FILE,
	{ .name = NULL },
};

static sonde_status write_flame(const picture *p, const sonde_trace *trace, sonde_error *err)
{
	return sonde_flame_write(trace, p->format, &p->options, p->to.stream, err);
}

static int run(const command *self, int argc, char **argv)
{
	static const char *const formats[] = { "html", "svg", "json", "folded", NULL };
	picture p = { .formats = formats, .write = write_flame };

	return picture_run(self, &p, argc, argv);
}

const command flame_command = {
	.name = "flame",
	.group = "share",
	.summary = "A flame graph to send: a page, SVG, JSON or folded stacks",
	.usage = "[options] [-o FILE] FILE...",
	.examples = { "sonde flame -o flame.html run.sonde", "sonde flame --by device -o flame.svg trace.json.gz",
		      "sonde flame --steps 11..20 --format folded run.sonde | head" },
	.options = flame_options,
	.run = run,
};
