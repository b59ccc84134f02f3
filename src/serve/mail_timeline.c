/*
 * A timeline as a page. Slices lie in it exactly, the longest ones; runs of shorter ones, as many as the budget asks
 * for, are one box each that says how many it stands for. <sonde/picture.h>; web/src/file/columns.ts reads it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/format_number.h"
#include "base/vec.h"
#include "serve/mail.h"

enum {
	SLICE_BYTES = 12, /* of a slice in base64, about */
	BUCKETS = 64 * 8, /* durations: 8 for each power of two */
	RUNS_A_LANE = 2000,
	NAME_BYTES = 1000,
};

typedef struct timeline {
	mail *m;
	const sonde_index *ix;
	const sonde_picture_options *o;
	const index_site *sites;
	int64_t from_ns, to_ns, small_ns, max_gap_ns;
	uint64_t n_shown, n_runs, n_in_runs, n_short, n_python, n_deep, n_outside;
	uint32_t *numbers; /* of sites in the page; 0: not yet, else + 1 */
	VEC(uint32_t) used;
	VEC(uint8_t) bytes;
	VEC(uint64_t) counts; /* of each lane */
	bool failed;
} timeline;

/* ---- What is shown ----------------------------------------------------------------------------------------------- */

/* A slice that is not shown is counted, once, by what keeps it out. */
static bool is_shown(timeline *t, const index_slice *s, uint32_t depth)
{
	uint64_t *why = NULL;

	if (t->o->max_depth && depth >= t->o->max_depth)
		why = &t->n_deep;
	else if (s->start_ns + s->dur_ns <= t->from_ns || s->start_ns >= t->to_ns)
		why = &t->n_outside;
	else if (t->o->no_python && t->sites[s->site].class == CLASS_PYTHON)
		why = &t->n_python;
	else if (s->dur_ns < t->o->min_ns)
		why = &t->n_short;
	*(why ? why : &t->n_shown) += 1;
	return !why;
}

static unsigned bucket_of(int64_t ns)
{
	uint64_t value = (uint64_t)ns;

	if (value < 8)
		return (unsigned)value;
	unsigned top = 63 - (unsigned)__builtin_clzll(value);
	return (top - 2) * 8 + (unsigned)(value >> (top - 3) & 7);
}

