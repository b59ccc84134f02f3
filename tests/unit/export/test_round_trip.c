/*
 * Out and in again: what is exported in Chrome's format and imported again is the same trace. Small ones by hand, and
 * all sets of ../shared/data where they are.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/vec.h"
#include "store/trace.h"
#include "unit/store/compare_index.h"
#include "unit/store/temp_dir.h"

static sonde_trace *open_path(const char *path)
{
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	if (sonde_trace_open(path, &t, &err)) {
		print_error("%s: %s\n", path, err.message);
		return NULL;
	}
	return t;
}

static bool export_to(const sonde_trace *t, const char *path)
{
	FILE *out = fopen(path, "w");
	bool ok = out && sonde_export(t, "chrome", out, NULL) == SONDE_OK;

	if (out)
		fclose(out);
	return ok;
}

static bool has_duplicates(const sonde_index *ix)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (strncmp(index_text(ix, d[i].text), "duplicate keys", 14) == 0)
			return true;
	return false;
}

/* True when the file, or what it is a rank of, comes back as it was. */
static bool comes_back(const char *path)
{
	/* The name says which rank it is, where the content does not. */
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char json[128], why[1024] = "cannot be written";

	snprintf(json, sizeof json, "%.*s.json", (int)strcspn(name, ".") % 100, name);
	const char *copy = temp_path(json);
	sonde_trace *first = open_path(path), *second = NULL;
	bool ok = first && export_to(first, copy) && (second = open_path(copy)) &&
		  index_same(first->index, second->index, why, sizeof why);

	if (ok && has_duplicates(second->index)) {
		snprintf(why, sizeof why, "duplicate keys in the export");
		ok = false;
	}
	if (!ok && first)
		print_error("%s: %s\n", path, why);
	sonde_trace_free(first);
	sonde_trace_free(second);
	unlink(copy);
	return ok;
}

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

