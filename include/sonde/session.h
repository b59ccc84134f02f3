/*
 * A recording and its report, inside the program that is recorded: start, run, stop, look. As often as you like.
 * Needs libsonde (which brings libsonde-rt). Not for signal handlers; one session at a time in a process.
 */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include <stdio.h>
#include <sonde/analyze.h>
#include <sonde/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_session sonde_session;
typedef struct sonde_report sonde_report;

/* One name of the report. Strings live as long as the report. */
typedef struct sonde_op_stats {
	const char *name;
	const char *category;
	uint64_t calls;
	int64_t total_ns;
	int64_t self_ns; /* total less what was spent in scopes inside */
	int64_t avg_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t std_ns; /* of the population */
	int64_t p50_ns; /* exact up to 1,024 calls of the name, within 0.4 % above */
	int64_t p95_ns;
	int64_t p99_ns;
	double percent; /* of the recorded time: total_ns / sonde_report_total_ns */
	double flops;	/* sum over all calls; 0 when none were given */
	double bytes;
	/* Memory of all devices by sonde_alloc and sonde_free on the thread of the call, from its begin to its end,
	   calls inside included; exact. What other threads allocate meanwhile is theirs. */
	bool memory_known;	  /* false: allocations were not recorded, or a call did not nest on its thread */
	uint64_t allocated_bytes; /* sum over all calls; of recursive calls the outermost one counts */
	uint64_t freed_bytes;	  /* whoever allocated it */
	uint64_t peak_bytes;	  /* the most that one call had allocated and not freed since its begin */
} sonde_op_stats;

/* Starts recording as config says (NULL: as the environment says). The caller stops the session; NULL if it failed. */
SONDE_API sonde_status sonde_session_start(const sonde_config *config, sonde_session **ret_session, sonde_error *err);

/* Within a session: nothing is recorded between the two. */
SONDE_API void sonde_session_pause(sonde_session *session);
SONDE_API void sonde_session_resume(sonde_session *session);

/* Stops, completes the file and frees the session; SONDE_E_STATE for NULL. ret_report may be NULL; otherwise the caller
   frees *ret_report, which is NULL if it failed. */
SONDE_API sonde_status sonde_session_stop(sonde_session *session, sonde_report **ret_report, sonde_error *err);

/* The report of any recording. The caller frees *ret_report. */
SONDE_API sonde_status sonde_report_open(const char *path, sonde_report **ret_report, sonde_error *err);

/* From start to stop, by the clock on the wall. */
SONDE_API int64_t sonde_report_total_ns(const sonde_report *report);

/* Names, the one with the most self time first: index 0..n-1 are the hotspots. Borrowed. */
SONDE_API size_t sonde_report_n_ops(const sonde_report *report);
SONDE_API const sonde_op_stats *sonde_report_op(const sonde_report *report, size_t index);

/* The first n of them into the caller's array; returns how many there were. */
SONDE_API size_t sonde_report_hotspots(const sonde_report *report, const sonde_op_stats **ret_ops, size_t n);

/* 0 when nothing was allocated on the device. */
SONDE_API size_t sonde_report_peak_bytes(const sonde_report *report, sonde_device device);

/* Memory in use over time, at most 512 points, the peak of each interval exact; returns how many were written.
   Times count from the start of the recording. */
SONDE_API size_t sonde_report_memory(const sonde_report *report, sonde_device device, sonde_memory_point *ret_points,
				     size_t n);

/* Any analysis of what the session recorded, by its name: see sonde_analyze(). Makes the index that most of them need
   the first time; the report must not be in use elsewhere meanwhile. Where the session was a part of a longer recording
   it is that part, unless options ask for another time. The caller frees *ret_result. */
SONDE_API sonde_status sonde_report_analyze(sonde_report *report, const char *name,
					    const sonde_analyze_options *options, sonde_result **ret_result,
					    sonde_error *err);

/* The table of `sonde report`, the top n names. */
SONDE_API void sonde_report_print(const sonde_report *report, FILE *out, unsigned n);

/* Accepts NULL. */
SONDE_API void sonde_report_free(sonde_report *report);

#ifdef __cplusplus
}
#endif
#endif
