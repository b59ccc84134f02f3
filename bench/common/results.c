#define _GNU_SOURCE
#include "common/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void results_add(results *r, result item)
{
	result *items = realloc(r->items, (r->n_items + 1) * sizeof *items);

	if (!items) {
		fputs("bench: no memory\n", stderr);
		exit(1);
	}
	r->items = items;
	items[r->n_items++] = item;
}

static bool passes(const result *item)
{
	switch (item->kind) {
	case RATIO_AT_MOST:
		return item->ratio <= item->goal;
	case BEST_AT_MOST:
		return item->best <= item->goal;
	case BEST_AT_LEAST:
		return item->best >= item->goal;
	case NO_GOAL:
		break;
	}
	return true;
}

/* Three digits or more; nothing for NAN. */
static const char *number(char *out, size_t size, double value)
{
	if (isnan(value))
		snprintf(out, size, " ");
	else if (fabs(value) >= 100 || value == floor(value))
		snprintf(out, size, "%.0f", value);
	else if (fabs(value) >= 10)
		snprintf(out, size, "%.1f", value);
	else
		snprintf(out, size, "%.2f", value);
	return out;
}

static void print_row(const result *item)
{
	static const char *const signs[] = { "", "<= ", "<= ", ">= " };
	char best[32], median[32], ratio[32], goal[32], with_sign[48] = "";

	if (item->kind != NO_GOAL)
		snprintf(with_sign, sizeof with_sign, "%s%s%s", item->kind == RATIO_AT_MOST ? "ratio " : "",
			 signs[item->kind], number(goal, sizeof goal, item->goal));
	printf("| %-45s | %-10s | %9s | %9s | %6s | %-14s | %-6s |\n", item->name, item->unit,
	       number(best, sizeof best, item->best), number(median, sizeof median, item->median),
	       number(ratio, sizeof ratio, item->ratio), with_sign,
	       item->kind == NO_GOAL ? ""
	       : passes(item)	     ? "yes"
				     : "**no**");
}

static void print_table(const results *r)
{
	if (!isnan(r->floor_ns))
		printf("Two bare time stamps: %.2f ns\n\n", r->floor_ns);
	printf("| %-45s | %-10s | %9s | %9s | %6s | %-14s | %-6s |\n", r->program, "unit", "best", "median", "ratio",
	       "goal", "met");
	printf("|---|---|--:|--:|--:|---|---|\n");
	for (size_t i = 0; i < r->n_items; i++)
		print_row(&r->items[i]);
}

static void put_number(FILE *out, const char *key, double value)
{
	if (isnan(value))
		fprintf(out, ", \"%s\": null", key);
	else
		fprintf(out, ", \"%s\": %.6g", key, value);
}

static void put_result(FILE *out, const result *item)
{
	static const char *const kinds[] = { "null", "\"ratio at most\"", "\"best at most\"", "\"best at least\"" };

	fprintf(out, "  {\"case\": \"%s\", \"unit\": \"%s\"", item->name, item->unit);
	put_number(out, "best", item->best);
	put_number(out, "median", item->median);
	put_number(out, "ratio", item->ratio);
	put_number(out, "goal", item->kind == NO_GOAL ? NAN : item->goal);
	fprintf(out, ", \"goal_kind\": %s, \"pass\": %s}", kinds[item->kind],
		item->kind == NO_GOAL ? "null"
		: passes(item)	      ? "true"
				      : "false");
}

static bool write_json(const results *r)
{
	FILE *out = strcmp(r->json_path, "-") == 0 ? stdout : fopen(r->json_path, "w");

	if (!out)
		return false;
	fprintf(out, "{\n \"schema\": \"sonde.bench/1\",\n \"program\": \"%s\"", r->program);
	put_number(out, "floor_ns", r->floor_ns);
	fprintf(out, ",\n \"cases\": [\n");
	for (size_t i = 0; i < r->n_items; i++) {
		put_result(out, &r->items[i]);
		fputs(i + 1 < r->n_items ? ",\n" : "\n", out);
	}
	fprintf(out, " ]\n}\n");
	bool ok = !ferror(out);
	if (out != stdout)
		ok = fclose(out) == 0 && ok;
	return ok;
}

bool results_finish(results *r)
{
	bool ok = !r->broken;

	if (!r->json_path || strcmp(r->json_path, "-") != 0)
		print_table(r);
	if (r->json_path && !write_json(r)) {
		perror(r->json_path);
		ok = false;
	}
	free(r->items);
	return ok;
}
