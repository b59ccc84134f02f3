/*
 * A timeline as a page. Slices lie in it exactly, the longest ones; runs of shorter ones, as many as the budget asks
 * for, are one box each that says how many it stands for. <sonde/picture.h>; web/src/file/columns.ts reads it.
 *
 * Of the budget a half is for slices. A quarter, and what they leave of theirs, is for arguments, the longest slices'
 * first: so boxes are made twice, to know what they take. Names, tracks and steps (part.h), arrows, instants,
 * counters and overlap share the rest. Where all are there and it is too much, picture_write() does it again with less.
 */
#include "picture/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/format_number.h"

enum {
	SLICE_BYTES = 12, /* of a slice in base64, about */
	BUCKETS = 64 * 8, /* durations: 8 for each power of two */
	RUNS_A_LANE = 2000,
	RUN_BYTES = 20, /* in base64, about */
	NAME_BYTES = 1000,
	NAME_LEAST = 60,
	SITE_BYTES = 120, /* with a short name */
	POINT_BYTES = 40, /* of a counter in a pixel, about; of a rank's overlap */
	POINTS_MAX = 4000,
	POINTS_MIN = 10,
};

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

	if (!t->m->part.lanes[lane]) {
		t->n_elsewhere += l->n_slices;
		return;
	}
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
	t->n_shown = t->n_short = t->n_python = t->n_deep = t->n_outside = t->n_elsewhere = 0;
}

