#define _GNU_SOURCE
/* A recording that grows block by block is followed; each index must say what one made from scratch says. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <setjmp.h>
#include <cmocka.h>
#include "import/recording/follow.h"
#include "unit/import/random_recording.h"
#include "unit/store/compare_index.h"

enum { PIXELS = 300 };

/* ---- The same index ---------------------------------------------------------------------------------------------- */

/* What is drawn and summed, in lines, sorted before they are compared: names are numbered in the order in which they
 * come. */
typedef struct dump {
	const sonde_index *ix;
	VEC(char *) lines;
} dump;

static void __attribute__((format(printf, 2, 3))) say(dump *d, const char *format, ...)
{
	char **line = VEC_ADD(&d->lines);
	va_list args;

	assert_non_null(line);
	va_start(args, format);
	assert_true(vasprintf(line, format, args) >= 0);
	va_end(args);
}

static const char *site_text(const dump *d, int64_t site)
{
	static char text[200];
	size_t n;
	const index_site *sites = index_sites(d->ix, &n);

	assert_true((uint64_t)site < n);
	snprintf(text, sizeof text, "%s/%s/%d/%d", index_text(d->ix, sites[site].name),
		 index_text(d->ix, sites[site].category), sites[site].class, sites[site].kind);
	return text;
}

static void say_range(dump *d, uint32_t lane, int64_t from_ns, int64_t to_ns)
{
	range_rect rects[PIXELS];
	size_t n = index_range(d->ix, lane, from_ns, to_ns, PIXELS, rects);

	for (size_t i = 0; i < n; i++)
		say(d, "rectangle of lane %u in %" PRId64 "..%" PRId64 ": %u + %u %s, %u slices, busy %.4f", lane,
		    from_ns, to_ns, rects[i].x, rects[i].width, site_text(d, rects[i].site), rects[i].n_slices,
		    (double)rects[i].busy);
}

static void say_ranges(dump *d)
{
	size_t n;
	int64_t start = index_start_ns(d->ix), end = index_end_ns(d->ix), third = (end - start) / 3;

	index_lanes(d->ix, &n);
	for (uint32_t i = 0; i < n; i++) {
		say_range(d, i, start, end);
		say_range(d, i, start + third, start + 2 * third);
		say_range(d, i, end - third / 20, end);
	}
}

static void say_sums(dump *d, int64_t from_ns, int64_t to_ns)
{
	size_t n;
	const index_site *sites = index_sites(d->ix, &n);
	site_sum *sums = calloc(n + 1, sizeof *sums);

	assert_int_equal(index_aggregate(d->ix, &(aggregate_options){ .from_ns = from_ns, .to_ns = to_ns }, sums, NULL),
			 0);
	for (uint32_t i = 0; i < n; i++) {
		const index_site *s = &sites[i];
		say(d, "site %s: %" PRIu64 " total %" PRId64 " self %" PRId64 " %" PRId64 "..%" PRId64, site_text(d, i),
		    s->n_slices, s->total_ns, s->self_ns, s->min_ns, s->max_ns);
		say(d, "from %" PRId64 ": %s %" PRIu64 " total %" PRId64 " self %" PRId64 " %" PRId64 "..%" PRId64,
		    from_ns, site_text(d, i), sums[i].n_slices, sums[i].total_ns, sums[i].self_ns, sums[i].min_ns,
		    sums[i].max_ns);
	}
	free(sums);
}

