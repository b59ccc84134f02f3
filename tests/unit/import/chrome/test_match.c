/*
 * However a trace is read, fast or careful, with vector instructions or without, by one thread or four: the image is
 * the same, byte by byte. Real traces, one of several windows, and that one damaged where its windows meet.
 */
#include <glob.h>
#include "unit/import/imported.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 12 };
#else
enum { SLOW = 1 };
#endif

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* ---- A trace of several windows ---------------------------------------------------------------------------------- */

typedef struct big_trace {
	char *text;
	size_t len;
	uint64_t n_events;
} big_trace;

/* One event of a kind; some belong to one that comes much later. */
static void put_event(FILE *out, uint64_t i, uint64_t *seed)
{
	unsigned r = (unsigned)next_random(seed), pid = 100 + r % 3, tid = r / 8 % 5;
	unsigned long long us = 1000 + i * 7;

	switch (r >> 20 & 15) {
	case 0:
		fprintf(out, "{\"ph\":\"B\",\"name\":\"scope %u\",\"pid\":%u,\"tid\":%u,\"ts\":%llu}", r % 50, pid, tid,
			us);
		break;
	case 1:
		fprintf(out, "{\"ph\":\"E\",\"pid\":%u,\"tid\":%u,\"ts\":%llu,\"tts\":%u}", pid, tid, us, r % 99);
		break;
	case 2:
		fprintf(out,
			"{\"ph\":\"%c\",\"cat\":\"async\",\"id\":\"request-%u\",\"name\":\"r\",\"pid\":%u,\"ts\":%llu}",
			r & 1 ? 'b' : 'e', r / 16 % 40, pid, us);
		break;
	case 3:
		fprintf(out,
			"{\"ph\":\"C\",\"name\":\"memory\",\"pid\":%u,\"ts\":%llu,\"args\":{\"used\":%u%s,\"free\":%u}"
			"}",
			pid, us, r % 1000, r % 7 ? "" : ".5", r % 77);
		break;
	case 4:
		fprintf(out,
			"{\"ph\": \"%c\", \"id\": %u, \"pid\": %u, \"tid\": %u, \"ts\": %llu.125, \"cat\": \"ac2g\", "
			"\"name\": \"ac2g\"%s}",
			r & 1 ? 's' : 'f', r / 16 % 5000, pid, tid, us, r & 1 ? "" : ", \"bp\": \"e\"");
		break;
	case 5: /* arguments that look like events */
		fprintf(out,
			"{\"ph\":\"X\",\"name\":\"look\",\"pid\":%u,\"tid\":%u,\"ts\":%llu,\"dur\":3,\"args\":{"
			"\"list\":[{\"name\":\"x\"},"
			"{\"pid\": %u}, \"},{\\\"ph\\\":\\\"X\\\"\"]}}",
			pid, tid, us, r % 9);
		break;
	case 6:
	case 7:
		fprintf(out,
			"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k%u<float, %u>(int)\", \"pid\": "
			"0, \"tid\": %u,\n"
			"    \"ts\": %llu.%03u, \"dur\": %u.%03u,\n    \"args\": {\n      \"device\": 0, \"stream\": "
			"%u, \"correlation\": %u, "
			"\"blocks per SM\": %u%s,\n      \"grid\": [%u, 1, 1]\n    }\n  }",
			r % 60, r % 8, 7 + r % 3, us, r % 1000, r % 9, r / 7 % 1000, 7 + r % 3, (unsigned)i - 1, r % 4,
			r % 5 ? ".25" : "", r % 4096);
		break;
	case 8:
		fprintf(out,
			"{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": %u, "
			"\"tid\": %u,\n"
			"    \"ts\": %llu.%03u, \"dur\": %u.%03u,\n    \"args\": {\n      \"cbid\": 211, "
			"\"correlation\": %s\n    }\n  }",
			pid, tid, us, r % 1000, r % 9, r / 7 % 1000, r % 300 ? "77" : "null");
		break;
	case 9:
		fprintf(out,
			"{\"name\":\"\\u00e9\\\"%u\\\"\",\"ph\":\"i\",\"ts\":\"%llu.5\",\"pid\":\"p%u\",\"tid\":"
			"\"worker %u\",\"s\":\"p\"}",
			r % 30, us, pid, tid);
		break;
	default:
		fprintf(out,
			"{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%u\", \"pid\": %u, \"tid\": "
			"%u,\n"
			"    \"ts\": %llu.%03u, \"dur\": %u.%03u,\n    \"args\": {\n      \"External id\": %llu, "
			"\"Input Dims\": [[%u, %u], []], "
			"\"Concrete Inputs\": [\"\", \"%u\"]\n    }\n  }",
			r % 200, pid, tid, us, r % 1000, r % 40, r / 7 % 1000, (unsigned long long)i, r % 64, r % 9,
			r % 100);
	}
}

