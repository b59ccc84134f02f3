/* The index behind a recording: added, found again, cut off at every byte, and never at the recording's expense. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sonde/recorder.h>
#include "unit/analyze/training.h"

static recording *open_path(const char *path)
{
	recording *t = NULL;
	sonde_error err = { .message = "" };

	if (recording_open_path(path, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static void add_index(const char *path)
{
	sonde_error err = { .message = "" };

	if (sonde_recorder_add_index(path, NULL, NULL, &err))
		fail_msg("%s", err.message);
}

/* A recording of two steps; returns its length. */
static size_t save_training(const char *path)
{
	maker m = { 0 };

	make_training(&m);
	make_save(&m, path);
	size_t len = m.len;
	make_done(&m);
	return len;
}

static void assert_blocks_are_whole(const recording *t)
{
	assert_int_equal(t->diagnostics.n_kept, 20);
	assert_int_equal(t->diagnostics.n_damaged_blocks, 0);
	assert_int_equal(t->diagnostics.skipped_bytes, 0);
	assert_int_equal(t->diagnostics.first_damage, -1);
}

static void a_recording_finds_its_index_again(void **state)
{
	const char *path = temp_path("run.sonde");
	size_t before_len, len;

	(void)state;
	save_training(path);
	uint8_t *before = temp_read(path, &before_len);
	add_index(path);
	uint8_t *bytes = temp_read(path, &len);
	assert_true(len > before_len);
	assert_memory_equal(bytes, before, before_len);
	recording *t = open_path(path);
	assert_blocks_are_whole(t);
	assert_int_equal(t->diagnostics.truncated_bytes, 0);
	assert_int_equal(t->index_bytes, len - block_padded(before_len));
	sonde_index *ix = recording_find_index(t);
	assert_non_null(ix);
	assert_int_equal(index_n_slices(ix), 12);
	index_free(ix);
	recording_free(t);
	/* A second time there is nothing to do. */
	size_t again_len;
	add_index(path);
	free(temp_read(path, &again_len));
	assert_int_equal(again_len, len);
	free(before);
	free(bytes);
}

static void an_index_cut_off_anywhere_leaves_the_recording_whole(void **state)
{
	const char *path = temp_path("cut.sonde");
	size_t len;

	(void)state;
	size_t before_len = save_training(path);
	add_index(path);
	uint8_t *bytes = temp_read(path, &len);
	for (size_t cut = before_len; cut < len; cut++) {
		recording *t = NULL;
		assert_int_equal(recording_open_memory(bytes, cut, &t, NULL), SONDE_OK);
		assert_blocks_are_whole(t);
		/* The first four bytes could be those of a block. */
		bool unclear = cut > before_len && cut <= before_len + 4;
		assert_int_equal(t->diagnostics.torn_index_bytes, unclear ? 0 : cut - before_len);
		assert_int_equal(t->diagnostics.truncated_bytes, unclear ? cut - before_len : 0);
		recording_free(t);
	}
	/* It can be added anew. */
	temp_write(path, bytes, len - 100);
	recording *t = open_path(path);
	assert_null(recording_find_index(t));
	recording_free(t);
	size_t again_len;
	add_index(path);
	free(temp_read(path, &again_len));
	assert_int_equal(again_len, len);
	free(bytes);
}

static void an_index_that_is_damaged_is_not_used(void **state)
{
	const char *path = temp_path("damaged.sonde");
	size_t len;

	(void)state;
	size_t before_len = save_training(path);
	add_index(path);
	uint8_t *bytes = temp_read(path, &len);
	for (size_t i = 0; i < sizeof(index_header) + 64; i++) {
		bytes[before_len + i] ^= 0x40;
		temp_write(path, bytes, len);
		recording *t = open_path(path);
		assert_int_equal(t->diagnostics.n_kept, 20);
		assert_null(recording_find_index(t));
		recording_free(t);
		bytes[before_len + i] ^= 0x40;
	}
	free(bytes);
}

