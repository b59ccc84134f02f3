/*
 * The file of the ring: the shared memory that events go through, see format/recording/ring.h.
 *
 * It lies in /dev/shm, where pages are never written back; when there is no room it lies beside the recording. Space is
 * reserved before it is touched, a few chunks at a time, so that a full file system is an error here and never a
 * SIGBUS.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/proc.h"

enum { SPARE_CHUNKS = 1024 };
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Out of the way of programs that count on low numbers. */
static int move_up(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* A program that closes all descriptors may have given the number to another file. */
static bool is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == rt.ring_device && st.st_ino == rt.ring_inode;
}

bool ring_reserve(size_t offset, size_t len)
{
	if (!is_ours(rt.ring_fd)) {
		rt.ring_fd = move_up(open(rt.ring_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
		if (!is_ours(rt.ring_fd)) {
			if (rt.ring_fd >= 0)
				close(rt.ring_fd);
			rt.ring_fd = -1;
			return false;
		}
	}
	return fallocate(rt.ring_fd, 0, (off_t)offset, (off_t)len) == 0;
}

uint32_t ring_grow(uint32_t n, uint32_t most)
{
	uint32_t have = rt.ring->n_chunks;

	if (have >= most)
		return 0;
	if (n > most - have)
		n = most - have;
	if (!ring_reserve(ring_chunk_offset(have), (size_t)n * RING_CHUNK_BYTES)) {
		if (have) /* no more room: live with what there is */
			rt.max_chunks = rt.room_chunks = have;
		return 0;
	}
	madvise(ring_chunk_at(have), (size_t)n * RING_CHUNK_BYTES, MADV_POPULATE_WRITE);
	__atomic_store_n(&rt.ring->n_chunks, have + n, __ATOMIC_RELEASE);
	for (uint32_t i = have + n; i > have; i--)
		rt.free_chunks[rt.n_free++] = i - 1;
	return n;
}

static int create_ring(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* The header, the first names and the first chunks must be there; the rest follows when it is needed. */
	if (ftruncate(fd, (off_t)bytes) == 0 && fallocate(fd, 0, 0, RING_HEADER_BYTES + (64 << 10)) == 0 &&
	    fallocate(fd, 0, (off_t)ring_chunk_offset(0), RING_GROW * RING_CHUNK_BYTES) == 0) {
		fd = move_up(fd);
		flock(fd, LOCK_EX | LOCK_NB);
		return fd;
	}
	int saved = errno;
	unlink(path);
	close(fd);
	errno = saved;
	return -1;
}

static sonde_status map_ring(size_t bytes, sonde_error *err)
{
	size_t lists = 2 * rt.mapped_chunks * sizeof(uint32_t);
	struct stat st;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rt.ring_fd, 0);
	uint32_t *numbers = mmap(NULL, lists, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || numbers == MAP_FAILED) {
		if (memory != MAP_FAILED)
			munmap(memory, bytes);
		if (numbers != MAP_FAILED)
			munmap(numbers, lists);
		unlink(rt.ring_path);
		close(rt.ring_fd);
		return error_set(err, SONDE_E_MEMORY, -1, "no memory for a ring of %zu bytes", bytes);
	}
	if (fstat(rt.ring_fd, &st) == 0) {
		rt.ring_device = st.st_dev;
		rt.ring_inode = st.st_ino;
	}
	__atomic_store_n(&rt.ring, memory, __ATOMIC_RELEASE);
	rt.free_chunks = numbers;
	rt.sealed_next = numbers + rt.mapped_chunks;
	rt.n_free = rt.n_sealed = rt.n_bound = 0;
	rt.sealed_first = rt.sealed_last = CHUNK_NONE;
	return SONDE_OK;
}

/* Beyond the buffer there is room for more threads than the buffer has chunks: one that waits for another to give its
   chunk back may wait for ever. Within what a file may have: above that the program would get a SIGXFSZ. */
static bool choose_size(void)
{
	struct rlimit limit;

	rt.max_chunks = (uint32_t)(rt.options.buffer / RING_CHUNK_BYTES);
	rt.room_chunks = rt.max_chunks + SPARE_CHUNKS;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ring_chunk_offset(rt.room_chunks)) {
		if (limit.rlim_cur < ring_chunk_offset(RING_GROW))
			return false;
		rt.room_chunks = (uint32_t)((limit.rlim_cur - ring_chunk_offset(0)) / RING_CHUNK_BYTES);
	}
	if (rt.max_chunks > rt.room_chunks)
		rt.max_chunks = rt.room_chunks;
	rt.mapped_chunks = rt.room_chunks;
	return true;
}

/* For a later recording of the process. Threads hold addresses in the ring: it stays where it is and within what was
   mapped, and chunks that are there stay in use. */
static void resize(void)
{
	uint32_t wanted = (uint32_t)(rt.options.buffer / RING_CHUNK_BYTES);

	lock_take(&rt.chunks_lock);
	rt.room_chunks = rt.mapped_chunks;
	rt.max_chunks = wanted < rt.room_chunks ? wanted : rt.room_chunks;
	lock_release(&rt.chunks_lock);
}

sonde_status ring_open(const char *beside, sonde_error *err)
{
	if (rt.ring) {
		resize();
		return SONDE_OK;
	}
	if (!choose_size())
		return error_set(err, SONDE_E_IO, -1, "the file size limit is too small for the ring (ulimit -f)");
	size_t bytes = ring_chunk_offset(rt.mapped_chunks);
	snprintf(rt.ring_path, sizeof rt.ring_path, "/dev/shm/sonde-%u-%d-%llx.ring", (unsigned)geteuid(),
		 (int)getpid(), (unsigned long long)proc_start_time(getpid()));
	rt.ring_fd = create_ring(rt.ring_path, bytes);
	if (rt.ring_fd < 0 && errno == EEXIST) { /* left by this process before an exec */
		size_t len = strlen(rt.ring_path);
		snprintf(rt.ring_path + len, sizeof rt.ring_path - len, "-%llx", (unsigned long long)clock_ticks());
		rt.ring_fd = create_ring(rt.ring_path, bytes);
	}
	if (rt.ring_fd < 0 && snprintf(rt.ring_path, sizeof rt.ring_path, "%s.ring", beside) < (int)sizeof rt.ring_path)
		rt.ring_fd = create_ring(rt.ring_path, bytes);
	if (rt.ring_fd < 0)
		return error_set(err, SONDE_E_IO, -1, "no space for the ring in /dev/shm or beside %s: %s", beside,
				 strerror(errno));
	sonde_status status = map_ring(bytes, err);
	if (status)
		return status;
	rt.ring->magic = RING_MAGIC;
	rt.ring->version = FORMAT_VERSION;
	ring_grow(RING_GROW, rt.max_chunks);
	lock_take(&rt.names_lock);
	names_attach();
	lock_release(&rt.names_lock);
	return SONDE_OK;
}

void ring_unlink(void)
{
	if (rt.ring && rt.ring_path[0])
		unlink(rt.ring_path);
	rt.ring_path[0] = 0;
}

void ring_unmap(void)
{
	if (rt.ring) {
		munmap(rt.ring, ring_chunk_offset(rt.mapped_chunks));
		munmap(rt.free_chunks, 2 * rt.mapped_chunks * sizeof(uint32_t));
		if (is_ours(rt.ring_fd))
			close(rt.ring_fd);
		rt.ring_fd = -1;
	}
	__atomic_store_n(&rt.ring, NULL, __ATOMIC_RELEASE);
	rt.ring_path[0] = 0;
}
