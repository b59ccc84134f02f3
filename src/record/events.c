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

static size_t clipped(const char *text, size_t max)
{
	size_t len = text ? strnlen(text, max + 1) : 0;

	if (len <= max)
		return len;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

void event_put_words(uint32_t code, const uint64_t *words, size_t n_words)
{
	uint64_t *at = event_begin(n_words);

	if (!at)
		return;
	memcpy(at + 2, words, n_words * sizeof *words);
	event_end(at, at + 2 + n_words, code);
}

static payload_text text_of(const char *text, size_t max)
{
	return (payload_text){ text ? text : "", clipped(text, max) };
}

/* The call stack of the caller's caller, as an event of its own behind the one it belongs to. */
__attribute__((noinline)) void event_put_stack(void)
{
	void *frames[STACK_MAX];

	if (!(record_mode_now() & MODE_STACKS))
		return;
	int n = backtrace(frames, STACK_MAX);
	if (n > STACK_SKIP)
		event_put_words(EVENT_STACK, (const uint64_t *)(const void *)(frames + STACK_SKIP),
				(size_t)(n - STACK_SKIP));
}

/* ---- Scopes with arguments --------------------------------------------------------------------------------------- */

static payload_shape shape_of(const int64_t *dims, size_t n_dims, uint32_t mode)
{
	uint64_t n = !(mode & MODE_SHAPES) ? UINT64_MAX : n_dims <= DIMS_MAX ? n_dims : DIMS_MAX;

	return (payload_shape){ (const uint64_t *)dims, n };
}

static size_t arg_words(const sonde_arg *arg, uint32_t mode, size_t *ret_len)
{
	if (arg->type == SONDE_ARG_STR_)
		return payload_text_words(*ret_len = clipped(arg->value.str, TEXT_MAX));
	if (arg->type == SONDE_ARG_SHAPE_) {
		payload_shape shape = shape_of(arg->value.dims, arg->n, mode);
		return payload_shape_words(&shape);
	}
	return 1;
}

static uint64_t *put_arg(uint64_t *at, const sonde_arg *arg, uint32_t mode, size_t len)
{
	if (arg->type == SONDE_ARG_STR_)
		return payload_put_text(at, arg->value.str, len);
	if (arg->type == SONDE_ARG_SHAPE_) {
		payload_shape shape = shape_of(arg->value.dims, arg->n, mode);
		return payload_put_shape(at, &shape);
	}
	*at++ = (uint64_t)arg->value.i64; /* a double's bits are in the same place */
	return at;
}

/* As one piece: the calls between its parts would cost as much as they do. */
__attribute__((flatten)) sonde_scope sonde_begin_args_(sonde_site *site, const sonde_arg *args, size_t n_args)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED), mode = record_mode_now();
	size_t n_words = 0, lens[NAME_MAX_ARGS];

	if (!id)
		id = sonde_site_register_(site, SONDE_OTHER, args, n_args);
	if (n_args > NAME_MAX_ARGS)
		n_args = NAME_MAX_ARGS;
	for (size_t i = 0; i < n_args; i++)
		n_words += arg_words(&args[i], mode, &lens[i]);
	uint64_t *start = event_begin(n_words);
	if (!start)
		return id;
	uint64_t *at = start + 2;
	for (size_t i = 0; i < n_args; i++)
		at = put_arg(at, &args[i], mode, lens[i]);
	event_end(start, at, id);
	return id;
}

