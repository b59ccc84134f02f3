/* What stays of ten steps, by place and step, worked out on paper. */
#include "unit/analyze/bottlenecks/rule_kit.h"
#include "unit/analyze/analyze_json.h"

static void change(kit *k, int64_t t, int64_t bytes, uint64_t address, int64_t total)
{
	builder_allocation a = { .time_ns = 5000000 + t * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device_type = 1,
				 .address = address,
				 .bytes = bytes,
				 .total_bytes = total,
				 .reserved_bytes = -1 };

	builder_allocation_add(k->b, &a);
}

/* Each step: 1000 bytes stay in "keep", every other time with its operator's last moment; 64 are freed in the next
   step, 500 within the step; 10 are allocated in the first step alone. Step 3 frees 4000 that came before the trace;
   the address of 7 bytes is used again in step 5. */
static void plant(kit *k, int64_t t, bool fires)
{
	uint64_t step = (uint64_t)k->step;
	int64_t s = k->step,
		held = 10000 + 64 * (s > 0) + 10 * (s > 0) + s * 1000 - (s > 3) * 4000 + 7 * (s > 4) + 7 * (s > 5);

	put(k, MAIN, t + 50, t + 4000, "train.py(3): step", CLASS_PYTHON, 0, 0);
	scope(k, t + 100, t + 3000, "keep");
	op(k, t + 200, t + 1000, "aten::empty");
	call(k, t + 250, t + 400, "cudaMalloc");
	if (fires)
		change(k, t + (s % 2 ? 1000 : 300), 1000, 100000 + step, held + 1000);
	op(k, t + 5000, t + 6000, "aten::mm");
	change(k, t + 5100, 64, 2000 + step % 2, held + 1064);
	change(k, t + 5200, 500, 3000, held + 1564);
	change(k, t + 5300, -500, 3000, held + 1064);
	if (s > 0)
		change(k, t + 5400, -64, 2000 + (step + 1) % 2, held + 1000);
	if (s == 0)
		change(k, t + 7000, 10, 4000, held + 1074);
	if (s == 3)
		change(k, t + 7000, -4000, 5000, held - 3000);
	if (s == 4 || s == 5)
		change(k, t + 7000, 7, 6000, held + 1007);
}

static void what_stays_is_told_by_place_size_and_step(void **state)
{
	static const rule_case c = { .plant = plant };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "leaks", NULL);

	(void)state;
	assert_says(text, "'growth_bytes_per_step': 1000, 'growth_low_bytes_per_step': ");
	assert_says(text, "'n_steps': 10, 'n_steps_higher': 8, 'stays_bytes': 10081, 'n_stay': 13, 'allocated_bytes': "
			  "15664, 'n_allocs': 33, 'before_bytes': 10000, 'freed_unknown_bytes': 4000, "
			  "'n_freed_unknown': 1, 'lost_bytes': 7, 'n_lost': 1");
	assert_says(text, "{'name': 'aten::empty', 'scope': 'keep', 'python': 'train.py(3): step', 'device': 'gpu0', "
			  "'rank': 0, 'size_bytes': 1000, 'n_stay': 10, 'stays_bytes': 10000, 'n_steps': 10, "
			  "'first_step': 1, 'last_step': 10, 'of_steps': 'nearly all'}");
	assert_says(text,
		    "{'name': 'aten::mm', 'scope': null, 'python': null, 'device': 'gpu0', 'rank': 0, 'size_bytes': "
		    "64, 'n_stay': 1, 'stays_bytes': 64, 'n_steps': 1, 'first_step': 10, 'last_step': 10, "
		    "'of_steps': 'the last'}");
	assert_says(text,
		    "'size_bytes': 10, 'n_stay': 1, 'stays_bytes': 10, 'n_steps': 1, 'first_step': 1, 'last_step': "
		    "1, 'of_steps': 'the first'}");
	assert_says(text, "'size_bytes': 7, 'n_stay': 1, 'stays_bytes': 7, 'n_steps': 1, 'first_step': 6, 'last_step': "
			  "6, 'of_steps': 'some'}");
	/* Step 4 freed what came before. */
	assert_says(text, "'step': 3, 'end_ns': 30000000, 'allocated_bytes': 13074, 'stays_bytes': 1000, 'n_stay': 1}");
	assert_says(text, "'step': 4, 'end_ns': 40000000, 'allocated_bytes': 10074, 'stays_bytes': 1000, 'n_stay': 1}");
	assert_says(text, "'alloc_ns': 300000, 'step': 1, 'age_steps': 9}");
	assert_says(text, "1 frees, of 3.91 KiB were of blocks allocated before the trace began");
	assert_says(text, "their addresses were reused");
	free(text);
	sonde_trace_free(trace);
}

