/* Analyses by name. */
#include "analyze/analysis.h"

#include <string.h>
#include "base/error.h"

#define ANALYSIS(name) &name##_analysis,
static const analysis *const analyses[] = {
#include "analyze/analyses.def"
};
#undef ANALYSIS
enum { N_ANALYSES = sizeof analyses / sizeof analyses[0] };

bool sonde_analysis(size_t index, const char **ret_name, const char **ret_summary)
{
	if (index >= N_ANALYSES)
		return false;
	*ret_name = analyses[index]->name;
	*ret_summary = analyses[index]->summary;
	return true;
}

sonde_status sonde_analyze(const sonde_trace *trace, const char *name, const sonde_analyze_options *options,
			   sonde_result **ret_result, sonde_error *err)
{
	sonde_analyze_options given = { .struct_size = sizeof given };
	const analysis *found = NULL;

	for (size_t i = 0; i < N_ANALYSES; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			found = analyses[i];
	if (!found)
		return error_set(err, SONDE_E_USAGE, -1, "there is no analysis \"%s\"", name);
	if (options && options->struct_size)
		memcpy(&given, options, options->struct_size < sizeof given ? options->struct_size : sizeof given);
	sonde_result *r = result_new(found->name);
	if (!r)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	sonde_status status = found->run(trace, &given, r, err);
	if (!status && !result_ok(r))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (status) {
		sonde_result_free(r);
		return status;
	}
	*ret_result = r;
	return SONDE_OK;
}
