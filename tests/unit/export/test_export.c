/* Exports by format, settings and target; what is wrong with them is said before anything is written. */
#include <errno.h>
#include <sonde/export.h>
#include "store/trace.h"
#include "unit/store/compare_index.h"
#include "unit/store/temp_dir.h"

static const char json[] =
	"{\"traceEvents\": ["
	"{\"ph\":\"X\",\"name\":\"mm\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"n\": 5}},"
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"cat\":\"cpu_instant_event\",\"pid\":1,\"tid\":2,\"ts\":3,\"s\":\"t\","
	"\"args\":{\"Addr\": 16, \"Bytes\": 64, \"Device Type\": 0, \"Device Id\": -1}}]}";

static sonde_trace *open_trace(const char *path)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open(path, &t, &err))
		fail_msg("%s: %s", path, err.message);
	return t;
}

static sonde_trace *small_trace(void)
{
	const char *path = temp_path("small.json");

	temp_write(path, json, sizeof json - 1);
	return open_trace(path);
}

static sonde_export_options options_to(const char *target)
{
	return (sonde_export_options){ .struct_size = sizeof(sonde_export_options), .target = target };
}

/* What comes out of a stream. The caller frees it. */
static char *exported(const sonde_trace *t, sonde_export_options options)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	sonde_error err = { .message = "" };

	options.out = out;
	if (sonde_export_to(t, &options, &err))
		fail_msg("%s", err.message);
	fclose(out);
	return text;
}

static void a_file_is_compressed_by_its_name_and_opens_again(void **state)
{
	static const struct {
		const char *name, *first;
	} cases[] = { { "a.json", "{" }, { "a.json.gz", "\x1f\x8b" }, { "a.json.zst", "\x28\xb5\x2f\xfd" } };
	sonde_trace *t = small_trace();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *path = temp_path(cases[i].name);
		sonde_export_options options = options_to(path);
		char why[512] = "";
		size_t len;
		assert_int_equal(sonde_export_to(t, &options, NULL), SONDE_OK);
		uint8_t *bytes = temp_read(path, &len);
		assert_memory_equal(bytes, cases[i].first, strlen(cases[i].first));
		free(bytes);
		sonde_trace *again = open_trace(path);
		if (!index_same(t->index, again->index, why, sizeof why))
			fail_msg("%s: %s", path, why);
		sonde_trace_free(again);
		unlink(path);
	}
	sonde_trace_free(t);
}

static void the_name_compresses_also_what_goes_to_a_stream(void **state)
{
	sonde_trace *t = small_trace();
	char *plain = exported(t, options_to(NULL)), *packed = exported(t, options_to("x.json.gz"));

	(void)state;
	assert_int_equal(plain[0], '{');
	assert_memory_equal(packed, "\x1f\x8b", 2);
	assert_false(temp_exists("x.json.gz")); /* the stream is in its place */
	free(plain);
	free(packed);
	sonde_trace_free(t);
}

static void settings_change_what_is_written(void **state)
{
	sonde_trace *t = small_trace();
	sonde_export_options options = options_to(NULL);

	(void)state;
	char *text = exported(t, options);
	assert_non_null(strstr(text, "\"args\": {\"n\": 5}"));
	free(text);
	options.settings = (sonde_setting[]){ { "args", "no" } };
	options.n_settings = 1;
	text = exported(t, options);
	assert_null(strstr(text, "\"n\""));
	assert_non_null(strstr(text, "\"Bytes\": 64")); /* without it there is no allocation */
	free(text);
	options.settings = (sonde_setting[]){ { "args", "no" }, { "args", "yes" } };
	options.n_settings = 2;
	text = exported(t, options);
	assert_non_null(strstr(text, "\"n\""));
	free(text);
	sonde_trace_free(t);
}

