/* Bytes, and bytes compressed. */
#ifndef SONDE_TESTS_PACKED_H
#define SONDE_TESTS_PACKED_H

#include <zstd.h>
#include <isa-l/igzip_lib.h>
#include "unit/store/temp_dir.h"

typedef struct blob {
	uint8_t *ptr;
	size_t len;
} blob;

static inline blob join(blob a, blob b)
{
	uint8_t *all = realloc(a.ptr, a.len + b.len + 1);

	assert_non_null(all);
	memcpy(all + a.len, b.ptr, b.len);
	free(b.ptr);
	return (blob){ all, a.len + b.len };
}

static inline blob copy_of(const void *ptr, size_t len)
{
	uint8_t *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, ptr, len);
	return (blob){ copy, len };
}

static inline blob deflated(blob text, uint16_t wrapper)
{
	struct isal_zstream *z = calloc(1, sizeof *z);
	size_t room = text.len + text.len / 8 + 1024;
	uint8_t *out = malloc(room), *level = malloc(ISAL_DEF_LVL1_DEFAULT);

	assert_true(z && out && level);
	isal_deflate_init(z);
	z->level = 1;
	z->level_buf = level;
	z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	z->gzip_flag = wrapper;
	z->end_of_stream = 1;
	z->next_in = text.ptr;
	z->avail_in = (uint32_t)text.len;
	z->next_out = out;
	z->avail_out = (uint32_t)room;
	assert_int_equal(isal_deflate(z), COMP_OK);
	assert_int_equal(z->avail_in, 0);
	blob packed = { out, room - z->avail_out };
	free(level);
	free(z);
	return packed;
}

static inline blob gzipped(blob text)
{
	return deflated(text, IGZIP_GZIP);
}

static inline blob zstded(blob text)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(text.len);
	uint8_t *out = malloc(room);

	assert_true(context && out);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t len = ZSTD_compress2(context, out, room, text.ptr, text.len);
	assert_false(ZSTD_isError(len));
	ZSTD_freeCCtx(context);
	return (blob){ out, len };
}

#endif
