/* Collectives across ranks on traces small enough to work out on paper. */
#include "unit/analyze/collective_trace.h"
#include "unit/analyze/analyze_json.h"

#define N_OF(a) (sizeof(a) / sizeof(a)[0])

static void assert_part(const collective_slice *slices, size_t n, uint32_t n_ranks, const char *const *parts)
{
	sonde_trace *t = make_collective_trace(slices, n, n_ranks);
	char *text = analyze(t, "collectives", NULL);

	for (; *parts; parts++)
		assert_says(text, *parts);
	free(text);
	sonde_trace_free(t);
}

#define ALL_REDUCE(seq)                                                                                                \
	"{'Collective name': 'allreduce', 'dtype': 'Float', 'In msg nelems': 1000000, 'Out msg nelems': 1000000, "     \
	"'Group size': 2, 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': " seq "}"

/* Rank 1's clock is 1000 us ahead. Rank 1 has no number 2, rank 0 no number 4. Number 1: rank 1 comes 30 us later,
   number 3: 10 us sooner. 4 MB in 40 us are 100 GB/s. */
static void numbers_match_and_ends_set_the_clock(void **state)
{
	static const collective_slice slices[] = {
		{ 0, 100, 170, ALL_REDUCE("1") },   { 0, 200, 220, ALL_REDUCE("2") },
		{ 0, 300, 340, ALL_REDUCE("3") },   { 1, 1130, 1170, ALL_REDUCE("1") },
		{ 1, 1290, 1340, ALL_REDUCE("3") }, { 1, 1400, 1440, ALL_REDUCE("4") },
	};
	static const char *const parts[] = {
		"'name': 'allreduce', 'group': '0', 'n_ranks': 2, 'group_size': 2, 'bytes': 4000000, 'dtype': 'Float', "
		"'start_ns': 0, 'latency_ns': 40000, 'start_skew_ns': 30000, 'end_skew_ns': 0, 'mean_wait_ns': 15000, "
		"'first_rank': 0, 'last_rank': 1, 'algorithm_gbps': 100, 'bus_gbps': 100, "
		"'matched_by': 'group and sequence number'",
		"'latency_ns': 40000, 'start_skew_ns': 10000, 'end_skew_ns': 0, 'mean_wait_ns': 5000, 'first_rank': 1",
		"'rank': 1, 'n_collectives': 3, 'n_matched': 2, 'wait_ns': 10000",
		"'clock_offset_ns': 1000000",
		"'n_rows': 4, 'n_all_rows': 6",
		NULL,
	};

	(void)state;
	assert_part(slices, N_OF(slices), 2, parts);
}

/* Two groups of two ranks that share one: rank 2's clock is set through rank 1. */
static void a_clock_is_set_through_another_rank(void **state)
{
#define OF_GROUP(group) "{'Collective name': 'allreduce', 'Process Group Name': '" group "', 'Seq': 7}"
	static const collective_slice slices[] = {
		{ 0, 100, 200, OF_GROUP("a") },	  { 0, 300, 400, OF_GROUP("c") },   { 1, 1150, 1200, OF_GROUP("a") },
		{ 1, 1500, 1600, OF_GROUP("b") }, { 2, 3530, 3600, OF_GROUP("b") },
	};
	static const char *const parts[] = {
		"'rank': 2, 'n_collectives': 1, 'n_matched': 1, 'wait_ns': 0, 'mean_wait_ns': 0, 'n_last': 1, "
		"'n_first': 0, "
		"'last_percent': 50, 'dur_ns': 70000, 'clock_offset_ns': 3000000",
		"'latency_ns': 70000, 'start_skew_ns': 30000",
		NULL,
	};

	(void)state;
	assert_part(slices, N_OF(slices), 3, parts);
}

/* A broadcast's root is done before the others: it is not compared. */
static void sizes_match_and_broadcasts_are_left_out(void **state)
{
#define SIZED(name, n) "{'Collective name': '" name "', 'In msg nelems': " n ", 'dtype': 'BFloat16'}"
	static const collective_slice slices[] = {
		{ 0, 100, 200, SIZED("allreduce", "8") },  { 0, 300, 400, SIZED("allreduce", "16") },
		{ 0, 500, 510, SIZED("broadcast", "16") }, { 1, 120, 200, SIZED("allreduce", "8") },
		{ 1, 310, 400, SIZED("allreduce", "16") }, { 1, 500, 600, SIZED("broadcast", "16") },
	};
	static const char *const parts[] = {
		"'bytes': 16, 'dtype': 'BFloat16', 'start_ns': 0, 'latency_ns': 80000, 'start_skew_ns': 20000",
		"'bytes': 32, 'dtype': 'BFloat16', 'start_ns': 200000, 'latency_ns': 90000, 'start_skew_ns': 10000",
		"'matched_by': 'name and size'",
		"'n_rows': 4, 'n_all_rows': 6",
		"'name': 'broadcast', 'rank': 1",
		NULL,
	};

	(void)state;
	assert_part(slices, N_OF(slices), 2, parts);
}

/* Rank 0 sends 1 of 4 parts to itself and 3 to the other rank of the group, 5. */
static void parts_of_an_all_to_all_go_to_ranks(void **state)
{
#define TO_ALL(n, split)                                                                                               \
	"{'Collective name': 'all_to_allv', 'dtype': 'Float', 'In msg nelems': " n ", 'Group size': 2, "               \
	"'Process Group Ranks': '[0, 5]', 'In split size': '" split "'}"
	static const collective_slice slices[] = {
		{ 0, 100, 200, TO_ALL("400", "[1, 3]") },
		{ 1, 150, 200, TO_ALL("200", "[]") },
	};
	static const char *const parts[] = {
		"'n_ranks': 2, 'wall_ns': 100000, 'bytes': 2400, 'gbps': 0.024, 'imbalance': 1.3333333333333333",
		"'source': 0, 'destination': 0, 'bytes': 400, 'count': 1",
		"'source': 0, 'destination': 5, 'bytes': 1200, 'count': 1",
		"'source': 1, 'destination': 5, 'bytes': 400, 'count': 1",
		NULL,
	};

	(void)state;
	assert_part(slices, N_OF(slices), 2, parts);
}

static void a_cut_list_is_unknown(void **state)
{
	static const collective_slice slices[] = { { 0, 100, 200, TO_ALL("400", "[1, 3, ...]") },
						   { 1, 100, 200, TO_ALL("400", "[1, 3]") } };
	static const char *const parts[] = { "the sizes of 1 calls are unknown",
					     "{'source': 1, 'destination': 0, 'bytes': 400, 'count': 1}", NULL };

	(void)state;
	assert_part(slices, N_OF(slices), 2, parts);
}

static void one_rank_says_what_it_has(void **state)
{
	static const collective_slice slices[] = { { 0, 100, 200, NULL } };
	static const char *const parts[] = { "'collectives': []",
					     "one rank: ", "'name': 'ncclDevKernel_Generic', 'rank': 0, 'group': null",
					     NULL };

	(void)state;
	assert_part(slices, N_OF(slices), 1, parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_match_and_ends_set_the_clock),
		cmocka_unit_test(a_clock_is_set_through_another_rank),
		cmocka_unit_test(sizes_match_and_broadcasts_are_left_out),
		cmocka_unit_test(parts_of_an_all_to_all_go_to_ranks),
		cmocka_unit_test(a_cut_list_is_unknown),
		cmocka_unit_test(one_rank_says_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
