/*
 * The protobuf wire format. The bytes are those of protobuf's guide to its encoding, or follow from it by hand.
 *
 * Messages are shown as text to compare them: "1:v150" is field 1, a varint; b bytes, d fixed 64, f fixed 32.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/proto.h"

typedef struct bytes {
	const char *ptr;
	size_t len;
} bytes;
#define BYTES(text) ((bytes){ text, sizeof(text) - 1 })

/* A copy of exactly this size, so that a sanitizer sees a read behind it. */
static uint8_t *exact_copy(bytes b)
{
	uint8_t *copy = malloc(b.len ? b.len : 1);

	assert_non_null(copy);
	memcpy(copy, b.ptr, b.len);
	return copy;
}

static void show_field(FILE *to, const proto_field *f)
{
	static const char letters[] = "vdb??f";

	fprintf(to, "%" PRIu32 ":%c", proto_number(f), letters[proto_wire_of(f)]);
	if (proto_wire_of(f) == PROTO_BYTES)
		fprintf(to, "%.*s ", (int)f->value, (const char *)f->bytes);
	else
		fprintf(to, "%" PRIu64 " ", f->value);
}

/* Fields as text, then what was wrong. The caller frees it. */
static char *show(bytes b)
{
	uint8_t *copy = exact_copy(b);
	proto_reader r = proto_reader_of(copy, b.len, 1000);
	proto_field f;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	sonde_error err;

	while (proto_next(&r, &f))
		show_field(to, &f);
	sonde_status status = proto_check(&r, &err);
	if (status)
		fprintf(to, "%s at %d: %s", status == SONDE_E_TRUNCATED ? "cut" : "bad", (int)err.position - 1000,
			err.message);
	fclose(to);
	free(copy);
	return text;
}

typedef struct show_case {
	bytes in;
	const char *out;
} show_case;

