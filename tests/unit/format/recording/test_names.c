/* Name records: written, read, and read from strangers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/recording/names.h"

static void a_record_comes_back_as_it_was_written(void **state)
{
	const name_parts parts = {
		.id = 65534,
		.kind = NAME_OP,
		.category = 33,
		.line = 1234567,
		.name = "matmul",
		.name_len = 6,
		.file = "src/model.c",
		.function = "forward",
		.args = { { 1, "m" }, { 4, "shape" }, { 3, "" } },
		.n_args = 3,
	};
	_Alignas(8) uint8_t buffer[NAME_RECORD_MAX];

	(void)state;
	memset(buffer, 0xee, sizeof buffer);
	size_t size = name_write(buffer, &parts);
	assert_int_equal(size % 8, 0);
	const name_record *r = name_read(buffer, size);
	assert_non_null(r);
	assert_int_equal(r->size, size);
	assert_int_equal(r->id, 65534);
	assert_int_equal(r->kind, NAME_OP);
	assert_int_equal(r->category, 33);
	assert_int_equal(r->line, 1234567);
	assert_int_equal(r->cut, 0);
	assert_memory_equal(r->text, "matmulsrc/model.cforward", 24);
	assert_int_equal(r->name_len, 6);
	assert_int_equal(r->file_len, 11);
	assert_int_equal(r->function_len, 7);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t type;
		const char *key;
		size_t len;
		assert_true(name_arg(r, i, &type, &key, &len));
		assert_int_equal(type, parts.args[i].type);
		assert_int_equal(len, strlen(parts.args[i].key));
		assert_memory_equal(key, parts.args[i].key, len);
	}
	assert_false(name_arg(r, 3, &(uint8_t){ 0 }, &(const char *){ NULL }, &(size_t){ 0 }));
	assert_null(name_read(buffer, size - 1));
}

static void a_name_may_be_all_there_is(void **state)
{
	_Alignas(8) uint8_t buffer[NAME_RECORD_MAX];

	(void)state;
	size_t size = name_write(buffer, &(name_parts){ .id = 32, .name = "a", .name_len = 1 });
	assert_int_equal(size, 32);
	const name_record *r = name_read(buffer, size);
	assert_int_equal(r->file_len + r->function_len + r->n_args + r->args_len, 0);
	assert_string_equal(r->text, "a");
	assert_int_equal(name_write(buffer, &(name_parts){ .id = 32 }), 32);
	assert_non_null(name_read(buffer, 32));
	name_write(buffer, &(name_parts){ .id = 32, .name = "8 bytes.", .name_len = 8 });
	assert_string_equal(r->text, "8 bytes."); /* terminated even where nothing needed padding */
}

static void long_texts_are_cut_between_characters(void **state)
{
	static const struct {
		size_t prefix; /* letters before a run of "ä", two bytes each */
		size_t kept;
	} cases[] = { { 255, 255 }, { 254, 254 }, { 253, 255 }, { 0, 254 }, { 1, 255 }, { 300, 255 } };
	_Alignas(8) uint8_t buffer[NAME_RECORD_MAX];
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t n = cases[i].prefix;
		memset(text, 'x', n);
		for (; n < 600; n += 2)
			memcpy(text + n, "\xc3\xa4", 2);
		text[n] = 0;
		size_t size = name_write(buffer, &(name_parts){ .id = 40, .name = text, .name_len = n, .file = text });
		const name_record *r = name_read(buffer, size);
		assert_non_null(r);
		assert_int_equal(r->name_len, cases[i].kept);
		assert_int_equal(r->file_len, cases[i].kept);
		assert_int_equal(r->cut, 1);
		assert_memory_equal(r->text, text, r->name_len);
	}
	size_t size = name_write(buffer, &(name_parts){ .id = 40, .name = text, .name_len = 255 });
	assert_int_equal(name_read(buffer, size)->cut, 0);
}

