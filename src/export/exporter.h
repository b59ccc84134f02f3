/* What an exporter is: one file, one of these, one line in exporters.def. */
#ifndef SONDE_EXPORT_EXPORTER_H
#define SONDE_EXPORT_EXPORTER_H

#include <stdio.h>
#include "store/trace.h"

typedef struct exporter {
	const char *name;
	const char *summary; /* one sentence */
	sonde_status (*run)(const sonde_trace *trace, FILE *out, sonde_error *err);
} exporter;

#define EXPORTER(name) extern const exporter name##_exporter;
#include "export/exporters.def"
#undef EXPORTER

#endif
