/* The tables of an index into a builder again: what is no slice. See index_again.h. */
#include <stdlib.h>
#include <string.h>
#include "base/intern.h"
#include "import/index/index_again_state.h"

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

static void put_instant(index_again *a, const int64_t *row, int64_t start_ns)
{
	uint32_t track = again_track(a, row[INSTANT_TRACK]), site = again_site(a, row[INSTANT_SITE]);

	if (track != INDEX_NONE && site != INDEX_NONE)
		builder_instant(a->builder, track, start_ns + row[INSTANT_TIME], site,
				again_record(a, row[INSTANT_ARGS]), (char)row[INSTANT_SCOPE]);
}

static void put_sample(index_again *a, const int64_t *row, int64_t start_ns)
{
	uint32_t track = again_track(a, row[SAMPLE_TRACK]), site = again_site(a, row[SAMPLE_SITE]);

	if (track != INDEX_NONE && site != INDEX_NONE)
		builder_sample(a->builder, track, start_ns + row[SAMPLE_TIME], site, again_record(a, row[SAMPLE_ARGS]));
}

static void put_flow(index_again *a, const int64_t *row, int64_t start_ns)
{
	static const int64_t is_text = INT64_C(1) << 62;
	uint32_t track = again_track(a, row[FLOW_TRACK]), site = again_site(a, row[FLOW_SITE]);
	int64_t id = row[FLOW_ID];
	index_slice s;

	if (track == INDEX_NONE || site == INDEX_NONE)
		return;
	if (row[FLOW_SLICE] && !index_slice_at(a->ix, (uint64_t)row[FLOW_SLICE] - 1, &s))
		return;
	if (id > 0 && id & is_text)
		id = is_text | again_string(a, (uint32_t)(id & UINT32_MAX));
	builder_flow(a->builder, track, (row[FLOW_SLICE] ? s.start_ns : start_ns) + row[FLOW_TIME], site, (uint64_t)id,
		     (char)row[FLOW_PHASE], again_record(a, row[FLOW_ARGS]));
}

static void put_allocation(index_again *a, const int64_t *row, int64_t start_ns)
{
	builder_allocation to = { .time_ns = start_ns + row[ALLOCATION_TIME],
				  .track = again_track(a, row[ALLOCATION_TRACK]),
				  .site = again_site(a, row[ALLOCATION_SITE]),
				  .args = again_record(a, row[ALLOCATION_ARGS]),
				  .device_type = (int32_t)row[ALLOCATION_DEVICE_TYPE],
				  .device = (int32_t)row[ALLOCATION_DEVICE],
				  .address = (uint64_t)row[ALLOCATION_ADDRESS],
				  .bytes = row[ALLOCATION_BYTES],
				  .total_bytes = row[ALLOCATION_TOTAL],
				  .reserved_bytes = row[ALLOCATION_RESERVED] };

	if (to.track != INDEX_NONE && to.site != INDEX_NONE)
		builder_allocation_add(a->builder, &to);
}

/* Rows of a damaged file that are out of order are left out, as are those of records that are not there. */
static bool again_is_next(index_again *a, builder_fact_kind kind, int64_t args)
{
	if (args <= a->last_fact[kind])
		return false;
	a->last_fact[kind] = args;
	return true;
}

static void put_collective(index_again *a, const int64_t *row, int64_t start_ns)
{
	size_t n;
	const index_message *messages = index_messages(a->ix, &n);
	int64_t to[] = { [COLLECTIVE_ARGS] = again_record(a, row[COLLECTIVE_ARGS]),
			 [COLLECTIVE_SEQUENCE] = row[COLLECTIVE_SEQUENCE] };

	(void)start_ns;
	if ((uint64_t)row[COLLECTIVE_MESSAGE] >= n || !again_is_next(a, FACT_COLLECTIVE, to[COLLECTIVE_ARGS]))
		return;
	index_message m = messages[row[COLLECTIVE_MESSAGE]];
	uint32_t *strings[] = { &m.name, &m.dtype, &m.group, &m.ranks, &m.in_split, &m.out_split };
	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
		*strings[i] = again_string(a, *strings[i]);
	to[COLLECTIVE_MESSAGE] = builder_message(a->builder, &m);
	builder_fact(a->builder, FACT_COLLECTIVE, to);
}

