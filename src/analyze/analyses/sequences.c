/*
 * Which kernels an operator launches, in which order, and how often: candidates for fusing.
 *
 * Operators are the outermost ones; with sequences.operator the outermost of those whose name contains it. Kernels are
 * in the order of their launches, and sequences shorter than sequences.length do not count.
 *
 * By HTA's rules an operator has to be named, only those at the smallest depth count at which there is one, and kernels
 * are in the order in which they ran.
 */
#include "analyze/tables/calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/intern.h"

static const setting_def operator_setting = { "sequences.operator", SETTING_TEXT, "",
					      "select operators whose name contains this" };
static const setting_def length_setting = { "sequences.length", SETTING_NUMBER, "3", "minimum length of a sequence" };

static const column sequence_columns[] = {
	{ "operator", "operator", CELL_STRING, 0, false }, { "rank", "rank", CELL_INTEGER, 1, false },
	{ "count", "count", CELL_COUNT, 0, false },	   { "n_kernels", "kernels", CELL_COUNT, 0, false },
	{ "kernel_ns", "kernel time", CELL_NS, 0, false }, { "host_ns", "host time", CELL_NS, 0, false },
	{ "kernels", "sequence", CELL_STRING, 0, false },
};

typedef struct sequence {
	uint32_t number; /* of found */
	uint64_t count;
	int64_t kernels, host; /* ticks */
} sequence;

typedef struct finder {
	const calls *c;
	const char *wanted;
	bool *is_wanted; /* by site */
	size_t shortest;
	intern_table found;
	VEC(sequence) sums;
	VEC(uint32_t) words;
	VEC(call_kernel) order;
} finder;

static int by_count(const void *a, const void *b)
{
	const sequence *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->kernels != y->kernels)
		return x->kernels > y->kernels ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

#define SORT_NAME sort_by_start
#define SORT_TYPE call_kernel
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

static uint32_t name_of(const finder *f, uint32_t site)
{
	return f->c->w->rows.sites[site].name;
}

static bool add_word(finder *f, uint32_t site)
{
	uint32_t *word = VEC_ADD(&f->words);

	if (word)
		*word = name_of(f, site);
	return word != NULL;
}

static bool in_order(finder *f, call_span *span)
{
	if (!f->c->w->is_hta)
		return true;
	f->order.n = 0;
	for (size_t i = 0; i < span->n; i++) {
		call_kernel *to = VEC_ADD(&f->order);
		if (!to)
			return false;
		*to = span->items[i];
	}
	span->items = f->order.items;
	return sort_by_start(f->order.items, f->order.n);
}

static bool add_call(finder *f, const calls_rank *k, uint32_t at)
{
	call_span span = call_subtree(k, at);
	int64_t ticks = 0;

	if (span.n < f->shortest || !span.n)
		return true;
	f->words.n = 0;
	bool ok = in_order(f, &span) && add_word(f, k->items[at].site);
	for (size_t i = 0; ok && i < span.n; i++) {
		ok = add_word(f, span.items[i].site);
		ticks = add_bounded(ticks, span.items[i].dur);
	}
	uint32_t number = ok ? intern_words(&f->found, f->words.items, f->words.n) : INTERN_NONE;
	if (number == INTERN_NONE)
		return false;
	sequence *sum = number < f->sums.n ? &f->sums.items[number] : VEC_ADD(&f->sums);
	if (!sum)
		return false;
	sum->number = number;
	sum->count++;
	sum->kernels = add_bounded(sum->kernels, ticks);
	sum->host = add_bounded(sum->host, k->items[at].dur);
	return true;
}

static bool is_wanted(const finder *f, const call *at)
{
	return f->is_wanted[at->site];
}

static bool mark_sites(finder *f)
{
	size_t n = f->c->w ? f->c->w->rows.n_sites : 0;

	f->is_wanted = malloc(n + 1);
	for (uint32_t i = 0; f->is_wanted && i < n; i++)
		f->is_wanted[i] = *f->wanted ? strstr(call_name(f->c, i), f->wanted) != NULL : f->c->is_op[i];
	return f->is_wanted != NULL;
}

