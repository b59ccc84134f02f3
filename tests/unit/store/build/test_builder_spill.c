/* A builder that does not keep what it packed in memory makes the same image, byte for byte. */
#include <signal.h>
#include <sys/resource.h>
#include "import/recording/build.h"
#include "unit/import/random_recording.h"

static recording *open_run(const random_run *r)
{
	recording *t = NULL;

	assert_int_equal(recording_open_memory(r->m.bytes, r->m.len, &t, NULL), SONDE_OK);
	return t;
}

static sonde_index *build(const recording *t, size_t spill_bytes, const builder_target *target)
{
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };

	if (recording_build_index_as(t, &(builder_options){ .spill_bytes = spill_bytes, .target = target }, &ix, &err))
		fail_msg("%s", err.message);
	return ix;
}

static void assert_same_image(const sonde_index *a, const sonde_index *b)
{
	size_t len_a, len_b;
	const uint8_t *bytes_a = index_bytes(a, &len_a), *bytes_b = index_bytes(b, &len_b);

	assert_int_equal(len_a, len_b);
	assert_memory_equal(bytes_a, bytes_b, len_a);
	assert_int_equal(index_verify(b, NULL), SONDE_OK);
}

static void the_image_is_the_same_wherever_its_parts_were(void **state)
{
	static random_run r;
	static const size_t limits[] = { 1, 1000, 20000, 100000 };

	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		make_run(&r, seed, seed == 3 ? 60000 : 5000);
		recording *t = open_run(&r);
		sonde_index *in_memory = build(t, SIZE_MAX, NULL);
		assert_false(index_is_mapped(in_memory));
		for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
			sonde_index *spilled = build(t, limits[i], NULL);
			assert_true(index_is_mapped(spilled) || limits[i] > 1000); /* else it has no more */
			assert_same_image(in_memory, spilled);
			index_free(spilled);
		}
		index_free(in_memory);
		recording_free(t);
		run_done(&r);
	}
}

/* Lanes with so many slices that summaries have several levels. */
static void levels_of_summaries_are_the_same_in_a_file(void **state)
{
	enum { N = 2000000 };
	const builder_options kinds[] = { { .spill_bytes = 0 }, { .spill_bytes = 1 << 20 } };
	sonde_index *made[2];

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		builder *b = builder_new(&kinds[k]);
		uint32_t name = builder_string(b, "work", 4), track, site;
		track = builder_track(b, TRACK_THREAD, builder_process(b, 0, 1, INDEX_NONE), 1, INDEX_NONE, INDEX_NONE);
		site = builder_site(b, name, INDEX_NONE, CLASS_COMPUTE, 0);
		for (int64_t i = 0; i < N; i++) {
			builder_slice s = { .start_ns = 100 * i, .dur_ns = i % 97, .site = site };
			builder_lane_slice(b, track, 0, &s);
		}
		assert_int_equal(builder_finish(b, &made[k], NULL), SONDE_OK);
		builder_free(b);
	}
	assert_true(index_n_rows(made[0], SECTION_FINE) > N / INDEX_GROUP);
	assert_same_image(made[0], made[1]);
	index_free(made[0]);
	index_free(made[1]);
}

static void an_image_can_go_to_a_place_in_a_file(void **state)
{
	static random_run r;
	const char *path = temp_path("target.sonde");
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	builder_target target = { fd, 4104 };

	(void)state;
	make_run(&r, 5, 5000);
	recording *t = open_run(&r);
	sonde_index *in_memory = build(t, SIZE_MAX, NULL);
	for (size_t limit = 1; limit <= 20000; limit += 19999) {
		sonde_index *there = build(t, limit, &target);
		assert_same_image(in_memory, there);
		index_free(there);
	}
	index_free(in_memory);
	recording_free(t);
	run_done(&r);
	close(fd);
}

static void a_full_disk_is_an_error_with_a_reason(void **state)
{
	static random_run r;
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };
	struct rlimit old, limit;

	(void)state;
	make_run(&r, 6, 20000);
	recording *t = open_run(&r);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	/* In the middle of what is spilled, and in the middle of the image. */
	for (limit.rlim_cur = 1000; limit.rlim_cur < 200000; limit.rlim_cur *= 3) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		sonde_status status = recording_build_index_as(t, &(builder_options){ .spill_bytes = 5000 }, &ix, &err);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(status, SONDE_E_IO);
		assert_true(strstr(err.message, "cannot write"));
	}
	recording_free(t);
	run_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_image_is_the_same_wherever_its_parts_were),
		cmocka_unit_test(levels_of_summaries_are_the_same_in_a_file),
		cmocka_unit_test(an_image_can_go_to_a_place_in_a_file),
		cmocka_unit_test(a_full_disk_is_an_error_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
