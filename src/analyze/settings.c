/* See settings.h. */
#include "analyze/settings.h"

const char *setting_text(const sonde_analyze_options *options, const setting_def *def)
{
	return settings_text(options->settings, options->n_settings, def);
}

double setting(const sonde_analyze_options *options, const setting_def *def)
{
	return settings_number(options->settings, options->n_settings, def);
}
