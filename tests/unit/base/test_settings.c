/* Values that users may change: each kind of them, defaults, and the last of several. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/settings.h"

static const setting_def number = { "n", SETTING_NUMBER, "1.5", "" }, share = { "share", SETTING_SHARE, "5%", "" },
			 time_ns = { "time", SETTING_NS, "20ms", "" }, bytes = { "bytes", SETTING_BYTES, "64MiB", "" },
			 truth = { "truth", SETTING_BOOL, "yes", "" }, text = { "text", SETTING_TEXT, "auto", "" };

static void every_kind_is_read_in_its_unit(void **state)
{
	static const struct {
		const setting_def *def;
		const char *given;
		double value;
	} cases[] = {
		{ &number, "-2.25", -2.25 }, { &share, "50%", 0.5 }, { &time_ns, "3us", 3000 },
		{ &bytes, "2KiB", 2048 },    { &truth, "no", 0 },    { &truth, "yes", 1 },
		{ &text, "anything", 0 },
	};
	const char *needs;
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(setting_parse(cases[i].def, cases[i].given, &value, &needs));
		assert_true(value == cases[i].value);
	}
}

static void a_value_of_another_kind_is_refused_with_what_it_should_be(void **state)
{
	static const struct {
		const setting_def *def;
		const char *given, *needs;
	} cases[] = {
		{ &number, "many", "a number" },
		{ &share, "half", "a percentage such as 5%" },
		{ &time_ns, "soon", "a time such as 20ms" },
		{ &bytes, "20ms", "a size such as 64MiB" },
		{ &truth, "perhaps", "yes or no" },
	};
	const char *needs;
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_false(setting_parse(cases[i].def, cases[i].given, &value, &needs));
		assert_string_equal(needs, cases[i].needs);
	}
}

static void the_last_value_of_a_key_counts(void **state)
{
	static const sonde_setting given[] = { { "n", "3" }, { "text", "a" }, { "n", "4" }, { "nn", "9" } };

	(void)state;
	assert_true(settings_number(given, 4, &number) == 4);
	assert_true(settings_number(given, 1, &number) == 3);
	assert_string_equal(settings_text(given, 4, &text), "a");
}

static void what_is_not_given_has_its_default(void **state)
{
	static const sonde_setting other[] = { { "other", "3" } };

	(void)state;
	assert_true(settings_number(NULL, 0, &number) == 1.5);
	assert_true(settings_number(other, 1, &share) == 0.05);
	assert_true(settings_number(NULL, 0, &time_ns) == 20e6);
	assert_true(settings_number(NULL, 0, &bytes) == 64 << 20);
	assert_true(settings_number(NULL, 0, &truth) == 1);
	assert_string_equal(settings_text(other, 1, &text), "auto");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_read_in_its_unit),
		cmocka_unit_test(a_value_of_another_kind_is_refused_with_what_it_should_be),
		cmocka_unit_test(the_last_value_of_a_key_counts),
		cmocka_unit_test(what_is_not_given_has_its_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
