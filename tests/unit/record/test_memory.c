/* Memory by call: now, at most, over time. */
#include <pthread.h>
#include "unit/record/recorded.h"

static void *at(uintptr_t address)
{
	return (void *)address;
}

static void assert_now(sonde_device device, size_t current, size_t peak, size_t n_live)
{
	sonde_memory now = sonde_memory_now(device);

	assert_true(now.known);
	assert_int_equal(now.current_bytes, current);
	assert_int_equal(now.peak_bytes, peak);
	assert_int_equal(now.n_live, n_live);
}

static void memory_is_exact_while_the_program_runs(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	assert_now(SONDE_CPU, 0, 0, 0);
	sonde_alloc(SONDE_CPU, at(1), 100, 7);
	sonde_alloc(SONDE_CPU, at(2), 50, 0);
	assert_now(SONDE_CPU, 150, 150, 2);
	sonde_free(SONDE_CPU, at(1));
	assert_now(SONDE_CPU, 50, 150, 1);
	sonde_alloc(SONDE_CPU, at(3), 0, 0); /* an empty block is one too */
	assert_now(SONDE_CPU, 50, 150, 2);
	sonde_free(SONDE_CPU, at(2));
	sonde_free(SONDE_CPU, at(3));
	assert_now(SONDE_CPU, 0, 150, 0);
	assert_recorded("alloc0:100=100 alloc0:50=150 free0:100=50 alloc0:0=50 free0:50=0 free0:0=0");
}

static void devices_are_apart(void **state)
{
	sonde_device npu = sonde_device_register("npu0");

	(void)state;
	record_start((sonde_config){ .memory = true });
	sonde_alloc(SONDE_CPU, at(1), 1, 0);
	sonde_alloc(SONDE_GPU(0), at(1), 10, 0);
	sonde_alloc(SONDE_GPU(7), at(1), 100, 0);
	sonde_alloc(npu, at(1), 1000, 0);
	assert_now(SONDE_CPU, 1, 1, 1);
	assert_now(SONDE_GPU(0), 10, 10, 1);
	assert_now(SONDE_GPU(7), 100, 100, 1);
	assert_now(npu, 1000, 1000, 1);
	sonde_free(SONDE_GPU(0), at(1));
	assert_now(SONDE_GPU(0), 0, 10, 0);
	assert_now(npu, 1000, 1000, 1);
	record_done(record_stop());
}

static void a_free_that_was_not_reported_is_made_up_for(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	sonde_alloc(SONDE_CPU, at(1), 100, 0);
	sonde_alloc(SONDE_CPU, at(1), 30, 0);
	assert_now(SONDE_CPU, 30, 100, 1);
	assert_recorded("alloc0:100=100 free0:100=0 alloc0:30=30");
}

static void a_free_of_something_unknown_changes_nothing(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	sonde_alloc(SONDE_CPU, at(1), 100, 0);
	sonde_free(SONDE_CPU, at(2));
	sonde_free(SONDE_CPU, NULL);
	sonde_free(SONDE_GPU(0), at(1));
	assert_now(SONDE_CPU, 100, 100, 1);
	assert_recorded("alloc0:100=100 free0:-1=100 free1:-1=0");
}

static void without_the_activity_nothing_is_known(void **state)
{
	sonde_memory_block block;
	sonde_memory_point point;

	(void)state;
	assert_false(sonde_memory_now(SONDE_CPU).known);
	record_start((sonde_config){ .memory = SONDE_OFF });
	sonde_alloc(SONDE_CPU, at(1), 100, 0);
	assert_false(sonde_memory_now(SONDE_CPU).known);
	assert_int_equal(sonde_memory_snapshot(SONDE_CPU, &block, 1), 0);
	assert_int_equal(sonde_memory_timeline(SONDE_CPU, &point, 1), 0);
	assert_recorded("");
}

static void every_recording_begins_at_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		record_start((sonde_config){ .memory = true });
		assert_now(SONDE_CPU, 0, 0, 0);
		sonde_alloc(SONDE_CPU, at(1), 100, 0);
		assert_recorded("alloc0:100=100");
	}
}

static void a_snapshot_lists_the_live_blocks(void **state)
{
	sonde_memory_block blocks[8] = { { 0 } };

	(void)state;
	record_start((sonde_config){ .memory = true });
	assert_int_equal(sonde_memory_snapshot(SONDE_CPU, blocks, 8), 0);
	for (uintptr_t i = 1; i <= 5; i++)
		sonde_alloc(SONDE_CPU, at(i), i * 10, i * 100);
	sonde_alloc(SONDE_GPU(0), at(9), 1, 1);
	sonde_free(SONDE_CPU, at(3));
	assert_int_equal(sonde_memory_snapshot(SONDE_CPU, blocks, 8), 4);
	uint64_t seen = 0;
	for (size_t i = 0; i < 4; i++) {
		uintptr_t address = (uintptr_t)blocks[i].address;
		assert_int_equal(blocks[i].bytes, address * 10);
		assert_int_equal(blocks[i].tensor_id, address * 100);
		seen |= UINT64_C(1) << address;
	}
	assert_int_equal(seen, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5);
	assert_int_equal(sonde_memory_snapshot(SONDE_CPU, blocks, 1), 4); /* more than fit */
	assert_int_equal(sonde_memory_snapshot(SONDE_CPU, NULL, 0), 4);
	recorded *r = record_stop();
	assert_non_null(strstr(r->text, "snapshot0:0,0,0 alloc0:10=10"));
	assert_non_null(strstr(r->text, "snapshot0:120,150,4 snapshot0:120,150,4 snapshot0:120,150,4"));
	record_done(r);
}

