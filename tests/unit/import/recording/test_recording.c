/* Opening traces: names, threads, clocks and files put together. */
#include <sonde/record.h>
#include "unit/import/recording/make_file.h"

static void names_have_their_categories(void **state)
{
	static const struct {
		uint16_t id, category;
		uint8_t kind;
		const char *expected;
	} cases[] = {
		{ 40, SONDE_OTHER, NAME_SCOPE, "other" },
		{ 41, SONDE_COMPUTE, NAME_OP, "compute" },
		{ 42, SONDE_MEMORY, NAME_OP, "memory" },
		{ 43, SONDE_DATA_LOAD, NAME_OP, "data-load" },
		{ 44, SONDE_SYNC, NAME_OP, "sync" },
		{ 45, SONDE_COMMUNICATION, NAME_OP, "communication" },
		{ 46, 90, NAME_OP, "storage" },	  /* one of the program's own */
		{ 47, 31, NAME_OP, "other" },	  /* of a later version */
		{ 48, 999, NAME_OP, "other" },	  /* never explained */
		{ 49, 90, NAME_STREAM, "other" }, /* the id of a device, no category */
	};
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_name(&m, 90, NAME_CATEGORY, "storage");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		make_name_of(&m, &(name_parts){ .id = cases[i].id,
						.kind = cases[i].kind,
						.category = cases[i].category,
						.name = "n",
						.name_len = 1 });
	recording *t = make_recording(&m);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const trace_site *site = recording_site_of(&t->streams.items[0], cases[i].id);
		assert_non_null(site);
		assert_string_equal(recording_text(t, site->category), cases[i].expected);
	}
	recording_free(t);
	make_done(&m);
}

static void devices_have_names(void **state)
{
	static const struct {
		uint32_t device;
		const char *name;
	} cases[] = { { SONDE_CPU, "cpu" }, { SONDE_GPU(0), "gpu0" }, { SONDE_GPU(7), "gpu7" },
		      { 40, "npu0" },	    { 41, "device41" },	      { UINT32_MAX, "device4294967295" } };
	maker m = { 0 };
	char buffer[32];

	(void)state;
	make_start(&m);
	make_name(&m, 40, NAME_DEVICE, "npu0");
	recording *t = make_recording(&m);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(recording_device_name(t, 0, cases[i].device, buffer, sizeof buffer), cases[i].name);
	recording_free(t);
	make_done(&m);
}

static void threads_have_the_names_that_the_file_gives_them(void **state)
{
	static const char meta[] = "thread.2\0loader\0thread.9\0nobody\0thread.x\0wrong\0model\0resnet\0odd\0end";
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_block(&m, BLOCK_META, meta, sizeof meta - 1, 0);
	for (uint32_t thread = 1; thread <= 3; thread++)
		MAKE_EVENTS(&m, thread, { 10, 40 });
	recording *t = make_recording(&m);
	assert_int_equal(t->threads.n, 3);
	assert_string_equal(t->threads.items[0].name, "");
	assert_string_equal(t->threads.items[1].name, "loader");
	assert_int_equal(t->threads.items[1].tid, 102);
	assert_string_equal(t->threads.items[2].name, "");
	assert_int_equal(t->streams.items[0].meta.n, 4); /* the last one is cut off */
	assert_string_equal(t->streams.items[0].meta.items[3].value, "resnet");
	recording_free(t);
	make_done(&m);
}

static void blocks_are_put_in_order_and_repeated_ones_dropped(void **state)
{
	static const made_event two[] = { { 10, 40 }, { 20, END | 40 } },
				four[] = { { 10, 40 }, { 20, END | 40 }, { 30, 40 }, { 40, END | 40 } };
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_events_at(&m, 2, 4, two, 2);
	make_events_at(&m, 1, 0, two, 2);
	make_events_at(&m, 2, 0, two, 2);
	make_events_at(&m, 2, 0, four, 4); /* as a ring has it: from the same word on, and longer */
	make_events_at(&m, 2, 4, two, 2);  /* once more */
	make_events_at(&m, 2, 2, two, 2);
	recording *t = make_recording(&m);
	assert_int_equal(t->blocks.n, 3);
	assert_int_equal(t->blocks.items[0].head.thread, 1);
	assert_int_equal(t->blocks.items[1].head.n_words, 4);
	assert_int_equal(t->blocks.items[2].head.first_word, 4);
	assert_int_equal(t->diagnostics.n_kept, 8);
	recording_free(t);
	make_done(&m);
}

