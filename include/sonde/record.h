/*
 * Recording: put these into a program and link libsonde-rt.
 *
 *   SONDE_SCOPE("name");                  the rest of the block is a scope
 *   SONDE_STEP(i); SONDE_PHASE("forward"); one iteration, and its parts
 *   SONDE_COUNTER("loss", x);             a value over time
 *   SONDE_OP("matmul", SONDE_COMPUTE, .flops = 2.0 * m * n * k) { ... }
 *
 * Nothing is recorded until SONDE_ENABLED=1 is in the environment, `sonde record` starts the program, or the program
 * calls sonde_start(). Until then a macro costs one load and one branch that is never taken. Recording, a scope costs
 * its two time stamps: an event is one 8-byte store into memory that belongs to the thread, with no lock, call or
 * allocation.
 *
 * Every macro and function here may be called from any thread, from constructors, destructors and atexit handlers, and
 * from signal handlers. None of them touches errno. A name or string is copied before the call returns.
 *
 * SONDE_LEVEL, set before inclusion, removes code: SONDE_LEVEL_OFF leaves nothing of any macro or function,
 * SONDE_LEVEL_BASIC drops SONDE_DETAIL scopes and the arguments of SONDE_SCOPE_ARGS, SONDE_LEVEL_DETAILED keeps all.
 *
 * Valid C99 and C++11 for gcc and clang. Identifiers that end in an underscore are not for use.
 */
#ifndef SONDE_RECORD_H
#define SONDE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>

#define SONDE_LEVEL_OFF 0
#define SONDE_LEVEL_BASIC 1
#define SONDE_LEVEL_DETAILED 2
#ifndef SONDE_LEVEL
#define SONDE_LEVEL SONDE_LEVEL_DETAILED
#endif

/* Marks a pointer argument whose memory the function does not read. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define SONDE_NOT_READ_(argument) __attribute__((access(none, argument)))
#else
#define SONDE_NOT_READ_(argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Categories and devices -------------------------------------------------------------------------------------- */

/* What an operation does. Below SONDE_CATEGORY_FIRST_CUSTOM_ the fixed ones; above, what SONDE_CUSTOM made. */
typedef uint32_t sonde_category;
enum {
	SONDE_OTHER = 0,
	SONDE_COMPUTE = 1,
	SONDE_MEMORY = 2,
	SONDE_DATA_LOAD = 3,
	SONDE_SYNC = 4,
	SONDE_COMMUNICATION = 5,
	SONDE_CATEGORY_FIRST_CUSTOM_ = 32
};
#define SONDE_CUSTOM(name) sonde_category_register(name)

/* Where memory lives. SONDE_CPU, SONDE_GPU(0..) or what sonde_device_register made. */
typedef uint32_t sonde_device;
#define SONDE_CPU 0u
#define SONDE_GPU(index) (1u + (sonde_device)(index))
enum { SONDE_DEVICE_FIRST_CUSTOM_ = 32 };

typedef uint32_t sonde_stream; /* a queue of a device; see sonde_stream_register */
typedef uint32_t sonde_scope;  /* an open scope; 0 when nothing was recorded */

/* An operation that may end in another function or thread. Copy it as you like, end it once. */
typedef struct sonde_op {
	uint64_t serial; /* 0 when nothing was recorded */
	uint32_t id;
} sonde_op;

/* What is known about an operation; every field but the category is optional. */
typedef struct sonde_op_info {
	sonde_category category;
	double flops;
	double bytes;	      /* moved to and from memory */
	const int64_t *shape; /* n_dims numbers */
	size_t n_dims;
	const char *type; /* of the elements: "f32" */
	int reserved_;
} sonde_op_info;

/* One argument of a scope; made by SONDE_I64, SONDE_F64, SONDE_STR and SONDE_SHAPE. */
typedef struct sonde_arg {
	const char *key;
	uint32_t type;
	uint32_t n;
	union {
		int64_t i64;
		double f64;
		const char *str;
		const int64_t *dims;
	} value;
} sonde_arg;
enum { SONDE_ARG_I64_ = 1, SONDE_ARG_F64_ = 2, SONDE_ARG_STR_ = 3, SONDE_ARG_SHAPE_ = 4 };

/* Memory of one device as reported by sonde_alloc and sonde_free. */
typedef struct sonde_memory {
	size_t current_bytes;
	size_t peak_bytes;
	size_t n_live;
	bool known; /* false while memory is not recorded, and of more than 64 devices: the numbers then say nothing */
} sonde_memory;

typedef struct sonde_memory_block {
	const void *address;
	size_t bytes;
	uint64_t tensor_id;
} sonde_memory_block;

typedef struct sonde_memory_point {
	int64_t time_ns;   /* CLOCK_MONOTONIC, start of the interval */
	size_t peak_bytes; /* the most that was in use during it */
} sonde_memory_point;

/* A switch of sonde_config. Left 0 it has its default; `true` is SONDE_ON, but `false` is SONDE_DEFAULT. */
enum { SONDE_DEFAULT = 0, SONDE_ON = 1, SONDE_OFF = 2 };

