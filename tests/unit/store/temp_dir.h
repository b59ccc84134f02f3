/* A directory for the files of a test program, removed with everything in it when the program ends. */
#ifndef SONDE_TESTS_TEMP_DIR_H
#define SONDE_TESTS_TEMP_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

static char temp_dir[256];
static pid_t temp_owner;

static inline void temp_clear(void)
{
	DIR *dir = opendir(temp_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) != 0)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static inline void temp_remove(void)
{
	if (getpid() != temp_owner) /* a forked child */
		return;
	temp_clear();
	rmdir(temp_dir);
}

/* A path in the directory; valid until the eighth call after this one. */
static inline const char *temp_path(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	if (!temp_dir[0]) {
		const char *base = getenv("TMPDIR");
		snprintf(temp_dir, sizeof temp_dir, "%s/sonde-test-XXXXXX", base ? base : "/tmp");
		assert_non_null(mkdtemp(temp_dir));
		temp_owner = getpid();
		atexit(temp_remove);
	}
	snprintf(path, sizeof paths[0], "%s/%s", temp_dir, name);
	return path;
}

static inline void temp_write(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* The caller frees. */
static inline uint8_t *temp_read(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "rb");
	struct stat st;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	uint8_t *bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), (size_t)st.st_size);
	fclose(file);
	bytes[st.st_size] = 0;
	*ret_len = (size_t)st.st_size;
	return bytes;
}

static inline bool temp_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* How many files are in the directory. */
static inline size_t temp_count(void)
{
	DIR *dir = opendir(temp_dir);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* "." and ".." */
}

#endif
