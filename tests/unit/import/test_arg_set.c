/* Arguments on their way into a builder: what comes back is JSON of the same values. */
#include <math.h>
#include "unit/store/make_builder.h"

#include "import/arg_set.h"

/* Adds a slice with the arguments, so that they are reached, and reads them back. */
static void expect_args(builder *b, uint32_t record, const char *wanted)
{
	uint32_t track = thread_track(b, builder_process(b, 0, 1, INDEX_NONE), 1);
	const builder_slice slice = {
		.start_ns = 1, .dur_ns = 1, .site = site_named(b, "a", CLASS_OTHER), .args = record
	};
	args_text text;

	builder_slice_add(b, track, &slice);
	sonde_index *ix = finish(b);
	args_reader *r = args_reader_new(ix);
	assert_non_null(r);
	assert_true(args_read(r, 1, &text));
	assert_int_equal(text.args_len, strlen(wanted));
	assert_memory_equal(text.args, wanted, text.args_len);
	args_reader_free(r);
	index_free(ix);
}

static void every_kind_of_value_comes_back(void **state)
{
	arg_set a = { .builder = builder_with_threads(1) };

	(void)state;
	arg_key(&a, "i", 1), arg_i64(&a, INT64_MIN);
	arg_key(&a, "u", 1), arg_u64(&a, UINT64_MAX);
	arg_key(&a, "small", 5), arg_u64(&a, 7);
	arg_key(&a, "whole", 5), arg_f64(&a, 1e15);
	arg_key(&a, "zero", 4), arg_f64(&a, -0.0);
	arg_key(&a, "part", 4), arg_f64(&a, 0.1);
	arg_key(&a, "nan", 3), arg_f64(&a, NAN);
	arg_key(&a, "inf", 3), arg_f64(&a, -INFINITY);
	arg_key(&a, "text", 4), arg_string(&a, "a\"b\n", 4);
	arg_key(&a, "list", 4), arg_json(&a, "[1, 2]", 6);
	uint32_t record = arg_set_finish(&a);
	assert_false(a.failed);
	expect_args(
		a.builder, record,
		"{\"i\": -9223372036854775808, \"u\": 18446744073709551615, \"small\": 7, \"whole\": "
		"1000000000000000, \"zero\": -0, \"part\": 0.1, \"nan\": null, \"inf\": null, \"text\": \"a\\\"b\\n\", "
		"\"list\": [1, 2]}");
	arg_set_done(&a);
}

static void keys_stay_inside_their_quotes(void **state)
{
	arg_set a = { .builder = builder_with_threads(1) };

	(void)state;
	arg_key(&a, "a\": 1, \"b", 9), arg_i64(&a, 2);
	expect_args(a.builder, arg_set_finish(&a), "{\"a\\\": 1, \\\"b\": 2}");
	arg_set_done(&a);
}

static void without_arguments_there_is_no_record(void **state)
{
	arg_set a = { .builder = builder_with_threads(1) };

	(void)state;
	assert_int_equal(arg_set_finish(&a), 0);
	arg_key(&a, "a", 1), arg_i64(&a, 1);
	arg_set_clear(&a);
	assert_int_equal(arg_set_finish(&a), 0);
	assert_null(arg_set_save(&a));
	assert_false(a.failed);
	arg_set_done(&a);
	builder_free(a.builder);
}

static void more_values_than_gaps_are_kept_as_text(void **state)
{
	enum { MANY = ARGS_GAPS_MAX + 20 };
	arg_set a = { .builder = builder_with_threads(1) };
	char *wanted, key[16];
	size_t len;
	FILE *to = open_memstream(&wanted, &len);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		int n = snprintf(key, sizeof key, "k%d", i);
		arg_key(&a, key, (size_t)n);
		if (i % 2)
			arg_i64(&a, -i);
		else
			arg_string(&a, "t", 1);
		fprintf(to, i % 2 ? "%s\"k%d\": -%d" : "%s\"k%d\": \"t\"", i ? ", " : "{", i, i);
	}
	fprintf(to, "}");
	fclose(to);
	expect_args(a.builder, arg_set_finish(&a), wanted);
	free(wanted);
	arg_set_done(&a);
}

static void a_set_that_was_put_aside_goes_on_where_it_was(void **state)
{
	arg_set a = { .builder = builder_with_threads(1) };

	(void)state;
	arg_key(&a, "a", 1), arg_i64(&a, 1);
	saved_args *saved = arg_set_save(&a), *copy = saved_args_copy(saved);
	arg_set_clear(&a);
	arg_key(&a, "other", 5), arg_i64(&a, 9);
	free(saved);
	arg_set_load(&a, copy);
	arg_key(&a, "b", 1), arg_string(&a, "x", 1);
	expect_args(a.builder, arg_set_finish(&a), "{\"a\": 1, \"b\": \"x\"}");
	free(copy);
	arg_set_load(&a, NULL);
	assert_int_equal(a.text.n + a.gaps.n, 0);
	arg_set_done(&a);
}

static void the_same_keys_share_a_template(void **state)
{
	arg_set a = { .builder = builder_with_threads(1) };
	uint32_t records[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		arg_set_clear(&a);
		arg_key(&a, "n", 1), arg_i64(&a, i);
		records[i] = arg_set_finish(&a);
	}
	/* Records count up; 0 is none. */
	assert_int_equal(records[0], 1);
	assert_int_equal(records[2], 3);
	arg_set_done(&a);
	builder_free(a.builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_comes_back),
		cmocka_unit_test(keys_stay_inside_their_quotes),
		cmocka_unit_test(without_arguments_there_is_no_record),
		cmocka_unit_test(more_values_than_gaps_are_kept_as_text),
		cmocka_unit_test(a_set_that_was_put_aside_goes_on_where_it_was),
		cmocka_unit_test(the_same_keys_share_a_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
