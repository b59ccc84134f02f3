/*
 * See compressed.h. ISA-L compresses gzip about as small as zlib's fastest level and several times as fast; zstd has
 * its default level. Each is a pair of functions behind fopencookie().
 */
#define _GNU_SOURCE
#include "export/compressed.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zstd.h>

enum { ROOM = 128 << 10 };

typedef struct compressed {
	FILE *file;
	bool failed;
	uint8_t room[ROOM];
	union {
		struct isal_zstream gzip;
		ZSTD_CCtx *zstd;
	};
	uint8_t *level; /* of gzip: work space */
} compressed;

compression compression_of(const char *path)
{
	static const compression kinds[] = { COMPRESSION_GZIP, COMPRESSION_ZSTD };
	size_t len = strlen(path);

	for (size_t i = 0; i < 2; i++) {
		size_t end = strlen(compression_end(kinds[i]));
		if (len > end && path[len - end - 1] != '/' &&
		    strcasecmp(path + len - end, compression_end(kinds[i])) == 0)
			return kinds[i];
	}
	return COMPRESSION_NONE;
}

const char *compression_end(compression c)
{
	return c == COMPRESSION_GZIP ? ".gz" : c == COMPRESSION_ZSTD ? ".zst" : "";
}

static bool write_room(compressed *c, size_t n)
{
	if (n && fwrite(c->room, 1, n, c->file) != n)
		c->failed = true;
	return !c->failed;
}

static compressed *new_compressed(FILE *file)
{
	compressed *c = calloc(1, sizeof *c);

	if (c)
		c->file = file;
	return c;
}

/* With errno, which stdio hands on. */
static ssize_t answer(const compressed *c, size_t len)
{
	if (!c->failed)
		return (ssize_t)len;
	errno = errno ? errno : EIO;
	return 0;
}

static void free_compressed(compressed *c)
{
	free(c->level);
	free(c);
}

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

static bool run_gzip(compressed *c, const char *bytes, size_t len, bool is_last)
{
	struct isal_zstream *z = &c->gzip;

	z->next_in = (uint8_t *)(uintptr_t)bytes; /* it is only read */
	z->avail_in = (uint32_t)len;
	z->end_of_stream = is_last;
	do {
		z->next_out = c->room;
		z->avail_out = ROOM;
		if (isal_deflate(z) != COMP_OK)
			c->failed = true;
	} while (!c->failed && write_room(c, ROOM - z->avail_out) && z->avail_out == 0);
	return !c->failed;
}

static ssize_t write_gzip(void *cookie, const char *bytes, size_t size)
{
	compressed *c = cookie;
	size_t left = size;

	errno = 0;
	while (left && !c->failed) {
		size_t n = left < 1 << 30 ? left : 1 << 30; /* it counts in 32 bits */
		run_gzip(c, bytes + (size - left), n, false);
		left -= n;
	}
	return answer(c, size);
}

static int close_gzip(void *cookie)
{
	compressed *c = cookie;

	bool ok = !c->failed && run_gzip(c, NULL, 0, true);
	free_compressed(c);
	return ok ? 0 : EOF;
}

static bool init_gzip(compressed *c)
{
	c->level = malloc(ISAL_DEF_LVL1_DEFAULT);
	if (!c->level)
		return false;
	isal_deflate_init(&c->gzip);
	c->gzip.gzip_flag = IGZIP_GZIP;
	c->gzip.level = 1;
	c->gzip.level_buf = c->level;
	c->gzip.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	return true;
}

/* ---- zstd -------------------------------------------------------------------------------------------------------- */

static bool run_zstd(compressed *c, const char *bytes, size_t len, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	bool is_done = false;

	while (!is_done && !c->failed) {
		ZSTD_outBuffer out = { c->room, ROOM, 0 };
		size_t left = ZSTD_compressStream2(c->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			c->failed = true;
		else
			write_room(c, out.pos);
		is_done = in.pos == in.size && (how != ZSTD_e_end || left == 0);
	}
	return !c->failed;
}

static ssize_t write_zstd(void *cookie, const char *bytes, size_t size)
{
	compressed *c = cookie;

	errno = 0;
	if (!c->failed)
		run_zstd(c, bytes, size, ZSTD_e_continue);
	return answer(c, size);
}

static int close_zstd(void *cookie)
{
	compressed *c = cookie;

	bool ok = !c->failed && run_zstd(c, NULL, 0, ZSTD_e_end);
	ZSTD_freeCCtx(c->zstd);
	free_compressed(c);
	return ok ? 0 : EOF;
}

static bool init_zstd(compressed *c)
{
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return false;
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

FILE *compressed_open(FILE *file, compression kind)
{
	static const cookie_io_functions_t gzip = { .write = write_gzip, .close = close_gzip },
					   zstd = { .write = write_zstd, .close = close_zstd };
	bool is_gzip = kind == COMPRESSION_GZIP;
	compressed *c = new_compressed(file);

	if (!c || !(is_gzip ? init_gzip(c) : init_zstd(c))) {
		free(c);
		return NULL;
	}
	FILE *out = fopencookie(c, "w", is_gzip ? gzip : zstd);
	if (!out) {
		if (!is_gzip)
			ZSTD_freeCCtx(c->zstd);
		free_compressed(c);
		return NULL;
	}
	setvbuf(out, NULL, _IOFBF, ROOM);
	return out;
}