static void the_span_is_that_of_the_streams_or_of_their_events(void **state)
{
	static const struct {
		const char *what;
		bool has_info;
		int64_t start_ns, end_ns;
		int64_t expected_start, expected_end;
	} cases[] = {
		{ "closed", true, 5, 1000, 5, 1000 },
		{ "killed", true, 5, 0, 5, 70 },
		{ "without its first block", false, 0, 0, 10, 70 },
		{ "ends before it starts", true, 5000, 1, 5000, 5000 },
		{ "hostile", true, INT64_MIN, INT64_MAX, -TRACE_NS_MAX, TRACE_NS_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		maker m = { 0 };
		make_start(&m);
		stream_block info = m.info;
		info.start_ns = cases[i].start_ns;
		info.end_ns = cases[i].end_ns;
		if (cases[i].has_info)
			make_stream(&m, &info);
		else
			memset(m.bytes, 0, sizeof(block_header));
		MAKE_EVENTS(&m, 1, { 10, 40 }, { 60, END | 40 });
		MAKE_EVENTS(&m, 2, { 20, 40 });
		MAKE_EVENTS(&m, 2, { 70, END | 40 });
		recording *t = make_recording(&m);
		if (t->start_ns != cases[i].expected_start || t->end_ns != cases[i].expected_end)
			fail_msg("%s: %lld..%lld", cases[i].what, (long long)t->start_ns, (long long)t->end_ns);
		recording_free(t);
		make_done(&m);
	}
}

/* Its header, written at the end, still says when the program ended. */
static void what_is_left_of_a_cut_file_begins_with_the_stream_and_ends_with_its_last_event_or_pair(void **state)
{
	static const clock_pair pairs[] = { { 5000, 1000000, 9 }, { 7000, 1001000, 9 } };
	static const struct {
		size_t n_pairs;
		int64_t event_ns, end_ns;
	} cases[] = {
		{ 0, 1000000, 1000100 }, /* a tick is taken for a nanosecond: nobody knows better */
		{ 2, 1000000, 1001000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		maker m = { .stream = MAKE_STREAM };
		size_t hint = 0;
		make_stream(&m, &(stream_block){ .state = STREAM_CLOSED,
						 .clock = CLOCK_TSC,
						 .start_ns = 1000000,
						 .end_ns = 9000000,
						 .n_events = 50 });
		if (cases[i].n_pairs)
			make_clock(&m, pairs, cases[i].n_pairs);
		MAKE_EVENTS(&m, 1, { 5060, 40 }, { 5100, END | 40 });
		MAKE_EVENTS(&m, 2, { 5000, 40 });
		recording *t = make_recording(&m);
		assert_int_equal(clock_map_ns(&t->streams.items[0], 5000, &hint), cases[i].event_ns);
		assert_int_equal(t->start_ns, 1000000);
		assert_int_equal(t->end_ns, cases[i].end_ns);
		recording_free(t);
		make_done(&m);
	}
}

static void losses_add_up_over_streams(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	for (uint64_t i = 1; i <= 2; i++) {
		stream_block info = m.info;
		m.stream = i;
		info.n_lost_full = 1 * i;
		info.n_lost_overwritten = 10 * i;
		info.n_lost_signal = 100 * i;
		info.n_lost_io = 1000 * i;
		info.n_names_refused = 10000 * i;
		info.state = i == 1 ? STREAM_CLOSED : STREAM_RECOVERED;
		make_stream(&m, &info);
	}
	recording *t = make_recording(&m);
	const recording_diagnostics *d = &t->diagnostics;
	assert_int_equal(d->n_lost_full, 3);
	assert_int_equal(d->n_lost_overwritten, 30);
	assert_int_equal(d->n_lost_signal, 300);
	assert_int_equal(d->n_lost_io, 3000);
	assert_int_equal(d->n_names_refused, 30000);
	assert_int_equal(d->n_unclosed_streams, 1);
	recording_free(t);
	make_done(&m);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void make_one(maker *m, uint64_t stream, stream_role role, stream_state state)
{
	make_start(m);
	m->stream = stream;
	stream_block info = m->info;
	info.role = role;
	info.state = state;
	make_stream(m, &info);
	make_name(m, 40, NAME_SCOPE, "forward");
	if (role == ROLE_PROGRAM)
		MAKE_EVENTS(m, 1, { 10, 40 }, { 20, END | 40 });
}

static void save_one(const char *path, uint64_t stream, stream_role role, stream_state state)
{
	maker m = { 0 };

	make_one(&m, stream, role, state);
	make_save(&m, path);
	make_done(&m);
}

static void several_files_make_one_trace(void **state)
{
	const char *paths[] = { temp_path("one.sonde"), temp_path("two.sonde"), temp_path("gone.sonde") };
	recording *t;
	sonde_error err;

	(void)state;
	save_one(paths[0], 1, ROLE_PROGRAM, STREAM_CLOSED);
	save_one(paths[1], 2, ROLE_PROGRAM, STREAM_CLOSED);
	const recording_source sources[] = { { .path = paths[0] }, { .path = paths[1] }, { .path = paths[2] } };
	assert_int_equal(recording_open(sources, 2, &t, &err), SONDE_OK);
	assert_int_equal(t->diagnostics.n_kept, 4);
	assert_int_equal(t->threads.n, 2);
	assert_int_equal(t->files.n, 2);
	recording_free(t);
	assert_int_equal(recording_open(sources, 3, &t, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "gone.sonde"));
	temp_clear();
}

static void a_pipe_is_read_like_a_file(void **state)
{
	maker m = { 0 };
	int ends[2], before = dup(STDIN_FILENO);
	sonde_trace *t;

	(void)state;
	make_one(&m, 1, ROLE_PROGRAM, STREAM_CLOSED);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], m.bytes, m.len), m.len);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	assert_int_equal(sonde_trace_open("-", &t, NULL), SONDE_OK);
	assert_int_equal(index_n_slices(t->index), 1);
	assert_null(t->files.items[0].path);
	sonde_trace_free(t);
	dup2(before, STDIN_FILENO);
	close(before);
	close(ends[0]);
	make_done(&m);
}

