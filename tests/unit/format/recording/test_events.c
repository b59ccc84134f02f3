/* Events: words to bytes and back, and bytes from strangers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/recording/events.h"

enum { MAX_EVENTS = 4000, MAX_WORDS = 60000 };

/* An event as the test sees it. */
typedef struct expected {
	uint64_t ticks;
	uint32_t code;
	uint32_t n_words;
	size_t payload; /* index of its first word in `words` of the sequence */
} expected;

typedef struct sequence {
	uint64_t base_ticks;
	uint64_t words[MAX_WORDS];
	size_t n_words;
	expected events[MAX_EVENTS];
	size_t n_events;
} sequence;

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (random_state >> 33) % n;
}

static void add(sequence *s, uint64_t ticks, uint32_t code, const uint64_t *payload, uint32_t n)
{
	uint64_t word = ticks << EVENT_TICK_SHIFT | code;

	s->words[s->n_words++] = payload ? word | EVENT_PAYLOAD : word;
	if (payload) {
		s->words[s->n_words++] = n;
		memcpy(&s->words[s->n_words], payload, n * sizeof *payload);
	}
	s->events[s->n_events++] = (expected){ ticks, code, n, s->n_words };
	s->n_words += n;
}

/* Encodes all of it, into memory that ends where the encoder says it may write. */
static uint8_t *encode(const sequence *s, events_encoded *ret)
{
	uint8_t *bytes = malloc(s->n_words * EVENT_BYTES_PER_WORD + VARINT_MAX);

	assert_non_null(bytes);
	*ret = events_encode(s->words, s->n_words, s->base_ticks, bytes);
	return bytes;
}

static void assert_same(const event *e, const sequence *s, size_t i)
{
	const expected *x = &s->events[i];

	assert_true(e->ticks == x->ticks);
	assert_int_equal(e->code, x->code);
	assert_int_equal(e->n_words, x->n_words);
	if (x->n_words)
		assert_memory_equal(e->words, &s->words[x->payload], x->n_words * sizeof(uint64_t));
}

static void assert_round_trip(const sequence *s)
{
	event_reader *r = malloc(sizeof *r);
	events_encoded e;
	uint8_t *bytes = encode(s, &e);
	event got;
	size_t n = 0;

	assert_int_equal(e.n_words, s->n_words);
	assert_int_equal(e.n_events, s->n_events);
	assert_false(e.damaged);
	assert_true(e.last_ticks == (s->n_events ? s->events[s->n_events - 1].ticks : s->base_ticks));
	events_open(r, bytes, e.n_bytes, s->base_ticks);
	for (; events_next(r, &got); n++)
		assert_same(&got, s, n);
	assert_false(r->damaged);
	assert_int_equal(n, s->n_events);
	free(bytes);
	free(r);
}

/* Ids as real programs have them, few and again and again, and any. */
static uint32_t random_id(bool any)
{
	return (uint32_t)(any ? 1 + random_below(EVENT_ID_MASK) : 32 + random_below(12));
}

static uint64_t random_step(uint64_t ticks)
{
	uint64_t kind = random_below(40), size = random_below(8) < 7 ? 1000 : UINT64_C(1) << 31;

	if (kind == 0)
		return ticks - random_below(size); /* a core whose clock is behind */
	if (kind == 1)
		return ticks + (random_below(UINT64_C(1) << 31) << 12);
	return ticks + random_below(size);
}

static void add_random(sequence *s, uint64_t *ticks, uint32_t *stack, size_t *depth, bool any)
{
	uint64_t payload[40];
	uint32_t n = (uint32_t)random_below(40), id = random_id(any);
	uint64_t what = random_below(20);

	*ticks = random_step(*ticks);
	if (what < 8 && *depth < 1000) {
		stack[(*depth)++] = id;
		add(s, *ticks, id, NULL, 0);
	} else if (what < 15 && *depth) {
		/* Mostly the innermost, sometimes one further out, which ends those inside with it. */
		size_t up = what == 14 ? random_below(*depth < 12 ? *depth : 12) : 0;
		*depth -= up + 1;
		add(s, *ticks, EVENT_END | (what == 13 ? 0 : stack[*depth]), NULL, 0);
	} else if (what == 15) {
		add(s, *ticks, EVENT_END | id, NULL, 0);
	} else {
		for (uint32_t i = 0; i < n; i++)
			payload[i] = random_below(3) ? random_below(1000) : random_state;
		add(s, *ticks, id | (random_below(9) ? 0 : EVENT_END), payload, n);
	}
}