/*
 * How to record. Names and defaults are those of the environment variables (SONDE_OUTPUT, SONDE_BUFFER, ...) and of the
 * options of `sonde record` (--output, --buffer, ...). Set struct_size to sizeof(sonde_config); what is left 0 has its
 * default.
 */
typedef struct sonde_config {
	size_t struct_size;
	const char *output;	/* file; %p is the pid, %n the number of the recording; NULL: PROGRAM.%p.sonde. One that
				   exists is never replaced: sonde_output() says where the recording goes. The end of
				   another format (.json, .csv, .md, .html, .txt, .svg, .folded) is an error */
	const char *activities; /* of cpu, memory, device, separated by commas; NULL: all */
	const char *full;	/* when the ring is full: "block" (NULL), "overwrite" or "drop" */
	size_t buffer;	 /* bytes of the ring, 0: 64 MiB. Later recordings of a process get up to 64 MiB more than
			    the first one asked for, and no less than it used */
	unsigned report; /* print the top N names to stderr at the end; 0: nothing */
	uint8_t memory;	 /* record sonde_alloc and sonde_free; default on, or as activities says */
	uint8_t shapes;	 /* record tensor shapes; default on */
	uint8_t stacks;	 /* record the call stack of operations and allocations; default off */
	uint8_t flops;	 /* record FLOPs and bytes of operations; default on */
	uint8_t modules; /* record SONDE_MODULE scopes; default on */
} sonde_config;

#if SONDE_LEVEL < SONDE_LEVEL_DETAILED
/* Arguments are named, so that nothing becomes unused, and not evaluated. */
#define SONDE_I64(key, value) sizeof(value)
#define SONDE_F64(key, value) sizeof(value)
#define SONDE_STR(key, value) sizeof(value)
#define SONDE_SHAPE(key, dims, n_dims) (sizeof(dims) + sizeof(n_dims))
#define SONDE_UNUSED_(...) ((void)(0 && sonde_unused_(0, __VA_ARGS__)))
static inline int sonde_unused_(int n, ...)
{
	return n;
}
#endif

#define SONDE_PASTE2_(a, b) a##b
#define SONDE_PASTE_(a, b) SONDE_PASTE2_(a, b)

#ifdef __cplusplus /* has no designated initializers yet */
#define SONDE_OP_SET_(info, category_, a, b, c, d, e, ...)                                                             \
	info.category = category_, info a, info b, info c, info d, info e
#define SONDE_OP_SAME_ .n_dims = sonde_info_.n_dims
#endif

#if SONDE_LEVEL > SONDE_LEVEL_OFF

/* ---- What the macros expand to; not for direct use ----------------------------------------------------------------
 */

typedef struct sonde_site {
	uint32_t id; /* 0 until the first event */
	uint32_t kind;
	uint32_t line;
	const char *name;
	const char *file;
	const char *function;
} sonde_site;
enum {
	SONDE_SITE_SCOPE_ = 0,
	SONDE_SITE_PHASE_ = 1,
	SONDE_SITE_STEP_ = 2,
	SONDE_SITE_MARK_ = 3,
	SONDE_SITE_COUNTER_ = 4,
	SONDE_SITE_OP_ = 5,
	SONDE_SITE_MODULE_ = 6
};
enum { SONDE_ACTIVE_CPU_ = 1, SONDE_ACTIVE_MEMORY_ = 2, SONDE_ACTIVE_DEVICE_ = 4, SONDE_ACTIVE_MODULES_ = 8 };

/* An event is a word: 46 bits of ticks, then these two flags, then the 16-bit id of the site. */
#define SONDE_TICK_SHIFT_ 18
#define SONDE_FLAG_PAYLOAD_ 0x20000u /* a word with the number n of further words follows, then n words */
#define SONDE_FLAG_END_ 0x10000u     /* end of the scope with this id; id 0: of the innermost one */

extern SONDE_API uint32_t sonde_active_;

/* What this thread may still write: the address of its next word << 16 | how many words fit there. 0 until it has
   memory; the number is below 0 from when words did not fit until the runtime has found others. */
#define SONDE_ROOM_STEP_ ((UINT64_C(8) << 16) - 1) /* for each word taken */
extern SONDE_API __thread uint64_t sonde_room_ __attribute__((tls_model("initial-exec")));

SONDE_API uint32_t sonde_site_register_(sonde_site *site, sonde_category category, const sonde_arg *args,
					size_t n_args);
SONDE_API void sonde_event_slow_(uint32_t code);
SONDE_API void sonde_event_values_slow_(uint32_t code, const uint64_t *values, size_t n);
SONDE_API sonde_scope sonde_begin_args_(sonde_site *site, const sonde_arg *args, size_t n_args);
SONDE_API void sonde_begin_text_(uint32_t id, const char *text); /* the only argument */
SONDE_API sonde_scope sonde_begin_op_(sonde_site *site, const sonde_op_info *info);

static inline uint64_t sonde_ticks_(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0; /* never read: the runtime keeps sonde_room_ at 0 and takes the time itself */
#endif
}

