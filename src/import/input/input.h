/*
 * The bytes of a trace, whatever they come in: a file, a pipe or standard input; plain, gzip or zstd, told by their
 * first bytes. They come in windows, one after the other, so that memory stays the same however long the input is.
 *
 *   input_open()
 *   input_peek()       the first bytes, to see what it is
 *   input_next()       the next window, decompressed; the caller may hold several
 *   input_release()    gives a window back, in any order, from any thread
 *   input_close()
 *
 * With more than one thread a thread of the input decompresses, or reads what has to be waited for, ahead.
 */
#ifndef SONDE_IMPORT_INPUT_INPUT_H
#define SONDE_IMPORT_INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>

enum {
	INPUT_SLACK = 64, /* readable bytes behind a window, zeroed */
	INPUT_WINDOW =
		(2 << 20) - INPUT_SLACK, /* every window but the last has this many bytes; one huge page with it */
	INPUT_WINDOWS = 6,		 /* may be held at a time; a seventh is refused with SONDE_E_STATE */
	INPUT_PEEK = 64 << 10,
	/* Text of more than INPUT_RATIO_FREE bytes is refused, with SONDE_E_FORMAT, when it is more than this many
	   times the compressed bytes it came from. gzip cannot expand further; zstd can, but no trace does. */
	INPUT_MAX_RATIO = 1100,
	INPUT_RATIO_FREE = 256 << 20,
};

typedef struct input input;

typedef struct input_window {
	uint8_t *bytes; /* INPUT_SLACK more may be read and written */
	size_t len;
	uint64_t offset; /* in the decompressed text */
	bool last;	 /* no window follows; may be empty */
} input_window;

/* "-" is standard input. */
sonde_status input_open(const char *path, unsigned n_threads, input **ret_input, sonde_error *err);
sonde_status input_open_memory(const void *bytes, size_t len, input **ret_input); /* borrowed; for tests and fuzzing */
/* Also takes back the windows that are held. Accepts NULL. */
void input_close(input *in);

/* The first INPUT_PEEK bytes of the text, fewer when it is shorter. Before the first input_next. */
sonde_status input_peek(input *in, const uint8_t **ret_bytes, size_t *ret_len, sonde_error *err);
/* When the compressed data is damaged or cut, or the file cannot be read to its end, the text up to there comes first,
   in windows as usual; the one with `last` set ends it and input_damage() tells. Is there no text at all before the
   damage, this fails. */
sonde_status input_next(input *in, input_window *ret_window, sonde_error *err);
void input_release(input *in, input_window *window);

/* Once the last window was taken: what is wrong with the compressed data, or NULL; the byte of the file, to within a
   block, where that was noticed. All text before it was delivered. */
const char *input_damage(const input *in, uint64_t *ret_offset);
/* Bytes of the file taken so far, and all, 0 when nobody knows. For progress. */
void input_position(const input *in, uint64_t *ret_done, uint64_t *ret_total);
/* Bytes of text, once the last window was taken; 0 before. */
uint64_t input_text_bytes(const input *in);
const char *input_compression(const input *in); /* "gzip", "zstd", or NULL */

#endif
