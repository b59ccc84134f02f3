/* Arguments: records become the text again that they were made of, in any order, and a damaged one is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/varint.h"
#include "unit/store/make_index.h"

enum { N_RECORDS = 5000, N_TEMPLATES = 5, MAX_GAPS = 4 };

static const struct {
	size_t n_gaps, n_args_pieces;
	const char *pieces[MAX_GAPS + 1];
	uint8_t kinds[MAX_GAPS];
} templates[N_TEMPLATES] = {
	{ 2, 3, { "{\"External id\": ", ", \"Ev Idx\": ", "}" }, { ARG_INT, ARG_INT } },
	{ 1, 2, { "{\"name\":", "}" }, { ARG_TEXT } },
	{ 0, 1, { "{}" }, { 0 } },
	{ 1, 0, { "\"tts\": ", "" }, { ARG_INT } }, /* extra members alone */
	{ 4, 3, { "{ \"a\" : ", ",\"b\":", "}", "\"id\": ", ", \"x\": 5" }, { ARG_INT, ARG_TEXT, ARG_INT, ARG_INT } },
};
static const char *const texts[] = { "\"a \\\"quote\\\"\"",  "1.50", "[1, {\"}\": 2}]", "-0",
				     "18446744073709551616", "null" };
enum { N_TEXTS = sizeof texts / sizeof texts[0] };

/* What went in: a record's template and values, and the texts that must come out. */
typedef struct wanted {
	uint32_t template;
	int64_t values[MAX_GAPS];
	char args[200], extra[200];
} wanted;

static wanted records[N_RECORDS];

static void put(image_maker *m, index_kind kind, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	image_bytes(m, kind, bytes, (size_t)(varint_put(bytes, value) - bytes));
}

static void put_templates(image_maker *m)
{
	for (size_t i = 0; i < N_TEMPLATES; i++) {
		put(m, SECTION_TEMPLATES, templates[i].n_gaps);
		put(m, SECTION_TEMPLATES, templates[i].n_args_pieces);
		for (size_t k = 0; k <= templates[i].n_gaps; k++) {
			put(m, SECTION_TEMPLATES, strlen(templates[i].pieces[k]));
			image_bytes(m, SECTION_TEMPLATES, templates[i].pieces[k], strlen(templates[i].pieces[k]));
		}
		image_bytes(m, SECTION_TEMPLATES, templates[i].kinds, templates[i].n_gaps);
		m->sections[SECTION_TEMPLATES].n_rows++;
	}
	for (size_t i = 0; i < N_TEXTS; i++) {
		image_offset(m, SECTION_ARG_TEXTS, SECTION_ARG_TEXT_BYTES);
		image_bytes(m, SECTION_ARG_TEXT_BYTES, texts[i], strlen(texts[i]));
	}
}

static wanted make_record(uint64_t *seed)
{
	wanted w = { .template = (uint32_t)image_between(seed, 0, N_TEMPLATES - 1) };
	size_t n_args = templates[w.template].n_args_pieces;

	for (size_t i = 0; i <= templates[w.template].n_gaps; i++) {
		char *to = i < n_args ? w.args : w.extra;
		strcat(to, templates[w.template].pieces[i]);
		if (i == templates[w.template].n_gaps || i + 1 == n_args)
			continue;
		if (templates[w.template].kinds[i] == ARG_TEXT) {
			w.values[i] = image_between(seed, 0, N_TEXTS - 1);
			strcat(to, texts[w.values[i]]);
		} else {
			static const int64_t values[] = { 0, -1, INT64_MAX, INT64_MIN, 1234567890123 };
			w.values[i] = image_between(seed, 0, 9) ? image_between(seed, -100, 100000)
								: values[image_between(seed, 0, 4)];
			sprintf(to + strlen(to), "%lld", (long long)w.values[i]);
		}
	}
	return w;
}

static void put_records(image_maker *m)
{
	int64_t last[N_TEMPLATES][MAX_GAPS];
	uint64_t seed = 3;

	for (size_t r = 0; r < N_RECORDS; r++) {
		wanted w = records[r] = make_record(&seed);
		if (r % ARGS_RECORDS == 0) {
			memset(last, 0, sizeof last);
			image_offset(m, SECTION_ARG_BLOCKS, SECTION_ARGS);
		}
		put(m, SECTION_ARGS, w.template);
		for (size_t i = 0; i < templates[w.template].n_gaps; i++) {
			uint64_t diff = (uint64_t)w.values[i] - (uint64_t)last[w.template][i];
			put(m, SECTION_ARGS,
			    templates[w.template].kinds[i] == ARG_TEXT ? (uint64_t)w.values[i] : zigzag((int64_t)diff));
			last[w.template][i] = w.values[i];
		}
		m->sections[SECTION_ARGS].n_rows++;
	}
}

