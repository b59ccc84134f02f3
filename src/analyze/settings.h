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

#include <sonde/analyze.h>
#include "base/settings.h"

/* What the user set, the last of several, or the default. */
double setting(const sonde_analyze_options *options, const setting_def *def);
const char *setting_text(const sonde_analyze_options *options, const setting_def *def);

#endif
