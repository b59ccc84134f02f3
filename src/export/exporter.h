/*
 * What an exporter is: one file, one of these, one line in exporters.def.
 *
 * `run` writes to job->out where the target is a file or standard output: compression, opening and renaming are done
 * for it. Only an exporter with SONDE_TARGET_DIRECTORY or SONDE_TARGET_URL sees such a target, in job->target.
 */
#ifndef SONDE_EXPORT_EXPORTER_H
#define SONDE_EXPORT_EXPORTER_H

#include <stdio.h>
#include "base/settings.h"
#include "export/target.h"
#include "store/trace.h"

typedef struct export_job {
	const sonde_trace *trace;
	FILE *out; /* NULL: the target is no file */
	const export_target *target;
	const sonde_setting *settings; /* checked */
	size_t n_settings;
} export_job;

typedef struct exporter {
	const char *name;
	const char *summary;	     /* one sentence */
	const char *ends;	     /* of the names of its files, separated by commas */
	unsigned targets;	     /* sonde_target bits */
	const setting_def *settings; /* the last one has no key; NULL: none */
	sonde_status (*run)(const export_job *job, sonde_error *err);
} exporter;

/* What the user set, or the default. */
static inline bool export_truth(const export_job *job, const setting_def *def)
{
	return settings_number(job->settings, job->n_settings, def) != 0;
}

#define EXPORTER(name) extern const exporter name##_exporter;
#include "export/exporters.def"
#undef EXPORTER

#endif
