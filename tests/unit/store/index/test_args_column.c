/* One key of more records than are kept at once: each value is the one its record was made with, in any order. */
#include "unit/store/make_builder.h"

#include <stdio.h>

enum { RECORDS = (1 << 20) + 300000 };

/* Every third has another template and no count; names are texts. */
static uint32_t add_record(builder *b, const uint32_t *templates, const uint32_t *names, uint32_t i)
{
	int64_t values[] = { (int64_t)i * 7 - 1000000, names[i % 5] };

	return builder_args(b, templates[i % 3 == 0], i % 3 ? values : values + 1);
}

static sonde_index *make_records(void)
{
	static const args_piece both[] = { { "{\"count\": ", 10 }, { ", \"name\": ", 10 }, { "}", 1 } };
	static const args_piece one[] = { { "{\"name\": ", 9 }, { "}", 1 } };
	static const uint8_t kinds[] = { ARG_INT, ARG_TEXT };
	builder *b = builder_with_threads(1);
	uint32_t templates[] = { builder_template(b, &(args_template){ 2, 3, both, kinds }),
				 builder_template(b, &(args_template){ 1, 2, one, kinds + 1 }) };
	uint32_t names[5], process = builder_process(b, 0, 1, INDEX_NONE);

	for (int i = 0; i < 5; i++) {
		char json[32];
		names[i] = builder_arg_text(b, json, (size_t)sprintf(json, "\"name %d\"", i));
	}
	for (uint32_t i = 0; i < RECORDS; i++)
		assert_int_equal(add_record(b, templates, names, i), i + 1);
	add_slice(b, thread_track(b, process, 1), 0, 10, site_named(b, "one", CLASS_COMPUTE));
	return finish(b);
}

static void assert_record(const sonde_index *ix, const args_column *c, uint32_t i)
{
	char wanted[32];
	size_t len;

	assert_int_equal(args_column_int(ix, &c[0], i + 1, -5), i % 3 ? (int64_t)i * 7 - 1000000 : -5);
	const char *name = args_column_text(ix, &c[1], i + 1, &len);
	assert_non_null(name);
	assert_int_equal(len, (size_t)sprintf(wanted, "\"name %u\"", i % 5));
	assert_memory_equal(name, wanted, len);
	assert_int_equal(args_column_int(ix, &c[2], i + 1, -7), i % 3 ? (int64_t)i * 7 - 1000000 : -7);
	assert_null(args_column_text(ix, &c[3], i + 1, &len));
}

static void values_of_many_records_are_found_in_any_order(void **state)
{
	sonde_index *ix = make_records();
	args_column c[] = {
		{ .key = "count" }, { .key = "name" }, { .key = "count", .is_rare = true }, { .key = "nothing" }
	};
	uint64_t random = 1;

	(void)state;
	assert_true(args_columns_read(ix, c, 4));
	assert_null(c[0].values); /* not all of them are kept */
	for (uint32_t i = 0; i < RECORDS; i += 3 + i % 5)
		assert_record(ix, c, i);
	for (uint32_t i = RECORDS; i-- > RECORDS - 3000;) /* back, through one block and into the one before */
		assert_record(ix, c, i);
	for (int i = 0; i < 3000; i++)
		assert_record(ix, c, (uint32_t)(random_next(&random) % RECORDS));
	assert_int_equal(args_column_int(ix, &c[0], 0, -5), -5);
	assert_int_equal(args_column_int(ix, &c[0], RECORDS + 1, -5), -5);
	args_columns_done(c, 4);
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(values_of_many_records_are_found_in_any_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
