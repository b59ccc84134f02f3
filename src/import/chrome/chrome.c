/*
 * The importer of Chrome's JSON. See chrome.h.
 *
 * The text comes in windows, and each thread takes one after the other. Within the event list, the reading of a window
 * starts at the first place that looks like the start of an event, before anybody knows whether the guess is right.
 * Then the thread waits for its turn, in the order of the text: what is left of the windows before, the carry, is read
 * up to that place, and only if it ends there with a whole event does the window's reading count. Otherwise carry and
 * window are read again as one. While one thread has its turn, the others read.
 */
#define _GNU_SOURCE
#include "import/chrome/stretch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "import/chrome/scan.h"
#include "base/threads.h"

enum { MAX_THREADS = INPUT_WINDOWS - 1 };

typedef enum where {
	AT_START,
	IN_TOP_LEVEL, /* of the object around the events */
	IN_EVENTS,
	AT_END,
} where;

/* One of the threads, and the window it has. */
typedef struct worker {
	chrome_reader reader;
	chrome_batch batch;
	input_window window;
	const uint8_t *guess; /* where its reading began; NULL: nothing looks like an event */
	stretch result;
} worker;

typedef struct driver {
	import_job *job;
	pthread_t caller; /* the thread that may tell of progress */
	worker workers[MAX_THREADS];
	unsigned n_workers;

	/* whose window is next, under taking */
	pthread_mutex_t taking;
	uint64_t n_taken;
	bool stop; /* there is no more, or something failed */

	/* whose turn it is, under turning */
	pthread_mutex_t turning;
	pthread_cond_t turned;
	uint64_t turn;

	/* of whose turn it is */
	sonde_status status;
	sonde_error error;
	chrome_apply *apply;
	where where;
	bool in_object; /* the events are a member of an object */
	bool found_events;
	bool complete; /* its end was seen */
	bool lost;     /* the next event is to be searched */
	bool top_lost; /* the events are to be searched */
	/* What is read next: the carry, text that is left over, which begins at carry_offset. */
	VEC(uint8_t) carry_room;
	size_t carry_from; /* read already */
	uint64_t carry_offset;
	chrome_reader *reader; /* of the carry: the worker's */
	chrome_batch batch;
} driver;

static void empty_batch(chrome_batch *b, uint64_t offset)
{
	b->offset = offset;
	b->events.n = b->values.n = 0;
	b->problems = (chrome_problems){ 0 };
	b->n_lost = 0;
	b->failed = false;
}

static void read_window(worker *w)
{
	const uint8_t *bytes = w->window.bytes, *end = bytes + w->window.len;
	stretch_text t = { &w->reader, &w->batch, bytes, end, w->window.last };

	empty_batch(&w->batch, w->window.offset);
	w->guess = chrome_resync(bytes, bytes, end);
	if (w->guess)
		w->result = stretch_read(&t, w->guess, false);
}

/* ---- The carry --------------------------------------------------------------------------------------------------- */

static const uint8_t *carry_bytes(const driver *d)
{
	return d->carry_room.items + d->carry_from;
}

static size_t carry_len(const driver *d)
{
	return d->carry_room.n - d->carry_from;
}

/* Adds text to the carry; INPUT_SLACK zeros follow it. */
static bool carry_add(driver *d, const uint8_t *bytes, size_t len)
{
	if (d->carry_from) {
		memmove(d->carry_room.items, carry_bytes(d), carry_len(d));
		d->carry_room.n = carry_len(d);
		d->carry_from = 0;
	}
	size_t needed = d->carry_room.n + len + INPUT_SLACK;
	if (d->carry_room.capacity < needed) {
		uint8_t *grown = realloc(d->carry_room.items, needed * 2);
		if (!grown)
			return false;
		d->carry_room.items = grown;
		d->carry_room.capacity = needed * 2;
	}
	memcpy(d->carry_room.items + d->carry_room.n, bytes, len);
	d->carry_room.n += len;
	memset(d->carry_room.items + d->carry_room.n, 0, INPUT_SLACK);
	return true;
}

/* The first n bytes have been read. */
static void carry_drop(driver *d, size_t n)
{
	d->carry_from += n;
	d->carry_offset += n;
}

static sonde_status out_of_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

