/*
 * Hardware counters by the operator that launched the kernel. CUPTI's range profiler writes one row of category
 * cuda_profiler_range for each kernel; its arguments are the counters.
 *
 * These rows have neither the time nor the launch of a kernel, only an order: row n belongs to launch n. If the numbers
 * of launches and rows differ, the operators are unknown.
 */
#include "analyze/tables/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tables/op_tree.h"
#include "base/format_number.h"
#include "base/intern.h"

enum { MOST_ROWS = 1000000 }; /* of counter_kernels */

static const column counter_columns[] = {
	{ "operator", "operator", CELL_STRING, 0, false }, { "rank", "rank", CELL_INTEGER, 1, false },
	{ "counter", "counter", CELL_STRING, -1, false },  { "short", "counter", CELL_STRING, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false },  { "sum", "sum", CELL_NUMBER, 0, false },
	{ "mean", "mean", CELL_NUMBER, 1, false },	   { "max", "max", CELL_NUMBER, 2, false },
};
static const column kernel_columns[] = {
	{ "number", "number", CELL_COUNT, 2, false },	     { "name", "kernel", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },	     { "operator", "operator", CELL_STRING, 0, false },
	{ "top_operator", "within", CELL_STRING, 1, false }, { "operators", "operators", CELL_STRING, -1, false },
	{ "counter", "counter", CELL_STRING, -1, false },    { "short", "counter", CELL_STRING, 0, false },
	{ "value", "value", CELL_NUMBER, 0, false },
};

/* A range or a launch, by start and then as in the file. */
typedef struct timed {
	int64_t start;
	uint32_t args;
	uint32_t at; /* a row; of a launch by HTA's rules the call */
} timed;
typedef VEC(timed) timed_list;

/* They in order. */
typedef struct in_time {
	uint32_t *at;
	size_t n;
} in_time;

#define SORT_NAME sort_timed
#define SORT_TYPE timed
#define SORT_BEFORE(a, b) ((a)->start != (b)->start ? (a)->start < (b)->start : (a)->args < (b)->args)
#include "base/sort_template.h"

typedef struct counter_sum {
	uint32_t op, counter; /* name or WORK_NONE; of the intern table */
	uint64_t n;
	double sum, max;
} counter_sum;

typedef struct counter_cells {
	cell name, short_name;
} counter_cells;

/* The operators around a launch. */
typedef struct operator_cells {
	uint32_t op; /* the innermost: a name */
	cell cells[3];
} operator_cells;

typedef struct reader {
	const work *w;
	const calls *c;
	sonde_result *r;
	table *kernels;
	args_reader *args;
	intern_table counters;
	VEC(counter_cells) names; /* by number in counters */
	intern_table operators;
	VEC(operator_cells) around; /* by number in operators */
	const char **texts;	    /* of the result, by name; NULL: not there yet */
	intern_table found;
	VEC(counter_sum) sums;
	site_set ranges, launches;
	uint64_t n_left_out; /* of the rows of kernels */
	/* of the row that is being read */
	cell about[6];
	uint32_t op;
	bool failed;
} reader;

static bool add_timed(timed_list *to, const rows *r, uint32_t number, uint32_t at)
{
	timed *added = VEC_ADD(to);

	if (added)
		*added = (timed){ rows_at(r, number).start_ns, rows_at(r, number).args, at };
	return added != NULL;
}

/* Sorts them, and keeps of each 4 bytes of 16. */
static bool put_in_order(timed_list *all, in_time *ret)
{
	bool ok = sort_timed(all->items, all->n);
	uint32_t *at = (uint32_t *)(void *)all->items;

	for (size_t i = 0; ok && i < all->n; i++)
		memmove(&at[i], &all->items[i].at, sizeof *at);
	uint32_t *small = ok && all->n ? realloc(at, all->n * sizeof *at) : NULL;
	if (!ok) {
		free(at);
		return false;
	}
	*ret = (in_time){ small ? small : at, all->n };
	return true;
}

/* Rows of the rank whose site is in the set. Of launches those of threads that are calls, up to one more than `most`:
   then they are too many. */
