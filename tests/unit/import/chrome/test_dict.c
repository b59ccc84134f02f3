/* What a reader knows by number: texts, sites, tracks, and tokens that are numbers or texts. */
#include "unit/store/make_builder.h"

#include "base/long_text.h"
#include "import/chrome/chrome.h"

#define TEXT(text) (const uint8_t *)(text), strlen(text)

static uint32_t find(dict *d, const char *text, uint32_t key, bool *ret_new)
{
	/* Texts are read in words: room behind them. */
	char padded[256] = "";

	snprintf(padded, sizeof padded, "%s", text);
	size_t len = strlen(padded);
	return dict_find(d, (const uint8_t *)padded, len, key,
			 dict_hash(text_hash((const uint8_t *)padded, len, 1), key), ret_new);
}

static void the_same_text_has_the_same_number(void **state)
{
	dict d = { 0 };
	bool is_new;
	char text[32];

	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) { /* grows several times */
			snprintf(text, sizeof text, "text %u", i);
			assert_int_equal(find(&d, text, 0, &is_new), i);
			assert_int_equal(is_new, round == 0);
		}
	assert_memory_equal(d.entries.items[4321].text, "text 4321", 9);
	assert_int_equal(d.entries.items[4321].global, CHROME_NONE);
	dict_done(&d);
	assert_int_equal(d.entries.n, 0);
}

static void the_key_is_part_of_the_identity(void **state)
{
	dict d = { 0 };
	bool is_new;

	(void)state;
	assert_int_equal(find(&d, "a", 1, &is_new), 0);
	assert_int_equal(find(&d, "a", 2, &is_new), 1);
	assert_int_equal(find(&d, "a", 1, &is_new), 0);
	assert_int_equal(find(&d, "", 1, &is_new), 2);
	assert_true(is_new);
	dict_done(&d);
}

static void texts_whose_hashes_collide_are_told_apart(void **state)
{
	dict d = { 0 };
	bool is_new;
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		int len = snprintf(text, sizeof text, "%u", i);
		assert_int_equal(dict_find(&d, (const uint8_t *)text, (size_t)len, 0, UINT64_C(7) << 32, &is_new), i);
	}
	for (uint32_t i = 0; i < 500; i++) {
		int len = snprintf(text, sizeof text, "%u", i);
		assert_int_equal(dict_find(&d, (const uint8_t *)text, (size_t)len, 0, UINT64_C(7) << 32, &is_new), i);
		assert_false(is_new);
	}
	dict_done(&d);
}

static void a_long_text_may_be_borrowed(void **state)
{
	dict d = { 0 };
	bool is_new;
	size_t len = LONG_TEXT + 5;
	char *same = calloc(1, len + DICT_SLACK);

	(void)state;
	assert_non_null(same);
	memset(same, 'x', len);
	assert_int_equal(dict_find(&d, (const uint8_t *)same, len, 0, 1, &is_new), 0);
	assert_ptr_not_equal(d.entries.items[0].text, same);
	dict_borrow(&d.entries.items[0], same);
	assert_ptr_equal(d.entries.items[0].text, same);
	assert_int_equal(dict_find(&d, (const uint8_t *)same, len, 0, 1, &is_new), 0);
	assert_false(is_new);
	/* A short one stays where it is. */
	uint32_t short_one = find(&d, "short", 0, &is_new);
	dict_borrow(&d.entries.items[short_one], same);
	assert_ptr_not_equal(d.entries.items[short_one].text, same);
	dict_done(&d);
	free(same);
}

/* ---- Tokens, tracks and repairs ---------------------------------------------------------------------------------- */

typedef struct reading {
	builder *b;
	chrome_reader r;
} reading;

static void begin(reading *g)
{
	g->b = builder_with_threads(1);
	import_job job = { .builder = g->b };
	assert_true(chrome_reader_init(&g->r, &job));
}

static void end(reading *g)
{
	assert_false(g->r.failed);
	chrome_reader_done(&g->r);
	builder_free(g->b);
}

/* The readers look a few bytes behind a text. */
static chrome_token token_of(reading *g, const char *text)
{
	char padded[256] = "";

	snprintf(padded, sizeof padded, "%s", text);
	return reader_token(&g->r, (const uint8_t *)padded, strlen(padded));
}

