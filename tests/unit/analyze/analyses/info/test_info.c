/* What a file contains, and every count of what is not as it should be. */
#include "analyze/analysis.h"
#include "unit/analyze/training.h"

static sonde_result *analyze(const sonde_trace *t, const char *name)
{
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	if (sonde_analyze(t, name, NULL, &r, &err))
		fail_msg("%s", err.message);
	return r;
}

static cell value_of(const sonde_result *r, const char *key)
{
	for (const result_value *v = r->values; v; v = v->next)
		if (strcmp(v->key, key) == 0)
			return v->value;
	fail_msg("there is no %s", key);
	return cell_unknown();
}

typedef struct expected {
	const char *key;
	int64_t value; /* -1: unknown */
} expected;

static void assert_values(const sonde_result *r, const expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cell c = value_of(r, e[i].key);
		if ((c.type == CELL_UNKNOWN) != (e[i].value < 0) || (e[i].value >= 0 && c.integer != e[i].value))
			fail_msg("%s is %lld, type %d", e[i].key, (long long)c.integer, (int)c.type);
	}
}
#define ASSERT_VALUES(r, ...)                                                                                          \
	assert_values(r, (const expected[]){ __VA_ARGS__ },                                                            \
		      sizeof((const expected[]){ __VA_ARGS__ }) / sizeof(expected))

static const char *note_of(const sonde_result *r, const char *label)
{
	for (const result_note *note = r->notes; note; note = note->next)
		if (strcmp(note->label, label) == 0)
			return note->text;
	return "";
}

static void a_good_recording_has_nothing_lost(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "info");
	ASSERT_VALUES(r, { "format_version", 1 }, { "file_bytes", (int64_t)m.len }, { "duration_ns", 1000 },
		      { "n_threads", 2 }, { "n_emitted", 20 }, { "n_kept", 20 }, { "n_lost", 0 }, { "n_lost_full", 0 },
		      { "n_lost_overwritten", 0 }, { "n_lost_signal", 0 }, { "n_lost_io", 0 }, { "n_lost_damaged", 0 },
		      { "n_repaired_total", 0 }, { "n_damaged_blocks", 0 }, { "skipped_bytes", 0 },
		      { "truncated_bytes", 0 }, { "first_damage_byte", -1 }, { "n_unclosed", 0 }, { "n_recovered", 0 },
		      { "n_slices", 12 }, { "n_instants", 2 }); /* its start and its end */
	assert_string_equal(note_of(r, "lost"), "");
	assert_string_equal(note_of(r, "repaired"), "");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void what_was_lost_on_the_way_adds_up(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	stream_block info = m.info;
	info.n_events = 20;
	info.n_lost_full = 1;
	info.n_lost_overwritten = 20;
	info.n_lost_signal = 300;
	info.n_lost_io = 4000;
	info.n_names_refused = 5;
	make_stream(&m, &info);
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "info");
	ASSERT_VALUES(r, { "n_emitted", 4341 }, { "n_kept", 20 }, { "n_lost", 4321 }, { "n_lost_full", 1 },
		      { "n_lost_overwritten", 20 }, { "n_lost_signal", 300 }, { "n_lost_io", 4000 },
		      { "n_lost_damaged", 0 }, { "n_names_refused", 5 });
	assert_non_null(strstr(note_of(r, "lost"), "4,000 events that could not be written"));
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void what_was_repaired_is_counted(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, END | F }, { 20, FORWARD }, { 30, F }, { 25, END | FORWARD }, { 40, 999 },
		    { 50, LOAD });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "info");
	ASSERT_VALUES(r, { "n_open", 2 }, { "n_repaired", 1 }, { "n_unmatched_ends", 1 }, { "n_clamped", 1 },
		      { "n_unknown_names", 1 }, { "n_too_deep", 0 }, { "n_repaired_total", 6 });
	assert_non_null(strstr(note_of(r, "repaired"), "2 scopes open at the end"));
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void damage_is_counted_with_its_place(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	size_t at = m.len;
	MAKE_EVENTS(&m, 1, { 10, F }, { 20, END | F });
	size_t end = m.len;
	MAKE_EVENTS(&m, 1, { 30, F }, { 40, END | F });
	make_totals(&m);
	m.bytes[at + sizeof(block_header) + 3] ^= 1;
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "info");
	ASSERT_VALUES(r, { "n_emitted", 4 }, { "n_kept", 2 }, { "n_lost", 2 }, { "n_lost_damaged", 2 },
		      { "n_damaged_blocks", 1 }, { "skipped_bytes", (int64_t)(end - at) },
		      { "first_damage_byte", (int64_t)at });
	assert_true(strlen(note_of(r, "damaged")) > 0);
	/* Bytes and blocks are no events that were repaired. */
	ASSERT_VALUES(r, { "n_repaired_total", 0 });
	assert_string_equal(note_of(r, "repaired"), "");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