static void nothing_grows_where_all_is_freed(void **state)
{
	static const rule_case c = { .plant = plant };
	sonde_trace *trace = plant_trace(&c, false);
	sonde_analyze_options o = { .struct_size = sizeof o, .use_steps = true, .first_step = 2, .last_step = 3 };
	char *text = analyze(trace, "leaks", &o);

	(void)state;
	assert_says(text, "'stays_bytes': 0, 'n_stay': 0, 'allocated_bytes': 1128");
	assert_says(text, "'leak_places': []");
	assert_says(text, "'growth_low_bytes_per_step': null"); /* of two steps */
	free(text);
	sonde_trace_free(trace);
}

/* Half of it is freed, but of which block is not told. */
static void plant_without_addresses(kit *k, int64_t t, bool fires)
{
	(void)fires;
	change(k, t + 100, 2000, 0, 1000 * k->step + 2000);
	change(k, t + 200, -1000, 0, 1000 * k->step + 1000);
}

static void without_addresses_only_growth_is_known(void **state)
{
	static const rule_case c = { .plant = plant_without_addresses };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "leaks", NULL);

	(void)state;
	assert_says(text, "'growth_bytes_per_step': 1000, 'growth_low_bytes_per_step': 1000");
	assert_says(text, "'stays_bytes': null, 'n_stay': null, 'allocated_bytes': 20000");
	assert_says(text, "'leak_places': []");
	assert_says(text, "frees in this trace have no address");
	free(text);
	sonde_trace_free(trace);
}

/* Sums stay in bounds, and so do the addresses, whatever a file says. */
static void plant_nonsense(kit *k, int64_t t, bool fires)
{
	(void)fires;
	change(k, t, INT64_MAX, UINT64_MAX, INT64_MAX);
	change(k, t, INT64_MAX, UINT64_MAX - 1, INT64_MIN);
	change(k, t, INT64_MIN, 7, -5);
	change(k, t + 1, 0, 7, 0);
	change(k, t + 2, -1, UINT64_MAX, INT64_MAX);
}

static void a_hostile_trace_is_counted(void **state)
{
	static const rule_case c = { .plant = plant_nonsense };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "leaks", NULL);

	(void)state;
	assert_says(text, "'n_stay': 1, ");
	assert_says(text, "'n_allocs': 20");
	assert_says(text, "'n_lost': 9}");
	free(text);
	sonde_trace_free(trace);
}

static void plant_nothing(kit *k, int64_t t, bool fires)
{
	(void)fires;
	op(k, t, t + 10, "aten::mm");
}

static void a_trace_without_allocations_says_what_would_have_them(void **state)
{
	static const rule_case c = { .plant = plant_nothing };
	sonde_trace *trace = plant_trace(&c, true);
	char *text = analyze(trace, "leaks", NULL);

	(void)state;
	assert_says(text, "'leak_devices': []");
	assert_says(text, "profile_memory=True");
	free(text);
	sonde_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stays_is_told_by_place_size_and_step),
		cmocka_unit_test(nothing_grows_where_all_is_freed),
		cmocka_unit_test(without_addresses_only_growth_is_known),
		cmocka_unit_test(a_hostile_trace_is_counted),
		cmocka_unit_test(a_trace_without_allocations_says_what_would_have_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
