/* Chrome's metadata events and what stands beside the events. See chrome/apply.h. */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/decimal.h"
#include "base/json_read.h"
#include "import/chrome/scan.h"
#include "store/index/facts.h"

/* The string that an argument of a metadata event is. */
static uint32_t string_arg(chrome_apply *a, const chrome_reader *r, const chrome_batch *b, const chrome_event *e,
			   const char *key)
{
	chrome_arg found;
	char number[24];

	if (!apply_find_arg(r, b, e, key, &found))
		return INDEX_NONE;
	if (!found.is_int)
		return apply_string(a, found.text, found.len);
	int len = snprintf(number, sizeof number, "%" PRId64, found.number);
	return builder_string(a->b, number, (size_t)len);
}

/* "GPU 3": the process stands for a device. */
static int32_t device_of_labels(const chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	chrome_arg labels;
	int64_t device;

	if (!apply_find_arg(r, b, e, "labels", &labels) || labels.is_int || labels.len < 5 || labels.len > 12 ||
	    memcmp(labels.text, "GPU ", 4) != 0)
		return -1;
	return decimal_scaled((const char *)labels.text + 4, labels.len - 4, 0, &device) == DECIMAL_EXACT && device >= 0
		       ? apply_small(device)
		       : -1;
}

/* Our own export puts slices that overlap on a thread of their own; they belong to the thread it names. */
static void add_alias(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	uint32_t process = apply_process(a, r, e->track);
	dict_entry *thread = apply_thread(a, r, e->track);
	chrome_arg tid;

	if (!thread || thread->global != CHROME_NONE || !apply_find_arg(r, b, e, "tid", &tid))
		return;
	uint32_t text = tid.is_int ? INDEX_NONE : apply_string(a, tid.text, tid.len);
	thread->global = builder_track(a->b, TRACK_THREAD, process, tid.is_int ? tid.number : 0, text, INDEX_NONE);
}

/* The key as in the JSON, without quotes. A value that is not JSON is kept as a text. */
static void put_meta(chrome_apply *a, int32_t rank, const uint8_t *key, size_t key_len, const char *value, size_t len)
{
	unsigned repairs;
	char *plain = malloc(key_len * 3 + 1);

	if (!plain) {
		a->failed = true;
		return;
	}
	size_t plain_len = json_unescape((const char *)key, key_len, plain, &repairs);
	bool is_json = json_is_valid(value, len), is_text = is_json && a->is_recorded && *value == '"';
	char *text = is_text ? malloc(len * 3 + 1) : NULL;
	if (text) /* recordings have texts there, not JSON */
		builder_meta(a->b, rank, plain, plain_len, text, json_unescape(value + 1, len - 2, text, &repairs),
			     false);
	else
		builder_meta(a->b, rank, plain, plain_len, value, len, is_json);
	a->failed |= is_text && !text;
	free(text);
	free(plain);
}

static void other_metadata(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	const dict_entry *name = &r->sites.entries.items[e->site];

	apply_assemble(a, r, b, e);
	if (!a->text.n)
		apply_text(a, "null", 4);
	if (!a->failed)
		put_meta(a, -1, name->text, name->len, a->text.items, a->text.n);
}

void apply_metadata(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	const dict_entry *name = &r->sites.entries.items[e->site];

	if (apply_is(name, "process_name")) {
		uint32_t process = apply_process(a, r, e->track), text = string_arg(a, r, b, e, "name");
		builder_process_of(a->b, process)->name = text;
	} else if (apply_is(name, "process_labels")) {
		uint32_t process = apply_process(a, r, e->track), text = string_arg(a, r, b, e, "labels");
		builder_process_of(a->b, process)->labels = text;
		builder_process_of(a->b, process)->device = device_of_labels(r, b, e);
	} else if (apply_is(name, "process_sort_index")) {
		builder_process_of(a->b, apply_process(a, r, e->track))->sort =
			apply_small(apply_int_arg(r, b, e, "sort_index", 0));
	} else if (apply_is(name, "thread_name")) {
		uint32_t track = apply_track(a, r, e->track), text = string_arg(a, r, b, e, "name");
		builder_track_of(a->b, track)->name = text;
	} else if (apply_is(name, "thread_sort_index")) {
		builder_track_of(a->b, apply_track(a, r, e->track))->sort =
			apply_small(apply_int_arg(r, b, e, "sort_index", 0));
	} else if (apply_is(name, "sonde_extra_lane")) {
		add_alias(a, r, b, e);
	} else if (apply_is(name, "sonde_device")) {
		builder_process_of(a->b, apply_process(a, r, e->track))->device =
			apply_small(apply_int_arg(r, b, e, "device", -1));
	} else if (apply_is(name, "sonde_track_device")) {
		builder_track_of(a->b, apply_track(a, r, e->track))->device =
			apply_small(apply_int_arg(r, b, e, "device", -1));
	} else if (apply_is(name, "sonde_rank")) {
		apply_rank(a, r, b, e);
	} else {
		other_metadata(a, r, b, e);
	}
}

/* ---- Beside the events ------------------------------------------------------------------------------------------- */