/* Nobody can know how many events the ring held. */
static void what_cannot_be_known_is_unknown(void **state)
{
	maker m = { 0 };
	sonde_trace *t = NULL;

	(void)state;
	make_training(&m);
	stream_block info = m.info;
	info.state = STREAM_OPEN;
	info.pid = INT32_MAX;
	snprintf(info.ring_path, sizeof info.ring_path, "gone.ring");
	make_stream(&m, &info);
	make_save(&m, temp_path("killed.sonde"));
	assert_int_equal(sonde_trace_open(temp_path("killed.sonde"), &t, NULL), SONDE_OK);
	sonde_result *r = analyze(t, "info");
	ASSERT_VALUES(r, { "n_emitted", -1 }, { "n_kept", 20 }, { "n_lost", -1 }, { "n_unclosed", 1 });
	assert_true(strlen(note_of(r, "note")) > 0);
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void every_analysis_and_format_has_a_name_and_a_sentence(void **state)
{
	const char *name, *summary;
	size_t n = 0;

	(void)state;
	for (; sonde_analysis(n, &name, &summary); n++)
		assert_true(*name && *summary);
	assert_true(n >= 3);
	assert_false(sonde_analysis(SIZE_MAX, &name, &summary));
	for (n = 0; sonde_export_format(n, &name, &summary); n++)
		assert_true(*name && *summary);
	assert_true(n >= 1);
	assert_false(sonde_export_format(SIZE_MAX, &name, &summary));
}

/* A recording by a stranger: huge times, huge counts, no clock. */
static void hostile_numbers_do_no_harm(void **state)
{
	static const char *const names[] = { "info", "report", "summary" };
	static const clock_pair pairs[] = { { 0, INT64_MIN, UINT64_MAX }, { 1, INT64_MAX, UINT64_MAX } };
	maker m = { 0 };
	stream_block info;

	(void)state;
	memset(&info, 0xff, sizeof info);
	m.stream = 1;
	make_stream(&m, &info);
	make_clock(&m, pairs, 2);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, STEP, 1, { UINT64_MAX } }, { UINT64_C(1) << 44, END | STEP }, { 5, F },
		    { 6, EVENT_OP_RECORD, 3, { MATMUL, UINT64_MAX / 2, UINT64_MAX / 2 } },
		    { 7, EVENT_OP_RECORD, 3, { MATMUL, UINT64_MAX / 2 + 1, UINT64_MAX / 2 } },
		    { 8, EVENT_STREAM_SLICE, 5, { 5, 5, MATMUL, UINT64_MAX / 2 + 1, UINT64_MAX / 2 } },
		    { 9, EVENT_ALLOC, 5, { UINT64_MAX, 5, UINT64_MAX, 5, UINT64_MAX } },
		    { 9, LOSS, 1, { UINT64_MAX } });
	make_block(&m, BLOCK_SAMPLES,
		   &(process_sample){ .time_ns = INT64_MIN, .user_ns = UINT64_MAX, .system_ns = UINT64_MAX, .pid = -1 },
		   sizeof(process_sample), 0);
	make_block(&m, BLOCK_PROCESS, "\xff\xff\xff\xff\xff\xff\xff\xffx", 9, 0);
	sonde_trace *t = make_trace(&m);
	for (size_t i = 0; i < 3; i++) {
		sonde_result *r = analyze(t, names[i]);
		FILE *out = fopen("/dev/null", "w");
		for (sonde_format format = SONDE_TEXT; format <= SONDE_CSV; format++)
			assert_int_equal(sonde_result_print(r, format, NULL, out, NULL), SONDE_OK);
		assert_int_equal(sonde_export(t, "chrome", out, NULL), SONDE_OK);
		fclose(out);
		sonde_result_free(r);
	}
	sonde_trace_free(t);
	make_done(&m);
}

