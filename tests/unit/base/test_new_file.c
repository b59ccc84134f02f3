/* A file that appears whole or not at all. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "unit/store/temp_dir.h"

#include "base/new_file.h"

static void check_content(const char *path, const char *want)
{
	size_t len;
	uint8_t *bytes = temp_read(path, &len);

	assert_string_equal((char *)bytes, want);
	free(bytes);
}

static void it_appears_at_the_end(void **state)
{
	static const char *const texts[] = { "first", "second" };
	new_file f;

	(void)state;
	const char *path = temp_path("new");
	for (size_t i = 0; i < 2; i++) {
		assert_true(new_file_open(&f, path));
		assert_true(write(f.fd, texts[i], strlen(texts[i])) > 0);
		if (i)
			check_content(path, texts[0]);
		else
			assert_false(temp_exists(path));
		assert_true(new_file_commit(&f));
		check_content(path, texts[i]);
		assert_int_equal(temp_count(), 1);
	}
	assert_true(new_file_open(&f, path));
	assert_true(write(f.fd, "third", 5) > 0);
	new_file_abandon(&f);
	check_content(path, "second");
	assert_int_equal(temp_count(), 1);
	temp_clear();
}

static void it_works_in_the_current_directory(void **state)
{
	char before[4096];
	new_file f;

	(void)state;
	const char *path = temp_path("here");
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(temp_dir), 0);
	assert_true(new_file_open(&f, "here"));
	assert_true(new_file_commit(&f));
	assert_int_equal(chdir(before), 0);
	check_content(path, "");
	temp_clear();
}

static void a_killed_writer_leaves_nothing(void **state)
{
	int ready[2];
	char c;

	(void)state;
	const char *path = temp_path("killed");
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		new_file f;
		bool ok = new_file_open(&f, path) && write(f.fd, "half", 4) == 4;
		bool has_name = f.temporary[0];
		if (write(ready[1], ok ? has_name ? "n" : "y" : "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(child, c == 'n' ? SIGTERM : SIGKILL);
	if (c == 'n')
		kill(child, SIGKILL); /* no O_TMPFILE here: kill -9 leaves the temporary name, nothing else can */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_not_equal(c, 'x');
	assert_false(temp_exists(path));
	if (c == 'y')
		assert_int_equal(temp_count(), 0);
	close(ready[0]);
	close(ready[1]);
	temp_clear();
}

static void it_says_why_not(void **state)
{
	new_file f;

	(void)state;
	assert_false(new_file_open(&f, temp_path("no/such/directory")));
	assert_int_equal(errno, ENOENT);
	assert_false(new_file_open(&f, temp_dir));
	assert_int_equal(errno, EISDIR);
	char *path = malloc(PATH_MAX + 10);
	assert_non_null(path);
	memset(path, 'x', PATH_MAX + 9);
	path[PATH_MAX + 9] = '\0';
	assert_false(new_file_open(&f, path));
	assert_int_equal(errno, ENAMETOOLONG);
	free(path);
	assert_true(new_file_open(&f, "/dev/null")); /* written directly */
	assert_true(new_file_commit(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_appears_at_the_end),
		cmocka_unit_test(it_works_in_the_current_directory),
		cmocka_unit_test(a_killed_writer_leaves_nothing),
		cmocka_unit_test(it_says_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
