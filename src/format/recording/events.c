#include "format/recording/events.h"

/* Inlined, so that the context lives in registers: the writer must keep up with the program. */
static inline __attribute__((always_inline)) uint8_t *put_event(event_context *c, uint8_t *out, uint64_t ticks,
								uint32_t code, bool payload)
{
	int64_t delta = (int64_t)(ticks - c->ticks);

	c->ticks = ticks;
	if (__builtin_expect(delta < 0, 0)) {
		out = varint_put(out, TOKEN_CODE);
		out = varint_put(out, 0);
		out = varint_put(out, zigzag(delta));
		delta = 0;
	}
	uint64_t step = (uint64_t)delta << 2;
	if (payload) {
		out = varint_put(out, step | TOKEN_PAYLOAD);
		out = varint_put(out, (uint64_t)(code & EVENT_ID_MASK) << 1 | (code & EVENT_END ? 1 : 0));
	} else if (event_ends_top(c, code)) {
		out = varint_put(out, step | TOKEN_END);
	} else if (c->follows[event_slot(c->last)] == code) {
		out = varint_put(out, step | TOKEN_SAME);
	} else {
		out = varint_put(out, step | TOKEN_CODE);
		out = varint_put(out, (uint64_t)(code & EVENT_ID_MASK) << 1 | (code & EVENT_END ? 1 : 0));
	}
	event_context_add(c, code);
	return out;
}

events_encoded events_encode(const uint64_t *words, size_t n, uint64_t base_ticks, uint8_t *out)
{
	events_encoded e = { .last_ticks = base_ticks };
	uint8_t *start = out;
	event_context c;
	size_t i = 0;

	event_context_init(&c, base_ticks);
	while (i < n) {
		/* Pairs with the release store of the recording thread: the payload is there when the word is. */
		uint64_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
		if (!word)
			break;
		uint32_t code = (uint32_t)word & (EVENT_END | EVENT_ID_MASK);
		uint64_t ticks = event_ticks(word, c.ticks);
		if (__builtin_expect(!code, 0)) { /* no event has it: on disk it means a step of the clock */
			e.damaged = true;
			break;
		}
		if (!(word & EVENT_PAYLOAD)) {
			out = put_event(&c, out, ticks, code, false);
			i++;
		} else {
			/* Loaded once: another process may write there. */
			uint64_t n_words = i + 1 < n ? __atomic_load_n(&words[i + 1], __ATOMIC_RELAXED) : UINT64_MAX;
			if (n_words > EVENT_MAX_WORDS || n_words > n - i - 2) {
				e.damaged = true;
				break;
			}
			out = put_event(&c, out, ticks, code, true);
			out = varint_put(out, n_words);
			for (size_t k = 0; k < n_words; k++)
				out = varint_put_any(out, words[i + 2 + k]);
			i += 2 + n_words;
		}
		e.n_events++;
	}
	e.n_bytes = (size_t)(out - start);
	e.n_words = (uint32_t)i;
	e.last_ticks = c.ticks;
	return e;
}

/* The thread may be writing there, payloads without atomic stores: the caller believes the number only while the word
   that was never written still is not. */
__attribute__((no_sanitize_thread)) uint64_t events_count_stray(const uint64_t *words, size_t n, uint64_t ticks)
{
	uint64_t n_events = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
		if (!word || event_ticks(word, ticks) - ticks >= UINT64_C(1) << 34)
			continue;
		n_events++;
		uint64_t n_words =
			word & EVENT_PAYLOAD && i + 1 < n ? __atomic_load_n(&words[i + 1], __ATOMIC_RELAXED) : 0;
		if (word & EVENT_PAYLOAD && n_words <= EVENT_MAX_WORDS)
			i += 1 + n_words;
	}
	return n_events;
}

void events_open(event_reader *r, const uint8_t *bytes, size_t len, uint64_t base_ticks)
{
	r->at = bytes;
	r->end = bytes + len;
	r->damaged = false;
	event_context_init(&r->context, base_ticks);
}

bool events_damaged(event_reader *r)
{
	r->at = r->end;
	r->damaged = true;
	return false;
}

bool events_get_words(event_reader *r, event *e)
{
	uint64_t n;

	r->at = varint_get(r->at, r->end, &n);
	if (!r->at || n > EVENT_MAX_WORDS)
		return false;
	for (size_t i = 0; i < n; i++) {
		r->at = varint_get(r->at, r->end, &r->words[i]);
		if (!r->at)
			return false;
	}
	e->n_words = (uint32_t)n;
	e->words = r->words;
	return true;
}

bool events_get_code(event_reader *r, uint32_t *ret_code)
{
	uint64_t value, step;

	r->at = varint_get(r->at, r->end, &value);
	if (!r->at || value > 2 * EVENT_ID_MASK + 1)
		return false;
	*ret_code = (uint32_t)(value >> 1) | (value & 1 ? EVENT_END : 0);
	if (value)
		return true;
	r->at = varint_get(r->at, r->end, &step);
	if (!r->at)
		return false;
	r->context.ticks += (uint64_t)unzigzag(step);
	return true;
}