/* `sonde record` was killed: the parts of its processes lie beside its file. */
static void the_parts_of_a_killed_recorder_are_read_with_its_file(void **state)
{
	static const char *const names[] = { "run.sonde", "a[1]*?.sonde", "back\\slash.sonde" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[600], part[700];
		recording *t;
		snprintf(path, sizeof path, "%s", temp_path(names[i]));
		save_one(path, 9, ROLE_OBSERVER, STREAM_OPEN);
		for (unsigned k = 1; k <= 3; k++) {
			snprintf(part, sizeof part, "%s.part.%u", path, k);
			save_one(part, k, ROLE_PROGRAM, STREAM_CLOSED);
		}
		snprintf(part, sizeof part, "%s.part.4", path); /* killed before its first block */
		temp_write(part, "", 0);
		snprintf(part, sizeof part, "%s.part.5", path);
		temp_write(part, "no recording", 12);
		snprintf(part, sizeof part, "%s.part.1.ring", path);
		temp_write(part, "no recording", 12);
		assert_int_equal(recording_open_path(path, &t, NULL), SONDE_OK);
		assert_int_equal(t->diagnostics.n_kept, 6);
		recording_free(t);
		temp_clear();
	}
}

static void a_finished_recorder_has_no_parts_to_read(void **state)
{
	recording *t;

	(void)state;
	save_one(temp_path("run.sonde"), 9, ROLE_OBSERVER, STREAM_CLOSED);
	save_one(temp_path("run.sonde.part.1"), 1, ROLE_PROGRAM, STREAM_CLOSED);
	assert_int_equal(recording_open_path(temp_path("run.sonde"), &t, NULL), SONDE_OK);
	assert_int_equal(t->diagnostics.n_kept, 0);
	recording_free(t);
	temp_clear();
}

/* What was whole is not summed up again; what was not is still damaged when the file is opened on top of the last. */
static void damage_stays_damage_when_a_file_is_opened_again(void **state)
{
	maker m = { 0 };
	recording *first = NULL, *again = NULL;
	const char *path = temp_path("again.sonde");

	(void)state;
	make_start(&m);
	make_name(&m, 40, NAME_SCOPE, "forward");
	size_t at = m.len;
	MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 });
	MAKE_EVENTS(&m, 1, { 30, 40 }, { 40, END | 40 });
	for (int damaged = 0; damaged < 2; damaged++) {
		m.bytes[at + sizeof(block_header) + sizeof(events_head)] ^= damaged ? 255 : 0;
		make_save(&m, path);
		assert_int_equal(recording_open(&(recording_source){ .path = path }, 1, &first, NULL), 0);
		assert_int_equal(recording_open(&(recording_source){ .path = path, .before = first }, 1, &again, NULL),
				 0);
		assert_int_equal(first->diagnostics.n_damaged_blocks, damaged);
		assert_int_equal(again->diagnostics.n_damaged_blocks, damaged);
		assert_int_equal(again->diagnostics.n_kept, damaged ? 2 : 4);
		assert_int_equal(again->files.items[0].from, m.len);
		recording_free(first);
		recording_free(again);
	}
	make_done(&m);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_stays_damage_when_a_file_is_opened_again),
		cmocka_unit_test(names_have_their_categories),
		cmocka_unit_test(devices_have_names),
		cmocka_unit_test(threads_have_the_names_that_the_file_gives_them),
		cmocka_unit_test(blocks_are_put_in_order_and_repeated_ones_dropped),
		cmocka_unit_test(the_span_is_that_of_the_streams_or_of_their_events),
		cmocka_unit_test(
			what_is_left_of_a_cut_file_begins_with_the_stream_and_ends_with_its_last_event_or_pair),
		cmocka_unit_test(losses_add_up_over_streams),
		cmocka_unit_test(several_files_make_one_trace),
		cmocka_unit_test(a_pipe_is_read_like_a_file),
		cmocka_unit_test(the_parts_of_a_killed_recorder_are_read_with_its_file),
		cmocka_unit_test(a_finished_recorder_has_no_parts_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