/* The disk was full while it was recorded: the last block is cut off. */
static void a_block_cut_off_before_the_index_is_all_that_is_damaged(void **state)
{
	const char *path = temp_path("full.sonde");
	size_t len;

	(void)state;
	size_t whole = save_training(path);
	uint8_t *bytes = temp_read(path, &len);
	temp_write(path, bytes, whole - 5);
	add_index(path);
	recording *t = open_path(path);
	sonde_index *ix = recording_find_index(t);
	assert_non_null(ix);
	index_free(ix);
	assert_int_equal(t->diagnostics.n_damaged_blocks, 1);
	assert_true(t->diagnostics.skipped_bytes < 200);
	assert_int_equal(t->diagnostics.truncated_bytes, 0);
	recording_free(t);
	free(bytes);
}

static void two_files_behind_each_other_are_read_whole(void **state)
{
	const char *path = temp_path("one.sonde"), *both = temp_path("both.sonde");
	size_t len;

	(void)state;
	save_training(path);
	add_index(path);
	uint8_t *bytes = temp_read(path, &len);
	bytes = realloc(bytes, 2 * len);
	memcpy(bytes + len, bytes, len);
	/* The second has another stream. */
	for (size_t at = len;
	     ((block_header *)(bytes + at))->magic == FORMAT_MAGIC && block_header_ok((block_header *)(bytes + at));) {
		block_header *h = (block_header *)(bytes + at);
		h->stream++;
		h->header_crc = crc32c(0, h, offsetof(block_header, header_crc));
		at += sizeof *h + block_padded(h->length);
	}
	temp_write(both, bytes, 2 * len);
	recording *t = open_path(both);
	assert_int_equal(t->diagnostics.n_kept, 40);
	assert_int_equal(t->diagnostics.skipped_bytes, 0);
	assert_null(recording_find_index(t)); /* it would be that of one of them */
	recording_free(t);
	free(bytes);
}

static void a_recording_that_is_not_finished_gets_none(void **state)
{
	const char *path = temp_path("open.sonde");
	maker m = { 0 };
	size_t len;

	(void)state;
	make_start(&m);
	stream_block info = m.info;
	info.state = STREAM_OPEN;
	info.pid = (uint32_t)getpid();
	m.len = 0;
	make_stream(&m, &info);
	make_save(&m, path);
	assert_int_equal(sonde_recorder_add_index(path, NULL, NULL, NULL), SONDE_E_STATE);
	free(temp_read(path, &len));
	assert_int_equal(len, m.len);
	make_done(&m);
}

static bool stop(void *context, uint64_t done, uint64_t total)
{
	(void)context, (void)done, (void)total;
	return false;
}

static void stopping_and_a_full_disk_leave_the_file_as_it_was(void **state)
{
	const char *path = temp_path("room.sonde");
	struct rlimit old, limit;
	sonde_error err = { .message = "" };
	size_t len;

	(void)state;
	size_t before = save_training(path);
	assert_int_equal(sonde_recorder_add_index(path, stop, NULL, NULL), SONDE_E_STATE);
	free(temp_read(path, &len));
	assert_int_equal(len, before);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = before + 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(sonde_recorder_add_index(path, NULL, NULL, &err), SONDE_E_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(err.message, "cannot write the index: "));
	free(temp_read(path, &len));
	assert_int_equal(len, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_finds_its_index_again),
		cmocka_unit_test(an_index_cut_off_anywhere_leaves_the_recording_whole),
		cmocka_unit_test(an_index_that_is_damaged_is_not_used),
		cmocka_unit_test(a_block_cut_off_before_the_index_is_all_that_is_damaged),
		cmocka_unit_test(two_files_behind_each_other_are_read_whole),
		cmocka_unit_test(a_recording_that_is_not_finished_gets_none),
		cmocka_unit_test(stopping_and_a_full_disk_leave_the_file_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
