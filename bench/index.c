/*
 * How fast an indexed trace is looked at: opening it, the first full view, panning and zooming.
 *
 *   bench_index [--json FILE] [--slices N] [--long] [--views N] [--output FILE] [--keep]
 *
 * --long: 100 M slices. --keep leaves the file there.
 *
 * The trace goes straight into the builder: 64 lanes, 200 names, slices of 2 to 50 us, gaps of 0 to 4 us. A view is all
 * 64 lanes at 1920 pixels, by one thread. Views are of any width from the whole trace to a hundred-thousandth of it,
 * each factor of two equally often, anywhere in it. All views are drawn several times over, and of each the quickest
 * counts: that survives a busy machine. The file is in the page cache, but for the cold view, before which its pages
 * are dropped. Times of views are the thread's CPU time, that of the cold view and of opening what the clock says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"
#include "store/build/builder.h"
#include "store/index/index.h"

enum { N_LANES = 64, N_PIXELS = 1920, N_NAMES = 200, N_ROUNDS = 9, N_PASSES = 4, MAX_VIEWS = 100000 };

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- The trace --------------------------------------------------------------------------------------------------- */

static void add_lane(builder *b, uint32_t track, const uint32_t *sites, size_t n)
{
	uint64_t seed = 88172645463325252u + track;
	int64_t t = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t random = next_random(&seed);
		builder_slice s = { .start_ns = t + (int64_t)(random % 4096),
				    .dur_ns = 2000 + (int64_t)((random >> 16) % 48000),
				    .site = sites[(random >> 40) % N_NAMES] };
		builder_lane_slice(b, track, 0, &s);
		t = s.start_ns + s.dur_ns;
	}
}

static sonde_status make_index(size_t n_slices, sonde_index **ret_index, sonde_error *err)
{
	builder *b = builder_new(NULL);
	uint32_t sites[N_NAMES];

	if (!b)
		return SONDE_E_MEMORY;
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	for (uint32_t i = 0; i < N_NAMES; i++) {
		char name[40];
		int len = snprintf(name, sizeof name, "aten::operator_%u", (unsigned)i);
		sites[i] = builder_site(b, builder_string(b, name, (size_t)len), INDEX_NONE, CLASS_COMPUTE, 0);
	}
	for (uint32_t i = 0; i < N_LANES; i++) {
		uint32_t track = builder_track(b, TRACK_THREAD, process, i, INDEX_NONE, INDEX_NONE);
		add_lane(b, track, sites, n_slices / N_LANES);
	}
	sonde_status status = builder_finish(b, ret_index, err);
	builder_free(b);
	return status;
}

static bool write_file(const char *path, size_t n_slices)
{
	sonde_index *ix = NULL;
	sonde_error err = { .message = "out of memory" };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	sonde_status status = fd < 0 ? SONDE_E_IO : make_index(n_slices, &ix, &err);

	if (fd < 0)
		perror(path);
	if (!status)
		status = index_write(ix, fd, &err);
	if (status && fd >= 0)
		fprintf(stderr, "bench_index: %s\n", err.message);
	if (fd >= 0) {
		fsync(fd); /* pages that are not written yet cannot be dropped */
		close(fd);
	}
	index_free(ix);
	return !status;
}

static sonde_index *open_file(const char *path)
{
	sonde_index *ix = NULL;
	sonde_error err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || index_open_file(path, fd, &ix, &err)) {
		fprintf(stderr, "bench_index: cannot open %s\n", path);
		exit(1);
	}
	close(fd);
	return ix;
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* All lanes; returns how many rectangles. */
static size_t draw(const sonde_index *ix, int64_t from, int64_t to)
{
	static range_rect rects[N_PIXELS];
	size_t n_lanes, n = 0;

	index_lanes(ix, &n_lanes);
	for (uint32_t i = 0; i < n_lanes; i++)
		n += index_range(ix, i, from, to, N_PIXELS, rects);
	return n;
}