/* Reads events from the carry as far as they go. */
static sonde_status carry_events(driver *d, bool final, sonde_error *err)
{
	stretch_text t = { d->reader, &d->batch, carry_bytes(d), carry_bytes(d) + carry_len(d), final };

	empty_batch(&d->batch, d->carry_offset);
	stretch s = stretch_read(&t, t.base, d->lost);
	if (!chrome_apply_batch(d->apply, d->reader, &d->batch))
		return out_of_memory(err);
	d->lost = s.lost;
	if (s.ended)
		d->where = d->in_object ? IN_TOP_LEVEL : AT_END;
	carry_drop(d, (size_t)(s.at - t.base));
	return SONDE_OK;
}

/* ---- Around the events ------------------------------------------------------------------------------------------- */

static bool is_events_key(const uint8_t *key, size_t len)
{
	return len == 11 && memcmp(key, "traceEvents", 11) == 0;
}

/* One member of the object around the events. *ret_at: where to go on. False: more text is needed. */
static bool read_top_level(driver *d, const uint8_t *at, const uint8_t *end, const uint8_t **ret_at)
{
	uint32_t repairs = 0;

	for (at = skip_space(at, end); at < end && *at == ','; at = skip_space(at, end))
		at++;
	*ret_at = at;
	if (at == end)
		return false;
	if (*at == '}') {
		d->where = AT_END;
		*ret_at = at + 1;
		return true;
	}
	const uint8_t *key = at + 1, *p = at;
	read_status status = *at == '"' ? chrome_skip_value(&p, end, false, &repairs) : READ_BAD;
	size_t key_len = (size_t)(p - 1 - key);
	if (status == READ_OK) {
		p = skip_space(p, end);
		status = p == end ? READ_MORE : *p == ':' ? READ_OK : READ_BAD;
	}
	if (status == READ_OK) {
		p = skip_space(p + 1, end);
		if (p < end && *p == '[' && is_events_key(key, key_len)) {
			d->where = IN_EVENTS;
			d->found_events = true;
			*ret_at = p + 1;
			return true;
		}
		const uint8_t *value = p;
		status = chrome_skip_value(&p, end, true, &repairs);
		if (status == READ_OK)
			chrome_apply_top_level(d->apply, key, key_len, value, (size_t)(p - value),
					       d->carry_offset + (uint64_t)(value - carry_bytes(d)));
	}
	if (status == READ_OK) {
		*ret_at = p;
		return true;
	}
	if (status == READ_MORE)
		return false;
	chrome_apply_problem(d->apply, PROBLEM_TOP_LEVEL, 1, d->carry_offset + (uint64_t)(p - carry_bytes(d)));
	d->top_lost = true;
	*ret_at = p;
	return true;
}

/* Where the list behind the key "traceEvents" begins, or NULL; *ret_rest: what is to be looked at again with more text.
 */
static const uint8_t *find_list(const uint8_t *at, const uint8_t *end, const uint8_t **ret_rest)
{
	static const char key[] = "\"traceEvents\"";
	enum { LEN = sizeof key - 1 };

	for (const uint8_t *found; (found = memmem(at, (size_t)(end - at), key, LEN)); at = found + LEN) {
		const uint8_t *p = skip_space(found + LEN, end);
		if (p < end && *p == ':')
			p = skip_space(p + 1, end);
		*ret_rest = found;
		if (p == end)
			return NULL;
		if (*p == '[')
			return p + 1;
	}
	*ret_rest = end - at > LEN ? end - LEN : at;
	return NULL;
}

/* After damage only the events are worth searching for: the list, or the rest of it when it ended too early. */
static void find_events(driver *d, const uint8_t *at, const uint8_t *end, const uint8_t **ret_at)
{
	const uint8_t *list = find_list(at, end, ret_at);

	if (list) {
		*ret_at = list;
		d->where = IN_EVENTS;
		d->found_events = true;
		d->top_lost = false;
	} else if (d->found_events) {
		*ret_at = at;
		d->where = IN_EVENTS;
		d->lost = d->complete = true;
		d->top_lost = false;
	}
}

static void read_start(driver *d, const uint8_t *at, const uint8_t *end, const uint8_t **ret_at)
{
	static const uint8_t bom[] = { 0xef, 0xbb, 0xbf };

	if (end - at >= 3 && memcmp(at, bom, 3) == 0)
		at += 3;
	at = skip_space(at, end);
	*ret_at = at < end ? at + 1 : at;
	if (at < end) {
		d->in_object = *at == '{';
		d->where = d->in_object ? IN_TOP_LEVEL : IN_EVENTS;
	}
}