/* The depth at which HTA looks, or -1: anywhere. */
static int32_t least_depth(const finder *f, const calls_rank *k)
{
	int32_t least = INT32_MAX;

	for (size_t i = 0; f->c->w->is_hta && i < k->n; i++)
		if (k->items[i].depth < least && is_wanted(f, &k->items[i]))
			least = k->items[i].depth;
	return f->c->w->is_hta ? least : -1;
}

static bool find(void *context, const calls_rank *k)
{
	finder *f = context;
	int32_t depth = least_depth(f, k);
	bool ok = true;

	for (uint32_t i = 0; ok && i < k->n;) {
		bool wanted = is_wanted(f, &k->items[i]);
		if (wanted && (depth < 0 || k->items[i].depth == depth))
			ok = add_call(f, k, i);
		i = wanted ? k->items[i].end : i + 1;
	}
	return ok;
}

static void put(finder *f, int32_t rank, sonde_result *r, table *t)
{
	if (f->sums.n)
		qsort(f->sums.items, f->sums.n, sizeof *f->sums.items, by_count);
	for (size_t i = 0; i < f->sums.n; i++) {
		const sequence *s = &f->sums.items[i];
		size_t n;
		const uint32_t *words = intern_words_at(&f->found, s->number, &n);
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(f->c->w->rows.ix, words[0])));
		c[1] = cell_integer(rank);
		c[2] = cell_count(s->count);
		c[3] = cell_count(n - 1);
		c[4] = work_cell(f->c->w, s->kernels);
		c[5] = work_cell(f->c->w, s->host);
		c[6] = cell_string(call_names(f->c, r, words + 1, n - 1));
	}
	intern_done(&f->found);
	f->sums.n = 0;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "sequences", "Kernel sequences by operator", sequence_columns,
				sizeof sequence_columns / sizeof sequence_columns[0]);
	double shortest = setting(options, &length_setting);
	calls_parts parts = { 0 };
	finder f = { .c = w->is_hta ? calls_of(w, options) : &parts.c,
		     .wanted = setting_text(options, &operator_setting),
		     .shortest = shortest > 1 ? (size_t)shortest : 1 };
	bool ok = w->is_hta ? f.c != NULL : calls_parts_init(&parts, w);

	ok = ok && mark_sites(&f);
	for (size_t i = 0; ok && i < (w->is_hta ? f.c->n_ranks : w->n_ranks); i++) {
		int32_t rank = w->is_hta ? f.c->ranks[i].rank : w->ranks[i].rank;
		ok = w->is_hta ? find(&f, &f.c->ranks[i]) : calls_parts_each(&parts, rank, f.is_wanted, find, &f);
		if (ok)
			put(&f, rank, r, t);
	}
	limit_rows(r, t, options, "sequences");
	if (ok && t && !t->n_rows && !w->is_empty) {
		t->n_shown = 0;
		result_note_add(r, "sequences", "no operator%s%s launches %zu kernels or more",
				*f.wanted ? " with " : "", f.wanted, f.shortest);
	}
	if (ok && !w->is_hta)
		calls_parts_say_coverage(&parts, r, "sequences");
	work_differs(w, r, "sequences cover all outermost operators at any depth, with kernels in launch order");
	intern_done(&f.found);
	VEC_DONE(&f.sums);
	VEC_DONE(&f.words);
	VEC_DONE(&f.order);
	free(f.is_wanted);
	calls_parts_done(&parts);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis sequences_work = { .add = add };

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &operator_setting, &length_setting };

	return index < 2 ? all[index] : NULL;
}

const analysis sequences_analysis = {
	.name = "sequences",
	.summary = "Repeated kernel sequences of operators",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &sequences_work,
};