/* The value of a key of an object, as JSON. */
static bool find_member(const uint8_t *at, size_t len, const char *key, const uint8_t **ret_value, size_t *ret_len)
{
	const uint8_t *end = at + len, *p = skip_space(at, end);
	uint32_t repairs = 0;

	if (p == end || *p++ != '{')
		return false;
	for (;;) {
		p = skip_space(p, end);
		if (p == end || *p != '"')
			return false;
		const uint8_t *name = p + 1;
		if (chrome_skip_value(&p, end, false, &repairs) != READ_OK)
			return false;
		size_t name_len = (size_t)(p - 1 - name);
		p = skip_space(p, end);
		if (p == end || *p++ != ':')
			return false;
		*ret_value = p = skip_space(p, end);
		if (chrome_skip_value(&p, end, true, &repairs) != READ_OK)
			return false;
		*ret_len = (size_t)(p - *ret_value);
		if (name_len == strlen(key) && memcmp(name, key, name_len) == 0)
			return true;
		p = skip_space(p, end);
		if (p == end || *p++ != ',')
			return false;
	}
}

static int32_t int_member(const uint8_t *object, size_t len, const char *key)
{
	const uint8_t *value;
	size_t value_len;
	int64_t number;

	if (!find_member(object, len, key, &value, &value_len) || !chrome_is_int(value, value_len, &number) ||
	    number < 0)
		return -1;
	return apply_small(number);
}

static bool is_key(const uint8_t *key, size_t len, const char *wanted)
{
	return len == strlen(wanted) && memcmp(key, wanted, len) == 0;
}

/* A number, also between quotes. */
static bool is_base_time(const uint8_t *text, size_t len, int64_t *ret_ns)
{
	bool quoted = len >= 2 && text[0] == '"';

	return decimal_scaled((const char *)text + quoted, len - 2 * (size_t)quoted, 0, ret_ns) != DECIMAL_BAD;
}

/* What the content says counts more than what was known. */
static void take_member(int32_t *to, const uint8_t *object, size_t len, const char *key)
{
	int32_t value = int_member(object, len, key);

	if (value >= 0)
		*to = value;
}

void apply_keep_top(chrome_apply *a, uint32_t file, const uint8_t *key, size_t key_len, const uint8_t *value,
		    size_t len, uint64_t offset)
{
	if (len + key_len > CHROME_BESIDE_MAX - a->tops_bytes) {
		apply_problem(a, PROBLEM_TOP_LEVEL, offset);
		return;
	}
	a->tops_bytes += len + key_len;
	top_level *t = VEC_ADD(&a->tops);
	if (!t || !(t->key = malloc(key_len + len + 1))) {
		a->failed = true;
		return;
	}
	t->value = t->key + key_len;
	t->key_len = key_len;
	t->len = len;
	t->file = file;
	memcpy(t->key, key, key_len);
	memcpy(t->value, value, len);
	if (!json_is_valid((const char *)value, len))
		apply_problem(a, PROBLEM_NOT_JSON, offset);
}

void chrome_apply_top_level(chrome_apply *a, const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			    uint64_t offset)
{
	int64_t base;

	if (is_key(key, key_len, "sonde_ranks")) {
		apply_rank_meta(a, value, len, offset);
		return;
	}
	if (is_key(key, key_len, "sonde_clock")) {
		if (len == 11 && memcmp(value, "\"monotonic\"", len) == 0)
			builder_clock(a->b, INDEX_CLOCK_MONOTONIC);
		return;
	}
	if (is_key(key, key_len, "baseTimeNanoseconds") && is_base_time(value, len, &base)) {
		a->base_ns = trace_bounded_ns(base);
		a->has_base = true;
	} else if (is_key(key, key_len, "distributedInfo")) {
		take_member(&a->job->rank, value, len, "rank");
		take_member(&a->job->world_size, value, len, "world_size");
	}
	apply_keep_top(a, a->job->file_number, key, key_len, value, len, offset);
}

void apply_put_meta(chrome_apply *a)
{
	for (size_t i = 0; i < a->tops.n; i++) {
		const top_level *t = &a->tops.items[i];
		put_meta(a, BUILDER_RANK_OF(t->file), (const uint8_t *)t->key, t->key_len, t->value, t->len);
		if (is_key((const uint8_t *)t->key, t->key_len, "deviceProperties"))
			chrome_devices_put(a->b, BUILDER_RANK_OF(t->file), t->value, t->len);
	}
	if (a->is_recorded)
		builder_meta(a->b, BUILDER_RANK_OF(a->job->file_number), FACT_WRITER, strlen(FACT_WRITER), "sonde", 5,
			     false);
	a->text.n = 0;
	for (unsigned i = 1; i < 256; i++) {
		char text[48];
		if (!a->n_phase[i])
			continue;
		int len = i >= 0x20 && i < 0x7f && i != '"' && i != '\\'
				  ? snprintf(text, sizeof text, "%s\"%c\": %" PRIu64, a->text.n ? ", " : "{", (int)i,
					     a->n_phase[i])
				  : snprintf(text, sizeof text, "%s\"\\u%04x\": %" PRIu64, a->text.n ? ", " : "{", i,
					     a->n_phase[i]);
		apply_text(a, text, (size_t)len);
	}
	apply_text(a, a->text.n ? "}" : "{}", a->text.n ? 1 : 2);
	if (!a->failed)
		builder_meta(a->b, BUILDER_RANK_OF(a->job->file_number), "sonde.phases", 12, a->text.items, a->text.n,
			     true);
}
