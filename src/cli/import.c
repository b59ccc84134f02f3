/* See import.h. */
#include "cli/import.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sonde/trace.h>

#include "base/clock.h"
#include "base/format_number.h"
#include "cli/output.h"
#include "cli/progress.h"

enum { RANKS_SHOWN = 16 };

const option_def import_options[] = {
	{ .name = "output",
	  .id = IMPORT_OUTPUT,
	  .letter = 'o',
	  .argument = "FILE",
	  .help = "write to FILE (default: the trace's name with .sonde)" },
	{ .name = "threads",
	  .id = IMPORT_THREADS,
	  .argument = "N",
	  .help = "use N threads (default: all processors, up to 16)" },
	{ .name = NULL },
};

bool import_option(import_request *r, const options *o, int id)
{
	switch (id) {
	case IMPORT_OUTPUT:
		r->output = o->value;
		return true;
	case IMPORT_THREADS:
		return options_number(o, 1, 1024, &r->n_threads);
	}
	return false;
}

/* ---- Where to ---------------------------------------------------------------------------------------------------- */

static bool cut_end(char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);
	const char *slash = strrchr(name, '/');
	size_t base = slash ? (size_t)(slash + 1 - name) : 0;

	if (len <= base + n || strcasecmp(name + len - n, end) != 0)
		return false;
	name[len - n] = '\0';
	return true;
}

/* "run/rank0.json.gz" becomes "run/rank0.sonde", "run/" becomes "run.sonde". */
static bool default_output(const char *file, char *ret_path, size_t size)
{
	int len = snprintf(ret_path, size, "%s", file);

	if (len < 1 || (size_t)len + sizeof ".sonde" > size)
		return false;
	for (; len > 1 && ret_path[len - 1] == '/'; len--)
		ret_path[len - 1] = '\0';
	bool is_packed = cut_end(ret_path, ".gz") || cut_end(ret_path, ".zst") || cut_end(ret_path, ".zstd");
	if (!cut_end(ret_path, ".json") && !is_packed)
		cut_end(ret_path, ".sonde");
	if (strcmp(ret_path, "/") == 0 || strcmp(ret_path, ".") == 0 || strcmp(ret_path, "..") == 0)
		return false;
	strcat(ret_path, ".sonde");
	return true;
}

/* A file that is none of ours stays: a slip of the finger must not cost anyone their source. */
static bool may_replace(const char *path)
{
	static const char magic[] = "\x89SND";
	char first[4];
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return true;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_ours = fd < 0 || (read(fd, first, 4) == 4 && memcmp(first, magic, 4) == 0);
	if (fd >= 0)
		close(fd);
	return is_ours;
}

static int check_output(const import_request *r, const char *path)
{
	if (output_is_among(path, r->files, r->n_files)) {
		say("%s: is an input file and cannot be overwritten; use -o FILE", path);
		return EXIT_USAGE;
	}
	if (may_replace(path))
		return EXIT_OK;
	say("%s: exists and is not a Sonde file; not overwritten", path);
	return EXIT_ENVIRONMENT;
}

static int check_given(const command *c, const import_request *r, const char *path)
{
	int code = check_output(r, path);

	return code == EXIT_OK ? output_only(c, path, "sonde") : code;
}

static int find_output(const command *c, const import_request *r, char *ret_path, size_t size)
{
	if (r->output) {
		if (strcmp(r->output, "-") == 0)
			return say_usage(c, "-o needs a FILE: a trace cannot go to standard output");
		if ((size_t)snprintf(ret_path, size, "%s", r->output) < size && *ret_path)
			return check_given(c, r, ret_path);
		return say_usage(c, "-o needs a FILE");
	}
	if (r->n_files > 1)
		return say_usage(c, "several files need -o FILE");
	if (strcmp(r->files[0], "-") == 0)
		return say_usage(c, "standard input needs -o FILE");
	if (!default_output(r->files[0], ret_path, size))
		return say_usage(c, "'%s' needs -o FILE", r->files[0]);
	return check_output(r, ret_path);
}

/* ---- What was done ----------------------------------------------------------------------------------------------- */

static void say_ranks(const sonde_trace *trace)
{
	const char *file;
	int32_t rank;
	size_t n = 0;

	while (sonde_trace_rank(trace, n, &rank, &file))
		n++;
	for (size_t i = 0; i < n && i < RANKS_SHOWN; i++)
		if (sonde_trace_rank(trace, i, &rank, &file))
			say("rank %d: %s", (int)rank, file);
	if (n > RANKS_SHOWN)
		say("and %zu more", n - RANKS_SHOWN);
}

static void say_done(const import_request *r, const sonde_trace *trace, const char *path, int64_t elapsed_ns)
{
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	char count[NUMBER_TEXT], size[NUMBER_TEXT], took[NUMBER_TEXT], rate[NUMBER_TEXT], written[NUMBER_TEXT];
	char from[4 * NUMBER_TEXT] = "", losses[3 * NUMBER_TEXT] = "";
	struct stat st;

	sonde_trace_get_facts(trace, &facts);
	if (facts.n_bytes)
		snprintf(from, sizeof from, " (%s in %s, %s/s)", format_bytes(size, facts.n_bytes),
			 format_ns(took, elapsed_ns),
			 format_bytes(rate, (uint64_t)((double)facts.n_bytes / ((double)(elapsed_ns + 1) / 1e9))));
	if (facts.n_repaired || facts.n_lost)
		snprintf(losses, sizeof losses, ", %s noted, %s lost", format_count(size, facts.n_repaired),
			 format_count(took, facts.n_lost));
	say("%s %s event%s%s into %s (%s)%s: sonde %s %s", r->merge ? "merged" : "imported",
	    format_count(count, facts.n_events), facts.n_events == 1 ? "" : "s", from, path,
	    format_bytes(written, stat(path, &st) == 0 ? (uint64_t)st.st_size : 0), losses, *losses ? "info" : "report",
	    path);
}

int import_run(const command *c, const import_request *r)
{
	sonde_trace *trace = NULL;
	sonde_error err = { .position = -1 };
	char path[PATH_MAX];
	progress p;

	if (r->n_files == 0)
		return say_usage(c, "no FILE given");
	int code = find_output(c, r, path, sizeof path);
	if (code != EXIT_OK)
		return code;
	progress_begin(&p, r->merge ? "merging" : "importing", r->files, r->n_files);
	sonde_open_options how = { .struct_size = sizeof how,
				   .n_threads = (unsigned)r->n_threads,
				   .progress = progress_update,
				   .context = &p,
				   .ranks = r->merge };
	sonde_status status = sonde_trace_open_with((const char *const *)r->files, r->n_files, &how, &trace, &err);
	progress_end(&p);
	if (status) {
		sonde_trace_free(trace);
		return say_error(r->n_files == 1 ? r->files[0] : NULL, status, &err);
	}
	if (*sonde_trace_warning(trace))
		say("%s", sonde_trace_warning(trace));
	status = sonde_trace_save(trace, path, &err);
	if (status)
		code = say_error(NULL, status, &err), code = status == SONDE_E_IO ? EXIT_ENVIRONMENT : code;
	else
		say_done(r, trace, path, monotonic_ns() - p.start_ns);
	if (!status && r->merge)
		say_ranks(trace);
	sonde_trace_free(trace);
	return code;
}
