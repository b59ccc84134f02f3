/* See picture.h. */
#include "cli/picture.h"

#include <errno.h>
#include <string.h>

#include "base/parse_units.h"
#include "cli/analysis.h"
#include "cli/select.h"

static bool parse_limit(const options *o, int64_t *ret)
{
	uint64_t bytes;

	if (parse_time(o->value, ret) && *ret >= 0)
		return true;
	/* Of memory: a size. */
	if (parse_bytes(o->value, &bytes) && bytes <= INT64_MAX) {
		*ret = (int64_t)bytes;
		return true;
	}
	say_usage(o->command, "--%s needs a time such as 20us, not '%s'", o->option->name, o->value);
	return false;
}

/* By the end of the file's name; "html" when it has none. Nobody finds a page in a file that is called a picture. */
static bool choose_format(const command *self, picture *p)
{
	const char *path = p->to.path, *slash = path ? strrchr(path, '/') : NULL;
	const char *dot = path ? strrchr(slash ? slash : path, '.') : NULL, *end = dot ? dot + 1 : "html";

	for (size_t i = 0; !p->format && p->formats[i]; i++)
		if (strcmp(end, p->formats[i]) == 0)
			p->format = p->formats[i];
	if (!p->format)
		say_usage(self, "'%s' has no supported suffix: html%s", path,
			  p->formats[1] ? ", svg, json, folded" : "");
	return p->format != NULL;
}

static bool take(picture *p, selection *s, const options *o, int id)
{
	static const char *const bys[] = { "time", "self", "device", "memory", NULL };
	sonde_picture_options *to = &p->options;
	uint64_t n;
	size_t at;

	switch (id) {
	case PICTURE_BY:
		if (!options_choice(o, bys, &at))
			return false;
		to->by = bys[at];
		return true;
	case PICTURE_FORMAT:
		if (!options_choice(o, p->formats, &at))
			return false;
		p->format = p->formats[at];
		return true;
	case PICTURE_MIN:
		return parse_limit(o, &to->min_ns);
	case PICTURE_SMALL:
		return parse_limit(o, &to->small_ns);
	case PICTURE_DEPTH:
		if (!options_number(o, 1, 10000, &n))
			return false;
		to->max_depth = (uint32_t)n;
		return true;
	case PICTURE_PYTHON:
	case PICTURE_NO_PYTHON:
		to->no_python = id == PICTURE_NO_PYTHON;
		return true;
	case PICTURE_SIZE:
		return options_size(o, 64 << 10, (uint64_t)1 << 30, &to->max_bytes);
	default:
		return selection_takes(id) ? selection_option(s, o, id) : output_option(&p->to, o, id);
	}
}

static int write_to(picture *p, sonde_trace *trace, const char *file)
{
	sonde_error err = { .position = -1 };
	int code = output_open(&p->to);

	if (code != EXIT_OK)
		return code;
	errno = 0;
	sonde_status status = p->write(p, trace, &err);
	if (!status || (status == SONDE_E_IO && errno == EPIPE)) /* the reader has seen enough */
		return output_close(&p->to, EXIT_OK);
	code = say_error(status == SONDE_E_IO ? p->to.path : file, status, &err);
	output_close(&p->to, EXIT_ENVIRONMENT);
	return status == SONDE_E_IO ? EXIT_ENVIRONMENT : code;
}

int picture_run(const command *self, picture *p, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	selection s = selection_begin();
	sonde_trace *trace = NULL;

	p->options.struct_size = sizeof p->options;
	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[p->n_files++] = argv[o.at - 1];
		else if (id < 0 || !take(p, &s, &o, id))
			return options_exit_code(id);
	}
	if (!selection_end(&s, self))
		return EXIT_USAGE;
	p->options.use_steps = s.options.use_steps;
	p->options.first_step = s.options.first_step;
	p->options.last_step = s.options.last_step;
	int code = trace_open(self, argv, p->n_files, &p->to, &trace);
	if (code != EXIT_OK)
		return code;
	const char *slash = strrchr(argv[0], '/');
	p->options.name = slash && slash[1] ? slash + 1 : argv[0];
	code = choose_format(self, p) ? write_to(p, trace, p->n_files == 1 ? argv[0] : NULL) : EXIT_USAGE;
	return trace_close(trace, p->n_files == 1 ? argv[0] : NULL, code);
}