static big_trace make_big(size_t least)
{
	big_trace t = { 0 };
	uint64_t seed = 5;
	FILE *out = open_memstream(&t.text, &t.len);

	assert_non_null(out);
	fprintf(out, "{\"schemaVersion\": 1, \"traceEvents\": [\n  ");
	for (; ftell(out) < (long)least; t.n_events++) {
		put_event(out, t.n_events, &seed);
		fprintf(out, ",\n  ");
	}
	put_event(out, t.n_events++, &seed);
	fprintf(out, "\n], \"baseTimeNanoseconds\": 1700000000000000000}\n");
	assert_int_equal(fclose(out), 0);
	return t;
}

static void a_trace_of_several_windows_is_the_same_every_way(void **state)
{
	big_trace t = make_big(9 << 20);

	(void)state;
	assert_true(t.len > 4 * INPUT_WINDOW);
	imported result = import_all_ways(t.text, t.len, "big");
	assert_int_equal(result.status, SONDE_OK);
	assert_int_equal(result.job.n_events, t.n_events);
	size_t n;
	const index_diagnostic *d = index_diagnostics(result.ix, &n);
	for (size_t i = 0; i < n; i++) /* ends and begins come at random; nothing else may be lost */
		assert_true(!d[i].lost || strcmp(index_text(result.ix, d[i].text), "ends without a begin") == 0);
	assert_int_equal(index_verify(result.ix, NULL), SONDE_OK);
	index_free(result.ix);
	free(t.text);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static void put_digits(FILE *out, unsigned n, uint64_t *seed)
{
	for (unsigned i = 0; i < n; i++)
		fputc((int)('0' + next_random(seed) % 10), out);
}

/* A number of so many digits, decimals and, at times, an exponent. */
static void put_number(FILE *out, unsigned n_digits, unsigned n_decimals, uint64_t *seed)
{
	static const char *const ends[] = { "", "", "", "", "", "e0", "E-2", "e" };

	fputc((int)('0' + next_random(seed) % 5), out); /* times that fit, and ones with a zero in front */
	put_digits(out, n_digits - 1, seed);
	if (n_decimals)
		fputc('.', out);
	put_digits(out, n_decimals, seed);
	fputs(ends[next_random(seed) % 8], out);
}

static void numbers_of_every_length_are_the_same_every_way(void **state)
{
	char *text;
	size_t len;
	uint64_t seed = 7, n_events = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	fputs("[", out);
	for (unsigned n = 0; n < 100 * 19 * 6; n++, n_events++) {
		fputs(n ? ",\n{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":"
			: "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"ts\":",
		      out);
		put_number(out, n % 19 + 1, n / 19 % 6, &seed);
		fputs(",\"dur\":", out);
		put_number(out, (unsigned)(next_random(&seed) % 5 + 1), (unsigned)(next_random(&seed) % 5), &seed);
		fputs(",\"args\":{\"correlation\":", out);
		put_digits(out, (unsigned)(next_random(&seed) % 20 + 1), &seed);
		fputs("}}", out);
	}
	fputs("]", out);
	assert_int_equal(fclose(out), 0);
	imported result = import_all_ways(text, len, "numbers");
	assert_int_equal(result.status, SONDE_OK);
	assert_int_equal(result.job.n_events, n_events);
	index_free(result.ix);
	free(text);
}

/* ---- Damaged where windows meet ---------------------------------------------------------------------------------- */

typedef enum damage {
	DAMAGE_QUOTES,
	DAMAGE_BRACES,
	DAMAGE_NOISE,
	DAMAGE_BLANK,
	DAMAGE_MISSING,
	DAMAGE_DOUBLE,
	DAMAGES
} damage;

/* Damages `len` bytes at `at`. Returns the new length of the text, which has room. */
static size_t do_damage(char *text, size_t text_len, size_t at, size_t len, damage kind, uint64_t *seed)
{
	switch (kind) {
	case DAMAGE_QUOTES:
		memset(text + at, '"', len);
		break;
	case DAMAGE_BRACES:
		memset(text + at, next_random(seed) % 2 ? '{' : '}', len);
		break;
	case DAMAGE_NOISE:
		for (size_t i = 0; i < len; i++)
			text[at + i] = (char)next_random(seed);
		break;
	case DAMAGE_BLANK:
		memset(text + at, ' ', len);
		break;
	case DAMAGE_MISSING:
		memmove(text + at, text + at + len, text_len - at - len);
		return text_len - len;
	default:
		memmove(text + at + len, text + at, text_len - at);
		return text_len + len;
	}
	return text_len;
}

static uint64_t n_without_begin(const imported *i)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(i->ix, &n);

	for (size_t k = 0; k < n; k++)
		if (strcmp(index_text(i->ix, d[k].text), "ends without a begin") == 0)
			return d[k].count;
	return 0;
}