static void tokens_are_numbers_where_they_can_be(void **state)
{
	static const struct {
		const char *text;
		bool is_text;
		int64_t number;
	} cases[] = {
		{ "0", false, 0 },
		{ "-12", false, -12 },
		{ "999999999999999999", false, 999999999999999999 },
		{ "0x1f", false, 31 },
		{ "0xAb", false, 171 },
		{ "0x3fffffffffffffff", true, 0 },
		{ "0x100000000000000", false, INT64_C(1) << 56 },
		{ "0xg", true, 0 },
		{ "0x", true, 0 },
		{ "x1", true, 0 },
		{ "", true, 0 },
		{ "1.5", true, 0 },
		{ "9223372036854775807", true, 0 },
	};
	reading g;

	(void)state;
	begin(&g);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		chrome_token token = token_of(&g, cases[i].text);
		assert_int_equal(token.is_text, cases[i].is_text);
		if (!token.is_text)
			assert_int_equal(token.number, cases[i].number);
		else
			assert_memory_equal(g.r.strings.entries.items[token.number].text, cases[i].text,
					    strlen(cases[i].text));
	}
	end(&g);
}

static void ids_say_where_they_count(void **state)
{
	static const struct {
		const char *json;
		bool is_global;
		int64_t number; /* -1: a text */
	} cases[] = {
		{ "7", false, 7 },
		{ "\"0x7\"", false, 7 },
		{ "\"abc\"", false, -1 },
		{ "{\"local\": \"0x8\"}", false, 8 },
		{ "{ \"global\" : 9 }", true, 9 },
		{ "{\"other\": 9}", false, -1 },
		{ "{\"global\": {\"a\": 1}}", false, -1 },
		{ "{}", false, -1 },
	};
	reading g;

	(void)state;
	begin(&g);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char padded[128] = "";
		uint32_t flags = 0;
		snprintf(padded, sizeof padded, "%s", cases[i].json);
		chrome_token token = reader_id(&g.r, (const uint8_t *)padded, strlen(padded), &flags);
		assert_int_equal(flags == EVENT_HAS_GLOBAL_ID, cases[i].is_global);
		assert_int_equal(token.is_text, cases[i].number < 0);
		if (!token.is_text)
			assert_int_equal(token.number, cases[i].number);
	}
	end(&g);
}

static void tracks_are_found_by_both_ids(void **state)
{
	reading g;

	(void)state;
	begin(&g);
	chrome_token text = token_of(&g, "abc");
	uint32_t first = reader_track(&g.r, (chrome_token){ .number = text.number }, text);
	uint32_t second = reader_track(&g.r, text, text);
	assert_int_not_equal(first, second); /* the number of a text is not the number */
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000; i++)
			assert_int_equal(reader_track(&g.r, (chrome_token){ .number = i / 10 },
						      (chrome_token){ .number = 1000 + i % 10 }),
					 2 + i);
	assert_int_equal(g.r.tracks.n, 1002);
	end(&g);
}

static void what_is_wrong_with_a_text_is_known_by_each_use(void **state)
{
	static const struct {
		const char *name;
		uint32_t repairs;
	} cases[] = {
		{ "fine", 0 },
		{ "bad \xff utf8", REPAIR(UTF8) },
		{ "bad \\q escape", REPAIR(ESCAPE) },
		{ "tab\there", REPAIR(CONTROL) },
		{ "a \"quote\"", REPAIR(QUOTES) },
	};
	reading g;

	(void)state;
	begin(&g);
	uint32_t category = reader_string(&g.r, TEXT("cat"));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int use = 0; use < 2; use++) {
			char padded[128] = "";
			uint32_t repairs = 0;
			snprintf(padded, sizeof padded, "%s", cases[i].name);
			uint32_t site = reader_site(&g.r, (const uint8_t *)padded, strlen(padded), category, &repairs);
			assert_int_equal(site, i);
			assert_int_equal(repairs, cases[i].repairs);
		}
	end(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_has_the_same_number),
		cmocka_unit_test(the_key_is_part_of_the_identity),
		cmocka_unit_test(texts_whose_hashes_collide_are_told_apart),
		cmocka_unit_test(a_long_text_may_be_borrowed),
		cmocka_unit_test(tokens_are_numbers_where_they_can_be),
		cmocka_unit_test(ids_say_where_they_count),
		cmocka_unit_test(tracks_are_found_by_both_ids),
		cmocka_unit_test(what_is_wrong_with_a_text_is_known_by_each_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