typedef struct opened {
	uint8_t *image;
	size_t len;
	sonde_index *ix;
	args_reader *r;
} opened;

static opened open_records(void)
{
	image_maker m = { 0 };
	opened o;

	put_templates(&m);
	put_records(&m);
	o.image = image_finish(&m, 0, 1, &o.len);
	assert_int_equal(index_open_made(o.image, o.len, &o.ix, NULL), SONDE_OK);
	o.r = args_reader_new(o.ix);
	assert_non_null(o.r);
	return o;
}

static void close_records(opened *o)
{
	args_reader_free(o->r);
	index_free(o->ix);
	free(o->image);
}

static void assert_text(const char *got, size_t len, const char *want, bool there)
{
	if (!there) {
		assert_null(got);
		return;
	}
	assert_int_equal(len, strlen(want));
	assert_memory_equal(got, want, len);
}

static void assert_record(args_reader *r, size_t number)
{
	const wanted *w = &records[number];
	args_text got;

	assert_true(args_read(r, (uint32_t)number + 1, &got));
	assert_text(got.args, got.args_len, w->args, templates[w->template].n_args_pieces);
	assert_text(got.extra, got.extra_len, w->extra, w->extra[0]);
}

static void the_text_comes_back_forwards_backwards_and_anyhow(void **state)
{
	opened o = open_records();
	uint64_t seed = 1;
	args_text got;

	(void)state;
	for (size_t i = 0; i < N_RECORDS; i++)
		assert_record(o.r, i);
	for (size_t i = N_RECORDS; i-- > N_RECORDS - 50;)
		assert_record(o.r, i);
	for (size_t i = 0; i < 1000; i++)
		assert_record(o.r, image_random(&seed) % N_RECORDS);
	for (size_t i = 0; i < N_RECORDS; i += 100) {
		assert_record(o.r, i);
		assert_record(o.r, i);
	}
	assert_false(args_read(o.r, 0, &got));
	assert_false(args_read(o.r, N_RECORDS + 1, &got));
	assert_false(args_read(o.r, UINT32_MAX, &got));
	assert_null(got.args);
	close_records(&o);
	args_reader_free(NULL);
}

static void collect(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	char *to = context;

	sprintf(to + strlen(to), "%.*s=%.*s;", (int)key_len, key, (int)len, json);
}

/* An image with one record that has this text. */
static opened open_text(const char *text)
{
	image_maker m = { 0 };
	opened o;

	put(&m, SECTION_TEMPLATES, 0);
	put(&m, SECTION_TEMPLATES, 1);
	put(&m, SECTION_TEMPLATES, strlen(text));
	image_bytes(&m, SECTION_TEMPLATES, text, strlen(text));
	m.sections[SECTION_TEMPLATES].n_rows = 1;
	image_offset(&m, SECTION_ARG_BLOCKS, SECTION_ARGS);
	put(&m, SECTION_ARGS, 0);
	m.sections[SECTION_ARGS].n_rows = 1;
	o.image = image_finish(&m, 0, 1, &o.len);
	assert_int_equal(index_open_memory(o.image, o.len, &o.ix, NULL), SONDE_OK);
	o.r = args_reader_new(o.ix);
	assert_non_null(o.r);
	return o;
}

