/*
 * Flipped bits in indexes. Whatever is asked of a damaged file, the answer is right or the trace says which part is
 * damaged; the index of a recording mends itself, so that every answer is right.
 *
 * SONDE_FLIPS flips are tried of each kind of file (default 5,000; 500 under sanitizers), each with one question.
 */
#include <sonde/analyze.h>
#include <sonde/picture.h>
#include <sonde/query.h>
#include <sonde/recorder.h>
#include "store/trace.h"
#include "unit/import/random_recording.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FLIPS = 500 };
#else
enum { FLIPS = 5000 };
#endif

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static const char *const analyses[] = { "report", "info",	 "memory",    "counters",    "steps",	 "bottlenecks",
					"idle",	  "collectives", "occupancy", "utilization", "bandwidth" };
static const char *const statements[] = {
	"select name, count(*), sum(dur), sum(self) from slices group by name order by name",
	"select count(*), sum(length(args)) from slices",
	"select * from instants",
	"select * from flows",
	"select * from launches",
	"select * from counters",
	"select * from allocations",
	"select count(*), sum(bytes), sum(sequence), group_concat(name) from collectives",
	"select count(*), sum(registers), sum(occupancy_percent), sum(gb_per_s) from kernels",
	"select count(*), sum(compute_major), group_concat(name) from devices",
	"select id, parent, depth, ts from slices where dur > 300 limit 500",
};
enum {
	N_ANALYSES = sizeof analyses / sizeof analyses[0],
	N_STATEMENTS = sizeof statements / sizeof statements[0],
	Q_EXPORT = N_ANALYSES + N_STATEMENTS,
	Q_FLAME,
	Q_TIMELINE,
	Q_VIEW,
	N_QUESTIONS,
};

static void put_analysis(const sonde_trace *t, const char *name, FILE *out)
{
	sonde_result *r;
	sonde_error err = { .message = "" };

	if (sonde_analyze(t, name, NULL, &r, &err)) {
		fprintf(out, "%s", err.message);
		return;
	}
	assert_int_equal(sonde_result_print(r, SONDE_JSON, NULL, out, NULL), SONDE_OK);
	sonde_result_free(r);
}

static void put_rows(const sonde_trace *t, const char *sql, FILE *out)
{
	sonde_query *q;
	size_t at = 0;
	bool is_row = true;

	assert_int_equal(sonde_query_open(t, NULL, &q, NULL), SONDE_OK);
	assert_int_equal(sonde_query_prepare(q, sql, &at, NULL), SONDE_OK);
	while (sonde_query_step(q, &is_row, NULL) == SONDE_OK && is_row)
		for (size_t i = 0; i < sonde_query_n_columns(q); i++) {
			sonde_cell c = sonde_query_cell(q, i);
			fprintf(out, "%d %lld %g ", (int)c.type, (long long)c.integer, c.real);
			if (c.len)
				fwrite(c.text, 1, c.len, out);
		}
	sonde_query_free(q);
}

static void put_view(const sonde_trace *t, FILE *out)
{
	static range_rect rects[200];
	int64_t start = index_start_ns(t->index), end = index_end_ns(t->index);
	size_t n_lanes;

	index_lanes(t->index, &n_lanes);
	for (uint32_t lane = 0; lane < n_lanes; lane++)
		for (int64_t width = end - start; width > 1000; width /= 9) {
			int64_t from = start + (end - start - width) / 2;
			size_t n = index_range(t->index, lane, from, from + width, 200, rects);
			for (size_t i = 0; i < n; i++)
				fprintf(out, "%u %u %s %u %llu %g;", rects[i].x, rects[i].width,
					index_text(t->index, rects[i].site), rects[i].n_slices,
					(unsigned long long)rects[i].slice, rects[i].busy);
		}
}

