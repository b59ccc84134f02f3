/* Traces cut off, mutated, packed to burst and nested beyond measure: no crash, bounded, and nothing goes uncounted. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <time.h>
#include "unit/import/imported.h"
#include "unit/import/chrome/small_chrome.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 12 }; /* times, about, as slow as without */
#else
enum { SLOW = 1 };
#endif

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* ---- Sound --------------------------------------------------------------------------------------------------------
 */

static void the_small_trace_is_sound(void **state)
{
	small_trace t = make_small();
	imported result = import_all_ways(t.text, t.len, "small");
	char *text = imported_text(&result);

	(void)state;
	assert_true(t.len < 3072);
	assert_null(strstr(text, "lost "));
	assert_non_null(strstr(text, "20 events, 0 lost\n"));
	assert_non_null(strstr(text, "slice 7/8 ^1 [1700000000000010125 +50500] cpu_op:aten::mm {"));
	free(text);
	index_free(result.ix);
}

/* ---- Cut off ----------------------------------------------------------------------------------------------------- */

/* A piece of memory of exactly this size: a sanitizer sees what reads further. */
static imported import_exactly(const char *text, size_t len, import_how how)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	imported result = import_bytes(copy, len, how);
	free(copy);
	return result;
}

static bool same_images(const imported *a, const imported *b)
{
	size_t n_a, n_b;

	if (a->status || b->status)
		return a->status == b->status;
	const uint8_t *bytes = index_bytes(a->ix, &n_a), *others = index_bytes(b->ix, &n_b);
	return n_a == n_b && memcmp(bytes, others, n_a) == 0;
}

static void a_trace_cut_off_anywhere_is_accounted_for(void **state)
{
	small_trace t = make_small();

	(void)state;
	for (size_t cut = 0; cut <= t.len; cut++) {
		uint64_t whole = 0, begun = 0;
		for (size_t i = 0; i < N_EVENTS; i++) {
			whole += t.end[i] <= cut;
			begun += t.start[i] < cut;
		}
		imported result = import_exactly(t.text, cut, (import_how){ 0 });
		imported careful = import_exactly(t.text, cut, (import_how){ .n_threads = 2, .careful = true });
		assert_true(same_images(&result, &careful));
		if (cut < t.list - 1) {
			assert_true(result.status == SONDE_E_FORMAT || result.status == SONDE_E_TRUNCATED);
			continue;
		}
		assert_int_equal(result.status, SONDE_OK);
		if (result.job.n_events != begun || imported_lost(&result) != begun - whole) {
			char *text = imported_text(&result);
			fprintf(stderr, "cut after %zu: %.*s\n%s", cut, 60, t.text + cut - 60, text);
			free(text);
		}
		assert_int_equal(result.job.n_events, begun);
		assert_int_equal(imported_lost(&result), begun - whole);
		index_free(result.ix);
		index_free(careful.ix);
	}
}

/* ---- Mutated ----------------------------------------------------------------------------------------------------- */

static size_t mutate(char *text, size_t len, size_t room, uint64_t *seed)
{
	static const char special[] = "\"\\{}[],:0-.eE \n\x01\x80\xff'";
	unsigned n = 1 + (unsigned)(next_random(seed) % 4);

	for (unsigned i = 0; i < n && len > 8; i++) {
		size_t at = next_random(seed) % len, some = 1 + next_random(seed) % 40;
		if (some > len - at)
			some = len - at;
		switch (next_random(seed) % 7) {
		case 0:
			text[at] = (char)(text[at] ^ (1 << next_random(seed) % 8));
			break;
		case 1:
		case 2:
			text[at] = special[next_random(seed) % (sizeof special - 1)];
			break;
		case 3: /* something is missing */
			memmove(text + at, text + at + some, len - at - some);
			len -= some;
			break;
		case 4: /* something is there twice */
			if (len + some <= room) {
				memmove(text + at + some, text + at, len - at);
				len += some;
			}
			break;
		case 5: /* something stands elsewhere */
			memmove(text + next_random(seed) % (len - some + 1), text + at, some);
			break;
		default: /* a character too many */
			if (len < room) {
				memmove(text + at + 1, text + at, len - at);
				text[at] = special[next_random(seed) % (sizeof special - 1)];
				len++;
			}
		}
	}
	return len;
}

static void mutations_are_read_the_same_every_way(void **state)
{
	enum { N = 100000 / SLOW };
	small_trace t = make_small();
	uint64_t seed = 20260311, n_events = 0, n_lost = 0, n_refused = 0;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		char text[4096];
		memcpy(text, t.text, t.len);
		size_t len = mutate(text, t.len, sizeof text, &seed);
		imported result = import_exactly(text, len, (import_how){ 0 });
		imported other = import_exactly(text, len, (import_how){ .scalar = i % 2, .careful = i % 3 != 0 });
		if (!same_images(&result, &other)) {
			char *a = imported_text(&result), *b = imported_text(&other);
			fprintf(stderr, "mutation %u: differs\n%.*s\n-- once\n%s-- so\n%s", i, (int)len, text, a, b);
			free(a);
			free(b);
		}
		assert_true(same_images(&result, &other));
		n_refused += result.status != SONDE_OK;
		if (!result.status) {
			n_events += result.job.n_events;
			n_lost += imported_lost(&result);
			if (i % 16 == 0)
				free(imported_text(&result));
			assert_int_equal(index_verify(result.ix, NULL), SONDE_OK);
		}
		index_free(result.ix);
		index_free(other.ix);
	}
	print_message("%d mutations: %llu events, %llu lost, %llu files refused\n", N, (unsigned long long)n_events,
		      (unsigned long long)n_lost, (unsigned long long)n_refused);
	/* A few changed bytes cost a few events. */
	assert_true(n_refused < N / 4);
	assert_true(n_lost < n_events / 5);
}

