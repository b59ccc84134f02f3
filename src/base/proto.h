/*
 * The protobuf wire format: a bounded reader and a writer, without schemas or generated code.
 *
 * Reading, without copies. A field is found by number and wire type together, so that a field of an unexpected type is
 * skipped like an unknown one. Groups are skipped.
 *
 *   proto_reader r = proto_reader_of(bytes, len, 0);
 *   proto_field f;
 *   while (proto_next(&r, &f))
 *           switch (f.tag) {
 *           case PROTO_TAG(1, PROTO_VARINT):
 *                   time = f.value;
 *                   break;
 *           case PROTO_TAG(2, PROTO_BYTES):               text: f.bytes, f.value of them
 *                   sub = proto_sub(&r, &f);              or a message: a reader of its own, one level deeper
 *                   break;
 *           case PROTO_TAG(3, PROTO_VARINT):              repeated: packed or not
 *           case PROTO_TAG(3, PROTO_BYTES):
 *                   list = proto_values_of(&r, &f, PROTO_VARINT);
 *                   while (proto_values_next(&list, &value))
 *                           ...
 *           }
 *   return proto_check(&r, err);
 *
 * Writing. With a stream, what is complete leaves the buffer. A message between proto_begin() and proto_end() stays in
 * it, as its length comes first; a message that is too large for that is written twice, the first time into a writer
 * that only counts:
 *
 *   proto_writer count = { .counts = true };
 *   write_plane(&count, plane);
 *   proto_writer w = { .out = file };
 *   proto_begin_sized(&w, 1, proto_written(&count));
 *   write_plane(&w, plane);
 *   proto_end(&w);
 *   status = proto_finish(&w, err);                         also releases the buffer
 */
#ifndef SONDE_BASE_PROTO_H
#define SONDE_BASE_PROTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sonde/error.h>
#include "base/leb128.h"

enum {
	PROTO_MAX_DEPTH = 100, /* messages and groups in each other; as protobuf's own parsers */
	PROTO_MAX_FIELD = (1 << 29) - 1,
};

typedef enum proto_wire {
	PROTO_VARINT = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2, /* text, a message, packed numbers */
	PROTO_GROUP_BEGIN = 3,
	PROTO_GROUP_END = 4,
	PROTO_FIXED32 = 5,
} proto_wire;

#define PROTO_TAG(field, wire) ((uint32_t)(field) << 3 | (uint32_t)(wire))

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef enum proto_problem {
	PROTO_FINE,
	PROTO_CUT, /* ends inside a field: more bytes may help */
	PROTO_LONG_VARINT,
	PROTO_BAD_TAG,
	PROTO_LONG_FIELD, /* a length beyond the end */
	PROTO_BAD_GROUP,
	PROTO_TOO_DEEP,
	PROTO_BAD_PACKED,
} proto_problem;

typedef struct proto_reader {
	const uint8_t *at, *end; /* after a failure `at` is the start of the field that could not be read */
	const uint8_t *origin;	 /* byte 0 of positions */
	const uint8_t *readable; /* where the outermost message ends */
	uint64_t offset;	 /* position of `origin` in the file */
	const uint8_t *problem_at;
	uint32_t depth;
	proto_problem problem; /* of this reader; those of proto_sub() have their own */
} proto_reader;

typedef struct proto_field {
	uint32_t tag;	      /* PROTO_TAG(number, wire type) */
	uint64_t value;	      /* of PROTO_BYTES: how many */
	const uint8_t *bytes; /* of PROTO_BYTES, inside of what is read; else NULL */
} proto_field;

/* Reads bytes that stand at `offset` in their file. They must outlive the reader. */
static inline proto_reader proto_reader_of(const void *bytes, size_t len, uint64_t offset)
{
	const uint8_t *at = bytes, *end = at ? at + len : at;

	return (proto_reader){ .at = at, .end = end, .origin = at, .readable = end, .offset = offset };
}

/* Reads the next field. Returns false at the end and after damage, which proto_check() tells apart. */
bool proto_next(proto_reader *r, proto_field *ret_field);

/* Returns a reader of the message in a field of PROTO_BYTES. Too deep, it fails at once. */
proto_reader proto_sub(const proto_reader *r, const proto_field *f);

/* Returns SONDE_OK, SONDE_E_TRUNCATED if the bytes end inside a field, or SONDE_E_FORMAT with the position. */
sonde_status proto_check(const proto_reader *r, sonde_error *err);