static void random_sequences_come_back(void **state)
{
	sequence *s = malloc(sizeof *s);
	uint32_t stack[1000];

	(void)state;
	assert_non_null(s);
	for (uint64_t seed = 0; seed < 300; seed++) {
		uint64_t ticks = (seed + 1) << 44;
		size_t depth = 0, n = random_below(400);

		random_state = seed;
		s->n_words = s->n_events = 0;
		s->base_ticks = ticks - random_below(1000) + 500;
		for (size_t i = 0; i < n; i++)
			add_random(s, &ticks, stack, &depth, seed % 2);
		assert_round_trip(s);
	}
	free(s);
}

static void a_loop_takes_a_byte_an_event(void **state)
{
	sequence *s = calloc(1, sizeof *s);
	events_encoded e;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		add(s, i * 40 + 1, 40, NULL, 0);
		add(s, i * 40 + 10, 41, NULL, 0);
		add(s, i * 40 + 20, EVENT_END | 41, NULL, 0);
		add(s, i * 40 + 31, EVENT_END | 40, NULL, 0);
	}
	assert_round_trip(s);
	uint8_t *bytes = encode(s, &e);
	assert_true(e.n_bytes < 4020);
	free(bytes);
	free(s);
}

static void nesting_may_be_deeper_than_what_is_remembered(void **state)
{
	sequence *s = calloc(1, sizeof *s);
	uint64_t ticks = 1000;

	(void)state;
	s->base_ticks = 1000;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 900; i++)
			add(s, ticks++, 32 + i * 71 % 60000, NULL, 0);
		for (uint32_t i = 900; i > 0; i--)
			add(s, ticks++, EVENT_END | (32 + (i - 1) * 71 % 60000), NULL, 0);
	}
	assert_round_trip(s);
	free(s);
}

static void the_extremes_come_back(void **state)
{
	static uint64_t payload[EVENT_MAX_WORDS];
	sequence *s = calloc(1, sizeof *s);

	(void)state;
	for (size_t i = 0; i < EVENT_MAX_WORDS; i++)
		payload[i] = i % 3 ? UINT64_MAX - i : i;
	s->base_ticks = UINT64_C(1) << 50;
	add(s, s->base_ticks, 65535, NULL, 0);
	add(s, s->base_ticks - (UINT64_C(1) << 45) + 1, EVENT_END | 65535, NULL, 0); /* as far back as a word can say */
	add(s, s->base_ticks, 65535, payload, EVENT_MAX_WORDS);
	add(s, s->base_ticks + (UINT64_C(1) << 45) - 1, 1, payload, 0);
	add(s, s->base_ticks + (UINT64_C(1) << 45), EVENT_END | 65535, payload, EVENT_MAX_WORDS);
	add(s, s->base_ticks + (UINT64_C(1) << 45), EVENT_END, NULL, 0);
	assert_round_trip(s);
	free(s);
}

static void ticks_are_those_nearest_to_the_neighbour(void **state)
{
	static const struct {
		uint64_t near, ticks;
	} cases[] = { { 100, 100 },
		      { 100, 5 },
		      { 5, 100 },
		      { (UINT64_C(1) << 46) - 1, UINT64_C(1) << 46 },
		      { UINT64_C(1) << 46, (UINT64_C(1) << 46) - 1 },
		      { UINT64_C(1) << 60, (UINT64_C(1) << 60) + (UINT64_C(1) << 45) - 1 },
		      { UINT64_C(1) << 60, (UINT64_C(1) << 60) - (UINT64_C(1) << 45) } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_true(event_ticks(cases[i].ticks << EVENT_TICK_SHIFT | 40, cases[i].near) == cases[i].ticks);
}

static void encoding_stops_at_what_is_not_written_yet(void **state)
{
	sequence *s = calloc(1, sizeof *s);
	events_encoded e;

	(void)state;
	add(s, 10, 40, NULL, 0);
	add(s, 11, 41, (const uint64_t[]){ 0, 0 }, 2); /* zeros inside an event are none */
	add(s, 12, EVENT_END | 40, NULL, 0);
	s->words[s->n_words++] = 0;
	add(s, 14, 42, NULL, 0);
	free(encode(s, &e));
	assert_int_equal(e.n_words, 6);
	assert_int_equal(e.n_events, 3);
	assert_int_equal(e.last_ticks, 12);
	assert_false(e.damaged);
	free(s);
}

static void a_payload_that_does_not_fit_is_damage_and_what_came_before_is_kept(void **state)
{
	static const uint64_t counts[] = { 3, 1000, EVENT_MAX_WORDS + 1, UINT64_MAX, UINT64_MAX - 1 };
	uint64_t payload = UINT64_C(20) << EVENT_TICK_SHIFT | EVENT_PAYLOAD | 40;

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		uint64_t words[] = { UINT64_C(10) << EVENT_TICK_SHIFT | 40, payload, counts[i], 1, 2 };
		uint8_t bytes[5 * EVENT_BYTES_PER_WORD + VARINT_MAX];
		events_encoded e = events_encode(words, 5, 0, bytes);
		assert_int_equal(e.n_events, 1);
		assert_int_equal(e.n_words, 1);
		assert_true(e.damaged);
	}
	uint64_t last[] = { payload };
	uint8_t bytes[EVENT_BYTES_PER_WORD + VARINT_MAX];
	assert_true(events_encode(last, 1, 0, bytes).damaged);
}

