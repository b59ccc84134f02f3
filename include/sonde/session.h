/*
 * Records and reports inside the recorded program: start, run, stop, read the report; any number of times.
 * Needs libsonde (which includes libsonde-rt). Not for signal handlers; one session at a time in a process.
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
	int64_t self_ns; /* total minus the time in inner scopes */
	int64_t avg_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t std_ns; /* of the population */
	int64_t p50_ns; /* exact up to 1,024 calls of the name, within 0.4 % above */
	int64_t p95_ns;
	int64_t p99_ns;
	double percent; /* of the recorded time: total_ns / sonde_report_total_ns */
	double flops;	/* sum over all calls; 0 if none were given */
	double bytes;
	/* Memory of all devices by sonde_alloc and sonde_free on the thread of the call, from its begin to its end,
	   calls inside included; exact. What other threads allocate meanwhile is theirs. */
	bool memory_known;	  /* false: allocations were not recorded, or a call did not nest on its thread */
	uint64_t allocated_bytes; /* sum over all calls; of recursive calls the outermost one counts */
	uint64_t freed_bytes;	  /* whoever allocated it */
	uint64_t peak_bytes;	  /* the most that one call had allocated and not freed since its begin */
} sonde_op_stats;

/* Starts recording with config (NULL: from the environment). The caller stops *ret_session, which is NULL on failure.
 */
SONDE_API sonde_status sonde_session_start(const sonde_config *config, sonde_session **ret_session, sonde_error *err);

/* Pauses and resumes recording within a session. */
SONDE_API void sonde_session_pause(sonde_session *session);
SONDE_API void sonde_session_resume(sonde_session *session);

/* Stops, completes the file and frees the session; SONDE_E_STATE for NULL. ret_report may be NULL; otherwise the caller
   frees *ret_report, which is NULL on failure. */
SONDE_API sonde_status sonde_session_stop(sonde_session *session, sonde_report **ret_report, sonde_error *err);

/* Opens the report of any recording. The caller frees *ret_report. */
SONDE_API sonde_status sonde_report_open(const char *path, sonde_report **ret_report, sonde_error *err);

/* Returns the wall time from start to stop. */
SONDE_API int64_t sonde_report_total_ns(const sonde_report *report);

/* Names, sorted by self time: index 0..n-1 are the hotspots. Borrowed from the report. */
SONDE_API size_t sonde_report_n_ops(const sonde_report *report);
SONDE_API const sonde_op_stats *sonde_report_op(const sonde_report *report, size_t index);

/* Stores the first n names in the caller's array. Returns the number stored. */
SONDE_API size_t sonde_report_hotspots(const sonde_report *report, const sonde_op_stats **ret_ops, size_t n);

/* Returns the peak memory of the device; 0 if nothing was allocated on it. */
SONDE_API size_t sonde_report_peak_bytes(const sonde_report *report, sonde_device device);

/* Stores memory in use over time, at most 512 points, with the exact peak of each interval. Returns the number stored.
   Times count from the start of the recording. */
SONDE_API size_t sonde_report_memory(const sonde_report *report, sonde_device device, sonde_memory_point *ret_points,
				     size_t n);

/* Runs an analysis of the session by name: see sonde_analyze(). The first call builds the index that most analyses
   need; the report must not be used elsewhere during the call. If the session was part of a longer recording, the
   analysis covers that part unless options select another time. The caller frees *ret_result. */
SONDE_API sonde_status sonde_report_analyze(sonde_report *report, const char *name,
					    const sonde_analyze_options *options, sonde_result **ret_result,
					    sonde_error *err);

/* Prints the table of `sonde report` with the top n names. */
SONDE_API void sonde_report_print(const sonde_report *report, FILE *out, unsigned n);

/* Accepts NULL. */
SONDE_API void sonde_report_free(sonde_report *report);

#ifdef __cplusplus
}
#endif
#endif
