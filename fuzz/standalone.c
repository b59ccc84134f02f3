/*
 * Runs a fuzz target without libFuzzer, so that its seeds are a normal test in every build.
 *
 *   fuzz_<name> FILE|DIRECTORY...    each file, and each file cut off after every byte
 *
 * Exit code 77, skipped, when there is no file at all.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_CUT_BYTES = 4 * 1024 }; /* larger files are run whole only: the cuts take quadratic time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

/* The target gets its own block of exactly this size, so that a sanitizer sees a read past the end. */
static void run_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		fail("malloc");
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static size_t run_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size + 1);

	if (!file || !data || fread(data, 1, size, file) != size)
		fail(path);
	fclose(file);
	run_bytes(data, size);
	for (size_t cut = 0; size <= MAX_CUT_BYTES && cut < size; cut++)
		run_bytes(data, cut);
	free(data);
	return 1;
}

static size_t run_path(const char *path)
{
	struct stat st;
	struct dirent *entry;
	size_t n_files = 0;

	if (stat(path, &st))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return run_file(path, (size_t)st.st_size);

	DIR *dir = opendir(path);
	if (!dir)
		fail(path);
	while ((entry = readdir(dir))) {
		char child[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
		n_files += run_path(child);
	}
	closedir(dir);
	return n_files;
}

int main(int argc, char **argv)
{
	size_t n_files = 0;

	for (int i = 1; i < argc; i++)
		n_files += run_path(argv[i]);
	printf("%zu seeds%s\n", n_files, n_files ? "" : ": skipped, there is nothing to run");
	return n_files ? 0 : 77;
}
