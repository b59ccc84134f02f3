/*
 * What to record, from the struct and from the environment. A wrong value in the environment is one line on stderr and
 * the default; a wrong one in the struct is an error.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

static const record_options defaults = {
	.active = SONDE_ACTIVE_CPU_ | SONDE_ACTIVE_MEMORY_ | SONDE_ACTIVE_DEVICE_ | SONDE_ACTIVE_MODULES_,
	.buffer = RING_DEFAULT_BYTES,
	.full = FULL_BLOCK,
	.shapes = true,
	.flops = true,
};

static bool parse_bool(const char *text, bool *ret)
{
	static const struct {
		const char *text;
		bool value;
	} words[] = { { "1", true },   { "0", false },	{ "true", true }, { "false", false },
		      { "yes", true }, { "no", false }, { "on", true },	  { "off", false } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(text, words[i].text) == 0) {
			*ret = words[i].value;
			return true;
		}
	return false;
}

/* "64M", "64MiB", "67108864". */
static bool parse_size(const char *text, size_t *ret)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	unsigned shift = 0;
	const char *units = "kmg", *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (strcasecmp(end, "b") == 0 || strcasecmp(end, "ib") == 0)
			end += strlen(end);
	}
	if (*end || value > SIZE_MAX >> shift)
		return false;
	*ret = (size_t)value << shift;
	return *ret >= RING_MIN_BYTES && *ret <= (size_t)64 << 30;
}

static bool parse_full(const char *text, full_policy *ret)
{
	static const char *const words[] = { "block", "overwrite", "drop" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(text, words[i]) == 0) {
			*ret = (full_policy)i;
			return true;
		}
	return false;
}

static bool parse_activities(const char *text, uint32_t *ret)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} known[] = { { "cpu", SONDE_ACTIVE_CPU_ },
		      { "memory", SONDE_ACTIVE_MEMORY_ },
		      { "device", SONDE_ACTIVE_DEVICE_ } };
	uint32_t active = 0;

	while (*text) {
		size_t len = strcspn(text, ","), i = 0;
		while (i < 3 && (strlen(known[i].name) != len || strncasecmp(known[i].name, text, len) != 0))
			i++;
		if (i == 3)
			return false;
		active |= known[i].bits;
		text += len + (text[len] == ',');
	}
	*ret = (*ret & SONDE_ACTIVE_MODULES_) | active;
	return active != 0;
}

static bool parse_number(const char *text, unsigned *ret)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*ret = (unsigned)value;
	return isdigit((unsigned char)*text) && !*end && value <= 1000000;
}

