/* Several ranks in one file, as our own export writes them: processes, arrows and metadata go back to their ranks. */
#include "store/trace.h"
#include "unit/import/packed.h"

static sonde_trace *open_text(const char *text)
{
	const char *path = temp_path("ranks.json");
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	temp_write(path, text, strlen(text));
	if (sonde_trace_open(path, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

#define RANK(process, rank, pid, flows)                                                                                \
	"{\"ph\":\"M\",\"name\":\"sonde_rank\",\"pid\":" #process ",\"args\":{\"rank\":" #rank ",\"pid\":" #pid        \
	",\"flows\":" #flows "}},"
#define SLICE(pid, name) "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":2,\"ts\":1,\"dur\":9}"
#define ARROW(pid, id) ",{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":" #id ",\"pid\":" #pid ",\"tid\":2,\"ts\":2}"

/* "1:0 9:3": pid and rank of each process that has events. */
static void expect_processes(const sonde_trace *t, const char *wanted)
{
	char text[256] = "";
	size_t n, len = 0;
	const index_process *processes = index_processes(t->index, &n);

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d:%d", len ? " " : "", (int)processes[i].pid,
					(int)processes[i].rank);
	assert_string_equal(text, wanted);
}

static void processes_get_their_own_ids_and_ranks_back(void **state)
{
	sonde_trace *t = open_text("[" RANK(1, 0, 1, 0) RANK(900, 3, 1, 0) SLICE(1, "a") "," SLICE(900, "b") "]");

	(void)state;
	expect_processes(t, "1:0 1:3");
	sonde_trace_free(t);
}

static void arrows_get_their_own_ids_back(void **state)
{
	sonde_trace *t = open_text("[" RANK(1, 0, 1, 0) RANK(900, 1, 1, 10) SLICE(1, "a") "," SLICE(900, "b")
					   ARROW(1, 5) ARROW(900, 19) "]");
	table_cursor *cursor = malloc(sizeof *cursor);
	int64_t row[COLUMNS_MAX];
	bool seen5 = false, seen9 = false;

	(void)state;
	assert_non_null(cursor);
	table_first(cursor, t->index, SECTION_FLOWS, 0);
	while (table_next(cursor, row)) {
		seen5 |= row[FLOW_ID] == 5;
		seen9 |= row[FLOW_ID] == 9;
		assert_int_not_equal(row[FLOW_ID], 19);
	}
	assert_true(seen5 && seen9);
	free(cursor);
	sonde_trace_free(t);
}

static void what_each_rank_said_goes_back_to_it(void **state)
{
	sonde_trace *t = open_text("{\"sonde_ranks\": {\"0\": {\"k\": 1}, \"3\": {\"k\": 2}, \"x\": {\"k\": 3}}, "
				   "\"traceEvents\": [" RANK(1, 0, 1, 0) RANK(900, 3, 1, 0)
					   SLICE(1, "a") "," SLICE(900, "b") "]}");
	size_t n, n_found = 0;
	const index_meta *metas = index_metas(t->index, &n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(index_text(t->index, metas[i].key), "k") != 0)
			continue;
		assert_string_equal(index_text(t->index, metas[i].value), metas[i].rank == 0 ? "1" : "2");
		n_found++;
	}
	assert_int_equal(n_found, 2); /* "x" is no rank */
	sonde_trace_free(t);
}

static void a_rank_that_makes_no_sense_is_left_alone(void **state)
{
	static const struct {
		const char *text, *processes;
	} cases[] = {
		{ "[" RANK(1, -2, 1, 0) SLICE(1, "a") "]", "1:-1" },
		{ "[" RANK(1, 99999999999, 1, 0) SLICE(1, "a") "]", "1:-1" },
		{ "[{\"ph\":\"M\",\"name\":\"sonde_rank\",\"pid\":1,\"args\":{\"rank\":3}}," SLICE(1, "a") "]",
		  "1:-1" },
		/* The first one counts. */
		{ "[" RANK(1, 3, 8, 0) RANK(1, 4, 9, 0) SLICE(1, "a") "]", "8:3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_trace *t = open_text(cases[i].text);
		expect_processes(t, cases[i].processes);
		sonde_trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_get_their_own_ids_and_ranks_back),
		cmocka_unit_test(arrows_get_their_own_ids_back),
		cmocka_unit_test(what_each_rank_said_goes_back_to_it),
		cmocka_unit_test(a_rank_that_makes_no_sense_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
