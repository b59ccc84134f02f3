/*
 * A lane's slices packed into blocks of COLUMNS_ROWS, with a summary of every INDEX_GROUP.
 *
 *   lane_add()    keeps a row; a full block is packed when the next one comes
 *   lane_flush()  packs the rest
 *
 * Rows of a lane that has few take little: most lanes of a deep or wide trace hold a handful of slices.
 */
#include "format/recording/short_time.h"
#include "store/build/builder_state.h"

_Static_assert(COLUMNS_ROWS % INDEX_GROUP == 0, "a block holds whole groups");

bool packer_init(packer *p)
{
	p->values = malloc(sizeof *p->values * SLICE_COLUMNS * COLUMNS_ROWS);
	p->bytes = malloc(COLUMNS_BYTES(SLICE_COLUMNS));
	return p->values && p->bytes;
}

void packer_done(packer *p)
{
	arena_done(&p->blocks);
	free(p->values);
	free(p->bytes);
	*p = (packer){ 0 };
}

/* In 65535ths. */
static uint16_t share_of(double busy_ns, uint64_t span_ns)
{
	double share = span_ns ? busy_ns / (double)span_ns : 1.0;

	return (uint16_t)((share < 1.0 ? share : 1.0) * UINT16_MAX + 0.5);
}

/* The longest slice, and the first of equals, gives the name. */
static index_summary summarize(const lane_row *rows, size_t n, int64_t origin_ns)
{
	const lane_row *last = &rows[n - 1];
	int64_t busy_ns = 0, longest_ns = -1;
	uint32_t site = 0;

	for (size_t i = 0; i < n; i++) {
		busy_ns += rows[i].dur_ns;
		site = rows[i].dur_ns > longest_ns ? rows[i].site : site;
		longest_ns = rows[i].dur_ns > longest_ns ? rows[i].dur_ns : longest_ns;
	}
	uint64_t span_ns = (uint64_t)(last->start_ns + last->dur_ns - rows[0].start_ns);
	return (index_summary){
		.start_ns = (uint64_t)rows[0].start_ns - (uint64_t)origin_ns,
		.span_ns = span_ns,
		.site = site,
		.busy = share_of((double)busy_ns, span_ns),
		.longest = short_time_of((uint64_t)longest_ns),
	};
}

index_summary summary_join(const index_summary *s, size_t n)
{
	const index_summary *longest = s, *last = &s[n - 1];
	uint64_t span_ns = last->start_ns + last->span_ns - s[0].start_ns;
	double busy = 0; /* in 65535ths of a nanosecond */

	for (size_t i = 0; i < n; i++) {
		busy += s[i].busy * (double)s[i].span_ns;
		longest = s[i].longest > longest->longest ? &s[i] : longest;
	}
	return (index_summary){
		.start_ns = s[0].start_ns,
		.span_ns = span_ns,
		.site = longest->site,
		.busy = share_of(busy / UINT16_MAX, span_ns),
		.longest = longest->longest,
	};
}

unsigned summary_levels(uint64_t n_slices, uint64_t ret_counts[INDEX_LEVELS])
{
	unsigned n = 0;

	ret_counts[n++] = (n_slices + INDEX_GROUP - 1) / INDEX_GROUP;
	for (; ret_counts[n - 1] > INDEX_COARSE; n++)
		ret_counts[n] = (ret_counts[n - 1] + INDEX_FAN - 1) / INDEX_FAN;
	return n;
}

/* Adds the slices to what their sites sum up to and counts what decides the kind of the track. */
static void sum_up(packer *p, build_lane *l, const lane_row *rows, size_t n)
{
	enum {
		ANNOTATIONS = 1 << CLASS_ANNOTATION | 1 << CLASS_STEP | 1 << CLASS_PHASE,
		DEVICE = 1 << CLASS_KERNEL | 1 << CLASS_COPY,
	};
	unsigned n_device = 0, n_annotations = 0;

	for (size_t i = 0; i < n; i++) {
		site_sums *s = &p->sums[rows[i].site];
		int64_t dur_ns = rows[i].dur_ns;
		unsigned class = p->classes[rows[i].site];
		s->min_ns = !s->n_slices || dur_ns < s->min_ns ? dur_ns : s->min_ns;
		s->max_ns = dur_ns > s->max_ns ? dur_ns : s->max_ns;
		s->n_slices++;
		s->total_ns += (uint64_t)dur_ns;
		n_device += (unsigned)DEVICE >> class & 1;
		n_annotations += (unsigned)ANNOTATIONS >> class & 1;
	}
	l->n_device += n_device;
	l->n_plain += n - n_annotations;
}

/* For slices at the start of a block that have no arguments: the first record after them. */
static int64_t first_record(const lane_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].args)
			return (int64_t)rows[i].args - 1;
	return 0;
}

