/*
 * Values that the user may change, one row each:
 *
 *   static const setting_def warn = { "dataloader.warn", SETTING_SHARE, "5%", "waits that are worth a finding" };
 *   settings_number(given, n, &warn)       what the user set, the last of several, or the default
 *
 * Whoever has settings lists them, so that an unknown key is refused, and checks values with setting_parse() first.
 */
#ifndef SONDE_BASE_SETTINGS_H
#define SONDE_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sonde/setting.h>

typedef enum setting_kind {
	SETTING_NUMBER,
	SETTING_SHARE, /* "5%": 0.05 */
	SETTING_NS,    /* "20ms" */
	SETTING_BYTES, /* "64MiB" */
	SETTING_BOOL,  /* "yes": 1 */
	SETTING_TEXT,  /* anything; settings_text() */
} setting_kind;

typedef struct setting_def {
	const char *key; /* "dataloader.warn" */
	setting_kind kind;
	const char *standard; /* the default, as the user would write it */
	const char *summary;
} setting_def;

/* Returns false if the text is not what the setting needs; *ret_needs then says what is: "a number". */
bool setting_parse(const setting_def *def, const char *text, double *ret_value, const char **ret_needs);

/* `given` has been checked. */
const char *settings_text(const sonde_setting *given, size_t n, const setting_def *def);
double settings_number(const sonde_setting *given, size_t n, const setting_def *def);

#endif