static void check_shown(const show_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = show(cases[i].in);
		assert_string_equal(text, cases[i].out);
		free(text);
	}
}
#define CHECK_SHOWN(cases) check_shown(cases, sizeof(cases) / sizeof(cases)[0])

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void fields_of_every_wire_type_are_read(void **state)
{
	static const show_case cases[] = {
		{ BYTES(""), "" },
		{ BYTES("\x08\x96\x01"), "1:v150 " },
		{ BYTES("\x12\x07testing"), "2:btesting " },
		{ BYTES("\x0a\x00"), "1:b " },
		{ BYTES("\x1d\x01\x00\x00\x80"), "3:f2147483649 " },
		{ BYTES("\x21\x02\x00\x00\x00\x00\x00\x00\x00"), "4:d2 " },
		{ BYTES("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "1:v18446744073709551614 " },
		{ BYTES("\xf8\xff\xff\xff\x0f\x01"), "536870911:v1 " },
		{ BYTES("\x88\x80\x80\x80\x00\x01"), "1:v1 " }, /* a padded tag */
		{ BYTES("\x08\x01\x08\x02"), "1:v1 1:v2 " },
	};

	(void)state;
	CHECK_SHOWN(cases);
}

static void groups_are_skipped(void **state)
{
	static const show_case cases[] = {
		{ BYTES("\x0b\x0c\x10\x01"), "2:v1 " },
		{ BYTES("\x0b\x08\x05\x12\x02hi\x0c\x10\x01"), "2:v1 " },
		{ BYTES("\x0b\x0b\x13\x14\x0c\x0c\x10\x01"), "2:v1 " }, /* groups in groups */
		{ BYTES("\x10\x01\x0b\x0c"), "2:v1 " },
	};

	(void)state;
	CHECK_SHOWN(cases);
}

static void damage_is_named_with_its_position(void **state)
{
	static const show_case cases[] = {
		{ BYTES("\x08\x01\x00\x01"), "1:v1 bad at 2: expected a field of a message" }, /* field 0 */
		{ BYTES("\x0e\x01"), "bad at 0: expected a field of a message" },	       /* wire type 6 */
		{ BYTES("\x0f\x01"), "bad at 0: expected a field of a message" },	       /* wire type 7 */
		{ BYTES("\x88\x80\x80\x80\x10\x01"), "bad at 0: expected a field of a message" },
		{ BYTES("\x08"), "cut at 1: the message ends inside a field" },
		{ BYTES("\x08\x80"), "cut at 2: the message ends inside a field" },
		{ BYTES("\x1d\x01\x02\x03"), "cut at 4: the message ends inside a field" },
		{ BYTES("\x08\x01\x12\x03hi"), "1:v1 cut at 3: a field is longer than its message" },
		{ BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		  "cut at 1: a field is longer than its message" },
		{ BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "bad at 1: a number has more than 64 bits" },
		{ BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
		  "bad at 1: a number has more than 64 bits" },
		{ BYTES("\x0c"), "bad at 0: the end of a group does not match its begin" },
		{ BYTES("\x0b\x14"), "bad at 1: the end of a group does not match its begin" },
		{ BYTES("\x0b\x13\x0c\x14"), "bad at 2: the end of a group does not match its begin" },
		{ BYTES("\x0b\x08\x01"), "cut at 3: the message ends inside a field" },
	};

	(void)state;
	CHECK_SHOWN(cases);
}

static void after_damage_the_reader_stays_at_the_field(void **state)
{
	uint8_t *copy = exact_copy(BYTES("\x08\x01\x12\x05hi"));
	proto_reader r = proto_reader_of(copy, 6, 0);
	proto_field f;

	(void)state;
	assert_true(proto_next(&r, &f));
	assert_false(proto_next(&r, &f));
	assert_ptr_equal(r.at, copy + 2);
	assert_false(proto_next(&r, &f));
	free(copy);
}

static void values_are_what_the_schema_declares(void **state)
{
	(void)state;
	assert_int_equal(proto_sint(3), -2);
	assert_int_equal((int32_t)UINT64_C(0xfffffffffffffffe), -2); /* an int32 has ten bytes when it is negative */
	assert_true(proto_double(UINT64_C(0x3ff8000000000000)) == 1.5);
	assert_true(proto_float(0xc0200000) == -2.5f);
}

/* The sum of all varints of field 1 in messages of field 3, at any depth. */
static bool add_up(proto_reader *r, uint64_t *sum, sonde_error *err)
{
	proto_field f;

	while (proto_next(r, &f)) {
		proto_reader sub;
		if (f.tag == PROTO_TAG(1, PROTO_VARINT))
			*sum += f.value;
		if (f.tag != PROTO_TAG(3, PROTO_BYTES))
			continue;
		sub = proto_sub(r, &f);
		if (!add_up(&sub, sum, err))
			return false;
	}
	return !proto_check(r, err);
}

static void messages_in_messages_are_read_in_place(void **state)
{
	uint8_t *copy = exact_copy(BYTES("\x1a\x03\x08\x96\x01\x1a\x06\x1a\x02\x08\x02\x08\x01"));
	proto_reader r = proto_reader_of(copy, 13, 0);
	uint64_t sum = 0;

	(void)state;
	assert_true(add_up(&r, &sum, NULL));
	assert_int_equal(sum, 153);
	free(copy);
}

static void damage_inside_a_message_has_its_position_in_the_file(void **state)
{
	/* The inner message ends inside a field, though more bytes follow it. */
	uint8_t *copy = exact_copy(BYTES("\x08\x01\x1a\x02\x08\x80\x08\x01"));
	proto_reader r = proto_reader_of(copy, 8, 100);
	uint64_t sum = 0;
	sonde_error err = { .position = 0 };

	(void)state;
	assert_false(add_up(&r, &sum, &err));
	assert_int_equal(err.status, SONDE_E_FORMAT);
	assert_int_equal(err.position, 106);
	assert_string_equal(err.message, "the message ends inside a field");
	free(copy);
}

/* n messages in each other. The caller frees it. */
static uint8_t *nested(int n, size_t *ret_len)
{
	uint8_t *inner = NULL;
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		proto_writer w = { 0 };
		proto_put_bytes(&w, 3, inner, len);
		free(inner);
		inner = proto_take_bytes(&w, &len);
	}
	*ret_len = len;
	return inner;
}

static void nesting_is_bounded(void **state)
{
	static const int depths[] = { 1, PROTO_MAX_DEPTH, PROTO_MAX_DEPTH + 1, 3000 };

	(void)state;
	for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
		size_t len;
		uint8_t *message = nested(depths[i], &len);
		proto_reader r = proto_reader_of(message, len, 0);
		uint64_t sum = 0;
		sonde_error err = { .message = "" };
		bool fits = depths[i] <= PROTO_MAX_DEPTH;
		assert_int_equal(add_up(&r, &sum, &err), fits);
		assert_string_equal(err.message, fits ? "" : "messages are nested too deeply");
		free(message);
	}
}