static void damage_where_windows_meet_costs_what_it_hits(void **state)
{
	static const import_how ways[] = { { 2, false, false }, { 4, true, false }, { 1, false, true } };
	enum { ROUNDS = SLOW > 1 ? 1 : 3 };
	big_trace t = make_big((2 * INPUT_WINDOW) + (1 << 19));
	char *text = malloc(t.len + 1000);
	uint64_t seed = 9;

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i < DAMAGES * ROUNDS * 4; i++) {
		damage kind = (damage)(i % DAMAGES);
		size_t len = 1 + next_random(&seed) % (i % 4 ? 100 : 5);
		size_t at = INPUT_WINDOW * (1 + i / DAMAGES % 2) - next_random(&seed) % (len + 40);
		memcpy(text, t.text, t.len);
		size_t new_len = do_damage(text, t.len, at, len, kind, &seed);
		imported result = import_bytes(text, new_len, (import_how){ 0 });
		assert_int_equal(result.status, SONDE_OK);
		/* An event is a hundred bytes or more: two are hit, or three; what is doubled may count twice. */
		int64_t more = (int64_t)result.job.n_events - (int64_t)t.n_events;
		uint64_t lost = imported_lost(&result) - n_without_begin(&result);
		if (more < -2 || more > 2 || lost > 4)
			fprintf(stderr, "damage %d of %zu at %zu: %lld events more, %llu lost\n%.400s\n", kind, len, at,
				(long long)more, (unsigned long long)lost, text + at - 150);
		assert_true(more >= -2 && more <= 2 && lost <= 4);
		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
			imported other = import_bytes(text, new_len, ways[w]);
			size_t n_a, n_b;
			const uint8_t *a = index_bytes(result.ix, &n_a), *b = index_bytes(other.ix, &n_b);
			if (n_a != n_b || memcmp(a, b, n_a) != 0)
				fprintf(stderr, "damage %d of %zu at %zu: differs with %u threads%s%s\n%.400s\n", kind,
					len, at, ways[w].n_threads, ways[w].scalar ? ", scalar" : "",
					ways[w].careful ? ", careful" : "", text + at - 150);
			assert_int_equal(n_a, n_b);
			assert_memory_equal(a, b, n_a);
			index_free(other.ix);
		}
		index_free(result.ix);
	}
	free(text);
	free(t.text);
}

/* ---- Real ones --------------------------------------------------------------------------------------------------- */

static void real_traces_are_the_same_every_way(void **state)
{
	static const char *const sets[] = { "traces/*/*.json.gz",
					    "torch/kineto_*.json.gz",
					    "profiles/jax/*.json.gz",
					    "profiles/viztracer/*.json.gz",
					    "profiles/pyspy/*chrometrace.json",
					    "profiles/onnxruntime/*.json",
					    "samples/torch113_profiler_nokineto.json" };
	enum { MOST_BYTES = SLOW > 1 ? 200000 : 1 << 30 };
	const char *source = getenv("SOURCE");
	size_t n_files = 0;

	(void)state;
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		char pattern[512];
		glob_t found;
		snprintf(pattern, sizeof pattern, "%s/../shared/data/%s", source ? source : ".", sets[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			size_t len;
			uint8_t *bytes = temp_read(found.gl_pathv[k], &len);
			if (len <= MOST_BYTES) {
				imported result = import_all_ways(bytes, len, found.gl_pathv[k]);
				assert_int_equal(result.status, SONDE_OK);
				index_free(result.ix);
				n_files++;
			}
			free(bytes);
		}
		globfree(&found);
	}
	if (!n_files) {
		print_message("skipped: no ../shared/data\n");
		skip();
	}
	print_message("%zu files\n", n_files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_of_several_windows_is_the_same_every_way),
		cmocka_unit_test(numbers_of_every_length_are_the_same_every_way),
		cmocka_unit_test(damage_where_windows_meet_costs_what_it_hits),
		cmocka_unit_test(real_traces_are_the_same_every_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
