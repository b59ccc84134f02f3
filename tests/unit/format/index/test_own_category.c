/* What a name stands for survives in its category, and no other category is taken for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "format/index/own_category.h"
#include "format/recording/names.h"

static void every_class_and_kind_comes_back(void **state)
{
	char text[64] = "data-load";
	uint8_t class, kind;

	(void)state;
	for (uint8_t c = 0; c < CLASS_KINDS; c++)
		for (uint8_t k = 0; k < NAME_KINDS; k++) {
			size_t n = own_category_write(text + 9, c, k);
			assert_true(n < OWN_CATEGORY_MAX);
			assert_int_equal(own_category_read(text, 9 + n, &class, &kind), 9);
			assert_int_equal(class, c);
			assert_int_equal(kind, k);
		}
}

static void an_empty_category_has_it_too(void **state)
{
	uint8_t class, kind;
	const char *text = ",sonde.step.step";

	(void)state;
	assert_int_equal(own_category_read(text, strlen(text), &class, &kind), 0);
	assert_int_equal(class, CLASS_STEP);
	assert_int_equal(kind, NAME_STEP);
}

static void other_categories_stay_as_they_are(void **state)
{
	static const char *const texts[] = { "",
					     "cpu_op",
					     "a,b",
					     ",sonde",
					     ",sonde.",
					     ",sonde.step",
					     ",sonde.step.",
					     "x,sonde.step.st",
					     "x,sonde.steps.step",
					     "sonde.op.step",
					     "x,sonde.op.compute,",
					     "x,sonde..other" };
	uint8_t class = 77, kind = 77;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_int_equal(own_category_read(texts[i], strlen(texts[i]), &class, &kind), strlen(texts[i]));
	assert_int_equal(class, 77);
	assert_int_equal(kind, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_class_and_kind_comes_back),
		cmocka_unit_test(an_empty_category_has_it_too),
		cmocka_unit_test(other_categories_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