static size_t draw_all(const sonde_index *ix)
{
	return draw(ix, index_start_ns(ix), index_end_ns(ix) + 1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Times of n views in ms, if they are below what is there. */
static void time_views(const sonde_index *ix, size_t n, double *ms)
{
	double all = (double)(index_end_ns(ix) - index_start_ns(ix));
	uint64_t seed = 4711;

	for (size_t i = 0; i < n; i++) {
		double zoom = (double)(next_random(&seed) >> 11) / 9007199254740992.0;
		double place = (double)(next_random(&seed) >> 11) / 9007199254740992.0;
		double width = all * pow(1e-5, zoom);
		int64_t from = index_start_ns(ix) + (int64_t)((all - width) * place);
		double start = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID);
		keep(draw(ix, from, from + (int64_t)width + 1));
		ms[i] = fmin(ms[i], (cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6);
	}
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static void add(results *r, const char *name, const char *unit, double best, double median, double goal)
{
	results_add(r, (result){ .name = name,
				 .unit = unit,
				 .best = best,
				 .median = median,
				 .ratio = NAN,
				 .goal = goal,
				 .kind = isnan(goal) ? NO_GOAL : BEST_AT_MOST });
}

/* Opening, and the first picture of a file just opened. */
static void time_first_view(results *r, const char *path)
{
	double open_ms[N_ROUNDS], view_ms[N_ROUNDS];
	size_t n_rects = 0;

	for (size_t i = 0; i < N_ROUNDS; i++) {
		double start = (double)now_ns();
		sonde_index *ix = open_file(path);
		open_ms[i] = ((double)now_ns() - start) / 1e6;
		start = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID);
		n_rects = draw_all(ix);
		view_ms[i] = (cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6;
		index_free(ix);
	}
	double open_median = median_of(open_ms, N_ROUNDS), view_median = median_of(view_ms, N_ROUNDS);
	add(r, "opening", "ms", open_ms[0], open_median, 5);
	add(r, "first full view", "ms", view_ms[0], view_median, 20);
	add(r, "first full view, rectangles", "", (double)n_rects, NAN, NAN);
}

static void time_cold_view(results *r, const char *path)
{
	double ms[3];

	for (size_t i = 0; i < 3; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
		double start = (double)now_ns();
		sonde_index *ix = open_file(path);
		draw_all(ix);
		ms[i] = ((double)now_ns() - start) / 1e6;
		index_free(ix);
	}
	double median = median_of(ms, 3);
	add(r, "opening and first full view, pages dropped", "ms", ms[0], median, 200);
}

static void time_panning(results *r, const char *path, size_t n_views)
{
	double *ms = malloc(n_views * sizeof *ms), *first = malloc(n_views * sizeof *first);
	sonde_index *ix = open_file(path);

	if (!ms || !first)
		exit(1);
	for (size_t i = 0; i < n_views; i++)
		ms[i] = INFINITY;
	time_views(ix, n_views, ms);
	memcpy(first, ms, n_views * sizeof *ms);
	for (size_t i = 1; i < N_PASSES; i++)
		time_views(ix, n_views, ms);
	qsort(ms, n_views, sizeof *ms, by_value);
	qsort(first, n_views, sizeof *first, by_value);
	add(r, "panning and zooming, p50", "ms", ms[n_views / 2], NAN, 2);
	add(r, "panning and zooming, p99", "ms", ms[n_views * 99 / 100], NAN, 8);
	add(r, "panning and zooming, longest", "ms", ms[n_views - 1], NAN, NAN);
	add(r, "panning and zooming, first pass, p50", "ms", first[n_views / 2], NAN, NAN);
	add(r, "panning and zooming, first pass, p99", "ms", first[n_views * 99 / 100], NAN, NAN);
	index_free(ix);
	free(ms);
	free(first);
}

static void time_walk(results *r, const char *path)
{
	static lane_cursor c;
	sonde_index *ix = open_file(path);
	size_t n_lanes, n = 0;
	index_slice s;
	double ns[3];

	index_lanes(ix, &n_lanes);
	for (size_t i = 0; i < 3; i++) {
		double start = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID);
		n = 0;
		for (uint32_t lane = 0; lane < n_lanes && n < 10000000; lane++) {
			lane_first(&c, ix, lane, 0);
			for (; lane_next(&c, &s); n++)
				keep((uint64_t)s.start_ns ^ s.site);
		}
		ns[i] = (cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
	}
	double median = median_of(ns, 3);
	add(r, "walking over slices, each", "ns", ns[0], median, NAN);
	index_free(ix);
}

int main(int argc, char **argv)
{
	results r = { .program = "index", .floor_ns = NAN };
	const char *output = "bench_index.sonde";
	size_t n_slices = 10000000, n_views = 2000;
	bool keeps = false, is_long = false;
	struct stat st = { 0 };
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },  { "--output", .text = &output },
		{ "--slices", .number = &n_slices }, { "--views", .number = &n_views },
		{ "--long", .flag = &is_long },	     { "--keep", .flag = &keeps },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	n_views = n_views > MAX_VIEWS ? 2000 : n_views;
	n_slices = is_long ? 100000000 : n_slices;
	n_slices = n_slices < N_LANES ? N_LANES : n_slices / N_LANES * N_LANES;

	measure_begin();
	double start = (double)now_ns();
	r.broken = !write_file(output, n_slices) || stat(output, &st) != 0;
	if (!r.broken) {
		add(&r, "slices", "millions", (double)n_slices / 1e6, NAN, NAN);
		add(&r, "making and writing the file, per slice", "ns", ((double)now_ns() - start) / (double)n_slices,
		    NAN, NAN);
		add(&r, "the file, per slice", "B", (double)st.st_size / (double)n_slices, NAN, 6);
		time_first_view(&r, output);
		time_panning(&r, output, n_views);
		time_walk(&r, output);
		time_cold_view(&r, output);
	}
	if (!keeps)
		unlink(output);
	return results_finish(&r) ? 0 : 1;
}
