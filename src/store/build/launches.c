/*
 * Which call launched what ran on a device: slices that carry the same correlation, in the same file.
 *
 * Calls are sorted by file and correlation, those into the driver first, then by start. Work on a device comes in the
 * order of its queue, and its correlations mostly grow, so each search begins where the last one ended.
 */
#include "store/build/builder_state.h"
#include "base/search.h"

enum { RELEASE_MARKS = 1 << 14 };

/* A call that may have launched something. */
typedef struct host_call {
	uint64_t correlation : 56;
	uint64_t is_other : 1; /* not a call into the driver */
	int64_t start_ns;
	uint64_t slice;
	uint32_t file;
	uint32_t reserved;
} host_call;

/* Work on a device. */
typedef struct device_work {
	uint64_t slice;
	uint64_t correlation;
	int64_t start_ns;
	uint32_t file;
	uint32_t reserved;
} device_work;

static int compare_launch(const host_call *a, const host_call *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (int)a->is_other - (int)b->is_other;
}

static bool call_before(const host_call *a, const host_call *b)
{
	int order = compare_launch(a, b);

	if (order)
		return order < 0;
	return a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->slice < b->slice);
}

#define SORT_NAME sort_calls
#define SORT_TYPE host_call
#define SORT_BEFORE(a, b) call_before(a, b)
#include "base/sort_template.h"

#define SORT_NAME sort_work
#define SORT_TYPE device_work
#define SORT_BEFORE(a, b) ((a)->slice < (b)->slice)
#include "base/sort_template.h"

typedef struct join {
	bulk calls, work;
	size_t at; /* where the last search ended */
} join;

static bool gather_track(join *j, const build_track *t)
{
	const slice_mark *marks = (const slice_mark *)t->correlated.bytes;
	bool device = t->info.kind == TRACK_STREAM;
	size_t released = 0;

	for (size_t i = 0; i < t->correlated.n / sizeof *marks; i++) {
		const slice_mark *m = &marks[i];
		if (i % RELEASE_MARKS == 0)
			bulk_release(&t->correlated, &released, i * sizeof *marks);
		uint64_t slice = track_lane(t, m->place.lane)->first_slice + m->place.row;
		void *at = bulk_add(device ? &j->work : &j->calls, device ? sizeof(device_work) : sizeof(host_call));
		if (!at)
			return false;
		if (device)
			*(device_work *)at = (device_work){ slice, m->correlation, m->start_ns, t->file, 0 };
		else
			*(host_call *)at =
				(host_call){ m->correlation, !m->is_runtime, m->start_ns, slice, t->file, 0 };
	}
	return true;
}

static bool has_work(const builder *b)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].info.kind == TRACK_STREAM && tracks[i].correlated.n)
			return true;
	return false;
}

static bool gather(join *j, builder *b)
{
	size_t n;

	builder_tracks(b, &n);
	if (!has_work(b))
		return true;
	for (size_t i = 0; i < n; i++) {
		build_track *t = b->track_order[i];
		if (!gather_track(j, t))
			return false;
		bulk_done(&t->correlated);
	}
	return sort_calls((host_call *)j->calls.bytes, j->calls.n / sizeof(host_call)) &&
	       sort_work((device_work *)j->work.bytes, j->work.n / sizeof(device_work));
}

/* How many calls are not after the key; begins at the last answer. */
static size_t count_until(join *j, const host_call *key)
{
	const host_call *calls = (const host_call *)j->calls.bytes;
	size_t n = j->calls.n / sizeof *calls, low = 0, high = n, at = j->at < n ? j->at : n, step = 1;

	/* [low, high] around the answer, in growing steps from where it was last */
	if (at < n && !call_before(key, &calls[at])) {
		for (low = at + 1; low + step <= n && !call_before(key, &calls[low + step - 1]); step *= 2)
			low += step;
		high = low + step <= n ? low + step - 1 : n;
	} else {
		for (high = at; step <= high && call_before(key, &calls[high - step]); step *= 2)
			high -= step;
		low = step <= high ? high - step + 1 : 0;
	}
	return j->at = FIRST_NOT(i, low, high, !call_before(key, &calls[i]));
}

/* The last call of the key's kind that starts no later than the key; else the first. NULL: there is none. */
static const host_call *find_kind(join *j, const host_call *key)
{
	const host_call *calls = (const host_call *)j->calls.bytes;
	size_t n = j->calls.n / sizeof *calls, at = count_until(j, key);

	if (at && compare_launch(&calls[at - 1], key) == 0)
		return &calls[at - 1];
	return at < n && compare_launch(&calls[at], key) == 0 ? &calls[at] : NULL;
}

static const host_call *find_call(join *j, const device_work *w)
{
	host_call key = {
		.correlation = w->correlation, .start_ns = w->start_ns, .slice = UINT64_MAX, .file = w->file
	};
	const host_call *call = find_kind(j, &key);

	if (call)
		return call;
	key.is_other = 1;
	return find_kind(j, &key);
}

bool launches_build(builder *b, build_table *t)
{
	join j = { 0 };
	bool ok = gather(&j, b);
	const device_work *work = (const device_work *)j.work.bytes;

	for (size_t i = 0; ok && i < j.work.n / sizeof *work; i++) {
		const host_call *call = find_call(&j, &work[i]);
		int64_t row[COLUMNS_MAX] = { [LAUNCH_DEVICE] = (int64_t)work[i].slice,
					     [LAUNCH_HOST] = call ? (int64_t)call->slice + 1 : 0,
					     [LAUNCH_CORRELATION] = (int64_t)work[i].correlation - 1 };
		b->n_without_launch += !call;
		table_add(t, row);
	}
	bulk_done(&j.calls);
	bulk_done(&j.work);
	return ok;
}
