/*
 * What Chrome's events mean, into the builder, in the order of the file. See chrome.h.
 *
 *   chrome/numbers.c   strings, sites, processes and tracks
 *   chrome/args.c      arguments
 *   chrome/families.c  records of them
 *   chrome/facts.c     facts in them
 *   chrome/scopes.c    begins and ends
 *   chrome/meta.c      metadata
 *
 * Everything else is handed over as it comes; the builder sorts.
 */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/decimal.h"
#include "store/build/far_times.h"

uint64_t apply_correlation(const chrome_event *e)
{
	bool has = (e->flags & EVENT_HAS_CORRELATION) && e->id >= 0 && e->id < INT64_C(1) << 55;

	return has ? (uint64_t)(e->id + 1) & ((UINT64_C(1) << 56) - 1) : 0;
}

void apply_device(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	site_class class = (site_class)r->sites.entries.items[e->site].class;
	chrome_track *t = &r->tracks.items[e->track];

	if ((class != CLASS_KERNEL && class != CLASS_COPY) || t->device_known || t->global == CHROME_NONE)
		return;
	int64_t device = apply_int_arg(r, b, e, "device", -1);
	index_track *track = builder_track_of(a->b, t->global);
	t->device_known = device >= 0; /* not every slice says it */
	if (device >= 0 && device <= INT32_MAX && track->device < 0)
		track->device = (int32_t)device;
}

void apply_step(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	int64_t number;

	if (!r->sites.entries.items[e->site].is_step)
		return;
	number = apply_int_arg(r, b, e, "step", -1);
	if (number != -1)
		builder_step(a->b, apply_track(a, r, e->track), e->ts_ns, number);
}

static void complete_event(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint64_t at = b->offset + e->at;
	builder_slice slice = {
		.start_ns = e->ts_ns,
		.dur_ns = e->dur_ns,
		.site = apply_site(a, r, e->site),
		.args = apply_args(a, r, b, e),
		.correlation = apply_correlation(e),
	};

	if (!(e->flags & EVENT_HAS_DURATION)) {
		apply_problem(a, PROBLEM_NO_DURATION, at);
	} else if (e->dur_ns < 0) {
		apply_problem(a, PROBLEM_NEGATIVE, at);
		slice.dur_ns = 0;
	} else if (e->dur_ns > TRACE_NS_MAX - e->ts_ns) {
		if (!(e->repairs & REPAIR(RANGE)))
			apply_problem(a, PROBLEM_RANGE, at);
		slice.dur_ns = TRACE_NS_MAX - e->ts_ns;
	}
	uint32_t track = apply_track(a, r, e->track);
	builder_slice_add(a->b, track, &slice);
	apply_device(a, r, b, e);
	apply_step(a, r, b, e);
	apply_saw_time(a, slice.start_ns + slice.dur_ns, at);
}

/* "name[id]": counters of the same name with different ids are different counters. */
static uint32_t counter_name(chrome_apply *a, chrome_reader *r, const chrome_event *e)
{
	const dict_entry *name = &r->sites.entries.items[e->site];
	const dict_entry *id = e->id >= 0 && e->id >> 62 ? &r->strings.entries.items[(uint32_t)e->id] : NULL;

	if (!(e->flags & EVENT_HAS_ID))
		return apply_name(a, r, e->site);
	size_t room = (size_t)name->len + (id ? id->len : 0) + 32;
	char *joined = malloc(room);
	if (!joined) {
		a->failed = true;
		return INDEX_NONE;
	}
	memcpy(joined, name->text, name->len);
	size_t len = name->len;
	if (id)
		len += (size_t)snprintf(joined + len, room - len, "[%.*s]", (int)id->len, (const char *)id->text);
	else
		len += (size_t)snprintf(joined + len, room - len, "[%" PRId64 "]", e->id);
	uint32_t string = apply_string(a, (const uint8_t *)joined, len);
	free(joined);
	return string;
}

