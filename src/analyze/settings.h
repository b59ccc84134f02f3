/*
 * Numbers of an analysis that the user may change: thresholds of rules above all.
 *
 *   static const setting_def warn = { "dataloader.warn", SETTING_SHARE, "5%", "waits that are worth a finding" };
 *   if (share > setting(options, &warn)) ...
 *
 * An analysis lists its own in analysis.setting, so that a key nobody knows is refused and `sonde analyze --list` can
 * show them. sonde_analyze() has checked every value before an analysis runs.
 */
#ifndef SONDE_ANALYZE_SETTINGS_H
#define SONDE_ANALYZE_SETTINGS_H

#include <stdbool.h>
#include <sonde/analyze.h>

typedef enum setting_kind {
	SETTING_NUMBER,
	SETTING_SHARE, /* "5%": 0.05 */
	SETTING_NS,    /* "20ms" */
	SETTING_BYTES, /* "64MiB" */
	SETTING_BOOL,  /* "yes": 1 */
	SETTING_TEXT,  /* anything; setting_text() */
} setting_kind;

typedef struct setting_def {
	const char *key; /* "dataloader.warn" */
	setting_kind kind;
	const char *standard; /* the default, as the user would write it */
	const char *summary;
} setting_def;

/* What the user set, the last of several, or the default. */
double setting(const sonde_analyze_options *options, const setting_def *def);
const char *setting_text(const sonde_analyze_options *options, const setting_def *def);

/* False: the text is not what the setting needs; *ret_needs says what is. */
bool setting_parse(const setting_def *def, const char *text, double *ret_value, const char **ret_needs);

#endif
