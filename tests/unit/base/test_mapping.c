/* A file that is cut off while it is mapped reads as zeros from there on; other faults go where they went before. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mapping.h"

enum { PAGE = 4096, PAGES = 64 };

static int new_file(void)
{
	int fd = memfd_create("mapping", MFD_CLOEXEC);
	char page[PAGE];

	assert_true(fd >= 0);
	memset(page, 'x', sizeof page);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(write(fd, page, sizeof page), sizeof page);
	return fd;
}

static void what_is_cut_off_reads_as_zeros(void **state)
{
	int fd = new_file(), other = new_file();
	const char *map = mapping_new(fd, PAGES * PAGE), *whole = mapping_new(other, PAGES * PAGE - 100);

	(void)state;
	assert_true(mapping_guard());
	assert_true(mapping_guard());
	assert_non_null(map);
	assert_int_equal(map[40 * PAGE], 'x');
	assert_false(mapping_is_broken(map));
	assert_int_equal(ftruncate(fd, 10 * PAGE), 0);
	assert_int_equal(map[9 * PAGE], 'x');
	assert_false(mapping_is_broken(map));
	assert_int_equal(map[40 * PAGE + 7], 0);
	assert_true(mapping_is_broken(map));
	assert_int_equal(map[10 * PAGE], 0);
	assert_int_equal(map[PAGES * PAGE - 1], 0);
	assert_int_equal(map[9 * PAGE], 'x');
	assert_false(mapping_is_broken(whole));
	assert_int_equal(whole[PAGES * PAGE - 101], 'x');
	mapping_free((void *)map, PAGES * PAGE);
	mapping_free((void *)whole, PAGES * PAGE - 100);
	close(fd);
	close(other);
}

/* More than there is room for in the table: they work, and slots come back. */
static void any_number_of_mappings_works(void **state)
{
	enum { MANY = 1100 };
	static void *maps[MANY];
	int fd = new_file();

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			maps[i] = mapping_new(fd, PAGE);
			assert_non_null(maps[i]);
			assert_int_equal(*(char *)maps[i], 'x');
			assert_false(mapping_is_broken(maps[i]));
		}
		for (int i = 0; i < MANY; i++)
			mapping_free(maps[i], PAGE);
	}
	assert_null(mapping_new(-1, PAGE));
	close(fd);
}

/* Reads what is gone of a mapping that the guard does not know. Returns how the child that does it ends; before cmocka
   has a handler of its own. */
static int read_foreign(void)
{
	int fd = memfd_create("foreign", MFD_CLOEXEC), status = 0;
	pid_t child = fork();

	if (child == 0) {
		volatile const char *foreign = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		_exit(mapping_guard() ? foreign[0] : 0);
	}
	waitpid(child, &status, 0);
	close(fd);
	return status;
}

static int foreign_status;

static void faults_of_others_end_as_before(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	assert_true(WIFSIGNALED(foreign_status) || WEXITSTATUS(foreign_status) != 0); /* it has a handler of its own */
#else
	assert_true(WIFSIGNALED(foreign_status) && WTERMSIG(foreign_status) == SIGBUS);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_cut_off_reads_as_zeros),
		cmocka_unit_test(any_number_of_mappings_works),
		cmocka_unit_test(faults_of_others_end_as_before),
	};

	foreign_status = read_foreign();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
