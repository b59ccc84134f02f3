/* Durations summed up by name, for tables of kernels and annotations. */
#ifndef SONDE_ANALYZE_TABLES_NAME_SUMS_H
#define SONDE_ANALYZE_TABLES_NAME_SUMS_H

#include "analyze/tables/work.h"
#include "base/vec.h"

typedef struct name_sum {
	uint32_t name; /* string */
	uint32_t kind; /* a name of two kinds has two sums */
	uint32_t next; /* of the same name, or WORK_NONE */
	uint64_t n;
	__int128 sum;
	int64_t min, max;
	double mean, squares; /* running: Welford */
} name_sum;

typedef struct name_sums {
	VEC(name_sum) items;
	uint32_t *of_name; /* by string; WORK_NONE */
	size_t n_names;
} name_sums;

bool name_sums_init(name_sums *s, const work *w); /* false when out of memory */
bool name_sums_add(name_sums *s, uint32_t name, uint32_t kind, int64_t ticks);
void name_sums_sort(name_sums *s, const work *w); /* largest first, then by name; nothing can be added afterwards */
void name_sums_clear(name_sums *s);		  /* empty again */
void name_sums_done(name_sums *s);

/* count, sum, mean, std, min, max; the deviation of a single one is unknown, 0 as HTA has it */
enum { NAME_SUM_CELLS = 6 };
void name_sum_cells(const work *w, const name_sum *s, cell *to);
#define NAME_SUM_COLUMNS                                                                                               \
	{ "count", "count", CELL_COUNT, 0, false }, { "sum_ns", "total", CELL_NS, 0, false },                          \
		{ "mean_ns", "mean", CELL_NS, 1, false }, { "std_ns", "std", CELL_NS, 3, false },                      \
		{ "min_ns", "min", CELL_NS, 3, false },                                                                \
	{                                                                                                              \
		"max_ns", "max", CELL_NS, 2, false                                                                     \
	}

#endif
