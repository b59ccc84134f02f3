/* Exporters by name. */
#include "export/exporter.h"

#include <string.h>
#include "base/error.h"

#define EXPORTER(name) &name##_exporter,
static const exporter *const exporters[] = {
#include "export/exporters.def"
};
#undef EXPORTER
enum { N_EXPORTERS = sizeof exporters / sizeof exporters[0] };

bool sonde_export_format(size_t index, const char **ret_name, const char **ret_summary)
{
	if (index >= N_EXPORTERS)
		return false;
	*ret_name = exporters[index]->name;
	*ret_summary = exporters[index]->summary;
	return true;
}

sonde_status sonde_export(const sonde_trace *trace, const char *format, FILE *out, sonde_error *err)
{
	for (size_t i = 0; i < N_EXPORTERS; i++)
		if (strcmp(exporters[i]->name, format) == 0)
			return exporters[i]->run(trace, out, err);
	return error_set(err, SONDE_E_USAGE, -1, "there is no format \"%s\" to export to", format);
}