static char *answer(const sonde_trace *t, size_t question, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	assert_non_null(out);
	if (question < N_ANALYSES)
		put_analysis(t, analyses[question], out);
	else if (question < Q_EXPORT)
		put_rows(t, statements[question - N_ANALYSES], out);
	else if (question == Q_EXPORT)
		sonde_export(t, "chrome", out, NULL);
	else if (question == Q_FLAME)
		sonde_flame_write(t, "folded", NULL, out, NULL);
	else if (question == Q_TIMELINE)
		sonde_timeline_write(t, NULL, out, NULL);
	else
		put_view(t, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* A file, and what it answers while it is whole. */
typedef struct whole {
	const char *path;
	uint8_t *bytes;
	size_t len;
	size_t index_at; /* flips come behind */
	bool is_sparse;	 /* some questions have no answer */
	char *answers[N_QUESTIONS];
	size_t lens[N_QUESTIONS];
} whole;

static sonde_trace *open_path(const char *path)
{
	sonde_trace *t;

	if (sonde_trace_open(path, &t, NULL))
		return NULL;
	return t;
}

static void take_answers(whole *w, const char *path)
{
	w->path = path;
	w->bytes = temp_read(path, &w->len);
	sonde_trace *t = open_path(path);
	assert_non_null(t);
	for (size_t i = 0; i < N_QUESTIONS; i++) {
		w->answers[i] = answer(t, i, &w->lens[i]);
		assert_true(w->is_sparse || w->lens[i] > 0);
	}
	sonde_trace_free(t);
}

static void whole_done(whole *w)
{
	for (size_t i = 0; i < N_QUESTIONS; i++)
		free(w->answers[i]);
	free(w->bytes);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 20;
}

static bool is_right(const whole *w, const sonde_trace *t, size_t question)
{
	size_t len;
	char *got = answer(t, question, &len);
	bool right = len == w->lens[question] && memcmp(got, w->answers[question], len) == 0;

	free(got);
	return right;
}

static size_t n_flips(void)
{
	const char *given = getenv("SONDE_FLIPS");

	return given ? strtoul(given, NULL, 10) : FLIPS;
}

/* Calls back with each file that can be opened, and a question. */
static void with_flips(const whole *w, void (*check)(const whole *w, const sonde_trace *t, size_t question, size_t bit))
{
	uint64_t seed = 5;

	for (size_t i = n_flips(); i--;) {
		size_t at = w->index_at + next_random(&seed) % (w->len - w->index_at), bit = next_random(&seed) % 8;
		w->bytes[at] ^= (uint8_t)(1u << bit);
		temp_write(w->path, w->bytes, w->len);
		w->bytes[at] ^= (uint8_t)(1u << bit);
		sonde_trace *t = open_path(w->path);
		if (t)
			check(w, t, i % N_QUESTIONS, 8 * at + bit);
		sonde_trace_free(t);
	}
	temp_write(w->path, w->bytes, w->len);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void save_recording(const char *path, size_t *ret_len)
{
	static random_run r;

	make_run_as(&r, 11, 3000, NAME_STEP, STREAM_CLOSED);
	make_save(&r.m, path);
	*ret_len = r.m.len;
	run_done(&r);
}

static size_t n_told;

static void right_or_says_so(const whole *w, const sonde_trace *t, size_t question, size_t bit)
{
	sonde_error err = { .message = "" };
	bool right = is_right(w, t, question);

	if (!right && sonde_trace_damage(t, &err) == SONDE_OK)
		fail_msg("bit %zu changes answer %zu without a word", bit, question);
	if (!right)
		assert_non_null(strstr(err.message, "cannot be read"));
	n_told += !right;
}

static void an_imported_file_answers_right_or_says_what_is_damaged(void **state)
{
	const char *path = temp_path("imported.sonde");
	whole w = { 0 };
	size_t len;

	(void)state;
	save_recording(path, &len);
	sonde_trace *t = open_path(path);
	assert_int_equal(sonde_trace_save(t, path, NULL), SONDE_OK);
	sonde_trace_free(t);
	take_answers(&w, path);
	with_flips(&w, right_or_says_so);
	assert_true(n_told > n_flips() / 20);
	whole_done(&w);
}

/* What only other tools' traces have. */
static void save_chrome(const char *path)
{
	const char *json = temp_path("facts.json");
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	sonde_trace *t;

	assert_non_null(out);
	fprintf(out,
		"{\"deviceProperties\": [{\"id\": 0, \"name\": \"A100\", \"computeMajor\": 8}], \"traceEvents\": "
		"[{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 7, \"tid\": "
		"8, \"ts\": 0, \"dur\": 9000}");
	for (int i = 0; i < 600; i++)
		fprintf(out,
			",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, "
			"\"tid\": 20, \"ts\": %d, \"dur\": 9, \"args\": {\"device\": 0, \"stream\": 20, \"Collective "
			"name\": \"allreduce\", \"dtype\": \"%s\", \"In msg nelems\": %d, \"Process Group Name\": "
			"\"0\", "
			"\"Group size\": 2, \"Seq\": %d}}",
			10 * i, i % 5 ? "Half" : "Float", 64 * (i % 37), i);
	for (int i = 0; i < 600; i++)
		fprintf(out,
			",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": "
			"%d, "
			"\"dur\": 4, \"args\": {\"device\": 0, \"stream\": 7, \"grid\": [%d, 1, 1], \"block\": [256, "
			"1, "
			"1], \"registers per thread\": 32, \"shared memory\": %d, \"blocks per SM\": 0.5, \"est. "
			"achieved "
			"occupancy %%\": %d}},\n{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD "
			"(Pageable "
			"-> Device)\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 3, \"args\": {\"device\": 0, "
			"\"stream\": "
			"7, \"bytes\": %d, \"memory bandwidth (GB/s)\": %d.5}}",
			10 * i, i % 41, 16 * (i % 3), i % 100, 10 * i + 5, 1000 * i, i);
	fprintf(out, "]}");
	assert_int_equal(fclose(out), 0);
	temp_write(json, text, len);
	free(text);
	assert_int_equal(sonde_trace_open(json, &t, NULL), SONDE_OK);
	assert_int_equal(sonde_trace_save(t, path, NULL), SONDE_OK);
	sonde_trace_free(t);
}

static void facts_are_right_or_said_to_be_damaged(void **state)
{
	const char *path = temp_path("chrome.sonde");
	whole w = { .is_sparse = true };

	(void)state;
	save_chrome(path);
	n_told = 0;
	take_answers(&w, path);
	with_flips(&w, right_or_says_so);
	assert_true(n_told > n_flips() / 20);
	whole_done(&w);
}

/* An index that cannot be opened is made anew: reports of the recording say so. */
static void right(const whole *w, const sonde_trace *t, size_t question, size_t bit)
{
	bool says_so = question < N_ANALYSES && t->recording->torn_index_bytes;

	if ((!is_right(w, t, question) && !says_so) || sonde_trace_damage(t, NULL))
		fail_msg("bit %zu changes answer %zu", bit, question);
}

static void the_index_of_a_recording_mends_itself(void **state)
{
	const char *path = temp_path("recorded.sonde");
	whole w = { 0 };

	(void)state;
	save_recording(path, &w.index_at);
	assert_int_equal(sonde_recorder_add_index(path, NULL, NULL, NULL), SONDE_OK);
	take_answers(&w, path);
	with_flips(&w, right);
	whole_done(&w);
}

/* The page that is mended is written back: the next reader finds the file as it was. */
static void a_mended_page_is_written_back(void **state)
{
	const char *path = temp_path("mended.sonde");
	size_t index_at, len;

	(void)state;
	save_recording(path, &index_at);
	assert_int_equal(sonde_recorder_add_index(path, NULL, NULL, NULL), SONDE_OK);
	uint8_t *bytes = temp_read(path, &len);
	const index_section *slices = (const index_section *)(bytes + index_at + sizeof(index_header)) + SECTION_SLICES;
	size_t at = index_at + slices->offset + slices->length / 2;
	bytes[at] ^= 1;
	temp_write(path, bytes, len);
	bytes[at] ^= 1;
	sonde_trace *t = open_path(path);
	assert_int_equal(index_verify(t->index, NULL), SONDE_OK);
	assert_int_equal(index_n_mended(t->index), 1);
	sonde_trace_free(t);
	uint8_t *now = temp_read(path, &(size_t){ 0 });
	assert_memory_equal(now, bytes, len);
	free(now);
	free(bytes);
}

static void a_damaged_index_is_not_copied(void **state)
{
	const char *path = temp_path("source.sonde"), *copy = temp_path("copy.sonde");
	sonde_error err = { .message = "" };
	size_t len;

	(void)state;
	save_recording(path, &len);
	sonde_trace *t = open_path(path);
	assert_int_equal(sonde_trace_save(t, path, NULL), SONDE_OK);
	sonde_trace_free(t);
	uint8_t *bytes = temp_read(path, &len);
	const index_section *slices = (const index_section *)(bytes + sizeof(index_header)) + SECTION_SLICES;
	bytes[slices->offset + 100] ^= 1;
	temp_write(path, bytes, len);
	t = open_path(path);
	assert_non_null(t);
	assert_int_equal(sonde_trace_save(t, copy, &err), SONDE_E_FORMAT);
	assert_non_null(strstr(err.message, "slices cannot be read"));
	assert_int_equal(access(copy, F_OK), -1);
	sonde_trace_free(t);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_imported_file_answers_right_or_says_what_is_damaged),
		cmocka_unit_test(facts_are_right_or_said_to_be_damaged),
		cmocka_unit_test(the_index_of_a_recording_mends_itself),
		cmocka_unit_test(a_mended_page_is_written_back),
		cmocka_unit_test(a_damaged_index_is_not_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
