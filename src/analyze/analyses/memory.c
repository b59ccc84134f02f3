/*
 * Memory over the run: what each device holds and holds at most, which operators take it, how long blocks live.
 *
 * An event belongs to the innermost operator around it on its thread; of a recording, to the innermost scope. What an
 * operator takes by itself is self; total is with the operators inside it. Increase is allocated less freed there.
 */
#include "analyze/tables/memory_events.h"
#include "analyze/tables/op_tree.h"
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "base/format_number.h"
#include "base/intern.h"

enum { MOST_POINTS = 512, DEEPEST = 64, EVENTS_SHOWN = 10 };

static const column device_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },	     { "rank", "rank", CELL_INTEGER, 1, false },
	{ "peak_bytes", "peak", CELL_BYTES, 0, false },	     { "peak_at_ns", "at", CELL_NS, 0, false },
	{ "peak_in", "in", CELL_STRING, 0, false },	     { "reserved_bytes", "reserved", CELL_BYTES, 0, false },
	{ "end_bytes", "at the end", CELL_BYTES, 1, false }, { "n_allocs", "allocs", CELL_COUNT, 0, false },
	{ "n_frees", "frees", CELL_COUNT, 1, false },	     { "allocated_bytes", "allocated", CELL_BYTES, 2, false },
};
static const column op_columns[] = {
	{ "name", "operator", CELL_STRING, 0, false },
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 3, false },
	{ "self_increase_bytes", "self increase", CELL_BYTES, 0, false },
	{ "self_allocated_bytes", "self allocated", CELL_BYTES, 0, false },
	{ "self_allocs", "self allocs", CELL_COUNT, 1, false },
	{ "increase_bytes", "increase", CELL_BYTES, 2, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 2, false },
	{ "allocs", "allocs", CELL_COUNT, 2, false },
};
static const column event_columns[] = {
	{ "name", "allocated in", CELL_STRING, 0, false },
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 3, false },
	{ "bytes", "size", CELL_BYTES, 0, false },
	{ "alloc_ns", "from", CELL_NS, 0, false },
	{ "free_ns", "to", CELL_NS, 1, false },
	{ "dur_ns", "for", CELL_NS, 0, false },
};
static const column curve_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 0, false },
	{ "reserved_bytes", "reserved", CELL_BYTES, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

typedef struct taken {
	int64_t increase, allocated;
	uint64_t n;
} taken;

typedef struct op_memory {
	uint32_t name, device;
	taken self, total;
} op_memory;

typedef struct memory {
	const work *w;
	op_tree tree;
	memory_events events;
	const char **devices; /* names */
	intern_table keys;
	VEC(op_memory) ops;
} memory;

static bool is_op(const memory *m, const row *at)
{
	return m->w->rows.trace->is_recorded || m->tree.is_op[at->site];
}

/* The operator at or above the row, or ROW_NONE. */
static uint32_t op_around(const memory *m, uint32_t at)
{
	while (at != ROW_NONE && !is_op(m, ROW_AT(&m->w->rows, at)))
		at = rows_at(&m->w->rows, at).parent;
	return at;
}

static const char *place(const memory *m, const memory_event *e, sonde_result *r)
{
	uint32_t op = op_around(m, e->row);
	uint32_t at = op == ROW_NONE ? e->row : op;

	return at == ROW_NONE ? NULL : result_string(r, row_name(&m->w->rows, ROW_AT(&m->w->rows, at)));
}

static bool name_devices(memory *m, sonde_result *r)
{
	char buffer[32];

	m->devices = calloc(m->events.devices.n + 1, sizeof *m->devices);
	for (size_t i = 0; m->devices && i < m->events.devices.n; i++)
		m->devices[i] = result_string(
			r, trace_device_name(m->w->rows.trace, m->events.devices.items[i].id, buffer, sizeof buffer));
	return m->devices != NULL;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

typedef struct device_sum {
	const memory_event *peak, *last;
	int64_t reserved;
	uint64_t n_allocs, n_frees, allocated;
} device_sum;

static void add_to_device(device_sum *s, const memory_event *e)
{
	if (!s->peak || e->allocated > s->peak->allocated)
		s->peak = e;
	s->last = e;
	s->reserved = e->reserved > s->reserved ? e->reserved : s->reserved;
	s->n_allocs += e->bytes >= 0;
	s->n_frees += e->bytes < 0;
	s->allocated += e->bytes > 0 ? (uint64_t)e->bytes : 0;
}

static cell bytes_or_unknown(int64_t bytes)
{
	return bytes < 0 ? cell_unknown() : cell_bytes((uint64_t)bytes);
}

static void put_device(const memory *m, size_t i, const device_sum *s, sonde_result *r, table *t)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(m->devices[i]);
	c[1] = cell_integer(m->events.devices.items[i].rank);
	c[2] = bytes_or_unknown(s->peak->allocated);
	c[3] = cell_ns(s->peak->time_ns);
	c[4] = cell_string(place(m, s->peak, r));
	c[5] = s->reserved > 0 ? cell_bytes((uint64_t)s->reserved) : cell_unknown();
	c[6] = bytes_or_unknown(s->last->allocated);
	c[7] = cell_count(s->n_allocs);
	c[8] = cell_count(s->n_frees);
	c[9] = cell_bytes(s->allocated);
}

/* The device that holds most. */
static void answer(const memory *m, const device_sum *sums, sonde_result *r)
{
	char bytes[NUMBER_TEXT], at[NUMBER_TEXT];
	size_t most = SIZE_MAX;

	for (size_t i = 0; i < m->events.devices.n; i++)
		if (sums[i].peak && (most == SIZE_MAX || sums[i].peak->allocated > sums[most].peak->allocated))
			most = i;
	if (most == SIZE_MAX || sums[most].peak->allocated < 0)
		return;
	const char *inside = place(m, sums[most].peak, r);
	result_answer(r, "%s peaks at %s, at %s%s%s", m->devices[most],
		      format_bytes(bytes, (uint64_t)sums[most].peak->allocated),
		      format_ns(at, sums[most].peak->time_ns), inside ? " in " : "", inside ? inside : "");
}

static bool add_devices(const memory *m, sonde_result *r)
{
	table *t = result_table(r, "memory_devices", NULL, device_columns, N_COLUMNS(device_columns));
	device_sum *sums = calloc(m->events.devices.n + 1, sizeof *sums);

	for (size_t i = 0; sums && i < m->events.items.n; i++)
		if (m->events.items.items[i].is_chosen)
			add_to_device(&sums[m->events.items.items[i].device], &m->events.items.items[i]);
	for (size_t i = 0; sums && i < m->events.devices.n; i++)
		if (sums[i].peak)
			put_device(m, i, &sums[i], r, t);
	if (sums)
		answer(m, sums, r);
	free(sums);
	return sums != NULL;
}

/* ---- The curve --------------------------------------------------------------------------------------------------- */

typedef struct curve {
	const memory_event *peak;
	int64_t reserved;
} curve;

/* The highest moment of each of at most MOST_POINTS parts. */
static bool add_curve(const memory *m, uint32_t device, curve *points, sonde_result *r, table *t)
{
	int64_t from = INT64_MAX, to = INT64_MIN;
	const memory_event *items = m->events.items.items;

	for (size_t i = 0; i < m->events.items.n; i++)
		if (items[i].is_chosen && items[i].device == device) {
			from = items[i].time_ns < from ? items[i].time_ns : from;
			to = items[i].time_ns > to ? items[i].time_ns : to;
		}
	memset(points, 0, MOST_POINTS * sizeof *points);
	for (size_t i = 0; i < m->events.items.n; i++) {
		if (!items[i].is_chosen || items[i].device != device)
			continue;
		size_t at = (size_t)((__int128)(items[i].time_ns - from) * MOST_POINTS / (to - from + 1));
		if (!points[at].peak || items[i].allocated > points[at].peak->allocated)
			points[at].peak = &items[i];
		points[at].reserved = items[i].reserved > points[at].reserved ? items[i].reserved : points[at].reserved;
	}
	for (size_t i = 0; i < MOST_POINTS; i++) {
		if (!points[i].peak)
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(m->devices[device]);
		c[1] = cell_integer(m->events.devices.items[device].rank);
		c[2] = cell_ns(points[i].peak->time_ns);
		c[3] = bytes_or_unknown(points[i].peak->allocated);
		if (points[i].reserved > 0)
			c[4] = cell_bytes((uint64_t)points[i].reserved);
	}
	return true;
}

static bool add_curves(const memory *m, sonde_result *r)
{
	table *t = result_table(r, "memory_curve", NULL, curve_columns, N_COLUMNS(curve_columns));
	curve *points = malloc(MOST_POINTS * sizeof *points);

	for (uint32_t i = 0; points && i < m->events.devices.n; i++)
		add_curve(m, i, points, r, t);
	free(points);
	table_chart(t, CHART_STEPS, "time_ns", "allocated_bytes", "device");
	if (t)
		t->n_shown = 0;
	return points != NULL;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static op_memory *op_of(memory *m, uint32_t name, uint32_t device)
{
	uint32_t key[] = { name, device }, number = intern(&m->keys, (const char *)key, sizeof key);
	op_memory *op = number == INTERN_NONE ? NULL : number < m->ops.n ? &m->ops.items[number] : VEC_ADD(&m->ops);

	if (op) {
		op->name = name;
		op->device = device;
	}
	return op;
}

static void take(taken *t, int64_t bytes)
{
	t->increase = add_bounded(t->increase, bytes);
	t->allocated = add_bounded(t->allocated, bytes > 0 ? bytes : 0);
	t->n += bytes > 0;
}

/* Each operator around it once, however often it is on the stack. */
static bool add_to_ops(memory *m, const memory_event *e)
{
	const rows *all = &m->w->rows;
	uint32_t seen[DEEPEST];
	size_t n = 0;

	for (uint32_t at = op_around(m, e->row); at != ROW_NONE && n < DEEPEST;) {
		uint32_t name = all->sites[rows_at(all, at).site].name;
		size_t k = 0;
		while (k < n && seen[k] != name)
			k++;
		op_memory *op = op_of(m, name, e->device);
		if (!op)
			return false;
		if (n == 0)
			take(&op->self, e->bytes);
		if (k == n) {
			take(&op->total, e->bytes);
			seen[n++] = name;
		}
		at = op_around(m, rows_at(all, at).parent);
	}
	return true;
}

static int by_allocated(const void *a, const void *b)
{
	const op_memory *x = a, *y = b;

	if (x->self.allocated != y->self.allocated)
		return x->self.allocated > y->self.allocated ? -1 : 1;
	if (x->total.allocated != y->total.allocated)
		return x->total.allocated > y->total.allocated ? -1 : 1;
	return x->name != y->name ? (x->name < y->name ? -1 : 1) : x->device < y->device ? -1 : 1;
}

static void put_taken(const taken *t, cell *c)
{
	c[0] = (cell){ .type = CELL_BYTES, .integer = t->increase };
	if (t->increase < 0)
		c[0] = cell_integer(t->increase);
	c[1] = cell_bytes((uint64_t)t->allocated);
	c[2] = cell_count(t->n);
}

static bool add_ops(memory *m, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "memory_operators", "By operator", op_columns, N_COLUMNS(op_columns));
	bool ok = true;

	for (size_t i = 0; ok && i < m->events.items.n; i++)
		if (m->events.items.items[i].is_chosen)
			ok = add_to_ops(m, &m->events.items.items[i]);
	if (m->ops.n)
		qsort(m->ops.items, m->ops.n, sizeof m->ops.items[0], by_allocated);
	for (size_t i = 0; ok && i < m->ops.n; i++) {
		const op_memory *op = &m->ops.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(m->w->rows.ix, op->name)));
		c[1] = cell_string(m->devices[op->device]);
		c[2] = cell_integer(m->events.devices.items[op->device].rank);
		put_taken(&op->self, c + 3);
		put_taken(&op->total, c + 6);
	}
	limit_rows(r, t, options, "operators");
	return ok;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void add_blocks(const memory *m, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "memory_events", "The largest blocks", event_columns, N_COLUMNS(event_columns));
	const memory_event *items = m->events.items.items;

	for (size_t i = 0; i < m->events.items.n; i++) {
		const memory_event *e = &items[i], *freed = e->pair == EVENT_NONE ? NULL : &items[e->pair];
		if (!e->is_chosen || e->bytes <= 0)
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(place(m, e, r));
		c[1] = cell_string(m->devices[e->device]);
		c[2] = cell_integer(m->events.devices.items[e->device].rank);
		c[3] = cell_bytes((uint64_t)e->bytes);
		c[4] = cell_ns(e->time_ns);
		if (freed) {
			c[5] = cell_ns(freed->time_ns);
			c[6] = cell_ns(freed->time_ns - e->time_ns);
		}
	}
	table_sort(t, 3);
	limit_rows(r, t, options, "blocks");
	if (t && !options->top && t->n_rows > EVENTS_SHOWN) {
		t->n_shown = EVENTS_SHOWN;
		t->more = result_format(r, "%zu more blocks: --json has them", t->n_rows - EVENTS_SHOWN);
	}
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	memory m = { .w = w };
	rows_options chosen = rows_options_from(options);
	bool ok = true;

	if (w->rows.ix)
		ok = op_tree_load(&m.tree, &w->rows) && memory_events_load(&m.events, &w->rows, &chosen) &&
		     name_devices(&m, r);
	ok = ok && add_devices(&m, r) && add_ops(&m, options, r) && add_curves(&m, r);
	if (ok)
		add_blocks(&m, options, r);
	for (table *t = r->tables; t && !m.events.items.n; t = t->next)
		t->n_shown = 0;
	if (ok && !m.events.items.n)
		result_note_add(r, "note",
				"no allocations: record them with profile_memory=True of torch.profiler, or with "
				"sonde_alloc()");
	free(m.devices);
	VEC_DONE(&m.ops);
	intern_done(&m.keys);
	memory_events_done(&m.events);
	op_tree_done(&m.tree);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis memory_work = { .add = add, .needs_no_device = true };

const analysis memory_analysis = {
	.name = "memory",
	.summary = "Memory of devices over time, by operator, and the lifetime of blocks",
	.keeps_warmup = true,
	.work = &memory_work,
};
