/* Rows as HTA 0.6.1 has them, between compat/hta/rows.c, which loads them, and compat/hta/work.c, which makes work of
 * them. */
#ifndef SONDE_ANALYZE_COMPAT_HTA_ROWS_H
#define SONDE_ANALYZE_COMPAT_HTA_ROWS_H

#include <math.h>
#include "analyze/tables/work.h"
#include "base/vec.h"

typedef struct hta_row {
	double ts, dur;
	int64_t correlation;
	double bandwidth;
	uint32_t row, order;
	uint32_t partner; /* hta_row, or WORK_NONE */
	uint32_t call;	  /* of the rank's calls, or WORK_NONE */
	int64_t stream;
	bool on_device, stays;
} hta_row;

/* A row that stays, as often as it does, by correlation. */
typedef struct hta_kept {
	int64_t correlation;
	uint32_t at;   /* hta_row */
	uint32_t item; /* of the rank, or WORK_NONE: it has no stream */
	uint32_t order;
} hta_kept;
typedef VEC(hta_kept) hta_kepts;

typedef struct hta_rank {
	hta_row *rows;
	size_t n;
} hta_rank;

/* What names and categories mean to HTA, by site. */
enum {
	SITE_ROW = 1,
	SITE_STEP = 2,
	SITE_SYNC = 4,
	SITE_LAUNCH = 8,
	SITE_STATS = 16,
	SITE_WORK = 32,
	SITE_GPU_NOTE = 64,
	SITE_CPU_NOTE = 128
};

typedef struct hta {
	work *w;
	hta_rank *ranks;
	uint8_t *sites; /* flags */
	uint8_t *kinds;
	args_column columns[3];
	bool has_args;
	bool rounds;
	double first_ts, last_end;
	int bits;
} hta;

bool hta_load(hta *h); /* rows of all ranks; false when out of memory */
/* The same again, for analyses that need more than work has: into scratch, whose ranks are to be freed after
   hta_done(), also on failure. */
bool hta_load_again(hta *h, const work *w, work *scratch, const sonde_analyze_options *options);
void hta_done(hta *h);
bool hta_has_two_steps(const hta *h);
bool hta_find_partners(hta_rank *rank);
/* What stays: device rows first, then host rows, each in the order of the file. */
bool hta_keep(const hta *h, hta_rank *rank, bool cuts, hta_kepts *ret_kept);
bool hta_sort_kept(hta_kepts *kept); /* by correlation */

static inline uint8_t site_flags(const hta *h, const hta_row *at)
{
	return h->sites[rows_at(&h->w->rows, at->row).site];
}

static inline int64_t to_ticks(const hta *h, double us)
{
	return llrint(ldexp(us, h->bits));
}

#endif
