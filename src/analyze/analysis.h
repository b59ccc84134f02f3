/* What an analysis is: one file, one of these, one line in analyses.def. */
#ifndef SONDE_ANALYZE_ANALYSIS_H
#define SONDE_ANALYZE_ANALYSIS_H

#include "analyze/tables/profile.h"
#include "analyze/result/result.h"
#include "analyze/settings.h"

typedef struct analysis {
	const char *name;
	const char *summary; /* one sentence */
	bool about_file;     /* not about time: steps, ranks and times do not apply */
	bool keeps_warmup;   /* unless a rule was asked for: what peaks there peaks */
	const char *compat;  /* the tools whose definitions it also knows: "hta", "hta tracelens"; NULL: none */
	/* The settings it understands, one after the other, NULL after the last; NULL: it has none. */
	const setting_def *(*setting)(size_t index);
	const struct work_analysis *work; /* one over work.h; NULL: run() it */
	sonde_status (*run)(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			    sonde_error *err);
} analysis;

#define ANALYSIS(name) extern const analysis name##_analysis;
#include "analyze/analyses.def"
#undef ANALYSIS

/* The result takes the profile and holds its trace, so that it can show names where they are: there may be millions,
   and one may be megabytes long. False when out of memory; the profile is gone then. */
bool result_keep_profile(sonde_result *r, profile *p);

/* Parts that several of them show: overview.c, shared.c, losses.c, processes.c. Names are borrowed from the profile and
 * its trace. */
void result_add_trace(sonde_result *r, const sonde_trace *trace, const profile *p); /* headline and single values */
const char *profile_steps_text(sonde_result *r, const profile *p); /* "190 steps after 10 of warm-up" */
void result_add_memory(sonde_result *r, const profile *p);
void result_add_layers(sonde_result *r, profile *p, const sonde_analyze_options *o);
void result_add_activity(sonde_result *r, const profile *p);
void result_add_memory_curves(sonde_result *r, const profile *p);
void result_add_losses(sonde_result *r, const sonde_trace *trace, const walk_counts *counts);
/* What the trace lost, where the result does not say it yet: it may be why something is not found. */
void result_note_losses(sonde_result *r, const sonde_trace *trace);
/* A table of what each process used; none when nobody looked. */
void result_add_processes(sonde_result *r, const sonde_trace *trace);
void result_add_counters(sonde_result *r, const profile *p);
table *result_add_diagnostics(sonde_result *r, const sonde_trace *trace); /* NULL: there are none */
bool trace_has_samples(const sonde_trace *trace);			  /* of its processes; processes.c */
/* "1 scope", "2 scopes" */
const char *result_counted(sonde_result *r, uint64_t n, const char *one, const char *many);
const char *trace_title(const sonde_trace *trace); /* the file's name without its directory */

/* The time table of names; used by `report` and, for the reports of sessions, with their own title. */
sonde_status report_run_profile(profile *p, const sonde_analyze_options *options, sonde_result *r, sonde_error *err);

#endif
