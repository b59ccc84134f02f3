/*
 * Events: words in memory, tokens on disk.
 *
 * In memory (record.h writes this) an event is one word, ticks << 18 | payload flag | end flag | id, and with the
 * payload flag a count and that many words. A zero word is memory not written yet.
 *
 * On disk an event is a varint, delta of ticks << 2 | token:
 *   TOKEN_END      end of the innermost scope begun in this block
 *   TOKEN_SAME     the code that followed the last time the code before it was seen in this block
 *   TOKEN_CODE     a varint id << 1 | end follows; the value 0 is no event: a varint follows with a signed step of the
 *                  clock, for the rare time stamp that lies before its predecessor
 *   TOKEN_PAYLOAD  as TOKEN_CODE, then a varint with the number of words, then each word as a varint
 * In a loop that is one byte an event, in real programs about two. Nothing refers to another block.
 *
 *   events_encode()                     a stretch of words to bytes
 *   events_open(), events_next()        bytes back to events
 */
#ifndef SONDE_FORMAT_RECORDING_EVENTS_H
#define SONDE_FORMAT_RECORDING_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/varint.h"

/* Ids below NAME_FIRST_ID. All carry a payload. */
typedef enum event_code {
#define PAYLOAD(NAME, number, name, fields) EVENT_##NAME = number,
#define PAYLOAD_CODE(NAME, number) EVENT_##NAME = number,
#define PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"
} event_code;

enum {
	EVENT_TICK_SHIFT = 18,
	EVENT_PAYLOAD = 0x20000,
	EVENT_END = 0x10000,
	EVENT_ID_MASK = 0xffff,
	EVENT_MAX_WORDS = 1024, /* of a payload */
	EVENT_LOCAL_STACK = 64,
	EVENT_BYTES_PER_WORD = 24, /* room that events_encode needs at most */
};

enum { TOKEN_END, TOKEN_SAME, TOKEN_CODE, TOKEN_PAYLOAD };

/* What the encoder and the decoder of a block both know. */
typedef struct event_context {
	uint64_t ticks;
	uint32_t last;			   /* code before */
	uint32_t depth;			   /* of the scopes begun in this block, without bound */
	uint16_t stack[EVENT_LOCAL_STACK]; /* their ids, a ring */
	uint32_t follows[256];		   /* by the low bits of a code: the code that came after it */
} event_context;

static inline void event_context_init(event_context *c, uint64_t base_ticks)
{
	memset(c, 0, sizeof *c);
	c->ticks = base_ticks;
}

static inline uint32_t event_slot(uint32_t code)
{
	return (code ^ code >> 9) & 255;
}

/* Takes note of an event, the same way on both sides. */
static inline void event_context_add(event_context *c, uint32_t code)
{
	c->follows[event_slot(c->last)] = code;
	c->last = code;
	if (!(code & EVENT_END)) {
		c->stack[c->depth++ % EVENT_LOCAL_STACK] = (uint16_t)code;
		return;
	}
	for (uint32_t d = c->depth, n = 0; d && n < 8; n++) {
		d--;
		if (!(code & EVENT_ID_MASK) || c->stack[d % EVENT_LOCAL_STACK] == (code & EVENT_ID_MASK)) {
			c->depth = d;
			break;
		}
	}
}

static inline bool event_ends_top(const event_context *c, uint32_t code)
{
	return c->depth && code == (EVENT_END | (uint32_t)c->stack[(c->depth - 1) % EVENT_LOCAL_STACK]);
}

typedef struct events_encoded {
	size_t n_bytes;
	uint32_t n_words; /* taken; stops at the first word not written yet */
	uint32_t n_events;
	uint64_t last_ticks;
	bool damaged; /* a payload did not fit into the stretch */
} events_encoded;

/*
 * Encodes up to n words, written by another thread or found in a ring, into out, which has room for
 * n * EVENT_BYTES_PER_WORD + VARINT_MAX bytes. base_ticks lies within 2^45 ticks of the first event.
 */
events_encoded events_encode(const uint64_t *words, size_t n, uint64_t base_ticks, uint8_t *out);

typedef struct event {
	uint64_t ticks;
	uint32_t code; /* id and EVENT_END */
	uint32_t n_words;
	const uint64_t *words; /* valid until the next event */
} event;

typedef struct event_reader {
	const uint8_t *at, *end;
	bool damaged; /* ended before its time */
	event_context context;
	uint64_t words[EVENT_MAX_WORDS];
} event_reader;

/* So many words it took in its thread's chunk. */
static inline uint64_t event_words(const event *e)
{
	return e->n_words ? 2 + (uint64_t)e->n_words : 1;
}

void events_open(event_reader *r, const uint8_t *bytes, size_t len, uint64_t base_ticks);
/* For events_next: the rarer parts. The code of a TOKEN_CODE or TOKEN_PAYLOAD, 0: a step of the clock; the words of a
   payload. False at damage. */
bool events_get_code(event_reader *r, uint32_t *ret_code);
bool events_get_words(event_reader *r, event *e);
bool events_damaged(event_reader *r); /* ends it; false */

/* False at the end or at damage. Inline, as the position is what every next event waits for. */
static inline bool events_next(event_reader *r, event *ret_event)
{
	event_context *c = &r->context;

	while (r->at < r->end) {
		uint64_t value;
		uint32_t code;

		r->at = varint_get(r->at, r->end, &value);
		if (!r->at)
			return events_damaged(r);
		unsigned token = value & 3;
		c->ticks += value >> 2;
		if (token == TOKEN_END) {
			if (!c->depth)
				return events_damaged(r);
			code = EVENT_END | (uint32_t)c->stack[(c->depth - 1) % EVENT_LOCAL_STACK];
		} else if (token == TOKEN_SAME) {
			code = c->follows[event_slot(c->last)];
			if (!code)
				return events_damaged(r);
		} else if (!events_get_code(r, &code)) {
			return events_damaged(r);
		} else if (!code) {
			continue;
		}
		ret_event->n_words = 0;
		if (token == TOKEN_PAYLOAD && !events_get_words(r, ret_event))
			return events_damaged(r);
		event_context_add(c, code);
		ret_event->ticks = c->ticks;
		ret_event->code = code;
		return true;
	}
	return false;
}

/*
 * Events among n words behind one that was never written: of a signal handler that had interrupted it. What is there of
 * the interrupted event itself is none, it had not happened yet; its words do not look like times near `ticks`.
 */
uint64_t events_count_stray(const uint64_t *words, size_t n, uint64_t ticks);

/* The ticks of a word given the time of a neighbour. */
static inline uint64_t event_ticks(uint64_t word, uint64_t near)
{
	int64_t delta = (int64_t)(((word >> EVENT_TICK_SHIFT) - near) << EVENT_TICK_SHIFT) >> EVENT_TICK_SHIFT;

	return near + (uint64_t)delta;
}

#endif
