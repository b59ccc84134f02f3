/*
 * The payloads of payloads.def as structs, and the two ways between a struct and words. For each payload `x`:
 *
 *   payload_x                  the struct; texts and shapes are borrowed
 *   payload_words_x(&x)        words that it takes
 *   payload_put_x(at, &x)      writes them and returns the place behind
 *   payload_get_x(&r, &x)      reads them where the reader stands; false when words are missing
 *
 * Inline, so that the compiler puts a fixed payload down word by word, as if the caller had.
 */
#ifndef SONDE_FORMAT_RECORDING_PAYLOADS_H
#define SONDE_FORMAT_RECORDING_PAYLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "format/recording/events.h"

typedef struct payload_text {
	const char *ptr;
	size_t len;
} payload_text;

typedef struct payload_shape {
	const uint64_t *dims;
	uint64_t n_dims; /* UINT64_MAX: not recorded */
} payload_shape;

#define WORD(field) uint64_t field;
#define I64(field) int64_t field;
#define F64(field) double field;
#define TEXT(field) payload_text field;
#define SHAPE(field) payload_shape field;
#define PAYLOAD_CODE(NAME, number)
#define PAYLOAD_PART(name, fields)                                                                                     \
	typedef struct payload_##name {                                                                                \
		fields                                                                                                 \
	} payload_##name;
#define PAYLOAD(NAME, number, name, fields) PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static inline size_t payload_text_words(size_t len)
{
	return 1 + (len + 7) / 8;
}

static inline size_t payload_shape_words(const payload_shape *s)
{
	return 1 + (s->n_dims == UINT64_MAX ? 0 : (size_t)s->n_dims);
}

/* A text of 1 to 7 bytes as a word, in at most two loads. */
static inline uint64_t payload_text_word(const char *text, size_t len)
{
	uint32_t low, high;
	uint16_t half, other;

	if (len >= 4) {
		memcpy(&low, text, 4);
		memcpy(&high, text + len - 4, 4);
		return low | (uint64_t)high << 8 * (len - 4);
	}
	if (len == 1)
		return (unsigned char)*text;
	memcpy(&half, text, 2);
	memcpy(&other, text + len - 2, 2);
	return half | (uint64_t)other << 8 * (len - 2);
}

/* Word by word: texts are short, and a call to memcpy would cost more than the rest of the event. */
static inline uint64_t *payload_put_text(uint64_t *at, const char *text, size_t len)
{
	const char *end = text + len;
	uint64_t last;

	*at++ = len;
	if (len < 8) {
		if (len)
			*at++ = payload_text_word(text, len);
		return at;
	}
	for (; end - text >= 8; text += 8)
		memcpy(at++, text, 8);
	if (text < end) {
		memcpy(&last, end - 8, 8);
		*at++ = last >> 8 * (8 - (end - text));
	}
	return at;
}

static inline uint64_t *payload_put_shape(uint64_t *at, const payload_shape *s)
{
	*at++ = s->n_dims;
	for (size_t i = 0; s->n_dims != UINT64_MAX && i < s->n_dims; i++)
		*at++ = s->dims[i];
	return at;
}

#define WORD(field) +1
#define I64(field) +1
#define F64(field) +1
#define TEXT(field) +payload_text_words(p->field.len)
#define SHAPE(field) +payload_shape_words(&p->field)
#define PAYLOAD_CODE(NAME, number)
#define PAYLOAD_PART(name, fields)                                                                                     \
	static inline size_t payload_words_##name(const payload_##name *p)                                             \
	{                                                                                                              \
		(void)p;                                                                                               \
		return 0 fields;                                                                                       \
	}
#define PAYLOAD(NAME, number, name, fields) PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"

#define WORD(field) *at++ = p->field;
#define I64(field) *at++ = (uint64_t)p->field;
#define F64(field) memcpy(at++, &p->field, sizeof p->field);
#define TEXT(field) at = payload_put_text(at, p->field.ptr, p->field.len);
#define SHAPE(field) at = payload_put_shape(at, &p->field);
#define PAYLOAD_CODE(NAME, number)
#define PAYLOAD_PART(name, fields)                                                                                     \
	static inline uint64_t *payload_put_##name(uint64_t *at, const payload_##name *p)                              \
	{                                                                                                              \
		fields return at;                                                                                      \
	}
#define PAYLOAD(NAME, number, name, fields) PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct payload_reader {
	const uint64_t *at, *end;
} payload_reader;

static inline payload_reader payload_of(const event *e)
{
	return e->n_words ? (payload_reader){ e->words, e->words + e->n_words } : (payload_reader){ NULL, NULL };
}

/* What the reader has not taken, as an event of its own. */
static inline event payload_rest(const payload_reader *r, const event *e)
{
	return (event){ .ticks = e->ticks, .code = e->code, .n_words = (uint32_t)(r->end - r->at), .words = r->at };
}

static inline size_t payload_left(const payload_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline bool payload_get_word(payload_reader *r, uint64_t *ret_word)
{
	if (!payload_left(r))
		return false;
	*ret_word = *r->at++;
	return true;
}

static inline bool payload_get_i64(payload_reader *r, int64_t *ret_number)
{
	uint64_t word;

	if (!payload_get_word(r, &word))
		return false;
	*ret_number = (int64_t)word;
	return true;
}

static inline bool payload_get_f64(payload_reader *r, double *ret_number)
{
	uint64_t word;

	if (!payload_get_word(r, &word))
		return false;
	memcpy(ret_number, &word, sizeof word);
	return true;
}

static inline bool payload_get_text(payload_reader *r, payload_text *ret_text)
{
	if (!payload_left(r) || *r->at > (payload_left(r) - 1) * 8)
		return false;
	size_t len = (size_t)*r->at++;
	*ret_text = (payload_text){ (const char *)r->at, len };
	r->at += (len + 7) / 8;
	return true;
}

static inline bool payload_get_shape(payload_reader *r, payload_shape *ret_shape)
{
	uint64_t n;

	if (!payload_get_word(r, &n) || (n != UINT64_MAX && n > payload_left(r)))
		return false;
	*ret_shape = (payload_shape){ r->at, n };
	r->at += n == UINT64_MAX ? 0 : n;
	return true;
}

#define WORD(field) &&payload_get_word(r, &p->field)
#define I64(field) &&payload_get_i64(r, &p->field)
#define F64(field) &&payload_get_f64(r, &p->field)
#define TEXT(field) &&payload_get_text(r, &p->field)
#define SHAPE(field) &&payload_get_shape(r, &p->field)
#define PAYLOAD_CODE(NAME, number)
#define PAYLOAD_PART(name, fields)                                                                                     \
	static inline bool payload_get_##name(payload_reader *r, payload_##name *p)                                    \
	{                                                                                                              \
		return true fields;                                                                                    \
	}
#define PAYLOAD(NAME, number, name, fields) PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"

#endif
