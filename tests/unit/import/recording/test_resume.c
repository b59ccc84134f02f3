/* A recording that grows is read on from where it was whole, and is then what it would be when read from its start. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include "unit/import/random_recording.h"
#include "unit/import/recording/walk_lines.h"

static void save_until(const random_run *r, const char *path, size_t len)
{
	FILE *f = fopen(path, len ? "r+b" : "wb");

	if (!f)
		f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(r->m.bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static recording *open_after(const char *path, const recording *before)
{
	recording *t = NULL;

	assert_int_equal(recording_open(&(recording_source){ .path = path, .before = before }, 1, &t, NULL), 0);
	return t;
}

static void assert_same_trace(const recording *a, const recording *b)
{
	assert_int_equal(a->diagnostics.n_kept, b->diagnostics.n_kept);
	assert_int_equal(a->diagnostics.truncated_bytes, b->diagnostics.truncated_bytes);
	assert_int_equal(a->diagnostics.n_damaged_blocks, b->diagnostics.n_damaged_blocks);
	assert_int_equal(a->blocks.n, b->blocks.n);
	assert_int_equal(a->threads.n, b->threads.n);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->streams.n, b->streams.n);
	assert_memory_equal(a->n_blocks_of, b->n_blocks_of, sizeof a->n_blocks_of);
	for (size_t i = 0; i < a->streams.n; i++) {
		const recording_stream *x = &a->streams.items[i], *y = &b->streams.items[i];
		assert_int_equal(x->n_segments, y->n_segments);
		assert_memory_equal(x->segments, y->segments, x->n_segments * sizeof *x->segments);
		assert_int_equal(x->settled_ticks, y->settled_ticks);
		assert_memory_equal(&x->info, &y->info, sizeof x->info);
	}
	assert_same_lines(a, b, INT64_MIN);
}

/* Also where a block was cut off by the end of the file. */
static void what_is_read_on_is_what_is_read_at_once(void **state)
{
	const char *path = temp_path("grows.sonde");
	random_run r;
	recording *before = NULL;

	(void)state;
	make_run(&r, 5, 6000);
	for (size_t i = 3; i < r.cuts.n; i += 1 + below(&r, 9)) {
		size_t len = r.cuts.items[i] + below(&r, 2) * below(&r, 50);
		save_until(&r, path, len < r.m.len ? len : r.m.len);
		recording *t = open_after(path, before), *fresh = open_after(path, NULL);
		assert_same_trace(t, fresh);
		assert_int_equal(t->files.items[0].from, before ? block_padded(before->files.items[0].cut)
								: 0); /* only what is new is scanned */
		recording_free(fresh);
		recording_free(before);
		before = t;
	}
	recording_free(before);
	run_done(&r);
	temp_clear();
}

/* The first block of a stream is written again in place when it ends. */
static void the_end_of_a_stream_is_seen(void **state)
{
	const char *path = temp_path("ends.sonde");
	random_run r;
	stream_start start;

	(void)state;
	make_run(&r, 6, 500);
	save_until(&r, path, r.m.len);
	recording *before = open_after(path, NULL);
	assert_int_equal(before->streams.items[0].info.state, STREAM_OPEN);
	memcpy(&start, r.m.bytes, sizeof start);
	start.info.state = STREAM_CLOSED;
	start.info.n_lost_full = 12;
	block_seal(&start.header, BLOCK_STREAM, start.header.stream, sizeof start.info, 0);
	memcpy(r.m.bytes, &start, sizeof start);
	save_until(&r, path, r.m.len);
	recording *t = open_after(path, before);
	assert_int_equal(t->streams.items[0].info.state, STREAM_CLOSED);
	assert_int_equal(t->diagnostics.n_lost_full, 12);
	recording_free(t);
	recording_free(before);
	run_done(&r);
	temp_clear();
}

static void another_file_of_the_same_name_is_read_from_its_start(void **state)
{
	const char *path = temp_path("other.sonde");
	random_run r, other;

	(void)state;
	make_run(&r, 7, 900);
	make_run(&other, 8, 1000);
	save_until(&r, path, r.m.len);
	recording *before = open_after(path, NULL);
	/* The old file lives on, so that the new one has another number. */
	assert_int_equal(rename(path, temp_path("old.sonde")), 0);
	save_until(&other, path, other.m.len);
	recording *t = open_after(path, before), *fresh = open_after(path, NULL);
	assert_same_trace(t, fresh);
	assert_int_equal(t->files.items[0].from, 0);
	recording_free(t);
	recording_free(fresh);
	recording_free(before);
	run_done(&r);
	run_done(&other);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_on_is_what_is_read_at_once),
		cmocka_unit_test(the_end_of_a_stream_is_seen),
		cmocka_unit_test(another_file_of_the_same_name_is_read_from_its_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
