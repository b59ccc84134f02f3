/* A recording is prepared for queries once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/index/index.h"
#include "store/trace.h"
#include <sonde/query.h>

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
	(void)context, (void)done, (void)total;
	return false;
}

static void a_recording_gets_its_index_once(void **state)
{
	const char *source = getenv("SOURCE");
	char path[4096];
	sonde_trace *t = NULL;
	sonde_query *q = NULL;
	sonde_error err = { 0 };

	(void)state;
	snprintf(path, sizeof path, "%s/fuzz/seeds/file/train.sonde", source ? source : ".");
	if (sonde_trace_open(path, &t, &err))
		fail_msg("%s", err.message);
	assert_int_equal(sonde_query_open(t, NULL, &q, &err), SONDE_E_STATE);
	sonde_open_options stop = { .struct_size = sizeof stop, .progress = stop_at_once };
	assert_int_equal(sonde_trace_prepare(t, &stop, &err), SONDE_E_STATE);
	assert_null(t->index);
	assert_int_equal(sonde_trace_prepare(t, NULL, &err), SONDE_OK);
	const sonde_index *ix = t->index;
	assert_true(index_n_slices(ix) > 0);
	assert_int_equal(sonde_trace_prepare(t, &stop, &err), SONDE_OK);
	assert_ptr_equal(t->index, ix);
	assert_int_equal(sonde_query_open(t, NULL, &q, &err), SONDE_OK);
	sonde_query_free(q);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_gets_its_index_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