/* Takes n words of the thread's memory, NULL when they do not fit: then the runtime must be asked (sonde_event_slow_).
   One instruction moves on and tells from where, so that a signal handler on this thread may come at any moment, take
   words of its own and even other memory. */
static inline uint64_t *sonde_reserve_(size_t n)
{
	uint64_t room = n * SONDE_ROOM_STEP_;

#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(room), "+m"(sonde_room_)); /* not locked: only this thread has it */
#else
	room = __atomic_fetch_add(&sonde_room_, room, __ATOMIC_RELAXED);
#endif
	if (__builtin_expect((int16_t)room < (int)n, 0))
		return NULL;
	if (!(room >> 16))
		__builtin_unreachable(); /* the caller's test for NULL is done with the one above */
	return (uint64_t *)(uintptr_t)(room >> 16);
}

static inline void sonde_event_(uint32_t code)
{
	uint64_t *at = sonde_reserve_(1);

	if (__builtin_expect(!at, 0))
		sonde_event_slow_(code);
	else
		__atomic_store_n(at, sonde_ticks_() << SONDE_TICK_SHIFT_ | code, __ATOMIC_RELEASE);
}

/* The same with n words behind it. */
static inline void sonde_event_values_(uint32_t code, const uint64_t *values, size_t n)
{
	uint64_t *at = sonde_reserve_(2 + n);
	size_t i;

	if (__builtin_expect(!at, 0)) {
		sonde_event_values_slow_(code, values, n);
	} else {
		for (i = 0; i < n; i++)
			at[2 + i] = values[i];
		at[1] = n;
		__atomic_store_n(at, sonde_ticks_() << SONDE_TICK_SHIFT_ | SONDE_FLAG_PAYLOAD_ | code,
				 __ATOMIC_RELEASE);
	}
}

static inline bool sonde_on_(uint32_t activity)
{
	return __builtin_expect((__atomic_load_n(&sonde_active_, __ATOMIC_ACQUIRE) & activity) != 0, 0);
}

static inline uint32_t sonde_site_id_(sonde_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	if (__builtin_expect(!id, 0))
		id = sonde_site_register_(site, SONDE_OTHER, NULL, 0);
	if (!id)
		__builtin_unreachable(); /* and the end of the scope need not look whether it was begun */
	return id;
}

/* Returns the id that ends the scope. */
static inline sonde_scope sonde_begin_site_(sonde_site *site)
{
	uint32_t id = sonde_site_id_(site);

	sonde_event_(id);
	return id;
}

static inline sonde_scope sonde_begin_category_(sonde_site *site, sonde_category category)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	if (__builtin_expect(!id, 0))
		id = sonde_site_register_(site, category, NULL, 0);
	sonde_event_(id);
	return id;
}

static inline sonde_scope sonde_begin_step_(sonde_site *site, int64_t number)
{
	uint32_t id = sonde_site_id_(site);
	uint64_t value = (uint64_t)number;

	sonde_event_values_(id, &value, 1);
	return id;
}

static inline void sonde_scope_end_(const sonde_scope *scope)
{
	if (*scope)
		sonde_event_(SONDE_FLAG_END_ | *scope);
}

static inline void sonde_count_(sonde_site *site, double value)
{
	union {
		double f64;
		uint64_t bits;
	} u;

	u.f64 = value;
	sonde_event_values_(sonde_site_id_(site), &u.bits, 1);
}

static inline sonde_arg sonde_arg_i64_(const char *key, int64_t value)
{
	sonde_arg arg;

	arg.key = key;
	arg.type = SONDE_ARG_I64_;
	arg.n = 0;
	arg.value.i64 = value;
	return arg;
}

static inline sonde_arg sonde_arg_f64_(const char *key, double value)
{
	sonde_arg arg;

	arg.key = key;
	arg.type = SONDE_ARG_F64_;
	arg.n = 0;
	arg.value.f64 = value;
	return arg;
}

static inline sonde_arg sonde_arg_str_(const char *key, const char *value)
{
	sonde_arg arg;

	arg.key = key;
	arg.type = SONDE_ARG_STR_;
	arg.n = 0;
	arg.value.str = value;
	return arg;
}

static inline sonde_arg sonde_arg_shape_(const char *key, const int64_t *dims, size_t n_dims)
{
	sonde_arg arg;

	arg.key = key;
	arg.type = SONDE_ARG_SHAPE_;
	arg.n = (uint32_t)n_dims;
	arg.value.dims = dims;
	return arg;
}

enum { SONDE_MAX_VALUES_ = 4 };

/* Whether there are few arguments and all are numbers; the compiler knows. */
static inline bool sonde_are_values_(const sonde_arg *args, size_t n_args)
{
	bool are = n_args <= SONDE_MAX_VALUES_;
	size_t i;

	for (i = 0; i < n_args && i < SONDE_MAX_VALUES_; i++)
		are = are && (args[i].type == SONDE_ARG_I64_ || args[i].type == SONDE_ARG_F64_);
	return are;
}

