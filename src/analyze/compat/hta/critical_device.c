/* The device's part of HTA's graph: see compat/hta/critical.c. */
#include "analyze/compat/hta/critical.h"

#include <stdlib.h>
#include <string.h>
#include "base/intern.h"

enum { LONGEST_GAP_US = 1500 }; /* between two rows of a stream that still wait for each other */

static const hta_row *at(const hta_critical *c, uint32_t i)
{
	return &c->rank->rows[i];
}

static uint8_t site_of(const hta_critical *c, uint32_t i)
{
	return c->h->sites[cp_row(c, i)->site];
}

/* A call that HTA takes for a launch, and whose row is there. */
static bool is_launch(const hta_critical *c, uint32_t i)
{
	const hta_row *one = at(c, i);

	return one->stays && (site_of(c, i) & SITE_LAUNCH) && one->partner != WORK_NONE && at(c, one->partner)->stays &&
	       at(c, one->partner)->stream != -1;
}

/* ---- Queues -------------------------------------------------------------------------------------------------------
 */

typedef struct queue_point {
	int64_t stream;
	double ts;
	uint32_t row;
	bool on_device;
} queue_point;

#define SORT_NAME sort_queue
#define SORT_TYPE queue_point
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->stream != (b)->stream	    ? (a)->stream < (b)->stream                                                \
	 : (a)->ts != (b)->ts		    ? (a)->ts < (b)->ts                                                        \
	 : (a)->on_device != (b)->on_device ? (b)->on_device                                                           \
					    : (a)->row < (b)->row)
#include "base/sort_template.h"

static bool measure_queues(hta_critical *c)
{
	VEC(queue_point) points = { 0 };
	bool ok = true;
	int32_t length = 0;

	for (uint32_t i = 0; ok && i < c->rank->n; i++) {
		const hta_row *one = at(c, i);
		bool launches = is_launch(c, i);
		bool is_launched =
			one->stays && one->stream != -1 && one->partner != WORK_NONE && is_launch(c, one->partner);
		if (!launches && !is_launched)
			continue;
		queue_point *p = VEC_ADD(&points);
		ok = p != NULL;
		if (ok)
			*p = (queue_point){ launches ? at(c, one->partner)->stream : one->stream, one->ts, i,
					    !launches };
	}
	ok = ok && sort_queue(points.items, points.n);
	for (size_t i = 0; ok && i < points.n; i++) {
		const queue_point *p = &points.items[i];
		length = i && p[-1].stream != p->stream ? 0 : length;
		length += p->on_device ? -1 : 1;
		c->queued[p->row] = length;
	}
	VEC_DONE(&points);
	return ok;
}

/* ---- Events -------------------------------------------------------------------------------------------------------
 */

/* Rows by what they are looked for with, then by time. */
typedef struct keyed {
	int64_t key, more;
	double ts;
	uint32_t row;
} keyed;
typedef VEC(keyed) keyed_list;

#define SORT_NAME sort_keyed
#define SORT_TYPE keyed
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->key != (b)->key	  ? (a)->key < (b)->key                                                                \
	 : (a)->more != (b)->more ? (a)->more < (b)->more                                                              \
				  : (a)->ts < (b)->ts)
#include "base/sort_template.h"

static bool add_keyed(keyed_list *to, int64_t key, int64_t more, double ts, uint32_t i)
{
	keyed *k = VEC_ADD(to);

	if (k)
		*k = (keyed){ key, more, ts, i };
	return k != NULL;
}

