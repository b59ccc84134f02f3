/*
 * Events that are more than one word, and the way out of the inline code of record.h when a chunk is full.
 *
 * A payload is written in place: first its room is taken, then the words are filled in, last the event word is stored
 * with release order. Whoever sees that word, the writer or the reader of a dead program's ring, sees the payload.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "record/text.h"

enum { TEXT_MAX = 255, KEY_MAX = 127, VALUE_MAX = 4000, DIMS_MAX = 32, STACK_MAX = 48, STACK_SKIP = 2 };

typedef struct payload {
	uint64_t *start, *next;
} payload;

static uint64_t *reserve(size_t n_words)
{
	uint64_t *at = sonde_reserve_(n_words);

	return at ? at : ring_take(n_words);
}

static void store(uint64_t *at, uint32_t code)
{
	__atomic_store_n(at, clock_ticks() << EVENT_TICK_SHIFT | code, __ATOMIC_RELEASE);
}

void sonde_event_slow_(uint32_t code)
{
	uint64_t *at = ring_take(1);
	if (at)
		store(at, code);
}

void sonde_event_values_slow_(uint32_t code, const uint64_t *values, size_t n)
{
	uint64_t *at = ring_take(2 + n);
	if (at) {
		memcpy(at + 2, values, n * sizeof *values);
		at[1] = n;
		store(at, code | EVENT_PAYLOAD);
	}
}

static bool payload_begin(payload *p, size_t n_words)
{
	p->start = reserve(2 + n_words);
	p->next = p->start + 2;
	return p->start != NULL;
}

static void payload_word(payload *p, uint64_t word)
{
	*p->next++ = word;
}

static void payload_double(payload *p, double value)
{
	memcpy(p->next++, &value, sizeof value);
}

/* A text of 1 to 7 bytes as a word, in at most two loads. */
static uint64_t text_word(const char *text, size_t len)
{
	uint32_t low, high;
	uint16_t half, other;

	if (len >= 4) {
		memcpy(&low, text, 4);
		memcpy(&high, text + len - 4, 4);
		return low | (uint64_t)high << 8 * (len - 4);
	}
	if (len == 1)
		return (unsigned char)*text;
	memcpy(&half, text, 2);
	memcpy(&other, text + len - 2, 2);
	return half | (uint64_t)other << 8 * (len - 2);
}

/* Word by word: texts are short, and a call to memcpy would cost more than the rest of the event. */
static void payload_text(payload *p, const char *text, size_t len)
{
	const char *end = text + len;
	uint64_t last;

	*p->next++ = len;
	if (len < 8) {
		if (len)
			*p->next++ = text_word(text, len);
		return;
	}
	for (; end - text >= 8; text += 8)
		memcpy(p->next++, text, 8);
	if (text < end) {
		memcpy(&last, end - 8, 8);
		*p->next++ = last >> 8 * (8 - (end - text));
	}
}

static void payload_end(payload *p, uint32_t code)
{
	p->start[1] = (uint64_t)(p->next - p->start) - 2;
	store(p->start, code | EVENT_PAYLOAD);
}

static size_t text_words(size_t len)
{
	return 1 + (len + 7) / 8;
}

