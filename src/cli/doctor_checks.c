/*
 * See doctor.h. A check is one function that fills one finding. Files of /proc, /sys and /dev are looked for below
 * SONDE_DOCTOR_ROOT when that is set, so that tests can show other machines.
 */
#define _GNU_SOURCE
#include "cli/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/format_number.h"

#define RING_BYTES (UINT64_C(64) << 20) /* of one recorded process, unless --buffer says otherwise */
#define RING_LEAST_BYTES                                                                                               \
	((UINT64_C(4) << 20) + (260 << 10)) /* below that no program records: format/recording/ring.h */

static void in_root(char *ret_path, const char *path)
{
	const char *root = getenv("SONDE_DOCTOR_ROOT");

	snprintf(ret_path, PATH_MAX, "%s%s", root ? root : "", path);
}

/* The first line of a file, without its end. */
static bool read_line(const char *path, char *ret_line, size_t size)
{
	char real_path[PATH_MAX];

	in_root(real_path, path);
	FILE *file = fopen(real_path, "re");
	bool is_read = file && fgets(ret_line, (int)size, file);
	if (file)
		fclose(file);
	if (!is_read)
		*ret_line = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return is_read;
}

/* The rest of the first line of a file that begins with key. */
static bool find_line(const char *path, const char *key, char *ret_rest, size_t size)
{
	char real_path[PATH_MAX], *line = NULL;
	size_t capacity = 0;
	bool is_found = false;

	in_root(real_path, path);
	FILE *file = fopen(real_path, "re");
	while (file && !is_found && getline(&line, &capacity, file) > 0) {
		is_found = strncmp(line, key, strlen(key)) == 0;
		if (is_found)
			snprintf(ret_rest, size, "%s", line + strlen(key) + strspn(line + strlen(key), " \t:"));
	}
	free(line);
	if (file)
		fclose(file);
	if (is_found)
		ret_rest[strcspn(ret_rest, "\n")] = '\0';
	return is_found;
}