/* ---- Beyond measure ---------------------------------------------------------------------------------------------- */

/* `unit` n times between two texts. */
static blob repeated(const char *before, const char *unit, size_t n, const char *after)
{
	size_t n_before = strlen(before), n_unit = strlen(unit), n_after = strlen(after);
	blob b = { malloc(n_before + n_unit * n + n_after + 1), n_before + n_unit * n + n_after };

	assert_non_null(b.ptr);
	memcpy(b.ptr, before, n_before);
	for (size_t i = 0; i < n; i++)
		memcpy(b.ptr + n_before + i * n_unit, unit, n_unit);
	memcpy(b.ptr + n_before + n_unit * n, after, n_after);
	return b;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void nesting_and_lengths_are_bounded(void **state)
{
	static const struct {
		const char *about, *before, *unit, *after, *want;
		size_t n;
	} cases[] = {
		{ "arrays in args", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":", "[", "",
		  "lost 1 from 1: events", 100000 },
		{ "objects in args", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":", "{\"a\":", "",
		  "lost 1 from 1: events that are too long or nested too deeply\n1 events, 1 lost\n", 100000 },
		{ "nesting, then a sound event", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":", "[",
		  "]]]}},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: events that are too long or nested too deeply\n2 events, 1 "
		  "lost\n",
		  100000 },
		{ "events in events", "[", "{\"ph\":[", "", "lost ", 100000 },
		{ "lists in the list", "", "[", "", "a JSON list without any trace event", 100000 },
		{ "objects beside the events", "", "{\"a\":", "", "error ", 100000 },
		{ "a list beside the events", "{\"x\":", "[",
		  ",\"traceEvents\":[{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]}", "instant 0/0 2000 :b\n", 100000 },
		{ "a long name", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"", "abcdefgh", "\"}]", "1 events, 0 lost\n",
		  1 << 20 },
		{ "a name that is too long", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"", "abcdefgh",
		  "\"},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: events that are too long or nested too deeply\n2 events, 1 "
		  "lost\n",
		  3 << 20 },
		{ "a long number", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":", "12345678",
		  "},{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\nlost 1 from 1: damaged events\n2 events, 1 lost\n", 100000 },
		{ "a long number as a text", "[{\"ph\":\"i\",\"name\":\"a\",\"ts\":\"0.", "00000000", "1\"}]",
		  "instant 0/0 0 :a\nrepaired 1 from 1: times with digits below a nanosecond, rounded\n1 events, 0 "
		  "lost\n",
		  100000 },
		{ "nothing but commas", "[", ",,,,,,,,", "{\"ph\":\"i\",\"name\":\"b\",\"ts\":2}]",
		  "instant 0/0 2000 :b\n1 events, 0 lost\n", 1 << 20 },
		{ "nothing but braces", "[", "{{{{{{{{", "", "lost ", 1 << 18 },
		{ "nothing but quotes", "[", "\"\"\"\"\"\"\"\"", "", "", 1 << 18 },
		{ "quotes and braces", "[", ",{\"ph\":\"", "", "lost ", 1 << 18 },
		{ "begins of events", "[", ",{\"ph\":[0", "", "lost ", 1 << 18 },
		{ "keys", "[{", "\"ph\":1,", "\"ts\":2}]", "a JSON list without any trace event", 1 << 18 },
		{ "open scopes", "[", "{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"},", "]", "262144 events, 0 lost\n",
		  1 << 18 },
		{ "open scopes and ends of other names", "[",
		  "{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"},{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"},{\"ph\":\"E\",\"ts\":"
		  "1,\"name\":\"b\"},",
		  "]", "lost 65536 from ", 1 << 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		blob b = repeated(cases[i].before, cases[i].unit, cases[i].n, cases[i].after);
		int64_t before = now_ms();
		imported result = import_exactly((char *)b.ptr, b.len, (import_how){ 0 });
		int64_t took = now_ms() - before;
		char *text = imported_text(&result);
		if (!strstr(text, cases[i].want) || took > 2000 * SLOW)
			fprintf(stderr, "%s (%lld ms): %.600s\n", cases[i].about, (long long)took, text);
		assert_non_null(strstr(text, cases[i].want));
		assert_true(took <= 2000 * SLOW);
		free(text);
		index_free(result.ix);
		free(b.ptr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_small_trace_is_sound),
		cmocka_unit_test(a_trace_cut_off_anywhere_is_accounted_for),
		cmocka_unit_test(mutations_are_read_the_same_every_way),
		cmocka_unit_test(nesting_and_lengths_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