static void counter_event(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t process = apply_process(a, r, e->track), n = apply_n_args(r, e), n_values = 0;
	uint32_t track = builder_track(a->b, TRACK_PROCESS, process, 0, INDEX_NONE, INDEX_NONE);
	uint32_t category = apply_reader_string(a, r, r->sites.entries.items[e->site].key - 1);

	uint32_t name = counter_name(a, r, e);
	for (uint32_t i = 0; i < n; i++) {
		const args_piece *key = &r->templates.items[r->layouts.items[e->layout].template].keys[i];
		chrome_arg value = apply_arg(r, b, e, i);
		double number = (double)value.number;
		if (!value.is_int) {
			char text[64], *end = text;
			if (value.len < sizeof text) {
				snprintf(text, sizeof text, "%.*s", (int)value.len, (const char *)value.text);
				number = decimal_f64(text, &end);
			}
			if (end == text || *end || number != number || number > 1e308 || number < -1e308)
				continue;
		}
		builder_value(a->b, track, name, apply_string(a, (const uint8_t *)key->text, key->len), category,
			      e->ts_ns, number);
		n_values++;
	}
	if (n_values)
		apply_saw_time(a, e->ts_ns, b->offset + e->at);
	if (!n_values)
		apply_problem(a, PROBLEM_LOST_VALUES, b->offset + e->at);
	else if (n_values < n)
		apply_problem(a, PROBLEM_VALUES, b->offset + e->at);
}

static void instant_event(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t site = apply_site(a, r, e->site), args = apply_args(a, r, b, e);
	const chrome_layout *layout = &r->layouts.items[e->layout];
	const int16_t *gaps = layout->memory;
	bool of_process = layout->scope == 'p' && r->sites.entries.items[e->site].is_own;
	uint32_t track = of_process ? builder_track(a->b, TRACK_PROCESS, apply_process(a, r, e->track), 0, INDEX_NONE,
						    INDEX_NONE)
				    : apply_track(a, r, e->track);

	if (!r->sites.entries.items[e->site].is_memory || gaps[MEMORY_BYTES] < 0) {
		builder_instant(a->b, track, e->ts_ns, site, args, layout->scope);
		return;
	}
	int64_t device_type = apply_int_gap(r, b, e, gaps[MEMORY_DEVICE_TYPE], -1),
		device = apply_int_gap(r, b, e, gaps[MEMORY_DEVICE], -1);
	builder_allocation_add(a->b, &(builder_allocation){
					     .time_ns = e->ts_ns,
					     .track = track,
					     .site = site,
					     .args = args,
					     .device_type = apply_small(device_type),
					     .device = apply_small(device),
					     .address = (uint64_t)apply_int_gap(r, b, e, gaps[MEMORY_ADDRESS], 0),
					     .bytes = apply_int_gap(r, b, e, gaps[MEMORY_BYTES], 0),
					     .total_bytes = apply_int_gap(r, b, e, gaps[MEMORY_TOTAL], -1),
					     .reserved_bytes = apply_int_gap(r, b, e, gaps[MEMORY_RESERVED], -1),
				     });
}

static void flow_event(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e, char phase)
{
	uint32_t track = apply_track(a, r, e->track), site = apply_site(a, r, e->site);
	uint64_t id = apply_id(a, r, e);
	uint32_t process = r->tracks.items[e->track].process;

	if (process < a->flow_bases.n && id >> 62 != 1)
		id -= (uint64_t)a->flow_bases.items[process];
	if (phase == 'f' && (e->flags & EVENT_BINDS_ENCLOSING))
		phase = 'F';
	builder_flow(a->b, track, e->ts_ns, site, id, phase, apply_args(a, r, b, e));
}

/* ---- One event after the other ----------------------------------------------------------------------------------- */

static void count_repairs(chrome_apply *a, const chrome_batch *b, const chrome_event *e)
{
	for (uint32_t bits = e->repairs; bits; bits &= bits - 1)
		apply_problem(a, (chrome_problem)__builtin_ctz(bits), b->offset + e->at);
}

