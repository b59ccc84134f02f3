/*
 * The runtime inside the profiled program: one static struct, shared by the files of this directory.
 *
 *   start.c       start, stop, pause, fork, exit
 *   config.c      from struct and environment to what shall be recorded
 *   ring_file.c   the shared memory: made, grown and given up
 *   ring.c        its chunks for threads: taken, sealed and given back
 *   writer.c      the thread that encodes sealed chunks into the file
 *   names.c       names to 16-bit ids; text.h: short texts at once
 *   events.c      everything that is more than one word
 *   collector.h   what collectors may call
 *   memory.c      who holds how much
 *   clock.c       ticks, and pairs of ticks and nanoseconds
 *
 * A thread writes events into its chunk through sonde_room_ (record.h). When that is full, or on its first event, it
 * comes to ring_take(). Locks: session (start and stop), then names, then chunks; none is held while an event is
 * written. `busy` in the thread keeps a signal handler out of what its thread is just changing; the handler's event is
 * then counted as lost.
 */
#ifndef SONDE_RECORD_RUNTIME_H
#define SONDE_RECORD_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/lock.h"
#include "format/recording/events.h"
#include "format/recording/file.h"
#include "format/recording/names.h"
#include "format/recording/payloads.h"
#include "format/recording/ring.h"
#include <sonde/record.h>

/* The state of a thread besides sonde_room_. */
typedef struct thread_state {
	ring_chunk *chunk;
	uint64_t room;	 /* in place of sonde_room_, which stays 0, when the clock is not ticks */
	uint32_t number; /* 0: no event yet */
	uint32_t tid;
	uint32_t n_ops;	  /* serials handed out */
	uint32_t busy;	  /* inside the runtime: a signal handler's event must not enter */
	uint64_t n_words; /* in the chunks before */
	uint64_t n_lost;
} thread_state;
extern __thread thread_state this_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What the user asked for, checked. */
typedef struct record_options {
	char output[4096];     /* with %p and %n; "" for the default */
	bool output_is_longer; /* by ".sonde": the name was that of another format */
	uint32_t active;       /* SONDE_ACTIVE_*_ */
	size_t buffer;
	full_policy full;
	unsigned report;
	bool enabled, shapes, stacks, flops;
} record_options;

/* Above SONDE_ACTIVE_*_, which are the activities of the recording, paused or not. */
typedef enum record_mode {
	MODE_RUNNING = 0x100,
	MODE_IN_CHILD = 0x200, /* forked from a recording program, own recording not begun yet */
	MODE_SHAPES = 0x400,
	MODE_STACKS = 0x800,
	MODE_FLOPS = 0x1000,
	MODE_DROP = 0x2000, /* when the ring is full */
} record_mode;

struct runtime {
	lock options_lock; /* of sonde_start, before session_lock; a fork does not wait for it */
	lock session_lock; /* start, stop, fork */
	lock names_lock;
	lock chunks_lock;
	uint32_t mode; /* what threads must know; changes as a whole, see record_mode */
	uint32_t paused;
	bool running;	   /* a recording is on; paused or not */
	bool automatic;	   /* begun by the environment, not by the program */
	bool shared;	   /* the program's own session inside the automatic recording */
	bool handlers_set; /* atfork, thread key */
	bool slow_clock;   /* clock_gettime instead of ticks */
	stream_clock clock;
	record_options options;
	uint32_t n_sessions;
	uint32_t n_threads;
	pthread_key_t key; /* its destructor seals the chunk of a thread that ends */
	uint64_t n_launches;

	/* ring_file.c */
	ring_header *ring;
	int ring_fd;
	dev_t ring_device;
	ino_t ring_inode;
	char ring_path[256];
	uint32_t mapped_chunks; /* there is room for so many */
	uint32_t max_chunks;	/* what the user gave us */
	uint32_t room_chunks;	/* and with those that threads get beyond it when all the others sit with threads */

	/* ring.c, under chunks_lock */
	bool accepts;	  /* from the start of a recording until the writer has seen the last of its events */
	uint32_t n_bound; /* chunks that only a thread can give back: it writes into them, or has not finished one */
	uint32_t *free_chunks; /* a stack: the one used last is warm */
	uint32_t n_free;
	uint32_t *sealed_next; /* a queue through the chunks */
	uint32_t sealed_first, sealed_last, n_sealed;
	uint32_t chunk_freed; /* futex, counts */
	uint32_t n_waiting;

	/* writer.c */
	bool writer_runs;
	uint32_t wake; /* futex, counts */
	uint32_t writer_sleeps;
	uint32_t request; /* writer_request */
	uint32_t done;	  /* futex, counts requests done */
	int file_fd;
	char path[4096];
	dev_t file_device;
	ino_t file_inode;
	uint64_t file_bytes;
	uint64_t stream;
};
extern struct runtime rt __attribute__((visibility("hidden")));

static inline uint32_t record_mode_now(void)
{
	return __atomic_load_n(&rt.mode, __ATOMIC_ACQUIRE);
}

static inline ring_header *ring_now(void)
{
	return __atomic_load_n(&rt.ring, __ATOMIC_ACQUIRE);
}

/* clock.c */
void clock_choose(void);
clock_pair clock_pair_now(void);
static inline uint64_t clock_ticks(void);

