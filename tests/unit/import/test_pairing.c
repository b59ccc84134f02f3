/*
 * Begins and ends.
 *
 * A script says what comes: "B0:a@1" begins "a" in list 0 at time 1, "E0:a@2" ends it, "E0@2" ends any. The answer is a
 * line for each scope in the order in which they are closed: "a 1-2", behind it how, if not by its own end at once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "import/pairing.h"
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include "unit/failing_malloc.h"
#define CAN_FAIL
#endif

enum { END_OF_FILE = 100 };

typedef struct answer {
	char text[4096];
	size_t n;
} answer;

__attribute__((format(printf, 2, 3))) static void say(answer *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	to->n += (size_t)vsnprintf(to->text + to->n, sizeof to->text - to->n, format, args);
	va_end(args);
	assert_true(to->n < sizeof to->text);
}

static void say_scope(answer *to, const pairing_open *begin, int64_t end_ns, const char *how)
{
	say(to, "%c %d-%d%s\n", (int)begin->name, (int)begin->ts_ns, (int)end_ns, how);
}

static void close_scope(void *context, const pairing_open *begin, const pairing_stop *end, pairing_fate fate)
{
	static const char *const how[] = {
		[PAIRING_MATCHED] = " late",
		[PAIRING_CROSSED] = " crossed",
		[PAIRING_UNCLOSED] = " open",
	};

	say_scope(context, begin, end->ts_ns, how[fate]);
}

static void say_count(answer *to, const char *what, pairing_count count)
{
	if (count.n)
		say(to, "%s %d from %d\n", what, (int)count.n, (int)count.first_at);
}

/* One word of a script; `at` is its number. */
static void run_event(pairing *p, const char *event, uint64_t at, answer *to)
{
	char kind = event[0];
	uint32_t list = (uint32_t)strtoul(event + 1, NULL, 10), name = PAIRING_ANY;
	const char *colon = strchr(event, ':');
	int64_t ts_ns = strtoll(strchr(event, '@') + 1, NULL, 10);
	pairing_open begin = { .ts_ns = ts_ns, .at = at };

	if (colon)
		name = (uint32_t)colon[1];
	begin.name = name;
	if (kind == 'B') {
		pairing_begin(p, list, &begin);
		return;
	}
	pairing_stop end = { .ts_ns = ts_ns, .at = at, .name = name };
	if (pairing_end(p, list, &end, &begin))
		say_scope(to, &begin, ts_ns, "");
	else
		pairing_keep_end(p, list, &end);
}

static void run_script(pairing *p, const char *script, answer *to)
{
	char *copy = strdup(script), *rest = copy;
	uint64_t at = 0;

	assert_non_null(copy);
	for (char *event; (event = strsep(&rest, " "));)
		if (*event)
			run_event(p, event, at++, to);
	pairing_match_kept(p);
	pairing_close_open(p, END_OF_FILE);
	say_count(to, "crossed", p->crossed);
	say_count(to, "unclosed", p->unclosed);
	say_count(to, "lost", p->lost_ends);
	say_count(to, "dropped", p->dropped);
	free(copy);
}

typedef struct script_case {
	const char *script, *wanted;
} script_case;

static void check(const script_case *cases, size_t n, bool nests, uint32_t max_waiting)
{
	for (size_t i = 0; i < n; i++) {
		answer to = { .n = 0 };
		pairing p = { .nests = nests, .close = close_scope, .context = &to, .max_waiting = max_waiting };
		run_script(&p, cases[i].script, &to);
		if (strcmp(to.text, cases[i].wanted) != 0)
			print_message("%s\n", cases[i].script);
		assert_string_equal(to.text, cases[i].wanted);
		assert_false(p.failed);
		pairing_done(&p);
	}
}
#define CHECK(cases, nests, max) check(cases, sizeof(cases) / sizeof(cases)[0], nests, max)

static void ends_find_their_begins_by_name_or_by_order(void **state)
{
	static const script_case cases[] = {
		{ "", "" },
		{ "B0:a@1 E0:a@2", "a 1-2\n" },
		{ "B0:a@1 E0@2", "a 1-2\n" },
		{ "B0:a@1 B0:b@2 E0@3 E0@4", "b 2-3\na 1-4\n" },
		{ "B0:a@1 B0:b@2 E0:b@3 E0:a@4", "b 2-3\na 1-4\n" },
		{ "B0:a@1 B0:a@2 E0:a@3 E0:a@4", "a 2-3\na 1-4\n" },
		{ "B0:a@5 E0:a@5", "a 5-5\n" },
	};

	(void)state;
	CHECK(cases, true, 0);
	CHECK(cases, false, 0);
}

