/* The files of a trace into one builder: text, index and recording side by side, with what is known of each. */
#include "store/index/facts.h"
#include "unit/import/recording/make_file.h"

#define EVENT(name) "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1}"
#define RANK(n, events) "{\"distributedInfo\": {\"rank\": " #n "}, \"traceEvents\": [" events "]}"

static const char *write_json(const char *name, const char *text)
{
	const char *path = temp_path(name);

	temp_write(path, text, strlen(text));
	return path;
}

static const char *write_index(const char *name, const char *text)
{
	const char *from = write_json("from.json", text), *path = temp_path(name);
	sonde_trace *t = NULL;

	assert_int_equal(sonde_trace_open(from, &t, NULL), SONDE_OK);
	assert_int_equal(sonde_trace_save(t, path, NULL), SONDE_OK);
	sonde_trace_free(t);
	unlink(from);
	return path;
}

static const char *write_recording(const char *name)
{
	const char *path = temp_path(name);
	maker m = { 0 };

	make_start(&m);
	make_name(&m, 40, NAME_SCOPE, "recorded");
	MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 });
	make_totals(&m);
	make_save(&m, path);
	make_done(&m);
	return path;
}

static sonde_trace *open_all(const char *const *paths, size_t n)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open_files(paths, n, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static bool has_site(const sonde_trace *t, const char *name)
{
	size_t n;
	const index_site *sites = index_sites(t->index, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(t->index, sites[i].name), name) == 0)
			return true;
	return false;
}

/* "0:a.json 2:b.json", in the order of the ranks' files. */
static void expect_ranks(const sonde_trace *t, const char *wanted)
{
	char text[512] = "";
	size_t len = 0;
	const char *file;
	int32_t rank;

	for (size_t i = 0; sonde_trace_rank(t, i, &rank, &file); i++) {
		const char *slash = strrchr(file, '/');
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d:%s", len ? " " : "", (int)rank,
					slash ? slash + 1 : file);
	}
	assert_string_equal(text, wanted);
}

static void text_index_and_recording_become_one_trace(void **state)
{
	const char *paths[] = { write_json("a.json", RANK(0, EVENT("text"))),
				write_index("b.sonde", RANK(1, EVENT("index"))), write_recording("c.sonde") };
	sonde_trace *t = open_all(paths, 3);
	sonde_trace_facts f = { .struct_size = sizeof f };

	(void)state;
	assert_true(has_site(t, "text") && has_site(t, "index") && has_site(t, "recorded"));
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 1 + 1 + 2);
	sonde_trace_free(t);
	temp_clear();
}

static void each_file_is_the_rank_it_says(void **state)
{
	const char *paths[] = { write_json("x.json", RANK(2, EVENT("a"))), write_index("y.sonde", RANK(0, EVENT("b"))),
				write_json("z.json", "[" EVENT("c") "]") };
	sonde_trace *t = open_all(paths, 3);

	(void)state;
	/* The one that says nothing gets the first that is free. An index keeps the name it was made from. */
	expect_ranks(t, "2:x.json 0:from.json 1:z.json");
	sonde_trace_free(t);
	temp_clear();
}

static void an_index_of_several_ranks_brings_them_all(void **state)
{
	const char *first[] = { write_json("r0.json", RANK(0, EVENT("a"))),
				write_json("r1.json", RANK(1, EVENT("b"))) };
	const char *merged = temp_path("merged.sonde");
	sonde_trace *t = open_all(first, 2);

	(void)state;
	assert_int_equal(sonde_trace_save(t, merged, NULL), SONDE_OK);
	sonde_trace_free(t);
	const char *paths[] = { merged, write_json("r2.json", RANK(2, EVENT("c"))) };
	t = open_all(paths, 2);
	expect_ranks(t, "0:r0.json 1:r1.json 2:r2.json");
	sonde_trace_facts f = { .struct_size = sizeof f };
	sonde_trace_get_facts(t, &f);
	assert_int_equal(f.n_events, 3);
	sonde_trace_free(t);
	temp_clear();
}

static void a_part_that_fails_names_its_file(void **state)
{
	const char *paths[] = { write_json("a.json", RANK(0, EVENT("a"))),
				write_json("b.json", "{\"traceEvents\": 7}") };
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	(void)state;
	assert_int_not_equal(sonde_trace_open_files(paths, 2, &t, &err), SONDE_OK);
	assert_non_null(strstr(err.message, "b.json"));
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_index_and_recording_become_one_trace),
		cmocka_unit_test(each_file_is_the_rank_it_says),
		cmocka_unit_test(an_index_of_several_ranks_brings_them_all),
		cmocka_unit_test(a_part_that_fails_names_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