static void events_of_all_phases_come_back(void **state)
{
	static const char *const cases[] = {
		/* slices: nested, overlapping, of no duration, with text ids, without categories, below a microsecond
		 */
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"cat\":\"x\",\"pid\":1,\"tid\":2,\"ts\":2.001,\"dur\":3.5,\"args\":{"
		"\"k\": [1, 2]}},"
		"{\"ph\":\"X\",\"name\":\"c\",\"cat\":\"x\",\"pid\":1,\"tid\":2,\"ts\":9,\"dur\":5.25,\"cname\":"
		"\"good\"},"
		"{\"ph\":\"X\",\"name\":\"d\",\"cat\":\"x\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":1},"
		"{\"ph\":\"X\",\"name\":\"e\",\"cat\":\"x\",\"pid\":1,\"tid\":2,\"ts\":12,\"dur\":9},"
		"{\"ph\":\"X\",\"name\":\"\\u00e4 \\\" \\\\\",\"cat\":\"x\",\"pid\":\"p\",\"tid\":\"t "
		"1\",\"ts\":5,\"dur\":0},"
		"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":10}]",
		/* ids of threads that a viewer cannot read */
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":-5,\"ts\":1,\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":-5,\"ts\":5,\"dur\":10},"
		"{\"ph\":\"i\",\"name\":\"i\",\"pid\":1,\"tid\":140234567890123,\"ts\":5,\"s\":\"t\"},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":-5,\"args\":{\"name\":\"main\"}}]",
		/* begins and ends, one without */
		"[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1},{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,"
		"\"tid\":2,\"ts\":2},"
		"{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":3},{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":4,"
		"\"dur\":4}]",
		/* one without an end, and then what is lost */
		"[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1},{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,"
		"\"tid\":2,\"ts\":2,\"dur\":3},{\"ph\":\"E\",\"name\":\"z\",\"pid\":1,\"tid\":2,\"ts\":7},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id\":1,\"pid\":1,\"ts\":8},"
		"{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":4,\"args\":{\"free\": 5}},"
		"{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":9,\"args\":{\"free\": null}}]",
		/* asynchronous ones that overlap */
		"[{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1,\"args\":{\"u\": "
		"\"v\"}},"
		"{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id\":2,\"pid\":1,\"tid\":2,\"ts\":2},"
		"{\"ph\":\"n\",\"name\":\"i\",\"cat\":\"net\",\"id\":2,\"pid\":1,\"tid\":2,\"ts\":2.5},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":3},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id\":2,\"pid\":1,\"tid\":2,\"ts\":5}]",
		/* their ids: numbers, texts, of all processes, the same twice; with a begin that comes late, and an end
		   of no category */
		"[{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id\":\"0x70\",\"pid\":1,\"ts\":1},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id\":\"0x70\",\"pid\":1,\"ts\":5},"
		"{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id\":112,\"pid\":1,\"ts\":2},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id\":112,\"pid\":1,\"ts\":7,\"args\":{\"u\": 1}},"
		"{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id2\":{\"global\":\"r-1\"},\"pid\":1,\"ts\":2},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id2\":{\"global\":\"r-1\"},\"pid\":2,\"ts\":3},"
		"{\"ph\":\"e\",\"name\":\"a\",\"cat\":\"net\",\"id2\":{\"local\":8},\"pid\":2,\"ts\":9},"
		"{\"ph\":\"b\",\"name\":\"a\",\"cat\":\"net\",\"id2\":{\"local\":8},\"pid\":2,\"ts\":3,\"tts\":1},"
		"{\"ph\":\"b\",\"name\":\"open\",\"cat\":\"net\",\"id\":\"x\",\"pid\":2,\"ts\":3},"
		"{\"ph\":\"B\",\"name\":\"c\",\"cat\":\"x\",\"pid\":1,\"tid\":2,\"ts\":1},"
		"{\"ph\":\"E\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":2},"
		"{\"ph\":\"n\",\"name\":\"i\",\"cat\":\"net\",\"id\":112,\"pid\":1,\"ts\":3}]",
		/* instants of all scopes, samples, objects */
		"[{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"s\":\"t\"},"
		"{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"s\":\"p\",\"args\":{\"x\": 1.50}},"
		"{\"ph\":\"I\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":2,\"s\":\"g\"},"
		"{\"ph\":\"P\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":3,\"args\":{\"w\": 1}},"
		"{\"ph\":\"O\",\"name\":\"o\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":4,\"args\":{\"snapshot\": "
		"{}}}]",
		/* counters: one series, several, a name that looks like several, whole and other numbers */
		"[{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":1,\"args\":{\"free\": 5, \"used\": 2.5}},"
		"{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":2,\"args\":{\"free\": 4}},"
		"{\"ph\":\"C\",\"name\":\"loss\",\"cat\":\"c\",\"pid\":1,\"ts\":2,\"args\":{\"value\": -1e-7}},"
		"{\"ph\":\"C\",\"name\":\"a value\",\"pid\":1,\"ts\":2,\"args\":{\"value\": 12345678901234567}},"
		"{\"ph\":\"C\",\"name\":\"q\",\"id\":7,\"pid\":1,\"ts\":2,\"args\":{\"value\": 1}}]",
		/* arrows of all kinds, with ids that are numbers and texts */
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":3,\"ts\":12,\"dur\":10},"
		"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"x\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":2},"
		"{\"ph\":\"t\",\"name\":\"f\",\"cat\":\"x\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":4},"
		"{\"ph\":\"f\",\"name\":\"f\",\"cat\":\"x\",\"id\":5,\"pid\":1,\"tid\":3,\"ts\":11},"
		"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"x\",\"id\":\"0xff\",\"pid\":1,\"tid\":2,\"ts\":3},"
		"{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"x\",\"id\":\"0xff\",\"pid\":1,\"tid\":3,\"ts\":13}"
		"]",
		/* names, labels and order; what stands beside the events; a clock that counts from 1970 */
		"{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1700000000000000000,\"model\":{\"n\": [1, \"x\"]},"
		"\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"train\"}},"
		"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"GPU 3\"}},"
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":-5}},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"main\"}},"
		"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":2,\"args\":{\"sort_index\":7}},"
		"{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1.001,\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":10}]}",
		"[]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *path = temp_path("case.json");
		char source[600];
		snprintf(source, sizeof source, "%s.in", path);
		temp_write(source, cases[i], strlen(cases[i]));
		if (!comes_back(source))
			fail_msg("case %zu: %s", i, cases[i]);
	}
}

