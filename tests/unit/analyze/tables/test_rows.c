/* All slices in one array: order, links, lists, and what a selection leaves. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/scale_trace.h"

#include <stdio.h>
#include "analyze/tables/rows.h"

static rows load(const sonde_trace *t, const rows_options *o)
{
	rows r;
	sonde_error err = { .message = "" };

	assert_int_equal(rows_load(t, o, &r, &err), SONDE_OK);
	assert_false(r.damaged);
	return r;
}

/* "name depth>parent @launch", row after row. */
static const char *tell(const rows *r)
{
	static char text[4096];
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		len += (size_t)snprintf(text + len, sizeof text - len, "%.8s", row_name(r, at));
		if (at->parent != ROW_NONE)
			len += (size_t)snprintf(text + len, sizeof text - len, ">%u", at->parent);
		if (at->launch != ROW_NONE)
			len += (size_t)snprintf(text + len, sizeof text - len, "@%u", at->launch);
		if (at->end != i + 1)
			len += (size_t)snprintf(text + len, sizeof text - len, "..%u", at->end);
		len += (size_t)snprintf(text + len, sizeof text - len, " ");
	}
	return text;
}

static void rows_come_in_pre_order_with_their_links(void **state)
{
	sonde_trace *t = make_device_trace(1);
	rows r = load(t, NULL);

	(void)state;
	assert_string_equal(tell(&r), "Profiler..4 aten::mm>0..3 cudaLaun>1 cudaMemc>0 Profiler..7 aten::ad>4..7 "
				      "cudaLaun>5 gemm@2 add@6 Memcpy H@3 ncclDevK ");
	assert_int_equal(rows_at(&r, 2).start_ns, 15000);
	assert_int_equal(rows_at(&r, 2).dur_ns, 5000);
	assert_int_equal(rows_at(&r, 2).depth, 2);
	assert_int_equal(row_stream(&r, ROW_AT(&r, 2)), -1);
	assert_int_equal(row_stream(&r, ROW_AT(&r, 7)), 7);
	assert_int_equal(rows_at(&r, 7).flags, ROW_DEVICE | ROW_ON_STREAM);
	assert_int_equal(row_stream(&r, ROW_AT(&r, 10)), 9);
	rows_done(&r);
	sonde_trace_free(t);
}

static void each_rank_has_its_device_rows_and_steps(void **state)
{
	sonde_trace *t = make_device_trace(3);
	rows r = load(t, NULL);

	(void)state;
	assert_int_equal(r.n_ranks, 3);
	assert_int_equal(r.n_device, 12);
	for (size_t i = 0; i < 3; i++) {
		const rows_rank *rank = &r.ranks[i];
		static const char *const names[] = { "gemm", "Memcpy HtoD (Pageable -> Device)", "add",
						     "ncclDevKernel_AllReduce_Sum_f32" };
		assert_int_equal(rank->rank, i);
		assert_int_equal(rank->n_device, 4);
		for (size_t k = 0; k < 4; k++) {
			assert_string_equal(row_name(&r, ROW_AT(&r, rank->device[k])), names[k]);
			assert_int_equal(row_rank(&r, ROW_AT(&r, rank->device[k])), i);
		}
		assert_int_equal(rank->n_steps, 2);
		assert_int_equal(rank->steps[1].number, 2);
		assert_int_equal(rank->steps[1].start_ns, 1000000 * (int64_t)i + 100000);
		assert_int_equal(rank->start_ns, 1000000 * (int64_t)i);
		assert_int_equal(rank->end_ns, 1000000 * (int64_t)i + 200000);
	}
	rows_done(&r);
	sonde_trace_free(t);
}

static void a_selection_leaves_what_belongs_to_it(void **state)
{
	static const struct {
		rows_options options;
		const char *left;
		size_t n_ranks, n_steps;
	} cases[] = {
		/* The kernel whose launch is not there goes by its own start. */
		{ { .use_steps = true, .first_step = 2, .last_step = 9 },
		  "Profiler..3 aten::ad>0..3 cudaLaun>1 add@2 ncclDevK ",
		  1,
		  1 },
		{ { .use_steps = true, .first_step = 1, .last_step = 1 },
		  "Profiler..4 aten::mm>0..3 cudaLaun>1 cudaMemc>0 gemm@2 Memcpy H@3 ",
		  1,
		  1 },
		/* Without its outer rows a row has none, and a launch that is out is not known. */
		{ { .use_time = true, .from_ns = 12000, .to_ns = 51000 },
		  "cudaLaun cudaMemc gemm@0 Memcpy H@1 ",
		  1,
		  0 },
		{ { .use_time = true, .from_ns = 25000, .to_ns = 40000 }, "gemm ", 1, 0 },
		{ { .use_steps = true, .first_step = 5, .last_step = 6 }, "", 0, 0 },
		{ { .ranks = "1-3,7" }, "", 0, 0 },
	};
	sonde_trace *t = make_device_trace(1);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		rows r = load(t, &cases[i].options);
		assert_string_equal(tell(&r), cases[i].left);
		assert_int_equal(r.n_ranks, cases[i].n_ranks);
		assert_int_equal(r.n_steps, cases[i].n_steps);
		assert_int_equal(r.n_left_out, 11 - r.n);
		rows_done(&r);
	}
	sonde_trace_free(t);
}