static void wrong_options_are_refused_before_anything_is_written(void **state)
{
	static const struct {
		const char *format, *target;
		sonde_setting setting;
		const char *message;
	} cases[] = {
		{ "papyrus", NULL, { NULL, NULL }, "unknown export format \"papyrus\"" },
		{ NULL,
		  "/",
		  { NULL, NULL },
		  "/ is a directory; chrome can only be written to a file or standard output" },
		{ "chrome",
		  "http://localhost/x.json",
		  { NULL, NULL },
		  "http://localhost/x.json is a URL; chrome can only be written to a file or standard output" },
		{ NULL, "gopher://x", { NULL, NULL }, "gopher://x: unknown kind of URL; expected http:// or https://" },
		{ NULL, NULL, { "color", "red" }, "chrome has no setting \"color\"; sonde export --list shows them" },
		{ NULL, NULL, { "args", "some" }, "args needs yes or no, not \"some\"" },
	};
	sonde_trace *t = small_trace();
	size_t n_files = temp_count();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_export_options options = options_to(cases[i].target);
		sonde_error err = { .message = "" };
		options.format = cases[i].format;
		options.settings = &cases[i].setting;
		options.n_settings = cases[i].setting.key != NULL;
		assert_int_equal(sonde_export_check(&options, NULL, NULL, &err), SONDE_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(sonde_export_to(t, &options, &err), SONDE_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
	}
	assert_int_equal(temp_count(), n_files);
	sonde_trace_free(t);
}

static void a_check_tells_format_and_kind_of_target(void **state)
{
	sonde_export_options options = options_to("run.json.gz");
	sonde_target kind = 0;
	const char *format = NULL;

	(void)state;
	assert_int_equal(sonde_export_check(&options, &kind, &format, NULL), SONDE_OK);
	assert_int_equal(kind, SONDE_TARGET_FILE);
	assert_string_equal(format, "chrome");
	options.target = "no-end";
	assert_int_equal(sonde_export_check(&options, NULL, &format, NULL), SONDE_OK);
	assert_string_equal(format, "chrome");
}

static void a_failure_leaves_no_file(void **state)
{
	sonde_trace *t = small_trace();
	sonde_export_options options = options_to("/dev/full");
	sonde_error err = { .message = "" };

	(void)state;
	assert_int_equal(sonde_export_to(t, &options, &err), SONDE_E_IO);
	options.target = temp_path("no/such/directory.json.gz");
	size_t n_files = temp_count();
	assert_int_equal(sonde_export_to(t, &options, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "cannot write: No such file or directory"));
	assert_int_equal(temp_count(), n_files);
	sonde_trace_free(t);
}

static void a_full_disk_behind_the_compressor_is_an_error(void **state)
{
	sonde_trace *t = small_trace();
	sonde_export_options options = options_to("x.json.zst");
	sonde_error err = { .message = "" };

	(void)state;
	options.out = fopen("/dev/full", "w");
	if (!options.out)
		skip();
	errno = 0;
	assert_int_equal(sonde_export_to(t, &options, &err), SONDE_E_IO);
	assert_int_equal(errno, ENOSPC);
	fclose(options.out);
	sonde_trace_free(t);
}

static void every_format_describes_itself(void **state)
{
	sonde_export_about about = { .struct_size = sizeof about };
	sonde_setting setting;
	const char *name, *summary;
	size_t n = 0;

	(void)state;
	for (; sonde_export_describe(n, &about); n++) {
		assert_true(sonde_export_format(n, &name, &summary));
		assert_string_equal(about.name, name);
		assert_true(strlen(about.summary) > 10 && about.ends[0] && about.targets);
		for (size_t i = 0; sonde_export_setting(name, i, &setting, &summary); i++) {
			/* Its default is a value that it takes. */
			sonde_export_options options = options_to(NULL);
			options.format = name;
			options.settings = &setting;
			options.n_settings = 1;
			assert_true(strlen(summary) > 10);
			assert_int_equal(sonde_export_check(&options, NULL, NULL, NULL),
					 about.targets & 1 ? SONDE_OK : SONDE_E_USAGE);
		}
	}
	assert_true(n >= 1);
	assert_false(sonde_export_format(n, &name, &summary));
	assert_false(sonde_export_setting("papyrus", 0, &setting, &summary));
	/* A program that was built with a shorter struct. */
	sonde_export_about shorter = { .struct_size = offsetof(sonde_export_about, ends), .ends = "mine" };
	assert_true(sonde_export_describe(0, &shorter));
	assert_string_equal(shorter.name, "chrome");
	assert_string_equal(shorter.ends, "mine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_compressed_by_its_name_and_opens_again),
		cmocka_unit_test(the_name_compresses_also_what_goes_to_a_stream),
		cmocka_unit_test(settings_change_what_is_written),
		cmocka_unit_test(wrong_options_are_refused_before_anything_is_written),
		cmocka_unit_test(a_check_tells_format_and_kind_of_target),
		cmocka_unit_test(a_failure_leaves_no_file),
		cmocka_unit_test(a_full_disk_behind_the_compressor_is_an_error),
		cmocka_unit_test(every_format_describes_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
