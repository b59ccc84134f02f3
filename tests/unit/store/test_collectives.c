/* What names of collectives and types mean. */
#include "store/collectives.h"
#include "unit/store/make_builder.h"

static void a_kind_is_known_by_its_name(void **state)
{
	static const struct {
		const char *name;
		collective_kind kind;
	} cases[] = {
		{ "allreduce", COLLECTIVE_ALL_REDUCE },
		{ "_allgather_base", COLLECTIVE_ALL_GATHER },
		{ "reduce_scatter_tensor_coalesced", COLLECTIVE_REDUCE_SCATTER },
		{ "all_to_allv", COLLECTIVE_ALL_TO_ALL },
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL", COLLECTIVE_ALL_REDUCE },
		{ "reduce", COLLECTIVE_REDUCE },
		{ "send", COLLECTIVE_SEND },
		{ "recv", COLLECTIVE_RECEIVE },
		{ "wait", COLLECTIVE_UNKNOWN },
		{ "", COLLECTIVE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(collective_kind_of(cases[i].name), cases[i].kind);
	assert_string_equal(collective_kind_name(COLLECTIVE_ALL_TO_ALL), "all-to-all");
	assert_null(collective_kind_name(COLLECTIVE_UNKNOWN));
	assert_null(collective_kind_name(COLLECTIVE_KINDS));
	assert_null(collective_kind_name(-1));
}

static void the_size_of_an_unknown_type_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(collective_element_bytes("Float"), 4);
	assert_int_equal(collective_element_bytes("c10::BFloat16"), 2);
	assert_int_equal(collective_element_bytes("Bool"), 1);
	assert_int_equal(collective_element_bytes("Long"), 8);
	assert_int_equal(collective_element_bytes("Float4_e2m1"), -1);
	assert_int_equal(collective_element_bytes(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_is_known_by_its_name),
		cmocka_unit_test(the_size_of_an_unknown_type_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
