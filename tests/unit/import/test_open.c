/* What a path leads to: a recording, an index, several, or none; and out again into a file. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <signal.h>
#include "store/build/builder.h"
#include "unit/import/packed.h"
#include "unit/import/recording/make_file.h"

static blob small_recording(void)
{
	maker m = { 0 };

	make_start(&m);
	make_name(&m, 40, NAME_SCOPE, "forward");
	MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 });
	make_totals(&m);
	return (blob){ m.bytes, m.len };
}

static blob make_index(const char *name, int64_t start_ns, int32_t rank)
{
	builder *b = builder_new(NULL);
	sonde_index *ix = NULL;
	size_t len;

	assert_non_null(b);
	uint32_t site = builder_site(b, builder_string(b, name, strlen(name)), builder_string(b, "cpu_op", 6),
				     CLASS_COMPUTE, 0);
	uint32_t process = builder_process(b, 0, 7, INDEX_NONE);
	builder_slice one = { .start_ns = start_ns, .dur_ns = 100, .site = site };
	builder_slices(b, builder_track(b, TRACK_THREAD, process, 8, INDEX_NONE, INDEX_NONE), &one, 1);
	if (rank >= 0)
		builder_file_rank(b, 0, rank);
	assert_int_equal(builder_finish(b, &ix, NULL), SONDE_OK);
	builder_free(b);
	const uint8_t *image = index_bytes(ix, &len);
	blob copy = copy_of(image, len);
	index_free(ix);
	return copy;
}

static void check_recording(const sonde_trace *t)
{
	sonde_trace_facts facts = { .struct_size = sizeof facts };

	sonde_trace_get_facts(t, &facts);
	assert_int_equal(facts.n_events, 2);
	assert_int_equal(index_n_slices(t->index), 1);
	assert_true(t->is_recorded && t->recording);
}

static void check_index(const sonde_trace *t)
{
	assert_non_null(t->index);
	assert_int_equal(index_n_slices(t->index), 1);
	assert_int_equal(t->start_ns, 5000);
}

static void *feed(void *argument)
{
	const blob *packed = ((void **)argument)[1];
	int fd = *(int *)((void **)argument)[0];

	for (size_t at = 0; at < packed->len;) {
		ssize_t n = write(fd, packed->ptr + at, packed->len - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	close(fd);
	return NULL;
}

static sonde_status open_pipe(blob packed, sonde_trace **ret_trace, sonde_error *err)
{
	int ends[2], before = dup(STDIN_FILENO);
	pthread_t thread;

	assert_int_equal(pipe(ends), 0);
	void *job[] = { &ends[1], &packed };
	assert_int_equal(pthread_create(&thread, NULL, feed, job), 0);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	sonde_status status = sonde_trace_open("-", ret_trace, err);
	dup2(before, STDIN_FILENO);
	close(before);
	pthread_join(thread, NULL);
	return status;
}

static void own_files_open_however_they_come(void **state)
{
	blob (*const packs[])(blob) = { NULL, gzipped, zstded };
	blob files[] = { small_recording(), make_index("mm", 5000, -1) };
	void (*const checks[])(const sonde_trace *) = { check_recording, check_index };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 3; k++) {
			blob packed = packs[k] ? packs[k](files[i]) : files[i];
			const char *path = temp_path("trace");
			sonde_trace *t;

			temp_write(path, packed.ptr, packed.len);
			assert_int_equal(sonde_trace_open(path, &t, NULL), SONDE_OK);
			checks[i](t);
			assert_int_equal(t->files.n, 1);
			assert_string_equal(t->files.items[0].path, path);
			sonde_trace_free(t);
			assert_int_equal(open_pipe(packed, &t, NULL), SONDE_OK);
			checks[i](t);
			assert_null(t->files.items[0].path);
			sonde_trace_free(t);
			if (packs[k])
				free(packed.ptr);
		}
	free(files[0].ptr);
	free(files[1].ptr);
}

/* A finished recording has its index behind its blocks. */
static void a_recording_brings_its_index_along(void **state)
{
	blob ix = make_index("mm", 5000, -1);
	maker m = { 0 };
	sonde_trace *t;

	(void)state;
	make_start(&m);
	index_footer footer = { .magic = INDEX_FOOTER, .offset = m.len, .length = ix.len };
	footer.crc = crc32c(0, &footer, offsetof(index_footer, crc));
	make_bytes(&m, ix.ptr, ix.len);
	make_bytes(&m, &footer, sizeof footer);
	make_save(&m, temp_path("run.sonde"));
	assert_int_equal(sonde_trace_open(temp_path("run.sonde"), &t, NULL), SONDE_OK);
	assert_non_null(t->index);
	assert_int_equal(t->recording->streams.n, 1);
	sonde_trace_free(t);
	m.bytes[footer.offset + 20] ^= 1; /* the header's checksum is wrong now */
	make_save(&m, temp_path("run.sonde"));
	assert_int_equal(sonde_trace_open(temp_path("run.sonde"), &t, NULL), SONDE_OK);
	assert_int_equal(index_n_slices(t->index), 0); /* made of the recording */
	sonde_trace_free(t);
	make_done(&m);
	free(ix.ptr);
}

