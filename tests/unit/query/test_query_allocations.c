/* Every allocation fails once, SQLite's among them, while traces are asked: no crash, no leak, and either
   SONDE_E_MEMORY or a whole answer. */
#include "small_trace.h"

#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer has its own malloc\n");
	return 77;
}

#else

#include "query/table.h"
#include "unit/failing_malloc.h"

static sonde_index *trace;
static const char *sql;

static sonde_status ask(sonde_error *err)
{
	sonde_query *q = NULL;
	sonde_status status = query_open_index(trace, NULL, &q, err);
	size_t at = 0;
	bool is_row = true;

	while (!status && !(status = sonde_query_prepare(q, sql, &at, err)) && sonde_query_is_ready(q))
		for (is_row = true; is_row && !status;)
			status = sonde_query_step(q, &is_row, err);
	sonde_query_free(q);
	return status;
}

static void every_allocation_may_fail(void **state)
{
	static const char *const questions[] = {
		"select * from slices where name like 'a%' and track in (0, 1) and class != 'x'",
		"select name, sum(dur), count(self), max(args) from kernels group by name",
		"select track_name, name, count(*) from slices group by track_name, name",
		"select * from args; select value from args where slice = 1 and key = 'ab'",
		"select * from kernels join launches on kernel = id",
		"select * from instants; select * from flows; select * from counter_values where counter = 0",
		"create temp table t as select * from steps; select count(*) from t, tracks, meta, diagnostics",
	};

	(void)state;
	trace = small_trace();
	sql = "";
	uint64_t n_open = count_allocations(ask);
	fail_each_allocation("open", ask, 1);
	for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
		sql = questions[i];
		fail_each_allocation(sql, ask, n_open);
	}
	index_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
