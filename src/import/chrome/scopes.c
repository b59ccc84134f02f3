/*
 * B and E pair up per track, b and e per process (or everywhere, with a global id), category and id. See
 * chrome/apply.h; what pairs with what is the business of pairing.h.
 */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

static void add_slice(chrome_apply *a, const pairing_open *s, int64_t end_ns, uint32_t flags, uint32_t args)
{
	const int64_t dur_ns = end_ns - s->ts_ns; /* both are bounded */
	const builder_slice slice = {
		.start_ns = s->ts_ns,
		.dur_ns = dur_ns < 0 ? 0 : dur_ns,
		.site = s->site,
		.args = s->args ? s->args : args,
		.correlation = s->correlation,
		.flags = (flags | s->flags) & 0xff,
	};

	if (dur_ns < 0)
		apply_problem(a, PROBLEM_NEGATIVE, s->at);
	builder_slice_add(a->b, s->track, &slice);
	apply_saw_time(a, slice.start_ns + slice.dur_ns, s->at);
}

/* The args of an end are its scope's where the begin has none. */
static uint32_t end_args(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e,
			 const pairing_open *begun)
{
	if (apply_n_args(r, e) == 0)
		return 0;
	if (begun->args) {
		apply_problem(a, PROBLEM_END_ARGS, b->offset + e->at);
		return 0;
	}
	return apply_args(a, r, b, e);
}

static uint32_t name_of(chrome_apply *a, chrome_reader *r, const chrome_event *e)
{
	return e->flags & EVENT_HAS_NAME ? apply_name(a, r, e->site) : PAIRING_ANY;
}

static void end_scope(chrome_apply *a, pairing *p, uint32_t list, chrome_reader *r, const chrome_batch *b,
		      const chrome_event *e)
{
	pairing_stop end = { .ts_ns = e->ts_ns, .name = name_of(a, r, e), .at = b->offset + e->at };
	pairing_open begun;

	if (pairing_end(p, list, &end, &begun)) {
		add_slice(a, &begun, e->ts_ns, 0, end_args(a, r, b, e, &begun));
	} else {
		end.args = apply_n_args(r, e) ? apply_args(a, r, b, e) : 0;
		pairing_keep_end(p, list, &end);
	}
	a->failed |= p->failed;
}

/* ---- B and E ----------------------------------------------------------------------------------------------------- */

void apply_begin(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t track = apply_track(a, r, e->track), site = apply_site(a, r, e->site);

	pairing_begin(&a->scopes, track,
		      &(pairing_open){ .ts_ns = e->ts_ns,
				       .site = site,
				       .name = r->sites.entries.items[e->site].name,
				       .track = track,
				       .correlation = apply_correlation(e),
				       .args = apply_args(a, r, b, e),
				       .at = b->offset + e->at });
	a->failed |= a->scopes.failed;
	apply_device(a, r, b, e);
	apply_step(a, r, b, e);
}

void apply_end(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	end_scope(a, &a->scopes, apply_track(a, r, e->track), r, b, e);
}

/* ---- b, n and e -------------------------------------------------------------------------------------------------- */

/* What b and e have in common. CHROME_NONE when out of memory. */
static uint32_t async_number(chrome_apply *a, uint32_t process, uint32_t category, uint64_t id)
{
	uint8_t key[16 + 16] = { 0 };
	bool is_new;

	memcpy(key, &process, 4);
	memcpy(key + 4, &category, 4);
	memcpy(key + 8, &id, 8);
	uint32_t number = dict_find(&a->async, key, 16, 0, text_hash(key, 16, 0), &is_new);
	a->failed |= number == CHROME_NONE;
	return number;
}

void apply_async(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e, char phase)
{
	uint32_t process = apply_process(a, r, e->track), name = name_of(a, r, e);
	uint32_t site = phase == 'e' ? INDEX_NONE : apply_site(a, r, e->site);
	uint32_t category = apply_reader_string(a, r, r->sites.entries.items[e->site].key - 1);

	if (phase == 'n') {
		uint32_t track = builder_track(a->b, TRACK_ASYNC, process, 0, INDEX_NONE, category);
		builder_instant(a->b, track, e->ts_ns, site, apply_args(a, r, b, e), 'n');
		return;
	}
	uint32_t number =
		async_number(a, e->flags & EVENT_HAS_GLOBAL_ID ? INDEX_NONE : process, category, apply_id(a, r, e));
	if (number == CHROME_NONE)
		return;
	if (phase == 'e') {
		end_scope(a, &a->async_scopes, number, r, b, e);
		return;
	}
	uint32_t track = builder_track(a->b, TRACK_ASYNC, process, 0, INDEX_NONE, category);
	pairing_begin(&a->async_scopes, number,
		      &(pairing_open){ .ts_ns = e->ts_ns,
				       .site = site,
				       .name = name,
				       .track = track,
				       .flags = SLICE_IS_ASYNC,
				       .args = apply_args(a, r, b, e),
				       .at = b->offset + e->at });
	a->failed |= a->async_scopes.failed;
}

/* ---- When the file ends ------------------------------------------------------------------------------------------ */

/* A scope that its own end did not close when it came. */
static void close_scope(void *context, const pairing_open *begin, const pairing_stop *end, pairing_fate fate)
{
	static const uint32_t flags[] = {
		[PAIRING_MATCHED] = 0,
		[PAIRING_CROSSED] = SLICE_IS_REPAIRED,
		[PAIRING_UNCLOSED] = SLICE_IS_OPEN,
	};
	bool is_matched = fate == PAIRING_MATCHED;
	chrome_apply *a = context;

	if (is_matched && end->args && begin->args)
		apply_problem(a, PROBLEM_END_ARGS, end->at);
	add_slice(a, begin, end->ts_ns, flags[fate], is_matched ? end->args : 0);
}

void apply_open_scopes(chrome_apply *a)
{
	a->scopes = (pairing){ .nests = true, .close = close_scope, .context = a };
	a->async_scopes = (pairing){ .close = close_scope, .context = a };
}

static void count_problem(chrome_apply *a, chrome_problem what, pairing_count count)
{
	if (count.n)
		chrome_problem_add(&a->problems, what, count.n, count.first_at);
}

void apply_close_scopes(chrome_apply *a)
{
	pairing *both[] = { &a->scopes, &a->async_scopes };

	for (size_t i = 0; i < 2; i++)
		pairing_match_kept(both[i]);
	for (size_t i = 0; i < 2; i++) {
		pairing_close_open(both[i], a->last_ns);
		count_problem(a, PROBLEM_UNCLOSED, both[i]->unclosed);
		count_problem(a, PROBLEM_CROSSED, both[i]->crossed);
		count_problem(a, PROBLEM_LOST_ENDS, both[i]->lost_ends);
		count_problem(a, PROBLEM_LOST_WAITING, both[i]->dropped);
		a->failed |= both[i]->failed;
	}
}
