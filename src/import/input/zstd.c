/*
 * zstd: frames one after the other, skippable ones among them, are one text.
 *
 * The library decodes as many blocks in a call as it is given, and when one of them is damaged nobody learns how much
 * text the ones before it made. So it is given one block at a time. It asks for a block and the header of the next one;
 * without the 3 bytes of that header it is the block alone.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "import/input/source.h"

enum {
	WINDOW_LOG = 27, /* 128 MiB: all that `zstd --ultra` and `zstd --long` make */
	BLOCK_HEADER = 3,
};

typedef struct zstd {
	ZSTD_DStream *stream;
	size_t asked;	 /* bytes that the library wants; 0: between frames */
	bool has_output; /* the room ended before the text did */
} zstd;

static bool is_zstd(const uint8_t *bytes, size_t len)
{
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd }, skippable[] = { 0x2a, 0x4d, 0x18 };

	return len >= 4 &&
	       (memcmp(bytes, frame, 4) == 0 || ((bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, skippable, 3) == 0));
}

static void zstd_close(void *decoder)
{
	zstd *z = decoder;

	ZSTD_freeDStream(z->stream);
	free(z);
}

static void *zstd_open(void)
{
	zstd *z = calloc(1, sizeof *z);

	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	if (z->stream && !ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG)))
		return z;
	zstd_close(z);
	return NULL;
}

static const char *damage_of(size_t code)
{
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_prefix_unknown:
		return "unexpected data after the zstd data";
	case ZSTD_error_checksum_wrong:
		return "the zstd data is damaged: wrong checksum";
	case ZSTD_error_dictionary_wrong:
		return "the zstd data needs a dictionary, which is not supported";
	case ZSTD_error_frameParameter_windowTooLarge:
		return "the zstd data needs a window of more than 128 MiB, the limit";
	case ZSTD_error_memory_allocation:
		return "out of memory for the zstd data";
	default:
		return "the zstd data is damaged";
	}
}

static size_t next_size(const zstd *z)
{
	if (z->asked <= BLOCK_HEADER)
		return z->asked ? z->asked : 1;
	return z->asked - BLOCK_HEADER < SOURCE_BUFFER ? z->asked - BLOCK_HEADER : SOURCE_BUFFER;
}

/* One call of the library: takes from the source, moves on in *to. */
static size_t decode_some(zstd *z, input_source *s, uint8_t **to, size_t *room)
{
	size_t size = next_size(z);
	ZSTD_inBuffer in = { s->at, s->n < size ? s->n : size, 0 };
	ZSTD_outBuffer out = { *to, *room, 0 };
	size_t code = ZSTD_decompressStream(z->stream, &out, &in);

	s->at += in.pos;
	s->n -= in.pos;
	*to += out.pos;
	*room -= out.pos;
	if (!ZSTD_isError(code)) {
		z->asked = code;
		z->has_output = code && *room == 0;
	}
	return code;
}

static size_t zstd_read(void *decoder, input_source *s, uint8_t *to, size_t room, const char **ret_damage)
{
	zstd *z = decoder;
	uint8_t *start = to;

	while (room) {
		while (!z->has_output && s->n < next_size(z) && source_more(s))
			;
		if (s->n == 0 && !z->has_output) {
			if (z->asked)
				*ret_damage = "the zstd data is truncated";
			break;
		}
		size_t code = decode_some(z, s, &to, &room);
		if (ZSTD_isError(code)) {
			*ret_damage = damage_of(code);
			break;
		}
	}
	return (size_t)(to - start);
}

const input_decoder zstd_decoder = {
	.name = "zstd",
	.is_it = is_zstd,
	.open = zstd_open,
	.close = zstd_close,
	.read = zstd_read,
};
