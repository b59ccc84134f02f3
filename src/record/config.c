/*
 * What to record, from the struct and from the environment, by base/record_settings.def. A wrong value in the
 * environment is one line on stderr and the default; a wrong one in the struct is an error.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

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
	if (active)
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

/* ---- One setting ------------------------------------------------------------------------------------------------- */

static bool set_activity(record_options *o, uint32_t bit, const char *text)
{
	bool on;

	if (!parse_bool(text, &on))
		return false;
	o->active = on ? o->active | bit : o->active & ~bit;
	return true;
}

static bool set_enabled(record_options *o, const char *text)
{
	return parse_bool(text, &o->enabled);
}

static bool set_output(record_options *o, const char *text)
{
	return snprintf(o->output, sizeof o->output, "%s", text) < (int)sizeof o->output;
}

static bool set_report(record_options *o, const char *text)
{
	return parse_number(text, &o->report);
}

static bool set_activities(record_options *o, const char *text)
{
	return parse_activities(text, &o->active);
}

static bool set_memory(record_options *o, const char *text)
{
	return set_activity(o, SONDE_ACTIVE_MEMORY_, text);
}

static bool set_shapes(record_options *o, const char *text)
{
	return parse_bool(text, &o->shapes);
}

static bool set_flops(record_options *o, const char *text)
{
	return parse_bool(text, &o->flops);
}

static bool set_modules(record_options *o, const char *text)
{
	return set_activity(o, SONDE_ACTIVE_MODULES_, text);
}

static bool set_stacks(record_options *o, const char *text)
{
	return parse_bool(text, &o->stacks);
}

static bool set_buffer(record_options *o, const char *text)
{
	return parse_size(text, &o->buffer);
}

static bool set_full(record_options *o, const char *text)
{
	return parse_full(text, &o->full);
}

/* clock.c reads it, once in a process. */
static bool set_clock(record_options *o, const char *text)
{
	(void)o;
	return strcmp(text, "monotonic") == 0 || strcmp(text, "tsc") == 0;
}

typedef enum setting_kind { SWITCH, NUMBER, SIZE, CHOICE, LIST, PATH } setting_kind;

typedef struct setting {
	const char *name, *variable, *value /* the default */, *expected;
	setting_kind kind;
	bool (*set)(record_options *o, const char *text); /* false: the text is wrong */
	size_t field;					  /* offset in sonde_config; 0: it has none */
} setting;

static const setting settings[] = {
#define SETTING(name, NAME, kind, value, expected, argument, help)                                                     \
	{ #name, "SONDE_" #NAME, value, expected, kind, set_##name, offsetof(sonde_config, name) },
#define SETTING_NO_FIELD(name, NAME, kind, value, expected, argument, help)                                            \
	{ #name, "SONDE_" #NAME, value, expected, kind, set_##name, 0 },
#define SETTING_VARIABLE SETTING_NO_FIELD
#include "base/record_settings.def"
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static void set_defaults(record_options *o)
{
	*o = (record_options){ 0 };
	for (size_t i = 0; i < N_SETTINGS; i++)
		settings[i].set(o, settings[i].value);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

static void complain(const setting *s, const char *value)
{
	if (s->kind == PATH)
		fprintf(stderr, "sonde: %s is longer than %zu bytes; using the default\n", s->variable,
			sizeof((record_options *)NULL)->output - 1);
	else
		fprintf(stderr, "sonde: %s=%s is not %s; using the default\n", s->variable, value, s->expected);
}

void config_from_environment(record_options *o)
{
	set_defaults(o);
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *text = secure_getenv(settings[i].variable);
		if (!text || !*text || settings[i].set(o, text))
			continue;
		if (settings[i].kind != SWITCH) /* which a wrong text leaves as it was */
			settings[i].set(o, settings[i].value);
		complain(&settings[i], text);
	}
	size_t len = strlen(o->output);
	if (foreign_end(o->output) && len + sizeof ".sonde" <= sizeof o->output) {
		strcpy(o->output + len, ".sonde");
		o->output_is_longer = true;
	}
}

/* ---- Struct ------------------------------------------------------------------------------------------------------ */

static sonde_status set_switch(const setting *s, uint8_t value, record_options *o, sonde_error *err)
{
	if (value > SONDE_OFF)
		return error_set(err, SONDE_E_USAGE, -1, "%s is %d, not SONDE_DEFAULT, SONDE_ON or SONDE_OFF", s->name,
				 value);
	if (value != SONDE_DEFAULT)
		s->set(o, value == SONDE_ON ? "1" : "0");
	return SONDE_OK;
}

static sonde_status set_word(const setting *s, const char *text, record_options *o, sonde_error *err)
{
	if (text && !s->set(o, text))
		return error_set(err, SONDE_E_USAGE, -1, "%s is \"%s\", not %s", s->name, text, s->expected);
	return SONDE_OK;
}

static sonde_status set_path(const setting *s, const char *path, record_options *o, sonde_error *err)
{
	if (path && !s->set(o, path))
		return error_set(err, SONDE_E_USAGE, -1, "%s is longer than %zu bytes", s->name, sizeof o->output - 1);
	if (foreign_end(o->output))
		return error_set(err, SONDE_E_USAGE, -1, "%s ends in %s, but a recording is a .sonde file", s->name,
				 foreign_end(o->output));
	return SONDE_OK;
}

static sonde_status set_size(const setting *s, size_t bytes, record_options *o, sonde_error *err)
{
	char text[24];

	snprintf(text, sizeof text, "%zu", bytes);
	if (bytes && !s->set(o, text))
		return error_set(err, SONDE_E_USAGE, -1, "%s is %zu bytes, not 256 KiB to 64 GiB", s->name, bytes);
	return SONDE_OK;
}

static sonde_status set_field(const setting *s, const sonde_config *c, record_options *o, sonde_error *err)
{
	const void *field = (const char *)c + s->field;

	switch (s->kind) {
	case SWITCH:
		return set_switch(s, *(const uint8_t *)field, o, err);
	case CHOICE:
	case LIST:
		return set_word(s, *(const char *const *)field, o, err);
	case PATH:
		return set_path(s, *(const char *const *)field, o, err);
	case SIZE:
		return set_size(s, *(const size_t *)field, o, err);
	case NUMBER:
		o->report = *(const unsigned *)field; /* the only one */
		break;
	}
	return SONDE_OK;
}

sonde_status config_from_struct(const sonde_config *given, record_options *o, sonde_error *err)
{
	sonde_config c = { 0 };
	sonde_status status = SONDE_OK;

	if (given->struct_size < sizeof c.struct_size || given->struct_size > 4096)
		return error_set(err, SONDE_E_USAGE, -1, "struct_size is %zu; set it to sizeof(sonde_config)",
				 given->struct_size);
	memcpy(&c, given, given->struct_size < sizeof c ? given->struct_size : sizeof c);
	set_defaults(o);
	o->enabled = true;
	for (size_t i = 0; i < N_SETTINGS && !status; i++)
		if (settings[i].field)
			status = set_field(&settings[i], &c, o, err);
	return status;
}
