#include "store/build/spill.h"

#include <errno.h>
#include <unistd.h>
#include "base/file.h"
#include "base/temp_file.h"

static bool fail(spill *s)
{
	s->error = errno ? errno : EIO;
	return false;
}

bool spill_add(spill *s, const void *bytes, size_t len)
{
	if (s->error)
		return false;
	if (s->fd < 0)
		s->fd = temp_file_open(s->dir);
	if (s->fd < 0 || !file_write_all(s->fd, bytes, len))
		return fail(s);
	s->len += len;
	return true;
}

bool spill_read(spill *s, void *to, size_t len, uint64_t at)
{
	errno = 0;
	return file_read_at(s->fd, to, len, at) || fail(s);
}

void spill_done(spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = SPILL_NONE;
}

bool spill_note(const spill *s, spill_extents *extents, uint64_t at)
{
	spill_extent *last = extents->n ? &extents->items[extents->n - 1] : NULL;

	if (!last || last->at + last->len != at) {
		last = VEC_ADD(extents);
		if (!last)
			return false;
		last->at = at;
	}
	last->len = s->len - last->at;
	return true;
}

bool spill_next(spill_reader *r, void *to, size_t room, size_t *ret_n)
{
	*ret_n = 0;
	while (*ret_n < room && r->extent < r->extents->n) {
		const spill_extent *e = &r->extents->items[r->extent];
		uint64_t left = e->len - r->read;
		size_t n = left < room - *ret_n ? (size_t)left : room - *ret_n;
		if (n && !spill_read(r->from, (uint8_t *)to + *ret_n, n, e->at + r->read))
			return false;
		*ret_n += n;
		r->read += n;
		if (r->read == e->len) {
			r->extent++;
			r->read = 0;
		}
	}
	return true;
}
