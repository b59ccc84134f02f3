/* What one end writes the other end reads: the fields of payloads.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "format/recording/payloads.h"

static uint64_t words[EVENT_MAX_WORDS];

static payload_reader reader_of(size_t n)
{
	return (payload_reader){ words, words + n };
}

/* Numbers are in files. */
static void numbers_of_events_stay(void **state)
{
	static const uint32_t codes[] = {
#define PAYLOAD(NAME, number, name, fields) EVENT_##NAME,
#define PAYLOAD_CODE(NAME, number) EVENT_##NAME,
#define PAYLOAD_PART(name, fields)
#include "format/recording/payloads.def"
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		assert_int_equal(codes[i], i + 1);
	assert_int_equal(EVENT_ALLOC, 4);
	assert_int_equal(EVENT_STREAM_SLICE, 14);
	assert_true(sizeof codes / sizeof codes[0] < 31);
}

static void fixed_payloads_are_words_in_the_order_of_the_list(void **state)
{
	const payload_alloc alloc = {
		.device = 1, .address = 2, .bytes = 3, .tensor_id = 4, .current_bytes = UINT64_MAX
	};
	const payload_op_record op = { .name_id = 9, .start_ns = -5, .dur_ns = 7 };
	payload_alloc back;
	payload_op_record op_back;

	(void)state;
	assert_int_equal(payload_words_alloc(&alloc), 5);
	assert_ptr_equal(payload_put_alloc(words, &alloc), words + 5);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(words[i], i + 1);
	payload_reader r = reader_of(5);
	assert_true(payload_get_alloc(&r, &back));
	assert_memory_equal(&back, &alloc, sizeof back);
	for (size_t n = 0; n < 5; n++) {
		r = reader_of(n);
		assert_false(payload_get_alloc(&r, &back));
	}
	payload_put_op_record(words, &op);
	r = reader_of(3);
	assert_true(payload_get_op_record(&r, &op_back));
	assert_memory_equal(&op_back, &op, sizeof op);
}

static void texts_of_any_length_come_back(void **state)
{
	char text[70];

	(void)state;
	for (size_t len = 0; len < sizeof text; len++) {
		payload_meta meta = { .key = { text, len }, .value = { text + 1, len ? len - 1 : 0 } }, back;
		for (size_t i = 0; i < sizeof text; i++)
			text[i] = (char)('a' + (i + len) % 26);
		memset(words, 0xff, sizeof words);
		size_t n = payload_words_meta(&meta);
		assert_ptr_equal(payload_put_meta(words, &meta), words + n);
		payload_reader r = reader_of(n);
		assert_true(payload_get_meta(&r, &back));
		assert_int_equal(back.key.len, len);
		assert_memory_equal(back.key.ptr, text, len);
		assert_memory_equal(back.value.ptr, text + 1, back.value.len);
		assert_int_equal(payload_left(&r), 0);
		for (size_t cut = 0; cut < n; cut++) {
			r = reader_of(cut);
			assert_false(payload_get_meta(&r, &back));
		}
	}
}

static void shapes_and_the_rest_come_back(void **state)
{
	const uint64_t dims[] = { 64, (uint64_t)-1 };
	const payload_op_begin head = { .serial = 5, .name_id = 40 };
	payload_op_info info = { .flops = 0.5, .bytes = -1, .type = { "f32", 3 }, .shape = { dims, 2 } }, back;
	payload_op_begin head_back;

	(void)state;
	uint64_t *end = payload_put_op_info(payload_put_op_begin(words, &head), &info);
	assert_int_equal(end - words, payload_words_op_begin(&head) + payload_words_op_info(&info));
	const event e = { .code = EVENT_OP_BEGIN, .n_words = (uint32_t)(end - words), .words = words };
	payload_reader r = payload_of(&e);
	assert_true(payload_get_op_begin(&r, &head_back));
	assert_int_equal(head_back.name_id, 40);
	event rest = payload_rest(&r, &e);
	assert_int_equal(rest.n_words, e.n_words - 2);
	r = payload_of(&rest);
	assert_true(payload_get_op_info(&r, &back));
	assert_true(back.flops == 0.5 && back.bytes == -1);
	assert_int_equal(back.shape.n_dims, 2);
	assert_memory_equal(back.shape.dims, dims, sizeof dims);

	info.shape = (payload_shape){ NULL, UINT64_MAX };
	end = payload_put_op_info(words, &info);
	r = reader_of((size_t)(end - words));
	assert_true(payload_get_op_info(&r, &back));
	assert_true(back.shape.n_dims == UINT64_MAX);
}

/* Lengths that a stranger wrote. */
static void lengths_beyond_the_payload_are_refused(void **state)
{
	static const uint64_t lengths[] = { 9, UINT64_MAX, UINT64_MAX - 6, UINT64_C(1) << 63, UINT64_C(1) << 61 };
	payload_text text;
	payload_shape shape;

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		words[0] = lengths[i];
		payload_reader r = reader_of(2);
		assert_false(payload_get_text(&r, &text));
		r = reader_of(2);
		assert_int_equal(payload_get_shape(&r, &shape), lengths[i] == UINT64_MAX);
	}
	const event none = { .n_words = 0 };
	payload_reader r = payload_of(&none);
	assert_false(payload_get_text(&r, &text));
}

static void texts_in_a_payload_end_where_it_ends(void **state)
{
	uint64_t four[4] = { 9, 0, 0, 5 };
	event e = { .n_words = 4, .words = four };
	payload_reader r = payload_of(&e);
	payload_text text;

	(void)state;
	memcpy(&four[1], "nine char", 9);
	assert_true(payload_get_text(&r, &text));
	assert_int_equal(text.len, 9);
	assert_memory_equal(text.ptr, "nine char", 9);
	assert_int_equal(payload_left(&r), 1);
	assert_false(payload_get_text(&r, &text)); /* five bytes, but no word */
	four[3] = 0;
	assert_true(payload_get_text(&r, &text));
	assert_int_equal(text.len, 0);
	assert_false(payload_get_text(&r, &text));
	static const uint64_t lengths[] = { 25, 64, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 61 };
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		r = payload_of(&e);
		four[0] = lengths[i];
		assert_false(payload_get_text(&r, &text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_events_stay),
		cmocka_unit_test(fixed_payloads_are_words_in_the_order_of_the_list),
		cmocka_unit_test(texts_of_any_length_come_back),
		cmocka_unit_test(shapes_and_the_rest_come_back),
		cmocka_unit_test(texts_in_a_payload_end_where_it_ends),
		cmocka_unit_test(lengths_beyond_the_payload_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
