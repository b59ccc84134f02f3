/*
 * Tables of the image: rows sorted and packed into blocks.
 *
 *   tables_sort()     what was collected gets its final times and order
 *   counters_name()   which rows are whose, and names where a counter has several series
 *   tables_build()    packs them, on several threads
 */
#include "store/build/builder_state.h"
#include "base/threads.h"

#define SORT_NAME sort_instants
#define SORT_TYPE build_instant
#define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
#include "base/sort_template.h"

#define SORT_NAME sort_allocations
#define SORT_TYPE builder_allocation
#define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
#include "base/sort_template.h"

#define SORT_NAME sort_values
#define SORT_TYPE build_value
#define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
#include "base/sort_template.h"

/* ---- A table ----------------------------------------------------------------------------------------------------- */

bool table_begin(build_table *t, uint32_t n_columns)
{
	t->n_columns = n_columns;
	t->values = malloc(sizeof *t->values * n_columns * COLUMNS_ROWS);
	t->failed = !t->values;
	return !t->failed;
}

static void pack(build_table *t)
{
	uint64_t offset = t->blocks.n, *at = bulk_add(&t->offsets, sizeof *at);

	if (!at || !bulk_reserve(&t->blocks, COLUMNS_BYTES(t->n_columns))) {
		t->failed = true;
		return;
	}
	*at = offset;
	t->blocks.n += columns_pack(t->blocks.bytes + offset, t->values, t->n_columns, t->n);
	t->n_rows += t->n;
	t->n = 0;
}

void table_add(build_table *t, const int64_t *row)
{
	if (t->failed)
		return;
	for (uint32_t i = 0; i < t->n_columns; i++)
		t->values[i * COLUMNS_ROWS + t->n] = row[i];
	if (++t->n == COLUMNS_ROWS)
		pack(t);
}

bool table_end(build_table *t)
{
	if (t->n && !t->failed)
		pack(t);
	free(t->values);
	t->values = NULL;
	return !t->failed;
}

bool table_copy(build_table *to, const build_table *from)
{
	size_t n_bytes = sizeof *to->values * from->n_columns * COLUMNS_ROWS;

	if (!from->values)
		return true;
	*to = *from;
	to->blocks = to->offsets = (bulk){ 0 };
	to->values = malloc(n_bytes);
	if (to->values)
		memcpy(to->values, from->values, n_bytes);
	return to->values && bulk_copy(&to->blocks, &from->blocks) && bulk_copy(&to->offsets, &from->offsets);
}