enum { PHASE_IMPORTED = 1, PHASE_NAMED = 2 /* ought to have a name */ };
static const uint8_t phases[256] = {
	['X'] = PHASE_IMPORTED | PHASE_NAMED,
	['B'] = PHASE_IMPORTED | PHASE_NAMED,
	['b'] = PHASE_IMPORTED | PHASE_NAMED,
	['i'] = PHASE_IMPORTED | PHASE_NAMED,
	['I'] = PHASE_IMPORTED | PHASE_NAMED,
	['C'] = PHASE_IMPORTED | PHASE_NAMED,
	['n'] = PHASE_IMPORTED | PHASE_NAMED,
	['E'] = PHASE_IMPORTED,
	['e'] = PHASE_IMPORTED,
	['s'] = PHASE_IMPORTED,
	['t'] = PHASE_IMPORTED,
	['f'] = PHASE_IMPORTED,
	['P'] = PHASE_IMPORTED,
	['O'] = PHASE_IMPORTED,
};

static void apply_event(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	char phase = r->layouts.items[e->layout].phase;
	uint64_t at = b->offset + e->at;

	a->n_phase[(uint8_t)phase]++;
	if (e->repairs)
		count_repairs(a, b, e);
	if (phase == 'M') {
		apply_metadata(a, r, b, e);
		return;
	}
	if (!(phases[(uint8_t)phase] & PHASE_IMPORTED)) {
		apply_problem(a, phase ? PROBLEM_LOST_PHASE : PROBLEM_LOST_NO_PHASE, at);
		return;
	}
	if (!(e->flags & EVENT_HAS_TIME)) {
		apply_problem(a, PROBLEM_LOST_NO_TIME, at);
		return;
	}
	if (!(e->flags & EVENT_HAS_NAME) && phases[(uint8_t)phase] & PHASE_NAMED)
		apply_problem(a, PROBLEM_NO_NAME, at);
	if (phase != 'E' && phase != 'e' && phase != 'C') /* those may be lost yet */
		apply_saw_time(a, e->ts_ns, at);
	switch (phase) {
	case 'X':
		complete_event(a, r, b, e);
		break;
	case 'B':
		apply_begin(a, r, b, e);
		break;
	case 'E':
		apply_end(a, r, b, e);
		break;
	case 'b':
	case 'e':
	case 'n':
		apply_async(a, r, b, e, phase);
		break;
	case 'i':
	case 'I':
		instant_event(a, r, b, e);
		break;
	case 'C':
		counter_event(a, r, b, e);
		break;
	case 'P':
		builder_sample(a->b, apply_track(a, r, e->track), e->ts_ns, apply_site(a, r, e->site),
			       apply_args(a, r, b, e));
		break;
	case 'O':
		builder_instant(a->b, apply_track(a, r, e->track), e->ts_ns, apply_site(a, r, e->site),
				apply_args(a, r, b, e), 'O');
		break;
	default:
		flow_event(a, r, b, e, phase);
	}
}

bool chrome_apply_batch(chrome_apply *a, chrome_reader *r, const chrome_batch *b)
{
	if (b->failed || r->failed) /* some of its numbers stand for nothing */
		return false;
	for (size_t i = 0; i < b->events.n && !a->failed; i++)
		apply_event(a, r, b, &b->events.items[i]);
	for (unsigned i = 0; i < PROBLEM_KINDS; i++)
		if (b->problems.count[i])
			chrome_problem_add(&a->problems, (chrome_problem)i, b->problems.count[i], b->problems.first[i]);
	a->n_lost += b->n_lost;
	return !a->failed;
}

void chrome_apply_problem(chrome_apply *a, chrome_problem what, uint64_t n, uint64_t offset)
{
	chrome_problem_add(&a->problems, what, n, offset);
}

uint64_t chrome_apply_strangers(const chrome_apply *a, uint64_t *ret_first)
{
	static const chrome_problem kinds[] = { PROBLEM_LOST_ELEMENTS, PROBLEM_LOST_NO_PHASE, PROBLEM_GARBAGE };
	uint64_t n = 0, n_events = a->n_lost - a->problems.count[PROBLEM_LOST_ELEMENTS];

	for (unsigned i = 1; i < 256; i++) /* a phase, known or not */
		n_events += a->n_phase[i];
	*ret_first = UINT64_MAX;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		uint64_t first = a->problems.first[kinds[i]];
		if (a->problems.count[kinds[i]])
			*ret_first = first < *ret_first ? first : *ret_first;
		n += a->problems.count[kinds[i]];
	}
	return n_events ? 0 : n;
}

/* ---- Times far outside of all others ----------------------------------------------------------------------------- */

