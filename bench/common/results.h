/*
 * Figures, each with its goal, as a Markdown table and as JSON.
 *
 *   results_add()      one line
 *   results_finish()   prints the table, writes the JSON, frees
 */
#ifndef BENCH_COMMON_RESULTS_H
#define BENCH_COMMON_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum goal_kind { NO_GOAL, RATIO_AT_MOST, BEST_AT_MOST, BEST_AT_LEAST } goal_kind;

/* NAN stands for "there is none". */
typedef struct result {
	const char *name; /* the same in all programs, for run.sh to put side by side */
	const char *unit;
	double best, median;
	double ratio; /* to the floor */
	double goal;
	goal_kind kind;
} result;

typedef struct results {
	const char *program;
	const char *json_path; /* NULL: none */
	double floor_ns;
	result *items;
	size_t n_items;
	bool broken; /* a measurement could not be made */
} results;

void results_add(results *r, result item);
bool results_finish(results *r); /* false: something could not be measured or written */

#endif