static void the_largest_record_fits(void **state)
{
	char text[1000];
	name_parts parts = { .id = 32, .name = text, .name_len = 999, .file = text, .function = text };
	uint8_t *buffer = malloc(NAME_RECORD_MAX);

	(void)state;
	memset(text, 'k', sizeof text - 1);
	text[999] = 0;
	parts.n_args = 100; /* more than there is room for, in the record as in the struct */
	for (size_t i = 0; i < NAME_MAX_ARGS; i++)
		parts.args[i].key = text;
	size_t size = name_write(buffer, &parts);
	assert_true(size <= NAME_RECORD_MAX);
	const name_record *r = name_read(buffer, size);
	assert_non_null(r);
	assert_int_equal(r->n_args, NAME_MAX_ARGS);
	uint8_t type;
	const char *key;
	size_t len;
	assert_true(name_arg(r, NAME_MAX_ARGS - 1, &type, &key, &len));
	assert_int_equal(len, 127);
	free(buffer);
}

static name_record *stranger(size_t size)
{
	name_record *r = calloc(1, size);

	assert_non_null(r);
	*r = (name_record){ .size = (uint16_t)size, .id = 40, .kind = NAME_SCOPE };
	return r;
}

static void records_that_do_not_add_up_are_refused(void **state)
{
	static const struct {
		const char *what;
		size_t offset, width;
		unsigned value;
	} cases[] = {
		{ "no size", offsetof(name_record, size), 2, 0 },
		{ "smaller than its head", offsetof(name_record, size), 2, 16 },
		{ "not aligned", offsetof(name_record, size), 2, 44 },
		{ "longer than what is left", offsetof(name_record, size), 2, 56 },
		{ "longer than any", offsetof(name_record, size), 2, 0xfff8 },
		{ "id of a special event", offsetof(name_record, id), 2, 30 },
		{ "no id", offsetof(name_record, id), 2, 0 },
		{ "unknown kind", offsetof(name_record, kind), 1, NAME_KINDS },
		{ "name too long", offsetof(name_record, name_len), 1, 25 },
		{ "file too long", offsetof(name_record, file_len), 1, 255 },
		{ "function too long", offsetof(name_record, function_len), 1, 200 },
		{ "arguments too long", offsetof(name_record, args_len), 2, 0xffff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		name_record *r = stranger(48);
		assert_non_null(name_read(r, 48));
		memcpy((uint8_t *)r + cases[i].offset, &cases[i].value, cases[i].width);
		if (name_read(r, 48))
			fail_msg("%s: taken for sound", cases[i].what);
		free(r);
	}
	for (size_t len = 0; len < 24; len++) {
		uint8_t *few = malloc(len ? len : 1);
		memset(few, 1, len ? len : 1);
		assert_null(name_read(few, len));
		free(few);
	}
}

static void arguments_that_do_not_add_up_end_the_list(void **state)
{
	uint8_t type;
	const char *key;
	size_t len;
	name_record *r = stranger(40);

	(void)state;
	r->n_args = 255;
	r->args_len = 7;
	memcpy(r->text,
	       "\x01\x01"
	       "a\x02\x09xx",
	       7); /* the second key claims 9 bytes */
	assert_non_null(name_read(r, 40));
	assert_true(name_arg(r, 0, &type, &key, &len));
	assert_memory_equal(key, "a", 1);
	for (unsigned i = 1; i < 256; i++)
		assert_false(name_arg(r, i, &type, &key, &len));
	r->args_len = 1;
	assert_false(name_arg(r, 0, &type, &key, &len));
	free(r);
}

static void random_bytes_do_no_harm(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint8_t *bytes = malloc(64);
		for (size_t i = 0; i < 64; i += 8) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			memcpy(bytes + i, &random, 8);
		}
		bytes[0] = (uint8_t)(random >> 40 & 0x78); /* a size that may be right */
		bytes[1] = 0;
		const name_record *r = name_read(bytes, 64);
		for (unsigned i = 0; r && i < 256; i++) {
			uint8_t type;
			const char *key;
			size_t len;
			if (name_arg(r, i, &type, &key, &len))
				assert_true(key + len <= (const char *)bytes + r->size);
		}
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_comes_back_as_it_was_written),
		cmocka_unit_test(a_name_may_be_all_there_is),
		cmocka_unit_test(long_texts_are_cut_between_characters),
		cmocka_unit_test(the_largest_record_fits),
		cmocka_unit_test(records_that_do_not_add_up_are_refused),
		cmocka_unit_test(arguments_that_do_not_add_up_end_the_list),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
