/* See settings.h. */
#include "base/settings.h"

#include <string.h>

#include "base/parse_units.h"

bool setting_parse(const setting_def *def, const char *text, double *ret_value, const char **ret_needs)
{
	uint64_t bytes = 0;
	int64_t ns = 0;
	bool truth = false, is_good = false;

	switch (def->kind) {
	case SETTING_NUMBER:
		*ret_needs = "a number";
		return parse_real(text, ret_value);
	case SETTING_SHARE:
		*ret_needs = "a percentage such as 5%";
		return parse_share(text, ret_value);
	case SETTING_NS:
		*ret_needs = "a time such as 20ms";
		is_good = parse_time(text, &ns);
		*ret_value = (double)ns;
		break;
	case SETTING_BYTES:
		*ret_needs = "a size such as 64MiB";
		is_good = parse_bytes(text, &bytes);
		*ret_value = (double)bytes;
		break;
	case SETTING_BOOL:
		*ret_needs = "yes or no";
		is_good = parse_truth(text, &truth);
		*ret_value = truth;
		break;
	case SETTING_TEXT:
		*ret_needs = "a text";
		*ret_value = 0;
		return true;
	}
	return is_good;
}

const char *settings_text(const sonde_setting *given, size_t n, const setting_def *def)
{
	const char *text = def->standard;

	for (size_t i = 0; i < n; i++)
		if (strcmp(given[i].key, def->key) == 0)
			text = given[i].value;
	return text;
}

double settings_number(const sonde_setting *given, size_t n, const setting_def *def)
{
	const char *needs;
	double value = 0;

	setting_parse(def, settings_text(given, n, def), &value, &needs);
	return value;
}
