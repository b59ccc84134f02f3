/* The file of `sonde record`, and the parts of its processes that end up in it. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <sonde/recorder.h>
#include "base/proc.h"
#include "format/recording/ring.h"
#include "unit/import/recording/make_file.h"

static char path[512];
static char *const command[] = { "./train", "--epochs", "3", NULL };

static sonde_recorder *open_recorder(const char *name)
{
	sonde_recorder *r = NULL;
	sonde_error err = { .message = "" };

	snprintf(path, sizeof path, "%s", temp_path(name));
	if (sonde_recorder_open(path, 3, command, &r, &err))
		fail_msg("%s", err.message);
	return r;
}

static const char *part(const char *end)
{
	static char name[600];

	snprintf(name, sizeof name, "%s.part.%s", path, end);
	return name;
}

/* A part with n events of stream number `stream`; closed unless pid is given. */
static void save_part(const char *end, uint64_t stream, size_t n, uint32_t pid, const char *ring_path)
{
	maker m = { 0 };

	make_start(&m);
	m.len = 0;
	m.stream = stream;
	stream_block info = m.info;
	if (pid) {
		info.state = STREAM_OPEN;
		info.end_ns = 0;
		info.pid = pid;
		info.pid_start = proc_start_time((int32_t)pid);
	}
	snprintf(info.ring_path, sizeof info.ring_path, "%s", ring_path);
	make_stream(&m, &info);
	make_name(&m, 40, NAME_MARK, "mark");
	for (size_t i = 0; i < n; i++)
		MAKE_EVENTS(&m, 1, { 10 + i, 40 });
	make_save(&m, part(end));
	make_done(&m);
}