static bool feed_table(index_again *a, table_cursor *c, index_kind kind,
		       void (*put)(index_again *a, const int64_t *row, int64_t start_ns))
{
	int64_t row[COLUMNS_MAX], start_ns = index_start_ns(a->ix);
	uint64_t n = 0;
	bool more = true;

	table_first(c, a->ix, kind, 0);
	while (more && table_next(c, row)) {
		put(a, row, start_ns);
		if (++n % 4096 == 0)
			more = again_tell(a, 4096);
	}
	a->n_damaged += c->damaged;
	return more;
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

/* A counter with several series is called "name series": the length of the name alone, or of all of it. */
static size_t bare_name(const index_again *a, const index_counter *c)
{
	size_t len, series_len;
	const char *name = index_textn(a->ix, c->name, &len), *series = index_textn(a->ix, c->series, &series_len);

	if (c->series == INDEX_NONE || len < series_len + 1 || name[len - series_len - 1] != ' ' ||
	    memcmp(name + len - series_len, series, series_len) != 0)
		return len;
	return len - series_len - 1;
}

static uint32_t counter_key(const index_again *a, const index_counter *c, intern_table *keys)
{
	size_t len = bare_name(a, c);
	char *key = malloc(8 + len);
	uint32_t number = INTERN_NONE;

	if (key) {
		memcpy(key, &c->track, 4);
		memcpy(key + 4, &c->category, 4);
		memcpy(key + 8, index_text(a->ix, c->name), len);
		number = intern(keys, key, 8 + len);
	}
	free(key);
	return number;
}

static bool feed_counter(index_again *a, table_cursor *c, const index_counter *counter, bool is_one_of_several)
{
	uint32_t track = again_track(a, counter->track), series = again_string(a, counter->series);
	size_t len;
	const char *text = index_textn(a->ix, counter->name, &len);
	uint32_t name = builder_string(a->builder, text, is_one_of_several ? bare_name(a, counter) : len);
	uint32_t category = again_string(a, counter->category);
	int64_t row[COLUMNS_MAX];

	if (track == INDEX_NONE)
		return true;
	table_first(c, a->ix, SECTION_VALUES, counter->first_value);
	for (uint64_t i = 0; i < counter->n_values && table_next(c, row); i++) {
		double value;
		memcpy(&value, &row[VALUE_BITS], sizeof value);
		builder_value(a->builder, track, name, series, category, index_start_ns(a->ix) + row[VALUE_TIME],
			      value);
	}
	a->n_damaged += c->damaged;
	return again_tell(a, counter->n_values);
}

static bool feed_counters(index_again *a, table_cursor *c)
{
	size_t n;
	const index_counter *counters = index_counters(a->ix, &n);
	uint32_t *counts = calloc(n + 1, sizeof *counts), *key_of = malloc((n + 1) * sizeof *key_of);
	intern_table keys = { 0 };
	bool more = counts && key_of;

	for (size_t i = 0; more && i < n; i++) {
		key_of[i] = counter_key(a, &counters[i], &keys);
		more = key_of[i] != INTERN_NONE;
		if (more)
			counts[key_of[i]]++;
	}
	for (size_t i = 0; more && i < n; i++)
		more = feed_counter(a, c, &counters[i], counts[key_of[i]] > 1);
	free(counts);
	free(key_of);
	intern_done(&keys);
	return more;
}

bool again_feed_tables(index_again *a)
{
	table_cursor *c = malloc(sizeof *c);
	bool ok = c && feed_table(a, c, SECTION_INSTANTS, put_instant) && feed_table(a, c, SECTION_FLOWS, put_flow) &&
		  feed_table(a, c, SECTION_ALLOCATIONS, put_allocation) &&
		  feed_table(a, c, SECTION_SAMPLES, put_sample) &&
		  feed_table(a, c, SECTION_COLLECTIVES, put_collective) && feed_counters(a, c);

	free(c);
	return ok;
}
