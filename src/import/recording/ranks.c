/*
 * See recording/ranks.h. A recording begins with its stream; when a launcher told the process its rank, the block
 * behind that says so, so that a few bytes of each file are enough to tell.
 */
#include "import/recording/ranks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "import/recording/recording.h"

enum { HEAD_BYTES = 1024 };

/* Two readings of one machine's clocks are never that far apart; after another boot they are. */
#define SAME_CLOCK_NS INT64_C(1000000000)

/* ---- What one says ----------------------------------------------------------------------------------------------- */

/* Of "key\0value\0" pairs. */
static const char *value_of(const char *pairs, size_t len, const char *key)
{
	const char *end = pairs + len;

	while (pairs < end) {
		const char *key_end = memchr(pairs, 0, (size_t)(end - pairs));
		const char *value = key_end ? key_end + 1 : end;
		const char *value_end = value < end ? memchr(value, 0, (size_t)(end - value)) : NULL;
		if (!value_end)
			return NULL;
		if (strcmp(pairs, key) == 0)
			return value;
		pairs = value_end + 1;
	}
	return NULL;
}

static int32_t rank_in(const uint8_t *bytes, size_t len)
{
	block_header h;
	char *end;

	if (len < sizeof h)
		return -1;
	memcpy(&h, bytes, sizeof h);
	if (h.magic != FORMAT_MAGIC || h.kind != BLOCK_META || h.length > len - sizeof h)
		return -1;
	const char *text = value_of((const char *)bytes + sizeof h, h.length, "rank");
	long rank = text ? strtol(text, &end, 10) : -1;
	return text && end != text && !*end && rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : -1;
}

static void look_at(trace_part *p)
{
	uint8_t bytes[HEAD_BYTES];
	size_t len = p->len < sizeof bytes ? p->len : sizeof bytes;
	stream_start start;

	if (p->bytes) {
		memcpy(bytes, p->bytes, len);
	} else {
		int fd = open(p->path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
		len = n > 0 ? (size_t)n : 0;
		if (fd >= 0)
			close(fd);
	}
	p->head = (recording_head){ .rank = -1 };
	if (len < sizeof start)
		return;
	memcpy(&start, bytes, sizeof start);
	if (start.header.magic != FORMAT_MAGIC || start.header.kind != BLOCK_STREAM)
		return;
	recording_sanitize_info(&start.info);
	p->head.pid = start.info.pid;
	memcpy(p->head.host, start.info.host, sizeof p->head.host);
	if (start.info.start_utc_ns > 0)
		p->head.shift_ns = trace_bounded_ns(start.info.start_utc_ns) - start.info.start_ns;
	p->head.rank = rank_in(bytes + sizeof start, len - sizeof start);
}

void recordings_look(opening *o)
{
	for (size_t i = 0; i < o->files.n; i++)
		if (o->parts[i].kind == PART_RECORDING)
			look_at(&o->parts[i]);
}

int32_t recording_rank(const trace_part *p, bool is_one)
{
	int32_t rank = p->head.rank >= 0 ? p->head.rank : files_rank(p->path, is_one);
	bool is_pid = rank >= 0 && (uint32_t)rank == p->head.pid; /* "train.4711.sonde" */

	return is_pid && files_rank(p->path, true) < 0 && p->head.rank < 0 ? -1 : rank;
}

int64_t recording_shift_ns(const opening *o, const trace_part *p)
{
	for (const trace_part *first = o->parts; first < p; first++)
		if (first->kind == PART_RECORDING && first->head.shift_ns &&
		    strcmp(first->head.host, p->head.host) == 0 &&
		    llabs(first->head.shift_ns - p->head.shift_ns) < SAME_CLOCK_NS)
			return first->head.shift_ns;
	return p->head.shift_ns;
}

/* ---- What they are together -------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* All known, all different and, if asked for, 0, 1, 2 ... Sorts them. */
static bool are_ranks(int32_t *ranks, size_t n, bool from_0)
{
	qsort(ranks, n, sizeof *ranks, compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (ranks[i] < 0 || (i && ranks[i] == ranks[i - 1]) || (from_0 && ranks[i] != (int32_t)i))
			return false;
	return true;
}

static bool are_of_one_host(const opening *o)
{
	for (size_t i = 1; i < o->files.n; i++)
		if (strcmp(o->parts[i].head.host, o->parts[0].head.host) != 0)
			return false;
	return true;
}

bool recordings_are_ranks(const opening *o)
{
	size_t n = o->files.n, n_known = 0;
	int32_t *ranks = malloc(3 * n * sizeof *ranks), *strict = ranks + n, *loose = ranks + 2 * n;

	if (!ranks)
		return false;
	for (size_t i = 0; i < n; i++) {
		ranks[i] = o->parts[i].head.rank;
		n_known += ranks[i] >= 0;
		strict[i] = files_rank(o->parts[i].path, true);
		loose[i] = recording_rank(&o->parts[i], false);
	}
	bool are = are_ranks(ranks, n, false);
	if (!n_known) /* numbers at the end may be anything, 0, 1, 2 ... are ranks */
		are = are_ranks(strict, n, false) || are_ranks(loose, n, true) || o->options.ranks;
	free(ranks);
	return are || !are_of_one_host(o);
}
