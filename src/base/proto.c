/*
 * See proto.h.
 *
 * The reader decodes one field at a time and never looks behind its end. Groups are skipped with a stack of their field
 * numbers, not by recursion. The writer leaves one byte for the length of a message; the few that need more are moved
 * when they end.
 */
#include "base/proto.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

enum { FLUSH_AT = 1 << 16 };

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

__attribute__((cold)) static bool fail(proto_reader *r, const uint8_t *at, proto_problem problem)
{
	r->problem = problem;
	r->problem_at = at;
	return false;
}

/* Tells whether the number at `at`, which leb128_get() refused, is cut off or too long. */
__attribute__((cold)) static bool fail_varint(proto_reader *r, const uint8_t *at)
{
	size_t left = (size_t)(r->end - at), n = 0;

	while (n < left && n < LEB128_MAX && at[n] >= 0x80)
		n++;
	return n == left && n < LEB128_MAX ? fail(r, r->end, PROTO_CUT) : fail(r, at, PROTO_LONG_VARINT);
}

static bool read_fixed(proto_reader *r, const uint8_t **at, size_t size, uint64_t *ret_value)
{
	if ((size_t)(r->end - *at) < size)
		return fail(r, r->end, PROTO_CUT);
	*ret_value = 0;
	memcpy(ret_value, *at, size);
	*at += size;
	return true;
}

static inline bool read_varint(proto_reader *r, const uint8_t **at, uint64_t *ret_value)
{
	const uint8_t *next = leb128_get_near(*at, r->end, r->readable, ret_value);

	if (__builtin_expect(!next, 0))
		return fail_varint(r, *at);
	*at = next;
	return true;
}

static inline bool read_bytes(proto_reader *r, const uint8_t **at, proto_field *ret_field)
{
	const uint8_t *start = *at;

	if (!read_varint(r, at, &ret_field->value))
		return false;
	if (ret_field->value > (size_t)(r->end - *at))
		return fail(r, start, PROTO_LONG_FIELD);
	ret_field->bytes = *at;
	*at += ret_field->value;
	return true;
}

/* Reads any field at *at; of a group its begin or end alone. */
static inline bool read_field(proto_reader *r, const uint8_t **at, proto_field *ret_field)
{
	const uint8_t *start = *at;
	uint64_t tag;

	if (!read_varint(r, at, &tag))
		return false;
	if (tag > UINT32_MAX || tag < PROTO_TAG(1, 0))
		return fail(r, start, PROTO_BAD_TAG);
	*ret_field = (proto_field){ .tag = (uint32_t)tag };
	switch (tag & 7) {
	case PROTO_VARINT:
		return read_varint(r, at, &ret_field->value);
	case PROTO_BYTES:
		return read_bytes(r, at, ret_field);
	case PROTO_FIXED64:
		return read_fixed(r, at, 8, &ret_field->value);
	case PROTO_FIXED32:
		return read_fixed(r, at, 4, &ret_field->value);
	case PROTO_GROUP_BEGIN:
	case PROTO_GROUP_END:
		return true;
	default:
		return fail(r, start, PROTO_BAD_TAG);
	}
}

/* From behind the begin of a group to behind its end. */
__attribute__((cold)) static bool skip_group(proto_reader *r, const uint8_t **at, uint32_t number)
{
	uint32_t open[PROTO_MAX_DEPTH], n = 0;
	proto_field f;

	if (r->depth >= PROTO_MAX_DEPTH)
		return fail(r, *at, PROTO_TOO_DEEP);
	open[n++] = number;
	while (n) {
		const uint8_t *start = *at;
		if (start == r->end)
			return fail(r, start, PROTO_CUT);
		if (!read_field(r, at, &f))
			return false;
		if (proto_wire_of(&f) == PROTO_GROUP_BEGIN) {
			if (r->depth + n >= PROTO_MAX_DEPTH)
				return fail(r, start, PROTO_TOO_DEEP);
			open[n++] = proto_number(&f);
		} else if (proto_wire_of(&f) == PROTO_GROUP_END && open[--n] != proto_number(&f)) {
			return fail(r, start, PROTO_BAD_GROUP);
		}
	}
	return true;
}