static void groups_are_bounded_with_the_messages_around_them(void **state)
{
	uint8_t message[2 * PROTO_MAX_DEPTH + 2];
	proto_field f;

	(void)state;
	for (int n = PROTO_MAX_DEPTH - 1; n <= PROTO_MAX_DEPTH + 1; n++)
		for (uint32_t depth = 0; depth < 2; depth++) {
			memset(message, 0x0b, (size_t)n);
			memset(message + n, 0x0c, (size_t)n);
			proto_reader r = proto_reader_of(message, (size_t)(2 * n), 0);
			r.depth = depth;
			assert_false(proto_next(&r, &f));
			assert_int_equal(r.problem, n + (int)depth <= PROTO_MAX_DEPTH ? PROTO_FINE : PROTO_TOO_DEEP);
		}
	uint8_t *bomb = malloc(1 << 20);
	assert_non_null(bomb);
	memset(bomb, 0x0b, 1 << 20);
	proto_reader r = proto_reader_of(bomb, 1 << 20, 0);
	assert_false(proto_next(&r, &f));
	assert_int_equal(r.problem, PROTO_TOO_DEEP);
	free(bomb);
}

/* "3 270 86942" of a field of numbers. The caller frees it. */
static char *show_values(bytes b, proto_wire wire)
{
	uint8_t *copy = exact_copy(b);
	proto_reader r = proto_reader_of(copy, b.len, 0);
	proto_field f;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	sonde_error err;
	uint64_t value;

	while (proto_next(&r, &f)) {
		proto_values v = proto_values_of(&r, &f, wire);
		fprintf(to, "[%zu] ", proto_values_count(&v));
		while (proto_values_next(&v, &value))
			fprintf(to, "%" PRIu64 " ", value);
		assert_false(proto_values_next(&v, &value));
		if (proto_check(&v.r, &err))
			fprintf(to, "%s at %d: %s", err.status == SONDE_E_FORMAT ? "bad" : "cut", (int)err.position,
				err.message);
	}
	assert_int_equal(proto_check(&r, NULL), SONDE_OK);
	fclose(to);
	free(copy);
	return text;
}

