/* An index in a file: a file that is nothing else, or behind the blocks of a recording. See index/sections.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "format/recording/file.h"
#include "store/index/image.h"
#include "base/mapping.h"

static bool footer_offset(int fd, uint64_t size, uint64_t *ret_offset)
{
	index_footer f;

	if (size < sizeof f || !file_read_at(fd, &f, sizeof f, size - sizeof f) || !index_footer_fits(&f, size))
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
	if (size >= sizeof magic && file_read_at(fd, &magic, sizeof magic, 0) && magic == INDEX_MAGIC)
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

/* The image in bytes [offset, offset + len) of the file, which has `size`; is_made: by this process. */
static sonde_status map_image(int fd, uint64_t offset, size_t len, bool is_made, sonde_index **ret_index,
			      sonde_error *err)
{
	struct stat st;
	size_t size = (size_t)offset + len;
	void *map = fstat(fd, &st) == 0 ? mapping_new(fd, size) : NULL;

	if (!map)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	const uint8_t *bytes = (const uint8_t *)map + offset;
	sonde_status status =
		is_made ? index_open_made(bytes, len, ret_index, err) : index_open_memory(bytes, len, ret_index, err);
	if (status) {
		mapping_free(map, size);
		return status;
	}
	(*ret_index)->owned = map;
	(*ret_index)->owned_len = size;
	(*ret_index)->owner = IMAGE_MAPPED;
	(*ret_index)->device = st.st_dev;
	(*ret_index)->inode = st.st_ino;
	return SONDE_OK;
}

static sonde_status open_mapped(int fd, sonde_index **ret_index, sonde_error *err)
{
	struct stat st;
	uint64_t offset, len;

	if (fstat(fd, &st) != 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, SONDE_E_FORMAT, -1, "not a regular file");
	if (!find_header(fd, (uint64_t)st.st_size, &offset, &len))
		return error_set(err, SONDE_E_FORMAT, 0, "has no index");
	return map_image(fd, offset, len, false, ret_index, err);
}

sonde_status index_open_written(int fd, uint64_t at, size_t len, sonde_index **ret_index, sonde_error *err)
{
	return map_image(fd, at, len, true, ret_index, err);
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

enum { WRITE_AT_ONCE = 32 << 20 };

sonde_status index_write(const sonde_index *ix, int fd, sonde_error *err)
{
	if (ix->places)
		return error_set(err, SONDE_E_STATE, -1, "the index of a recording that is followed is not written");
	sonde_status status = ix->pages ? index_verify(ix, err) : SONDE_OK;
	if (status)
		return status;
	for (size_t done = 0; done < ix->len;) {
		size_t left = ix->len - done, n = left < WRITE_AT_ONCE ? left : WRITE_AT_ONCE;
		if (!file_write_all(fd, ix->bytes + done, n))
			return error_set(err, SONDE_E_IO, -1, "cannot write the index: %s", strerror(errno));
		done += n;
		index_release_pages(ix);
	}
	return SONDE_OK;
}
