/* Where an export goes, as the user wrote it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/target.h"

typedef struct target_case {
	const char *text;
	sonde_target kind;
	const char *path; /* NULL: standard output */
	compression compression;
} target_case;

static void files_directories_and_standard_output_are_told_apart(void **state)
{
	static const target_case cases[] = {
		{ NULL, SONDE_TARGET_FILE, NULL, COMPRESSION_NONE },
		{ "-", SONDE_TARGET_FILE, NULL, COMPRESSION_NONE },
		{ "run.json", SONDE_TARGET_FILE, "run.json", COMPRESSION_NONE },
		{ "run.json.gz", SONDE_TARGET_FILE, "run.json.gz", COMPRESSION_GZIP },
		{ "RUN.JSON.GZ", SONDE_TARGET_FILE, "RUN.JSON.GZ", COMPRESSION_GZIP },
		{ "a/run.json.zst", SONDE_TARGET_FILE, "a/run.json.zst", COMPRESSION_ZSTD },
		{ "a/.gz", SONDE_TARGET_FILE, "a/.gz", COMPRESSION_NONE }, /* a name, not an end */
		{ ".zst", SONDE_TARGET_FILE, ".zst", COMPRESSION_NONE },
		{ "-o", SONDE_TARGET_FILE, "-o", COMPRESSION_NONE },
		{ "/dev/null", SONDE_TARGET_FILE, "/dev/null", COMPRESSION_NONE },
		{ "/", SONDE_TARGET_DIRECTORY, "/", COMPRESSION_NONE },
		{ "/tmp", SONDE_TARGET_DIRECTORY, "/tmp", COMPRESSION_NONE },
		{ "not/there/yet/", SONDE_TARGET_DIRECTORY, "not/there/yet/", COMPRESSION_NONE },
		{ "./http://x", SONDE_TARGET_FILE, "./http://x", COMPRESSION_NONE },
		{ "http:/x", SONDE_TARGET_FILE, "http:/x", COMPRESSION_NONE },
	};
	export_target t;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(target_parse(&t, cases[i].text, NULL), SONDE_OK);
		assert_int_equal(t.kind, cases[i].kind);
		assert_int_equal(t.compression, cases[i].compression);
		assert_int_equal(t.path != NULL, cases[i].path != NULL);
		if (t.path)
			assert_string_equal(t.path, cases[i].path);
	}
}

static void urls_are_taken_apart(void **state)
{
	static const struct {
		const char *text, *host, *path;
		unsigned port;
		bool is_secure;
	} cases[] = {
		{ "http://collector", "collector", "/", 80, false },
		{ "HTTP://Collector:4318/v1/traces", "Collector", "/v1/traces", 4318, false },
		{ "https://traces.example.org/a?b=c", "traces.example.org", "/a?b=c", 443, true },
		{ "https://[::1]:65535/", "[::1]", "/", 65535, true },
		{ "http://[fe80::1.2.3.4]", "[fe80::1.2.3.4]", "/", 80, false },
		{ "http://127.0.0.1:1/x.json.gz", "127.0.0.1", "/x.json.gz", 1, false },
		{ "http://h?q", "h", "/", 80, false },
	};
	export_target t;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(target_parse(&t, cases[i].text, NULL), SONDE_OK);
		assert_int_equal(t.kind, SONDE_TARGET_URL);
		assert_string_equal(t.host, cases[i].host);
		assert_string_equal(t.path, cases[i].path);
		assert_int_equal(t.port, cases[i].port);
		assert_int_equal(t.is_secure, cases[i].is_secure);
	}
}

static void what_is_no_target_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "the name of the target is empty" },
		{ "ftp://host/x", "ftp://host/x: unknown kind of URL; expected http:// or https://" },
		{ "s3+x://host", "s3+x://host: unknown kind of URL; expected http:// or https://" },
		{ "http://", "http://: the URL has no valid host" },
		{ "http:///x", "http:///x: the URL has no valid host" },
		{ "http://:80/", "http://:80/: the URL has no valid host" },
		{ "http://a b/", "http://a b/: the URL has no valid host" },
		{ "http://[::1/", "http://[::1/: the URL has no valid host" },
		{ "http://a\nb/", "http://a\nb/: the URL has no valid host" },
		{ "http://me:secret@host/", "a URL with a user or password is not supported" },
		{ "http://host:/", "http://host:/: the URL needs a port from 1 to 65535" },
		{ "http://host:0/", "http://host:0/: the URL needs a port from 1 to 65535" },
		{ "http://host:65536/", "http://host:65536/: the URL needs a port from 1 to 65535" },
		{ "http://host:99999999999999999999/",
		  "http://host:99999999999999999999/: the URL needs a port from 1 to 65535" },
		{ "http://host:8x/", "http://host:8x/: the URL needs a port from 1 to 65535" },
	};
	export_target t;
	sonde_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(target_parse(&t, cases[i].text, &err), SONDE_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
	}
}

static void a_host_may_be_as_long_as_dns_allows(void **state)
{
	char url[400] = "http://";
	export_target t;

	(void)state;
	memset(url + 7, 'a', TARGET_MAX_HOST);
	assert_int_equal(target_parse(&t, url, NULL), SONDE_OK);
	assert_int_equal(strlen(t.host), TARGET_MAX_HOST);
	url[7 + TARGET_MAX_HOST] = 'a';
	assert_int_equal(target_parse(&t, url, NULL), SONDE_E_USAGE);
}

static void ends_are_compared_without_the_compression(void **state)
{
	static const struct {
		const char *text, *ends;
		bool has;
	} cases[] = {
		{ "run.json", "json", true },
		{ "run.JSON", "json", true },
		{ "run.json.gz", "json", true },
		{ "a.b/run.json", "json", true },
		{ "run.pb.gz", "json,pb", true },
		{ "run.xjson", "json", false },
		{ "json", "json", false },
		{ ".json", "json", false },
		{ "run.pb", "json", false },
		{ "run.json/trace", "json", false },
		{ NULL, "json", false },
		{ "run.gz", "json", false },
		{ "run.pftrace", "json,pftrace", true },
	};
	export_target t;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(target_parse(&t, cases[i].text, NULL), SONDE_OK);
		assert_int_equal(target_has_end(&t, cases[i].ends), cases[i].has);
	}
}

static void kinds_of_targets_are_words(void **state)
{
	char to[TARGET_WORDS];

	(void)state;
	assert_string_equal(target_words(to, 0), "");
	assert_string_equal(target_words(to, SONDE_TARGET_FILE), "a file or standard output");
	assert_string_equal(target_words(to, SONDE_TARGET_DIRECTORY), "a directory");
	assert_string_equal(target_words(to, SONDE_TARGET_DIRECTORY | SONDE_TARGET_URL), "a directory or a URL");
	assert_string_equal(target_words(to, 7), "a file, standard output, a directory or a URL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_directories_and_standard_output_are_told_apart),
		cmocka_unit_test(urls_are_taken_apart),
		cmocka_unit_test(what_is_no_target_is_refused_with_the_reason),
		cmocka_unit_test(a_host_may_be_as_long_as_dns_allows),
		cmocka_unit_test(ends_are_compared_without_the_compression),
		cmocka_unit_test(kinds_of_targets_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
