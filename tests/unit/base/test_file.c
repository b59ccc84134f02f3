#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static void everything_is_written(void **state)
{
	static char written[100000], read_back[sizeof written];
	int fd = memfd_create("test", MFD_CLOEXEC);

	(void)state;
	memset(written, 'x', sizeof written);
	assert_true(file_write_all(fd, written, sizeof written));
	assert_int_equal(pread(fd, read_back, sizeof read_back, 0), sizeof read_back);
	assert_memory_equal(written, read_back, sizeof written);
	assert_true(file_write_all(fd, NULL, 0));
	close(fd);
}

static void a_failure_says_why(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_false(file_write_all(fd, "x", 1));
	assert_int_equal(errno, ENOSPC);
	close(fd);
	assert_false(file_write_all(-1, "x", 1));
	assert_int_equal(errno, EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_written),
		cmocka_unit_test(a_failure_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
