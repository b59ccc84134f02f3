/* See select.h. */
#include "cli/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_units.h"

selection selection_begin(void)
{
	return (selection){ .options = { .struct_size = sizeof(sonde_analyze_options), .to_ns = INT64_MAX } };
}

bool selection_takes(int id)
{
	return id >= OPTION_STEPS && id <= OPTION_THREADS;
}

static bool parse_top(const options *o, uint64_t *ret_top)
{
	if (strcmp(o->value, "all") == 0) {
		*ret_top = UINT64_MAX;
		return true;
	}
	return options_number(o, 1, 1000000000, ret_top);
}

/* A number at *text, which moves on; false and `missing` when there is none. */
static bool parse_step(const char **text, int64_t missing, int64_t *ret_step)
{
	char *rest;

	errno = 0;
	*ret_step = strtoll(*text, &rest, 10);
	bool is_number = rest != *text && errno == 0 && **text != ' ';
	if (!is_number)
		*ret_step = missing;
	else
		*text = rest;
	return is_number;
}

static bool parse_steps(const options *o, sonde_analyze_options *a)
{
	const char *at = o->value;
	bool has_first = parse_step(&at, INT64_MIN, &a->first_step);

	a->last_step = a->first_step;
	a->use_steps = true;
	if (strncmp(at, "..", 2) == 0) {
		at += 2;
		bool has_last = parse_step(&at, INT64_MAX, &a->last_step);
		has_first = has_first || has_last;
	}
	if (has_first && !*at && a->first_step <= a->last_step)
		return true;
	say_usage(o->command, "--steps needs A..B (A <= B), A, A.. or ..B, not '%s'", o->value);
	return false;
}

static bool parse_ranks(const options *o, sonde_analyze_options *a)
{
	a->ranks = o->value;
	if (number_list_is_valid(o->value))
		return true;
	say_usage(o->command, "--ranks needs a list such as 0,2-4, not '%s'", o->value);
	return false;
}

static bool parse_moment(const options *o, sonde_analyze_options *a, int64_t *ret_ns)
{
	a->use_time = true;
	if (parse_time(o->value, ret_ns) && *ret_ns >= 0)
		return true;
	say_usage(o->command, "--%s needs a time since the start, such as 1.5s or 20ms, not '%s'", o->option->name,
		  o->value);
	return false;
}

static bool parse_warmup(const options *o, sonde_analyze_options *a)
{
	size_t len = strlen(o->value);

	a->warmup = o->value;
	if (strcmp(o->value, "auto") == 0 || strcmp(o->value, "none") == 0 ||
	    (len > 0 && len <= 9 && strspn(o->value, "0123456789") == len))
		return true;
	say_usage(o->command, "--warmup needs auto, none or a number of steps, not '%s'", o->value);
	return false;
}

static bool parse_compat(const options *o, sonde_analyze_options *a)
{
	static const char *const tools[] = { "hta", "hta-noround", "tracelens", NULL };
	size_t index;

	a->compat = o->value;
	return options_choice(o, tools, &index);
}

/* KEY=VALUE is cut in two where it stands. */
static bool parse_setting(const options *o, selection *s)
{
	char *equals = strchr(o->value, '=');

	if (!equals || equals == o->value || !equals[1]) {
		say_usage(o->command, "--set needs KEY=VALUE, such as dataloader.warn=5%%, not '%s'", o->value);
		return false;
	}
	if (s->options.n_settings == SELECT_MAX_SETTINGS) {
		say_usage(o->command, "--set may be given at most %d times", SELECT_MAX_SETTINGS);
		return false;
	}
	*equals = '\0';
	s->settings[s->options.n_settings++] = (sonde_setting){ .key = o->value, .value = equals + 1 };
	return true;
}

bool selection_option(selection *s, const options *o, int id)
{
	switch (id) {
	case OPTION_STEPS:
		return parse_steps(o, &s->options);
	case OPTION_RANKS:
		return parse_ranks(o, &s->options);
	case OPTION_FROM:
		return parse_moment(o, &s->options, &s->options.from_ns);
	case OPTION_TO:
		return parse_moment(o, &s->options, &s->options.to_ns);
	case OPTION_WARMUP:
		return parse_warmup(o, &s->options);
	case OPTION_COMPAT:
		return parse_compat(o, &s->options);
	case OPTION_SET:
		return parse_setting(o, s);
	case OPTION_TOP:
		return parse_top(o, &s->options.top);
	case OPTION_FILTER:
		s->options.filter = o->value;
		return true;
	case OPTION_SORT:
		s->options.sort = o->value;
		return true;
	case OPTION_TREE:
		s->options.tree = true;
		return true;
	case OPTION_THREADS:
		s->options.threads = true;
		return true;
	}
	return false;
}

bool selection_end(selection *s, const command *c)
{
	s->options.settings = s->settings;
	if (s->options.use_time && s->options.from_ns >= s->options.to_ns) {
		say_usage(c, "--to must be after --from");
		return false;
	}
	if (s->options.use_steps && s->options.warmup) {
		say_usage(c, "--steps and --warmup exclude each other");
		return false;
	}
	return true;
}