static size_t clipped(const char *text, size_t max)
{
	size_t len = text ? strnlen(text, max + 1) : 0;

	if (len <= max)
		return len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

void event_put(uint32_t code, const uint64_t *words, size_t n_words)
{
	payload p;

	if (!payload_begin(&p, n_words))
		return;
	memcpy(p.next, words, n_words * sizeof *words);
	p.next += n_words;
	payload_end(&p, code);
}

static void put_texts(uint32_t code, bool with_serial, uint64_t serial, const char *a, const char *b)
{
	size_t a_len = clipped(a, TEXT_MAX), b_len = clipped(b, VALUE_MAX);
	payload p;

	if (!payload_begin(&p, with_serial + text_words(a_len) + (b ? text_words(b_len) : 0)))
		return;
	if (with_serial)
		payload_word(&p, serial);
	payload_text(&p, a, a_len);
	if (b)
		payload_text(&p, b, b_len);
	payload_end(&p, code);
}

/* The call stack of the caller's caller, as an event of its own behind the one it belongs to. */
__attribute__((noinline)) void event_put_stack(void)
{
	void *frames[STACK_MAX];

	if (!(record_mode_now() & MODE_STACKS))
		return;
	int n = backtrace(frames, STACK_MAX);
	if (n > STACK_SKIP)
		event_put(EVENT_STACK, (const uint64_t *)(const void *)(frames + STACK_SKIP), (size_t)(n - STACK_SKIP));
}

/* ---- Scopes with arguments --------------------------------------------------------------------------------------- */

static size_t shape_words(size_t n_dims, uint32_t mode)
{
	return !(mode & MODE_SHAPES) ? 0 : n_dims <= DIMS_MAX ? n_dims : DIMS_MAX;
}

static size_t arg_words(const sonde_arg *arg, uint32_t mode, size_t *ret_len)
{
	if (arg->type == SONDE_ARG_STR_)
		return text_words(*ret_len = clipped(arg->value.str, TEXT_MAX));
	if (arg->type == SONDE_ARG_SHAPE_)
		return 1 + shape_words(arg->n, mode);
	return 1;
}

static void put_shape(payload *p, const int64_t *dims, size_t n_dims, uint32_t mode)
{
	if (!(mode & MODE_SHAPES)) {
		payload_word(p, UINT64_MAX); /* not recorded */
		return;
	}
	if (n_dims > DIMS_MAX)
		n_dims = DIMS_MAX;
	payload_word(p, n_dims);
	for (size_t i = 0; i < n_dims; i++)
		payload_word(p, (uint64_t)dims[i]);
}

static void put_arg(payload *p, const sonde_arg *arg, uint32_t mode, size_t len)
{
	if (arg->type == SONDE_ARG_STR_)
		payload_text(p, arg->value.str, len);
	else if (arg->type == SONDE_ARG_SHAPE_)
		put_shape(p, arg->value.dims, arg->n, mode);
	else
		payload_word(p, (uint64_t)arg->value.i64); /* a double's bits are in the same place */
}

/* As one piece: the calls between its parts would cost as much as they do. */
__attribute__((flatten)) sonde_scope sonde_begin_args_(sonde_site *site, const sonde_arg *args, size_t n_args)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED), mode = record_mode_now();
	size_t n_words = 0, lens[NAME_MAX_ARGS];
	payload p;

	if (!id)
		id = sonde_site_register_(site, SONDE_OTHER, args, n_args);
	if (n_args > NAME_MAX_ARGS)
		n_args = NAME_MAX_ARGS;
	for (size_t i = 0; i < n_args; i++)
		n_words += arg_words(&args[i], mode, &lens[i]);
	if (!payload_begin(&p, n_words))
		return id;
	for (size_t i = 0; i < n_args; i++)
		put_arg(&p, &args[i], mode, lens[i]);
	payload_end(&p, id);
	return id;
}

static __attribute__((noinline)) void begin_long_text(uint32_t id, const char *text)
{
	put_texts(id, false, 0, text, NULL);
}

/* A short text takes the same room whatever its length: that need not be known before the next event finds its own. */
void sonde_begin_text_(uint32_t id, const char *text)
{
#ifdef __SSE2__
	enum { WORDS = 1 + SHORT_TEXT / 8 };
	short_text t;

	if (short_text_read(&t, text)) {
		uint64_t *at = sonde_reserve_(2 + WORDS);
		if (at) {
			at[1] = WORDS;
			at[2] = t.len;
			short_text_write(&t, at + 3);
			__atomic_store_n(at, sonde_ticks_() << EVENT_TICK_SHIFT | EVENT_PAYLOAD | id, __ATOMIC_RELEASE);
			return;
		}
	}
#endif
	begin_long_text(id, text);
}

static size_t info_words(const sonde_op_info *info, uint32_t mode)
{
	return 2 + text_words(clipped(info->type, TEXT_MAX)) + 1 + (info->shape ? shape_words(info->n_dims, mode) : 0);
}

static void put_info(payload *p, const sonde_op_info *info, uint32_t mode)
{
	payload_double(p, mode & MODE_FLOPS ? info->flops : 0);
	payload_double(p, mode & MODE_FLOPS ? info->bytes : 0);
	payload_text(p, info->type ? info->type : "", clipped(info->type, TEXT_MAX));
	put_shape(p, info->shape, info->shape ? info->n_dims : 0, mode);
}