static void what_is_no_trace_says_so(void **state)
{
	static const struct {
		const char *name, *text;
		sonde_status status;
		const char *message; /* after the path */
	} cases[] = {
		{ "empty", "", SONDE_E_TRUNCATED, "the file is empty" },
		{ "text", "hello, this is only text", SONDE_E_FORMAT,
		  "unrecognized format: expected a .sonde file or Chrome trace JSON" },
		{ "short", "x", SONDE_E_FORMAT, "unrecognized format: expected a .sonde file or Chrome trace JSON" },
		{ "cut.gz", "\x1f\x8b\x08", SONDE_E_FORMAT, "the gzip data is truncated" },
		{ "start", "\x89SND\x01", SONDE_E_TRUNCATED, "the file ends in its first block: it has no events" },
		{ "index", "\x89SNDIDX\n", SONDE_E_TRUNCATED, NULL },
	};
	char expected[800];
	sonde_trace *t = NULL;
	sonde_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *path = temp_path(cases[i].name);
		temp_write(path, cases[i].text, strlen(cases[i].text));
		sonde_status status = sonde_trace_open(path, &t, &err);
		snprintf(expected, sizeof expected, "%s: %s", path, cases[i].message ? cases[i].message : "");
		assert_memory_equal(err.message, expected, strlen(expected));
		assert_true(status == cases[i].status || (!cases[i].message && status == SONDE_E_FORMAT));
		assert_int_equal(sonde_trace_open(path, &t, NULL), status);
		blob text = { (uint8_t *)cases[i].text, strlen(cases[i].text) };
		assert_int_equal(open_pipe(text, &t, &err), status);
		assert_memory_equal(err.message, "standard input: ", 16);
	}
	assert_int_equal(sonde_trace_open(temp_path("missing"), &t, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "/missing: No such file or directory"));
	assert_int_equal(mkdir(temp_path("dir"), 0700), 0);
	assert_int_equal(sonde_trace_open(temp_path("dir"), &t, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "/dir: no trace in this directory"));
	rmdir(temp_path("dir"));
}

static void one_that_is_no_trace_spoils_all(void **state)
{
	blob run = small_recording(), ix = make_index("mm", 5000, -1);
	const char *paths[] = { temp_path("a"), temp_path("b"), temp_path("c") };
	sonde_trace *t;
	sonde_error err;

	(void)state;
	temp_write(paths[0], ix.ptr, ix.len);
	temp_write(paths[1], run.ptr, run.len);
	temp_write(paths[2], "text", 4);
	assert_int_equal(sonde_trace_open_files(paths, 3, &t, &err), SONDE_E_FORMAT);
	assert_non_null(strstr(err.message, "/c: unrecognized format"));
	assert_int_equal(sonde_trace_open_files(paths + 1, 2, &t, &err), SONDE_E_FORMAT);
	paths[0] = paths[1];
	assert_int_equal(sonde_trace_open_files(paths, 2, &t, &err), SONDE_OK); /* twice the same: counted once */
	assert_int_equal(index_n_slices(t->index), 1);
	sonde_trace_free(t);
	free(run.ptr);
	free(ix.ptr);
}