static size_t pack(packer *p, const lane_row *rows, size_t n, int64_t before_ns, uint64_t before_up)
{
	int64_t *gap = p->values, *dur = gap + COLUMNS_ROWS, *site = dur + COLUMNS_ROWS, *up = site + COLUMNS_ROWS;
	int64_t *args = up + COLUMNS_ROWS, *flags = args + COLUMNS_ROWS;
	int64_t *time_before = flags + COLUMNS_ROWS, *up_before = time_before + COLUMNS_ROWS;
	int64_t end_ns = before_ns, parent = (int64_t)before_up, record = first_record(rows, n);

	for (size_t i = 0; i < n; i++) {
		const lane_row *r = &rows[i];
		gap[i] = r->start_ns - end_ns;
		dur[i] = r->dur_ns;
		site[i] = r->site;
		up[i] = (int64_t)r->up - parent;
		record = r->args ? (int64_t)r->args - 1 : record;
		args[i] = record;
		flags[i] = (int64_t)r->flags | (r->args ? SLICE_HAS_ARGS : 0u);
		end_ns = r->start_ns + r->dur_ns;
		parent = (int64_t)r->up;
	}
	for (size_t i = 0; i < n; i++) {
		time_before[i] = before_ns - p->origin_ns;
		up_before[i] = (int64_t)before_up;
	}
	return columns_pack(p->bytes, p->values, SLICE_COLUMNS, n);
}

static bool more_blocks(build_lane *l)
{
	uint32_t capacity = l->blocks_capacity ? l->blocks_capacity * 2 : 1;
	lane_block **grown = realloc(l->blocks, capacity * sizeof(lane_block *));

	if (!grown)
		return false;
	l->blocks = grown;
	l->blocks_capacity = capacity;
	return true;
}

/* A place for the lane's next block, empty. */
static lane_block *add_block(packer *p, build_lane *l, size_t n_rows)
{
	size_t n = (n_rows + INDEX_GROUP - 1) / INDEX_GROUP;
	bool has_room = l->n_blocks - l->n_before < l->blocks_capacity || more_blocks(l);
	lane_block *block = has_room ? arena_alloc(&p->blocks, sizeof *block + n * sizeof block->summaries[0]) : NULL;

	if (!block)
		return NULL;
	block->n_rows = (uint16_t)n_rows;
	block->n_summaries = (uint16_t)n;
	return l->blocks[l->n_blocks++ - l->n_before] = block;
}

/* Its bytes, its sums and its summaries. */
static bool fill_block(packer *p, build_lane *l, lane_block *block, size_t len)
{
	block->bytes = arena_alloc(&p->blocks, len + (p->pads ? INDEX_PAD : 0));
	if (!block->bytes)
		return false;
	memcpy(block->bytes, p->bytes, len);
	block->len = (uint32_t)len;
	sum_up(p, l, l->rows, l->n);
	for (size_t i = 0; i < block->n_summaries; i++) {
		size_t first = i * INDEX_GROUP, n = l->n - first < INDEX_GROUP ? l->n - first : INDEX_GROUP;
		block->summaries[i] = summarize(&l->rows[first], n, p->origin_ns);
	}
	return true;
}

void lane_flush(packer *p, build_lane *l)
{
	if (!l->n)
		return;
	const lane_row *first = &l->rows[0], *last = &l->rows[l->n - 1];
	bool is_first = !l->n_blocks;
	lane_block *block = add_block(p, l, l->n);
	size_t len = pack(p, l->rows, l->n, is_first ? first->start_ns : l->end_ns, is_first ? first->up : l->up);
	if (!block || !fill_block(p, l, block, len))
		p->failed = true;
	l->end_ns = last->start_ns + last->dur_ns;
	l->up = last->up;
	l->n = 0;
}

static bool more_rows(build_lane *l)
{
	uint32_t capacity = l->capacity ? l->capacity * 4 : 1;
	lane_row *grown = realloc(l->rows, capacity * sizeof *grown);

	if (!grown)
		return false;
	l->rows = grown;
	l->capacity = capacity;
	return true;
}

bool lane_room(packer *p, build_lane *l)
{
	if (l->capacity == COLUMNS_ROWS)
		lane_flush(p, l);
	else if (!more_rows(l))
		p->failed = true;
	if (l->n_slices > LANE_ROWS_MAX - COLUMNS_ROWS)
		p->failed = true;
	return !p->failed;
}

void lane_done(build_lane *l)
{
	free(l->rows);
	l->rows = NULL;
	l->n = l->capacity = 0;
}

void lane_free(build_lane *l)
{
	lane_done(l);
	free(l->blocks);
	VEC_DONE(&l->spilled);
	if (l->kept) {
		bulk_done(&l->kept->summaries);
		bulk_done(&l->kept->places);
	}
	free(l->kept);
}
