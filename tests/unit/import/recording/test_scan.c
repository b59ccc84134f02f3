/* From bytes to blocks: whole, cut off, damaged, foreign. */
#include <sonde/record.h>
#include "unit/import/recording/make_file.h"

/* ---- Files by hand ----------------------------------------------------------------------------------------------- */

/* Three blocks of events on two threads, 5 events. */
static void make_small(maker *m)
{
	make_start(m);
	make_name(m, 40, NAME_SCOPE, "forward");
	MAKE_EVENTS(m, 1, { 10, 40 }, { 20, END | 40 });
	MAKE_EVENTS(m, 2, { 15, 40 });
	MAKE_EVENTS(m, 1, { 30, 40 }, { 35, END | 40 });
	make_totals(m);
}

static sonde_status open_bytes(const uint8_t *bytes, size_t len, recording **ret, sonde_error *err)
{
	*ret = NULL;
	return recording_open_memory(bytes, len, ret, err);
}

static void a_whole_file_is_read_whole(void **state)
{
	maker m = { 0 };

	(void)state;
	make_small(&m);
	recording *t = make_recording(&m);
	assert_int_equal(t->diagnostics.n_kept, 5);
	assert_int_equal(t->diagnostics.n_lost_damaged, 0);
	assert_int_equal(t->diagnostics.skipped_bytes, 0);
	assert_int_equal(t->diagnostics.truncated_bytes, 0);
	assert_int_equal(t->diagnostics.first_damage, -1);
	assert_int_equal(t->threads.n, 2);
	assert_int_equal(t->n_blocks_of[BLOCK_EVENTS], 3);
	assert_int_equal(t->n_blocks_of[BLOCK_STREAM], 1);
	recording_free(t);
	make_done(&m);
}

static void garbage_between_blocks_is_skipped_and_counted(void **state)
{
	static const struct {
		size_t len;
		int byte;
	} cases[] = { { 8, 0 }, { 24, 0xff }, { 800, 0x89 }, { 4096, 'S' } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int at_start = 0; at_start < 2; at_start++) {
			uint8_t garbage[4096];
			maker m = { 0 };
			memset(garbage, cases[i].byte, sizeof garbage);
			if (at_start)
				make_bytes(&m, garbage, cases[i].len);
			make_start(&m);
			size_t before = m.len;
			if (!at_start)
				make_bytes(&m, garbage, cases[i].len);
			MAKE_EVENTS(&m, 1, { 10, 40 });
			recording *t = make_recording(&m);
			assert_int_equal(t->diagnostics.n_kept, 1);
			assert_int_equal(t->diagnostics.skipped_bytes, cases[i].len);
			assert_int_equal(t->diagnostics.first_damage, at_start ? 0 : (int64_t)before);
			recording_free(t);
			make_done(&m);
		}
}

static void a_block_of_a_later_kind_is_passed_over(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_block(&m, 4711, "whatever", 8, 0);
	make_block(&m, 0, "", 0, 0);
	make_block(&m, BLOCK_META, "", 0, 0);
	MAKE_EVENTS(&m, 1, { 10, 40 });
	recording *t = make_recording(&m);
	assert_int_equal(t->diagnostics.n_kept, 1);
	assert_int_equal(t->diagnostics.skipped_bytes, 0);
	recording_free(t);
	make_done(&m);
}

static void payloads_shorter_than_they_should_be_do_no_harm(void **state)
{
	static const unsigned kinds[] = { BLOCK_STREAM,	 BLOCK_NAMES,	BLOCK_CLOCK,   BLOCK_EVENTS,	BLOCK_META,
					  BLOCK_PROCESS, BLOCK_SAMPLES, BLOCK_MODULES, BLOCK_SAMPLES_72 };
	static const uint8_t ones[96] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (size_t len = 0; len <= sizeof ones; len++) {
			maker m = { 0 };
			make_block(&m, kinds[i], ones, len, 1);
			recording_free(make_recording(&m));
			make_done(&m);
		}
}