void table_done(build_table *t)
{
	free(t->values);
	bulk_done(&t->blocks);
	bulk_done(&t->offsets);
	*t = (build_table){ 0 };
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void shift_instants(builder *b, bulk *instants)
{
	build_instant *items = (build_instant *)instants->bytes;

	for (size_t i = 0; b->files.n && i < instants->n / sizeof *items; i++)
		items[i].time_ns = trace_bounded_ns(items[i].time_ns + builder_shift_of(b, items[i].track));
}

static void shift_others(builder *b)
{
	builder_allocation *allocations = (builder_allocation *)b->allocations.bytes;
	build_value *values = (build_value *)b->values.bytes;

	for (size_t i = 0; b->files.n && i < b->allocations.n / sizeof *allocations; i++)
		allocations[i].time_ns =
			trace_bounded_ns(allocations[i].time_ns + builder_shift_of(b, allocations[i].track));
	for (size_t i = 0; b->files.n && i < b->values.n / sizeof *values; i++) {
		uint32_t track = b->counters.items[values[i].counter].info.track;
		values[i].time_ns = trace_bounded_ns(values[i].time_ns + builder_shift_of(b, track));
	}
}

/* Puts the values of a counter behind each other; counters are known by now to have first_value and n_values. */
static bool group_values(builder *b)
{
	build_value *from = (build_value *)b->values.bytes;
	size_t n = b->values.n / sizeof *from;
	bulk grouped = { 0 };
	build_value *to = n ? bulk_add(&grouped, b->values.n) : NULL;

	if (!n)
		return true;
	if (!to)
		return false;
	for (size_t i = 0; i < n; i++) {
		index_counter *c = &b->counters.items[from[i].counter].info;
		to[c->first_value + c->n_values++] = from[i];
	}
	bulk_done(&b->values);
	b->values = grouped;
	bool ok = true;
	for (size_t i = 0; ok && i < b->counters.n; i++) {
		const index_counter *c = &b->counters.items[i].info;
		ok = sort_values(to + c->first_value, c->n_values);
	}
	return ok;
}

bool tables_sort(builder *b)
{
	uint64_t first = 0;

	for (size_t i = 0; i < b->counters.n; i++) {
		b->counters.items[i].info.first_value = first;
		first += b->counters.items[i].n_values;
	}
	shift_instants(b, &b->instants);
	shift_instants(b, &b->samples);
	shift_others(b);
	if (sort_instants((build_instant *)b->instants.bytes, b->instants.n / sizeof(build_instant)) &&
	    sort_instants((build_instant *)b->samples.bytes, b->samples.n / sizeof(build_instant)) &&
	    sort_allocations((builder_allocation *)b->allocations.bytes,
			     b->allocations.n / sizeof(builder_allocation)) &&
	    group_values(b))
		return true;
	builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return false;
}

/* "name series", as a string. */
static uint32_t series_name(builder *b, const index_counter *c)
{
	const intern_entry *name = &b->strings.entries[c->name], *series = &b->strings.entries[c->series];
	size_t len = (size_t)name->len + 1 + series->len;
	char *text = malloc(len + 1);

	if (!text) {
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
		return c->name;
	}
	memcpy(text, name->text, name->len);
	text[name->len] = ' ';
	memcpy(text + name->len + 1, series->text, series->len);
	uint32_t string = builder_string(b, text, len);
	free(text);
	return string;
}

/* How many series the counters of the same name, track and category have, by the number of that in `names`. */
static uint32_t *count_series(builder *b, intern_table *names, uint32_t *ret_name_of)
{
	uint32_t *counts = calloc(b->counters.n, sizeof *counts);

	for (size_t i = 0; counts && i < b->counters.n; i++) {
		const index_counter *c = &b->counters.items[i].info;
		uint32_t key[3] = { c->track, c->name, c->category };
		ret_name_of[i] = intern(names, (const char *)key, sizeof key);
		if (ret_name_of[i] == INTERN_NONE) {
			free(counts);
			return NULL;
		}
		counts[ret_name_of[i]]++;
	}
	return counts;
}

bool counters_name(builder *b)
{
	if (!b->counters.n)
		return true;
	intern_table names = { 0 };
	uint32_t *name_of = malloc(b->counters.n * sizeof *name_of);
	uint32_t *counts = name_of ? count_series(b, &names, name_of) : NULL;

	for (size_t i = 0; counts && i < b->counters.n; i++) {
		index_counter *c = &b->counters.items[i].info;
		if (counts[name_of[i]] > 1 && c->series < b->strings.n && c->name < b->strings.n)
			c->name = series_name(b, c);
	}
	if (!counts)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	free(counts);
	free(name_of);
	intern_done(&names);
	return !b->status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

enum { RELEASE_ROWS = 1 << 16 };

/* A sample is an instant without a scope. */
_Static_assert((int)SAMPLE_TIME == (int)INSTANT_TIME && (int)SAMPLE_TRACK == (int)INSTANT_TRACK &&
		       (int)SAMPLE_SITE == (int)INSTANT_SITE && (int)SAMPLE_ARGS == (int)INSTANT_ARGS,
	       "the same columns");

static void put_instants(builder *b, build_table *t, bulk *from)
{
	const build_instant *items = (const build_instant *)from->bytes;
	const build_track *tracks = builder_tracks(b, NULL);
	size_t n = from->n / sizeof *items, released = 0;

	for (size_t i = 0; i < n; i++) {
		const build_instant *x = &items[i];
		int64_t row[COLUMNS_MAX] = { [INSTANT_TIME] = x->time_ns - b->start_ns,
					     [INSTANT_TRACK] = tracks[x->track].number,
					     [INSTANT_SITE] = x->site,
					     [INSTANT_ARGS] = x->args,
					     [INSTANT_SCOPE] = x->scope };
		table_add(t, row);
		if (i % RELEASE_ROWS == 0)
			bulk_release(from, &released, i * sizeof *items);
	}
	bulk_done(from);
}

static void put_allocations(builder *b, build_table *t)
{
	const builder_allocation *items = (const builder_allocation *)b->allocations.bytes;
	const build_track *tracks = builder_tracks(b, NULL);
	size_t n = b->allocations.n / sizeof *items, released = 0;

	for (size_t i = 0; i < n; i++) {
		const builder_allocation *x = &items[i];
		int64_t row[COLUMNS_MAX] = { [ALLOCATION_TIME] = x->time_ns - b->start_ns,
					     [ALLOCATION_TRACK] = tracks[x->track].number,
					     [ALLOCATION_ADDRESS] = (int64_t)x->address,
					     [ALLOCATION_BYTES] = x->bytes,
					     [ALLOCATION_DEVICE_TYPE] = x->device_type,
					     [ALLOCATION_DEVICE] = x->device,
					     [ALLOCATION_TOTAL] = x->total_bytes,
					     [ALLOCATION_RESERVED] = x->reserved_bytes,
					     [ALLOCATION_ARGS] = x->args,
					     [ALLOCATION_SITE] = x->site };
		table_add(t, row);
		if (i % RELEASE_ROWS == 0)
			bulk_release(&b->allocations, &released, i * sizeof *items);
	}
	bulk_done(&b->allocations);
}

static void put_values(builder *b, build_table *t)
{
	const build_value *items = (const build_value *)b->values.bytes;
	size_t n = b->values.n / sizeof *items, released = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t row[COLUMNS_MAX] = { [VALUE_TIME] = items[i].time_ns - b->start_ns };
		memcpy(&row[VALUE_BITS], &items[i].value, sizeof items[i].value);
		table_add(t, row);
		if (i % RELEASE_ROWS == 0)
			bulk_release(&b->values, &released, i * sizeof *items);
	}
	bulk_done(&b->values);
}

/* ---- All of them ---------------------------------------------------------------------------------------------------
 */

static bool build_table_of(builder *b, build_table_kind kind)
{
	static const uint32_t n_columns[TABLE_KINDS] = {
		[TABLE_INSTANTS] = INSTANT_COLUMNS, [TABLE_FLOWS] = FLOW_COLUMNS,
		[TABLE_LAUNCHES] = LAUNCH_COLUMNS,  [TABLE_ALLOCATIONS] = ALLOCATION_COLUMNS,
		[TABLE_VALUES] = VALUE_COLUMNS,	    [TABLE_SAMPLES] = SAMPLE_COLUMNS
	};
	build_table *t = &b->tables[kind];

	if (kind >= TABLE_FACTS)
		return table_end(t);
	bool ok = table_begin(t, n_columns[kind]);
	if (ok && kind == TABLE_INSTANTS)
		put_instants(b, t, &b->instants);
	else if (ok && kind == TABLE_SAMPLES)
		put_instants(b, t, &b->samples);
	else if (ok && kind == TABLE_FLOWS)
		ok = flows_build(b, t);
	else if (ok && kind == TABLE_LAUNCHES)
		ok = launches_build(b, t);
	else if (ok && kind == TABLE_ALLOCATIONS)
		put_allocations(b, t);
	else if (ok && kind == TABLE_VALUES)
		put_values(b, t);
	return table_end(t) && ok;
}

static void build_job(void *context, size_t kind)
{
	builder *b = context;

	if (!build_table_of(b, (build_table_kind)kind))
		b->tables[kind].failed = true;
}

bool tables_build(builder *b)
{
	threads_run(b->n_packers > 1 ? b->n_threads : 1, TABLE_KINDS, build_job, b);
	for (size_t i = 0; i < TABLE_KINDS; i++)
		if (b->tables[i].failed)
			builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return !b->status;
}