/* config.c */
void config_from_environment(record_options *options);
sonde_status config_from_struct(const sonde_config *config, record_options *options, sonde_error *err);

/* names.c; an id for good, NAME_FULL_ID when there is no room. Not while `busy`. */
uint32_t name_intern(name_kind kind, uint32_t category, const char *name);
void names_attach(void);  /* copies what is known into a new ring; under names_lock */
size_t names_bytes(void); /* published so far */
const uint8_t *names_at(size_t offset);

/* ring_file.c */
enum { RING_GROW = 4 }; /* chunks at once */
sonde_status ring_open(const char *beside, sonde_error *err);
bool ring_reserve(size_t offset, size_t len); /* makes sure that memory is there; false: the file system is full */
/* Makes up to n more chunks usable, `most` in all, and returns how many; called with chunks_lock. */
uint32_t ring_grow(uint32_t n, uint32_t most);
void ring_unlink(void);
void ring_unmap(void);

/* ring.c */
enum { CHUNK_NONE = UINT32_MAX }; /* the number of no chunk */
void ring_begin_session(void);
/* Writer: what comes from now on, or finds no room, is not part of the recording. False and nothing happens when sealed
   chunks are waiting, unless `force`. */
bool ring_end_session(bool force);
/* Room for a whole event in this thread's chunk, after sonde_reserve_ had none for it; NULL: counted as lost. */
uint64_t *ring_take(size_t n_words);
void ring_thread_exit(void *unused);
void ring_forget(void);
void ring_release(ring_chunk *chunk);					 /* writer: the chunk's words are in the file */
void ring_lose(ring_chunk *chunk, uint64_t *counter, uint64_t n_events); /* writer: or will never be; before that */
void ring_set_flushed(ring_chunk *chunk, uint64_t n_words);
ring_chunk *ring_next_sealed(void); /* writer: oldest first; NULL */
ring_chunk *ring_chunk_at(uint32_t index);
uint32_t ring_n_chunks(void);
bool ring_is_short(void); /* all chunks are in use but for 2 to 8, an eighth of them */
void ring_bind(int by);	  /* writer: so many more chunks wait for their threads */
void ring_prepare(void);  /* writer: keeps some fresh chunks ready */
void count_lost(uint64_t *counter, uint64_t n);

/* writer.c */
typedef enum writer_request { REQUEST_NONE, REQUEST_FLUSH, REQUEST_FINISH } writer_request;
sonde_status writer_start(sonde_error *err); /* the thread, once in a process */
void writer_wake(void);
void writer_ask(writer_request request); /* returns when everything emitted before is in the file */

/* The stream_block in the ring, whose counters other threads may be adding to. */
void info_load(stream_block *to);
void info_store(const stream_block *from);

/* output.c; all but the first four are the writer's */
/* Makes a file at path or, if that is taken, at a name beside it; rt.path says where. *ret_found_old: a recording that
   no process writes any more has the path. */
sonde_status output_create(const char *path, bool *ret_found_old, sonde_error *err);
sonde_status output_begin(sonde_error *err); /* its first blocks, when the ring describes the stream */
void output_remove(void);		     /* after either of them failed, or what comes next */
void output_forget_in_child(void);
bool output_write(const void *bytes, size_t len, uint64_t n_events); /* false: the caller counts them as lost */
void output_note_losses(void);					     /* after that */
bool output_block(block_kind kind, const void *payload, size_t len); /* false: try again later */
void output_stream_info(stream_state state);			     /* the header, in place */
void output_close(void);

/* memory.c */
void memory_reset(void);
void memory_init_child(void);

/* start.c */
void start_in_child(void);

/* events.c */
void event_put_words(uint32_t code, const uint64_t *words, size_t n_words);
void event_put_instant(uint32_t name_id, const sonde_arg *args, size_t n_args);
void event_put_stack(void); /* of the event before, when stacks are recorded */

static inline uint64_t clock_ticks(void)
{
	extern int64_t clock_slow_ticks(void) __attribute__((visibility("hidden")));

	return __builtin_expect(rt.slow_clock, 0) ? (uint64_t)clock_slow_ticks() : sonde_ticks_();
}

/* Room for an event with n words of payload, which begins 2 words behind; NULL: counted as lost. */
static inline uint64_t *event_begin(size_t n_words)
{
	uint64_t *at = sonde_reserve_(2 + n_words);

	return at ? at : ring_take(2 + n_words);
}

/* The payload ends at `end`. Whoever sees the event word, the writer or the reader of a dead program's ring, sees the
   payload. */
static inline void event_end(uint64_t *start, const uint64_t *end, uint32_t code)
{
	start[1] = (uint64_t)(end - start) - 2;
	__atomic_store_n(start, clock_ticks() << EVENT_TICK_SHIFT | EVENT_PAYLOAD | code, __ATOMIC_RELEASE);
}

/* EVENT_PUT(FREE, free, .device = device, ...): an event of payloads.def. */
#define EVENT_PUT(NAME, name, ...)                                                                                     \
	do {                                                                                                           \
		const payload_##name fields_ = { __VA_ARGS__ };                                                        \
		uint64_t *at_ = event_begin(payload_words_##name(&fields_));                                           \
		if (at_)                                                                                               \
			event_end(at_, payload_put_##name(at_ + 2, &fields_), EVENT_##NAME);                           \
	} while (0)

#endif