static void samples_without_a_peak_are_read_as_before(void **state)
{
	const process_sample samples[] = { { .pid = 7, .rss_bytes = 500, .write_bytes = 9, .peak_rss_bytes = 600 },
					   { .pid = 8 } };
	uint8_t old[2 * 72];
	maker m = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		memcpy(old + i * 72, &samples[i], 72);
	make_block(&m, BLOCK_SAMPLES_72, old, sizeof old, 0);
	make_block(&m, BLOCK_SAMPLES, samples, sizeof samples, 0);
	recording *t = make_recording(&m);
	assert_int_equal(t->samples.n, 4);
	assert_int_equal(t->samples.items[0].write_bytes, 9);
	assert_int_equal(t->samples.items[0].peak_rss_bytes, 0);
	assert_int_equal(t->samples.items[1].pid, 8);
	assert_int_equal(t->samples.items[2].peak_rss_bytes, 600);
	recording_free(t);
	make_done(&m);
}

static void a_newer_file_is_refused_with_both_versions(void **state)
{
	recording *t;
	sonde_error err;
	maker m = { 0 };

	(void)state;
	make_small(&m);
	block_header *h = (block_header *)m.bytes;
	h->version = FORMAT_VERSION + 1;
	h->header_crc = crc32c(0, h, offsetof(block_header, header_crc));
	assert_int_equal(open_bytes(m.bytes, m.len, &t, &err), SONDE_E_VERSION);
	assert_string_equal(err.message, "byte 0: written by a newer Sonde (format 2; this one reads up to 1)");
	assert_null(t);
	make_done(&m);
}

static sonde_status open_file(const char *path, recording **ret_trace, sonde_error *err)
{
	return recording_open(&(recording_source){ .path = path }, 1, ret_trace, err);
}