static void members_of_the_object_are_found(void **state)
{
	static const struct {
		const char *text, *members;
	} cases[] = {
		{ "{}", "" },
		{ " { } ", "" },
		{ "{\"a\": 1}", "a=1;" },
		{ "{\"a\":\t-1.5e3 , \"b\" : \"x, } y\" }", "a=-1.5e3;b=\"x, } y\";" },
		{ "{\"a \\\"q\\\"\":[1,{\"b\":2}],\"c\":{\"d\":[]}}", "a \\\"q\\\"=[1,{\"b\":2}];c={\"d\":[]};" },
		{ "{\"s\":\"\\\\\",\"t\":\"\\\"\"}", "s=\"\\\\\";t=\"\\\"\";" },
		{ "[1, 2]", "" },
		{ "\"text\"", "" },
		{ "", "" },
		{ "{", "" },
		{ "{\"a", "" },
		{ "{\"a\"", "" },
		{ "{\"a\":", "" },
		{ "{\"a\":1", "" },
		{ "{\"a\":1,", "a=1;" },
		{ "{\"a\":1,}", "a=1;" },
		{ "{\"a\":1,\"b\\", "a=1;" },
		{ "{\"a\":]1,\"b\":2}", "a=]1;b=2;" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		opened o = open_text(cases[i].text);
		char got[500] = "";
		assert_true(args_each(o.r, 1, collect, got));
		assert_string_equal(got, cases[i].members);
		assert_false(args_each(o.r, 2, collect, got));
		close_records(&o);
	}
}

static void a_value_is_found_by_its_key(void **state)
{
	opened o = open_text("{\"a\":1,\"ab\":\"x\",\"a\": 3 ,\"\":{}}");
	const char *json;
	size_t len;

	(void)state;
	assert_true(args_get(o.r, 1, "a", &json, &len));
	assert_text(json, len, "3", true);
	assert_true(args_get(o.r, 1, "ab", &json, &len));
	assert_text(json, len, "\"x\"", true);
	assert_true(args_get(o.r, 1, "", &json, &len));
	assert_text(json, len, "{}", true);
	assert_false(args_get(o.r, 1, "b", &json, &len));
	assert_false(args_get(o.r, 0, "a", &json, &len));
	close_records(&o);
}

static void assert_columns(bool are_rare)
{
	static const double numbers[N_TEXTS] = { 5, 1.5, 5, 0, 18446744073709551616.0, 5 };
	args_column found[] = {
		{ .key = "External id" }, { .key = "name" }, { .key = "a" }, { .key = "b" }, { .key = "id" }
	};
	opened o = open_records();

	for (size_t i = 0; i < 5; i++)
		found[i].is_rare = are_rare;
	assert_true(args_columns_read(o.ix, found, 5));
	for (uint32_t i = 0; i < N_RECORDS; i++) {
		const wanted *w = &records[i];
		assert_int_equal(args_column_int(o.ix, &found[0], i + 1, -7), w->template == 0 ? w->values[0] : -7);
		assert_int_equal(args_column_int(o.ix, &found[2], i + 1, -7), w->template == 4 ? w->values[0] : -7);
		assert_int_equal(args_column_int(o.ix, &found[4], i + 1, -7), -7); /* not of the args object */
		size_t len = 0;
		const args_column *texts_of = &found[w->template == 4 ? 3 : 1];
		int64_t number = w->values[w->template == 4 ? 1 : 0];
		const char *text = args_column_text(o.ix, texts_of, i + 1, &len);
		if (w->template == 1 || w->template == 4) {
			assert_text(text, len, texts[number], true);
			assert_true(args_column_f64(o.ix, texts_of, i + 1, 5) == numbers[number]);
		} else {
			assert_null(text);
		}
	}
	assert_int_equal(args_column_int(o.ix, &found[0], 0, -7), -7);
	assert_int_equal(args_column_int(o.ix, &found[0], N_RECORDS + 1, -7), -7);
	args_columns_done(found, 5);
	close_records(&o);
}

static void a_key_of_every_record_is_read_in_one_pass(void **state)
{
	(void)state;
	assert_columns(false);
	assert_columns(true);
}

static void a_damaged_record_is_refused(void **state)
{
	opened o = open_records();
	const index_section *sections = (const index_section *)(o.image + sizeof(index_header));
	uint64_t *blocks = (uint64_t *)(o.image + sections[SECTION_ARG_BLOCKS].offset);
	uint64_t *text_offsets = (uint64_t *)(o.image + sections[SECTION_ARG_TEXTS].offset);
	uint8_t *template_bytes = o.image + sections[SECTION_TEMPLATES].offset;
	uint64_t was = blocks[1];
	args_text got;
	size_t n = 0;

	(void)state;
	blocks[1] = UINT64_MAX;
	assert_false(args_read(o.r, 1, &got));
	assert_false(args_read(o.r, ARGS_RECORDS + 1, &got));
	assert_record(o.r, 2 * ARGS_RECORDS);
	blocks[1] = was - 5; /* the first block's last records are cut off */
	assert_record(o.r, 0);
	assert_false(args_read(o.r, ARGS_RECORDS, &got));
	assert_record(o.r, 0);
	blocks[1] = was;
	assert_record(o.r, ARGS_RECORDS);

	text_offsets[3] = UINT64_MAX; /* texts 2 and 3 */
	for (size_t i = 0; i < N_RECORDS; i++)
		n += args_read(o.r, (uint32_t)i + 1, &got);
	assert_true(n < N_RECORDS && n > N_RECORDS / 2);

	template_bytes[0] = 0xfe; /* two gaps become very many */
	args_reader_free(o.r);
	o.r = args_reader_new(o.ix);
	assert_non_null(o.r);
	for (size_t i = 0; i < N_RECORDS; i++)
		assert_false(args_read(o.r, (uint32_t)i + 1, &got));
	close_records(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_comes_back_forwards_backwards_and_anyhow),
		cmocka_unit_test(members_of_the_object_are_found),
		cmocka_unit_test(a_value_is_found_by_its_key),
		cmocka_unit_test(a_key_of_every_record_is_read_in_one_pass),
		cmocka_unit_test(a_damaged_record_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
