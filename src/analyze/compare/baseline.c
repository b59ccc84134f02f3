/*
 * Runs that were kept: DIR/NAME.00000012.json, one a run, the larger the number the later (compare/json.c).
 *
 * A file appears whole or not at all. What is no such file is an error that names it: a baseline that silently lost
 * runs would pass what it should not.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analyze/compare/comparison.h"
#include "base/error.h"
#include "base/new_file.h"

enum { KEEP_RUNS = 10, MOST_BYTES = 64 << 20 };

static const char *name_of(const sonde_compare_options *o)
{
	return o->baseline_name ? o->baseline_name : "run";
}

static sonde_status failed(sonde_error *err, const char *path, const char *verb)
{
	return error_set(err, SONDE_E_IO, -1, "%s: cannot %s: %s", path, verb, strerror(errno));
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

typedef VEC(uint64_t) numbers;

/* The number in NAME.number.json; 0: it is something else. */
static uint64_t number_in(const char *file, const char *name)
{
	size_t len = strlen(name);
	char *rest;

	if (strncmp(file, name, len) != 0 || file[len] != '.' || file[len + 1] < '0' || file[len + 1] > '9')
		return 0;
	errno = 0;
	unsigned long long number = strtoull(file + len + 1, &rest, 10);
	return errno || strcmp(rest, ".json") != 0 || number >= INT64_MAX ? 0 : number;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorted. A directory that is not there holds none. */
static sonde_status list_files(const sonde_compare_options *o, numbers *ret, sonde_error *err)
{
	DIR *dir = opendir(o->baseline);
	sonde_status status = SONDE_OK;

	if (!dir)
		return errno == ENOENT ? SONDE_OK : failed(err, o->baseline, "read");
	for (struct dirent *entry; !status && (entry = readdir(dir));) {
		uint64_t number = number_in(entry->d_name, name_of(o)), *add = number ? VEC_ADD(ret) : &number;
		if (!add)
			status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		else
			*add = number;
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->items, ret->n, sizeof *ret->items, compare_numbers);
	return status;
}

const char *baseline_other_name(const sonde_compare_options *options, sonde_result *r)
{
	DIR *dir = opendir(options->baseline);
	char first[NAME_MAX + 1] = "";

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char name[NAME_MAX + 1];
		snprintf(name, sizeof name, "%s", entry->d_name);
		char *end = strrchr(name, '.'); /* of ".json" */
		if (end)
			*end = 0;
		char *dot = strrchr(name, '.');
		if (!dot || dot == name)
			continue;
		*dot = 0;
		if (number_in(entry->d_name, name) && (!*first || strcmp(name, first) < 0))
			memcpy(first, name, sizeof first);
	}
	if (dir)
		closedir(dir);
	return *first ? result_string(r, first) : NULL;
}

static bool path_of(const sonde_compare_options *o, uint64_t number, char *ret_path)
{
	int len = snprintf(ret_path, PATH_MAX, "%s/%s.%08" PRIu64 ".json", o->baseline, name_of(o), number);

	return len > 0 && len < PATH_MAX;
}

static bool is_name(const char *name)
{
	return *name && strlen(name) <= 200 && *name != '.' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* ---- Reading
 * ---------------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	char *text = NULL;

	if (file && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES)
		text = malloc((size_t)st.st_size + 1);
	if (text)
		*ret_len = fread(text, 1, (size_t)st.st_size, file);
	if (file)
		fclose(file);
	return text;
}