/* The duration from which on slices fit into the budget one by one. */
static void choose_small(timeline *t, lane_cursor *c, size_t n_lanes)
{
	uint64_t counts[BUCKETS] = { 0 }, budget = t->o->max_bytes / 2 / SLICE_BYTES, n = 0;
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

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

uint32_t timeline_site(timeline *t, uint32_t site)
{
	bool has_room = t->used.n < t->n_sites_max && (!t->named || t->named[site]);
	bool is_named = has_room || t->numbers[site];
	uint32_t *number = is_named ? &t->numbers[site] : &t->others;

	if (!*number) {
		uint32_t *place = VEC_ADD(&t->used);
		if (!place) {
			t->failed = true;
			return 0;
		}
		*place = is_named ? site : TIMELINE_OTHERS;
		*number = (uint32_t)t->used.n;
	}
	return *number - 1;
}

typedef struct site_time {
	int64_t total_ns;
	uint32_t site;
} site_time;

static int compare_times(const void *a, const void *b)
{
	const site_time *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->site < y->site ? -1 : 1;
}

/* Of the names that boxes have those stay that take the most time, as many as the budget has room for. */
static void choose_sites(timeline *t)
{
	size_t n = t->used.n, n_sites;
	site_time *all = malloc((n + 1) * sizeof *all);

	index_sites(t->ix, &n_sites);
	t->n_sites_max = t->o->max_bytes / 8 / SITE_BYTES;
	t->named = n > t->n_sites_max ? calloc(n_sites, 1) : NULL;
	t->failed |= !all || (n > t->n_sites_max && !t->named);
	for (size_t i = 0; !t->failed && i < n; i++)
		all[i] = (site_time){ t->sites[t->used.items[i]].total_ns, t->used.items[i] };
	if (!t->failed && n)
		qsort(all, n, sizeof *all, compare_times);
	for (size_t i = 0; !t->failed && t->named && i < t->n_sites_max; i++)
		t->named[all[i].site] = 1;
	free(all);
	memset(t->numbers, 0, n_sites * sizeof *t->numbers);
	t->used.n = 0;
}

static void put_number(timeline *t, uint64_t value)
{
	t->failed |= !picture_number(&t->bytes, value);
}

/* Short slices on their way into one box. */
typedef struct run {
	uint64_t first_box;
	int64_t last_ns; /* where the box before began */
	uint64_t n, n_boxes;
	int64_t start_ns, end_ns, busy_ns, longest_ns;
	uint32_t site; /* of the longest */
	uint64_t slice;
	uint32_t args; /* of the only one */
} run;

/* Slices that are alone in their box keep their number, for arrows, and perhaps their arguments. */
static bool keep_one(timeline *t, run *r, int64_t dur_ns)
{
	kept_slice *kept = VEC_ADD(&t->kept);

	t->failed |= !kept;
	if (kept)
		*kept = (kept_slice){ r->slice, r->first_box + r->n_boxes };
	bool has_args = r->args && dur_ns >= t->args_ns && picture_args_put(&t->args, r->args);
	t->n_with_args += r->args != 0;
	t->n_args_kept += has_args;
	return has_args;
}

static void put_box(timeline *t, run *r, int64_t start_ns, int64_t dur_ns, uint32_t site)
{
	bool is_several = r->n > 1, has_args = !is_several && keep_one(t, r, dur_ns);

	put_number(t, (uint64_t)(start_ns - r->last_ns));
	put_number(t, (uint64_t)dur_ns);
	put_number(t, (uint64_t)timeline_site(t, site) * 4 + 2 * has_args + is_several);
	if (is_several) {
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
	int64_t gap_ns = s->start_ns - r->end_ns;

	/* A lane has so many places: a longer run would hide where the busy ones are. */
	int64_t far_ns = t->max_gap_ns > t->small_ns ? t->max_gap_ns : t->small_ns;
	bool is_far = gap_ns > far_ns || r->end_ns - r->start_ns > far_ns;
	if (r->n && (s->dur_ns >= t->small_ns || is_far))
		end_run(t, r);
	if (!r->n)
		*r = (run){ .first_box = r->first_box,
			    .last_ns = r->last_ns,
			    .n_boxes = r->n_boxes,
			    .start_ns = s->start_ns,
			    .longest_ns = -1,
			    .slice = s->id,
			    .args = s->args };
	r->n++;
	r->end_ns = s->start_ns + s->dur_ns;
	r->busy_ns += s->dur_ns;
	if (s->dur_ns > r->longest_ns) {
		r->longest_ns = s->dur_ns;
		r->site = s->site;
	}
	if (s->dur_ns >= t->small_ns)
		end_run(t, r);
}

static void put_lanes(timeline *t, lane_cursor *c, size_t n_lanes)
{
	const index_lane *lanes = index_lanes(t->ix, &n_lanes);

	for (uint32_t lane = 0; lane < n_lanes && !t->failed; lane++) {
		run r = { .last_ns = index_start_ns(t->ix), .first_box = lanes[lane].first_slice };
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
		if (!t->m->part.lanes[i])
			continue;
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

/* A name may be longer than the budget. */
static void put_cut(timeline *t, json_writer *w, const char *key, uint32_t string, size_t max)
{
	size_t len;
	const char *text = index_textn(t->ix, string, &len);

	json_key(w, key);
	put_name(w, text, len, max);
}

static void put_others(json_writer *w)
{
	put_text(w, "name", "(a name that is not in this page)");
	put_text(w, "category", "");
	put_text(w, "class", class_name(CLASS_OTHER));
}

static void put_sites(timeline *t, json_writer *w)
{
	uint64_t each = t->o->max_bytes / 8 / (t->used.n ? t->used.n : 1);
	size_t max = each > NAME_BYTES ? NAME_BYTES : each < NAME_LEAST ? NAME_LEAST : (size_t)each;

	json_key(w, "/sessions/1/sites");
	json_begin_object(w);
	put_u64(w, "total", t->used.n);
	put_list(w, "sites");
	for (size_t i = 0; i < t->used.n; i++) {
		const index_site *s = t->used.items[i] == TIMELINE_OTHERS ? NULL : &t->sites[t->used.items[i]];
		json_begin_object(w);
		if (s) {
			put_cut(t, w, "name", s->name, max);
			put_cut(t, w, "category", s->category, NAME_LEAST);
			put_text(w, "class", class_name(s->class));
		} else {
			put_others(w);
		}
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
		picture_note(t->m, "%s %s.", format_count(count, n), what);
}

static void put_kept(timeline *t, uint64_t kept, uint64_t n, const char *what)
{
	char some[NUMBER_TEXT], all[NUMBER_TEXT];

	if (kept < n)
		picture_note(t->m, "%s of %s %s.", format_count(some, kept), format_count(all, n), what);
}

static void put_note(timeline *t)
{
	char shown[NUMBER_TEXT], all[NUMBER_TEXT], runs[NUMBER_TEXT], in_runs[NUMBER_TEXT], small[NUMBER_TEXT];

	picture_note(t->m, "%s of %s slices.", format_count(shown, t->n_shown),
		     format_count(all, index_n_slices(t->ix)));
	if (t->n_runs)
		picture_note(t->m, "%s shorter than %s are shown as %s boxes.", format_count(in_runs, t->n_in_runs),
			     format_ns(small, t->small_ns), format_count(runs, t->n_runs));
	put_count(t, t->n_short, "are omitted because they are too short");
	put_count(t, t->n_python, "are Python functions");
	put_count(t, t->n_deep, "are too deep");
	put_count(t, t->n_outside, "are outside the steps");
	put_count(t, t->n_elsewhere, "are in omitted rows");
	if (t->others)
		put_count(t, t->used.n - 1, "names, those with the most time; the others share one");
	put_kept(t, t->n_args_kept, t->n_with_args, "have their arguments, the longest first");
	put_kept(t, t->n_arrows_kept, t->n_arrows, "arrows");
	put_kept(t, t->n_instants_kept, t->n_instants, "instants");
	picture_note_part(t->m);
	picture_note(t->m, "Written by sonde " SONDE_VERSION ".");
}

/* Curves over the whole page, with as many points as `n` of them may have. */
static void put_curves(timeline *t, const char *what, size_t n)
{
	char path[160];
	uint64_t points = t->o->max_bytes / 12 / POINT_BYTES / (n ? n : 1);
	int64_t from = t->o->use_steps ? t->from_ns : index_start_ns(t->ix),
		to = t->o->use_steps ? t->to_ns : index_end_ns(t->ix);

	points = points > POINTS_MAX ? POINTS_MAX : points < POINTS_MIN ? POINTS_MIN : points;
	to = to > from ? to : from + 1;
	snprintf(path, sizeof path, "/sessions/1/%s?px=%" PRIu64 "&from=%" PRId64 "&to=%" PRId64, what, points,
		 since_start(t->ix, from), since_start(t->ix, to));
	json_key(&t->m->data, what);
	json_begin_object(&t->m->data);
	put_i64(&t->m->data, "from", since_start(t->ix, from));
	put_i64(&t->m->data, "to", since_start(t->ix, to));
	picture_put(t->m, "answer", path);
	json_end_object(&t->m->data);
}

static void put_answers(timeline *t)
{
	json_writer *w = &t->m->data;
	size_t n_processes;

	index_processes(t->ix, &n_processes);
	picture_answer(t->m, "/sessions/1/tracks");
	picture_answer(t->m, "/sessions/1/steps");
	put_sites(t, w);
	put_empty(w, "/sessions/1/notes", "notes");
	picture_more(t->m);
	put_curves(t, "counters", t->m->part.n_counters);
	put_curves(t, "overlap", n_processes < PART_RANKS ? n_processes : PART_RANKS);
	json_key(w, "slices");
	json_begin_object(w);
	put_heads(t, w);
	t->failed |= !picture_base64(w, "bytes", &t->bytes);
	put_bool(w, "is_whole", !(t->n_short || t->n_python || t->n_deep || t->n_elsewhere));
	json_end_object(w);
	picture_args_write(&t->args, w, t->n_args_kept == t->n_with_args);
	timeline_write_links(t, w);
	put_note(t);
	t->m->failed |= t->failed || t->args.failed;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* What the arguments of slices take, by duration; `t->args` is one that nobody reads. */
static void weigh_args(timeline *t, const index_slice *s, void *context)
{
	uint64_t before = t->args.size;

	if (s->dur_ns >= t->small_ns && picture_args_put(&t->args, s->args))
		((uint64_t *)context)[bucket_of(s->dur_ns)] += t->args.size - before;
}

/* The duration from which on the arguments of slices fit into what is left. */
static void choose_args(timeline *t, lane_cursor *c, size_t n_lanes)
{
	uint64_t sizes[BUCKETS] = { 0 }, size = 0;
	unsigned bucket = BUCKETS;

	picture_args_init(&t->args, t->ix, 4 * t->o->max_bytes);
	for (uint32_t lane = 0; lane < n_lanes && !t->args.failed; lane++)
		each_slice(t, lane, c, weigh_args, sizes);
	while (bucket > 0 && size + sizes[bucket - 1] <= t->args_budget)
		size += sizes[--bucket];
	t->args_ns = bucket < BUCKETS ? bucket_start(bucket) : INT64_MAX;
	t->failed |= t->args.failed;
	picture_args_done(&t->args);
	picture_args_init(&t->args, t->ix, t->args_budget);
	forget_counts(t);
}

/* What is left for arguments, when all boxes are there. */
static void weigh_boxes(timeline *t, lane_cursor *c, size_t n_lanes)
{
	uint64_t half = t->o->max_bytes / 2;

	t->args_ns = INT64_MAX;
	put_lanes(t, c, n_lanes);
	uint64_t size = t->bytes.n * 4 / 3;
	t->args_budget = t->o->max_bytes / 4 + (size < half ? half - size : 0);
	t->bytes.n = t->kept.n = t->counts.n = 0;
	t->n_runs = t->n_in_runs = t->n_with_args = 0;
	forget_counts(t);
}

static void fill(timeline *t, lane_cursor *c, size_t n_lanes)
{
	uint64_t max = t->o->max_bytes;

	choose_small(t, c, n_lanes);
	weigh_boxes(t, c, n_lanes);
	choose_sites(t);
	choose_args(t, c, n_lanes);
	put_lanes(t, c, n_lanes);
	timeline_arrows(t, max / 12);
	timeline_instants(t, max / 24);
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
	uint64_t lanes = t->m->part.n_lanes ? t->m->part.n_lanes : 1, runs = t->o->max_bytes / 4 / RUN_BYTES / lanes;
	runs = runs > RUNS_A_LANE ? RUNS_A_LANE : runs < 4 ? 4 : runs;
	t->max_gap_ns = (index_end_ns(t->ix) - index_start_ns(t->ix)) / (int64_t)runs;
}

static sonde_status fill_page(picture *m, const void *context, sonde_error *err)
{
	size_t n_sites, n_lanes;
	timeline t = { .m = m, .ix = m->ix, .o = &m->options, .sites = index_sites(m->ix, &n_sites) };
	lane_cursor *c = malloc(sizeof *c);

	(void)context, (void)err;
	t.numbers = calloc(n_sites + 1, sizeof *t.numbers);
	t.n_sites_max = SIZE_MAX;
	t.failed = !c || !t.numbers;
	index_lanes(m->ix, &n_lanes);
	choose_time(&t);
	if (!t.failed)
		fill(&t, c, n_lanes);
	else
		picture_args_init(&t.args, m->ix, 0);
	put_answers(&t);
	free(c);
	free(t.numbers);
	free(t.named);
	picture_args_done(&t.args);
	VEC_DONE(&t.used);
	VEC_DONE(&t.bytes);
	VEC_DONE(&t.arrows);
	VEC_DONE(&t.instants);
	VEC_DONE(&t.counts);
	VEC_DONE(&t.kept);
	VEC_DONE(&t.per_track);
	return SONDE_OK;
}

sonde_status sonde_timeline_write(const sonde_trace *trace, const sonde_picture_options *options, FILE *out,
				  sonde_error *err)
{
	return picture_write(trace, options, "timeline", fill_page, NULL, out, err);
}