/* Numbers are put down in place, everything else takes a call. */
static inline sonde_scope sonde_begin_with_(sonde_site *site, const sonde_arg *args, size_t n_args)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
	bool is_text = n_args == 1 && args[0].type == SONDE_ARG_STR_;
	uint64_t values[SONDE_MAX_VALUES_];
	size_t i;

	if (__builtin_expect(!id, 0) || !(is_text || sonde_are_values_(args, n_args)))
		return sonde_begin_args_(site, args, n_args);
	if (is_text) {
		sonde_begin_text_(id, args[0].value.str ? args[0].value.str : "");
		return id;
	}
	for (i = 0; i < n_args && i < SONDE_MAX_VALUES_; i++)
		values[i] = (uint64_t)args[i].value.i64; /* a double's bits are in the same place */
	sonde_event_values_(id, values, n_args);
	return id;
}

typedef struct sonde_op_block_ {
	sonde_scope scope;
	int run;
} sonde_op_block_;

static inline void sonde_op_block_end_(const sonde_op_block_ *block)
{
	sonde_scope_end_(&block->scope);
}

#define SONDE_SITE_(kind, name)                                                                                        \
	{                                                                                                              \
		0, kind, __LINE__, name, __FILE__, __func__                                                            \
	}
/* The static site of this place in the source. */
#define SONDE_HERE_(kind, name)                                                                                        \
	__extension__({                                                                                                \
		static sonde_site sonde_site_here_ = SONDE_SITE_(kind, name);                                          \
		&sonde_site_here_;                                                                                     \
	})
#define SONDE_SCOPE_VAR_                                                                                               \
	sonde_scope SONDE_PASTE_(sonde_scope_, __COUNTER__) __attribute__((cleanup(sonde_scope_end_), unused))
#define SONDE_SCOPE_(activity, kind, name)                                                                             \
	SONDE_SCOPE_VAR_ = sonde_on_(activity) ? sonde_begin_site_(SONDE_HERE_(kind, name)) : 0

/* ---- Scopes ------------------------------------------------------------------------------------------------------ */

/* The rest of the block is a scope with this name, a string literal. Ends however the block is left. */
#define SONDE_SCOPE(name) SONDE_SCOPE_(SONDE_ACTIVE_CPU_, SONDE_SITE_SCOPE_, "" name "")

/* The rest of the function is a scope with the function's name. */
#define SONDE_FUNCTION() SONDE_SCOPE_(SONDE_ACTIVE_CPU_, SONDE_SITE_SCOPE_, __func__)

/* A layer or module of the model; off with SONDE_MODULES=0. */
#define SONDE_MODULE(name) SONDE_SCOPE_(SONDE_ACTIVE_MODULES_, SONDE_SITE_MODULE_, "" name "")

/* Begin and end by hand, on one thread, in nesting order. SONDE_END ends the innermost open scope. */
#define SONDE_BEGIN(name)                                                                                              \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) && sonde_begin_site_(SONDE_HERE_(SONDE_SITE_SCOPE_, "" name ""))))
#define SONDE_END() ((void)(sonde_on_(SONDE_ACTIVE_CPU_) && (sonde_event_(SONDE_FLAG_END_), true)))

/* A scope with a name made at run time (copied; up to 255 bytes are kept). Returns what sonde_end takes. */
SONDE_API sonde_scope sonde_begin(const char *name);
SONDE_API void sonde_end(sonde_scope scope);

/* Begin a scope of a category and a module; sonde_end ends them. */
SONDE_API sonde_scope sonde_begin_category(const char *name, sonde_category category);
SONDE_API sonde_scope sonde_begin_module(const char *name);

/* The rest of the block is a scope or a module with a name made at run time. */
#define SONDE_SCOPE_NAMED(name) SONDE_SCOPE_VAR_ = sonde_begin(name)
#define SONDE_MODULE_NAMED(name) SONDE_SCOPE_VAR_ = sonde_begin_module(name)

/* The rest of the block is a scope of a category: SONDE_SCOPE_CATEGORY("read", SONDE_DATA_LOAD). The name is a string
   literal; the category of the first pass counts. */
#define SONDE_SCOPE_CATEGORY(name, category)                                                                           \
	SONDE_SCOPE_VAR_ = sonde_on_(SONDE_ACTIVE_CPU_)                                                                \
				   ? sonde_begin_category_(SONDE_HERE_(SONDE_SITE_SCOPE_, "" name ""), (category))     \
				   : 0

/* A scope with arguments: SONDE_SCOPE_ARGS("linear", SONDE_I64("layer", 3), SONDE_SHAPE("x", dims, 2)).
   Keys are string literals. Not evaluated while nothing is recorded. */
#if SONDE_LEVEL < SONDE_LEVEL_DETAILED
#define SONDE_SCOPE_ARGS(name, ...)                                                                                    \
	SONDE_SCOPE(name);                                                                                             \
	SONDE_UNUSED_(__VA_ARGS__)
