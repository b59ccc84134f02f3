/* A stretch of the event list, read over damage: how many events come, what is counted, and where it goes on. */
#include "unit/store/make_builder.h"

#include "import/chrome/stretch.h"
#include "import/input/input.h"

typedef struct reading {
	builder *b;
	chrome_reader r;
	chrome_batch batch;
	uint8_t *text; /* with slack */
	size_t len;
} reading;

static void begin(reading *g, const char *text)
{
	*g = (reading){ .b = builder_with_threads(1), .len = strlen(text) };
	import_job job = { .builder = g->b };
	assert_true(chrome_reader_init(&g->r, &job));
	g->text = calloc(1, g->len + INPUT_SLACK);
	assert_non_null(g->text);
	memcpy(g->text, text, g->len);
	g->batch.offset = 1000;
}

static void end(reading *g)
{
	assert_false(g->batch.failed || g->r.failed);
	VEC_DONE(&g->batch.events);
	VEC_DONE(&g->batch.values);
	chrome_reader_done(&g->r);
	free(g->text);
	builder_free(g->b);
}

static stretch read_text(reading *g, bool final, bool lost)
{
	stretch_text t = {
		.reader = &g->r, .batch = &g->batch, .base = g->text, .end = g->text + g->len, .final = final
	};

	return stretch_read(&t, g->text, lost);
}

#define A "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1}"
#define B "{\"ph\":\"i\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":2}"

typedef struct stretch_case {
	const char *text;
	size_t n_events;
	chrome_problem problem; /* PROBLEM_KINDS: none */
	uint64_t count, first;	/* of it; first: offset in the text */
	uint64_t n_lost;
	bool ended;
} stretch_case;

static void damage_costs_what_it_hits(void **state)
{
	static const stretch_case cases[] = {
		{ A "," B "]", 2, PROBLEM_KINDS, 0, 0, 0, true },
		{ " \n" A " ,\n" A "\t] , \"more\": 1}", 2, PROBLEM_KINDS, 0, 0, 0, true },
		{ "]", 0, PROBLEM_KINDS, 0, 0, 0, true },
		{ A " " B "]", 2, PROBLEM_COMMA, 1, sizeof A, 0, true },
		{ A ",7,\"x\",null," B "]", 2, PROBLEM_LOST_ELEMENTS, 3, sizeof A, 3, true },
		{ A ",{\"ph\":\"X\",\"name\":}," B "]", 2, PROBLEM_LOST_DAMAGED, 1, sizeof A, 1, true },
		{ A ",%%%%," B "]", 2, PROBLEM_GARBAGE, 1, sizeof A, 0, true },
		/* The end of one was lost, and the next one begins inside of it. */
		{ A ",{\"ph\":\"X\",\"name\":\"c," B "]", 2, PROBLEM_LOST_DAMAGED, 1, sizeof A, 1, true },
		{ A ",{\"ph\":\"X\",\"name\":\"cut", 1, PROBLEM_LOST_CUT, 1, sizeof A, 1, false },
		{ A ",", 1, PROBLEM_KINDS, 0, 0, 0, false },
		{ "", 0, PROBLEM_KINDS, 0, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const stretch_case *c = &cases[i];
		reading g;
		begin(&g, c->text);
		stretch s = read_text(&g, true, false);
		if (g.batch.events.n != c->n_events)
			fail_msg("%s: %d events", c->text, (int)g.batch.events.n);
		assert_int_equal(g.batch.n_lost, c->n_lost);
		assert_int_equal(s.ended, c->ended);
		assert_true(s.at <= g.text + g.len);
		if (c->problem != PROBLEM_KINDS) {
			assert_int_equal(g.batch.problems.count[c->problem], c->count);
			assert_int_equal(g.batch.problems.first[c->problem], 1000 + c->first);
		}
		end(&g);
	}
}

/* However the text is cut in two, the events are the same, and none comes twice. */
static void text_that_goes_on_is_read_in_parts(void **state)
{
	static const char whole[] = A ",\n" B "," A ",{\"ph\":\"X\",\"name\":\"d]},{\",\"ts\":1,\"dur\":2}," B "]";

	(void)state;
	for (size_t cut = 0; cut < sizeof whole; cut++) {
		char part[sizeof whole];
		reading g;
		size_t n_events;
		snprintf(part, cut + 1, "%s", whole);
		begin(&g, part);
		stretch s = read_text(&g, false, false);
		n_events = g.batch.events.n;
		size_t at = (size_t)(s.at - g.text);
		assert_int_equal(g.batch.n_lost, 0);
		assert_int_equal(s.ended, cut == sizeof whole - 1);
		end(&g);
		if (s.ended)
			continue;
		begin(&g, whole + at);
		s = read_text(&g, true, s.lost);
		assert_int_equal(n_events + g.batch.events.n, 5);
		assert_int_equal(g.batch.n_lost, 0);
		assert_true(s.ended);
		end(&g);
	}
}

/* Damage that does not end is not kept for ever: it is counted, and the search goes on in the next part. */
static void endless_damage_is_skipped_in_parts(void **state)
{
	enum { LONG = 3 << 20 };
	char *text = malloc(LONG + 1);
	reading g;

	(void)state;
	assert_non_null(text);
	memset(text, '%', LONG);
	text[LONG] = '\0';
	begin(&g, text);
	stretch s = read_text(&g, false, false);
	assert_true(s.lost && !s.ended);
	assert_true(s.at > g.text + LONG - 1000); /* only what may be the start of an event */
	assert_int_equal(g.batch.problems.count[PROBLEM_GARBAGE], 1);
	end(&g);
	begin(&g, "%%%%," A "]");
	s = read_text(&g, true, true);
	assert_int_equal(g.batch.events.n, 1);
	assert_true(s.ended && !s.lost);
	end(&g);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_costs_what_it_hits),
		cmocka_unit_test(text_that_goes_on_is_read_in_parts),
		cmocka_unit_test(endless_damage_is_skipped_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