/* ---- Ranks and clocks -------------------------------------------------------------------------------------------- */

/* A trace of one slice, 1 us after its base. */
static const char *make_json(const char *name, int rank, int64_t base_ns)
{
	const char *path = temp_path(name);
	char text[400], info[100] = "";

	if (rank >= 0)
		snprintf(info, sizeof info, "\"distributedInfo\": {\"rank\": %d, \"world_size\": 9},", rank);
	snprintf(text, sizeof text,
		 "{%s \"baseTimeNanoseconds\": %lld, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
		 "\"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]}",
		 info, (long long)base_ns);
	temp_write(path, text, strlen(text));
	return path;
}

/* The slices' starts in microseconds after the first, by the rank of their process: "0:0 1:7 -:9 ". */
static const char *starts_of(const sonde_trace *t)
{
	static char text[400];
	size_t n, n_tracks;
	const index_lane *lanes = index_lanes(t->index, &n);
	const index_track *tracks = index_tracks(t->index, &n_tracks);
	const index_process *processes = index_processes(t->index, &n_tracks);

	text[0] = '\0';
	for (uint64_t i = 0; i < index_n_slices(t->index); i++) {
		index_slice s;
		assert_true(index_slice_at(t->index, i, &s));
		int32_t rank = processes[tracks[lanes[s.lane].track].process].rank;
		sprintf(text + strlen(text), "%d:%lld ", rank, (long long)(s.start_ns - t->start_ns) / 1000);
	}
	return text;
}

static uint64_t diagnostic(const sonde_trace *t, const char *kind)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(t->index, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(t->index, d[i].text), kind) == 0)
			return d[i].count;
	return 0;
}

#define HOUR INT64_C(3600000000000)
#define NOW INT64_C(1700000000000000000)

