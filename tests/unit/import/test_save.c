/* Saving a trace in its indexed form: of an import, of a recording, and of one that is damaged. */
#include <sonde/analyze.h>
#include "store/trace.h"
#include "unit/store/compare_index.h"
#include "unit/import/recording/make_file.h"
#include "unit/store/temp_dir.h"

static const char json[] = "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"n\": 5}},"
			   "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":3,\"args\":{\"v\": 1.5}}]";

static sonde_trace *open_path(const char *path)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open(path, &t, &err))
		fail_msg("%s: %s", path, err.message);
	return t;
}

static void an_import_comes_back_from_its_file(void **state)
{
	const char *from = temp_path("a.json"), *to = temp_path("a.sonde");
	char why[512] = "";

	(void)state;
	temp_write(from, json, sizeof json - 1);
	sonde_trace *t = open_path(from);
	assert_int_equal(sonde_trace_save(t, to, NULL), SONDE_OK);
	sonde_trace *again = open_path(to);
	if (!index_same(t->index, again->index, why, sizeof why))
		fail_msg("%s", why);
	sonde_trace_free(again);
	sonde_trace_free(t);
	temp_clear();
}

static void a_recording_is_indexed_on_the_way(void **state)
{
	const char *to = temp_path("r.sonde");
	maker m = { 0 };
	size_t n;

	(void)state;
	make_start(&m);
	make_name(&m, 40, NAME_SCOPE, "a");
	MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 }, { 30, 40 }, { 40, END | 40 });
	sonde_trace *t = make_trace(&m);
	assert_int_equal(sonde_trace_save(t, to, NULL), SONDE_OK);
	sonde_trace *again = open_path(to);
	assert_null(again->recording);
	assert_true(again->is_recorded);
	index_lanes(again->index, &n);
	assert_true(n >= 1);
	sonde_trace_free(again);
	sonde_trace_free(t);
	make_done(&m);
	temp_clear();
}

static void saving_again_gives_the_same_bytes(void **state)
{
	const char *from = temp_path("a.json"), *first = temp_path("1.sonde"), *second = temp_path("2.sonde");
	size_t len[2];

	(void)state;
	temp_write(from, json, sizeof json - 1);
	sonde_trace *t = open_path(from);
	assert_int_equal(sonde_trace_save(t, first, NULL), SONDE_OK);
	sonde_trace_free(t);
	t = open_path(first);
	assert_int_equal(sonde_trace_save(t, second, NULL), SONDE_OK);
	sonde_trace_free(t);
	uint8_t *a = temp_read(first, &len[0]), *b = temp_read(second, &len[1]);
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(a, b, len[0]);
	free(a);
	free(b);
	temp_clear();
}

static void the_error_names_the_file_that_cannot_be_written(void **state)
{
	const char *from = temp_path("a.json");
	sonde_error err = { .message = "" };

	(void)state;
	temp_write(from, json, sizeof json - 1);
	sonde_trace *t = open_path(from);
	size_t n_files = temp_count();
	assert_int_equal(sonde_trace_save(t, "/no/such/x.sonde", &err), SONDE_E_IO);
	assert_string_equal(err.message, "/no/such/x.sonde: cannot write: No such file or directory");
	assert_int_equal(temp_count(), n_files);
	sonde_trace_free(t);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_import_comes_back_from_its_file),
		cmocka_unit_test(a_recording_is_indexed_on_the_way),
		cmocka_unit_test(saving_again_gives_the_same_bytes),
		cmocka_unit_test(the_error_names_the_file_that_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