/* Behind the end: nothing, or events that a stray bracket cut off. */
static void read_rest(driver *d, const uint8_t *at, const uint8_t *end, const uint8_t **ret_at)
{
	*ret_at = at = skip_space(at, end);
	d->complete = true;
	if (at < end) {
		chrome_apply_problem(d->apply, PROBLEM_GARBAGE, 1, d->carry_offset + (uint64_t)(at - carry_bytes(d)));
		d->where = IN_EVENTS;
		d->lost = true;
	}
}

/* Reads the carry until it is empty or a window's reading may be taken. */
static sonde_status read_carry(driver *d, bool final, sonde_error *err)
{
	while (carry_len(d)) {
		size_t before = carry_len(d);
		where was = d->where;
		bool was_lost = d->top_lost;
		if (d->where == IN_EVENTS) {
			sonde_status status = carry_events(d, final, err);
			if (status)
				return status;
		} else {
			const uint8_t *at = carry_bytes(d), *end = at + carry_len(d), *next = at;
			if (d->where == AT_START)
				read_start(d, at, end, &next);
			else if (d->top_lost)
				find_events(d, at, end, &next);
			else if (d->where == AT_END)
				read_rest(d, at, end, &next);
			else
				read_top_level(d, at, end, &next);
			carry_drop(d, (size_t)(next - at));
		}
		if (carry_len(d) == before && d->where == was && d->top_lost == was_lost)
			break;
	}
	if (d->where == IN_TOP_LEVEL && carry_len(d) > CHROME_BESIDE_MAX)
		return error_set(err, SONDE_E_FORMAT, (int64_t)d->carry_offset,
				 "a value outside the events is longer than %d MiB", CHROME_BESIDE_MAX >> 20);
	return SONDE_OK;
}

/* ---- Window after window ----------------------------------------------------------------------------------------- */

/* Takes the events of a window if the carry leads to them, else reads it again. */
static sonde_status take_events(driver *d, worker *w, sonde_error *err)
{
	const uint8_t *bytes = w->window.bytes, *end = bytes + w->window.len;
	size_t lead = w->guess ? (size_t)(w->guess - bytes) : w->window.len;
	bool last = w->window.last;

	d->reader = &w->reader;
	if (!carry_len(d))
		d->carry_offset = w->window.offset;
	if (!carry_add(d, bytes, lead))
		return out_of_memory(err);
	sonde_status status = read_carry(d, last && !w->guess, err);
	if (status == SONDE_OK && w->guess) {
		if (d->where == IN_EVENTS && !carry_len(d) && !d->lost) {
			if (!chrome_apply_batch(d->apply, &w->reader, &w->batch))
				return out_of_memory(err);
			lead = (size_t)(w->result.at - bytes);
			d->lost = w->result.lost;
			if (w->result.ended)
				d->where = d->in_object ? IN_TOP_LEVEL : AT_END;
		}
		if (!carry_len(d))
			d->carry_offset = w->window.offset + lead;
		if (!carry_add(d, bytes + lead, (size_t)(end - bytes) - lead))
			return out_of_memory(err);
		if (d->where != IN_EVENTS || d->lost || last || carry_len(d) > CHROME_EVENT_MAX ||
		    w->result.at < w->guess || lead == (size_t)(w->guess - bytes))
			status = read_carry(d, last, err);
	}
	return status;
}

/* The next window and its number; false: there is none. */
static bool take_window(driver *d, worker *w, uint64_t *ret_number, sonde_status *status, sonde_error *err)
{
	pthread_mutex_lock(&d->taking);
	bool is_there = !d->stop;
	if (is_there) {
		*ret_number = d->n_taken++;
		*status = input_next(d->job->in, &w->window, err);
		d->stop = *status || w->window.last;
	}
	pthread_mutex_unlock(&d->taking);
	return is_there;
}

static void wait_for_turn(driver *d, uint64_t number)
{
	pthread_mutex_lock(&d->turning);
	while (d->turn != number)
		pthread_cond_wait(&d->turned, &d->turning);
	pthread_mutex_unlock(&d->turning);
}

static void end_turn(driver *d)
{
	if (d->status) {
		pthread_mutex_lock(&d->taking);
		d->stop = true;
		pthread_mutex_unlock(&d->taking);
	}
	pthread_mutex_lock(&d->turning);
	d->turn++;
	pthread_cond_broadcast(&d->turned);
	pthread_mutex_unlock(&d->turning);
}

static bool goes_on(driver *d)
{
	import_job *job = d->job;

	return !job->progress || !pthread_equal(pthread_self(), d->caller) || job->progress(job->context, job->in);
}

