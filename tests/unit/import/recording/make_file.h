/*
 * Recordings put together by hand.
 *
 *   maker m = { 0 };
 *   make_start(&m);                                  a closed stream whose ticks are nanoseconds
 *   make_name(&m, 40, NAME_SCOPE, "forward");
 *   MAKE_EVENTS(&m, 1, { 10, 40 }, { 20, END | 40 }, { 30, 41, 1, { 7 } });
 *   recording *trace = make_trace(&m);             or make_save(&m, path)
 *   make_done(&m);                                   after the trace, which reads the maker's bytes
 */
#ifndef SONDE_TESTS_MAKE_FILE_H
#define SONDE_TESTS_MAKE_FILE_H

#include "format/recording/events.h"
#include "format/recording/file.h"
#include "format/recording/names.h"
#include "import/recording/trace.h"
#include "unit/store/temp_dir.h"

/* { 10, 40 } is an event without a payload. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { MAKE_THREADS = 8, END = EVENT_END, MAKE_STREAM = 4711 };

typedef struct maker {
	uint8_t *bytes;
	size_t len, capacity;
	uint64_t stream;
	stream_block info; /* of the last make_stream() */
	uint64_t n_events;
	uint64_t n_words[MAKE_THREADS]; /* by thread: where its next block begins */
} maker;

typedef struct made_event {
	uint64_t ticks;
	uint32_t code;
	uint32_t n_words; /* of a payload */
	uint64_t words[8];
} made_event;

static inline void make_bytes(maker *m, const void *bytes, size_t len)
{
	if (m->len + len > m->capacity) {
		m->capacity = 2 * (m->len + len);
		m->bytes = realloc(m->bytes, m->capacity);
		assert_non_null(m->bytes);
	}
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static inline void make_block(maker *m, unsigned kind, const void *payload, size_t len, uint32_t n_events)
{
	block_header *block = calloc(1, sizeof *block + block_padded(len));

	assert_non_null(block);
	if (len)
		memcpy(block + 1, payload, len);
	make_bytes(m, block, block_seal(block, (block_kind)kind, m->stream, len, n_events));
	free(block);
}

/* Says again what the stream is: the last word counts. */
static inline void make_stream(maker *m, const stream_block *info)
{
	m->info = *info;
	make_block(m, BLOCK_STREAM, info, sizeof *info, 0);
}

static inline void make_clock(maker *m, const clock_pair *pairs, size_t n)
{
	make_block(m, BLOCK_CLOCK, pairs, n * sizeof *pairs, 0);
}

static inline void make_start(maker *m)
{
	static const clock_pair pairs[] = { { 0, 0, 0 }, { 1000000000, 1000000000, 0 } };
	stream_block info = {
		.state = STREAM_CLOSED,
		.clock = CLOCK_NS,
		.pid = 77,
		.pid_start = 1,
		.end_ns = 1000,
		.program = "train",
		.host = "node7",
		.writer = "0.1",
	};

	m->stream = MAKE_STREAM;
	make_stream(m, &info);
	make_clock(m, pairs, 2);
}

static inline void make_name_of(maker *m, const name_parts *parts)
{
	_Alignas(8) uint8_t record[NAME_RECORD_MAX];

	make_block(m, BLOCK_NAMES, record, name_write(record, parts), 0);
}

static inline void make_name(maker *m, uint16_t id, name_kind kind, const char *name)
{
	make_name_of(m, &(name_parts){ .id = id, .kind = (uint8_t)kind, .name = name, .name_len = strlen(name) });
}

/* As the runtime writes them into a chunk; returns the number of words. */
static inline size_t make_words(uint64_t *out, const made_event *events, size_t n)
{
	uint64_t *start = out;

	for (size_t i = 0; i < n; i++) {
		const made_event *e = &events[i];
		*out++ = e->ticks << EVENT_TICK_SHIFT | e->code | (e->n_words ? (unsigned)EVENT_PAYLOAD : 0);
		if (!e->n_words)
			continue;
		*out++ = e->n_words;
		memcpy(out, e->words, e->n_words * sizeof *out);
		out += e->n_words;
	}
	return (size_t)(out - start);
}

static inline void make_events_at(maker *m, uint32_t thread, uint64_t first_word, const made_event *events, size_t n)
{
	uint64_t *words = malloc(n * 10 * sizeof *words + 8);
	events_head *head;

	assert_non_null(words);
	size_t n_words = make_words(words, events, n);
	uint8_t *payload = calloc(1, sizeof *head + n_words * EVENT_BYTES_PER_WORD + VARINT_MAX);
	assert_non_null(payload);
	uint64_t base = n ? events[0].ticks : 0;
	events_encoded e = events_encode(words, n_words, base, payload + sizeof *head);
	assert_int_equal(e.n_events, n);
	head = (events_head *)payload;
	*head = (events_head){ .thread = thread,
			       .tid = 100 + thread,
			       .first_word = first_word,
			       .base_ticks = base,
			       .n_words = e.n_words };
	make_block(m, BLOCK_EVENTS, payload, sizeof *head + e.n_bytes, (uint32_t)n);
	m->n_events += n;
	free(payload);
	free(words);
}

static inline void make_events(maker *m, uint32_t thread, const made_event *events, size_t n)
{
	uint64_t words[MAKE_THREADS * 1024];

	make_events_at(m, thread, m->n_words[thread % MAKE_THREADS], events, n);
	assert_true(n * 10 <= sizeof words / sizeof words[0]);
	m->n_words[thread % MAKE_THREADS] += make_words(words, events, n);
}

#define MAKE_EVENTS(m, thread, ...)                                                                                    \
	make_events(m, thread, (const made_event[]){ __VA_ARGS__ },                                                    \
		    sizeof((const made_event[]){ __VA_ARGS__ }) / sizeof(made_event))

/* Writes the first block again: the totals of a recording that ended well. */
static inline void make_totals(maker *m)
{
	struct {
		block_header header;
		stream_block info;
	} start = { .info = m->info };

	start.info.n_events = m->n_events;
	block_seal(&start.header, BLOCK_STREAM, m->stream, sizeof start.info, 0);
	memcpy(m->bytes, &start, sizeof start);
}

static inline recording *make_recording(const maker *m)
{
	recording *made = NULL;
	sonde_error err = { .message = "" };

	if (recording_open_memory(m->bytes, m->len, &made, &err))
		fail_msg("%s", err.message);
	return made;
}

static inline sonde_trace *make_trace(const maker *m)
{
	recording *made = make_recording(m);
	sonde_index *index = NULL;
	sonde_trace *trace = NULL;
	sonde_error err = { .message = "" };

	if (recording_build_index(made, 1, &index, &err) || recording_trace(made, index, &trace, &err))
		fail_msg("%s", err.message);
	return trace;
}

static inline void make_save(const maker *m, const char *path)
{
	temp_write(path, m->bytes, m->len);
}

static inline void make_done(maker *m)
{
	free(m->bytes);
	*m = (maker){ 0 };
}

/* Up to 8 bytes of text as a word of a payload. */
static inline uint64_t make_text(const char *text)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8 && text[i]; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	return word;
}

static inline uint64_t make_double(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof word);
	return word;
}

#endif