static void tell(finding *f, check_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void tell(finding *f, check_state state, const char *format, ...)
{
	va_list args;

	f->state = state;
	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
}

static void advise(finding *f, const char *advice)
{
	snprintf(f->advice, sizeof f->advice, "%s", advice);
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

static void check_kernel(finding *f)
{
	char release[128];
	bool is_known = read_line("/proc/sys/kernel/osrelease", release, sizeof release);

	tell(f, is_known ? CHECK_OK : CHECK_LIMITED, "Linux %s", is_known ? release : "of unknown version");
}

static void check_cores(finding *f)
{
	cpu_set_t set;
	char online[128] = "";
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);

	read_line("/sys/devices/system/cpu/online", online, sizeof online);
	tell(f, n > 1 ? CHECK_OK : CHECK_LIMITED, "%d usable (online: %s)", n, *online ? online : "unknown");
	if (n == 1)
		advise(f, "the writer thread shares it with the program");
}

static void check_memory(finding *f)
{
	char total[64], available[64], text[2][NUMBER_TEXT];

	if (!find_line("/proc/meminfo", "MemTotal", total, sizeof total) ||
	    !find_line("/proc/meminfo", "MemAvailable", available, sizeof available)) {
		tell(f, CHECK_LIMITED, "unknown: no /proc/meminfo");
		return;
	}
	uint64_t free_bytes = strtoull(available, NULL, 10) * 1024;
	bool is_low = free_bytes < 4 * RING_BYTES;
	tell(f, is_low ? CHECK_LIMITED : CHECK_OK, "%s available of %s", format_bytes(text[0], free_bytes),
	     format_bytes(text[1], strtoull(total, NULL, 10) * 1024));
	if (is_low)
		advise(f, "record with a smaller --buffer");
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static bool has_flag(const char *flags, const char *flag)
{
	size_t len = strlen(flag);

	for (const char *at = flags; (at = strstr(at, flag)); at += len)
		if ((at == flags || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* The rule of the runtime: the CPU calls its counter steady, and the kernel keeps time with it. */
static void check_clock(finding *f)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char flags[8192], source[64];
	bool is_steady = find_line("/proc/cpuinfo", "flags", flags, sizeof flags) && has_flag(flags, "constant_tsc") &&
			 has_flag(flags, "nonstop_tsc");
	bool has_source = read_line(path, source, sizeof source);
	bool is_used = is_steady && (!has_source || strcmp(source, "tsc") == 0);

	tell(f, is_used ? CHECK_OK : CHECK_LIMITED, "%sinvariant TSC, clocksource %s: %s", is_steady ? "" : "no ",
	     has_source ? source : "unknown", is_used ? "time stamps by TSC" : "by clock_gettime");
	if (!is_used)
		advise(f, is_steady ? "slower; for the reason see dmesg | grep -i tsc"
				    : "slower; nothing to do on this CPU");
}
#elif defined(__aarch64__)
static void check_clock(finding *f)
{
	tell(f, CHECK_OK, "time stamps by cntvct, the counter of the architecture");
}
#else
static void check_clock(finding *f)
{
	tell(f, CHECK_LIMITED, "time stamps by clock_gettime: no known counter on this CPU");
}
#endif

/* ---- Room -------------------------------------------------------------------------------------------------------- */

static void check_shm(finding *f)
{
	char path[PATH_MAX], text[NUMBER_TEXT];
	struct statvfs fs;

	in_root(path, "/dev/shm");
	if (statvfs(path, &fs) != 0 || access(path, W_OK) != 0) {
		tell(f, CHECK_LIMITED, "/dev/shm: %s", strerror(errno));
		advise(f, "rings go beside the recording; mount a tmpfs");
		return;
	}
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bool is_small = free_bytes < RING_BYTES;
	tell(f, is_small ? CHECK_LIMITED : CHECK_OK, "%s free in /dev/shm for rings of 64 MiB",
	     format_bytes(text, free_bytes));
	if (is_small)
		advise(f, "docker: --shm-size 1g; or record --buffer 16M");
}

size_t doctor_left(void (*each)(void *context, const sonde_left_ring *ring), void *context)
{
	char path[PATH_MAX];

	in_root(path, "/dev/shm");
	return sonde_recorder_left(path, each, context);
}

static void add_bytes(void *context, const sonde_left_ring *ring)
{
	*(uint64_t *)context += ring->bytes;
}

/* A program that was killed leaves its ring for the reader of its recording. If that never comes, it stays. */
static void check_left(finding *f)
{
	char text[NUMBER_TEXT];
	uint64_t bytes = 0;
	size_t n = doctor_left(add_bytes, &bytes);

	if (n) {
		tell(f, CHECK_LIMITED, "%zu ring%s of killed programs, %s in /dev/shm", n, n == 1 ? "" : "s",
		     format_bytes(text, bytes));
		advise(f, "see below");
	} else {
		tell(f, CHECK_OK, "no ring of a killed program in /dev/shm");
	}
}

static void check_output(finding *f)
{
	char text[NUMBER_TEXT];
	struct statvfs fs;

	if (access(".", W_OK | X_OK) != 0 || statvfs(".", &fs) != 0) {
		tell(f, CHECK_MISSING, "the current directory: %s", strerror(errno));
		advise(f, "record with -o to a writable directory");
		return;
	}
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bool is_small = free_bytes < RING_BYTES;
	tell(f, is_small ? CHECK_LIMITED : CHECK_OK, "the current directory is writable, %s free",
	     format_bytes(text, free_bytes));
	if (is_small)
		advise(f, "record with -o to a directory with more space");
}

static void check_limit(finding *f, int resource, const char *what, uint64_t enough, const char *advice)
{
	char text[NUMBER_TEXT];
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) {
		tell(f, CHECK_LIMITED, "%s: %s", what, strerror(errno));
	} else if (limit.rlim_cur == RLIM_INFINITY) {
		tell(f, CHECK_OK, "%s: unlimited", what);
	} else {
		tell(f, limit.rlim_cur >= enough ? CHECK_OK : CHECK_LIMITED, "%s: %s", what,
		     format_bytes(text, limit.rlim_cur));
		if (limit.rlim_cur < enough)
			advise(f, advice);
	}
}

static void check_memlock(finding *f)
{
	check_limit(f, RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 512 << 10, "not used today");
}

static void check_fsize(finding *f)
{
	struct rlimit limit;

	check_limit(f, RLIMIT_FSIZE, "RLIMIT_FSIZE", UINT64_C(1) << 30, "recordings end there: ulimit -f unlimited");
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RING_LEAST_BYTES) {
		f->state = CHECK_MISSING;
		advise(f, "too small for the ring: ulimit -f unlimited");
	}
}

/* ---- Permissions ------------------------------------------------------------------------------------------------- */

static void check_perf(finding *f)
{
	char text[32];

	if (!read_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof text)) {
		tell(f, CHECK_LIMITED, "no perf events here");
		advise(f, "not used today");
		return;
	}
	long level = strtol(text, NULL, 10);
	tell(f, level <= 2 ? CHECK_OK : CHECK_LIMITED, "perf_event_paranoid is %ld (not used today)", level);
	if (level > 2)
		advise(f, "sysctl kernel.perf_event_paranoid=2");
}

static void check_ptrace(finding *f)
{
	char text[32];

	if (!read_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text)) {
		tell(f, CHECK_OK, "ptrace is not restricted by Yama");
		return;
	}
	long scope = strtol(text, NULL, 10);
	tell(f, scope <= 1 ? CHECK_OK : CHECK_LIMITED, "ptrace_scope is %ld", scope);
	if (scope > 1)
		advise(f, "no bytes of I/O: sysctl kernel.yama.ptrace_scope=1");
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static void check_library(finding *f, const char *const *names, const char *what)
{
	for (; *names; names++) {
		void *library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);

		if (!library)
			continue;
		dlclose(library);
		tell(f, CHECK_OK, "%s loads (%s); devices are recorded by call", *names, what);
		return;
	}
	tell(f, CHECK_MISSING, "no %s library; record devices by call", what);
}