/* On disk the code 0 is a step of the clock, so no event may have it. */
static void a_word_without_a_code_is_damage(void **state)
{
	static const uint64_t flags[] = { 0, EVENT_PAYLOAD };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint64_t words[] = { UINT64_C(10) << EVENT_TICK_SHIFT | 40, UINT64_C(11) << EVENT_TICK_SHIFT | flags[i],
				     0, UINT64_C(12) << EVENT_TICK_SHIFT | 41 };
		uint8_t bytes[4 * EVENT_BYTES_PER_WORD + VARINT_MAX];
		events_encoded e = events_encode(words, 4, 0, bytes);
		assert_int_equal(e.n_events, 1);
		assert_true(e.damaged);
	}
}

/* Counts the events of bytes that lie at the end of their own block. */
static size_t count_events(const uint8_t *bytes, size_t len, uint64_t base_ticks, const sequence *same_as)
{
	event_reader *r = malloc(sizeof *r);
	uint8_t *copy = malloc(len ? len : 1);
	event e;
	size_t n = 0;

	assert_true(r && copy);
	memcpy(copy, bytes, len);
	events_open(r, copy, len, base_ticks);
	for (; events_next(r, &e); n++)
		if (same_as)
			assert_same(&e, same_as, n);
		else
			assert_true(e.n_words <= EVENT_MAX_WORDS);
	assert_false(events_next(r, &e));
	free(copy);
	free(r);
	return n;
}

static void what_is_cut_off_keeps_its_whole_events(void **state)
{
	sequence *s = calloc(1, sizeof *s);
	uint32_t stack[1000];
	uint64_t ticks = 5000;
	size_t depth = 0, before = 0;
	events_encoded e;

	(void)state;
	random_state = 99;
	s->base_ticks = ticks;
	for (int i = 0; i < 200; i++)
		add_random(s, &ticks, stack, &depth, i % 2);
	uint8_t *bytes = encode(s, &e);
	for (size_t cut = 0; cut <= e.n_bytes; cut++) {
		size_t n = count_events(bytes, cut, s->base_ticks, s);
		assert_true(n >= before && n <= before + 1);
		before = n;
	}
	assert_int_equal(before, s->n_events);
	free(bytes);
	free(s);
}

static void random_bytes_do_no_harm(void **state)
{
	uint8_t bytes[256];

	(void)state;
	random_state = 4711;
	for (int round = 0; round < 20000; round++) {
		size_t len = random_below(sizeof bytes + 1);
		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(random_below(4) ? random_state >> 40 : random_below(8));
		count_events(bytes, len, random_state, NULL);
	}
}

static void an_end_without_a_begin_in_its_block_is_damage(void **state)
{
	event_reader *r = malloc(sizeof *r);
	uint8_t bytes[VARINT_MAX];
	event e;

	(void)state;
	size_t len = (size_t)(varint_put(bytes, 5 << 2 | TOKEN_END) - bytes);
	events_open(r, bytes, len, 0);
	assert_false(events_next(r, &e));
	assert_true(r->damaged);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sequences_come_back),
		cmocka_unit_test(a_loop_takes_a_byte_an_event),
		cmocka_unit_test(nesting_may_be_deeper_than_what_is_remembered),
		cmocka_unit_test(the_extremes_come_back),
		cmocka_unit_test(ticks_are_those_nearest_to_the_neighbour),
		cmocka_unit_test(encoding_stops_at_what_is_not_written_yet),
		cmocka_unit_test(a_payload_that_does_not_fit_is_damage_and_what_came_before_is_kept),
		cmocka_unit_test(a_word_without_a_code_is_damage),
		cmocka_unit_test(what_is_cut_off_keeps_its_whole_events),
		cmocka_unit_test(random_bytes_do_no_harm),
		cmocka_unit_test(an_end_without_a_begin_in_its_block_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