/* What a trace with this text is written as; the caller frees. */
static char *exported(const char *text)
{
	const char *path = temp_path("in.json"), *out = temp_path("out.json");
	size_t len;

	temp_write(path, text, strlen(text));
	sonde_trace *t = open_path(path);
	assert_non_null(t);
	assert_true(export_to(t, out));
	sonde_trace_free(t);
	return (char *)temp_read(out, &len);
}

static void what_is_no_json_becomes_text(void **state)
{
	static const char text[] = "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2,"
				   "\"args\":{\"x\": NaN, \"y\": 1}}]";
	char *written = exported(text);

	(void)state;
	if (!strstr(written, "\"args\": {\"x\": \"NaN\", \"y\": 1}"))
		fail_msg("%s", written);
	free(written);
}

static void overlapping_slices_go_to_a_thread_of_their_own(void **state)
{
	static const char text[] = "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":10},"
				   "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":10}]";
	char *written = exported(text);

	(void)state;
	assert_string_equal(
		written, "{\"traceEvents\": [\n"
			 "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 2, \"ts\": 1.000, \"dur\": 10.000},\n"
			 "{\"ph\": \"M\", \"name\": \"sonde_extra_lane\", \"pid\": 1, \"tid\": 4194304, "
			 "\"args\": {\"tid\": 2}},\n"
			 "{\"ph\": \"X\", \"name\": \"b\", \"pid\": 1, \"tid\": 4194304, \"ts\": 5.000, "
			 "\"dur\": 10.000}\n]}\n");
	free(written);
}

/* Both have an arrow 5, and processes of the same ids. */
static void ranks_come_back(void **state)
{
	static const char rank[] =
		"{\"distributedInfo\": {\"rank\": %d, \"world_size\": 2}, \"seed\": \"s%d\","
		"\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":10},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":\"p\",\"tid\":3,\"ts\":12,\"dur\":10},"
		"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"x\",\"id\":5,\"pid\":1,\"tid\":2,\"ts\":%d},"
		"{\"ph\":\"f\",\"name\":\"f\",\"cat\":\"x\",\"id\":5,\"pid\":\"p\",\"tid\":3,\"ts\":11}]}";
	sonde_trace *first, *second;
	char text[2][1024], why[1024] = "", paths[2][600], out[600];
	const char *files[2] = { paths[0], paths[1] };
	int32_t number;
	const char *name;

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof paths[i], "%s", temp_path(i ? "b.json" : "a.json"));
		int len = snprintf(text[i], sizeof text[i], rank, 3 + i, i, 1 + i, 2 + i);
		temp_write(paths[i], text[i], (size_t)len);
	}
	snprintf(out, sizeof out, "%s", temp_path("both.json"));
	assert_int_equal(sonde_trace_open_files(files, 2, &first, NULL), SONDE_OK);
	assert_true(export_to(first, out));
	second = open_path(out);
	assert_non_null(second);
	if (!index_same(first->index, second->index, why, sizeof why))
		fail_msg("%s", why);
	assert_true(sonde_trace_rank(second, 1, &number, &name));
	assert_int_equal(number, 4);
	assert_string_equal(name, out);
	sonde_trace_free(first);
	sonde_trace_free(second);
}

/* ---- Real ones --------------------------------------------------------------------------------------------------- */

static size_t n_tried, n_failed, n_sets;

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && strcmp(text + len - end_len, end) == 0;
}

static int try_file(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	sonde_trace *t = NULL;
	int32_t rank;
	const char *file;

	(void)st;
	bool is_directory = kind == FTW_D && where->level == 1;
	bool is_file = kind == FTW_F && (ends_with(path, ".json.gz") || ends_with(path, ".json"));
	if ((!is_file && !is_directory) || sonde_trace_open(path, &t, NULL))
		return 0; /* other tools' files lie there too */
	bool has_ranks = sonde_trace_rank(t, 1, &rank, &file);
	sonde_trace_free(t);
	if (is_directory && !has_ranks)
		return 0;
	n_tried++;
	n_sets += is_directory;
	n_failed += !comes_back(path);
	return 0;
}