#define SONDE_MARK_ARGS(name, ...) (SONDE_MARK(name), SONDE_UNUSED_(__VA_ARGS__))
#define SONDE_INSTANT_ARGS(name, category, ...) (sonde_instant((name), (category)), SONDE_UNUSED_(__VA_ARGS__))
#define SONDE_DETAIL(name) ((void)0)
#else
#define SONDE_I64(key, value) sonde_arg_i64_("" key "", value)
#define SONDE_F64(key, value) sonde_arg_f64_("" key "", value)
#define SONDE_STR(key, value) sonde_arg_str_("" key "", value)
#define SONDE_SHAPE(key, dims, n_dims) sonde_arg_shape_("" key "", dims, n_dims) /* dims: int64_t * */
/* A scope too fine for SONDE_LEVEL_BASIC. */
#define SONDE_DETAIL(name) SONDE_SCOPE(name)
#ifdef __cplusplus
#define SONDE_ARGS_(...)                                                                                               \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#else
#define SONDE_ARGS_(...)                                                                                               \
	(const sonde_arg[]){ __VA_ARGS__ }, sizeof((const sonde_arg[]){ __VA_ARGS__ }) / sizeof(sonde_arg)
#endif
#define SONDE_SCOPE_ARGS(name, ...)                                                                                    \
	SONDE_SCOPE_VAR_ =                                                                                             \
		sonde_on_(SONDE_ACTIVE_CPU_)                                                                           \
			? sonde_begin_with_(SONDE_HERE_(SONDE_SITE_SCOPE_, "" name ""), SONDE_ARGS_(__VA_ARGS__))      \
			: 0
/* A moment with arguments: SONDE_MARK_ARGS("saved", SONDE_I64("step", i), SONDE_F64("loss", loss)). The name is a
   string literal. SONDE_INSTANT_ARGS takes a name made at run time and a category. */
#define SONDE_MARK_ARGS(name, ...)                                                                                     \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) &&                                                                        \
		sonde_begin_with_(SONDE_HERE_(SONDE_SITE_MARK_, "" name ""), SONDE_ARGS_(__VA_ARGS__))))
#define SONDE_INSTANT_ARGS(name, category, ...)                                                                        \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) &&                                                                        \
		(sonde_instant_args((name), (category), SONDE_ARGS_(__VA_ARGS__)), true)))
#endif

/* ---- Steps, phases, marks, counters, flows ------------------------------------------------------------------------
 */

/* The rest of the block is iteration number n of the training or serving loop. */
#define SONDE_STEP(number)                                                                                             \
	SONDE_SCOPE_VAR_ = sonde_on_(SONDE_ACTIVE_CPU_)                                                                \
				   ? sonde_begin_step_(SONDE_HERE_(SONDE_SITE_STEP_, "step"), (int64_t)(number))       \
				   : 0

/* The same without a block: a step lasts until the next sonde_step on this thread or sonde_step_end. */
SONDE_API void sonde_step(int64_t number);
SONDE_API void sonde_step_end(void);

/* Ends the phase before and begins this one with one time stamp. The last one ends with the step or scope around it. */
#define SONDE_PHASE(name)                                                                                              \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) && sonde_begin_site_(SONDE_HERE_(SONDE_SITE_PHASE_, "" name ""))))

/* A moment. */
#define SONDE_MARK(name)                                                                                               \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) && sonde_begin_site_(SONDE_HERE_(SONDE_SITE_MARK_, "" name ""))))
SONDE_API void sonde_instant(const char *name, sonde_category category);
/* A mark with up to 16 arguments. Keys of up to 127 bytes and strings of up to 255 bytes are kept. */
SONDE_API void sonde_instant_args(const char *name, sonde_category category, const sonde_arg *args, size_t n_args);

/* A value that changes over time. */
#define SONDE_COUNTER(name, value)                                                                                     \
	((void)(sonde_on_(SONDE_ACTIVE_CPU_) &&                                                                        \
		(sonde_count_(SONDE_HERE_(SONDE_SITE_COUNTER_, "" name ""), (double)(value)), true)))
SONDE_API void sonde_counter(const char *name, double value);

/* An arrow from the scope open here to the scope open where sonde_flow_end is called with the same name and id. */
SONDE_API void sonde_flow_begin(const char *name, uint64_t id);
SONDE_API void sonde_flow_end(const char *name, uint64_t id);

/* What reports and timelines call the calling thread, and the process. The text is copied, the last one counts. */
SONDE_API void sonde_thread_name(const char *name);
SONDE_API void sonde_process_name(const char *name);

/* A fact about the whole recording: sonde_metadata("model", "resnet50"). The last value of a key counts. */
SONDE_API void sonde_metadata(const char *key, const char *value);

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* SONDE_OP("matmul", SONDE_COMPUTE, .flops = ..., .bytes = ..., .shape = ..., .n_dims = ..., .type = "f32") { ... }
   The block that follows is the operation, and a loop of its own: break and continue in it leave the operation, not
   your loop. Use SONDE_OP_SCOPE there. Nothing is evaluated while nothing is recorded. */