static void a_summary_has_processes_and_facts(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	make_block(&m, BLOCK_META, "command\0./train --epochs 3\0exit\0with exit code 0", 49, 0);
	make_block(&m, BLOCK_PROCESS, "\x07\0\0\0\1\0\0\0train", 13, 0);
	make_block(&m, BLOCK_SAMPLES,
		   (const process_sample[]){ { .pid = 7, .rss_bytes = 500, .n_threads = 9, .user_ns = 1 },
					     { .pid = 7,
					       .rss_bytes = 300,
					       .n_threads = 2,
					       .user_ns = 5,
					       .system_ns = 6,
					       .peak_rss_bytes = 700 } },
		   2 * sizeof(process_sample), 0);
	MAKE_EVENTS(&m, 1, { 500, EVENT_META, 4, { 5, make_text("model"), 6, make_text("resnet") } });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "summary");
	assert_string_equal(note_of(r, "model"), "resnet");
	assert_string_equal(note_of(r, "ended"), "with exit code 0");
	assert_non_null(strstr(r->headline, "./train --epochs 3"));
	const table *processes = NULL;
	for (const table *each = r->tables; each; each = each->next)
		if (strcmp(each->key, "processes") == 0)
			processes = each;
	assert_non_null(processes);
	assert_int_equal(processes->n_rows, 2); /* and the process that recorded */
	assert_int_equal(processes->cells[0].integer, 7);
	assert_string_equal(processes->cells[1].string, "train");
	assert_int_equal(processes->cells[2].integer, 11);
	assert_int_equal(processes->cells[3].count, 700);
	assert_int_equal(processes->cells[4].count, 9);
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void every_kind_of_block_is_listed(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	for (unsigned kind = BLOCK_STREAM; kind < BLOCK_KINDS; kind++)
		make_block(&m, kind, "", 0, 0);
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "info");
	const table *blocks = r->tables;
	while (blocks && strcmp(blocks->key, "blocks") != 0)
		blocks = blocks->next;
	assert_non_null(blocks);
	assert_int_equal(blocks->n_rows, BLOCK_KINDS - 1);
	assert_string_equal(blocks->cells[(BLOCK_SAMPLES - 1) * blocks->n_columns].string, "samples");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

/* A program without libsonde-rt: what is known of it, and nothing of what is not. */
static void a_program_that_names_nothing_is_told_by_what_it_used(void **state)
{
	const process_sample samples[] = {
		{ .pid = 7, .rss_bytes = 500, .n_threads = 1, .user_ns = 5, .read_bytes = 3, .write_bytes = 4 },
		{ .pid = 7, .n_threads = 1, .user_ns = 5, .read_bytes = UINT64_MAX, .write_bytes = UINT64_MAX },
		{ .pid = 8, .n_threads = 1, .read_bytes = UINT64_MAX, .write_bytes = UINT64_MAX },
	};
	maker m = { 0 };

	(void)state;
	make_start(&m);
	m.info.role = ROLE_OBSERVER;
	make_totals(&m);
	make_block(&m, BLOCK_META, "command\0gzip", 13, 0);
	make_block(&m, BLOCK_PROCESS, "\x07\0\0\0\1\0\0\0gzip", 12, 0);
	make_block(&m, BLOCK_PROCESS, "\x08\0\0\0\1\0\0\0true", 12, 0);
	make_block(&m, BLOCK_SAMPLES, samples, sizeof samples, 0);
	sonde_trace *t = make_trace(&m);
	sonde_result *r = analyze(t, "report");
	assert_null(strstr(r->headline, "thread"));
	assert_string_equal(r->tables->key, "names");
	assert_int_equal(r->tables->n_shown, 0);
	const table *processes = r->tables->next;
	assert_string_equal(processes->key, "processes");
	assert_int_equal(processes->n_rows, 2);
	const cell *gzip = processes->cells, *quick = gzip + processes->n_columns;
	assert_int_equal(gzip[2].integer, 5);
	assert_int_equal(gzip[3].count, 500);
	assert_int_equal(gzip[7].count, 3); /* a zombie does not tell any more */
	assert_int_equal(gzip[8].count, 4);
	static const size_t unknown[] = { 2, 3, 7, 8 };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(quick[unknown[i]].type, CELL_UNKNOWN);
	assert_null(strstr(note_of(r, "note"), "sonde summary"));
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_recording_has_nothing_lost),
		cmocka_unit_test(what_was_lost_on_the_way_adds_up),
		cmocka_unit_test(what_was_repaired_is_counted),
		cmocka_unit_test(damage_is_counted_with_its_place),
		cmocka_unit_test(what_cannot_be_known_is_unknown),
		cmocka_unit_test(every_analysis_and_format_has_a_name_and_a_sentence),
		cmocka_unit_test(hostile_numbers_do_no_harm),
		cmocka_unit_test(every_kind_of_block_is_listed),
		cmocka_unit_test(a_summary_has_processes_and_facts),
		cmocka_unit_test(a_program_that_names_nothing_is_told_by_what_it_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