/* How many come before the key and time; with_equal: those at the same time too. */
static size_t place_of(const keyed_list *l, int64_t key, int64_t more, double ts, bool with_equal)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const keyed *k = &l->items[middle];
		bool is_before = k->key != key	   ? k->key < key
				 : k->more != more ? k->more < more
						   : k->ts < ts || (with_equal && k->ts == ts);
		if (is_before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_key(const keyed_list *l, size_t i, int64_t key, int64_t more)
{
	return i < l->n && l->items[i].key == key && l->items[i].more == more;
}

typedef struct events {
	keyed_list records;   /* cudaEventRecord by correlation */
	keyed_list on_stream; /* launches by device and stream */
	keyed_list on_thread; /* launches by thread and stream */
} events;

static int64_t wait_of(const hta_critical *c, uint32_t i, int which)
{
	return c->waits ? args_column_int(c->h->w->rows.ix, &c->waits[which], cp_row(c, i)->args, -1) : -1;
}

static int64_t device_of(const hta_critical *c, uint32_t i)
{
	return c->h->w->rows.tracks[cp_track(c, i)].process;
}

static bool find_events(const hta_critical *c, events *e)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < c->rank->n; i++) {
		const hta_row *one = at(c, i);
		if (!one->stays)
			continue;
		if (strcmp(cp_name(c, i), "cudaEventRecord") == 0)
			ok = add_keyed(&e->records, one->correlation, 0, one->ts, i);
		if (ok && is_launch(c, i)) {
			int64_t stream = at(c, one->partner)->stream;
			ok = add_keyed(&e->on_stream, device_of(c, one->partner), stream, one->ts, i) &&
			     add_keyed(&e->on_thread, cp_track(c, i), stream, one->ts, i);
		}
	}
	return ok && sort_keyed(e->records.items, e->records.n) && sort_keyed(e->on_stream.items, e->on_stream.n) &&
	       sort_keyed(e->on_thread.items, e->on_thread.n);
}

/* The row on the device behind which the event was recorded that a sync row waits for, or NODE_NONE. */
static uint32_t source_of(const hta_critical *c, const events *e, uint32_t sync)
{
	int64_t stream = wait_of(c, sync, 0), correlation = wait_of(c, sync, 1), device = device_of(c, sync);
	size_t record = place_of(&e->records, correlation, 0, -1e300, false);

	if (stream < 0 || !has_key(&e->records, record, correlation, 0))
		return NODE_NONE;
	size_t launch = place_of(&e->on_stream, device, stream, e->records.items[record].ts, true);
	if (!launch || !has_key(&e->on_stream, launch - 1, device, stream))
		return NODE_NONE;
	return at(c, e->on_stream.items[launch - 1].row)->partner;
}