static __attribute__((noinline)) void begin_long_text(uint32_t id, const char *text)
{
	payload_text t = text_of(text, TEXT_MAX);
	uint64_t *at = event_begin(payload_text_words(t.len));

	if (at)
		event_end(at, payload_put_text(at + 2, t.ptr, t.len), id);
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

static payload_op_info info_of(const sonde_op_info *info, uint32_t mode)
{
	return (payload_op_info){ .flops = mode & MODE_FLOPS ? info->flops : 0,
				  .bytes = mode & MODE_FLOPS ? info->bytes : 0,
				  .type = text_of(info->type, TEXT_MAX),
				  .shape = shape_of(info->shape, info->shape ? info->n_dims : 0, mode) };
}

static inline sonde_scope begin_op(uint32_t id, const sonde_op_info *info)
{
	payload_op_info work = info_of(info, record_mode_now());
	uint64_t *at = event_begin(payload_words_op_info(&work));

	if (at) {
		event_end(at, payload_put_op_info(at + 2, &work), id);
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

static payload_keyed_arg keyed_of(const sonde_arg *arg)
{
	return (payload_keyed_arg){ .type = arg->type, .key = text_of(arg->key, KEY_MAX) };
}

void event_put_instant(uint32_t name_id, const sonde_arg *args, size_t n_args)
{
	uint32_t mode = record_mode_now();
	payload_keyed_arg keyed[NAME_MAX_ARGS];
	size_t lens[NAME_MAX_ARGS];
	const payload_instant head = { .name_id = name_id };
	size_t n_words = payload_words_instant(&head);

	if (n_args > NAME_MAX_ARGS)
		n_args = NAME_MAX_ARGS;
	for (size_t i = 0; i < n_args; i++) {
		keyed[i] = keyed_of(&args[i]);
		n_words += payload_words_keyed_arg(&keyed[i]) + arg_words(&args[i], mode, &lens[i]);
	}
	uint64_t *start = event_begin(n_words);
	if (!start)
		return;
	uint64_t *at = payload_put_instant(start + 2, &head);
	for (size_t i = 0; i < n_args; i++)
		at = put_arg(payload_put_keyed_arg(at, &keyed[i]), &args[i], mode, lens[i]);
	event_end(start, at, EVENT_INSTANT);
}

void sonde_instant_args(const char *name, sonde_category category, const sonde_arg *args, size_t n_args)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		event_put_instant(name_intern(NAME_MARK, category, name), args, n_args);
}

void sonde_counter(const char *name, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		sonde_event_values_(name_intern(NAME_COUNTER, SONDE_OTHER, name), &bits, 1);
}

void sonde_flow_begin(const char *name, uint64_t id)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		EVENT_PUT(FLOW_BEGIN, flow_begin, .name_id = name_intern(NAME_MARK, SONDE_OTHER, name), .flow_id = id);
}

void sonde_flow_end(const char *name, uint64_t id)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		EVENT_PUT(FLOW_END, flow_end, .name_id = name_intern(NAME_MARK, SONDE_OTHER, name), .flow_id = id);
}

void sonde_thread_name(const char *name)
{
	if (name && sonde_on_(UINT32_MAX))
		EVENT_PUT(THREAD_NAME, thread_name, .name = text_of(name, TEXT_MAX));
}

void sonde_process_name(const char *name)
{
	if (name && sonde_on_(UINT32_MAX))
		EVENT_PUT(PROCESS_NAME, process_name, .name = text_of(name, TEXT_MAX));
}

void sonde_metadata(const char *key, const char *value)
{
	if (key && value && sonde_on_(UINT32_MAX))
		EVENT_PUT(META, meta, .key = text_of(key, TEXT_MAX), .value = text_of(value, VALUE_MAX));
}

sonde_category sonde_category_register(const char *name)
{
	return name_intern(NAME_CATEGORY, 0, name);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

sonde_op sonde_op_begin_info(const char *name, const sonde_op_info *info)
{
	sonde_op op = { 0, 0 };

	if (!sonde_on_(SONDE_ACTIVE_CPU_))
		return op;
	op.id = name_intern(NAME_OP, info->category, name);
	op.serial = __atomic_add_fetch(&rt.n_launches, 1, __ATOMIC_RELAXED);
	payload_op_begin head = { .serial = op.serial, .name_id = op.id };
	payload_op_info work = info_of(info, record_mode_now());
	uint64_t *at = event_begin(payload_words_op_begin(&head) + payload_words_op_info(&work));
	if (at) {
		event_end(at, payload_put_op_info(payload_put_op_begin(at + 2, &head), &work), EVENT_OP_BEGIN);
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
		EVENT_PUT(OP_END, op_end, .serial = op.serial);
}

void sonde_op_metadata(sonde_op op, const char *key, const char *value)
{
	if (op.serial && key && value)
		EVENT_PUT(OP_META, op_meta, .serial = op.serial, .key = text_of(key, TEXT_MAX),
			  .value = text_of(value, VALUE_MAX));
}

static void put_op_value(sonde_op op, const char *key, uint32_t type, uint64_t bits)
{
	if (op.serial && key)
		EVENT_PUT(OP_VALUE, op_value, .serial = op.serial, .type = type, .bits = bits,
			  .key = text_of(key, TEXT_MAX));
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
		EVENT_PUT(OP_RECORD, op_record, .name_id = name_intern(NAME_OP, category, name), .start_ns = start_ns,
			  .dur_ns = dur_ns);
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
	EVENT_PUT(LAUNCH, launch, .name_id = name_intern(NAME_OP, SONDE_OTHER, name), .stream_id = stream,
		  .launch_id = id);
	return id;
}

void sonde_stream_slice(sonde_stream stream, uint64_t launch_id, const char *name, int64_t start_ns, int64_t end_ns)
{
	if (sonde_on_(SONDE_ACTIVE_DEVICE_))
		EVENT_PUT(STREAM_SLICE, stream_slice, .stream_id = stream, .launch_id = launch_id,
			  .name_id = name_intern(NAME_OP, SONDE_COMPUTE, name), .start_ns = start_ns, .end_ns = end_ns);
}

int64_t sonde_now_ns(void)
{
	return monotonic_ns();
}
