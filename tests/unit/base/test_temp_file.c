/* Temporary files: without a name, where they were asked for if possible. */
#include "base/temp_file.h"
#include "base/file.h"
#include "unit/store/temp_dir.h"
#include <dirent.h>
#include <unistd.h>

static size_t files_in(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.' || strncmp(e->d_name, ".sonde", 6) == 0;
	closedir(d);
	return n;
}

static void what_was_written_comes_back_and_no_name_is_left(void **state)
{
	char dir[PATH_MAX], got[6] = "";

	(void)state;
	snprintf(dir, sizeof dir, "%s", temp_path("."));
	size_t before = files_in(dir);
	int fd = temp_file_open(dir);
	assert_true(fd >= 0);
	assert_true(file_write_all(fd, "hello", 5));
	assert_true(file_write_at(fd, "HE", 2, 0));
	assert_true(file_read_at(fd, got, 5, 0));
	assert_string_equal(got, "HEllo");
	assert_false(file_read_at(fd, got, 5, 1)); /* the file ends before */
	assert_int_equal(files_in(dir), before);
	close(fd);
}

static void a_directory_that_is_not_there_is_no_obstacle(void **state)
{
	(void)state;
	int fd = temp_file_open("/nowhere/at/all");
	assert_true(fd >= 0);
	close(fd);
	fd = temp_file_open(NULL);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_comes_back_and_no_name_is_left),
		cmocka_unit_test(a_directory_that_is_not_there_is_no_obstacle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
