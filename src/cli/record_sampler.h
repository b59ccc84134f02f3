/*
 * Samples the program and all its descendants from /proc: CPU time, memory, threads, faults, bytes read and written.
 *
 *   sampler s;
 *   sampler_init(&s, pid, recorder)     names the program
 *   sampler_take(&s, 0)                 every so often; finds new processes, drops dead ones
 *   sampler_done(&s)
 *
 * A process counts as ours when its parent is, and stays so when that parent dies. All of /proc is read only after a
 * pid was given out somewhere since the last time, and never for more than one hundredth of the time; so a process that
 * lives for less than that may go unseen.
 */
#ifndef SONDE_CLI_RECORD_SAMPLER_H
#define SONDE_CLI_RECORD_SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sonde/recorder.h>

typedef struct sampler {
	sonde_recorder *recorder;
	struct sampled_process *processes; /* ours, alive when last seen */
	size_t n_processes, capacity;
	size_t n_seen;		       /* ever */
	sonde_process_sample *samples; /* as many as processes, for one call */
	int64_t last_pid;	       /* given out by the system when /proc was last searched */
	int64_t search_after_ns;       /* CLOCK_MONOTONIC */
	int64_t ns_per_tick, page_bytes;
} sampler;

void sampler_init(sampler *s, int32_t pid, sonde_recorder *recorder);
/* peak_rss_bytes: of the program, which has ended, and of all that it waited for; 0: unknown. It is the program's if
   nothing else was seen; otherwise the peak of a process is that up to its last sample. */
void sampler_take(sampler *s, uint64_t peak_rss_bytes);
void sampler_done(sampler *s);

#endif
