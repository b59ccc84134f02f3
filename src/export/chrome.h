/* Parts of the Chrome exporter. */
#ifndef SONDE_EXPORT_CHROME_H
#define SONDE_EXPORT_CHROME_H

#include "export/exporter.h"

/* Of a trace whose events are in an index; chrome_index.c */
sonde_status chrome_export_imported(const sonde_trace *trace, FILE *out, sonde_error *err);

#endif