static bool find_rows(const reader *m, int32_t rank, const site_set *sites, size_t most, in_time *ret)
{
	const rows *r = &m->w->rows;
	bool are_launches = sites == &m->launches, ok = true;
	timed_list all = { 0 };

	for (size_t t = 0; ok && t < r->n_tracks; t++) {
		bool is_thread = r->tracks[t].kind != TRACK_STREAM && r->tracks[t].kind != TRACK_ASYNC;
		size_t end = r->first_of_track[t + 1];
		if (track_rank(r, t) != rank || (are_launches && !is_thread))
			continue;
		for (size_t i = r->first_of_track[t]; ok && all.n <= most; i++) {
			i = i < end ? rows_next(r, sites, i) : end;
			if (i >= end)
				break;
			bool is_in = !are_launches || !(rows_at(r, i).flags & ROW_ASYNC);
			ok = !is_in || add_timed(&all, r, (uint32_t)i, (uint32_t)i);
		}
	}
	if (ok)
		return put_in_order(&all, ret);
	VEC_DONE(&all);
	return false;
}

static bool find_hta_launches(const reader *m, const calls_rank *k, in_time *ret)
{
	timed_list all = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < k->n; i++)
		if (strncmp(call_name(m->c, k->items[i].site), "cudaLaunchKernel", 16) == 0)
			ok = add_timed(&all, &m->w->rows, k->items[i].row, i);
	if (ok)
		return put_in_order(&all, ret);
	VEC_DONE(&all);
	return false;
}

/* ---- Values -------------------------------------------------------------------------------------------------------
 */

