/* See index_again.h. Numbers of strings, sites, tracks and records are translated by tables; what is out of their range
   in a damaged file becomes none. */
#include "import/index/index_again_state.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"

enum { BATCH = 256 };

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

static bool list_ranks(index_again *a)
{
	size_t n, n_ranks = 0;
	const index_process *processes = index_processes(a->ix, &n);

	a->ranks = malloc((n ? n : 1) * sizeof *a->ranks);
	if (!a->ranks)
		return false;
	for (size_t i = 0; i < n; i++)
		a->ranks[i] = processes[i].rank < 0 ? -1 : processes[i].rank;
	qsort(a->ranks, n, sizeof *a->ranks, compare_ranks);
	for (size_t i = 0; i < n; i++)
		if (!n_ranks || a->ranks[n_ranks - 1] != a->ranks[i])
			a->ranks[n_ranks++] = a->ranks[i];
	a->n_ranks = n_ranks;
	return true;
}

index_again *index_again_open(sonde_index *ix, const char *path)
{
	index_again *a = calloc(1, sizeof *a);

	if (!a) {
		index_free(ix);
		return NULL;
	}
	a->ix = ix;
	a->path = path;
	if (list_ranks(a))
		return a;
	index_again_free(a);
	return NULL;
}

static void free_tables(index_again *a)
{
	free(a->strings);
	free(a->sites);
	free(a->tracks);
	free(a->records);
	free(a->templates);
	free(a->texts);
	free(a->correlated);
	a->strings = a->sites = a->tracks = a->records = a->templates = a->texts = NULL;
	a->correlated = NULL;
}

void index_again_free(index_again *a)
{
	if (!a)
		return;
	free_tables(a);
	free(a->ranks);
	index_free(a->ix);
	free(a);
}

