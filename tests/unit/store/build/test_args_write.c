/* Templates, texts and records, byte for byte as args.h says, and back through the reader. */
#include "unit/store/make_builder.h"

/* A section as it lies in the image. */
static const uint8_t *section(const sonde_index *ix, index_kind kind, size_t *ret_len, uint64_t *ret_rows)
{
	const uint8_t *bytes = index_bytes(ix, &(size_t){ 0 });
	const index_section *s = (const index_section *)(bytes + sizeof(index_header)) + kind;

	assert_int_equal(s->kind, kind);
	*ret_len = s->length;
	*ret_rows = s->n_rows;
	return bytes + s->offset;
}

static void assert_section(const sonde_index *ix, index_kind kind, const void *want, size_t len, uint64_t n_rows)
{
	size_t found_len;
	uint64_t found_rows;
	const uint8_t *found = section(ix, kind, &found_len, &found_rows);

	assert_int_equal(found_len, len);
	assert_int_equal(found_rows, n_rows);
	assert_memory_equal(found, want, len);
}

/* {"id": <int>, "shape": <text>} and the member of the event "tts": <int> */
static uint32_t make_template(builder *b)
{
	static const args_piece pieces[] = {
		{ "{\"id\": ", 7 }, { ", \"s\": ", 7 }, { "}", 1 }, { "\"tts\": ", 7 }, { "", 0 }
	};
	static const uint8_t kinds[] = { ARG_INT, ARG_TEXT, ARG_INT, ARG_INT };
	args_template t = { .n_gaps = 4, .n_args_pieces = 3, .pieces = pieces, .kinds = kinds };

	return builder_template(b, &t);
}

static void records_are_these_bytes(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t plain =
		builder_template(b, &(args_template){ .n_args_pieces = 1, .pieces = &(args_piece){ "{}", 2 } });
	uint32_t t = make_template(b);

	(void)state;
	assert_int_equal(plain, 0);
	assert_int_equal(t, 1);
	assert_int_equal(make_template(b), t);
	assert_int_equal(builder_arg_text(b, "[1, 2]", 6), 0);
	assert_int_equal(builder_arg_text(b, "null", 4), 1);
	assert_int_equal(builder_arg_text(b, "[1, 2]", 6), 0);
	assert_int_equal(builder_args(b, t, (int64_t[]){ 1000, 0, 0, -1 }), 1);
	assert_int_equal(builder_args(b, plain, NULL), 2);
	assert_int_equal(builder_args(b, t, (int64_t[]){ 1001, 1, 0, INT64_MIN }), 3);
	sonde_index *ix = finish(b);
	/* A varint of one byte is value * 2 + 1, of two value * 4 + 2; zigzag(-1) is 1. */
	static const uint8_t templates[] = { 1,	  3,   5,   '{', '}', /* no gaps, 1 piece, 2 bytes */
					     9,	  7,   15,  '{', '"', 'i', 'd', '"', ':', ' ', 15,
					     ',', ' ', '"', 's', '"', ':', ' ', 3,   '}', 15,  '"',
					     't', 't', 's', '"', ':', ' ', 1,	0,   1,	  0,   0 };
	static const uint8_t records[] = { 3,
					   2000 * 4 % 256 + 2,
					   2000 * 4 / 256,
					   1,
					   1,
					   3, /* 1000, text 0, 0, -1 */
					   1, /* plain */
					   3,
					   5,
					   3,
					   1,
					   0, /* + 1, text 1, 0, nine bytes of a difference */
					   0xfd,
					   0xff,
					   0xff,
					   0xff,
					   0xff,
					   0xff,
					   0xff,
					   0xff };
	static const uint64_t texts[] = { 0, 6, 10 }, blocks[] = { 0, sizeof records };
	assert_section(ix, SECTION_TEMPLATES, templates, sizeof templates, 2);
	assert_section(ix, SECTION_ARG_TEXTS, texts, sizeof texts, 2);
	assert_section(ix, SECTION_ARG_TEXT_BYTES, "[1, 2]null", 10, 0);
	assert_section(ix, SECTION_ARG_BLOCKS, blocks, sizeof blocks, 1);
	assert_section(ix, SECTION_ARGS, records, sizeof records, 3);
	index_free(ix);
}

