/* The merge sort: stable, whatever the order of the input, and without memory where it is sorted. */
#include <stdbool.h>
#include "unit/store/make_builder.h"

typedef struct keyed {
	uint32_t key;
	uint32_t arrival;
} keyed;

#define SORT_NAME sort_items
#define SORT_TYPE keyed
#define SORT_BEFORE(a, b) ((a)->key < (b)->key)
#include "base/sort_template.h"

typedef enum shape {
	SHAPE_RANDOM,
	SHAPE_SORTED,
	SHAPE_BACKWARD,
	SHAPE_RUNS,
	SHAPE_SAME,
	SHAPE_PARENTS,
	N_SHAPES
} shape;

static uint32_t key_of(shape s, uint32_t i, uint32_t n, uint64_t *seed)
{
	switch (s) {
	case SHAPE_RANDOM:
		return (uint32_t)random_next(seed) % (n + 1);
	case SHAPE_SORTED:
		return i;
	case SHAPE_BACKWARD:
		return n - i;
	case SHAPE_RUNS:
		return i % (n / 7 + 1);
	case SHAPE_SAME:
		return 3;
	default: /* as slices come that end one after the other */
		return i % 50 == 49 ? i - 49 : i;
	}
}

static void any_order_is_sorted_and_stable(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 15, 16, 17, 33, 100, 1000, 12345 };
	uint64_t seed = 9;

	(void)state;
	for (shape s = 0; s < N_SHAPES; s++)
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
			uint32_t n = sizes[k];
			keyed *items = calloc(n + 1, sizeof *items);
			for (uint32_t i = 0; i < n; i++)
				items[i] = (keyed){ key_of(s, i, n, &seed), i };
			assert_true(sort_items(items, n));
			uint64_t sum = 0;
			for (uint32_t i = 0; i < n; i++) {
				sum += items[i].arrival;
				if (i)
					assert_true(items[i - 1].key < items[i].key ||
						    (items[i - 1].key == items[i].key &&
						     items[i - 1].arrival < items[i].arrival));
			}
			assert_int_equal(sum, (uint64_t)n * (n ? n - 1 : 0) / 2);
			free(items);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_is_sorted_and_stable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