static int64_t bucket_start(unsigned bucket)
{
	return bucket < 8 ? bucket : (int64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

typedef void slice_fn(timeline *t, const index_slice *s, void *context);

static void each_slice(timeline *t, uint32_t lane, lane_cursor *c, slice_fn *fn, void *context)
{
	size_t n;
	const index_lane *l = &index_lanes(t->ix, &n)[lane];
	index_slice s;

	lane_first(c, t->ix, lane, 0);
	while (lane_next(c, &s))
		if (is_shown(t, &s, l->depth))
			fn(t, &s, context);
}

static void count_one(timeline *t, const index_slice *s, void *context)
{
	(void)t;
	((uint64_t *)context)[bucket_of(s->dur_ns)]++;
}

static void forget_counts(timeline *t)
{
	t->n_shown = t->n_short = t->n_python = t->n_deep = t->n_outside = 0;
}

/* The duration from which on slices fit into the budget one by one. */
static void choose_small(timeline *t, lane_cursor *c, size_t n_lanes)
{
	uint64_t counts[BUCKETS] = { 0 }, budget = t->o->max_bytes / SLICE_BYTES, n = 0;
	unsigned bucket = BUCKETS;

	for (uint32_t lane = 0; lane < n_lanes; lane++)
		each_slice(t, lane, c, count_one, counts);
	while (bucket > 0 && n + counts[bucket - 1] <= budget / 2)
		n += counts[--bucket];
	/* All of them, when that is possible; else half of it is for the runs between them. */
	bool all = t->n_shown <= budget;
	t->small_ns = t->o->small_ns > 0 ? t->o->small_ns : 0;
	if (!all && bucket < BUCKETS && bucket_start(bucket) > t->small_ns)
		t->small_ns = bucket_start(bucket);
	forget_counts(t);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static void put_number(timeline *t, uint64_t value)
{
	do {
		uint8_t *to = VEC_ADD(&t->bytes);
		if (!to) {
			t->failed = true;
			return;
		}
		*to = (uint8_t)(value & 127) | (value > 127 ? 128 : 0);
		value >>= 7;
	} while (value);
}

static uint32_t number_of(timeline *t, uint32_t site)
{
	if (!t->numbers[site]) {
		uint32_t *place = VEC_ADD(&t->used);
		if (!place) {
			t->failed = true;
			return 0;
		}
		*place = site;
		t->numbers[site] = (uint32_t)t->used.n;
	}
	return t->numbers[site] - 1;
}

/* Short slices on their way into one box. */
typedef struct run {
	int64_t last_ns; /* where the box before began */
	uint64_t n, n_boxes;
	int64_t start_ns, end_ns, busy_ns, longest_ns;
	uint32_t site; /* of the longest */
} run;

static void put_box(timeline *t, run *r, int64_t start_ns, int64_t dur_ns, uint32_t site)
{
	put_number(t, (uint64_t)(start_ns - r->last_ns));
	put_number(t, (uint64_t)dur_ns);
	put_number(t, (uint64_t)number_of(t, site) * 2 + (r->n > 1));
	if (r->n > 1) {
		put_number(t, r->n);
		put_number(t, (uint64_t)r->busy_ns);
		t->n_runs++;
		t->n_in_runs += r->n;
	}
	r->last_ns = start_ns;
	r->n_boxes++;
	r->n = 0;
}

static void end_run(timeline *t, run *r)
{
	if (r->n)
		put_box(t, r, r->start_ns, r->end_ns - r->start_ns, r->site);
}

static void add_one(timeline *t, const index_slice *s, void *context)
{
	run *r = context;

	if (s->dur_ns >= t->small_ns) {
		end_run(t, r);
		put_box(t, r, s->start_ns, s->dur_ns, s->site);
		return;
	}
	int64_t gap_ns = s->start_ns - r->end_ns;
	if (r->n && gap_ns > t->max_gap_ns && gap_ns > t->small_ns)
		end_run(t, r);
	if (!r->n)
		*r = (run){ .last_ns = r->last_ns, .n_boxes = r->n_boxes, .start_ns = s->start_ns, .longest_ns = -1 };
	r->n++;
	r->end_ns = s->start_ns + s->dur_ns;
	r->busy_ns += s->dur_ns;
	if (s->dur_ns > r->longest_ns) {
		r->longest_ns = s->dur_ns;
		r->site = s->site;
	}
}

static void put_lanes(timeline *t, lane_cursor *c, size_t n_lanes)
{
	for (uint32_t lane = 0; lane < n_lanes && !t->failed; lane++) {
		run r = { .last_ns = index_start_ns(t->ix) };
		uint64_t *n = VEC_ADD(&t->counts);
		each_slice(t, lane, c, add_one, &r);
		end_run(t, &r);
		t->failed |= !n;
		if (n)
			*n = r.n_boxes;
	}
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void put_heads(timeline *t, json_writer *w)
{
	size_t n;
	const index_lane *lanes = index_lanes(t->ix, &n);

	put_list(w, "lanes");
	for (size_t i = 0; i < t->counts.n; i++) {
		json_begin_object(w);
		put_u64(w, "lane", i);
		put_u64(w, "track", lanes[i].track);
		put_u64(w, "depth", lanes[i].depth);
		put_u64(w, "group", lanes[i].group);
		put_u64(w, "n", t->counts.items[i]);
		put_u64(w, "first_slice", lanes[i].first_slice);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_base64(timeline *t, json_writer *w)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = t->bytes.n, len = 0;
	char *text = malloc(n / 3 * 4 + 8);

	for (size_t i = 0; text && i < n; i += 3) {
		uint32_t three = (uint32_t)t->bytes.items[i] << 16 | (i + 1 < n ? t->bytes.items[i + 1] << 8 : 0) |
				 (i + 2 < n ? t->bytes.items[i + 2] : 0);
		for (unsigned k = 0; k < 4; k++)
			text[len++] = i + k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
	}
	json_key(w, "bytes");
	json_stringn(w, text ? text : "", len);
	t->failed |= !text;
	free(text);
}

/* A name may be longer than the budget. */
static void put_cut(json_writer *w, const char *key, const char *text)
{
	size_t len = strnlen(text, NAME_BYTES);

	while (len == NAME_BYTES && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	json_key(w, key);
	json_stringn(w, text, len);
}

static void put_sites(timeline *t, json_writer *w)
{
	json_key(w, "/sessions/1/sites");
	json_begin_object(w);
	put_u64(w, "total", t->used.n);
	put_list(w, "sites");
	for (size_t i = 0; i < t->used.n; i++) {
		const index_site *s = &t->sites[t->used.items[i]];
		json_begin_object(w);
		put_cut(w, "name", index_text(t->ix, s->name));
		put_cut(w, "category", index_text(t->ix, s->category));
		put_text(w, "class", class_name(s->class));
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

/* What the page asks for and the file does not hold. */
static void put_empty(json_writer *w, const char *path, const char *member)
{
	json_key(w, path);
	json_begin_object(w);
	put_list(w, member);
	json_end_array(w);
	json_end_object(w);
}

static void put_count(timeline *t, uint64_t n, const char *what)
{
	char count[NUMBER_TEXT];

	if (n)
		mail_note(t->m, "%s %s.", format_count(count, n), what);
}

static void put_note(timeline *t)
{
	char shown[NUMBER_TEXT], all[NUMBER_TEXT], runs[NUMBER_TEXT], in_runs[NUMBER_TEXT], small[NUMBER_TEXT];

	mail_note(t->m, "%s of %s slices.", format_count(shown, t->n_shown), format_count(all, index_n_slices(t->ix)));
	if (t->n_runs)
		mail_note(t->m, "%s shorter than %s are shown as %s boxes.", format_count(in_runs, t->n_in_runs),
			  format_ns(small, t->small_ns), format_count(runs, t->n_runs));
	put_count(t, t->n_short, "are left out because they are too short");
	put_count(t, t->n_python, "are Python's");
	put_count(t, t->n_deep, "lie too deep");
	put_count(t, t->n_outside, "lie outside of the steps");
	mail_note(t->m, "Without arguments, arrows and counters. Written by sonde " SONDE_VERSION ".");
}

static void put_answers(timeline *t)
{
	json_writer *w = &t->m->data;

	mail_answer(t->m, "/sessions/1/tracks");
	mail_answer(t->m, "/sessions/1/steps");
	put_sites(t, w);
	put_empty(w, "/sessions/1/notes", "notes");
	put_empty(w, "/sessions/1/overlap", "ranks");
	put_empty(w, "/sessions/1/counters", "counters");
	mail_more(t->m);
	json_key(w, "slices");
	json_begin_object(w);
	put_heads(t, w);
	put_base64(t, w);
	json_end_object(w);
	put_note(t);
	t->m->failed |= t->failed;
}

/* From the first to the last of the chosen steps. */
static void choose_time(timeline *t)
{
	size_t n;
	const index_step *steps = index_steps(t->ix, &n);
	int64_t from = INT64_MAX, to = INT64_MIN;

	t->from_ns = INT64_MIN;
	t->to_ns = INT64_MAX;
	for (size_t i = 0; i < n && t->o->use_steps; i++) {
		int64_t start = index_start_ns(t->ix) + steps[i].start_ns, end = start + steps[i].dur_ns;
		if (steps[i].number < t->o->first_step || steps[i].number > t->o->last_step)
			continue;
		from = start < from ? start : from;
		to = end > to ? end : to;
	}
	if (t->o->use_steps) {
		t->from_ns = from;
		t->to_ns = to;
	}
	t->max_gap_ns = (index_end_ns(t->ix) - index_start_ns(t->ix)) / RUNS_A_LANE;
}

sonde_status sonde_timeline_write(const sonde_trace *trace, const sonde_picture_options *options, FILE *out,
				  sonde_error *err)
{
	mail m;
	sonde_status status = mail_begin(&m, trace, options, err);
	size_t n_sites, n_lanes;

	if (status)
		return status;
	timeline t = { .m = &m, .ix = m.ix, .o = &m.options, .sites = index_sites(m.ix, &n_sites) };
	lane_cursor *c = malloc(sizeof *c);
	t.numbers = calloc(n_sites + 1, sizeof *t.numbers);
	t.failed = !c || !t.numbers;
	index_lanes(m.ix, &n_lanes);
	choose_time(&t);
	if (!t.failed) {
		choose_small(&t, c, n_lanes);
		put_lanes(&t, c, n_lanes);
	}
	put_answers(&t);
	free(c);
	free(t.numbers);
	VEC_DONE(&t.used);
	VEC_DONE(&t.bytes);
	VEC_DONE(&t.counts);
	return mail_end(&m, "timeline", out, err);
}