static void differences_begin_anew_in_every_block(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t t = make_template(b);

	(void)state;
	for (int64_t i = 0; i < 2 * ARGS_RECORDS + 1; i++)
		builder_args(b, t, (int64_t[]){ 5, 0, 0, 6 });
	sonde_index *ix = finish(b);
	size_t len;
	uint64_t n;
	const uint64_t *blocks = (const uint64_t *)section(ix, SECTION_ARG_BLOCKS, &len, &n);
	assert_int_equal(n, 3);
	const uint8_t *records = section(ix, SECTION_ARGS, &len, &n);
	assert_int_equal(n, 2 * ARGS_RECORDS + 1);
	assert_int_equal(blocks[3], len);
	for (size_t i = 0; i < 3; i++) {
		static const uint8_t first[] = { 1, 10 * 2 + 1, 1, 1, 12 * 2 + 1 }, second[] = { 1, 1, 1, 1, 1 };
		assert_memory_equal(records + blocks[i], first, sizeof first);
		if (i < 2)
			assert_memory_equal(records + blocks[i] + sizeof first, second, sizeof second);
	}
	index_free(ix);
}

static void the_text_comes_back(void **state)
{
	builder *b = builder_with_threads(1);
	uint32_t t = make_template(b), text = builder_arg_text(b, "{\"x\": [\"y\"]}", 12);
	uint64_t seed = 1;

	(void)state;
	for (int64_t i = 0; i < 3 * ARGS_RECORDS; i++)
		builder_args(b, t,
			     (int64_t[]){ (int64_t)(random_next(&seed) << 32 | random_next(&seed)), text, 0, -i });
	sonde_index *ix = finish(b);
	args_reader *r = args_reader_new(ix);
	seed = 1;
	for (uint32_t i = 0; i < 3 * ARGS_RECORDS; i++) {
		args_text found;
		char want[128], extra[64];
		int64_t id = (int64_t)(random_next(&seed) << 32 | random_next(&seed));
		snprintf(want, sizeof want, "{\"id\": %lld, \"s\": {\"x\": [\"y\"]}}", (long long)id);
		snprintf(extra, sizeof extra, "\"tts\": %d", -(int)i);
		assert_true(args_read(r, i + 1, &found));
		assert_int_equal(found.args_len, strlen(want));
		assert_memory_equal(found.args, want, found.args_len);
		assert_int_equal(found.extra_len, strlen(extra));
		assert_memory_equal(found.extra, extra, found.extra_len);
	}
	args_reader_free(r);
	index_free(ix);
}

static void wrong_templates_are_errors(void **state)
{
	(void)state;
	for (int which = 0; which < 3; which++) {
		builder *b = builder_with_threads(1);
		args_piece pieces[ARGS_GAPS_MAX + 2] = { { 0 } };
		uint8_t kinds[ARGS_GAPS_MAX + 1] = { 0 };
		if (which == 0)
			builder_template(b, &(args_template){ ARGS_GAPS_MAX + 1, 1, pieces, kinds });
		else if (which == 1)
			builder_template(b, &(args_template){ 1, 3, pieces, kinds });
		else
			assert_int_equal(builder_args(b, 0, NULL), 0);
		sonde_index *ix;
		assert_int_equal(builder_finish(b, &ix, NULL), SONDE_E_USAGE);
		builder_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_these_bytes),
		cmocka_unit_test(differences_begin_anew_in_every_block),
		cmocka_unit_test(the_text_comes_back),
		cmocka_unit_test(wrong_templates_are_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