#define SONDE_OP(name, ...) SONDE_OP_(SONDE_PASTE_(sonde_op_, __COUNTER__), name, __VA_ARGS__)
#define SONDE_OP_(block, name, ...)                                                                                    \
	for (sonde_op_block_ block __attribute__((cleanup(                                                             \
		     sonde_op_block_end_))) = { sonde_on_(SONDE_ACTIVE_CPU_)                                           \
							? sonde_begin_op_(SONDE_HERE_(SONDE_SITE_OP_, "" name ""),     \
									  SONDE_OP_INFO_(__VA_ARGS__))                 \
							: 0,                                                           \
						1 };                                                                   \
	     block.run; block.run = 0)

/* The rest of the block is the operation: SONDE_OP_SCOPE("matmul", SONDE_COMPUTE, .flops = ...); Ends however the block
   is left: break, continue and return mean what they mean without it. */
#define SONDE_OP_SCOPE(name, ...)                                                                                      \
	SONDE_SCOPE_VAR_ = sonde_on_(SONDE_ACTIVE_CPU_) ? sonde_begin_op_(SONDE_HERE_(SONDE_SITE_OP_, "" name ""),     \
									  SONDE_OP_INFO_(__VA_ARGS__))                 \
							: 0

/* As the first line of a function: SONDE_OP_FUNCTION(SONDE_COMPUTE, .flops = 2.0 * m * n * k, .bytes = ...); The whole
   function is an operation with the function's name. Ends on every return path. */
#define SONDE_OP_FUNCTION(...)                                                                                         \
	SONDE_SCOPE_VAR_ = sonde_on_(SONDE_ACTIVE_CPU_) ? sonde_begin_op_(SONDE_HERE_(SONDE_SITE_OP_, __func__),       \
									  SONDE_OP_INFO_(__VA_ARGS__))                 \
							: 0

/* An operation with a name made at run time. Call sonde_end on this thread to end it by hand. info may be NULL. */
#define SONDE_OP_NAMED(name, ...)                                                                                      \
	SONDE_SCOPE_VAR_ = sonde_on_(SONDE_ACTIVE_CPU_) ? sonde_begin_op((name), SONDE_OP_INFO_(__VA_ARGS__)) : 0
SONDE_API sonde_scope sonde_begin_op(const char *name, const sonde_op_info *info);

#ifdef __cplusplus
#define SONDE_OP_INFO_(...)                                                                                            \
	[&](sonde_op_info sonde_info_) {                                                                               \
		SONDE_OP_SET_(sonde_info_, __VA_ARGS__, SONDE_OP_SAME_, SONDE_OP_SAME_, SONDE_OP_SAME_,                \
			      SONDE_OP_SAME_, SONDE_OP_SAME_, 0);                                                      \
		return sonde_op_holder_(sonde_info_);                                                                  \
	}(sonde_op_info())                                                                                             \
		.info()
#else
#define SONDE_OP_INFO_(...)                                                                                            \
	&(const sonde_op_info)                                                                                         \
	{                                                                                                              \
		__VA_ARGS__, .reserved_ = 0                                                                            \
	}
#endif

/* An operation that ends in another function or on another thread. */
SONDE_API sonde_op sonde_op_begin(const char *name, sonde_category category);
SONDE_API sonde_op sonde_op_begin_info(const char *name, const sonde_op_info *info);
SONDE_API void sonde_op_end(sonde_op op);
/* Attach a text or a number to an operation, from any thread, before or after its end. */
SONDE_API void sonde_op_metadata(sonde_op op, const char *key, const char *value);
SONDE_API void sonde_op_metadata_i64(sonde_op op, const char *key, int64_t value);
SONDE_API void sonde_op_metadata_f64(sonde_op op, const char *key, double value);

/* An operation of this thread whose duration was measured elsewhere. Times are CLOCK_MONOTONIC, see sonde_now_ns. */
SONDE_API void sonde_op_record(const char *name, sonde_category category, int64_t start_ns, int64_t dur_ns);

/* Names a category of your own. The same name gives the same category. */
SONDE_API sonde_category sonde_category_register(const char *name);

/* ---- Memory and devices ------------------------------------------------------------------------------------------ */

/* Memory was taken or given back. The address (or any number but 0 that is unique on the device) pairs the two; NULL is
   no block, as for malloc and free. The memory itself is not looked at. tensor_id may be 0. */
SONDE_API void sonde_alloc(sonde_device device, const void *address, size_t bytes, uint64_t tensor_id)
	SONDE_NOT_READ_(2);
SONDE_API void sonde_free(sonde_device device, const void *address) SONDE_NOT_READ_(2);

/* Exact at the moment of the call. */
SONDE_API sonde_memory sonde_memory_now(sonde_device device);

/* Writes up to n live blocks, in no order, and returns how many there are. Also marks the moment in the recording. */
SONDE_API size_t sonde_memory_snapshot(sonde_device device, sonde_memory_block *ret_blocks, size_t n);

/* Writes up to n points of memory over time, oldest first, and returns how many it wrote (at most 512: the resolution
   halves whenever they are used up). The peak of each interval is exact. */
