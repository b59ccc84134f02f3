/* sonde flame: where the time goes, as a picture to send. */
#include "cli/picture.h"

#include "cli/select.h"

static const option_def flame_options[] = {
	{ .name = "by",
	  .id = PICTURE_BY,
	  .argument = "WHAT",
	  .help = "measure time (default), self, device or memory",
	  .group = "Selection" },
	SELECT_STEPS,
	PICTURE_OPTIONS,
	{ .name = "format",
	  .id = PICTURE_FORMAT,
	  .argument = "NAME",
	  .help = "html, svg, json or folded (default: the suffix of FILE)",
	  .group = "Output" },
	{ .name = "max-size", .id = PICTURE_SIZE, .argument = "SIZE", .help = "limit the data in a page (default 4M)" },
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
	.summary = "Write a flame graph: page, SVG, JSON or folded stacks",
	.usage = "[options] [-o FILE] FILE...",
	.examples = { "sonde flame -o flame.html run.sonde", "sonde flame --by device -o flame.svg trace.json.gz",
		      "sonde flame --steps 11..20 --format folded run.sonde | head" },
	.options = flame_options,
	.run = run,
};