static bool number_of(const char *json, size_t len, double *ret)
{
	char text[64], *end;

	if (!len || len >= sizeof text || !strchr("-0123456789", *json))
		return false;
	memcpy(text, json, len);
	text[len] = '\0';
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

static void add_value(reader *m, uint32_t counter, double value)
{
	uint32_t key[] = { m->op, counter };
	uint32_t number = intern_words(&m->found, key, 2);
	counter_sum *s = number == INTERN_NONE ? NULL : number < m->sums.n ? &m->sums.items[number] : VEC_ADD(&m->sums);

	m->failed |= !s;
	if (!s)
		return;
	if (!s->n)
		*s = (counter_sum){ m->op, counter, 0, 0, -INFINITY };
	s->n++;
	s->sum += value;
	s->max = value > s->max ? value : s->max;
}

/* For people: the instruction of smsp__sass_thread_inst_executed_op_ffma_pred_on.sum, else all of it. */
static cell short_name(sonde_result *r, const char *counter)
{
	const char *op = strstr(counter, "inst_executed_op_"), *end = op ? strstr(op, "_pred_on") : NULL;

	return cell_string(end ? result_format(r, "%.*s", (int)(end - op - 17), op + 17) : result_string(r, counter));
}

/* The number of a counter, whose cells are made when it is new; INTERN_NONE when out of memory. */
static uint32_t counter_of(reader *m, const char *key, size_t key_len)
{
	uint32_t counter = intern(&m->counters, key, key_len);
	counter_cells *to = counter == INTERN_NONE || counter < m->names.n ? NULL : VEC_ADD(&m->names);

	if (counter == m->names.n)
		return INTERN_NONE;
	if (to)
		*to = (counter_cells){ cell_string(result_string(m->r, intern_text(&m->counters, counter))),
				       short_name(m->r, intern_text(&m->counters, counter)) };
	return counter;
}

static void read_counter(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	reader *m = context;
	double value;

	if (!number_of(json, len, &value))
		return;
	uint32_t counter = counter_of(m, key, key_len);
	if (counter == INTERN_NONE) {
		m->failed = true;
		return;
	}
	add_value(m, counter, value);
	if (m->kernels && m->kernels->n_rows >= MOST_ROWS) {
		m->n_left_out++;
		return;
	}
	cell *c = table_row(m->r, m->kernels, 0);
	memcpy(c, m->about, sizeof m->about);
	c[6] = m->names.items[counter].name;
	c[7] = m->names.items[counter].short_name;
	c[8] = cell_number(value);
}

/* The site of a call, and the call around it; numbers are those of timed.at. */
static uint32_t site_of(const reader *m, const calls_rank *k, uint32_t at)
{
	return k ? k->items[at].site : rows_at(&m->w->rows, at).site;
}
static uint32_t call_around(const reader *m, const calls_rank *k, uint32_t at)
{
	const rows *r = &m->w->rows;

	if (k)
		return k->items[at].parent;
	do
		at = rows_at(r, at).parent;
	while (at != ROW_NONE && rows_at(r, at).flags & ROW_ASYNC);
	return at;
}
_Static_assert(ROW_NONE == CALL_NONE, "one end for both");

/* Texts are in the result once, however many rows have them. */
static cell name_cell(reader *m, uint32_t name)
{
	if (name >= index_n_strings(m->w->rows.ix))
		return cell_string(result_string(m->r, index_text(m->w->rows.ix, name)));
	if (!m->texts[name])
		m->texts[name] = result_string(m->r, index_text(m->w->rows.ix, name));
	return cell_string(m->texts[name]);
}

typedef VEC(uint32_t) name_list;

/* The names of the operators around a launch, the outermost first. */
static bool list_operators(const reader *m, const calls_rank *k, uint32_t at, name_list *names)
{
	for (; at != CALL_NONE; at = call_around(m, k, at)) {
		uint32_t site = site_of(m, k, at);
		uint32_t *name = m->c->is_op[site] ? VEC_ADD(names) : NULL;
		if (!name && m->c->is_op[site])
			return false;
		if (name)
			*name = m->w->rows.sites[site].name;
	}
	for (size_t i = 0; i < names->n / 2; i++) {
		uint32_t last = names->items[names->n - 1 - i];
		names->items[names->n - 1 - i] = names->items[i];
		names->items[i] = last;
	}
	return true;
}

static bool tell_operators(reader *m, const calls_rank *k, uint32_t at)
{
	name_list names = { 0 };
	bool ok = list_operators(m, k, at, &names);
	uint32_t number = ok && names.n ? intern_words(&m->operators, names.items, names.n) : INTERN_NONE;

	ok = ok && (!names.n || number != INTERN_NONE);
	if (ok && names.n && number == m->around.n) {
		operator_cells *to = VEC_ADD(&m->around);
		ok = to != NULL;
		if (to) {
			to->op = names.items[names.n - 1];
			to->cells[0] = name_cell(m, to->op);
			to->cells[1] = name_cell(m, names.items[0]);
			to->cells[2] = cell_string(call_names(m->c, m->r, names.items, names.n));
		}
	}
	if (ok && names.n) {
		m->op = m->around.items[number].op;
		memcpy(&m->about[3], m->around.items[number].cells, sizeof m->around.items[number].cells);
	}
	VEC_DONE(&names);
	return ok;
}

/* k: by HTA's rules; else NULL. */
static bool read_rank(reader *m, int32_t rank, const calls_rank *k, size_t *ret_unknown)
{
	const rows *r = &m->w->rows;
	in_time ranges = { 0 }, launches = { 0 };
	bool ok = find_rows(m, rank, &m->ranges, SIZE_MAX - 1, &ranges) &&
		  (k ? find_hta_launches(m, k, &launches) : find_rows(m, rank, &m->launches, ranges.n, &launches));
	bool same = ranges.n == launches.n;

	for (size_t i = 0; ok && i < ranges.n; i++) {
		const row *at = ROW_AT(r, ranges.at[i]);
		m->op = WORK_NONE;
		for (size_t j = 0; j < sizeof m->about / sizeof m->about[0]; j++)
			m->about[j] = cell_unknown();
		m->about[0] = cell_count(i);
		m->about[1] = name_cell(m, r->sites[at->site].name);
		m->about[2] = cell_integer(rank);
		ok = !same || tell_operators(m, k, launches.at[i]);
		if (ok)
			args_each(m->args, at->args, read_counter, m);
		ok = ok && !m->failed;
	}
	*ret_unknown += same ? 0 : ranges.n;
	free(ranges.at);
	free(launches.at);
	return ok;
}

/* ---- Sums ---------------------------------------------------------------------------------------------------------
 */

static int by_sum(const void *a, const void *b)
{
	const counter_sum *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void put(reader *m, int32_t rank, table *t)
{
	if (m->sums.n)
		qsort(m->sums.items, m->sums.n, sizeof *m->sums.items, by_sum);
	for (size_t i = 0; i < m->sums.n; i++) {
		const counter_sum *s = &m->sums.items[i];
		cell *c = table_row(m->r, t, 0);
		if (s->op != WORK_NONE)
			c[0] = name_cell(m, s->op);
		c[1] = cell_integer(rank);
		c[2] = m->names.items[s->counter].name;
		c[3] = m->names.items[s->counter].short_name;
		c[4] = cell_count(s->n);
		c[5] = cell_number(s->sum);
		c[6] = cell_number(s->sum / (double)s->n);
		c[7] = cell_number(s->max);
	}
	intern_done(&m->found);
	m->sums.n = 0;
}

/* How many sites are ranges; SIZE_MAX when out of memory. */
static size_t mark_sites(reader *m)
{
	const rows *r = &m->w->rows;
	size_t n = 0;

	if (!site_set_init(&m->ranges, r) || !site_set_init(&m->launches, r))
		return SIZE_MAX;
	for (uint32_t i = 0; i < r->n_sites; i++) {
		if (strcmp(index_text(r->ix, r->sites[i].category), "cuda_profiler_range") == 0) {
			site_set_add(&m->ranges, i);
			n++;
		}
		if (r->sites[i].class == CLASS_RUNTIME && strstr(index_text(r->ix, r->sites[i].name), "LaunchKernel"))
			site_set_add(&m->launches, i);
	}
	return n;
}

/* Most traces have no ranges. */
static bool read_ranges(reader *m, const sonde_analyze_options *options, table *t, size_t *ret_unknown)
{
	calls ours = { .w = m->w };
	bool ok = (m->args = args_reader_new(m->w->rows.ix)) &&
		  (m->texts = calloc(index_n_strings(m->w->rows.ix) + 1, sizeof *m->texts));

	m->c = m->w->is_hta ? calls_of(m->w, options) : &ours;
	if (!m->w->is_hta)
		ok = ok && (ours.is_op = op_sites(&m->w->rows));
	for (size_t i = 0; ok && m->c && i < m->w->n_ranks; i++) {
		int32_t rank = m->w->ranks[i].rank;
		ok = read_rank(m, rank, m->w->is_hta ? &m->c->ranks[i] : NULL, ret_unknown);
		if (ok)
			put(m, rank, t);
	}
	free(ours.is_op);
	return ok && m->c;
}

static void say(const reader *m, size_t n_unknown)
{
	char number[NUMBER_TEXT];

	if (n_unknown)
		result_note_add(m->r, "counters",
				"%zu kernels have counters, but the number of launches differs: their "
				"operators are unknown",
				n_unknown);
	if (m->n_left_out)
		result_note_add(m->r, "left out",
				"%s rows of counter_kernels, which has the first million: choose steps with --steps. "
				"The sums have all",
				format_count(number, m->n_left_out));
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "counters", "Hardware counters by operator", counter_columns,
				sizeof counter_columns / sizeof counter_columns[0]);
	table *kernels = result_table(r, "counter_kernels", "Hardware counters by kernel", kernel_columns,
				      sizeof kernel_columns / sizeof kernel_columns[0]);
	reader m = { .w = w, .r = r, .kernels = kernels };
	size_t n_unknown = 0, n_sites = w->rows.ix ? mark_sites(&m) : 0;
	bool ok = n_sites != SIZE_MAX && (!n_sites || read_ranges(&m, options, t, &n_unknown));

	limit_rows(r, t, options, "operators and counters");
	limit_rows(r, kernels, options, "kernels and counters");
	if (ok && t && !t->n_rows) {
		t->n_shown = kernels->n_shown = 0;
		result_note_add(r, "counters",
				"no hardware counters: CUPTI's range profiler records them, without kernels");
	}
	say(&m, n_unknown);
	args_reader_free(m.args);
	intern_done(&m.found);
	intern_done(&m.counters);
	VEC_DONE(&m.sums);
	intern_done(&m.operators);
	VEC_DONE(&m.names);
	VEC_DONE(&m.around);
	free(m.texts);
	site_set_done(&m.ranges);
	site_set_done(&m.launches);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis counters_work = { .add = add, .needs_no_device = true };

const analysis counters_analysis = {
	.name = "counters",
	.summary = "Hardware counters by the operator that launched the kernel",
	.compat = WORK_COMPAT,
	.work = &counters_work,
};