static void say_rest(dump *d)
{
	size_t n;
	const index_meta *metas = index_metas(d->ix, &n);

	for (size_t i = 0; i < n; i++)
		say(d, "%s = %s", index_text(d->ix, metas[i].key), index_text(d->ix, metas[i].value));
	const index_diagnostic *diagnostics = index_diagnostics(d->ix, &n);
	for (size_t i = 0; i < n; i++)
		say(d, "%s: %" PRIu64, index_text(d->ix, diagnostics[i].text), diagnostics[i].count);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static dump dump_of(const sonde_index *ix)
{
	dump d = { .ix = ix };
	int64_t start = index_start_ns(ix), third = (index_end_ns(ix) - start) / 3;

	say_ranges(&d);
	say_sums(&d, 0, 0);
	say_sums(&d, start + third, start + 2 * third);
	say_rest(&d);
	qsort(d.lines.items, d.lines.n, sizeof d.lines.items[0], compare_lines);
	return d;
}

static void dump_done(dump *d)
{
	for (size_t i = 0; i < d->lines.n; i++)
		free(d->lines.items[i]);
	VEC_DONE(&d->lines);
}

static void check_slices(const sonde_index *ix)
{
	lane_cursor *c = malloc(sizeof *c);
	index_slice s, again;
	size_t n;

	assert_non_null(c);
	index_lanes(ix, &n);
	for (uint32_t i = 0; i < n; i++) {
		lane_first(c, ix, i, 0);
		while (lane_next(c, &s)) {
			assert_true(index_slice_at(ix, s.id, &again));
			assert_true(again.start_ns == s.start_ns && again.parent == s.parent && again.args == s.args);
		}
		assert_false(c->damaged);
	}
	free(c);
}

static void assert_same(const sonde_index *followed, const sonde_index *fresh)
{
	char why[512];
	dump a = dump_of(followed), b = dump_of(fresh);

	if (!index_same(followed, fresh, why, sizeof why))
		fail_msg("%s", why);
	check_slices(followed);
	for (size_t i = 0; i < a.lines.n && i < b.lines.n; i++)
		if (strcmp(a.lines.items[i], b.lines.items[i]) != 0)
			fail_msg("line %zu: followed\n%s\nfresh\n%s", i, a.lines.items[i], b.lines.items[i]);
	assert_int_equal(a.lines.n, b.lines.n);
	dump_done(&a);
	dump_done(&b);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static recording *open_until(const random_run *r, size_t len)
{
	recording *t = NULL;
	sonde_error err = { .message = "" };

	if (recording_open_memory(r->m.bytes, len, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static sonde_index *follow_until(recording_follow *f, const random_run *r, size_t len)
{
	recording *t = open_until(r, len);
	sonde_index *ix = NULL;
	sonde_error err = { .message = "" };

	if (recording_follow_index(f, t, NULL, NULL, &ix, &err))
		fail_msg("%s", err.message);
	recording_free(t);
	return ix;
}

/* Takes the index. */
static void check_fresh(sonde_index *followed, const random_run *r, size_t len)
{
	recording *t = open_until(r, len);
	sonde_index *fresh = NULL;
	sonde_error err = { .message = "" };

	if (recording_build_index(t, 1, &fresh, &err))
		fail_msg("%s", err.message);
	recording_free(t);
	assert_same(followed, fresh);
	index_free(followed);
	index_free(fresh);
}

static void check_until(recording_follow *f, const random_run *r, size_t len)
{
	check_fresh(follow_until(f, r, len), r, len);
}

/* A recording, still empty, and what follows it. */
typedef struct pursuit {
	random_run r;
	recording_follow *f;
} pursuit;

static int begin(void **state)
{
	pursuit *p = calloc(1, sizeof *p);

	assert_non_null(p);
	p->f = recording_follow_new();
	assert_non_null(p->f);
	*state = p;
	return 0;
}

static int end(void **state)
{
	pursuit *p = *state;

	recording_follow_free(p->f);
	run_done(&p->r);
	free(p);
	return 0;
}

static void check_now(pursuit *p)
{
	check_until(p->f, &p->r, p->r.m.len);
}

static void check_seed(pursuit *p, uint64_t seed)
{
	random_run *r = &p->r;

	make_run(r, seed, seed < 7 ? 3000 : 12000);
	for (size_t i = 0; i < r->cuts.n; i += 1 + below(r, r->cuts.n / 8 + 1))
		check_until(p->f, r, r->cuts.items[i]);
	check_now(p);
}

static void an_index_that_follows_is_the_same_as_a_fresh_one(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		begin(state);
		check_seed(*state, seed);
		end(state);
	}
}

/* What others still read stays, whatever becomes of the rest. */
static void indexes_outlive_what_follows(void **state)
{
	pursuit *p = *state;
	make_run(&p->r, 99, 8000);
	size_t half = p->r.cuts.items[p->r.cuts.n / 2];
	sonde_index *early = follow_until(p->f, &p->r, half), *late = follow_until(p->f, &p->r, p->r.m.len);
	recording_follow_free(p->f);
	p->f = NULL;
	index_free(late);
	check_fresh(early, &p->r, half);
}

/* Where the clock is read often, an index takes events for what is new and a little more, not for all. */
static void an_index_costs_what_is_new(void **state)
{
	pursuit *p = *state;
	uint64_t most = 0, n = 0;
	make_run(&p->r, 7, 60000);
	for (size_t i = p->r.cuts.n / 2; i < p->r.cuts.n; i += 10) {
		index_free(follow_until(p->f, &p->r, p->r.cuts.items[i]));
		most = n++ && recording_follow_cost(p->f) > most ? recording_follow_cost(p->f) : most;
	}
	assert_true(n > 20);
	assert_true(most < 6000);
}

/* One that is behind reads a part at a time, and knows how much is left. */
static void it_catches_up_in_parts(void **state)
{
	pursuit *p = *state;
	make_run(&p->r, 8, 20000);
	uint64_t before = UINT64_MAX, left = UINT64_MAX - 1, n = 0;
	for (; left < before; n++) {
		recording *t = open_until(&p->r, p->r.m.len);
		before = left;
		assert_int_equal(recording_follow_read(p->f, t, 1000, &left, NULL), 0);
		assert_true(recording_follow_cost(p->f) < 4000); /* whole blocks */
		recording_free(t);
	}
	assert_true(n > 5);
	assert_true(left < 2000); /* behind the last reading of the clock */
	check_now(p);
	assert_true(recording_follow_cost(p->f) <= 2 * left);
}

static void begin_small(random_run *r)
{
	*r = (random_run){ .ticks = 1000, .step_kind = NAME_STEP };
	put_stream(r, 0);
	for (int i = 0; i < 300; i++) {
		put(r, 0, 0, (made_event){ .code = SCOPE });
		put(r, 0, 0, (made_event){ .code = END | SCOPE });
	}
	flush(r, 0, 0);
	put_clock(r, 0);
	put_clock(r, 0);
}

/* A name that becomes known after its events. */
static void names_may_come_late(void **state)
{
	pursuit *p = *state;
	random_run *r = &p->r;
	begin_small(r);
	put(r, 0, 0, (made_event){ .code = LATE });
	put(r, 0, 0, (made_event){ .code = END | LATE });
	flush(r, 0, 0);
	put_clock(r, 0);
	check_now(p);
	make_name(&r->m, LATE, NAME_SCOPE, "late");
	check_now(p);
}

/* Notes may come from any thread, before and after the operation's end. */
static void notes_on_operations_are_found(void **state)
{
	pursuit *p = *state;
	random_run *r = &p->r;
	begin_small(r);
	check_now(p);
	put(r, 0, 1,
	    (made_event){
		    .code = EVENT_OP_BEGIN, .n_words = 7, .words = { 5, OP, 0, 0, 3, make_text("f32"), UINT64_MAX } });
	put(r, 0, 0,
	    (made_event){
		    .code = EVENT_OP_META, .n_words = 5, .words = { 5, 3, make_text("key"), 5, make_text("value") } });
	put(r, 0, 1, (made_event){ .code = EVENT_OP_END, .n_words = 1, .words = { 5 } });
	flush(r, 0, 0);
	flush(r, 0, 1);
	check_now(p);
	put_clock(r, 0);
	check_now(p);
}

/* Another recording under the same name. */
static void another_recording_begins_anew(void **state)
{
	pursuit *p = *state;
	random_run other;
	make_run(&p->r, 21, 3000);
	make_run(&other, 22, 3000);
	check_now(p);
	check_until(p->f, &other, other.m.len);
	check_until(p->f, &p->r, p->r.cuts.items[p->r.cuts.n / 3]);
	run_done(&other);
}

/* ---- A program that runs ----------------------------------------------------------------------------------------- */

static void *run_thread(void *context)
{
	atomic_bool *stop = context;

	for (int64_t step = 0; !atomic_load(stop) && step < 6000; step++) {
		SONDE_STEP(step);
		for (int i = 0; i < 5; i++) {
			SONDE_SCOPE("layer");
			SONDE_SCOPE("matmul");
			SONDE_COUNTER("loss", (double)i);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return NULL;
}

static void run_program(const char *path, atomic_bool *stop)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	pthread_t threads[3];

	if (sonde_start(&config, NULL))
		_exit(1);
	for (size_t i = 0; i < 3; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, stop) != 0)
			_exit(1);
		nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	}
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	exit(sonde_stop(NULL) ? 1 : 0);
}

/* With its ring, and events that move from there to the file. Checksums of what was read before are not looked at
   again, which must not be seen either. */
static void a_program_that_runs_is_followed(void **state)
{
	(void)state;
	const char *path = temp_path("live.sonde");
	atomic_bool *stop = mmap(NULL, sizeof *stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	recording_follow *f = recording_follow_new();
	recording *before = NULL;
	pid_t child = fork();

	if (child == 0)
		run_program(path, stop);
	size_t n = 0, n_partly = 0;
	for (int i = 0; n < 14 && i < 200; i++) {
		recording_source source = { .path = path, .before = before };
		recording *t = NULL;
		sonde_index *followed = NULL, *fresh = NULL;
		nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
		if (recording_open(&source, 1, &t, NULL))
			continue; /* it has not begun */
		n++;
		assert_int_equal(recording_follow_index(f, t, NULL, NULL, &followed, NULL), 0);
		assert_int_equal(recording_build_index(t, 1, &fresh, NULL), 0);
		assert_same(followed, fresh);
		n_partly += recording_follow_cost(f) < t->diagnostics.n_kept;
		index_free(followed);
		index_free(fresh);
		recording_free(before);
		before = t;
	}
	assert_non_null(before);
	assert_true(before->streams.items[0].live);
	assert_true(n_partly > 0);
	atomic_store(stop, true);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	recording_free(before);
	recording_follow_free(f);
	munmap(stop, sizeof *stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_runs_is_followed),
		cmocka_unit_test(an_index_that_follows_is_the_same_as_a_fresh_one),
		cmocka_unit_test_setup_teardown(indexes_outlive_what_follows, begin, end),
		cmocka_unit_test_setup_teardown(an_index_costs_what_is_new, begin, end),
		cmocka_unit_test_setup_teardown(it_catches_up_in_parts, begin, end),
		cmocka_unit_test_setup_teardown(names_may_come_late, begin, end),
		cmocka_unit_test_setup_teardown(notes_on_operations_are_found, begin, end),
		cmocka_unit_test_setup_teardown(another_recording_begins_anew, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