static void many_blocks_come_and_go(void **state)
{
	enum { N = 50000 };

	(void)state;
	record_start((sonde_config){ .memory = true });
	for (int round = 0; round < 3; round++) {
		for (uintptr_t i = 1; i <= N; i++)
			sonde_alloc(SONDE_CPU, at(i * 64), i, 0);
		assert_int_equal(sonde_memory_now(SONDE_CPU).n_live, N);
		assert_int_equal(sonde_memory_now(SONDE_CPU).current_bytes, (size_t)N * (N + 1) / 2);
		for (uintptr_t i = N; i >= 1; i--)
			sonde_free(SONDE_CPU, at(i * 64));
		assert_now(SONDE_CPU, 0, (size_t)N * (N + 1) / 2, 0);
	}
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_memory, 6 * N);
	record_done(r);
}

static void the_timeline_has_the_peak_of_each_interval(void **state)
{
	sonde_memory_point points[512];

	(void)state;
	record_start((sonde_config){ .memory = true });
	int64_t before = sonde_now_ns();
	assert_int_equal(sonde_memory_timeline(SONDE_CPU, points, 512), 0);
	sonde_alloc(SONDE_CPU, at(1), 100, 0);
	sonde_alloc(SONDE_CPU, at(2), 900, 0);
	sonde_free(SONDE_CPU, at(2));
	usleep(5000);
	sonde_alloc(SONDE_CPU, at(3), 10, 0);
	size_t n = sonde_memory_timeline(SONDE_CPU, points, 512), peak = 0;
	assert_in_range(n, 2, 512);
	for (size_t i = 0; i < n; i++) {
		assert_true(points[i].time_ns >= (i ? points[i - 1].time_ns + 1 : before));
		peak = points[i].peak_bytes > peak ? points[i].peak_bytes : peak;
	}
	assert_int_equal(points[0].peak_bytes, 1000);
	assert_int_equal(peak, 1000);
	assert_int_equal(points[n - 1].peak_bytes, 110);
	assert_int_equal(sonde_memory_timeline(SONDE_CPU, points, 1), 1);
	record_done(record_stop());
}

enum { N_THREADS = 4, N_ROUNDS = 20000 };

static void *churn(void *number)
{
	uintptr_t base = ((uintptr_t)number + 1) << 32;

	for (uintptr_t i = 1; i <= N_ROUNDS; i++) {
		sonde_alloc(SONDE_CPU, at(base + i), 16, 0);
		if (i % 2)
			sonde_free(SONDE_CPU, at(base + i));
	}
	return NULL;
}

static void threads_add_up(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	record_start((sonde_config){ .memory = true });
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	sonde_memory now = sonde_memory_now(SONDE_CPU);
	assert_int_equal(now.n_live, N_THREADS * N_ROUNDS / 2);
	assert_int_equal(now.current_bytes, 16 * N_THREADS * N_ROUNDS / 2);
	assert_in_range(now.peak_bytes, now.current_bytes, now.current_bytes + 16 * N_THREADS);
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_memory, N_THREADS * N_ROUNDS * 3 / 2);
	record_done(r);
}

static void null_is_no_block(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	sonde_alloc(SONDE_CPU, NULL, 100, 0); /* of a malloc that failed */
	assert_now(SONDE_CPU, 0, 0, 0);
	sonde_free(SONDE_CPU, NULL);
	assert_now(SONDE_CPU, 0, 0, 0);
	assert_recorded("");
}

static void of_more_devices_than_can_be_counted_nothing_is_known(void **state)
{
	enum { DEVICES = 64 };
	size_t n_known = 0;

	(void)state;
	record_start((sonde_config){ .memory = true });
	for (uint32_t i = 0; i < DEVICES + 5; i++) {
		sonde_device device = 1000 + i;
		sonde_alloc(device, at(1), 10, 0);
		sonde_memory now = sonde_memory_now(device);
		assert_int_equal(now.current_bytes, now.known ? 10 : 0);
		n_known += now.known;
	}
	assert_in_range(n_known, 1, DEVICES);
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_memory, n_known);
	record_done(r);
}

static void allocate_at_once(void)
{
	sonde_alloc(SONDE_CPU, at(1), 100, 0);
	sonde_alloc(SONDE_CPU, at(2), 50, 0);
	sonde_free(SONDE_CPU, at(1));
	sonde_memory_snapshot(SONDE_CPU, NULL, 0);
}

static void the_first_event_of_a_child_may_be_an_allocation(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	sonde_alloc(SONDE_CPU, at(3), 1000, 0); /* the parent's */
	recorded *r = record_in_child(allocate_at_once);
	assert_string_equal(r->text, "alloc0:100=100 alloc0:50=150 free0:100=50 snapshot0:50,150,1");
	record_done(r);
	assert_now(SONDE_CPU, 1000, 1000, 1);
	assert_recorded("alloc0:1000=1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_exact_while_the_program_runs),
		cmocka_unit_test(devices_are_apart),
		cmocka_unit_test(a_free_that_was_not_reported_is_made_up_for),
		cmocka_unit_test(a_free_of_something_unknown_changes_nothing),
		cmocka_unit_test(without_the_activity_nothing_is_known),
		cmocka_unit_test(every_recording_begins_at_nothing),
		cmocka_unit_test(a_snapshot_lists_the_live_blocks),
		cmocka_unit_test(many_blocks_come_and_go),
		cmocka_unit_test(the_timeline_has_the_peak_of_each_interval),
		cmocka_unit_test(threads_add_up),
		cmocka_unit_test(null_is_no_block),
		cmocka_unit_test(the_first_event_of_a_child_may_be_an_allocation),
		cmocka_unit_test(of_more_devices_than_can_be_counted_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