const int32_t *index_again_ranks(const index_again *a, size_t *ret_n)
{
	*ret_n = a->n_ranks;
	return a->ranks;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

uint32_t again_string(index_again *a, uint32_t string)
{
	size_t len;

	if (string >= index_n_strings(a->ix))
		return INDEX_NONE;
	if (!a->strings[string]) {
		const char *text = index_textn(a->ix, string, &len);
		a->strings[string] = builder_string(a->builder, text, len) + 1;
	}
	return a->strings[string] - 1;
}

static uint32_t translated(const uint32_t *table, uint64_t n, int64_t number)
{
	return number >= 0 && (uint64_t)number < n ? table[number] : INDEX_NONE;
}

uint32_t again_site(const index_again *a, int64_t site)
{
	size_t n;

	index_sites(a->ix, &n);
	return translated(a->sites, n, site);
}

uint32_t again_track(const index_again *a, int64_t track)
{
	size_t n;

	index_tracks(a->ix, &n);
	return translated(a->tracks, n, track);
}

uint32_t again_record(const index_again *a, int64_t args)
{
	uint32_t record = args > 0 ? translated(a->records, index_n_rows(a->ix, SECTION_ARGS), args - 1) : 0;

	return record == INDEX_NONE ? 0 : record;
}

bool again_tell(index_again *a, uint64_t rows)
{
	a->done += rows;
	if (!a->stopped)
		a->stopped = a->progress && !a->progress(a->context, a->done, a->total);
	return !a->stopped;
}

/* ---- Sites, processes, tracks ------------------------------------------------------------------------------------ */

static void feed_sites(index_again *a)
{
	size_t n;
	const index_site *sites = index_sites(a->ix, &n);

	for (size_t i = 0; i < n; i++)
		a->sites[i] = builder_site(
			a->builder, again_string(a, sites[i].name), again_string(a, sites[i].category),
			sites[i].class < CLASS_KINDS ? (site_class)sites[i].class : CLASS_OTHER, sites[i].kind);
}

static uint32_t file_of(const index_again *a, uint32_t first_file, int32_t rank)
{
	int32_t key = rank < 0 ? -1 : rank;
	const int32_t *at = bsearch(&key, a->ranks, a->n_ranks, sizeof key, compare_ranks);

	return first_file + (uint32_t)(at ? at - a->ranks : 0);
}

static uint32_t feed_process(index_again *a, uint32_t first_file, const index_process *p)
{
	uint32_t name = again_string(a, p->name), labels = again_string(a, p->labels);
	uint32_t number =
		builder_process(a->builder, file_of(a, first_file, p->rank), p->pid, again_string(a, p->pid_text));
	index_process *to = builder_process_of(a->builder, number);

	to->name = name;
	to->labels = labels;
	to->sort = p->sort;
	to->device = p->device;
	return number;
}

static bool feed_tracks(index_again *a, uint32_t first_file)
{
	size_t n_processes, n;
	const index_process *processes = index_processes(a->ix, &n_processes);
	const index_track *tracks = index_tracks(a->ix, &n);
	uint32_t *numbers = malloc((n_processes + 1) * sizeof *numbers);

	if (!numbers)
		return false;
	for (size_t i = 0; i < n_processes; i++)
		numbers[i] = feed_process(a, first_file, &processes[i]);
	for (size_t i = 0; i < n; i++) {
		const index_track *t = &tracks[i];
		uint32_t process = translated(numbers, n_processes, t->process), name = again_string(a, t->name);
		a->tracks[i] = INDEX_NONE;
		if (process == INDEX_NONE || t->kind >= TRACK_KINDS)
			continue;
		a->tracks[i] = builder_track(a->builder, (track_kind)t->kind, process, t->id,
					     again_string(a, t->id_text), again_string(a, t->category));
		index_track *to = builder_track_of(a->builder, a->tracks[i]);
		to->name = name;
		to->sort = t->sort;
		to->device = t->device;
	}
	free(numbers);
	return true;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* All records in their order: each can only be read after those before it. */
static uint32_t copy_record(index_again *a, args_reader *r, uint32_t record)
{
	static const args_template none;
	args_piece pieces[ARGS_GAPS_MAX + 1];
	int64_t values[ARGS_GAPS_MAX];
	const int64_t *gaps;
	args_template t = none;
	uint32_t number;

	if (!args_record(r, record + 1, &number, &gaps) || number >= index_n_rows(a->ix, SECTION_TEMPLATES) ||
	    !args_template_at(r, number, pieces, &t))
		return INDEX_NONE;
	if (!a->templates[number])
		a->templates[number] = builder_template(a->builder, &t) + 1;
	for (uint32_t i = 0; i < t.n_gaps; i++) {
		size_t len;
		values[i] = t.kinds[i] == ARG_INT ? gaps[i] : 0;
		if (t.kinds[i] == ARG_INT || i + 1 == t.n_args_pieces) /* the gap before the extra members is empty */
			continue;
		const char *text = args_text_at(a->ix, (uint64_t)gaps[i], &len);
		if (!text)
			return INDEX_NONE;
		if (!a->texts[gaps[i]])
			a->texts[gaps[i]] = builder_arg_text(a->builder, text, len) + 1;
		values[i] = a->texts[gaps[i]] - 1;
	}
	return builder_args(a->builder, a->templates[number] - 1, values);
}

static bool feed_args(index_again *a)
{
	uint64_t n = index_n_rows(a->ix, SECTION_ARGS);
	args_reader *r = args_reader_new(a->ix);
	bool more = r;

	for (uint64_t i = 0; more && i < n; i++) {
		a->records[i] = copy_record(a, r, (uint32_t)i);
		a->n_damaged += a->records[i] == INDEX_NONE;
		if (i % 4096 == 4095)
			more = again_tell(a, 4096);
	}
	args_reader_free(r);
	return more;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

static int compare_correlated(const void *a, const void *b)
{
	const correlated *x = a, *y = b;

	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* What a launch and its work have in common: found by the slices' numbers. */
static bool list_correlated(index_again *a)
{
	uint64_t n = index_n_rows(a->ix, SECTION_LAUNCHES);
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];

	a->correlated = malloc((size_t)(2 * n + 1) * sizeof *a->correlated);
	if (!c || !a->correlated) {
		free(c);
		return false;
	}
	table_first(c, a->ix, SECTION_LAUNCHES, 0);
	while (table_next(c, row) && a->n_correlated + 2 <= 2 * n) {
		uint64_t correlation = (uint64_t)row[LAUNCH_CORRELATION] + 1;
		a->correlated[a->n_correlated++] = (correlated){ (uint64_t)row[LAUNCH_DEVICE], correlation };
		if (row[LAUNCH_HOST])
			a->correlated[a->n_correlated++] = (correlated){ (uint64_t)row[LAUNCH_HOST] - 1, correlation };
	}
	free(c);
	qsort(a->correlated, a->n_correlated, sizeof *a->correlated, compare_correlated);
	return true;
}

/* *at moves on: slices come in the order of their numbers. */
static uint64_t correlation_of(const index_again *a, uint64_t slice, size_t *at)
{
	while (*at < a->n_correlated && a->correlated[*at].slice < slice)
		++*at;
	return *at < a->n_correlated && a->correlated[*at].slice == slice ? a->correlated[*at].correlation : 0;
}

static bool feed_lane(index_again *a, lane_cursor *c, uint32_t lane, uint32_t track, size_t *at)
{
	builder_slice batch[BATCH];
	index_slice s;
	size_t n = 0;

	lane_first(c, a->ix, lane, 0);
	while (lane_next(c, &s)) {
		uint32_t site = again_site(a, s.site);
		if (site == INDEX_NONE)
			continue;
		batch[n++] = (builder_slice){ .start_ns = s.start_ns,
					      .dur_ns = s.dur_ns,
					      .site = site,
					      .args = again_record(a, s.args),
					      .correlation = correlation_of(a, s.id, at) & (UINT64_MAX >> 8),
					      .flags = s.flags & (SLICE_IS_OPEN | SLICE_IS_REPAIRED | SLICE_IS_ASYNC) };
		if (n < BATCH)
			continue;
		builder_slices(a->builder, track, batch, n);
		if (!again_tell(a, n))
			return false;
		n = 0;
	}
	builder_slices(a->builder, track, batch, n);
	a->n_damaged += c->damaged;
	return again_tell(a, n);
}

static bool feed_slices(index_again *a)
{
	size_t n, at = 0;
	const index_lane *lanes = index_lanes(a->ix, &n);
	lane_cursor *c = malloc(sizeof *c);
	bool more = c && list_correlated(a);

	for (size_t i = 0; more && i < n; i++) {
		uint32_t track = again_track(a, lanes[i].track);
		if (track != INDEX_NONE)
			more = feed_lane(a, c, (uint32_t)i, track, &at);
	}
	free(c);
	return more;
}

static void feed_steps(index_again *a)
{
	size_t n;
	const index_step *steps = index_steps(a->ix, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t track = again_track(a, steps[i].track);
		if (track != INDEX_NONE)
			builder_step(a->builder, track, index_start_ns(a->ix) + steps[i].start_ns, steps[i].number);
	}
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool make_tables(index_again *a)
{
	static const index_kind counted[] = { SECTION_INSTANTS, SECTION_FLOWS,	SECTION_LAUNCHES,   SECTION_ALLOCATIONS,
					      SECTION_SAMPLES,	SECTION_VALUES, SECTION_COLLECTIVES };
	size_t n_sites, n_tracks, n_texts = index_n_rows(a->ix, SECTION_ARG_TEXTS);
	uint64_t n_records = index_n_rows(a->ix, SECTION_ARGS);

	index_sites(a->ix, &n_sites);
	index_tracks(a->ix, &n_tracks);
	a->strings = calloc(index_n_strings(a->ix) + 1, sizeof *a->strings);
	a->sites = calloc(n_sites + 1, sizeof *a->sites);
	a->tracks = calloc(n_tracks + 1, sizeof *a->tracks);
	a->records = n_records < UINT32_MAX ? calloc((size_t)n_records + 1, sizeof *a->records) : NULL;
	a->templates = calloc(index_n_rows(a->ix, SECTION_TEMPLATES) + 1, sizeof *a->templates);
	a->texts = calloc(n_texts + 1, sizeof *a->texts);
	a->total = index_n_slices(a->ix) + n_records;
	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		a->total += index_n_rows(a->ix, counted[i]);
	return a->strings && a->sites && a->tracks && a->records && a->templates && a->texts;
}

static void feed_diagnostics(index_again *a)
{
	size_t n;
	const index_diagnostic *diagnostics = index_diagnostics(a->ix, &n);

	for (size_t i = 0; i < n; i++) {
		const index_diagnostic *d = &diagnostics[i];
		bool is_known = d->kind < DIAGNOSTIC_KINDS;
		if (d->kind >= DIAGNOSTIC_OVERLAPPING && d->kind <= DIAGNOSTIC_NO_LAUNCH) /* counted again */
			continue;
		builder_diagnostic(
			a->builder,
			&(builder_problem){ .kind = is_known ? d->kind : DIAGNOSTIC_INDEX_DAMAGED,
					    .text = index_text(a->ix, d->text),
					    .n = d->count,
					    .file = d->file == INDEX_NONE ? a->path : index_text(a->ix, d->file),
					    .position = d->first });
	}
	if (a->n_damaged)
		builder_diagnostic(a->builder, &(builder_problem){ .kind = DIAGNOSTIC_INDEX_DAMAGED,
								   .n = a->n_damaged,
								   .file = a->path,
								   .position = -1 });
}

static bool feed_all(index_again *a, uint32_t first_file)
{
	feed_sites(a);
	if (!feed_tracks(a, first_file) || !feed_args(a) || !feed_slices(a))
		return false;
	feed_steps(a);
	return again_feed_tables(a);
}

sonde_status index_again_feed(index_again *a, builder *b, uint32_t first_file,
			      bool (*progress)(void *context, uint64_t done, uint64_t total), void *context,
			      sonde_error *err)
{
	a->builder = b;
	a->progress = progress;
	a->context = context;
	bool ok = make_tables(a) && feed_all(a, first_file);
	if (ok)
		feed_diagnostics(a);
	if (index_clock_of(a->ix) != INDEX_CLOCK_TRACE)
		builder_clock(b, index_clock_of(a->ix));
	free_tables(a);
	if (ok)
		return SONDE_OK;
	return a->stopped ? error_set(err, SONDE_E_STATE, -1, "interrupted")
			  : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

/* What the rank is called in the builder. */
static int32_t again_rank(const index_again *a, int32_t rank, const int32_t *ranks)
{
	int32_t key = rank < 0 ? -1 : rank;
	const int32_t *at = bsearch(&key, a->ranks, a->n_ranks, sizeof key, compare_ranks);

	return at ? ranks[at - a->ranks] : -1;
}

static void put_devices(const index_again *a, builder *b, const int32_t *ranks)
{
	size_t n, len;
	const index_device *devices = index_devices(a->ix, &n);

	for (size_t i = 0; i < n; i++) {
		index_device d = devices[i];
		const char *name = index_textn(a->ix, d.name, &len);
		d.name = d.name == INDEX_NONE ? INDEX_NONE : builder_string(b, name, len);
		d.rank = again_rank(a, d.rank, ranks);
		builder_device(b, &d);
	}
}

static void put_roles(const index_again *a, builder *b)
{
	size_t n;
	const index_role *roles = index_roles(a->ix, &n);

	for (size_t i = 0; i < n; i++)
		if (roles[i].role < ROLE_KINDS)
			builder_role(b, (fact_role)roles[i].role, index_text(a->ix, roles[i].key));
}

void index_again_meta(const index_again *a, builder *b, const int32_t *ranks)
{
	size_t n;
	const index_meta *metas = index_metas(a->ix, &n);

	put_devices(a, b, ranks);
	put_roles(a, b);

	for (size_t i = 0; i < n; i++) {
		const index_meta *m = &metas[i];
		size_t key_len, len;
		const char *name = index_textn(a->ix, m->key, &key_len), *value = index_textn(a->ix, m->value, &len);
		builder_meta(b, again_rank(a, m->rank, ranks), name, key_len, value, len, m->json);
	}
}