SONDE_API size_t sonde_memory_timeline(sonde_device device, sonde_memory_point *ret_points, size_t n);

/* Names a device of your own; the same name gives the same device. Memory is counted of the first 64 that have some. */
SONDE_API sonde_device sonde_device_register(const char *name);

/* A queue of a device, by the names of both. The same names give the same stream. */
SONDE_API sonde_stream sonde_stream_register(const char *device, const char *stream);

/* In the thread that launches: returns the id that ties the launch to what runs on the stream later. */
SONDE_API uint64_t sonde_launch(const char *name, sonde_stream stream);

/* What ran on the stream, with its own times (CLOCK_MONOTONIC). launch_id 0: unknown. */
SONDE_API void sonde_stream_slice(sonde_stream stream, uint64_t launch_id, const char *name, int64_t start_ns,
				  int64_t end_ns);

/* The clock of the recording: CLOCK_MONOTONIC in nanoseconds. */
SONDE_API int64_t sonde_now_ns(void);

/* ---- Start and stop ---------------------------------------------------------------------------------------------- */

/* Starts a recording into a new file; config NULL: as the environment says. One at a time: SONDE_E_STATE when one runs.
   Not for signal handlers. <sonde/session.h> does the same and gives a report. */
SONDE_API sonde_status sonde_start(const sonde_config *config, sonde_error *err);

/* Ends the recording and completes its file. SONDE_E_STATE when none runs. */
SONDE_API sonde_status sonde_stop(sonde_error *err);

/* Stops and goes on within one recording. What happens in between is not recorded; memory is still counted. */
SONDE_API void sonde_pause(void);
SONDE_API void sonde_resume(void);

/* The file being written or written last, "" if there is none. Valid until the next start. */
SONDE_API const char *sonde_output(void);

#else /* SONDE_LEVEL_OFF: the same names, no code */

#define SONDE_SCOPE(name) ((void)0)
#define SONDE_FUNCTION() ((void)0)
#define SONDE_MODULE(name) ((void)0)
#define SONDE_SCOPE_NAMED(name) (0 ? (void)(name) : (void)0)
#define SONDE_MODULE_NAMED(name) (0 ? (void)(name) : (void)0)
#define SONDE_SCOPE_CATEGORY(name, category) (0 ? (void)(category) : (void)0)
#define SONDE_DETAIL(name) ((void)0)
#define SONDE_BEGIN(name) ((void)0)
#define SONDE_END() ((void)0)
#define SONDE_SCOPE_ARGS(name, ...) SONDE_UNUSED_(__VA_ARGS__)
#define SONDE_STEP(number) (0 ? (void)(number) : (void)0)
#define SONDE_PHASE(name) ((void)0)
#define SONDE_MARK(name) ((void)0)
#define SONDE_MARK_ARGS(name, ...) SONDE_UNUSED_(__VA_ARGS__)
#define SONDE_INSTANT_ARGS(name, category, ...)                                                                        \
	((0 ? ((void)(name), (void)(category)) : (void)0), SONDE_UNUSED_(__VA_ARGS__))
#define SONDE_COUNTER(name, value) (0 ? (void)(value) : (void)0)
#ifdef __cplusplus
#define SONDE_OP_UNUSED_(...)                                                                                          \
	[&](sonde_op_info sonde_info_) {                                                                               \
		SONDE_OP_SET_(sonde_info_, __VA_ARGS__, SONDE_OP_SAME_, SONDE_OP_SAME_, SONDE_OP_SAME_,                \
			      SONDE_OP_SAME_, SONDE_OP_SAME_, 0);                                                      \
	}(sonde_op_info())
#else
#define SONDE_OP_UNUSED_(...) (void)(&(const sonde_op_info){ __VA_ARGS__, .reserved_ = 0 })
#endif
#define SONDE_OP_NAMED(name, ...) (0 ? ((void)(name), SONDE_OP_UNUSED_(__VA_ARGS__)) : (void)0)
#define SONDE_OP_SCOPE(name, ...) (0 ? SONDE_OP_UNUSED_(__VA_ARGS__) : (void)0)
#define SONDE_OP_FUNCTION(...) (0 ? SONDE_OP_UNUSED_(__VA_ARGS__) : (void)0)
#define SONDE_OP(name, ...) SONDE_OP_(SONDE_PASTE_(sonde_op_, __COUNTER__), __VA_ARGS__)
#define SONDE_OP_(once, ...) for (int once = (0 ? SONDE_OP_UNUSED_(__VA_ARGS__) : (void)0, 1); once; once = 0)