/* The row that is launched next on a stream that was told to wait, or NODE_NONE. */
static uint32_t next_of(const hta_critical *c, const events *e, uint32_t sync)
{
	uint32_t call = at(c, sync)->partner;

	if (call == WORK_NONE)
		return NODE_NONE;
	size_t launch = place_of(&e->on_thread, cp_track(c, call), at(c, sync)->stream, at(c, call)->ts, true);
	if (!has_key(&e->on_thread, launch, cp_track(c, call), at(c, sync)->stream))
		return NODE_NONE;
	return at(c, e->on_thread.items[launch].row)->partner;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------
 */

typedef struct device_row {
	double ts; /* of a sync row its end */
	uint32_t row;
} device_row;

#define SORT_NAME sort_device_rows
#define SORT_TYPE device_row
#define SORT_BEFORE(a, b) ((a)->ts < (b)->ts)
#include "base/sort_template.h"

typedef struct device_state {
	events e;
	intern_table streams;
	VEC(uint32_t) last;  /* node of a stream, or NODE_NONE */
	uint32_t *waits_for; /* by row: row on the device, or NODE_NONE */
	size_t n_syncs;	     /* edges to calls that wait for all streams: there is a limit to them */
} device_state;

/* Its last node; NULL when out of memory. */
static uint32_t *last_of(device_state *d, int64_t stream)
{
	uint32_t number = intern(&d->streams, (const char *)&stream, sizeof stream);

	if (number == INTERN_NONE || number < d->last.n)
		return number == INTERN_NONE ? NULL : &d->last.items[number];
	uint32_t *last = VEC_ADD(&d->last);
	if (last)
		*last = NODE_NONE;
	return last;
}

static void wait_for(hta_critical *c, uint32_t node, uint32_t call)
{
	if (node != NODE_NONE && call != WORK_NONE && c->end_of[call] != NODE_NONE)
		cp_edge(c, node, c->end_of[call], EDGE_SYNC, NODE_NONE, false);
}

static void add_sync(hta_critical *c, device_state *d, uint32_t i)
{
	const char *name = cp_name(c, i);
	uint32_t call = at(c, i)->partner;
	bool is_wait = strcmp(name, "Stream Wait Event") == 0;

	if (is_wait || strcmp(name, "Event Sync") == 0) {
		uint32_t source = source_of(c, &d->e, i), next = is_wait ? next_of(c, &d->e, i) : NODE_NONE;
		if (source == NODE_NONE)
			return;
		if (!is_wait)
			wait_for(c, c->end_of[source], call);
		else if (next != NODE_NONE)
			d->waits_for[next] = source;
		return;
	}
	if (strcmp(name, "Context Sync") != 0) {
		uint32_t *last = last_of(d, at(c, i)->stream);
		wait_for(c, last ? *last : NODE_NONE, call);
		return;
	}
	for (size_t k = 0; k < d->last.n && d->n_syncs < 8 * c->rank->n + 1024; k++, d->n_syncs++)
		wait_for(c, d->last.items[k], call);
}

static int64_t time_of(const hta_critical *c, uint32_t node)
{
	return node == NODE_NONE ? INT64_MIN : c->nodes.items[node].time;
}

/* What a row waited for: its launch, when the queue was empty and all else had ended; else the row before. */
static void add_row(hta_critical *c, device_state *d, uint32_t i)
{
	const hta_row *one = at(c, i);
	uint32_t start = c->start_of[i], launch = one->partner, *last = last_of(d, one->stream);

	c->g->failed |= !last;
	if (!last || start == NODE_NONE)
		return;
	cp_edge(c, start, c->end_of[i], EDGE_OPERATOR, i, false);
	uint32_t source = d->waits_for[i] == NODE_NONE ? NODE_NONE : c->end_of[d->waits_for[i]];
	if (source != NODE_NONE)
		cp_edge(c, source, start, EDGE_SYNC, NODE_NONE, false);
	int64_t launched = launch == WORK_NONE ? INT64_MIN : to_ticks(c->h, at(c, launch)->ts);
	bool is_free = launch != WORK_NONE && c->queued[launch] == 1 && c->queued[i] == 0;
	if (is_free && time_of(c, *last) < launched && time_of(c, source) < launched) {
		if (c->start_of[launch] != NODE_NONE)
			cp_edge(c, c->start_of[launch], start, EDGE_LAUNCH, NODE_NONE, false);
	} else if (*last != NODE_NONE && time_of(c, source) < time_of(c, *last) &&
		   time_of(c, start) - time_of(c, *last) < LONGEST_GAP_US * c->h->w->ticks_per_us) {
		cp_edge(c, *last, start, EDGE_KERNEL_KERNEL, c->nodes.items[*last].row, false);
	}
	*last = c->end_of[i];
}

static bool add_rows(hta_critical *c, device_state *d)
{
	VEC(device_row) order = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < c->rank->n; i++) {
		const hta_row *one = at(c, i);
		if (!c->is_in[i] || (one->stream == -1 && !(site_of(c, i) & SITE_SYNC)) || one->correlation < 0)
			continue;
		device_row *added = VEC_ADD(&order);
		ok = added != NULL;
		if (ok)
			*added = (device_row){ one->ts + (cp_traits(c, i) & CP_SYNC ? one->dur : 0), i };
	}
	ok = ok && sort_device_rows(order.items, order.n);
	for (size_t i = 0; ok && i < order.n; i++) {
		if (cp_traits(c, order.items[i].row) & CP_SYNC)
			add_sync(c, d, order.items[i].row);
		else
			add_row(c, d, order.items[i].row);
	}
	VEC_DONE(&order);
	return ok;
}

bool hta_critical_device(hta_critical *c)
{
	device_state d = { .waits_for = malloc((c->rank->n + 1) * sizeof *d.waits_for) };
	bool ok = d.waits_for && measure_queues(c) && find_events(c, &d.e);

	if (ok)
		memset(d.waits_for, 0xff, (c->rank->n + 1) * sizeof *d.waits_for);
	ok = ok && add_rows(c, &d);
	VEC_DONE(&d.e.records);
	VEC_DONE(&d.e.on_stream);
	VEC_DONE(&d.e.on_thread);
	intern_done(&d.streams);
	VEC_DONE(&d.last);
	free(d.waits_for);
	return ok;
}