static void ranks_are_chosen_by_a_list(void **state)
{
	static const char *const wrong[] = { "", "a", "1,", "1-", ",", "-1", "1--2", "1 2", "9999999999" };
	sonde_trace *t = make_device_trace(5);
	rows r = load(t, &(rows_options){ .ranks = "0,2-3" });

	(void)state;
	assert_int_equal(r.n_ranks, 3);
	assert_int_equal(r.ranks[1].rank, 2);
	assert_int_equal(r.ranks[2].rank, 3);
	rows_done(&r);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(rows_load(t, &(rows_options){ .ranks = wrong[i] }, &r, NULL), SONDE_E_USAGE);
		rows_done(&r);
	}
	sonde_trace_free(t);
}

static bool wants_steps(const char *name, site_class class)
{
	return class == CLASS_STEP && *name;
}

/* cudaLaunchKernel and cudaMemcpyAsync launched something; the operators around them did not. */
static void host_rows_that_nobody_wants_are_not_loaded(void **state)
{
	sonde_trace *t = make_device_trace(2);
	rows all = load(t, NULL), few = load(t, &(rows_options){ .wants = wants_steps });
	rows selected = load(t, &(rows_options){ .wants = wants_steps, .ranks = "0-1" });

	(void)state;
	assert_int_equal(few.n, all.n - 4);
	assert_int_equal(few.n_left_out, 0);
	assert_int_equal(selected.n, all.n);
	assert_int_equal(few.n_steps, all.n_steps);
	for (size_t i = 0; i < 2; i++) {
		const rows_rank *a = &all.ranks[i], *b = &few.ranks[i];
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->end_ns, b->end_ns);
		assert_int_equal(a->n_device, b->n_device);
		for (size_t k = 0; k < a->n_device; k++)
			assert_int_equal(rows_at(&all, a->device[k]).slice, rows_at(&few, b->device[k]).slice);
	}
	rows_done(&all);
	rows_done(&few);
	rows_done(&selected);
	sonde_trace_free(t);
	t = make_device_trace(1);
	few = load(t, &(rows_options){ .wants = wants_steps });
	assert_string_equal(tell(&few), "Profiler..3 cudaLaun>0 cudaMemc>0 Profiler..5 cudaLaun>3 gemm@1 add@4 "
					"Memcpy H@2 ncclDevK ");
	rows_done(&few);
	sonde_trace_free(t);
}

static void assert_row(const row *a, const row *b)
{
	assert_memory_equal(a, b, sizeof *a);
}

static void assert_same_rows(const rows *all, const rows *paged)
{
	uint64_t random = 3;

	assert_int_equal(all->n, paged->n);
	for (size_t i = 0; i < all->n; i++)
		assert_row(ROW_AT(all, i), ROW_AT(paged, i));
	for (size_t i = 0; i < all->n; i++) { /* back, and anywhere */
		assert_row(ROW_AT(all, all->n - 1 - i), ROW_AT(paged, all->n - 1 - i));
		if (i % 64 == 0) {
			size_t any = scale_random(&random) % all->n;
			assert_row(ROW_AT(all, any), ROW_AT(paged, any));
		}
	}
	assert_int_equal(all->n_device, paged->n_device);
	assert_memory_equal(all->device_rows, paged->device_rows, all->n_device * sizeof *all->device_rows);
	for (size_t i = 1; i < all->ranks[0].n_device; i++)
		assert_true(rows_at(all, all->ranks[0].device[i - 1]).start_ns <=
			    rows_at(all, all->ranks[0].device[i]).start_ns);
}

/* Rows that are not in memory are made again, the same, whatever is left out of them. */
static void few_pages_hold_the_same_rows(void **state)
{
	static const rows_options cases[] = {
		{ 0 },
		{ .wants = wants_steps },
		{ .use_steps = true, .first_step = 2, .last_step = 5 },
		{ .n_warmup = 3 },
		{ .use_time = true, .from_ns = 7000000, .to_ns = 90000000 },
	};
	builder *b = builder_with_threads(1);

	(void)state;
	scale_training(b, 60000);
	scale_plain(b, 6400);
	sonde_trace *t = finish_trace(b);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		rows_options few = cases[i];
		few.n_cached = 3;
		rows all = load(t, &cases[i]), paged = load(t, &few);
		assert_true(all.n > 4 * ROWS_PAGE);
		assert_false(rows_are_paged(&all));
		assert_true(rows_are_paged(&paged));
		assert_same_rows(&all, &paged);
		rows_done(&all);
		rows_done(&paged);
	}
	sonde_trace_free(t);
}

/* Those of the sites that are looked for, and no others, in order. */
static void rows_of_sites_are_found(void **state)
{
	builder *b = builder_with_threads(1);
	site_set some;

	(void)state;
	scale_training(b, 20000);
	sonde_trace *t = finish_trace(b);
	rows r = load(t, &(rows_options){ .n_cached = 3 });
	for (uint32_t site = 0; site < r.n_sites; site += 7) {
		size_t at = 0;
		assert_true(site_set_init(&some, &r));
		site_set_add(&some, site);
		for (size_t i = 0; i < r.n; i++)
			if (rows_at(&r, i).site == site) {
				assert_int_equal(rows_next(&r, &some, at), i);
				at = i + 1;
			}
		assert_int_equal(rows_next(&r, &some, at), r.n);
		site_set_done(&some);
	}
	rows_done(&r);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_in_pre_order_with_their_links),
		cmocka_unit_test(each_rank_has_its_device_rows_and_steps),
		cmocka_unit_test(a_selection_leaves_what_belongs_to_it),
		cmocka_unit_test(ranks_are_chosen_by_a_list),
		cmocka_unit_test(host_rows_that_nobody_wants_are_not_loaded),
		cmocka_unit_test(few_pages_hold_the_same_rows),
		cmocka_unit_test(rows_of_sites_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