static sonde_status load_run(const sonde_compare_options *o, uint64_t number, compare_run *run, sonde_error *err)
{
	char path[PATH_MAX];
	size_t len = 0;
	char *text = path_of(o, number, path) ? read_file(path, &len) : NULL;

	if (!text)
		return error_set(err, SONDE_E_IO, -1, "%s: cannot read this baseline run", path);
	bool ok = compare_run_read(run, text, len);
	free(text);
	return ok ? SONDE_OK
		  : error_set(err, SONDE_E_FORMAT, -1, "%s: is not a run of a baseline; remove it to continue", path);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* An item that most runs have. Its calls are those of all runs, as their steps are. */
static bool join_item(const compare_run *runs, size_t n, const compare_item *of, compare_run *to)
{
	summary *step = malloc(3 * n * sizeof *step), *call = step + n, *whole = call + n;
	compare_item joined = { .kind = of->kind };
	size_t k = 0, n_stepped = 0;

	for (size_t i = 0; step && i < n; i++) {
		const compare_item *item = compare_run_find(&runs[i], of->kind, of->name);
		if (!item)
			continue;
		joined.calls += item->calls;
		joined.sum_ns += item->sum_ns / (int64_t)n;
		joined.total_ns += item->total_ns / (int64_t)n;
		step[k] = item->step;
		n_stepped += item->step.n != 0;
		call[k] = item->call;
		whole[k++] = item->whole;
	}
	if (step && 2 * k > n) {
		if (n_stepped == k)
			joined.step = summary_joined(step, k);
		joined.call = summary_joined(call, k);
		joined.whole = summary_joined(whole, k);
		compare_item *add = compare_run_add(to, of->kind, of->name);
		if (add) {
			joined.name = add->name;
			*add = joined;
		} else {
			free(step);
			return false;
		}
	}
	bool ok = step != NULL;
	free(step);
	return ok;
}

/* A peak is the largest that was seen. */
static bool join_peak(compare_run *to, const compare_peak *p)
{
	for (size_t i = 0; i < to->peaks.n; i++)
		if (strcmp(to->peaks.items[i].device, p->device) == 0) {
			if (p->bytes > to->peaks.items[i].bytes)
				to->peaks.items[i].bytes = p->bytes;
			return true;
		}
	const char *device = arena_strdup(&to->arena, p->device);
	compare_peak *add = device ? VEC_ADD(&to->peaks) : NULL;
	if (add)
		*add = (compare_peak){ device, p->bytes };
	return add != NULL;
}

/* Each item once: where the first run has it that has it at all. */
static bool join(const compare_run *runs, size_t n, compare_run *to)
{
	bool ok = true, has_steps = true;

	for (size_t i = 0; ok && i < n; i++) {
		for (size_t k = 0; ok && k < runs[i].items.n; k++) {
			const compare_item *item = &runs[i].items.items[k];
			bool is_new = true;
			for (size_t j = 0; is_new && j < i; j++)
				is_new = !compare_run_find(&runs[j], item->kind, item->name);
			ok = !is_new || join_item(runs, n, item, to);
		}
		for (size_t k = 0; ok && k < runs[i].peaks.n; k++)
			ok = join_peak(to, &runs[i].peaks.items[k]);
		has_steps = has_steps && runs[i].n_steps;
		to->n_steps += runs[i].n_steps;
		to->n_warmup += runs[i].n_warmup;
		to->total_ns += runs[i].total_ns / (int64_t)n;
	}
	to->n_ranks = runs[n - 1].n_ranks;
	to->n_steps = has_steps ? to->n_steps : 0;
	to->n_runs = n;
	compare_run_sort(to);
	return ok;
}

static size_t runs_to_keep(const sonde_compare_options *o)
{
	return o->baseline_runs ? o->baseline_runs : KEEP_RUNS;
}

sonde_status baseline_read(const sonde_compare_options *o, compare_run *ret_run, sonde_error *err)
{
	numbers found = { 0 };

	if (!is_name(name_of(o)))
		return error_set(err, SONDE_E_USAGE, -1,
				 "invalid baseline name '%s': use letters, digits, '.', '_' and '-'", name_of(o));
	sonde_status status = list_files(o, &found, err);
	size_t keep = runs_to_keep(o), n = found.n < keep ? found.n : keep;
	compare_run *runs = calloc(n + 1, sizeof *runs);
	if (!status && !runs)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (size_t i = 0; i < n && !status; i++)
		status = load_run(o, found.items[found.n - n + i], &runs[i], err);
	if (!status && n && !join(runs, n, ret_run))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (size_t i = 0; runs && i < n; i++)
		compare_run_done(&runs[i]);
	free(runs);
	VEC_DONE(&found);
	return status;
}

/* ---- Writing
 * ---------------------------------------------------------------------------------------------------------- */

static sonde_status write_run(const char *path, const compare_run *run, sonde_error *err)
{
	new_file f;

	if (!new_file_open(&f, path))
		return failed(err, path, "write");
	int fd = fcntl(f.fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok = out && compare_run_write(run, out);
	if (!out && fd >= 0)
		close(fd);
	if (out && fclose(out) != 0)
		ok = false;
	if (!ok) {
		sonde_status status = failed(err, path, "write");
		new_file_abandon(&f);
		return status;
	}
	return new_file_commit(&f) ? SONDE_OK : failed(err, path, "write");
}

sonde_status baseline_add(const sonde_compare_options *o, const compare_run *run, sonde_error *err)
{
	numbers found = { 0 };
	char path[PATH_MAX];
	size_t keep = runs_to_keep(o);

	if (mkdir(o->baseline, 0777) != 0 && errno != EEXIST)
		return failed(err, o->baseline, "create");
	sonde_status status = list_files(o, &found, err);
	uint64_t next = found.n ? found.items[found.n - 1] + 1 : 1;
	if (!status && !path_of(o, next, path))
		status = error_set(err, SONDE_E_USAGE, -1, "the path of the baseline directory is too long");
	if (!status)
		status = write_run(path, run, err);
	for (size_t i = 0; !status && i + keep < found.n + 1; i++)
		if (path_of(o, found.items[i], path))
			unlink(path);
	VEC_DONE(&found);
	return status;
}