static void repeated_numbers_are_read_packed_or_not(void **state)
{
	static const struct {
		bytes in;
		proto_wire wire;
		const char *out;
	} cases[] = {
		{ BYTES("\x32\x06\x03\x8e\x02\x9e\xa7\x05"), PROTO_VARINT, "[3] 3 270 86942 " },
		{ BYTES("\x30\x03\x30\x8e\x02\x32\x01\x05"), PROTO_VARINT, "[1] 3 [1] 270 [1] 5 " },
		{ BYTES("\x32\x00"), PROTO_VARINT, "[0] " },
		{ BYTES("\x32\x08\x01\x00\x00\x00\x02\x00\x00\x00"), PROTO_FIXED32, "[2] 1 2 " },
		{ BYTES("\x35\x07\x00\x00\x00"), PROTO_FIXED32, "[1] 7 " },
		{ BYTES("\x32\x08\x01\x00\x00\x00\x02\x00\x00\x00"), PROTO_FIXED64, "[1] 8589934593 " },
		{ BYTES("\x35\x07\x00\x00\x00"), PROTO_VARINT, "[0] " }, /* not of this type */
		{ BYTES("\x32\x03\x01\x02\x80"), PROTO_VARINT,
		  "[2] 1 2 bad at 5: a list of numbers ends inside a number" },
		{ BYTES("\x32\x05\x01\x00\x00\x00\x02"), PROTO_FIXED32,
		  "[1] 1 bad at 7: a list of numbers ends inside a number" },
		{ BYTES("\x32\x0b\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), PROTO_VARINT,
		  "[1] bad at 2: a number has more than 64 bits" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = show_values(cases[i].in, cases[i].wire);
		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void expect_bytes(proto_writer *w, bytes want)
{
	size_t len;
	uint8_t *got = proto_take_bytes(w, &len);

	assert_non_null(got);
	assert_int_equal(len, want.len);
	assert_memory_equal(got, want.ptr, len);
	free(got);
}

static void what_is_written_is_what_protobuf_writes(void **state)
{
	proto_writer w = { 0 };

	(void)state;
	proto_put_u64(&w, 1, 150);
	expect_bytes(&w, BYTES("\x08\x96\x01"));
	proto_put_text(&w, 2, "testing");
	expect_bytes(&w, BYTES("\x12\x07testing"));
	proto_put_i64(&w, 1, -2);
	expect_bytes(&w, BYTES("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	proto_put_s64(&w, 1, -2);
	expect_bytes(&w, BYTES("\x08\x03"));
	proto_put_fixed32(&w, 3, 0x80000001);
	expect_bytes(&w, BYTES("\x1d\x01\x00\x00\x80"));
	proto_put_fixed64(&w, 4, 2);
	expect_bytes(&w, BYTES("\x21\x02\x00\x00\x00\x00\x00\x00\x00"));
	proto_put_double(&w, 1, 1.5);
	expect_bytes(&w, BYTES("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"));
	proto_put_float(&w, 1, -2.5f);
	expect_bytes(&w, BYTES("\x0d\x00\x00\x20\xc0"));
	proto_put_u64(&w, PROTO_MAX_FIELD, 0);
	expect_bytes(&w, BYTES("\xf8\xff\xff\xff\x0f\x00"));
	expect_bytes(&w, BYTES(""));
}

static void packed_numbers_have_one_tag(void **state)
{
	proto_writer w = { 0 };

	(void)state;
	proto_put_packed_u64(&w, 6, (const uint64_t[]){ 3, 270, 86942 }, 3);
	expect_bytes(&w, BYTES("\x32\x06\x03\x8e\x02\x9e\xa7\x05"));
	proto_put_packed_s64(&w, 6, (const int64_t[]){ -1, 1, -64, 64 }, 4);
	expect_bytes(&w, BYTES("\x32\x05\x01\x02\x7f\x80\x01"));
	proto_put_packed_double(&w, 6, (const double[]){ 1.5 }, 1);
	expect_bytes(&w, BYTES("\x32\x08\x00\x00\x00\x00\x00\x00\xf8\x3f"));
	proto_put_packed_float(&w, 6, (const float[]){ -2.5f, 0 }, 2);
	expect_bytes(&w, BYTES("\x32\x08\x00\x00\x20\xc0\x00\x00\x00\x00"));
	proto_put_packed_u64(&w, 6, NULL, 0);
	proto_put_packed_s64(&w, 6, NULL, 0);
	proto_put_packed_double(&w, 6, NULL, 0);
	proto_put_packed_float(&w, 6, NULL, 0);
	expect_bytes(&w, BYTES(""));
}

static void a_message_in_a_message_has_its_length_before_it(void **state)
{
	proto_writer w = { 0 };

	(void)state;
	proto_begin(&w, 3);
	proto_put_u64(&w, 1, 150);
	proto_end(&w);
	proto_begin(&w, 3);
	proto_begin(&w, 3);
	proto_put_u64(&w, 1, 2);
	proto_end(&w);
	proto_begin(&w, 4);
	proto_end(&w);
	proto_end(&w);
	proto_put_u64(&w, 1, 1);
	expect_bytes(&w, BYTES("\x1a\x03\x08\x96\x01\x1a\x06\x1a\x02\x08\x02\x22\x00\x08\x01"));
}

static void a_length_of_several_bytes_moves_what_it_counts(void **state)
{
	static const size_t lengths[] = { 124, 125, 126, 127, 128, 129, 16379, 16380, 16381, 16382, 2097147, 2097152 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		size_t n = lengths[i], len;
		char *text = malloc(n);
		proto_writer w = { 0 };
		proto_reader r, sub;
		proto_field f;
		assert_non_null(text);
		memset(text, 'x', n);
		proto_begin(&w, 1);
		proto_begin(&w, 2);
		proto_put_bytes(&w, 3, text, n);
		proto_end(&w);
		proto_put_u64(&w, 4, 44);
		proto_end(&w);
		proto_put_u64(&w, 5, 55);
		uint8_t *got = proto_take_bytes(&w, &len);
		r = proto_reader_of(got, len, 0);
		assert_true(proto_next(&r, &f) && f.tag == PROTO_TAG(1, PROTO_BYTES));
		sub = proto_sub(&r, &f);
		assert_true(proto_next(&sub, &f) && f.tag == PROTO_TAG(2, PROTO_BYTES));
		proto_reader inner = proto_sub(&sub, &f);
		assert_true(proto_next(&inner, &f) && f.value == n && memcmp(f.bytes, text, n) == 0);
		assert_false(proto_next(&inner, &f) || inner.problem);
		assert_true(proto_next(&sub, &f) && f.tag == PROTO_TAG(4, PROTO_VARINT) && f.value == 44);
		assert_false(proto_next(&sub, &f) || sub.problem);
		assert_true(proto_next(&r, &f) && f.value == 55);
		assert_false(proto_next(&r, &f) || r.problem);
		free(got);
		free(text);
	}
}

/* Some of everything; about 30 * n bytes. */
static void write_sample(proto_writer *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		proto_begin(w, 1);
		proto_put_u64(w, 1, UINT64_C(1) << (i % 64));
		proto_begin(w, 2);
		proto_put_packed_u64(w, 3, (const uint64_t[]){ i, i * i }, 2);
		for (unsigned k = 0; k < i % 30; k++)
			proto_put_double(w, 4, k);
		proto_end(w);
		proto_put_text(w, 5, "name");
		proto_end(w);
	}
}

/* What the writer puts into a stream. The caller frees it. */
static char *streamed(unsigned n, bool is_sized, size_t *ret_len)
{
	proto_writer count = { .counts = true };
	char *text;
	FILE *out = open_memstream(&text, ret_len);
	proto_writer w = { .out = out };

	write_sample(&count, n);
	assert_null(count.bytes);
	proto_put_u64(&w, 1, 7);
	if (is_sized)
		proto_begin_sized(&w, 9, proto_written(&count));
	else
		proto_begin(&w, 9);
	write_sample(&w, n);
	/* A buffer of 64 KiB and one message at a time, whatever the length of the whole. */
	assert_true(is_sized ? w.capacity <= 1 << 18 : w.n >= proto_written(&count));
	proto_end(&w);
	proto_put_u64(&w, 2, 8);
	uint64_t n_written = proto_written(&w);
	assert_int_equal(proto_finish(&w, NULL), SONDE_OK);
	fclose(out);
	assert_int_equal(n_written, *ret_len);
	return text;
}

static void a_counted_message_is_streamed_and_is_the_same(void **state)
{
	static const unsigned sizes[] = { 0, 1, 4, 500, 20000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t waiting_len, sized_len;
		char *waiting = streamed(sizes[i], false, &waiting_len), *sized = streamed(sizes[i], true, &sized_len);
		assert_int_equal(waiting_len, sized_len);
		assert_memory_equal(waiting, sized, sized_len);
		free(waiting);
		free(sized);
	}
}

static void large_bytes_do_not_go_through_the_buffer(void **state)
{
	enum { LARGE = 5 << 20 };
	char *large = calloc(LARGE, 1), *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	proto_writer w = { .out = out };

	(void)state;
	assert_non_null(large);
	proto_put_u64(&w, 1, 1);
	proto_put_bytes(&w, 2, large, LARGE);
	proto_put_u64(&w, 3, 3);
	assert_true(w.capacity < LARGE);
	assert_int_equal(proto_finish(&w, NULL), SONDE_OK);
	fclose(out);
	assert_int_equal(len, 2 + 1 + 4 + LARGE + 2);
	assert_memory_equal(text, "\x08\x01\x12\x80\x80\xc0\x02", 7);
	assert_memory_equal(text + len - 2, "\x18\x03", 2);
	free(text);
	free(large);
}

static void a_stream_that_fails_is_told(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	proto_writer w = { .out = full };
	sonde_error err = { .message = "" };

	(void)state;
	if (!full)
		skip();
	write_sample(&w, 10000);
	assert_int_equal(proto_finish(&w, &err), SONDE_E_IO);
	assert_non_null(strstr(err.message, "cannot write"));
	fclose(full);
}

/* The length alone is looked at: a message of 2 GiB need not be there. */
static void a_message_beyond_2_gib_is_refused(void **state)
{
	proto_writer w = { .counts = true };
	sonde_error err = { .message = "" };

	(void)state;
	proto_put_bytes(&w, 1, "", INT32_MAX);
	assert_false(w.too_long);
	proto_begin(&w, 1);
	proto_put_bytes(&w, 1, "", INT32_MAX);
	proto_end(&w);
	assert_int_equal(proto_finish(&w, &err), SONDE_E_UNSUPPORTED);
	assert_non_null(strstr(err.message, "2 GiB"));
}

static void every_cut_of_a_message_is_survived(void **state)
{
	proto_writer w = { 0 };
	proto_field f;
	size_t len;

	(void)state;
	write_sample(&w, 4);
	proto_put_fixed32(&w, 7, 7);
	proto_put_fixed64(&w, 8, 8);
	uint8_t *whole = proto_take_bytes(&w, &len);
	for (size_t cut = 0; cut <= len; cut++) {
		uint8_t *copy = exact_copy((bytes){ (const char *)whole, cut });
		proto_reader r = proto_reader_of(copy, cut, 0);
		uint64_t n = 0;
		while (proto_next(&r, &f))
			n++;
		/* Whole fields are read; it is cut unless it ends between two of them. */
		assert_int_equal(proto_check(&r, NULL), r.at == copy + cut ? SONDE_OK : SONDE_E_TRUNCATED);
		assert_true(n <= 6);
		free(copy);
	}
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_every_wire_type_are_read),
		cmocka_unit_test(groups_are_skipped),
		cmocka_unit_test(damage_is_named_with_its_position),
		cmocka_unit_test(after_damage_the_reader_stays_at_the_field),
		cmocka_unit_test(values_are_what_the_schema_declares),
		cmocka_unit_test(messages_in_messages_are_read_in_place),
		cmocka_unit_test(damage_inside_a_message_has_its_position_in_the_file),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(groups_are_bounded_with_the_messages_around_them),
		cmocka_unit_test(repeated_numbers_are_read_packed_or_not),
		cmocka_unit_test(what_is_written_is_what_protobuf_writes),
		cmocka_unit_test(packed_numbers_have_one_tag),
		cmocka_unit_test(a_message_in_a_message_has_its_length_before_it),
		cmocka_unit_test(a_length_of_several_bytes_moves_what_it_counts),
		cmocka_unit_test(a_counted_message_is_streamed_and_is_the_same),
		cmocka_unit_test(large_bytes_do_not_go_through_the_buffer),
		cmocka_unit_test(a_stream_that_fails_is_told),
		cmocka_unit_test(a_message_beyond_2_gib_is_refused),
		cmocka_unit_test(every_cut_of_a_message_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