static void all_sets_come_back(void **state)
{
	static const struct {
		const char *name;
		size_t n_least;
	} sets[] = { { "traces", 40 }, { "torch", 4 }, { "profiles", 4 } };
	const char *source = getenv("SOURCE");
	char directory[4096];

	(void)state;
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		snprintf(directory, sizeof directory, "%s/../shared/data/%s", source ? source : ".", sets[i].name);
		if (access(directory, R_OK) != 0) {
			print_message("skipped: no ../shared/data/%s\n", sets[i].name);
			skip();
		}
		n_tried = n_failed = 0;
		assert_int_equal(nftw(directory, try_file, 16, FTW_PHYS), 0);
		if (n_tried < sets[i].n_least)
			fail_msg("only %zu traces in %s", n_tried, directory);
		assert_int_equal(n_failed, 0);
	}
	assert_true(n_sets >= 2); /* of several ranks */
}

/* ---- Recordings ---------------------------------------------------------------------------------------------------
 */

typedef VEC(char *) line_list;

__attribute__((format(printf, 2, 3))) static void add_line(line_list *to, const char *format, ...)
{
	char **line = VEC_ADD(to);
	va_list args;

	assert_non_null(line);
	va_start(args, format);
	assert_true(vasprintf(line, format, args) >= 0);
	va_end(args);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* name/category/class/kind */
static const char *site_of(const sonde_index *ix, uint64_t number, char *buffer, size_t size)
{
	size_t n;
	const index_site *s = &index_sites(ix, &n)[number];

	assert_true(number < n);
	snprintf(buffer, size, "%s/%s/%d/%d", index_text(ix, s->name), index_text(ix, s->category), s->class, s->kind);
	return buffer;
}

static const char *args_of(args_reader *reader, uint64_t number)
{
	static char buffer[4096];
	args_text text = { 0 };

	if (number)
		args_read(reader, (uint32_t)number, &text);
	snprintf(buffer, sizeof buffer, "%.*s", (int)text.args_len, text.args ? text.args : "");
	return buffer;
}

static void add_slices(line_list *to, const sonde_index *ix, args_reader *args)
{
	char site[512];
	index_slice s;

	for (uint64_t i = 0; i < index_n_slices(ix); i++) {
		assert_true(index_slice_at(ix, i, &s));
		add_line(to, "slice %lld+%lld %s %s", (long long)s.start_ns, (long long)s.dur_ns,
			 site_of(ix, s.site, site, sizeof site), args_of(args, s.args));
	}
}

static void add_tables(line_list *to, const sonde_index *ix, args_reader *args)
{
	static table_cursor c;
	int64_t row[COLUMNS_MAX];
	char site[512];

	table_first(&c, ix, SECTION_INSTANTS, 0);
	while (table_next(&c, row))
		add_line(to, "instant %lld %s %s", (long long)row[INSTANT_TIME],
			 site_of(ix, (uint64_t)row[INSTANT_SITE], site, sizeof site),
			 args_of(args, (uint64_t)row[INSTANT_ARGS]));
	table_first(&c, ix, SECTION_ALLOCATIONS, 0);
	while (table_next(&c, row))
		add_line(to, "allocation %lld %s %lld of %lld at %llx on %lld:%lld", (long long)row[ALLOCATION_TIME],
			 site_of(ix, (uint64_t)row[ALLOCATION_SITE], site, sizeof site),
			 (long long)row[ALLOCATION_BYTES], (long long)row[ALLOCATION_TOTAL],
			 (unsigned long long)row[ALLOCATION_ADDRESS], (long long)row[ALLOCATION_DEVICE_TYPE],
			 (long long)row[ALLOCATION_DEVICE]);
}

static void add_lists(line_list *to, const sonde_index *ix)
{
	static table_cursor c;
	int64_t row[COLUMNS_MAX];
	size_t n;

	const index_step *steps = index_steps(ix, &n);
	for (size_t i = 0; i < n; i++)
		add_line(to, "step %lld at %lld+%lld", (long long)steps[i].number, (long long)steps[i].start_ns,
			 (long long)steps[i].dur_ns);
	const index_counter *counters = index_counters(ix, &n);
	for (size_t i = 0; i < n; i++) {
		table_first(&c, ix, SECTION_VALUES, counters[i].first_value);
		for (uint64_t k = 0; k < counters[i].n_values && table_next(&c, row); k++)
			add_line(to, "value %s/%s %lld %llx", index_text(ix, counters[i].name),
				 index_text(ix, counters[i].category), (long long)row[VALUE_TIME],
				 (unsigned long long)row[VALUE_BITS]);
	}
	const index_process *processes = index_processes(ix, &n);
	for (size_t i = 0; i < n; i++)
		add_line(to, "process %lld %s rank %d device %d", (long long)processes[i].pid,
			 index_text(ix, processes[i].name), processes[i].rank, processes[i].device);
	const index_track *tracks = index_tracks(ix, &n);
	for (size_t i = 0; i < n; i++)
		if (tracks[i].kind == TRACK_THREAD || tracks[i].kind == TRACK_STREAM)
			add_line(to, "track %d %lld %s device %d with %llu", tracks[i].kind, (long long)tracks[i].id,
				 index_text(ix, tracks[i].name), tracks[i].device,
				 (unsigned long long)tracks[i].n_slices);
	add_line(to, "clock %d", (int)index_clock_of(ix));
}

/* Everything that a recording is about; asynchronous tracks have other names in Chrome's format. */
static line_list lines_of(const sonde_trace *t)
{
	line_list lines = { 0 };
	args_reader *args = args_reader_new(t->index);

	add_slices(&lines, t->index, args);
	add_tables(&lines, t->index, args);
	add_lists(&lines, t->index);
	add_line(&lines, "program %s", trace_meta_value(t, "command") ? trace_meta_value(t, "command") : "");
	args_reader_free(args);
	qsort(lines.items, lines.n, sizeof lines.items[0], compare_lines);
	return lines;
}

static void assert_recording_comes_back(const sonde_trace *first, const char *what)
{
	const char *copy = temp_path("recording.json");

	assert_true(export_to(first, copy));
	sonde_trace *second = open_path(copy);
	assert_non_null(second);
	assert_true(second->is_recorded);
	line_list a = lines_of(first), b = lines_of(second);
	for (size_t i = 0; i < a.n && i < b.n; i++)
		if (strcmp(a.items[i], b.items[i]) != 0)
			fail_msg("%s: %s\ncame back as\n%s", what, a.items[i], b.items[i]);
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		free(a.items[i]);
		free(b.items[i]);
	}
	VEC_DONE(&a);
	VEC_DONE(&b);
	sonde_trace_free(second);
	unlink(copy);
}

static void recordings_come_back(void **state)
{
	static const char *const seeds[] = { "cpp", "memory", "openmp", "ops", "scopes", "train" };
	const char *source = getenv("SOURCE");
	char path[4096];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
		const char *copy = temp_path("seed.sonde"); /* opening it adds an index */
		snprintf(path, sizeof path, "%s/fuzz/seeds/file/%s.sonde", source ? source : ".", seeds[i]);
		uint8_t *bytes = temp_read(path, &len);
		temp_write(copy, bytes, len);
		free(bytes);
		sonde_trace *t = open_path(copy);
		assert_non_null(t);
		assert_recording_comes_back(t, seeds[i]);
		sonde_trace_free(t);
		unlink(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_all_phases_come_back),
		cmocka_unit_test(what_is_no_json_becomes_text),
		cmocka_unit_test(overlapping_slices_go_to_a_thread_of_their_own),
		cmocka_unit_test(ranks_come_back),
		cmocka_unit_test(recordings_come_back),
		cmocka_unit_test(all_sets_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