static inline uint32_t proto_number(const proto_field *f)
{
	return f->tag >> 3;
}

static inline proto_wire proto_wire_of(const proto_field *f)
{
	return (proto_wire)(f->tag & 7);
}

/* Values as the schema declares them. int32, int64, uint32, uint64, bool and enum are casts of `value`. */
static inline int64_t proto_sint(uint64_t value)
{
	return leb128_unzigzag(value);
}

static inline double proto_double(uint64_t value)
{
	double result;

	memcpy(&result, &value, sizeof result);
	return result;
}

static inline float proto_float(uint64_t value)
{
	uint32_t low = (uint32_t)value;
	float result;

	memcpy(&result, &low, sizeof result);
	return result;
}

/* The numbers of a repeated field: of a packed one all, of one that is not packed the one in this field. */
typedef struct proto_values {
	proto_reader r; /* of the packed bytes */
	uint64_t one;
	proto_wire wire;
	bool has_one;
} proto_values;

/* `wire` is what the numbers are: PROTO_VARINT, PROTO_FIXED32 or PROTO_FIXED64. */
proto_values proto_values_of(const proto_reader *r, const proto_field *f, proto_wire wire);
/* Returns how many numbers are left, if none of them is damaged. Takes a pass over the bytes. */
size_t proto_values_count(const proto_values *v);
/* Returns false at the end and after damage; proto_check(&v->r, err) tells which. */
bool proto_values_next(proto_values *v, uint64_t *ret_value);

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct proto_open {
	uint64_t start; /* of its content, in bytes written so far */
	uint64_t len;	/* announced by proto_begin_sized() */
	bool is_sized;
} proto_open;

typedef struct proto_writer {
	FILE *out;   /* NULL: everything stays in bytes */
	bool counts; /* only counts */
	uint8_t *bytes;
	size_t n, capacity;
	uint64_t n_gone; /* bytes that left the buffer */
	unsigned depth, n_waiting /* open messages whose length is not known yet */;
	bool failed;   /* out of memory */
	bool too_long; /* a message of more than 2 GiB, which no parser takes */
	proto_open open[PROTO_MAX_DEPTH];
} proto_writer;

void proto_put_u64(proto_writer *w, uint32_t field, uint64_t value); /* uint32, uint64, bool, enum */
void proto_put_i64(proto_writer *w, uint32_t field, int64_t value);  /* int32, int64 */
void proto_put_s64(proto_writer *w, uint32_t field, int64_t value);  /* sint32, sint64 */
void proto_put_fixed32(proto_writer *w, uint32_t field, uint32_t value);
void proto_put_fixed64(proto_writer *w, uint32_t field, uint64_t value);
void proto_put_float(proto_writer *w, uint32_t field, float value);
void proto_put_double(proto_writer *w, uint32_t field, double value);
void proto_put_bytes(proto_writer *w, uint32_t field, const void *bytes, size_t len);
void proto_put_text(proto_writer *w, uint32_t field, const char *text);

/* Packed numbers. Without numbers there is no field. */
void proto_put_packed_u64(proto_writer *w, uint32_t field, const uint64_t *values, size_t n); /* also of int64 */
void proto_put_packed_s64(proto_writer *w, uint32_t field, const int64_t *values, size_t n);
void proto_put_packed_double(proto_writer *w, uint32_t field, const double *values, size_t n);
void proto_put_packed_float(proto_writer *w, uint32_t field, const float *values, size_t n);

/* A message inside of this one: what is written until proto_end(). At most PROTO_MAX_DEPTH in each other. */
void proto_begin(proto_writer *w, uint32_t field);
/* The same of `len` bytes, which need not stay in the buffer. */
void proto_begin_sized(proto_writer *w, uint32_t field, uint64_t len);
void proto_end(proto_writer *w);

/* Returns how many bytes were written or counted. */
static inline uint64_t proto_written(const proto_writer *w)
{
	return w->n_gone + w->n;
}

/* Returns the bytes of a writer without a stream, which the caller frees, and leaves it empty. NULL if it failed. */
uint8_t *proto_take_bytes(proto_writer *w, size_t *ret_len);
/* Writes out what is left and releases the buffer. Tells what failed since the start. */
sonde_status proto_finish(proto_writer *w, sonde_error *err);

#endif
