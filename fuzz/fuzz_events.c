/* Any bytes as encoded events; what can be decoded must encode and decode to the same again. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "format/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 1 << 16 };

/* The events as the words that a program would have written. Returns their number. */
static size_t decode(const uint8_t *data, size_t size, uint64_t *words)
{
	static event_reader reader;
	size_t n = 0;
	event e;

	events_open(&reader, data, size, 0);
	while (events_next(&reader, &e) && n + 2 + e.n_words <= MAX_WORDS) {
		uint64_t word = e.ticks << EVENT_TICK_SHIFT | e.code | (e.n_words ? EVENT_PAYLOAD : 0);
		if (!word)
			break; /* not an event that could be written */
		words[n++] = word;
		if (!e.n_words)
			continue;
		words[n++] = e.n_words;
		memcpy(words + n, e.words, e.n_words * sizeof *words);
		n += e.n_words;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t first[MAX_WORDS], second[MAX_WORDS];
	size_t n = decode(data, size, first);
	uint8_t *bytes = malloc(n * EVENT_BYTES_PER_WORD + VARINT_MAX);

	if (!bytes)
		return 0;
	events_encoded e = events_encode(first, n, 0, bytes);
	assert(!e.damaged && e.n_words == n);
	assert(decode(bytes, e.n_bytes, second) == n);
	assert(memcmp(first, second, n * sizeof *first) == 0);
	free(bytes);
	return 0;
}
