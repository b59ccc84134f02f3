/*
 * sonde_sampler of <sonde/recorder.h>: the program and all its descendants, from /proc. proc(5) has the fields of
 * /proc/PID/stat, /proc/PID/status and /proc/PID/io.
 *
 * A process counts as ours when its parent is, and stays so when that parent dies. All of /proc is read only after a
 * pid was given out somewhere since the last time, and never for more than one hundredth of the time; so a process that
 * lives for less than that may go unseen.
 */
#define _GNU_SOURCE
#include <sonde/recorder.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { FIRST_PROCESSES = 16, SEARCH_SHARE = 100, COMMAND_BYTES = 32 };

typedef struct sampled_process {
	int32_t pid;
	uint64_t start_time; /* with the pid, names a process for good */
	char command[COMMAND_BYTES];
} sampled_process;

/* What /proc/PID/stat says. */
typedef struct proc_stat {
	int32_t parent_pid;
	uint32_t n_threads;
	uint64_t minor_faults, major_faults, user_ticks, system_ticks, start_time, rss_pages;
	char command[COMMAND_BYTES];
} proc_stat;

struct sonde_sampler {
	sonde_recorder *recorder;
	struct sampled_process *processes; /* ours, alive when last seen */
	size_t n_processes, capacity;
	size_t n_seen;		       /* ever */
	sonde_process_sample *samples; /* as many as processes, for one call */
	int64_t last_pid;	       /* given out by the system when /proc was last searched */
	int64_t search_after_ns;       /* CLOCK_MONOTONIC */
	int64_t ns_per_tick, page_bytes;
};

/* ---- /proc ------------------------------------------------------------------------------------------------------- */

static bool read_text(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);

	if (fd >= 0)
		close(fd);
	buffer[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_process_text(int32_t pid, const char *file, char *buffer, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%" PRId32 "/%s", pid, file);
	return read_text(path, buffer, size);
}

static bool read_stat(int32_t pid, proc_stat *ret_stat)
{
	char text[1024];

	*ret_stat = (proc_stat){ 0 };
	if (!read_process_text(pid, "stat", text, sizeof text))
		return false;
	/* The command is in parentheses and may contain some itself: the last one ends it. */
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	if (!begin || !end)
		return false;
	snprintf(ret_stat->command, sizeof ret_stat->command, "%.*s", (int)(end - begin - 1), begin + 1);
	return sscanf(end + 1,
		      " %*c %" SCNd32 " %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64
		      " %*d %*d %*d %*d %" SCNu32 " %*d %" SCNu64 " %*u %" SCNu64,
		      &ret_stat->parent_pid, &ret_stat->minor_faults, &ret_stat->major_faults, &ret_stat->user_ticks,
		      &ret_stat->system_ticks, &ret_stat->n_threads, &ret_stat->start_time, &ret_stat->rss_pages) == 8;
}

static bool read_io(int32_t pid, sonde_process_sample *sample)
{
	char text[512];
	const char *read_at, *write_at;

	if (!read_process_text(pid, "io", text, sizeof text))
		return false; /* another user's, or already a zombie */
	read_at = strstr(text, "\nread_bytes: ");
	write_at = strstr(text, "\nwrite_bytes: ");
	return read_at && write_at && sscanf(read_at, " read_bytes: %" SCNu64, &sample->read_bytes) == 1 &&
	       sscanf(write_at, " write_bytes: %" SCNu64, &sample->write_bytes) == 1;
}

/* 0 of a zombie. */
static uint64_t read_peak_rss(int32_t pid)
{
	char text[2048];
	const char *at = read_process_text(pid, "status", text, sizeof text) ? strstr(text, "\nVmHWM:") : NULL;

	return at ? strtoull(at + 7, NULL, 10) << 10 : 0;
}

/* The pid given out last, of processes and threads alike; -1 if unknown. */
static int64_t read_last_pid(void)
{
	char text[128];
	const char *at = read_text("/proc/loadavg", text, sizeof text) ? strrchr(text, ' ') : NULL;

	return at ? strtoll(at, NULL, 10) : -1;
}

/* ---- Our processes ----------------------------------------------------------------------------------------------- */

static bool is_ours(const sonde_sampler *s, int32_t pid)
{
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].pid == pid)
			return true;
	return false;
}