static inline sonde_scope begin_op(uint32_t id, const sonde_op_info *info)
{
	uint32_t mode = record_mode_now();
	payload p;

	if (payload_begin(&p, info_words(info, mode))) {
		put_info(&p, info, mode);
		payload_end(&p, id);
		event_put_stack();
	}
	return id;
}

__attribute__((flatten)) sonde_scope sonde_begin_op_(sonde_site *site, const sonde_op_info *info)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	if (!id)
		id = sonde_site_register_(site, info->category, NULL, 0);
	return begin_op(id, info);
}

/* ---- Names made at run time -------------------------------------------------------------------------------------- */

void sonde_end(sonde_scope scope)
{
	if (scope)
		sonde_event_(EVENT_END | scope);
}

static sonde_scope begin_named(uint32_t id)
{
	sonde_event_(id);
	return id;
}

sonde_scope sonde_begin_category(const char *name, sonde_category category)
{
	return sonde_on_(SONDE_ACTIVE_CPU_) ? begin_named(name_intern(NAME_SCOPE, category, name)) : 0;
}

sonde_scope sonde_begin_module(const char *name)
{
	return sonde_on_(SONDE_ACTIVE_MODULES_) ? begin_named(name_intern(NAME_MODULE, SONDE_OTHER, name)) : 0;
}

sonde_scope sonde_begin_op(const char *name, const sonde_op_info *info)
{
	static const sonde_op_info nothing = { .category = SONDE_OTHER };

	if (!sonde_on_(SONDE_ACTIVE_CPU_))
		return 0;
	info = info ? info : &nothing;
	return begin_op(name_intern(NAME_OP, info->category, name), info);
}

void sonde_step(int64_t number)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		sonde_event_values_(name_intern(NAME_STEP, SONDE_OTHER, "step"), (uint64_t[]){ (uint64_t)number }, 1);
}

void sonde_step_end(void)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		sonde_event_(EVENT_END | name_intern(NAME_STEP, SONDE_OTHER, "step"));
}

void sonde_instant(const char *name, sonde_category category)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		sonde_event_(name_intern(NAME_MARK, category, name));
}

static size_t keyed_words(const sonde_arg *arg, uint32_t mode, size_t *ret_len)
{
	return 1 + text_words(clipped(arg->key, KEY_MAX)) + arg_words(arg, mode, ret_len);
}

static void put_keyed(payload *p, const sonde_arg *arg, uint32_t mode, size_t len)
{
	payload_word(p, arg->type);
	payload_text(p, arg->key ? arg->key : "", clipped(arg->key, KEY_MAX));
	put_arg(p, arg, mode, len);
}

void sonde_instant_args(const char *name, sonde_category category, const sonde_arg *args, size_t n_args)
{
	uint32_t mode = record_mode_now();
	size_t n_words = 1, lens[NAME_MAX_ARGS];
	payload p;

	if (!sonde_on_(SONDE_ACTIVE_CPU_))
		return;
	uint32_t id = name_intern(NAME_MARK, category, name);
	if (n_args > NAME_MAX_ARGS)
		n_args = NAME_MAX_ARGS;
	for (size_t i = 0; i < n_args; i++)
		n_words += keyed_words(&args[i], mode, &lens[i]);
	if (!payload_begin(&p, n_words))
		return;
	payload_word(&p, id);
	for (size_t i = 0; i < n_args; i++)
		put_keyed(&p, &args[i], mode, lens[i]);
	payload_end(&p, EVENT_INSTANT);
}

void sonde_counter(const char *name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		sonde_event_values_(name_intern(NAME_COUNTER, SONDE_OTHER, name), &bits, 1);
}

static void put_flow(uint32_t code, const char *name, uint64_t id)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		event_put(code, (uint64_t[]){ name_intern(NAME_MARK, SONDE_OTHER, name), id }, 2);
}

void sonde_flow_begin(const char *name, uint64_t id)
{
	put_flow(EVENT_FLOW_BEGIN, name, id);
}

void sonde_flow_end(const char *name, uint64_t id)
{
	put_flow(EVENT_FLOW_END, name, id);
}