/* The end of a name that promises another format, or NULL. */
static const char *foreign_end(const char *path)
{
	static const char *const ends[] = { ".json", ".csv", ".md", ".html", ".txt", ".svg", ".folded" };
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (len > strlen(ends[i]) && strcasecmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return ends[i];
	return NULL;
}

static void complain(const char *name, const char *value, const char *expected)
{
	fprintf(stderr, "sonde: %s=%s is not %s; the default is used\n", name, value, expected);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

static void env_bool(const char *name, bool *ret)
{
	const char *text = secure_getenv(name);

	if (text && *text && !parse_bool(text, ret))
		complain(name, text, "0 or 1");
}

static void env_activity(const char *name, uint32_t bit, uint32_t *active)
{
	bool on = *active & bit;

	env_bool(name, &on);
	*active = on ? *active | bit : *active & ~bit;
}

void config_from_environment(record_options *o)
{
	const char *text;

	*o = defaults;
	env_bool("SONDE_ENABLED", &o->enabled);
	if ((text = secure_getenv("SONDE_OUTPUT")) &&
	    snprintf(o->output, sizeof o->output, "%s", text) >= (int)sizeof o->output) {
		o->output[0] = 0;
		fprintf(stderr, "sonde: SONDE_OUTPUT is longer than %zu bytes; the default is used\n",
			sizeof o->output - 1);
	}
	size_t len = strlen(o->output);
	if (foreign_end(o->output) && len + sizeof ".sonde" <= sizeof o->output) {
		strcpy(o->output + len, ".sonde");
		o->output_is_longer = true;
	}
	if ((text = secure_getenv("SONDE_ACTIVITIES")) && *text && !parse_activities(text, &o->active))
		complain("SONDE_ACTIVITIES", text, "a list of cpu, memory, device");
	if ((text = secure_getenv("SONDE_BUFFER")) && *text && !parse_size(text, &o->buffer)) {
		o->buffer = defaults.buffer;
		complain("SONDE_BUFFER", text, "a size from 256K to 64G");
	}
	if ((text = secure_getenv("SONDE_FULL")) && *text && !parse_full(text, &o->full))
		complain("SONDE_FULL", text, "block, overwrite or drop");
	if ((text = secure_getenv("SONDE_REPORT")) && *text && !parse_number(text, &o->report)) {
		o->report = 0;
		complain("SONDE_REPORT", text, "a number of names");
	}
	text = secure_getenv("SONDE_CLOCK"); /* for clock.c */
	if (text && *text && strcmp(text, "monotonic") != 0 && strcmp(text, "tsc") != 0)
		complain("SONDE_CLOCK", text, "monotonic or tsc");
	env_activity("SONDE_MEMORY", SONDE_ACTIVE_MEMORY_, &o->active);
	env_activity("SONDE_MODULES", SONDE_ACTIVE_MODULES_, &o->active);
	env_bool("SONDE_SHAPES", &o->shapes);
	env_bool("SONDE_STACKS", &o->stacks);
	env_bool("SONDE_FLOPS", &o->flops);
}

/* ---- Struct ------------------------------------------------------------------------------------------------------ */

sonde_status config_from_struct(const sonde_config *given, record_options *o, sonde_error *err)
{
	sonde_config c = { 0 };

	if (given->struct_size < sizeof c.struct_size || given->struct_size > 4096)
		return error_set(err, SONDE_E_USAGE, -1, "struct_size is %zu; set it to sizeof(sonde_config)",
				 given->struct_size);
	memcpy(&c, given, given->struct_size < sizeof c ? given->struct_size : sizeof c);
	*o = defaults;
	o->enabled = true;
	o->active = SONDE_ACTIVE_CPU_ | SONDE_ACTIVE_DEVICE_ | (c.modules ? SONDE_ACTIVE_MODULES_ : 0) |
		    (c.memory ? SONDE_ACTIVE_MEMORY_ : 0);
	o->report = c.report;
	o->shapes = c.shapes;
	o->stacks = c.stacks;
	o->flops = c.flops;
	if (c.output && snprintf(o->output, sizeof o->output, "%s", c.output) >= (int)sizeof o->output)
		return error_set(err, SONDE_E_USAGE, -1, "output is longer than %zu bytes", sizeof o->output - 1);
	if (foreign_end(o->output))
		return error_set(err, SONDE_E_USAGE, -1, "output ends in %s, but a recording is a .sonde file",
				 foreign_end(o->output));
	if (c.activities && !parse_activities(c.activities, &o->active))
		return error_set(err, SONDE_E_USAGE, -1, "activities is \"%s\", not a list of cpu, memory, device",
				 c.activities);
	if (c.full && !parse_full(c.full, &o->full))
		return error_set(err, SONDE_E_USAGE, -1, "full is \"%s\", not block, overwrite or drop", c.full);
	if (c.buffer) {
		if (c.buffer < RING_MIN_BYTES || c.buffer > (size_t)64 << 30)
			return error_set(err, SONDE_E_USAGE, -1, "buffer is %zu bytes, not 256 KiB to 64 GiB",
					 c.buffer);
		o->buffer = c.buffer;
	}
	return SONDE_OK;
}
