/* Directories, natural order, and ranks in names. */
#include <sys/stat.h>
#include "unit/store/temp_dir.h"

#include "import/files.h"

static void names_are_ordered_as_people_do(void **state)
{
	static const char *const sorted[] = { "",	 "a",	  "rank",    "rank0",	  "rank01",
					      "rank1",	 "rank2", "rank010", "rank10.gz", "rank10.h",
					      "rank10a", "rankA", "s",	     "\xc3\xa4" };
	enum { N = sizeof sorted / sizeof sorted[0] };

	(void)state;
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < N; k++) {
			int order = files_compare(sorted[i], sorted[k]);
			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
	assert_true(files_compare("99999999999999999999998", "99999999999999999999999") < 0);
}

static void ranks_are_found_in_names(void **state)
{
	static const struct {
		const char *path;
		int32_t rank, strictly;
	} cases[] = {
		{ "rank3.json", 3, 3 },
		{ "rank_3.json.gz", 3, 3 },
		{ "run/RANK-12.pt.trace.json", 12, 12 },
		{ "run/rank0/trace.json", 0, 0 },
		{ "rank1/trace_rank2_of_8.json", 2, 2 },
		{ "trace.rank=7.json.zst", 7, 7 },
		{ "r3.json", 3, -1 },
		{ "run-r3-b.json", 3, -1 },
		{ "bar3.json", 3, -1 },
		{ "bar3b.json", -1, -1 },
		{ "trace-3.json", 3, -1 },
		{ "trace_00012.pt.trace.json.gz", 12, -1 },
		{ "worker7.sonde", 7, -1 },
		{ "host_4711.1676330130000.pt.trace.json", -1, -1 },
		{ "rank1676330130000.json", -1, -1 },
		{ "trace.json", -1, -1 },
		{ "step100/trace.json", -1, -1 },
		{ "rank.json", -1, -1 },
		{ "franklin.json", -1, -1 },
		{ "rank", -1, -1 },
		{ "-", -1, -1 },
		{ "", -1, -1 },
		{ "trace.2024", 2024, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(files_rank(cases[i].path, false), cases[i].rank);
		assert_int_equal(files_rank(cases[i].path, true), cases[i].strictly);
	}
}

static void stems_have_no_endings(void **state)
{
	static const struct {
		const char *path;
		size_t len;
	} cases[] = { { "a.json", 1 },	{ "a.json.gz", 1 }, { "x/a.b.json.zst", 5 },
		      { "a.sonde", 1 }, { "a.JSON.GZ", 1 }, { "a.gz", 1 },
		      { "a", 1 },	{ ".json", 5 },	    { "dir.json/trace", 14 },
		      { "", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(files_stem(cases[i].path), cases[i].len);
}

static void make(const char *name)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s", temp_path("dir"), name);
	temp_write(path, "[]", 2);
}

/* temp_dir.h clears one level. */
static void remove_all(void)
{
	DIR *dir = opendir(temp_path("dir"));
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, strcmp(entry->d_name, "deeper.json") == 0 ? AT_REMOVEDIR : 0);
	closedir(dir);
	assert_int_equal(rmdir(temp_path("dir")), 0);
}

static void a_directory_is_the_traces_in_it(void **state)
{
	const char *paths[] = { "first.json", temp_path("dir"), "last" };
	static const char *const want[] = { "rank2.json", "rank10.json.gz", "rank11.json.zst" };
	char path[600], expected[700];
	file_list files;
	sonde_error err;

	(void)state;
	assert_int_equal(mkdir(temp_path("dir"), 0700), 0);
	assert_int_equal(files_expand(paths, 3, &files, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s: no trace in this directory", temp_path("dir"));
	assert_memory_equal(err.message, expected, strlen(expected));

	make("b.sonde");
	make("a.sonde");
	make("notes.txt");
	make(".hidden.json");
	snprintf(path, sizeof path, "%s/deeper.json", temp_path("dir"));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(files_expand(paths, 3, &files, &err), SONDE_OK);
	assert_int_equal(files.n, 4);
	assert_string_equal(files.items[0], "first.json");
	assert_non_null(strstr(files.items[1], "/dir/a.sonde"));
	assert_non_null(strstr(files.items[2], "/dir/b.sonde"));
	assert_string_equal(files.items[3], "last");
	files_done(&files);

	for (size_t i = 0; i < 3; i++)
		make(want[2 - i]);
	snprintf(path, sizeof path, "%s/", temp_path("dir"));
	paths[0] = path;
	assert_int_equal(files_expand(paths, 1, &files, &err), SONDE_OK);
	assert_int_equal(files.n, 3);
	for (size_t i = 0; i < 3; i++) {
		snprintf(expected, sizeof expected, "%s/%s", temp_path("dir"), want[i]);
		assert_string_equal(files.items[i], expected);
	}
	files_done(&files);
	remove_all();
}

static void recordings_beside_other_traces_are_told(void **state)
{
	file_list files;
	sonde_error err;

	(void)state;
	assert_int_equal(files_left_out(temp_path("no such"), &files, &err), SONDE_OK);
	assert_int_equal(files.n, 0);
	assert_int_equal(mkdir(temp_path("dir"), 0700), 0);
	make("run10.sonde");
	make("run9.sonde");
	make("a.sonde");
	assert_int_equal(files_left_out(temp_path("dir"), &files, &err), SONDE_OK);
	assert_int_equal(files.n, 0);
	files_done(&files);

	make("a.json.gz");
	assert_int_equal(files_left_out(temp_path("dir"), &files, &err), SONDE_OK);
	assert_int_equal(files.n, 2);
	assert_non_null(strstr(files.items[0], "/dir/run9.sonde"));
	assert_non_null(strstr(files.items[1], "/dir/run10.sonde"));
	files_done(&files);
	remove_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_ordered_as_people_do),
		cmocka_unit_test(ranks_are_found_in_names),
		cmocka_unit_test(stems_have_no_endings),
		cmocka_unit_test(a_directory_is_the_traces_in_it),
		cmocka_unit_test(recordings_beside_other_traces_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