static inline sonde_scope sonde_begin(const char *name)
{
	(void)name;
	return 0;
}
static inline void sonde_end(sonde_scope scope)
{
	(void)scope;
}
static inline sonde_scope sonde_begin_category(const char *name, sonde_category category)
{
	(void)name, (void)category;
	return 0;
}
static inline sonde_scope sonde_begin_module(const char *name)
{
	(void)name;
	return 0;
}
static inline sonde_scope sonde_begin_op(const char *name, const sonde_op_info *info)
{
	(void)name, (void)info;
	return 0;
}
static inline void sonde_step(int64_t number)
{
	(void)number;
}
static inline void sonde_step_end(void)
{
}
static inline void sonde_instant(const char *name, sonde_category category)
{
	(void)name, (void)category;
}
static inline void sonde_instant_args(const char *name, sonde_category category, const sonde_arg *args, size_t n_args)
{
	(void)name, (void)category, (void)args, (void)n_args;
}
static inline void sonde_counter(const char *name, double value)
{
	(void)name, (void)value;
}
static inline void sonde_flow_begin(const char *name, uint64_t id)
{
	(void)name, (void)id;
}
static inline void sonde_flow_end(const char *name, uint64_t id)
{
	(void)name, (void)id;
}
static inline void sonde_thread_name(const char *name)
{
	(void)name;
}
static inline void sonde_process_name(const char *name)
{
	(void)name;
}
static inline void sonde_metadata(const char *key, const char *value)
{
	(void)key, (void)value;
}
static inline sonde_op sonde_op_begin(const char *name, sonde_category category)
{
	sonde_op op = { 0, 0 };
	(void)name, (void)category;
	return op;
}
static inline sonde_op sonde_op_begin_info(const char *name, const sonde_op_info *info)
{
	sonde_op op = { 0, 0 };
	(void)name, (void)info;
	return op;
}
static inline void sonde_op_end(sonde_op op)
{
	(void)op;
}
static inline void sonde_op_metadata(sonde_op op, const char *key, const char *value)
{
	(void)op, (void)key, (void)value;
}
static inline void sonde_op_metadata_i64(sonde_op op, const char *key, int64_t value)
{
	(void)op, (void)key, (void)value;
}
static inline void sonde_op_metadata_f64(sonde_op op, const char *key, double value)
{
	(void)op, (void)key, (void)value;
}
static inline void sonde_op_record(const char *name, sonde_category category, int64_t start_ns, int64_t dur_ns)
{
	(void)name, (void)category, (void)start_ns, (void)dur_ns;
}
static inline sonde_category sonde_category_register(const char *name)
{
	(void)name;
	return SONDE_OTHER;
}
SONDE_NOT_READ_(2)
static inline void sonde_alloc(sonde_device device, const void *address, size_t bytes, uint64_t tensor_id)
{
	(void)device, (void)address, (void)bytes, (void)tensor_id;
}
SONDE_NOT_READ_(2)
static inline void sonde_free(sonde_device device, const void *address)
{
	(void)device, (void)address;
}
static inline sonde_memory sonde_memory_now(sonde_device device)
{
	sonde_memory memory = { 0, 0, 0, false };
	(void)device;
	return memory;
}
static inline size_t sonde_memory_snapshot(sonde_device device, sonde_memory_block *ret_blocks, size_t n)
{
	(void)device, (void)ret_blocks, (void)n;
	return 0;
}
static inline size_t sonde_memory_timeline(sonde_device device, sonde_memory_point *ret_points, size_t n)
{
	(void)device, (void)ret_points, (void)n;
	return 0;
}
static inline sonde_device sonde_device_register(const char *name)
{
	(void)name;
	return SONDE_CPU;
}
static inline sonde_stream sonde_stream_register(const char *device, const char *stream)
{
	(void)device, (void)stream;
	return 0;
}
static inline uint64_t sonde_launch(const char *name, sonde_stream stream)
{
	(void)name, (void)stream;
	return 0;
}
static inline void sonde_stream_slice(sonde_stream stream, uint64_t launch_id, const char *name, int64_t start_ns,
				      int64_t end_ns)
{
	(void)stream, (void)launch_id, (void)name, (void)start_ns, (void)end_ns;
}
static inline int64_t sonde_now_ns(void)
{
	return 0;
}
static inline sonde_status sonde_start(const sonde_config *config, sonde_error *err)
{
	(void)config, (void)err;
	return SONDE_OK;
}
static inline sonde_status sonde_stop(sonde_error *err)
{
	(void)err;
	return SONDE_OK;
}
static inline void sonde_pause(void)
{
}
static inline void sonde_resume(void)
{
}
static inline const char *sonde_output(void)
{
	return "";
}

#endif /* SONDE_LEVEL */

#ifdef __cplusplus
} /* extern "C" */

#if SONDE_LEVEL > SONDE_LEVEL_OFF
#include <initializer_list>

static inline sonde_scope sonde_begin_with_(sonde_site *site, std::initializer_list<sonde_arg> args)
{
	return sonde_begin_with_(site, args.begin(), args.size());
}

static inline void sonde_instant_args(const char *name, sonde_category category, std::initializer_list<sonde_arg> args)
{
	sonde_instant_args(name, category, args.begin(), args.size());
}

/* Keeps the info of SONDE_OP alive until the end of the expression. */
class sonde_op_holder_
{
      public:
	explicit sonde_op_holder_(const sonde_op_info &info) : info_(info)
	{
	}
	const sonde_op_info *info() const
	{
		return &info_;
	}

      private:
	sonde_op_info info_;
};
#endif
#endif
#endif