bool proto_next(proto_reader *r, proto_field *ret_field)
{
	while (r->at < r->end && !r->problem) {
		const uint8_t *at = r->at;
		if (!read_field(r, &at, ret_field))
			return false;
		if (__builtin_expect(proto_wire_of(ret_field) == PROTO_GROUP_END, 0))
			return fail(r, r->at, PROTO_BAD_GROUP);
		bool is_group = proto_wire_of(ret_field) == PROTO_GROUP_BEGIN;
		if (__builtin_expect(is_group, 0) && !skip_group(r, &at, proto_number(ret_field)))
			return false;
		r->at = at;
		if (!is_group)
			return true;
	}
	return false;
}

proto_reader proto_sub(const proto_reader *r, const proto_field *f)
{
	proto_reader sub = *r;

	assert(proto_wire_of(f) == PROTO_BYTES);
	sub.at = f->bytes;
	sub.end = f->bytes + f->value;
	sub.problem = PROTO_FINE;
	if (++sub.depth > PROTO_MAX_DEPTH)
		fail(&sub, sub.at, PROTO_TOO_DEEP);
	return sub;
}

sonde_status proto_check(const proto_reader *r, sonde_error *err)
{
	static const char *const messages[] = {
		[PROTO_CUT] = "the message ends inside a field",
		[PROTO_LONG_VARINT] = "a number has more than 64 bits",
		[PROTO_BAD_TAG] = "expected a field of a message",
		[PROTO_LONG_FIELD] = "a field is longer than its message",
		[PROTO_BAD_GROUP] = "the end of a group does not match its begin",
		[PROTO_TOO_DEEP] = "messages are nested too deeply",
		[PROTO_BAD_PACKED] = "a list of numbers ends inside a number",
	};

	if (!r->problem)
		return SONDE_OK;
	/* Inside of a message that is whole, a field that is not whole is damage. */
	bool is_cut = r->depth == 0 && (r->problem == PROTO_CUT || r->problem == PROTO_LONG_FIELD);
	return error_set(err, is_cut ? SONDE_E_TRUNCATED : SONDE_E_FORMAT,
			 (int64_t)(r->offset + (uint64_t)(r->problem_at - r->origin)), "%s", messages[r->problem]);
}

proto_values proto_values_of(const proto_reader *r, const proto_field *f, proto_wire wire)
{
	proto_values v = { .r = *r, .wire = wire };

	v.r.at = v.r.end = f->bytes;
	v.r.problem = PROTO_FINE;
	v.r.depth++;
	if (proto_wire_of(f) == PROTO_BYTES) {
		v.r.end = f->bytes + f->value;
	} else if (proto_wire_of(f) == wire) {
		v.one = f->value;
		v.has_one = true;
	}
	return v;
}

size_t proto_values_count(const proto_values *v)
{
	size_t n = v->has_one, bytes = (size_t)(v->r.end - v->r.at);

	if (v->wire != PROTO_VARINT)
		return n + bytes / (v->wire == PROTO_FIXED32 ? 4 : 8);
	for (size_t i = 0; i < bytes; i++)
		n += v->r.at[i] < 0x80;
	return n;
}