static void ranks_and_clocks_of_several_files(void **state)
{
	static const struct {
		const char *names[3];
		int ranks[3]; /* in the content */
		int64_t bases[3];
		const char *starts;
		bool twice, apart;
	} cases[] = {
		{ { "a.json", "b.json" }, { 1, 0 }, { NOW, NOW + 7000 }, "0:7 1:0 ", false, false },
		{ { "rank5.json", "rank2.json" }, { -1, -1 }, { NOW, NOW + 7000 }, "2:7 5:0 ", false, false },
		{ { "rank5.json", "rank2.json" }, { 3, -1 }, { NOW, NOW + 7000 }, "2:7 3:0 ", false, false },
		{ { "b.json", "a.json", "c.json" }, { -1, -1, -1 }, { NOW, NOW, NOW }, "0:0 1:0 2:0 ", false, false },
		{ { "rank1.json", "b.json", "c.json" },
		  { -1, -1, -1 },
		  { NOW, NOW + 1000, NOW + 2000 },
		  "0:1 1:0 2:2 ",
		  false,
		  false },
		{ { "a.json", "b.json" }, { 4, 4 }, { NOW, NOW + 7000 }, "0:0 1:7 ", true, false },
		{ { "a.json", "b.json" }, { 0, 1 }, { NOW, NOW + HOUR - 5000 }, "0:0 1:3599999995 ", false, false },
		{ { "a.json", "b.json" }, { 0, 1 }, { NOW, NOW + HOUR + 5000 }, "0:0 1:0 ", false, true },
		{ { "a.json", "b.json", "c.json" }, { 0, 1, 2 }, { NOW, 0, NOW }, "0:0 1:0 2:0 ", false, true },
		{ { "a.json", "b.json", "c.json" },
		  { 0, 1, 2 },
		  { NOW, NOW + HOUR / 2, NOW + HOUR },
		  "0:0 1:1800000000 2:3600000000 ",
		  false,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *paths[3];
		size_t n = 0;
		sonde_trace *t;
		for (; n < 3 && cases[i].names[n]; n++)
			paths[n] = make_json(cases[i].names[n], cases[i].ranks[n], cases[i].bases[n]);
		assert_int_equal(sonde_trace_open_files(paths, n, &t, NULL), SONDE_OK);
		assert_string_equal(starts_of(t), cases[i].starts);
		assert_int_equal(diagnostic(t, "files of a rank that other files have, numbered by their order"),
				 cases[i].twice);
		bool shifted = diagnostic(t, "clocks not comparable: rank 0 shifted") ||
			       diagnostic(t, "clocks not comparable: rank 1 shifted");
		assert_int_equal(shifted, cases[i].apart);
		for (size_t k = 0; k < n; k++) {
			const char *file;
			int32_t rank;
			assert_true(sonde_trace_rank(t, k, &rank, &file));
			assert_string_equal(file, paths[k]);
		}
		sonde_trace_facts facts = { .struct_size = sizeof facts };
		sonde_trace_get_facts(t, &facts);
		assert_int_equal(facts.n_events, n);
		sonde_trace_free(t);
		temp_clear();
	}
}

static void one_file_has_the_rank_it_says(void **state)
{
	static const struct {
		const char *name;
		int content;
		const char *starts;
	} cases[] = { { "a.json", 3, "3:0 " }, { "rank7.json", -1, "7:0 " }, { "trace-7.json", -1, "-1:0 " } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		sonde_trace *t;
		assert_int_equal(sonde_trace_open(make_json(cases[i].name, cases[i].content, NOW), &t, NULL), SONDE_OK);
		assert_string_equal(starts_of(t), cases[i].starts);
		assert_int_equal(t->start_ns, NOW + 1000);
		sonde_trace_free(t);
	}
	temp_clear();
}

/* Ranks that were merged stay on their clock when they are merged with others on another one. */
static void a_merged_trace_is_one_among_others(void **state)
{
	const char *first[] = { make_json("a.json", 0, NOW), make_json("b.json", 1, NOW + 9000) };
	const char *second[] = { temp_path("merged.sonde"), make_json("c.json", 2, NOW + 9 * HOUR) };
	sonde_trace *t;

	(void)state;
	assert_int_equal(sonde_trace_open_files(first, 2, &t, NULL), SONDE_OK);
	assert_int_equal(sonde_trace_save(t, second[0], NULL), SONDE_OK);
	sonde_trace_free(t);
	assert_int_equal(sonde_trace_open_files(second, 2, &t, NULL), SONDE_OK);
	assert_string_equal(starts_of(t), "0:0 1:9 2:0 ");
	assert_int_equal(diagnostic(t, "clocks not comparable: rank 2 shifted"), 1);
	static const char *const ends[] = { "/a.json", "/b.json", "/c.json" };
	for (size_t i = 0; i < 3; i++) {
		const char *file;
		int32_t rank;
		assert_true(sonde_trace_rank(t, i, &rank, &file));
		assert_int_equal(rank, i);
		assert_non_null(strstr(file, ends[i]));
	}
	sonde_trace_free(t);
	/* The same again: its ranks are there twice. */
	second[1] = second[0];
	assert_int_equal(sonde_trace_open_files(second, 2, &t, NULL), SONDE_OK);
	assert_string_equal(starts_of(t), "0:0 1:9 2:0 3:9 ");
	sonde_trace_free(t);
	temp_clear();
}

static void recordings_go_with_other_traces(void **state)
{
	blob run = small_recording();
	const char *paths[] = { temp_path("run.sonde"), make_json("a.json", -1, NOW) };
	sonde_trace *t;

	(void)state;
	temp_write(paths[0], run.ptr, run.len);
	assert_int_equal(sonde_trace_open_files(paths, 2, &t, NULL), SONDE_OK);
	assert_null(t->recording);
	assert_int_equal(index_n_slices(t->index), 2);
	assert_non_null(strstr(starts_of(t), "0:"));
	assert_non_null(strstr(starts_of(t), "1:0 "));
	assert_int_equal(diagnostic(t, "clocks not comparable: rank 1 shifted"), 1);
	sonde_trace_free(t);
	free(run.ptr);
	temp_clear();
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

typedef struct told {
	uint64_t done, total;
	unsigned n, stop_after;
	bool backwards;
} told;

static bool tell(void *context, uint64_t done, uint64_t total)
{
	told *to = context;

	to->backwards |= done < to->done || done > total;
	to->done = done;
	to->total = total;
	return ++to->n != to->stop_after;
}

static void progress_is_told_and_may_stop_it(void **state)
{
	static const size_t n_events = 40000;
	char *text = malloc(100 * n_events), *at = text;
	blob run = small_recording();
	const char *paths[] = { temp_path("a.json"), temp_path("b.json"), temp_path("i.sonde"), temp_path("r.sonde") };
	uint64_t bytes = 0;
	struct stat st;
	sonde_trace *t;
	sonde_error err;

	(void)state;
	assert_non_null(text);
	*at++ = '[';
	for (size_t i = 0; i < n_events; i++)
		at += sprintf(at,
			      "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": %zu, \"ts\": %zu, \"dur\": 1},\n",
			      i % 7, i);
	temp_write(paths[0], text, (size_t)(at - text));
	temp_write(paths[1], text, (size_t)(at - text));
	free(text);
	assert_int_equal(sonde_trace_open(paths[0], &t, NULL), SONDE_OK);
	assert_int_equal(sonde_trace_save(t, paths[2], NULL), SONDE_OK);
	sonde_trace_free(t);
	temp_write(paths[3], run.ptr, run.len);
	for (size_t i = 0; i < 4; i++)
		bytes += stat(paths[i], &st) == 0 ? (uint64_t)st.st_size : 0;

	told all = { 0 };
	sonde_open_options options = {
		.struct_size = sizeof options, .n_threads = 2, .progress = tell, .context = &all
	};
	assert_int_equal(sonde_trace_open_with(paths, 4, &options, &t, NULL), SONDE_OK);
	sonde_trace_free(t);
	assert_true(all.n > 10);
	assert_false(all.backwards);
	assert_int_equal(all.done, bytes);
	assert_int_equal(all.total, bytes);
	for (unsigned n_threads = 1; n_threads <= 2; n_threads++)
		for (unsigned i = 1; i <= all.n; i += all.n / 20 + 1) {
			told some = { .stop_after = i };
			options.context = &some;
			options.n_threads = n_threads;
			sonde_status status = sonde_trace_open_with(paths, 4, &options, &t, &err);
			if (some.n < i) { /* fewer with fewer threads */
				assert_int_equal(status, SONDE_OK);
				sonde_trace_free(t);
				continue;
			}
			assert_int_equal(status, SONDE_E_STATE);
			assert_int_equal(some.n, i);
		}
	free(run.ptr);
	temp_clear();
}

static void cut_data_is_told_and_the_rest_is_there(void **state)
{
	char text[4000] = "[";
	sonde_trace *t;
	sonde_trace_facts facts = { .struct_size = sizeof facts };

	(void)state;
	for (int i = 0; i < 40; i++)
		sprintf(text + strlen(text), "{\"ph\": \"X\", \"name\": \"n%d\", \"ts\": %d, \"dur\": 1},\n", i * i,
			i * 7);
	blob packed = gzipped((blob){ (uint8_t *)text, strlen(text) });
	temp_write(temp_path("cut.json.gz"), packed.ptr, packed.len / 2);
	assert_int_equal(sonde_trace_open(temp_path("cut.json.gz"), &t, NULL), SONDE_OK);
	assert_int_equal(diagnostic(t, "the gzip data is truncated"), 1);
	assert_in_range(index_n_slices(t->index), 5, 39);
	sonde_trace_get_facts(t, &facts);
	assert_int_equal(facts.n_events, index_n_slices(t->index) + facts.n_lost);
	sonde_trace_free(t);
	free(packed.ptr);
	temp_clear();
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

static void a_saved_trace_is_the_same_bytes(void **state)
{
	blob ix = make_index("mm", 5000, 3);
	const char *path = temp_path("saved.sonde"), *link = temp_path("link.sonde");
	sonde_trace *t;
	size_t len;

	(void)state;
	temp_write(temp_path("in.sonde"), ix.ptr, ix.len);
	assert_int_equal(sonde_trace_open(temp_path("in.sonde"), &t, NULL), SONDE_OK);
	assert_int_equal(symlink(path, link), 0);
	for (int i = 0; i < 3; i++) { /* new, in place of the old, through a link */
		struct stat st;
		assert_int_equal(sonde_trace_save(t, i < 2 ? path : link, NULL), SONDE_OK);
		uint8_t *back = temp_read(path, &len);
		assert_int_equal(len, ix.len);
		assert_memory_equal(back, ix.ptr, len);
		free(back);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | 0600);
		assert_int_equal(lstat(link, &st), 0);
		assert_true(S_ISLNK(st.st_mode));
	}
	sonde_trace_free(t);
	free(ix.ptr);
	temp_clear();
}

static void what_cannot_be_saved_leaves_nothing(void **state)
{
	blob ix = make_index("mm", 5000, 3);
	struct rlimit before, little;
	sonde_trace *t;
	sonde_error err;
	size_t len;

	(void)state;
	temp_write(temp_path("in.sonde"), ix.ptr, ix.len);
	temp_write(temp_path("old.sonde"), "old", 3);
	assert_int_equal(sonde_trace_open(temp_path("in.sonde"), &t, NULL), SONDE_OK);
	size_t n_entries = temp_count();
	assert_int_equal(sonde_trace_save(t, temp_path("no/such/dir.sonde"), &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "no/such/dir.sonde: cannot write: No such file or directory"));
	assert_int_equal(sonde_trace_save(t, temp_dir, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "Is a directory"));
	assert_int_equal(sonde_trace_save(t, "/dev/full", &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "No space left on device"));

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	little = before;
	little.rlim_cur = ix.len / 2; /* a disk that gets full */
	setrlimit(RLIMIT_FSIZE, &little);
	sonde_status status = sonde_trace_save(t, temp_path("old.sonde"), &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(status, SONDE_E_IO);
	uint8_t *old = temp_read(temp_path("old.sonde"), &len);
	assert_string_equal((char *)old, "old");
	free(old);
	assert_int_equal(temp_count(), n_entries);
	sonde_trace_free(t);
	free(ix.ptr);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_files_open_however_they_come),
		cmocka_unit_test(a_recording_brings_its_index_along),
		cmocka_unit_test(what_is_no_trace_says_so),
		cmocka_unit_test(one_that_is_no_trace_spoils_all),
		cmocka_unit_test(ranks_and_clocks_of_several_files),
		cmocka_unit_test(one_file_has_the_rank_it_says),
		cmocka_unit_test(a_merged_trace_is_one_among_others),
		cmocka_unit_test(recordings_go_with_other_traces),
		cmocka_unit_test(progress_is_told_and_may_stop_it),
		cmocka_unit_test(cut_data_is_told_and_the_rest_is_there),
		cmocka_unit_test(a_saved_trace_is_the_same_bytes),
		cmocka_unit_test(what_cannot_be_saved_leaves_nothing),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