static void check_cuda(finding *f)
{
	static const char *const names[] = { "libcuda.so.1", NULL };

	check_library(f, names, "NVIDIA CUDA");
}

static void check_nvml(finding *f)
{
	static const char *const names[] = { "libnvidia-ml.so.1", NULL };

	check_library(f, names, "NVIDIA management");
}

static void check_hip(finding *f)
{
	static const char *const names[] = { "libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5", NULL };

	check_library(f, names, "AMD HIP");
}

static void check_rocm_smi(finding *f)
{
	static const char *const names[] = { "librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.6", NULL };

	check_library(f, names, "AMD management");
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool is_needed;
	void (*run)(finding *f);
} checks[] = {
	{ "kernel", false, check_kernel }, { "cores", false, check_cores },    { "memory", false, check_memory },
	{ "clock", false, check_clock },   { "ring", false, check_shm },       { "left", false, check_left },
	{ "output", true, check_output },  { "file size", true, check_fsize }, { "locked", false, check_memlock },
	{ "perf", false, check_perf },	   { "ptrace", false, check_ptrace },  { "cuda", false, check_cuda },
	{ "nvml", false, check_nvml },	   { "hip", false, check_hip },	       { "rocm-smi", false, check_rocm_smi },
};
enum { N_CHECKS = sizeof checks / sizeof *checks };
_Static_assert(sizeof checks / sizeof *checks <= DOCTOR_MAX_CHECKS, "room for every finding");

size_t doctor_check(finding ret_findings[DOCTOR_MAX_CHECKS])
{
	for (size_t i = 0; i < N_CHECKS; i++) {
		ret_findings[i] = (finding){ .name = checks[i].name, .is_needed = checks[i].is_needed };
		checks[i].run(&ret_findings[i]);
	}
	return N_CHECKS;
}

bool doctor_can_record(const finding *findings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (findings[i].is_needed && findings[i].state == CHECK_MISSING)
			return false;
	return true;
}