static void lists_do_not_see_each_other(void **state)
{
	static const script_case cases[] = {
		{ "B0:a@1 B7:b@2 E0@3 E7@4", "a 1-3\nb 2-4\n" },
		{ "B3:a@1 E2:a@2 E3:a@3", "a 1-3\nlost 1 from 1\n" },
	};

	(void)state;
	CHECK(cases, true, 0);
	CHECK(cases, false, 0);
}

static void an_end_closes_what_is_nested_in_its_scope(void **state)
{
	static const script_case cases[] = {
		{ "B0:a@1 B0:b@2 B0:c@3 E0:a@4", "c 3-4 crossed\nb 2-4 crossed\na 1-4\ncrossed 2 from 3\n" },
		{ "B0:a@1 B0:b@2 E0:a@4 E0:b@5", "b 2-4 crossed\na 1-4\ncrossed 1 from 2\nlost 1 from 3\n" },
		/* c begins after the end of a: it is not inside of it. */
		{ "B0:a@1 B0:c@5 E0:a@4 E0:c@6", "a 1-4\nc 5-6\n" },
		{ "B0:a@1 B0:b@2 B0:c@5 E0:a@4 E0:c@6", "b 2-4 crossed\na 1-4\nc 5-6\ncrossed 1 from 3\n" },
	};

	(void)state;
	CHECK(cases, true, 0);
}

static void scopes_that_do_not_nest_may_cross(void **state)
{
	static const script_case cases[] = {
		{ "B0:a@1 B0:b@2 E0:a@3 E0:b@4", "a 1-3\nb 2-4\n" },
		{ "B0:a@1 B0:b@2 E0:x@3 E0:a@4", "b 2-3\na 1-4\n" }, /* no x: the innermost */
		{ "B0:a@1 B0:b@2 B0:c@3 E0:b@4", "b 2-4\na 1-100 open\nc 3-100 open\nunclosed 2 from 0\n" },
	};

	(void)state;
	CHECK(cases, false, 0);
}

static void events_may_come_in_any_order(void **state)
{
	static const script_case cases[] = {
		{ "E0:a@2 B0:a@1", "a 1-2 late\n" },
		{ "E0@9 E0@3 B0:a@1 B0:b@2", "b 2-3 late\na 1-9 late\n" },
		{ "B0:b@3 B0:a@1 E0@4 E0@5", "b 3-4\na 1-5\n" }, /* linked by time */
		{ "B0:b@3 E0:b@4 B0:a@1 E0:a@5", "b 3-4\na 1-5\n" },
		{ "B0:b@7 E0@2 B0:a@1 E0@9", "b 7-9\na 1-2 late\n" },
		/* Only an end that finds nothing else takes a begin that comes later. */
		{ "B0:a@5 E0:a@3", "a 5-3 late\n" },
	};

	(void)state;
	CHECK(cases, true, 0);
	CHECK(cases, false, 0);
}

static void what_does_not_pair_is_counted_with_its_place(void **state)
{
	static const script_case cases[] = {
		{ "E0@1 E1:a@2", "lost 2 from 0\n" },
		{ "B0:a@1 B1:b@2 E1:b@3 B0:c@4", "b 2-3\na 1-100 open\nc 4-100 open\nunclosed 2 from 0\n" },
		{ "B0:a@1 E0:b@2", "a 1-100 open\nunclosed 1 from 0\nlost 1 from 1\n" },
		{ "B0:a@200", "a 200-200 open\nunclosed 1 from 0\n" }, /* not before it began */
	};

	(void)state;
	CHECK(cases, true, 0);
}

static void what_waits_is_bounded(void **state)
{
	static const script_case cases[] = {
		{ "B0:a@1 B1:b@2 E0@3 E1@4", "a 1-3\nb 2-4\n" },
		{ "B0:a@1 B1:b@2 B2:c@3 E0@4 B3:d@5",
		  "a 1-4\nd 5-100 open\nb 2-100 open\nunclosed 2 from 1\ndropped 1 from 2\n" },
		{ "E0@1 E0@2 E0@3", "lost 2 from 0\ndropped 1 from 2\n" },
	};

	(void)state;
	CHECK(cases, true, 2);
	CHECK(cases, false, 2);
}

static void count_scope(void *context, const pairing_open *begin, const pairing_stop *end, pairing_fate fate)
{
	size_t *counts = context;

	(void)begin, (void)end;
	counts[fate]++;
}

