/*
 * The lanes of all tracks, on several threads: each takes track after track, those with most slices first. The blocks
 * of a track stay with one thread: to hand its rows to another takes longer than to pack them.
 */
#include <stdatomic.h>
#include "store/build/builder_state.h"
#include "base/threads.h"

typedef struct track_work {
	builder *b;
	uint32_t *order; /* of tracks */
	size_t n_tracks;
	atomic_size_t next;  /* in the order */
	atomic_bool stopped; /* by the progress function */
	_Atomic uint64_t n_done;
	uint64_t n_slices;
} track_work;

typedef struct track_worker {
	track_work *work;
	packer *packer;
	bool tells; /* the calling thread */
} track_worker;

static bool tick(void *context, uint64_t n_slices)
{
	track_worker *k = context;
	track_work *w = k->work;
	const builder_options *o = &w->b->options;
	uint64_t n_done = atomic_fetch_add(&w->n_done, n_slices) + n_slices;

	if (k->tells && o->progress && !atomic_load(&w->stopped) && !o->progress(o->context, n_done, w->n_slices))
		atomic_store(&w->stopped, true);
	return !atomic_load(&w->stopped);
}

static bool build_one(track_worker *k, uint32_t number)
{
	builder *b = k->work->b;
	build_track *t = &builder_tracks(b, NULL)[number];
	int64_t shift_ns = builder_shift_of(b, number);

	if (!t->feed) {
		t->shift_ns = shift_ns;
		return lanes_build(t, k->packer, shift_ns, tick, k);
	}
	if (lane_feed_finish(t, k->packer, shift_ns))
		return true;
	k->packer->failed |= !k->packer->strange;
	return false;
}

static void run_worker(void *context, size_t number)
{
	track_work *w = context;
	track_worker k = { w, &w->b->packers[number], number == 0 };

	for (size_t i = number; i < w->n_tracks && !atomic_load(&w->stopped); i = atomic_fetch_add(&w->next, 1))
		if (!build_one(&k, w->order[i]))
			atomic_store(&w->stopped, true);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

typedef struct track_size {
	uint64_t n_slices;
	uint32_t track;
} track_size;

#define SORT_NAME sort_sizes
#define SORT_TYPE track_size
#define SORT_BEFORE(a, b) ((a)->n_slices > (b)->n_slices)
#include "base/sort_template.h"

static bool order_tracks(track_work *w)
{
	const build_track *tracks = builder_tracks(w->b, &w->n_tracks);
	track_size *sizes = malloc((w->n_tracks + 1) * sizeof *sizes);

	w->order = malloc((w->n_tracks + 1) * sizeof *w->order);
	for (size_t i = 0; sizes && i < w->n_tracks; i++) {
		sizes[i] = (track_size){ tracks[i].slices.n / sizeof(builder_slice), (uint32_t)i };
		w->n_slices += sizes[i].n_slices;
	}
	bool ok = sizes && w->order && sort_sizes(sizes, w->n_tracks);
	for (size_t i = 0; ok && i < w->n_tracks; i++)
		w->order[i] = sizes[i].track;
	free(sizes);
	return ok;
}

/* Every thread has sums of its own for all sites; those of very many sites must not take more than the slices. */
static unsigned useful_threads(const builder *b, uint64_t n_slices)
{
	enum { WORTH_A_THREAD = 1 << 16, SUMS_BYTES = 64 << 20 };
	uint64_t n = b->n_threads, by_sites = SUMS_BYTES / ((b->sites.n + 1) * sizeof(site_sums)) + 1;

	n = n_slices / WORTH_A_THREAD + 1 < n ? n_slices / WORTH_A_THREAD + 1 : n;
	return (unsigned)(by_sites < n ? by_sites : n);
}

/* One place more than there are sites: for what has no parent. */
static bool add_packers(track_work *w, size_t n)
{
	builder *b = w->b;

	b->packers = calloc(n, sizeof *b->packers);
	if (!b->packers)
		return false;
	b->n_packers = n;
	for (size_t i = 0; i < n; i++) {
		packer *p = &b->packers[i];
		p->classes = b->classes.items;
		p->n_sites = (uint32_t)b->sites.n;
		p->origin_ns = b->options.origin_ns;
		p->spilled = &b->spilled;
		p->sums = calloc((size_t)p->n_sites + 1, sizeof *p->sums);
		if (!p->sums || !packer_init(p))
			return false;
	}
	return true;
}

static void tell_failures(track_work *w)
{
	builder *b = w->b;

	for (size_t i = 0; i < b->n_packers; i++) {
		if (b->packers[i].failed)
			builder_fail(b, SONDE_E_MEMORY, "out of memory");
		if (b->packers[i].strange)
			builder_fail(b, SONDE_E_USAGE, "a slice without a site, or without its parent");
	}
	if (atomic_load(&w->stopped))
		builder_fail(b, SONDE_E_STATE, "stopped");
}

bool tracks_build(builder *b)
{
	track_work w = { .b = b };

	b->n_threads = b->options.n_threads ? b->options.n_threads : threads_available();
	bool ok = order_tracks(&w) && add_packers(&w, useful_threads(b, w.n_slices));
	atomic_store(&w.next, b->n_packers);
	if (ok)
		threads_run((unsigned)b->n_packers, b->n_packers, run_worker, &w);
	else
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	tell_failures(&w);
	free(w.order);
	return !b->status;
}
