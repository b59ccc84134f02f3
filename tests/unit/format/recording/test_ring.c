/* Where a ring may lie, and which of them goes with its recording. */
#include <signal.h>
#include <sys/wait.h>
#include "base/proc.h"
#include "format/recording/ring.h"
#include "unit/store/temp_dir.h"

static void a_ring_lies_in_shared_memory_or_beside_its_recording(void **state)
{
	static const struct {
		const char *named, *recording, *path; /* NULL: nowhere */
	} cases[] = {
		{ "/dev/shm/sonde-0-12-ab.ring", "run.sonde", "/dev/shm/sonde-0-12-ab.ring" },
		{ "/dev/shm/sonde-0-12-ab.ring", NULL, "/dev/shm/sonde-0-12-ab.ring" },
		{ "/dev/shm/sonde-0-12-ab.ring-3", "run.sonde", "/dev/shm/sonde-0-12-ab.ring-3" },
		{ "/old/place/run.sonde.ring", "/new/run.sonde", "/new/run.sonde.ring" },
		{ "/old/place/run.sonde.ring", "run.sonde", "run.sonde.ring" },
		{ "/old/place/run.sonde.ring", NULL, NULL },
		{ "/dev/shm/sonde-x/../../../etc/passwd", "/new/run.sonde", NULL },
		{ "/dev/shm/sonde-/../x.ring", "/new/run.sonde", "/new/x.ring" },
		{ "/home/me/thesis", "/new/run.sonde", NULL },
		{ ".ring", "/new/run.sonde", NULL },
		{ "", "/new/run.sonde", NULL },
	};
	char path[64], room_for_8[8];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool found = ring_locate(cases[i].named, cases[i].recording, path, sizeof path);
		assert_int_equal(found, cases[i].path != NULL);
		if (found)
			assert_string_equal(path, cases[i].path);
	}
	assert_false(ring_locate(cases[0].named, NULL, room_for_8, sizeof room_for_8));
}

static int32_t gone_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	waitpid(pid, NULL, 0);
	return pid;
}

static const char *save(uint32_t state, int32_t pid, uint64_t pid_start, uint64_t stream_of_ring)
{
	stream_start start = { .header = { .magic = FORMAT_MAGIC, .stream = 7 },
			       .info = { .state = state, .pid = (uint32_t)pid, .pid_start = pid_start } };
	ring_header ring = { .magic = RING_MAGIC, .stream = stream_of_ring };

	snprintf(start.info.ring_path, sizeof start.info.ring_path, "%s", temp_path("run.sonde.ring"));
	temp_write(temp_path("run.sonde.ring"), &ring, sizeof ring);
	temp_write(temp_path("run.sonde"), &start, sizeof start);
	return temp_path("run.sonde");
}

static bool ring_is_there(void)
{
	return temp_exists(temp_path("run.sonde.ring"));
}

static void the_ring_of_a_killed_process_goes_with_its_recording(void **state)
{
	int32_t gone = gone_pid();
	const char *recording = save(STREAM_OPEN, gone, 1, 7);

	(void)state;
	ring_remove_of(recording);
	assert_false(ring_is_there());
	assert_true(temp_exists(recording));
	ring_remove_of(recording);
	temp_clear();
}

static void another_ring_stays(void **state)
{
	int32_t gone = gone_pid();
	uint64_t own_start = proc_start_time(getpid());

	(void)state;
	ring_remove_of(save(STREAM_OPEN, getpid(), own_start, 7)); /* it runs */
	assert_true(ring_is_there());
	ring_remove_of(save(STREAM_CLOSED, gone, 1, 7)); /* it has no ring any more: this is another's */
	assert_true(ring_is_there());
	ring_remove_of(save(STREAM_OPEN, gone, 1, 8)); /* of another recording */
	assert_true(ring_is_there());
	const char *recording = save(STREAM_OPEN, gone, 1, 7);
	assert_int_equal(rename(temp_path("run.sonde.ring"), temp_path("target")), 0);
	assert_int_equal(symlink(temp_path("target"), temp_path("run.sonde.ring")), 0);
	ring_remove_of(recording);
	assert_true(ring_is_there() && temp_exists(temp_path("target")));
	temp_clear();
	temp_write(temp_path("run.sonde"), "short", 5);
	ring_remove_of(temp_path("run.sonde"));
	ring_remove_of(temp_path("missing"));
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_lies_in_shared_memory_or_beside_its_recording),
		cmocka_unit_test(the_ring_of_a_killed_process_goes_with_its_recording),
		cmocka_unit_test(another_ring_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