/* Of the builder's files that this one is; the last is the file itself. */
static uint32_t file_at(const chrome_apply *a, size_t i)
{
	return i < a->ranks.n ? a->ranks.items[i].file : a->job->file_number;
}

/* When the file begins and ends without them, which is when scopes without an end do, and where the first is. */
static void find_far(chrome_apply *a)
{
	time_range all = { INT64_MAX, INT64_MIN }, one;
	bool is_some = false;

	for (size_t i = 0; i <= a->ranks.n; i++) {
		bool has_far = builder_find_times(a->b, file_at(a, i), &one);
		if (!has_far && !builder_file_span(a->b, file_at(a, i), &one.start_ns, &one.end_ns))
			continue;
		is_some |= has_far;
		all.start_ns = one.start_ns < all.start_ns ? one.start_ns : all.start_ns;
		all.end_ns = one.end_ns > all.end_ns ? one.end_ns : all.end_ns;
	}
	if (!is_some)
		return;
	bool is_early = a->first_ns<all.start_ns, is_late = a->last_ns> all.end_ns;
	a->far_at = is_early && (!is_late || a->first_at < a->last_at) ? a->first_at : a->last_at;
	a->first_ns = all.start_ns;
	a->last_ns = all.end_ns;
}

static void set_apart(chrome_apply *a)
{
	time_range range;
	uint64_t n = 0;

	for (size_t i = 0; i <= a->ranks.n; i++)
		if (builder_find_times(a->b, file_at(a, i), &range))
			n += builder_set_apart(a->b, file_at(a, i), range);
	if (n)
		chrome_problem_add(&a->problems, PROBLEM_FAR, n, a->far_at);
}

bool chrome_apply_finish(chrome_apply *a)
{
	bool has_far = is_far_range(a->first_ns, a->last_ns);
	if (has_far)
		find_far(a);
	apply_close_scopes(a);
	if (has_far)
		set_apart(a);
	apply_put_meta(a);
	for (unsigned i = 0; i < PROBLEM_KINDS; i++)
		if (a->problems.count[i])
			builder_diagnostic(a->b, &(builder_problem){ .kind = PROBLEM_FIRST + i,
								     .n = a->problems.count[i],
								     .file = a->job->file,
								     .position = (int64_t)a->problems.first[i] });
	/* Old writers gave microseconds since 1970: after the year 2008, at least. */
	bool is_epoch = a->first_ns != INT64_MAX && a->first_ns > INT64_C(1200000000000000000);
	if (a->has_base && is_epoch) {
		builder_diagnostic(a->b, &(builder_problem){ .kind = DIAGNOSTIC_TEXT_BASE_TIME,
							     .n = 1,
							     .file = a->job->file,
							     .position = -1 });
	} else if (a->has_base) {
		builder_file_shift(a->b, a->job->file_number, a->base_ns);
		for (size_t i = 0; i < a->ranks.n; i++)
			builder_file_shift(a->b, a->ranks.items[i].file, a->base_ns);
	}
	if (a->has_base || is_epoch)
		builder_clock(a->b, INDEX_CLOCK_EPOCH);
	a->job->n_events = a->n_lost;
	for (unsigned i = 0; i < 256; i++)
		a->job->n_events += a->n_phase[i];
	return !a->failed;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

chrome_apply *chrome_apply_new(import_job *job)
{
	chrome_apply *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->job = job;
	a->b = job->builder;
	a->first_ns = INT64_MAX;
	a->last_ns = INT64_MIN;
	apply_open_scopes(a);
	return a;
}

void chrome_apply_free(chrome_apply *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->tops.n; i++)
		free(a->tops.items[i].key);
	VEC_DONE(&a->tops);
	pairing_done(&a->scopes);
	pairing_done(&a->async_scopes);
	dict_done(&a->threads);
	VEC_DONE(&a->text);
	dict_done(&a->ranked);
	VEC_DONE(&a->ranks);
	VEC_DONE(&a->flow_bases);
	dict_done(&a->async);
	dict_done(&a->family_names);
	VEC_DONE(&a->families);
	for (size_t i = 0; i < FACT_KINDS; i++) {
		intern_done(&a->facts[i].keys);
		VEC_DONE(&a->facts[i].numbers);
	}
	free(a);
}
