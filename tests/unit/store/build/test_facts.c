/* Facts on their way into an index and back. */
#include "unit/store/make_builder.h"

static uint32_t some_args(builder *b)
{
	args_piece piece = { "{}", 2 };

	return builder_args(b, builder_template(b, &(args_template){ .n_args_pieces = 1, .pieces = &piece }), NULL);
}

static index_message message_of(builder *b, const char *name, int64_t elements)
{
	return (index_message){ .name = string_of(b, name),
				.dtype = INDEX_NONE,
				.group = INDEX_NONE,
				.ranks = INDEX_NONE,
				.in_split = INDEX_NONE,
				.out_split = INDEX_NONE,
				.kind = COLLECTIVE_ALL_REDUCE,
				.element_bytes = 4,
				.in_elements = elements,
				.out_elements = -1,
				.group_size = 2 };
}

static void add_collective(builder *b, uint32_t args, const index_message *m, int64_t sequence)
{
	int64_t row[] = { args, builder_message(b, m), sequence };

	builder_fact(b, FACT_COLLECTIVE, row);
}

/* Every third record is a collective, of one of two messages. */
static void rows_are_found_by_their_record_in_any_order(void **state)
{
	enum { N = 3000, STEP = 997 };
	builder *b = builder_with_threads(1);

	(void)state;
	index_message messages[] = { message_of(b, "small", 1), message_of(b, "large", 1 << 20) };
	for (uint32_t i = 1; i <= N; i++) {
		assert_int_equal(some_args(b), i);
		if (i % 3 == 0)
			add_collective(b, i, &messages[i % 2], i);
	}
	sonde_index *ix = finish(b);
	assert_int_equal(index_n_rows(ix, SECTION_MESSAGES), 2);
	fact_reader *r = fact_reader_new(ix, SECTION_COLLECTIVES);
	assert_non_null(r);
	for (uint32_t k = 0, i = 1; k < N; k++, i = (i + STEP - 1) % N + 1) {
		int64_t sequence = 0;
		const index_message *m = fact_message(r, i, &sequence);
		assert_int_equal(m != NULL, i % 3 == 0);
		if (!m)
			continue;
		assert_int_equal(sequence, i);
		assert_string_equal(index_text(ix, m->name), i % 2 ? "large" : "small");
	}
	int64_t sequence;
	assert_null(fact_message(r, 0, &sequence));
	assert_null(fact_message(r, N + 1, &sequence));
	assert_null(fact_message(r, UINT32_MAX, &sequence));
	fact_reader_free(r);
	index_free(ix);
}

static void a_trace_without_facts_has_none(void **state)
{
	builder *b = builder_with_threads(1);
	int64_t sequence;

	(void)state;
	some_args(b);
	sonde_index *ix = finish(b);
	fact_reader *r = fact_reader_new(ix, SECTION_COLLECTIVES), *none = fact_reader_new(NULL, SECTION_COLLECTIVES);
	assert_null(fact_message(r, 1, &sequence));
	assert_null(fact_message(none, 1, &sequence));
	fact_reader_free(r);
	fact_reader_free(none);
	index_free(ix);
}

static void facts_out_of_order_or_of_nothing_are_refused(void **state)
{
	static const uint32_t wrong[][2] = { { 2, 1 }, { 2, 2 }, { 1, 3 }, { 1, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		builder *b = builder_with_threads(1);
		index_message m = message_of(b, "a", 1);
		sonde_index *ix = NULL;
		some_args(b);
		some_args(b);
		add_collective(b, wrong[i][0], &m, -1);
		add_collective(b, wrong[i][1], &m, -1);
		assert_int_equal(builder_finish(b, &ix, NULL), SONDE_E_USAGE);
		builder_free(b);
	}
}

static void a_copy_goes_on_with_the_facts_of_the_original(void **state)
{
	builder *b = builder_new(&(builder_options){ .n_threads = 1, .is_copied = true });
	int64_t sequence;

	(void)state;
	assert_non_null(b);
	index_message m = message_of(b, "a", 1);
	add_collective(b, some_args(b), &m, 10);
	builder *copy = builder_copy(b);
	assert_non_null(copy);
	add_collective(copy, some_args(copy), &m, 20);
	sonde_index *ix = finish(copy);
	fact_reader *r = fact_reader_new(ix, SECTION_COLLECTIVES);
	assert_non_null(fact_message(r, 1, &sequence));
	assert_int_equal(sequence, 10);
	assert_non_null(fact_message(r, 2, &sequence));
	assert_int_equal(sequence, 20);
	fact_reader_free(r);
	index_free(ix);
	builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_by_their_record_in_any_order),
		cmocka_unit_test(a_trace_without_facts_has_none),
		cmocka_unit_test(facts_out_of_order_or_of_nothing_are_refused),
		cmocka_unit_test(a_copy_goes_on_with_the_facts_of_the_original),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
