/* Where values end and events begin, in sound text and in damaged text. */
#include "unit/store/make_builder.h"

#include "import/chrome/scan.h"

/* Exactly this long, so that a sanitizer sees a read behind it. */
static uint8_t *exact(const char *text, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return copy;
}

typedef struct value_case {
	const char *text;
	read_status status;
	size_t len; /* of the value */
	uint32_t repairs;
} value_case;

static void check_values(const value_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(cases[i].text);
		uint8_t *text = exact(cases[i].text, len);
		const uint8_t *at = text;
		uint32_t repairs = 0;
		read_status status = chrome_skip_value(&at, text + len, true, &repairs);
		if (status != cases[i].status || (status == READ_OK && (size_t)(at - text) != cases[i].len))
			fail_msg("%s: status %d, %d bytes", cases[i].text, (int)status, (int)(at - text));
		if (status == READ_OK)
			assert_int_equal(repairs, cases[i].repairs);
		free(text);
	}
}
#define CHECK_VALUES(cases) check_values(cases, sizeof(cases) / sizeof(cases)[0])

static void values_end_where_json_ends_them(void **state)
{
	static const value_case cases[] = {
		{ "12,", READ_OK, 2, 0 },
		{ "-1.5e3}", READ_OK, 6, 0 },
		{ "null }", READ_OK, 4, 0 },
		{ "\"a\",\"b\"", READ_OK, 3, 0 },
		{ "\"a\\\"b\"}", READ_OK, 6, 0 },
		{ "\"\" }", READ_OK, 2, 0 },
		{ "[1, [2, {\"a\": \"]\"}]],", READ_OK, 20, 0 },
		{ "{\"a\": {\"b\": []}}}", READ_OK, 16, 0 },
		{ ",", READ_BAD, 0, 0 },
	};

	(void)state;
	CHECK_VALUES(cases);
}

static void quotes_that_nobody_escaped_belong_to_the_text(void **state)
{
	static const value_case cases[] = {
		{ "\"say \"hi\" now\",\"b\":1", READ_OK, 14, REPAIR(QUOTES) },
		{ "\"a\tb\"}", READ_OK, 5, REPAIR(CONTROL) },
		{ "\"a\" \"next\": 1", READ_OK, 3, 0 }, /* a comma is missing */
	};

	(void)state;
	CHECK_VALUES(cases);
}

static void text_that_ends_inside_a_value_wants_more(void **state)
{
	static const char *const values[] = { "\"abc\\\"d\",\"e\"", "[1, {\"a\": [\"b\"]}],",
					      "{\"a\": {\"b\": \"}\"}},", "1234567," };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		size_t whole = strlen(values[i]), value = 0;
		for (size_t len = 0; len <= whole; len++) {
			uint8_t *text = exact(values[i], len);
			const uint8_t *at = text;
			uint32_t repairs = 0;
			read_status status = chrome_skip_value(&at, text + len, true, &repairs);
			assert_true(status == READ_MORE || status == READ_OK);
			/* Once the end is known it stays the end. */
			assert_true(!value || (status == READ_OK && (size_t)(at - text) == value));
			if (status == READ_OK)
				value = (size_t)(at - text);
			free(text);
		}
		assert_true(value > 0);
	}
}

static void nesting_and_tokens_are_bounded(void **state)
{
	char deep[2 * 1024 + 2], *token = malloc(2 * CHROME_TOKEN_MAX);
	uint32_t repairs = 0;

	(void)state;
	memset(deep, '[', sizeof deep);
	const uint8_t *at = (const uint8_t *)deep;
	assert_int_equal(chrome_skip_value(&at, at + sizeof deep, true, &repairs), READ_LONG);
	assert_non_null(token);
	memset(token, '1', 2 * CHROME_TOKEN_MAX);
	at = (const uint8_t *)token;
	assert_int_equal(chrome_skip_value(&at, at + 2 * CHROME_TOKEN_MAX, true, &repairs), READ_BAD);
	free(token);
	/* Brackets that do not fit each other. */
	at = (const uint8_t *)"[1}, ";
	assert_int_equal(chrome_skip_value(&at, at + 5, true, &repairs), READ_BAD);
}

static void the_next_event_is_found_behind_damage(void **state)
{
	static const struct {
		const char *text, *found; /* where it goes on; NULL: nowhere */
	} cases[] = {
		{ "xx, {\"ph\": \"X\"}]", "{\"ph\": \"X\"}]" },
		{ "\"cut, {\"name\": \"b\", \"ph\": \"X\"}", "{\"name\": \"b\", \"ph\": \"X\"}" },
		{ "{\"other\": 1}, {\"ts\": 1, \"ph\": \"i\"}", "{\"ts\": 1, \"ph\": \"i\"}" },
		{ ", {\"name\": \"of an argument\"}", NULL }, /* no phase */
		{ ": {\"ph\": \"X\"}", NULL },		      /* a value, not an element */
		{ "{\"args\": {\"ph\": 1}}", NULL },	      /* not its own */
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t len = strlen(cases[i].text);
		uint8_t *text = exact(cases[i].text, len);
		const uint8_t *found = chrome_resync(text, text, text + len);
		assert_int_equal(found != NULL, cases[i].found != NULL);
		if (found)
			assert_memory_equal(found, cases[i].found, (size_t)(text + len - found));
		free(text);
	}
}

static void events_are_counted_by_their_phases(void **state)
{
	static const char text[] = "{\"ph\": \"X\"}, {\"name\": \"ph\", \"ph\":\"i\"}, {\"graph\": 1}";

	(void)state;
	/* Text that looks like a phase counts as well: it is an estimate of what was lost. */
	assert_int_equal(chrome_count_events((const uint8_t *)text, (const uint8_t *)text + sizeof text - 1), 3);
	assert_int_equal(chrome_count_events((const uint8_t *)text, (const uint8_t *)text), 0);
}

static void members_are_known_by_their_whole_key(void **state)
{
	static const struct {
		const char *key;
		chrome_member_kind kind;
	} cases[] = { { "ph", MEMBER_PHASE },	 { "name", MEMBER_NAME }, { "args", MEMBER_ARGS },
		      { "s", MEMBER_SCOPE },	 { "tts", MEMBER_KINDS }, { "p", MEMBER_KINDS },
		      { "names", MEMBER_KINDS }, { "", MEMBER_KINDS } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		chrome_member m = { .key = (const uint8_t *)cases[i].key, .key_len = (uint32_t)strlen(cases[i].key) };
		assert_int_equal(chrome_member_kind_of(&m), cases[i].kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_end_where_json_ends_them),
		cmocka_unit_test(quotes_that_nobody_escaped_belong_to_the_text),
		cmocka_unit_test(text_that_ends_inside_a_value_wants_more),
		cmocka_unit_test(nesting_and_tokens_are_bounded),
		cmocka_unit_test(the_next_event_is_found_behind_damage),
		cmocka_unit_test(events_are_counted_by_their_phases),
		cmocka_unit_test(members_are_known_by_their_whole_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