/* A thread: window after window until there is none. */
static void read_windows(void *context, size_t number)
{
	driver *d = context;
	worker *w = &d->workers[number];
	sonde_status status;
	sonde_error err;

	for (uint64_t window; take_window(d, w, &window, &status, &err);) {
		if (!status)
			read_window(w);
		wait_for_turn(d, window);
		if (!status && !d->status)
			status = take_events(d, w, &err);
		if (!status && !d->status && !goes_on(d))
			status = error_set(&err, SONDE_E_STATE, -1, "interrupted");
		if (status && !d->status) {
			d->status = status;
			d->error = err;
		}
		input_release(d->job->in, &w->window);
		end_turn(d);
	}
}

static sonde_status finish(driver *d, sonde_error *err)
{
	uint64_t offset;
	bool damage = input_damage(d->job->in, &offset) != NULL;

	if (d->where == AT_START)
		return error_set(err, SONDE_E_TRUNCATED, 0, "the file is empty");
	if (d->in_object && !d->found_events) {
		d->job->is_no_trace = true;
		return error_set(err, SONDE_E_FORMAT, (int64_t)d->carry_offset,
				 "unrecognized format: a JSON object without a list \"traceEvents\"; expected Chrome "
				 "trace JSON or a .sonde file");
	}
	uint64_t first, n_strangers = chrome_apply_strangers(d->apply, &first);
	if (n_strangers) {
		d->job->is_no_trace = true;
		return error_set(err, SONDE_E_FORMAT, (int64_t)first,
				 "unrecognized format: a JSON list without any trace event (%" PRIu64
				 " other element%s); expected objects with \"ph\" and \"ts\", as in Chrome trace JSON",
				 n_strangers, n_strangers == 1 ? "" : "s");
	}
	/* An array may stay open: that is how programs write events as they come. */
	if (d->where != AT_END && !d->complete && (d->in_object || damage))
		chrome_apply_problem(d->apply, PROBLEM_CUT, 1, d->carry_offset + carry_len(d));
	if (!chrome_apply_finish(d->apply))
		return out_of_memory(err);
	return SONDE_OK;
}

/* ---- The importer ------------------------------------------------------------------------------------------------ */

static bool start(driver *d)
{
	unsigned n = d->job->n_threads;

	d->n_workers = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
	d->caller = pthread_self();
	pthread_mutex_init(&d->taking, NULL);
	pthread_mutex_init(&d->turning, NULL);
	pthread_cond_init(&d->turned, NULL);
	d->apply = chrome_apply_new(d->job);
	for (unsigned i = 0; i < d->n_workers; i++)
		if (!chrome_reader_init(&d->workers[i].reader, d->job))
			return false;
	return d->apply;
}

static void end(driver *d)
{
	for (unsigned i = 0; i < d->n_workers; i++) {
		chrome_reader_done(&d->workers[i].reader);
		VEC_DONE(&d->workers[i].batch.events);
		VEC_DONE(&d->workers[i].batch.values);
	}
	VEC_DONE(&d->batch.events);
	VEC_DONE(&d->batch.values);
	VEC_DONE(&d->carry_room);
	chrome_apply_free(d->apply);
	pthread_mutex_destroy(&d->taking);
	pthread_mutex_destroy(&d->turning);
	pthread_cond_destroy(&d->turned);
	free(d);
}

static sonde_status chrome_run(import_job *job, sonde_error *err)
{
	driver *d = calloc(1, sizeof *d);

	job->world_size = -1;
	if (!d)
		return out_of_memory(err);
	d->job = job;
	sonde_status status = start(d) ? SONDE_OK : out_of_memory(err);
	if (!status) {
		threads_run(d->n_workers, d->n_workers, read_windows, d);
		status = d->status;
		if (status && err)
			*err = d->error;
	}
	if (!status)
		status = finish(d, err);
	end(d);
	return status;
}

static bool chrome_probe(const uint8_t *bytes, size_t len)
{
	static const uint8_t bom[] = { 0xef, 0xbb, 0xbf };
	size_t at = len >= 3 && memcmp(bytes, bom, 3) == 0 ? 3 : 0;
	const uint8_t *start = skip_space(bytes + at, bytes + len);

	return start < bytes + len && (*start == '{' || *start == '[');
}

const importer chrome_importer = {
	.name = "chrome",
	.summary = "Chrome trace events as JSON: PyTorch (Kineto), ONNX Runtime, JAX, viztracer, py-spy and others",
	.probe = chrome_probe,
	.run = chrome_run,
};