static void what_is_not_a_recording_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t len;
		sonde_status status;
		const char *message; /* after the path */
	} cases[] = {
		{ "empty", "", 0, SONDE_E_TRUNCATED, "the file is empty" },
		{ "text", "hello, this is no recording at all, only text", 45, SONDE_E_FORMAT,
		  "byte 0: not a Sonde recording" },
		{ "short", "x", 1, SONDE_E_FORMAT, "byte 0: not a Sonde recording" },
		{ "start", "\x89SND\x01\x00\x01\x00", 8, SONDE_E_TRUNCATED,
		  "the file ends in its first block: it has no events" },
	};
	char expected[800];
	recording *t = NULL;
	sonde_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *path = temp_path(cases[i].name);
		temp_write(path, cases[i].bytes, cases[i].len);
		assert_int_equal(open_file(path, &t, &err), cases[i].status);
		snprintf(expected, sizeof expected, "%s: %s", path, cases[i].message);
		assert_string_equal(err.message, expected);
		assert_int_equal(open_file(path, &t, NULL), cases[i].status);
	}
	const char *missing = temp_path("missing");
	assert_int_equal(open_file(missing, &t, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s: No such file or directory", missing);
	assert_string_equal(err.message, expected);
	const char *directory = temp_path("directory");
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(open_file(directory, &t, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s: is a directory", directory);
	assert_string_equal(err.message, expected);
}

/* ---- Cut off and added to ---------------------------------------------------------------------------------------- */

/* What `sonde record` does with the parts of processes that were killed: one behind the other. */
static void blocks_behind_one_that_was_cut_off_are_read(void **state)
{
	maker whole = { 0 };

	(void)state;
	make_start(&whole);
	size_t before = whole.len;
	MAKE_EVENTS(&whole, 1, { 10, 40 }, { 20, END | 40 }, { 30, 40 }, { 40, END | 40 }, { 50, 40, 6, { 1, 2 } });
	for (size_t cut = before; cut < whole.len; cut += 8) {
		maker m = { .stream = MAKE_STREAM };
		make_bytes(&m, whole.bytes, cut);
		MAKE_EVENTS(&m, 2, { 10, 40 });
		MAKE_EVENTS(&m, 3, { 10, 40 });
		MAKE_EVENTS(&m, 4, { 10, 40 });
		recording *t = make_recording(&m);
		assert_int_equal(t->diagnostics.n_kept, 3);
		assert_int_equal(t->diagnostics.truncated_bytes, 0);
		assert_int_equal(t->diagnostics.skipped_bytes, cut - before);
		recording_free(t);
		make_done(&m);
	}
	make_done(&whole);
}

static void the_place_of_a_cut_is_known(void **state)
{
	maker m = { 0 };

	(void)state;
	make_small(&m);
	for (size_t cut = m.len - 80; cut <= m.len; cut++) {
		recording *t;
		assert_int_equal(open_bytes(m.bytes, cut, &t, NULL), SONDE_OK);
		assert_int_equal(t->files.items[0].cut + t->diagnostics.truncated_bytes, cut);
		recording_free(t);
	}
	make_done(&m);
}

/* Each header claims what is left of the file: summing that up for every one would take hours. */
static void headers_inside_headers_take_no_longer_than_one(void **state)
{
	enum { N = 100000 };
	maker m = { 0 };

	(void)state;
	make_start(&m);
	block_header *headers = calloc(N, sizeof *headers);
	for (size_t i = 0; i < N; i++) {
		headers[i] = (block_header){ .magic = FORMAT_MAGIC,
					     .kind = BLOCK_EVENTS,
					     .version = 1,
					     .length = (uint32_t)((N - 1 - i) * sizeof *headers),
					     .payload_crc = 1 };
		headers[i].header_crc = crc32c(0, &headers[i], offsetof(block_header, header_crc));
	}
	make_bytes(&m, headers, N * sizeof *headers);
	recording *t = make_recording(&m);
	assert_int_equal(t->diagnostics.n_kept, 0);
	assert_true(t->diagnostics.n_damaged_blocks > 0);
	recording_free(t);
	free(headers);
	make_done(&m);
}

static void many_streams_with_high_ids_take_little_memory(void **state)
{
	maker m = { 0 };

	(void)state;
	for (m.stream = 1; m.stream <= 3000; m.stream++)
		make_name(&m, UINT16_MAX, NAME_SCOPE, "x");
	recording *t = make_recording(&m);
	assert_int_equal(t->streams.n, 3000);
	for (size_t i = 0; i < t->streams.n; i++) {
		assert_non_null(recording_site_of(&t->streams.items[i], UINT16_MAX));
		assert_null(recording_site_of(&t->streams.items[i], UINT16_MAX - 1));
		assert_null(recording_site_of(&t->streams.items[i], 40));
		assert_null(recording_site_of(&t->streams.items[i], (uint64_t)UINT16_MAX + 1));
	}
	recording_free(t);
	make_done(&m);
}

/* ---- A real one, cut off and damaged everywhere ------------------------------------------------------------------ */

static void record_inside(int n)
{
	SONDE_SCOPE_ARGS("inside", SONDE_I64("n", n), SONDE_STR("type", "f32"));
	if (n)
		record_inside(n - 1);
}

/* A small recording; the caller frees. */
static uint8_t *record_small(size_t *ret_len)
{
	const char *path = temp_path("small.sonde");
	sonde_config config = { .struct_size = sizeof config, .output = path, .memory = true, .buffer = 1 << 20 };
	sonde_error err;

	if (sonde_start(&config, &err))
		fail_msg("%s", err.message);
	for (int i = 0; i < 4; i++) {
		SONDE_STEP(i);
		SONDE_PHASE("forward");
		record_inside(i);
		SONDE_COUNTER("loss", 1.0 / (i + 1));
		sonde_alloc(SONDE_CPU, &config, 100, 1);
	}
	sonde_metadata("model", "small");
	if (sonde_stop(&err))
		fail_msg("%s", err.message);
	return temp_read(path, ret_len);
}

/* Whole blocks in the first len bytes; *ret_events gets the events of theirs. */
static size_t whole_blocks(const uint8_t *bytes, size_t len, uint64_t *ret_events)
{
	size_t n = 0, at = 0;

	*ret_events = 0;
	for (; len - at >= sizeof(block_header); n++) {
		const block_header *h = (const block_header *)(bytes + at);
		if (h->length > len - at - sizeof *h)
			break;
		*ret_events += h->n_events;
		at += sizeof *h + block_padded(h->length);
		if (at > len)
			return n + 1;
	}
	return n;
}

static uint64_t n_blocks_read(const recording *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < BLOCK_KINDS; i++)
		n += t->n_blocks_of[i];
	return n;
}

static void a_file_cut_off_at_any_byte_keeps_its_whole_blocks(void **state)
{
	size_t len;
	uint8_t *bytes = record_small(&len);
	uint64_t n_events, n_all, before = 0;

	(void)state;
	whole_blocks(bytes, len, &n_all);
	assert_true(n_all > 20);
	for (size_t cut = 0; cut <= len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);
		recording *t;
		size_t n_blocks = whole_blocks(bytes, cut, &n_events);
		memcpy(copy, bytes, cut);
		sonde_status status = open_bytes(copy, cut, &t, NULL);
		assert_int_equal(status != SONDE_OK, n_blocks == 0);
		if (t) {
			assert_int_equal(n_blocks_read(t), n_blocks);
			assert_int_equal(t->diagnostics.n_kept, n_events);
			/* The first block knows how many there were: nothing goes missing unsaid. */
			assert_int_equal(t->diagnostics.n_kept + t->diagnostics.n_lost_damaged, n_all);
			assert_true(n_events >= before);
			before = n_events;
		}
		recording_free(t);
		free(copy);
	}
	assert_int_equal(before, n_all);
	free(bytes);
}

/* Byte of the file -> is it padding, which nothing checks? Also the number of events of its block. */
static bool is_padding(const uint8_t *bytes, size_t len, size_t byte, uint32_t *ret_n_events, uint16_t *ret_kind)
{
	for (size_t at = 0; at < len;) {
		const block_header *h = (const block_header *)(bytes + at);
		size_t end = at + sizeof *h + h->length;
		*ret_n_events = h->n_events;
		*ret_kind = h->kind;
		if (byte < end)
			return false;
		at += sizeof *h + block_padded(h->length);
		if (byte < at)
			return true;
	}
	return false;
}

static void a_changed_byte_costs_its_block_and_no_other(void **state)
{
	size_t len;
	uint8_t *bytes = record_small(&len);
	uint64_t n_all, n_blocks;

	(void)state;
	n_blocks = whole_blocks(bytes, len, &n_all);
	for (size_t i = 0; i < len; i++) {
		uint32_t n_events;
		uint16_t kind;
		bool padding = is_padding(bytes, len, i, &n_events, &kind);
		recording *t;

		bytes[i] ^= (uint8_t)(1 << i % 8);
		assert_int_equal(open_bytes(bytes, len, &t, NULL), SONDE_OK);
		assert_int_equal(n_blocks_read(t), padding ? n_blocks : n_blocks - 1);
		assert_int_equal(t->diagnostics.n_kept, padding ? n_all : n_all - n_events);
		if (kind != BLOCK_STREAM)
			assert_int_equal(t->diagnostics.n_kept + t->diagnostics.n_lost_damaged, n_all);
		assert_int_equal(t->diagnostics.first_damage >= 0, !padding);
		assert_int_equal(t->diagnostics.skipped_bytes > 0, !padding);
		recording_free(t);
		bytes[i] ^= (uint8_t)(1 << i % 8);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_read_whole),
		cmocka_unit_test(garbage_between_blocks_is_skipped_and_counted),
		cmocka_unit_test(a_block_of_a_later_kind_is_passed_over),
		cmocka_unit_test(payloads_shorter_than_they_should_be_do_no_harm),
		cmocka_unit_test(samples_without_a_peak_are_read_as_before),
		cmocka_unit_test(a_newer_file_is_refused_with_both_versions),
		cmocka_unit_test(what_is_not_a_recording_is_refused_with_a_reason),
		cmocka_unit_test(blocks_behind_one_that_was_cut_off_are_read),
		cmocka_unit_test(the_place_of_a_cut_is_known),
		cmocka_unit_test(headers_inside_headers_take_no_longer_than_one),
		cmocka_unit_test(many_streams_with_high_ids_take_little_memory),
		cmocka_unit_test(a_file_cut_off_at_any_byte_keeps_its_whole_blocks),
		cmocka_unit_test(a_changed_byte_costs_its_block_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