bool proto_values_next(proto_values *v, uint64_t *ret_value)
{
	const uint8_t *at = v->r.at;

	if (v->has_one) {
		*ret_value = v->one;
		v->has_one = false;
		return true;
	}
	if (at == v->r.end || v->r.problem)
		return false;
	bool ok = v->wire == PROTO_VARINT ? read_varint(&v->r, &at, ret_value)
					  : read_fixed(&v->r, &at, v->wire == PROTO_FIXED32 ? 4 : 8, ret_value);
	if (!ok && v->r.problem == PROTO_CUT)
		v->r.problem = PROTO_BAD_PACKED;
	v->r.at = at;
	return ok;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void flush(proto_writer *w)
{
	if (!w->n)
		return;
	fwrite(w->bytes, 1, w->n, w->out);
	w->n_gone += w->n;
	w->n = 0;
}

/* Makes room for len more bytes in a full buffer: by writing what is complete, or by a larger one. */
static uint8_t *make_room(proto_writer *w, size_t len)
{
	if (w->failed)
		return NULL;
	if (w->out && !w->n_waiting)
		flush(w);
	if (w->capacity - w->n >= len)
		return w->bytes + w->n;
	size_t wanted, more = w->capacity < FLUSH_AT ? FLUSH_AT : w->capacity;
	if (__builtin_add_overflow(w->n, len, &wanted) || __builtin_add_overflow(wanted, more, &wanted)) {
		w->failed = true;
		return NULL;
	}
	uint8_t *grown = realloc(w->bytes, wanted);
	if (!grown) {
		w->failed = true;
		return NULL;
	}
	w->bytes = grown;
	w->capacity = wanted;
	return w->bytes + w->n;
}

static inline uint8_t *room(proto_writer *w, size_t len)
{
	return __builtin_expect(w->capacity - w->n >= len, 1) ? w->bytes + w->n : make_room(w, len);
}

static void put_raw(proto_writer *w, const void *bytes, size_t len)
{
	if (w->counts) {
		w->n_gone += len;
		return;
	}
	if (w->out && !w->n_waiting && len >= FLUSH_AT && !w->failed) { /* large: not through the buffer */
		flush(w);
		fwrite(bytes, 1, len, w->out);
		w->n_gone += len;
		return;
	}
	uint8_t *to = room(w, len);
	if (to && len) {
		memcpy(to, bytes, len);
		w->n += len;
	}
}

static void put_varint(proto_writer *w, uint64_t value)
{
	if (w->counts) {
		w->n_gone += leb128_size(value);
		return;
	}
	uint8_t *to = room(w, LEB128_MAX);
	if (to)
		w->n += (size_t)(leb128_put(to, value) - to);
}

static void put_tag(proto_writer *w, uint32_t field, proto_wire wire)
{
	assert(field > 0 && field <= PROTO_MAX_FIELD);
	put_varint(w, PROTO_TAG(field, wire));
}

/* Tag and length of a field of bytes. */
static void put_length(proto_writer *w, uint32_t field, uint64_t len)
{
	w->too_long |= len > INT32_MAX;
	put_tag(w, field, PROTO_BYTES);
	put_varint(w, len);
}

void proto_put_u64(proto_writer *w, uint32_t field, uint64_t value)
{
	put_tag(w, field, PROTO_VARINT);
	put_varint(w, value);
}

void proto_put_i64(proto_writer *w, uint32_t field, int64_t value)
{
	proto_put_u64(w, field, (uint64_t)value);
}

void proto_put_s64(proto_writer *w, uint32_t field, int64_t value)
{
	proto_put_u64(w, field, leb128_zigzag(value));
}

void proto_put_fixed32(proto_writer *w, uint32_t field, uint32_t value)
{
	put_tag(w, field, PROTO_FIXED32);
	put_raw(w, &value, sizeof value);
}

void proto_put_fixed64(proto_writer *w, uint32_t field, uint64_t value)
{
	put_tag(w, field, PROTO_FIXED64);
	put_raw(w, &value, sizeof value);
}

void proto_put_float(proto_writer *w, uint32_t field, float value)
{
	put_tag(w, field, PROTO_FIXED32);
	put_raw(w, &value, sizeof value);
}

void proto_put_double(proto_writer *w, uint32_t field, double value)
{
	put_tag(w, field, PROTO_FIXED64);
	put_raw(w, &value, sizeof value);
}

void proto_put_bytes(proto_writer *w, uint32_t field, const void *bytes, size_t len)
{
	put_length(w, field, len);
	put_raw(w, bytes, len);
}

void proto_put_text(proto_writer *w, uint32_t field, const char *text)
{
	proto_put_bytes(w, field, text, strlen(text));
}

void proto_put_packed_u64(proto_writer *w, uint32_t field, const uint64_t *values, size_t n)
{
	uint64_t len = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		len += leb128_size(values[i]);
	put_length(w, field, len);
	for (size_t i = 0; i < n; i++)
		put_varint(w, values[i]);
}

void proto_put_packed_s64(proto_writer *w, uint32_t field, const int64_t *values, size_t n)
{
	uint64_t len = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		len += leb128_size(leb128_zigzag(values[i]));
	put_length(w, field, len);
	for (size_t i = 0; i < n; i++)
		put_varint(w, leb128_zigzag(values[i]));
}

void proto_put_packed_double(proto_writer *w, uint32_t field, const double *values, size_t n)
{
	if (n)
		proto_put_bytes(w, field, values, n * sizeof *values);
}

void proto_put_packed_float(proto_writer *w, uint32_t field, const float *values, size_t n)
{
	if (n)
		proto_put_bytes(w, field, values, n * sizeof *values);
}

static void open_message(proto_writer *w, bool is_sized, uint64_t len)
{
	assert(w->depth < PROTO_MAX_DEPTH);
	w->open[w->depth++] = (proto_open){ .start = proto_written(w), .len = len, .is_sized = is_sized };
	w->n_waiting += !is_sized;
}

void proto_begin(proto_writer *w, uint32_t field)
{
	put_length(w, field, 0); /* 0 until proto_end() */
	open_message(w, false, 0);
}

void proto_begin_sized(proto_writer *w, uint32_t field, uint64_t len)
{
	put_length(w, field, len);
	open_message(w, true, len);
}

/* Writes the length in front of the last `len` bytes, whose place it has one byte of. */
static void put_length_before(proto_writer *w, size_t len)
{
	size_t more = leb128_size(len) - 1;

	if (w->counts) {
		w->n_gone += more;
		return;
	}
	if (!room(w, more) || w->failed) /* in the latter case there may be no byte for it */
		return;
	uint8_t *content = w->bytes + w->n - len;
	if (more)
		memmove(content + more, content, len);
	leb128_put(content - 1, len);
	w->n += more;
}

void proto_end(proto_writer *w)
{
	assert(w->depth > 0);
	const proto_open *message = &w->open[w->depth - 1];
	uint64_t len = proto_written(w) - message->start;

	if (message->is_sized) {
		assert(w->failed || len == message->len);
	} else {
		w->too_long |= len > INT32_MAX;
		put_length_before(w, (size_t)len);
		w->n_waiting--;
	}
	w->depth--;
	if (w->out && !w->n_waiting && w->n >= FLUSH_AT) /* or the buffer fills up inside of the next one, and grows */
		flush(w);
}

uint8_t *proto_take_bytes(proto_writer *w, size_t *ret_len)
{
	assert(!w->out && w->depth == 0);
	uint8_t *bytes = w->failed || w->too_long ? NULL : w->bytes ? w->bytes : malloc(1);

	*ret_len = bytes ? w->n : 0;
	if (!bytes)
		free(w->bytes);
	*w = (proto_writer){ .failed = w->failed, .too_long = w->too_long };
	return bytes;
}

sonde_status proto_finish(proto_writer *w, sonde_error *err)
{
	assert(w->depth == 0);
	if (w->out && !w->failed)
		flush(w);
	free(w->bytes);
	w->bytes = NULL;
	w->n = w->capacity = 0;
	if (w->failed)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (w->too_long)
		return error_set(err, SONDE_E_UNSUPPORTED, -1,
				 "a message exceeds 2 GiB, which protobuf does not allow");
	return w->out ? error_of_stream(err, w->out) : SONDE_OK;
}