/* Quadratic, were the search not bounded. */
static void deep_nesting_takes_linear_time_and_memory(void **state)
{
	enum { DEEP = 1 << 20 };
	size_t counts[3] = { 0 };
	pairing p = { .nests = true, .close = count_scope, .context = counts };
	pairing_open begin;

	(void)state;
	for (int64_t i = 0; i < DEEP; i++)
		pairing_begin(&p, 0, &(pairing_open){ .ts_ns = i, .name = 1 });
	for (int64_t i = 0; i < DEEP / 2; i++) {
		assert_true(pairing_end(&p, 0, &(pairing_stop){ .ts_ns = DEEP + i, .name = 1 }, &begin));
		assert_int_equal(begin.ts_ns, DEEP - 1 - i);
	}
	/* Ends of a name that no begin has look at PAIRING_SEARCHED of them only. */
	for (int64_t i = 0; i < 1000; i++)
		assert_false(pairing_end(&p, 0, &(pairing_stop){ .ts_ns = 2 * DEEP, .name = 2 }, &begin));
	assert_true(p.begins.capacity <= 2 * DEEP);
	pairing_match_kept(&p);
	pairing_close_open(&p, 3 * DEEP);
	assert_int_equal(counts[PAIRING_UNCLOSED], DEEP / 2);
	pairing_done(&p);
}

static void places_of_closed_begins_are_used_again(void **state)
{
	size_t counts[3] = { 0 };
	pairing p = { .nests = true, .close = count_scope, .context = counts };
	pairing_open begin;

	(void)state;
	for (int64_t i = 0; i < 100000; i++) {
		pairing_begin(&p, (uint32_t)i % 7, &(pairing_open){ .ts_ns = i, .name = 1 });
		assert_true(pairing_end(&p, (uint32_t)i % 7, &(pairing_stop){ .ts_ns = i, .name = 1 }, &begin));
	}
	assert_int_equal(p.begins.n, 1);
	pairing_done(&p);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Whatever comes, each begin is closed once, and each end is matched or lost. */
static void every_begin_and_end_is_accounted_for(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t counts[3] = { 0 }, n_begins = 0, n_ends = 0, n_matched = 0;
		pairing p = { .nests = round & 1, .close = count_scope, .context = counts };
		uint32_t n = next_random(&seed) % 60;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t list = next_random(&seed) % 3, name = next_random(&seed) % 4;
			int64_t ts_ns = next_random(&seed) % 50;
			pairing_stop end = { .ts_ns = ts_ns, .name = name ? name : PAIRING_ANY };
			pairing_open begin = { .ts_ns = ts_ns, .name = name };
			if (next_random(&seed) & 1) {
				pairing_begin(&p, list, &begin);
				n_begins++;
				continue;
			}
			n_ends++;
			if (pairing_end(&p, list, &end, &begin)) {
				n_matched++;
				assert_true(begin.ts_ns <= ts_ns);
			} else {
				pairing_keep_end(&p, list, &end);
			}
		}
		pairing_match_kept(&p);
		pairing_close_open(&p, 1000);
		assert_int_equal(n_matched + counts[0] + counts[1] + counts[2], n_begins);
		assert_int_equal(n_matched + counts[PAIRING_MATCHED] + p.lost_ends.n, n_ends);
		assert_true(counts[PAIRING_CROSSED] == p.crossed.n && counts[PAIRING_UNCLOSED] == p.unclosed.n);
		assert_true(p.nests || !p.crossed.n);
		pairing_done(&p);
	}
}

#ifdef CAN_FAIL
static sonde_status run_some(sonde_error *err)
{
	size_t counts[3] = { 0 };
	pairing p = { .nests = true, .close = count_scope, .context = counts };
	pairing_open begin;

	(void)err;
	for (int64_t i = 0; i < 100; i++) {
		pairing_stop end = { .ts_ns = i % 13, .name = (uint32_t)i % 5 };
		pairing_begin(&p, (uint32_t)i, &(pairing_open){ .ts_ns = i, .name = 1 });
		if (!pairing_end(&p, (uint32_t)i / 2, &end, &begin))
			pairing_keep_end(&p, (uint32_t)i / 2, &end);
	}
	pairing_match_kept(&p);
	pairing_close_open(&p, 1000);
	bool failed = p.failed;
	pairing_done(&p);
	return failed ? SONDE_E_MEMORY : SONDE_OK;
}
#endif

static void every_allocation_may_fail(void **state)
{
	(void)state;
#ifdef CAN_FAIL
	fail_each_allocation("pairing", run_some, 1);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_find_their_begins_by_name_or_by_order),
		cmocka_unit_test(lists_do_not_see_each_other),
		cmocka_unit_test(an_end_closes_what_is_nested_in_its_scope),
		cmocka_unit_test(scopes_that_do_not_nest_may_cross),
		cmocka_unit_test(events_may_come_in_any_order),
		cmocka_unit_test(what_does_not_pair_is_counted_with_its_place),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(deep_nesting_takes_linear_time_and_memory),
		cmocka_unit_test(places_of_closed_begins_are_used_again),
		cmocka_unit_test(every_begin_and_end_is_accounted_for),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
