/* An index in a file: a file that is nothing else, or behind the blocks of a recording. See index.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "format/file.h"
#include "store/index_image.h"
#include "store/mapping.h"

static bool read_at(int fd, void *to, size_t len, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

/* False when the footer is none, or not that of the index it points to: of recordings put behind each other. */
static bool footer_offset(int fd, uint64_t size, uint64_t *ret_offset)
{
	index_footer f;
	index_header h;

	if (size < sizeof f || !read_at(fd, &f, sizeof f, size - sizeof f) || f.magic != INDEX_FOOTER ||
	    f.crc != crc32c(0, &f, offsetof(index_footer, crc)) || f.offset % 8 != 0 || f.offset > size - sizeof f ||
	    !read_at(fd, &h, sizeof h, f.offset) || h.length != size - sizeof f - f.offset)
		return false;
	*ret_offset = f.offset;
	return true;
}

/* Where the header is, and how many bytes there are from there on. */
static bool find_header(int fd, uint64_t size, uint64_t *ret_offset, uint64_t *ret_len)
{
	uint64_t magic;

	*ret_offset = 0;
	*ret_len = size;
	if (size >= sizeof magic && read_at(fd, &magic, sizeof magic, 0) && magic == INDEX_MAGIC)
		return true;
	if (!footer_offset(fd, size, ret_offset))
		return false;
	*ret_len = size - sizeof(index_footer) - *ret_offset;
	return true;
}

bool index_file_has(int fd)
{
	struct stat st;
	uint64_t offset, len;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && find_header(fd, (uint64_t)st.st_size, &offset, &len);
}

static sonde_status open_mapped(int fd, sonde_index **ret_index, sonde_error *err)
{
	struct stat st;
	uint64_t offset, len;

	if (fstat(fd, &st) != 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, SONDE_E_FORMAT, -1, "not a regular file");
	size_t size = (size_t)st.st_size;
	if (!find_header(fd, size, &offset, &len))
		return error_set(err, SONDE_E_FORMAT, 0, "has no index");
	void *map = mapping_new(fd, size);
	if (!map)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	sonde_status status = index_open_memory((const uint8_t *)map + offset, len, ret_index, err);
	if (status) {
		mapping_free(map, size);
		return status;
	}
	(*ret_index)->owned = map;
	(*ret_index)->owned_len = size;
	(*ret_index)->owner = IMAGE_MAPPED;
	return SONDE_OK;
}

sonde_status index_open_file(const char *path, int fd, sonde_index **ret_index, sonde_error *err)
{
	sonde_status status = open_mapped(fd, ret_index, err);

	return status ? error_prefix(err, status, path) : SONDE_OK;
}

bool index_is_mapped(const sonde_index *ix)
{
	return ix->owner == IMAGE_MAPPED;
}

bool index_is_broken(const sonde_index *ix)
{
	return ix->owner == IMAGE_MAPPED && mapping_is_broken(ix->owned);
}

void index_release_pages(const sonde_index *ix)
{
	if (ix->owner == IMAGE_MAPPED)
		madvise(ix->owned, ix->owned_len, MADV_DONTNEED);
}

sonde_status index_write(const sonde_index *ix, int fd, sonde_error *err)
{
	if (ix->places)
		return error_set(err, SONDE_E_STATE, -1, "the index of a recording that is followed is not written");
	if (!file_write_all(fd, ix->bytes, ix->len))
		return error_set(err, SONDE_E_IO, -1, "cannot write the index: %s", strerror(errno));
	return SONDE_OK;
}
