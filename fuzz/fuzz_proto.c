/*
 * A protobuf message from a stranger: read to every depth, as messages wherever bytes may be one; then written from
 * what was read, and read again: the second writing gives the bytes of the first.
 */
#include <stdlib.h>
#include <string.h>
#include "base/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

/* As lists of numbers, of whatever type. */
static void read_values(const proto_reader *r, const proto_field *f)
{
	static const proto_wire wires[] = { PROTO_VARINT, PROTO_FIXED32, PROTO_FIXED64 };

	for (size_t i = 0; i < 3; i++) {
		proto_values v = proto_values_of(r, f, wires[i]);
		size_t n = 0, counted = proto_values_count(&v);
		for (uint64_t value; proto_values_next(&v, &value);)
			n++;
		expect(proto_check(&v.r, NULL) ? n <= counted : n == counted);
	}
}

/* True when the bytes of a field are a message with fields; those that are none are text. */
static bool is_message(const proto_reader *r, const proto_field *f)
{
	proto_reader sub = proto_sub(r, f);
	proto_field inner;
	bool has_fields = false;

	while (proto_next(&sub, &inner))
		has_fields = true;
	return has_fields && !proto_check(&sub, NULL);
}

static void copy_field(proto_writer *w, const proto_reader *r, const proto_field *f);

static void copy_fields(proto_writer *w, proto_reader *r)
{
	proto_field f;

	while (proto_next(r, &f)) {
		expect(r->at <= r->end);
		copy_field(w, r, &f);
	}
	expect(r->problem ? r->problem_at >= r->origin && r->problem_at <= r->end : r->at == r->end);
}

static void copy_field(proto_writer *w, const proto_reader *r, const proto_field *f)
{
	uint32_t number = proto_number(f);

	read_values(r, f);
	switch (proto_wire_of(f)) {
	case PROTO_VARINT:
		proto_put_u64(w, number, f->value);
		return;
	case PROTO_FIXED32:
		proto_put_fixed32(w, number, (uint32_t)f->value);
		return;
	case PROTO_FIXED64:
		proto_put_fixed64(w, number, f->value);
		return;
	default:
		expect(f->bytes >= r->origin && f->bytes + f->value <= r->end);
	}
	/* The check of each depth looks at all below it: not too deep. */
	if (w->depth >= 8 || !is_message(r, f)) {
		proto_put_bytes(w, number, f->bytes, f->value);
		return;
	}
	proto_reader sub = proto_sub(r, f);
	proto_begin(w, number);
	copy_fields(w, &sub);
	proto_end(w);
}

/* The caller frees it. */
static uint8_t *copy(const uint8_t *data, size_t size, size_t *ret_len)
{
	proto_reader r = proto_reader_of(data, size, 0), again = r;
	proto_writer w = { .out = NULL }, count = { .counts = true };

	copy_fields(&w, &r);
	copy_fields(&count, &again);
	expect(proto_written(&count) == proto_written(&w));
	uint8_t *bytes = proto_take_bytes(&w, ret_len);
	expect(bytes != NULL);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len, again_len;
	uint8_t *bytes = copy(data, size, &len), *again = copy(bytes, len, &again_len);
	proto_reader r = proto_reader_of(bytes, len, 0);
	proto_field f;

	while (proto_next(&r, &f))
		;
	expect(!proto_check(&r, NULL)); /* whatever came in, what goes out is sound */
	expect(len == again_len && memcmp(bytes, again, len) == 0);
	expect(len <= size);
	free(bytes);
	free(again);
	return 0;
}
