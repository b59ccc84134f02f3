/*
 * The `.sonde` file: a sequence of blocks, each readable on its own.
 *
 *   block = block_header, `length` bytes of payload, zeros up to the next multiple of 8
 *
 * There is no footer and nothing points forward: a file cut at any byte keeps every whole block, and after damage the
 * reader goes on at the next place where a header and its checksum fit. All numbers are little endian.
 *
 * One file holds one or more streams; a stream is what one process recorded, or what `sonde record` saw of its
 * processes. Every stream starts with a BLOCK_STREAM, which is written again in place when the recording ends, so that
 * the totals are kept even when the disk is full.
 *
 * Times are ticks of the stream's clock; BLOCK_CLOCK pairs them with CLOCK_MONOTONIC nanoseconds.
 */
#ifndef SONDE_FORMAT_RECORDING_FILE_H
#define SONDE_FORMAT_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAGIC 0x444e5389u /* "\x89SND" */
enum { FORMAT_VERSION = 1, BLOCK_ALIGN = 8, BLOCK_MAX_BYTES = 64 << 20 };

typedef enum block_kind {
	BLOCK_STREAM = 1,     /* stream_block */
	BLOCK_NAMES = 2,      /* name records, see names.h */
	BLOCK_CLOCK = 3,      /* clock_pair[] */
	BLOCK_EVENTS = 4,     /* events_head, then what events.h encodes */
	BLOCK_META = 5,	      /* "key\0value\0" pairs */
	BLOCK_PROCESS = 6,    /* process_block, then its command line */
	BLOCK_SAMPLES_72 = 7, /* process_sample[] that end before peak_rss_bytes; no longer written */
	BLOCK_MODULES =
		8, /* "start end path\n" lines, hexadecimal: where code was loaded, for the addresses of stacks */
	BLOCK_SAMPLES = 9, /* process_sample[] */
	BLOCK_KINDS
} block_kind;

typedef struct block_header {
	uint32_t magic;
	uint16_t kind;
	uint16_t version;
	uint32_t length;   /* of the payload, without padding */
	uint32_t n_events; /* in a BLOCK_EVENTS: what is lost when the payload is damaged */
	uint64_t stream;
	uint32_t payload_crc;
	uint32_t header_crc; /* of the 28 bytes before */
} block_header;
_Static_assert(sizeof(block_header) == 32, "on disk");

typedef enum stream_state { STREAM_OPEN = 0, STREAM_CLOSED = 1, STREAM_RECOVERED = 2 } stream_state;
typedef enum stream_clock { CLOCK_TSC = 0, CLOCK_NS = 1, CLOCK_CNTVCT = 2 } stream_clock;
typedef enum stream_role { ROLE_PROGRAM = 0, ROLE_OBSERVER = 1 } stream_role; /* observer: `sonde record` itself */

typedef struct stream_block {
	uint32_t state;
	uint32_t clock;
	uint32_t role;
	uint32_t pid;
	uint64_t pid_start;   /* in clock ticks after boot, tells a reused pid apart */
	int64_t start_ns;     /* CLOCK_MONOTONIC */
	int64_t end_ns;	      /* 0 while open */
	int64_t start_utc_ns; /* CLOCK_REALTIME at start_ns */
	uint64_t n_events;    /* written to the file; counted when closed */
	uint64_t n_lost_full; /* the ring was full */
	uint64_t n_lost_overwritten;
	uint64_t n_lost_signal; /* a signal handler came while its thread changed chunks */
	uint64_t n_lost_io;	/* the file could not be written */
	uint64_t n_names_refused;
	uint64_t ring_bytes;
	uint32_t full; /* full_policy */
	int32_t io_errno;
	char ring_path[256]; /* "" when there is none */
	char program[128];
	char host[64];
	char writer[32]; /* version of Sonde */
} stream_block;
_Static_assert(sizeof(stream_block) == 592, "on disk");

/* The first block of a stream, whole. */
typedef struct stream_start {
	block_header header;
	stream_block info;
} stream_start;
_Static_assert(sizeof(stream_start) == 624, "on disk");

typedef enum full_policy { FULL_BLOCK = 0, FULL_OVERWRITE = 1, FULL_DROP = 2 } full_policy;

/* The tick lies within error_ticks of the moment of ns. */
typedef struct clock_pair {
	uint64_t ticks;
	int64_t ns;
	uint64_t error_ticks;
} clock_pair;
_Static_assert(sizeof(clock_pair) == 24, "on disk");

/* One stretch of one thread. Words count from the thread's first event; see events.h. */
typedef struct events_head {
	uint32_t thread; /* number of the thread in its process, never used again */
	uint32_t tid;	 /* of the kernel */
	uint64_t first_word;
	uint64_t base_ticks;
	uint64_t n_lost; /* by this thread because the ring was full, up to here */
	uint32_t n_words;
	uint32_t reserved;
} events_head;
_Static_assert(sizeof(events_head) == 40, "on disk");

typedef struct process_block {
	int32_t pid;
	int32_t parent_pid;
} process_block;

typedef struct process_sample {
	int64_t time_ns; /* CLOCK_MONOTONIC */
	int32_t pid;
	uint32_t n_threads;
	uint64_t user_ns, system_ns, rss_bytes, minor_faults, major_faults;
	uint64_t read_bytes, write_bytes; /* UINT64_MAX: unknown */
	uint64_t peak_rss_bytes;	  /* so far; 0: unknown */
} process_sample;
_Static_assert(offsetof(process_sample, peak_rss_bytes) == 72 && sizeof(process_sample) == 80, "on disk");

/* CRC-32C. Start with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

static inline size_t block_padded(size_t length)
{
	return (length + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
}

/* Fills the header in front of a payload of `length` bytes at block + 1 and zeroes the padding behind it. Returns the
   size of the whole block. The memory has room for the padding. */
size_t block_seal(block_header *block, block_kind kind, uint64_t stream, size_t length, uint32_t n_events);

/* The header alone, of a payload that lies elsewhere. */
block_header block_describe(block_kind kind, uint64_t stream, const void *payload, size_t length, uint32_t n_events);

/* True when the 32 bytes at `header` are a header. */
bool block_header_ok(const block_header *header);

#endif
