/* See files.h. */
#define _GNU_SOURCE
#include "import/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Compares the numbers that *a and *b begin with, and moves behind them. */
static int compare_numbers(const char **a, const char **b)
{
	while (**a == '0' && is_digit((*a)[1]))
		++*a;
	while (**b == '0' && is_digit((*b)[1]))
		++*b;
	size_t n = strspn(*a, "0123456789"), m = strspn(*b, "0123456789");
	int order = n != m ? (n < m ? -1 : 1) : memcmp(*a, *b, n);
	*a += n;
	*b += m;
	return order;
}

int files_compare(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			int order = compare_numbers(&a, &b);
			if (order)
				return order;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	if (*a != *b)
		return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
	return strcmp(whole_a, whole_b); /* 7 and 07 */
}

static int compare_entries(const void *a, const void *b)
{
	return files_compare(*(char *const *)a, *(char *const *)b);
}

/* ---- Directories ------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && strncasecmp(name + len - n, end, n) == 0;
}

size_t files_stem(const char *path)
{
	static const char *const packed[] = { ".gz", ".zst", ".zstd" }, *const formats[] = { ".json", ".sonde" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
		if (ends_with(name, len, packed[i])) {
			len -= strlen(packed[i]);
			break;
		}
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (ends_with(name, len, formats[i])) {
			len -= strlen(formats[i]);
			break;
		}
	return (size_t)(name - path) + len;
}

static bool is_foreign(const char *name)
{
	size_t len = strlen(name);

	return ends_with(name, len, ".json") || ends_with(name, len, ".json.gz") || ends_with(name, len, ".json.zst");
}

static bool is_own(const char *name)
{
	return ends_with(name, strlen(name), ".sonde");
}

static bool add(file_list *files, const char *directory, const char *name)
{
	size_t len = strlen(directory);
	char *path = NULL;
	bool has_slash = len && directory[len - 1] == '/';

	if (asprintf(&path, "%s%s%s", directory, *directory && !has_slash ? "/" : "", name) < 0)
		return false;
	char **at = VEC_ADD(files);
	if (at)
		*at = path;
	else
		free(path);
	return at != NULL;
}

static bool is_file(DIR *dir, const char *name)
{
	struct stat st;

	return name[0] != '.' && fstatat(dirfd(dir), name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static sonde_status add_matching(DIR *dir, const char *path, bool (*matches)(const char *), file_list *files,
				 sonde_error *err)
{
	const struct dirent *entry;

	rewinddir(dir);
	for (errno = 0; (entry = readdir(dir)); errno = 0)
		if (matches(entry->d_name) && is_file(dir, entry->d_name) && !add(files, path, entry->d_name))
			return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return errno ? error_set(err, SONDE_E_IO, -1, "%s", strerror(errno)) : SONDE_OK;
}

static sonde_status add_directory(file_list *files, const char *path, sonde_error *err)
{
	DIR *dir = opendir(path);
	size_t before = files->n;

	if (!dir)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	sonde_status status = add_matching(dir, path, is_foreign, files, err);
	if (!status && files->n == before)
		status = add_matching(dir, path, is_own, files, err);
	closedir(dir);
	if (!status && files->n == before)
		return error_set(err, SONDE_E_IO, -1,
				 "no trace in this directory: no .json, .json.gz, .json.zst or .sonde file");
	if (!status)
		qsort(files->items + before, files->n - before, sizeof files->items[0], compare_entries);
	return status;
}

sonde_status files_expand(const char *const *paths, size_t n, file_list *ret_files, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	*ret_files = (file_list){ 0 };
	for (size_t i = 0; i < n && !status; i++) {
		struct stat st;
		if (stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode))
			status = add_directory(ret_files, paths[i], err);
		else if (!add(ret_files, "", paths[i]))
			status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		if (status)
			error_prefix(err, status, paths[i]);
	}
	if (status)
		files_done(ret_files);
	return status;
}

/* Without its ending it has the name of one of the files. */
static bool has_twin(const char *path, const file_list *files)
{
	size_t len = files_stem(path);

	for (size_t i = 0; i < files->n; i++)
		if (files_stem(files->items[i]) == len && memcmp(files->items[i], path, len) == 0)
			return true;
	return false;
}

static void remove_twins(file_list *own, const file_list *foreign)
{
	size_t n = 0;

	for (size_t i = 0; i < own->n; i++)
		if (has_twin(own->items[i], foreign))
			free(own->items[i]);
		else
			own->items[n++] = own->items[i];
	own->n = n;
}

sonde_status files_left_out(const char *path, file_list *ret_files, sonde_error *err)
{
	file_list foreign = { 0 };
	DIR *dir = opendir(path);

	*ret_files = (file_list){ 0 };
	if (!dir)
		return SONDE_OK;
	sonde_status status = add_matching(dir, path, is_foreign, &foreign, err);
	if (!status && foreign.n)
		status = add_matching(dir, path, is_own, ret_files, err);
	closedir(dir);
	remove_twins(ret_files, &foreign);
	if (ret_files->n)
		qsort(ret_files->items, ret_files->n, sizeof ret_files->items[0], compare_entries);
	files_done(&foreign);
	return status;
}

void files_done(file_list *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->items[i]);
	VEC_DONE(files);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* A number of up to six digits: longer ones are times and process ids. */
static int32_t number_at(const char *text, const char *end)
{
	int32_t number = 0;
	const char *at = text;

	for (; at < end && is_digit(*at); at++)
		if (at - text < 7)
			number = number * 10 + (*at - '0');
	return at > text && at - text < 7 ? number : -1;
}

static int32_t behind_rank(const char *path, const char *end)
{
	int32_t rank = -1;

	for (const char *at = path; (at = strcasestr(at, "rank")) && at < end; at++) {
		const char *digits = at + 4;
		digits += *digits && strchr("_-.=: ", *digits);
		int32_t number = number_at(digits, end);
		rank = number >= 0 ? number : rank;
	}
	return rank;
}

static int32_t behind_r(const char *name, const char *end)
{
	int32_t rank = -1;

	for (const char *at = name; at < end; at++) {
		bool begins = (*at == 'r' || *at == 'R') && (at == name || !isalnum((unsigned char)at[-1]));
		int32_t number = begins ? number_at(at + 1, end) : -1;
		size_t digits = begins ? strspn(at + 1, "0123456789") : 0;
		if (number >= 0 && (at + 1 + digits >= end || !isalnum((unsigned char)at[1 + digits])))
			rank = number;
	}
	return rank;
}

static int32_t at_the_end(const char *name, const char *end)
{
	static const char trace[] = ".pt.trace"; /* torch.profiler ends its names so */
	const char *at;

	if (ends_with(name, (size_t)(end - name), trace))
		end -= strlen(trace);
	for (at = end; at > name && is_digit(at[-1]); at--)
		;
	return number_at(at, end);
}

int32_t files_rank(const char *path, bool strictly)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = path + files_stem(path);
	int32_t rank = behind_rank(path, end);

	if (rank < 0 && !strictly)
		rank = behind_r(name, end);
	if (rank < 0 && !strictly)
		rank = at_the_end(name, end);
	return rank;
}
