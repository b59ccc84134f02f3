/* What a trace holds, in numbers, and where its ranks came from. */
#include "unit/import/recording/make_file.h"
#include "unit/store/temp_dir.h"

static sonde_trace *open_json(const char *const *texts, size_t n)
{
	const char *paths[4];
	char name[32];
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "f%zu.json", i);
		paths[i] = temp_path(name);
		temp_write(paths[i], texts[i], strlen(texts[i]));
	}
	if (sonde_trace_open_files(paths, n, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

#define EVENT "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1}"

static void an_import_knows_events_repairs_losses_and_bytes(void **state)
{
	static const char *const texts[] = { "[" EVENT ",{\"ph\":\"B\",\"name\":\"b\",\"ts\":1},"
					     "{\"ph\":\"E\",\"name\":\"z\",\"ts\":2},{\"ph\":\"?\"}]" };
	sonde_trace *t = open_json(texts, 1);
	sonde_trace_facts f = { .struct_size = sizeof f };

	(void)state;
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 4);
	assert_int_equal(f.n_repaired, 1); /* b has no end */
	assert_int_equal(f.n_lost, 2);	   /* z has no begin, ? is no phase */
	assert_int_equal(f.n_bytes, strlen(texts[0]));
	sonde_trace_free(t);
}

static void facts_of_several_files_are_added_up(void **state)
{
	static const char *const texts[] = {
		"{\"distributedInfo\": {\"rank\": 4}, \"traceEvents\": [" EVENT "]}",
		"{\"distributedInfo\": {\"rank\": 2}, \"traceEvents\": [" EVENT "," EVENT "]}",
	};
	sonde_trace *t = open_json(texts, 2);
	sonde_trace_facts f = { .struct_size = sizeof f };
	bool seen[5] = { false };
	const char *file;
	int32_t rank;
	size_t n = 0;

	(void)state;
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 3);
	assert_int_equal(f.n_lost + f.n_repaired, 0);
	assert_int_equal(f.n_bytes, strlen(texts[0]) + strlen(texts[1]));
	for (; sonde_trace_rank(t, n, &rank, &file); n++) {
		assert_in_range(rank, 0, 4);
		seen[rank] = true;
		assert_non_null(strstr(file, rank == 4 ? "f0.json" : "f1.json"));
	}
	assert_int_equal(n, 2);
	assert_true(seen[2] && seen[4]);
	sonde_trace_free(t);
}

static void a_recording_counts_what_it_kept(void **state)
{
	maker m = { 0 };
	sonde_trace_facts f = { .struct_size = sizeof f };
	const char *file;
	int32_t rank;

	(void)state;
	make_start(&m);
	make_name(&m, 40, NAME_SCOPE, "a");
	MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 });
	sonde_trace *t = make_trace(&m);
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 2);
	assert_int_equal(f.n_lost, 0);
	assert_int_equal(f.n_bytes, 0);
	assert_false(sonde_trace_rank(t, 0, &rank, &file));
	sonde_trace_free(t);
	make_done(&m);
}

static void an_older_program_gets_what_it_knows(void **state)
{
	static const char *const texts[] = { "[" EVENT "]" };
	sonde_trace *t = open_json(texts, 1);
	sonde_trace_facts f = { .struct_size = offsetof(sonde_trace_facts, n_lost), .n_lost = 77, .n_bytes = 88 };

	(void)state;
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 1);
	assert_true(f.n_lost == 77 && f.n_bytes == 88);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_import_knows_events_repairs_losses_and_bytes),
		cmocka_unit_test(facts_of_several_files_are_added_up),
		cmocka_unit_test(a_recording_counts_what_it_kept),
		cmocka_unit_test(an_older_program_gets_what_it_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