static bool reserve(sonde_sampler *s)
{
	size_t capacity = s->capacity ? s->capacity * 2 : FIRST_PROCESSES;

	if (s->n_processes < s->capacity)
		return true;
	sampled_process *processes = reallocarray(s->processes, capacity, sizeof *processes);
	if (processes)
		s->processes = processes;
	sonde_process_sample *samples = reallocarray(s->samples, capacity, sizeof *samples);
	if (samples)
		s->samples = samples;
	if (!processes || !samples)
		return false;
	s->capacity = capacity;
	return true;
}

/* Also one that execs: a shell that becomes the program that it was asked to run. */
static void name_process(const sonde_sampler *s, sampled_process *p, const proc_stat *stat)
{
	memcpy(p->command, stat->command, sizeof p->command);
	sonde_recorder_process(s->recorder, p->pid, stat->parent_pid, stat->command);
}

static void add_process(sonde_sampler *s, int32_t pid, const proc_stat *stat)
{
	if (!reserve(s))
		return; /* unsampled, but running */
	s->n_seen++;
	s->processes[s->n_processes] = (sampled_process){ pid, stat->start_time, "" };
	name_process(s, &s->processes[s->n_processes++], stat);
}

/* One walk over /proc; returns how many processes became ours. */
static size_t adopt_children(sonde_sampler *s)
{
	size_t n_before = s->n_processes;
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	proc_stat stat;

	while (dir && (entry = readdir(dir))) {
		int32_t pid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && !is_ours(s, pid) && read_stat(pid, &stat) && is_ours(s, stat.parent_pid))
			add_process(s, pid, &stat);
	}
	if (dir)
		closedir(dir);
	return s->n_processes - n_before;
}

/* A child may be listed before its parent, so walk until nothing is new. */
static void search(sonde_sampler *s)
{
	int64_t last_pid = read_last_pid(), begin_ns = monotonic_ns();

	if (begin_ns < s->search_after_ns || (last_pid >= 0 && last_pid == s->last_pid))
		return;
	s->last_pid = last_pid;
	while (adopt_children(s) > 0)
		;
	int64_t end_ns = monotonic_ns();
	s->search_after_ns = end_ns + (end_ns - begin_ns) * SEARCH_SHARE;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static bool sample_process(const sonde_sampler *s, sampled_process *p, sonde_process_sample *ret_sample)
{
	proc_stat stat;

	if (!read_stat(p->pid, &stat) || stat.start_time != p->start_time)
		return false;
	if (strcmp(p->command, stat.command) != 0)
		name_process(s, p, &stat);
	*ret_sample = (sonde_process_sample){
		.time_ns = monotonic_ns(),
		.pid = p->pid,
		.n_threads = stat.n_threads,
		.user_ns = stat.user_ticks * (uint64_t)s->ns_per_tick,
		.system_ns = stat.system_ticks * (uint64_t)s->ns_per_tick,
		.rss_bytes = stat.rss_pages * (uint64_t)s->page_bytes,
		.minor_faults = stat.minor_faults,
		.major_faults = stat.major_faults,
		.peak_rss_bytes = read_peak_rss(p->pid),
	};
	ret_sample->io_known = read_io(p->pid, ret_sample);
	return true;
}

void sonde_sampler_take(sonde_sampler *s, uint64_t peak_rss_bytes)
{
	size_t n = 0;

	search(s);
	for (size_t i = 0; i < s->n_processes; i++) {
		sampled_process p = s->processes[i];

		if (sample_process(s, &p, &s->samples[n]))
			s->processes[n++] = p;
	}
	s->n_processes = n;
	if (n == 1 && s->n_seen == 1 && peak_rss_bytes)
		s->samples[0].peak_rss_bytes = peak_rss_bytes;
	if (n)
		sonde_recorder_sample(s->recorder, s->samples, n);
}

sonde_status sonde_sampler_new(sonde_recorder *recorder, int32_t pid, sonde_sampler **ret_sampler, sonde_error *err)
{
	sonde_sampler *s = *ret_sampler = calloc(1, sizeof *s);
	proc_stat stat;

	if (!s)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	s->recorder = recorder;
	s->last_pid = -1;
	s->ns_per_tick = 1000000000 / sysconf(_SC_CLK_TCK);
	s->page_bytes = sysconf(_SC_PAGESIZE);
	if (read_stat(pid, &stat))
		add_process(s, pid, &stat);
	return SONDE_OK;
}

void sonde_sampler_free(sonde_sampler *s)
{
	if (!s)
		return;
	free(s->processes);
	free(s->samples);
	free(s);
}
