/*
 * Events from strangers, both ways: bytes are decoded; and the same bytes, taken for the words of a ring, are encoded,
 * decoded and compared.
 */
#include <stdlib.h>
#include <string.h>
#include "format/recording/payloads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

static void decode(const uint8_t *data, size_t size)
{
	static event_reader r;
	event e;
	size_t n = 0;

	events_open(&r, data, size, size << 40);
	for (; events_next(&r, &e); n++) {
		payload_reader words = payload_of(&e);
		payload_text text;
		expect(e.n_words <= EVENT_MAX_WORDS);
		while (payload_get_text(&words, &text))
			expect(text.len <= 8 * e.n_words &&
			       (const uint64_t *)(text.ptr + text.len) <= e.words + e.n_words);
	}
	expect(n <= size);
	expect(!events_next(&r, &e));
}

/* The events that the words stand for, one after the other. False where encoding must stop. */
static bool next_in_words(const uint64_t *words, size_t n, size_t *at, uint64_t *ticks, event *ret)
{
	if (*at >= n || !(words[*at] & (EVENT_END | EVENT_ID_MASK)))
		return false;
	*ret = (event){ .ticks = *ticks = event_ticks(words[*at], *ticks),
			.code = (uint32_t)words[*at] & (EVENT_END | EVENT_ID_MASK) };
	if (words[(*at)++] & EVENT_PAYLOAD) {
		if (*at >= n || words[*at] > EVENT_MAX_WORDS || words[*at] > n - *at - 1)
			return false;
		ret->n_words = (uint32_t)words[(*at)++];
		ret->words = words + *at;
		*at += ret->n_words;
	}
	return true;
}

static void encode(const uint8_t *data, size_t size)
{
	static event_reader r;
	size_t n = size / sizeof(uint64_t), at = 0;
	uint64_t *words = malloc(n * sizeof *words + 1), base = size << 40, ticks = base;
	uint8_t *bytes = malloc(n * EVENT_BYTES_PER_WORD + VARINT_MAX);
	event wanted = { 0 }, got = { 0 };

	expect(words && bytes);
	memcpy(words, data, n * sizeof *words);
	events_encoded e = events_encode(words, n, base, bytes);
	expect(e.n_words <= n && e.n_bytes <= n * EVENT_BYTES_PER_WORD + VARINT_MAX);
	events_open(&r, bytes, e.n_bytes, base);
	for (uint32_t i = 0; i < e.n_events; i++) {
		expect(next_in_words(words, n, &at, &ticks, &wanted) && events_next(&r, &got));
		expect(got.ticks == wanted.ticks && got.code == wanted.code && got.n_words == wanted.n_words);
		expect(!got.n_words || memcmp(got.words, wanted.words, got.n_words * sizeof *words) == 0);
	}
	expect(at == e.n_words && !events_next(&r, &got) && !r.damaged);
	events_count_stray(words + at, n - at, ticks);
	free(words);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	decode(data, size);
	encode(data, size);
	return 0;
}