static recording *close_and_open(sonde_recorder *r, int wait_status, uint64_t *ret_n_recovered)
{
	recording *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_recorder_close(r, wait_status, ret_n_recovered, &err) || recording_open_path(path, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static const char *meta_of(const recording *t, const char *key)
{
	for (size_t i = 0; i < t->streams.n; i++)
		for (size_t k = 0; k < t->streams.items[i].meta.n; k++)
			if (strcmp(t->streams.items[i].meta.items[k].key, key) == 0)
				return t->streams.items[i].meta.items[k].value;
	return "";
}

/* ---- Its own file ------------------------------------------------------------------------------------------------ */

static void what_it_saw_is_in_the_file(void **state)
{
	const sonde_process_sample samples[] = {
		{ .time_ns = 5,
		  .pid = 70,
		  .n_threads = 3,
		  .user_ns = 11,
		  .system_ns = 12,
		  .rss_bytes = 13,
		  .minor_faults = 14,
		  .major_faults = 15,
		  .read_bytes = 16,
		  .write_bytes = 17,
		  .io_known = true,
		  .peak_rss_bytes = 18 },
		{ .time_ns = 6, .pid = 71, .read_bytes = 99 },
	};
	sonde_recorder *r = open_recorder("run.sonde");

	(void)state;
	sonde_recorder_process(r, 70, 1, "./train --epochs 3");
	sonde_recorder_process(r, 71, 70, "");
	sonde_recorder_sample(r, samples, 2);
	sonde_recorder_sample(r, NULL, 0);
	recording *t = close_and_open(r, 0, NULL);
	assert_int_equal(t->streams.n, 1);
	assert_int_equal(t->streams.items[0].info.state, STREAM_CLOSED);
	assert_int_equal(t->streams.items[0].info.role, ROLE_OBSERVER);
	assert_string_equal(meta_of(t, "command"), "./train --epochs 3");
	assert_int_equal(t->processes.n, 2);
	assert_int_equal(t->processes.items[1].parent_pid, 70);
	assert_string_equal(t->processes.items[0].command, "./train --epochs 3");
	assert_int_equal(t->samples.n, 2);
	assert_int_equal(t->samples.items[0].rss_bytes, 13);
	assert_int_equal(t->samples.items[0].write_bytes, 17);
	assert_int_equal(t->samples.items[0].peak_rss_bytes, 18);
	assert_true(t->samples.items[1].read_bytes == UINT64_MAX); /* unknown */
	recording_free(t);
	temp_clear();
}

/* A shell that execs: sampled under both names. */
static void a_process_has_its_last_name_and_one_entry(void **state)
{
	static const struct {
		int32_t pid;
		const char *command;
	} seen[] = { { 70, "sh" }, { 9, "loader" }, { 70, "env" }, { 71, "sh" }, { 70, "train" }, { 71, "gzip" } };
	sonde_recorder *r = open_recorder("run.sonde");

	(void)state;
	for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
		sonde_recorder_process(r, seen[i].pid, 1, seen[i].command);
	recording *t = close_and_open(r, 0, NULL);
	assert_int_equal(t->processes.n, 3);
	assert_int_equal(t->processes.items[0].pid, 70);
	assert_string_equal(t->processes.items[0].command, "train");
	assert_string_equal(t->processes.items[1].command, "loader");
	assert_string_equal(t->processes.items[2].command, "gzip");
	recording_free(t);
	temp_clear();
}

static void how_the_program_ended_is_in_the_file(void **state)
{
	static const struct {
		int wait_status;
		const char *text;
	} cases[] = { { 0, "with exit code 0" },
		      { 3 << 8, "with exit code 3" },
		      { 9, "killed by signal 9 (Killed)" },
		      { 11 | 0x80, "killed by signal 11 (Segmentation fault)" } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		recording *t = close_and_open(open_recorder("run.sonde"), cases[i].wait_status, NULL);
		assert_string_equal(meta_of(t, "exit"), cases[i].text);
		recording_free(t);
	}
	temp_clear();
}

static void long_commands_are_cut(void **state)
{
	static char text[20000];
	char *const argv[] = { text, text, NULL };
	sonde_recorder *r;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	snprintf(path, sizeof path, "%s", temp_path("run.sonde"));
	assert_int_equal(sonde_recorder_open(path, 2, argv, &r, NULL), SONDE_OK);
	sonde_recorder_process(r, 70, 1, text);
	recording *t = close_and_open(r, 0, NULL);
	assert_true(strlen(meta_of(t, "command")) > 1000);
	assert_true(strlen(t->processes.items[0].command) > 1000);
	recording_free(t);
	temp_clear();
}

static void an_old_recording_is_replaced_and_anything_else_left_alone(void **state)
{
	sonde_recorder *r = NULL;
	sonde_error err;
	char expected[700];
	size_t len;

	(void)state;
	recording_free(close_and_open(open_recorder("run.sonde"), 0, NULL));
	recording_free(close_and_open(open_recorder("run.sonde"), 0, NULL));
	temp_write(path, "", 0);
	recording_free(close_and_open(open_recorder("run.sonde"), 0, NULL));

	temp_write(path, "my thesis", 9);
	assert_int_equal(sonde_recorder_open(path, 3, command, &r, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s exists and is not a recording; not overwritten", path);
	assert_string_equal(err.message, expected);
	char *text = (char *)temp_read(path, &len);
	assert_string_equal(text, "my thesis");
	free(text);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sonde_recorder_open(path, 3, command, &r, &err), SONDE_E_IO);
	assert_true(temp_exists(path));
	assert_int_equal(sonde_recorder_open("/nowhere/at/all", 3, command, &r, &err), SONDE_E_IO);
	assert_string_equal(err.message, "cannot write /nowhere/at/all: No such file or directory");
	temp_clear();
}

static void a_recording_that_is_being_written_is_left_alone(void **state)
{
	sonde_recorder *first = open_recorder("run.sonde"), *second = NULL;
	sonde_error err;
	char expected[700];

	(void)state;
	assert_int_equal(sonde_recorder_open(path, 3, command, &second, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s is being written by another recording; not overwritten", path);
	assert_string_equal(err.message, expected);
	recording_free(close_and_open(first, 0, NULL));
	recording_free(close_and_open(open_recorder("run.sonde"), 0, NULL));
	temp_clear();
}

static void a_link_is_not_followed(void **state)
{
	sonde_recorder *r = NULL;

	(void)state;
	recording_free(close_and_open(open_recorder("run.sonde"), 0, NULL));
	assert_int_equal(symlink(path, temp_path("link.sonde")), 0);
	assert_int_equal(sonde_recorder_open(temp_path("link.sonde"), 3, command, &r, NULL), SONDE_E_IO);
	assert_true(temp_exists(path));
	temp_clear();
}

static void a_recorder_that_is_abandoned_leaves_nothing(void **state)
{
	(void)state;
	sonde_recorder_abandon(open_recorder("run.sonde"));
	assert_false(temp_exists(path));
	sonde_recorder_abandon(NULL);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void parts_are_joined_into_the_largest(void **state)
{
	static const char *const names[] = { "run.sonde", "odd [name]*.sonde" };
	struct stat largest, joined;
	uint64_t n_recovered = 99;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		sonde_recorder *r = open_recorder(names[i]);
		save_part("1", 1, 2, 0, "");
		save_part("3", 3, 5, 0, "");
		save_part("2", 2, 50, 0, "");
		temp_write(part("4"), "", 0);
		assert_int_equal(stat(part("2"), &largest), 0);
		recording *t = close_and_open(r, 0, &n_recovered);
		assert_int_equal(t->diagnostics.n_kept, 57);
		assert_int_equal(t->streams.n, 4);
		assert_int_equal(t->diagnostics.skipped_bytes + t->diagnostics.truncated_bytes, 0);
		assert_string_equal(meta_of(t, "command"), "./train --epochs 3");
		assert_int_equal(t->diagnostics.n_unclosed_streams, 0);
		recording_free(t);
		assert_int_equal(n_recovered, 0);
		assert_int_equal(stat(path, &joined), 0);
		assert_int_equal(joined.st_ino, largest.st_ino); /* what is large is not copied */
		assert_int_equal(joined.st_mode & 0777, largest.st_mode & 0777);
		for (const char *const *end = (const char *const[]){ "1", "2", "3", "4", NULL }; *end; end++)
			assert_false(temp_exists(part(*end)));
		temp_clear();
	}
}

/* Its ring is gone with the machine, say. What comes behind it in the file must not suffer. */
static void a_part_that_was_cut_off_costs_only_its_last_block(void **state)
{
	(void)state;
	for (unsigned less = 1; less < 60; less += 7) {
		sonde_recorder *r = open_recorder("run.sonde");
		struct stat st;
		save_part("1", 1, 10, 0, "");
		save_part("2", 2, 3, 0, "");
		save_part("3", 3, 3, 0, "");
		assert_int_equal(stat(part("1"), &st), 0);
		assert_int_equal(truncate(part("1"), st.st_size - less), 0);
		recording *t = close_and_open(r, 0, NULL);
		/* A few bytes less are only the padding. */
		assert_in_range(t->diagnostics.n_kept, 15, 16);
		recording_free(t);
		temp_clear();
	}
}

static void parts_of_an_earlier_run_are_not_taken_for_ours(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s", temp_path("run.sonde"));
	save_part("1", 1, 5, 0, "");
	sonde_recorder *r = open_recorder("run.sonde");
	assert_false(temp_exists(part("1")));
	recording *t = close_and_open(r, 0, NULL);
	assert_int_equal(t->diagnostics.n_kept, 0);
	recording_free(t);
	temp_clear();
}

/* A daemon, say. Its part is read with the file until it is joined by nobody. */
static void the_part_of_a_process_that_still_runs_stays_where_it_is(void **state)
{
	sonde_recorder *r = open_recorder("run.sonde");

	(void)state;
	temp_write(part("2.ring"), "", 0); /* while there is one, the process may still write */
	save_part("1", 1, 2, 0, "");
	save_part("2", 2, 30, (uint32_t)getpid(), part("2.ring"));
	recording *t = close_and_open(r, 0, NULL);
	assert_true(temp_exists(part("2")));
	assert_true(temp_exists(part("2.ring")));
	assert_false(temp_exists(part("1")));
	assert_int_equal(t->diagnostics.n_kept, 32);
	recording_free(t);
	temp_clear();
}

static int lock_part(const char *end)
{
	int fd = open(part(end), O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

/* Between making its file and its first block. */
static void a_part_that_is_just_begun_stays_where_it_is(void **state)
{
	sonde_recorder *r = open_recorder("run.sonde");

	(void)state;
	int fd = lock_part("2");
	save_part("1", 1, 2, 0, "");
	recording *t = close_and_open(r, 0, NULL);
	assert_int_equal(t->diagnostics.n_kept, 2);
	recording_free(t);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	close(fd);
	save_part("2", 2, 30, 0, "");
	sonde_error err = { .message = "" };
	assert_int_equal(recording_open_path(path, &t, &err), SONDE_OK);
	assert_int_equal(t->diagnostics.n_kept, 32);
	recording_free(t);
	temp_clear();
}

static void count_running(void *context, int32_t pid, const char *name)
{
	assert_string_equal(name, part("2"));
	*(int32_t *)context = pid;
}

static void a_part_that_is_being_written_is_not_removed_by_another_recording(void **state)
{
	sonde_recorder *r = open_recorder("run.sonde");
	int32_t pid = 0;
	sonde_error err;
	char expected[2000];

	(void)state;
	int fd = lock_part("2");
	save_part("2", 2, 30, (uint32_t)getpid(), "");
	recording_free(close_and_open(r, 0, NULL));
	assert_int_equal(sonde_recorder_running(path, count_running, &pid), 1);
	assert_int_equal(pid, getpid());
	assert_int_equal(sonde_recorder_open(path, 3, command, &r, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected,
		 "%s: process %d of an earlier recording still writes %s; neither is overwritten", path, (int)getpid(),
		 part("2"));
	assert_string_equal(err.message, expected);
	assert_true(temp_exists(part("2")));
	assert_true(temp_exists(path));
	close(fd);
	assert_int_equal(sonde_recorder_running(path, count_running, &pid), 0);
	assert_int_equal(sonde_recorder_open(path, 3, command, &r, &err), SONDE_OK);
	assert_false(temp_exists(part("2")));
	sonde_recorder_abandon(r);
	temp_clear();
}

static void a_file_that_is_left_open_is_read_with_later_parts(void **state)
{
	(void)state;
	for (int leave_open = 0; leave_open < 2; leave_open++) {
		sonde_recorder *r = open_recorder("run.sonde");
		recording *t = NULL;
		save_part("1", 1, 2, 0, "");
		if (leave_open)
			sonde_recorder_leave_open(r);
		assert_int_equal(sonde_recorder_close(r, 0, NULL, NULL), SONDE_OK);
		save_part("2", 2, 30, 0, "");
		assert_int_equal(recording_open_path(path, &t, NULL), SONDE_OK);
		assert_int_equal(t->diagnostics.n_kept, leave_open ? 32 : 2);
		recording_free(t);
		temp_clear();
	}
}

static void what_the_rings_of_killed_processes_hold_is_recovered(void **state)
{
	enum { RING_BYTES = RING_CHUNKS_AT + RING_CHUNK_BYTES };
	sonde_recorder *r = open_recorder("run.sonde");
	ring_header *ring = calloc(1, RING_BYTES);
	uint64_t n_recovered;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	save_part("1", 1, 2, (uint32_t)pid, part("1.ring"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	*ring = (ring_header){ .magic = RING_MAGIC, .stream = 1, .version = FORMAT_VERSION, .n_chunks = 1 };
	ring_chunk *chunk = (ring_chunk *)((char *)ring + RING_CHUNKS_AT);
	chunk->state = CHUNK_ACTIVE;
	chunk->thread = 1;
	chunk->first_word = 2;
	for (uint64_t i = 0; i < 7; i++)
		chunk->words[i] = (100 + i) << EVENT_TICK_SHIFT | 40;
	temp_write(part("1.ring"), ring, RING_BYTES);
	free(ring);
	recording *t = close_and_open(r, 9, &n_recovered);
	assert_int_equal(n_recovered, 7);
	assert_int_equal(t->diagnostics.n_kept, 9);
	recording_free(t);
	assert_false(temp_exists(part("1.ring")));
	assert_false(temp_exists(part("1")));
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_saw_is_in_the_file),
		cmocka_unit_test(a_process_has_its_last_name_and_one_entry),
		cmocka_unit_test(how_the_program_ended_is_in_the_file),
		cmocka_unit_test(long_commands_are_cut),
		cmocka_unit_test(an_old_recording_is_replaced_and_anything_else_left_alone),
		cmocka_unit_test(a_recording_that_is_being_written_is_left_alone),
		cmocka_unit_test(a_link_is_not_followed),
		cmocka_unit_test(a_recorder_that_is_abandoned_leaves_nothing),
		cmocka_unit_test(parts_are_joined_into_the_largest),
		cmocka_unit_test(a_part_that_was_cut_off_costs_only_its_last_block),
		cmocka_unit_test(parts_of_an_earlier_run_are_not_taken_for_ours),
		cmocka_unit_test(the_part_of_a_process_that_still_runs_stays_where_it_is),
		cmocka_unit_test(a_part_that_is_just_begun_stays_where_it_is),
		cmocka_unit_test(a_part_that_is_being_written_is_not_removed_by_another_recording),
		cmocka_unit_test(a_file_that_is_left_open_is_read_with_later_parts),
		cmocka_unit_test(what_the_rings_of_killed_processes_hold_is_recovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
