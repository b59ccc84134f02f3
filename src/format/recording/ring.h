/*
 * The ring: the shared memory through which events leave the recording threads. It is a file, so that what it holds
 * outlives a killed program; the reader joins it with the recording.
 *
 *   ring_header | names (RING_NAMES_BYTES) | chunk 0 | chunk 1 | ...
 *
 * A chunk belongs to one thread from CHUNK_ACTIVE on. Its words are valid up to the first zero word. `flushed` words of
 * them are in the file already (it grows only after write() returned), so after a crash the events are: the file, then
 * for every chunk not free the words from `flushed` on; what both have is told by first_word.
 */
#ifndef SONDE_FORMAT_RECORDING_RING_H
#define SONDE_FORMAT_RECORDING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/recording/file.h"

#define RING_MAGIC UINT64_C(0x31474e5245444e53) /* "SNDERNG1" */
enum {
	RING_HEADER_BYTES = 4096,
	RING_NAMES_BYTES = 4 << 20,
	RING_CHUNKS_AT = RING_HEADER_BYTES + RING_NAMES_BYTES,
	RING_CHUNK_BYTES = 64 << 10,
	RING_DEFAULT_BYTES = 64 << 20,
	RING_MIN_BYTES = 256 << 10,
};

typedef enum chunk_state { CHUNK_FREE = 0, CHUNK_ACTIVE = 1, CHUNK_SEALED = 2 } chunk_state;

typedef struct ring_chunk {
	uint32_t state;
	uint32_t thread;
	uint32_t tid;
	uint32_t n_words;    /* when sealed */
	uint64_t first_word; /* of the thread */
	uint64_t flushed;    /* words */
	uint64_t base_ticks; /* near the first word not flushed */
	uint64_t n_lost;     /* by this thread so far, because the ring was full */
	uint64_t reserved[2];
	uint64_t words[(RING_CHUNK_BYTES - 64) / 8];
} ring_chunk;
_Static_assert(sizeof(ring_chunk) == RING_CHUNK_BYTES, "in the ring");
enum { CHUNK_WORDS = (RING_CHUNK_BYTES - 64) / 8 };

static inline size_t ring_chunk_offset(uint32_t index)
{
	return RING_CHUNKS_AT + (size_t)index * RING_CHUNK_BYTES;
}

/*
 * The writer is giving up what a chunk holds and counts it as lost. Both happen with the store to the chunk's
 * `flushed`: as long as it is `flushed` the counter is `before`, whatever the header says, afterwards it is `after`.
 */
typedef struct ring_loss {
	uint32_t chunk;	  /* its number + 1; 0: nothing of that kind goes on */
	uint32_t counter; /* its offset in stream_block */
	uint64_t flushed, before, after;
} ring_loss;

typedef struct ring_header {
	uint64_t magic;
	uint64_t stream;   /* of the recording that runs, 0: none */
	uint32_t version;  /* FORMAT_VERSION */
	uint32_t n_chunks; /* reserved on disk so far */
	uint32_t names_bytes;
	uint32_t reserved;
	clock_pair first, last; /* for a recording that was killed before its first BLOCK_CLOCK */
	stream_block info;	/* as it stands; counters are updated by atomic additions */
	ring_loss loss;
	char recording[1024]; /* its path, absolute; "": unknown */
} ring_header;
_Static_assert(sizeof(ring_header) <= RING_HEADER_BYTES, "in the ring");

/* From what a recording says about its ring to the ring's path. The recording may come from a stranger, so a ring is
   looked for in two places only, /dev/shm under the names that the runtime gives and beside the recording (NULL: it has
   no path). False when it is none that the runtime would choose. */
bool ring_locate(const char *named, const char *recording, char *out, size_t size);

/* For a recording that is about to be removed: removes the ring that its process left when it was killed, which nobody
   would find any more. Does nothing when the process may still run or the ring may be another's. */
void ring_remove_of(const char *recording);

#endif