void sonde_thread_name(const char *name)
{
	if (name && sonde_on_(UINT32_MAX))
		put_texts(EVENT_THREAD_NAME, false, 0, name, NULL);
}

void sonde_process_name(const char *name)
{
	if (name && sonde_on_(UINT32_MAX))
		put_texts(EVENT_PROCESS_NAME, false, 0, name, NULL);
}

void sonde_metadata(const char *key, const char *value)
{
	if (key && value && sonde_on_(UINT32_MAX))
		put_texts(EVENT_META, false, 0, key, value);
}

sonde_category sonde_category_register(const char *name)
{
	return name_intern(NAME_CATEGORY, 0, name);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

sonde_op sonde_op_begin_info(const char *name, const sonde_op_info *info)
{
	uint32_t mode = record_mode_now();
	sonde_op op = { 0, 0 };
	payload p;

	if (!sonde_on_(SONDE_ACTIVE_CPU_))
		return op;
	op.id = name_intern(NAME_OP, info->category, name);
	op.serial = __atomic_add_fetch(&rt.n_launches, 1, __ATOMIC_RELAXED);
	if (payload_begin(&p, 2 + info_words(info, mode))) {
		payload_word(&p, op.serial);
		payload_word(&p, op.id);
		put_info(&p, info, mode);
		payload_end(&p, EVENT_OP_BEGIN);
		event_put_stack();
	}
	return op;
}

sonde_op sonde_op_begin(const char *name, sonde_category category)
{
	return sonde_op_begin_info(name, &(sonde_op_info){ .category = category });
}

void sonde_op_end(sonde_op op)
{
	if (op.serial)
		event_put(EVENT_OP_END, &op.serial, 1);
}

void sonde_op_metadata(sonde_op op, const char *key, const char *value)
{
	if (op.serial && key && value)
		put_texts(EVENT_OP_META, true, op.serial, key, value);
}

static void put_op_value(sonde_op op, const char *key, uint32_t type, uint64_t bits)
{
	size_t len = clipped(key, TEXT_MAX);
	payload p;

	if (!op.serial || !key || !payload_begin(&p, 3 + text_words(len)))
		return;
	payload_word(&p, op.serial);
	payload_word(&p, type);
	payload_word(&p, bits);
	payload_text(&p, key, len);
	payload_end(&p, EVENT_OP_VALUE);
}

void sonde_op_metadata_i64(sonde_op op, const char *key, int64_t value)
{
	put_op_value(op, key, SONDE_ARG_I64_, (uint64_t)value);
}

void sonde_op_metadata_f64(sonde_op op, const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	put_op_value(op, key, SONDE_ARG_F64_, bits);
}

void sonde_op_record(const char *name, sonde_category category, int64_t start_ns, int64_t dur_ns)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		event_put(EVENT_OP_RECORD,
			  (uint64_t[]){ name_intern(NAME_OP, category, name), (uint64_t)start_ns, (uint64_t)dur_ns },
			  3);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

sonde_device sonde_device_register(const char *name)
{
	return name_intern(NAME_DEVICE, 0, name);
}

sonde_stream sonde_stream_register(const char *device, const char *stream)
{
	return name_intern(NAME_STREAM, sonde_device_register(device), stream);
}

uint64_t sonde_launch(const char *name, sonde_stream stream)
{
	if (!sonde_on_(SONDE_ACTIVE_DEVICE_))
		return 0;
	uint64_t id = __atomic_add_fetch(&rt.n_launches, 1, __ATOMIC_RELAXED);
	event_put(EVENT_LAUNCH, (uint64_t[]){ name_intern(NAME_OP, SONDE_OTHER, name), stream, id }, 3);
	return id;
}

void sonde_stream_slice(sonde_stream stream, uint64_t launch_id, const char *name, int64_t start_ns, int64_t end_ns)
{
	if (sonde_on_(SONDE_ACTIVE_DEVICE_))
		event_put(EVENT_STREAM_SLICE,
			  (uint64_t[]){ stream, launch_id, name_intern(NAME_OP, SONDE_COMPUTE, name),
					(uint64_t)start_ns, (uint64_t)end_ns },
			  5);
}

int64_t sonde_now_ns(void)
{
	return monotonic_ns();
}
