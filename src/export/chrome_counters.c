/* Counters. See chrome.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/format_number.h"
#include "base/intern.h"
#include "export/chrome.h"

/* Length of the name without " series", where it ends like that; else 0. */
static size_t short_name(const chrome_out *c, const index_counter *counter)
{
	size_t len, series_len;
	const char *name = index_textn(c->ix, counter->name, &len);
	const char *series = index_textn(c->ix, counter->series, &series_len);

	if (counter->series == INDEX_NONE || len <= series_len || name[len - series_len - 1] != ' ' ||
	    memcmp(name + len - series_len, series, series_len) != 0)
		return 0;
	return len - series_len - 1;
}

/* The builder puts the series behind the name where a counter has several: so many counters share what is left without
   it. Fills in the lengths of the names as they were. */
static bool find_names(chrome_out *c, const index_counter *counters, size_t n, size_t *ret_lens)
{
	uint32_t *number_of = malloc((n + 1) * sizeof *number_of), *counts = calloc(n + 1, sizeof *counts);
	intern_table names = { 0 };
	text_out key = { 0 };
	bool ok = number_of && counts;

	for (size_t i = 0; ok && i < n; i++) {
		const index_counter *counter = &counters[i];
		size_t len = short_name(c, counter);
		index_textn(c->ix, counter->name, &ret_lens[i]);
		number_of[i] = INTERN_NONE;
		if (!len)
			continue;
		key.n = 0;
		text_putn(&key, (const char *)&counter->track, sizeof counter->track);
		text_putn(&key, (const char *)&counter->category, sizeof counter->category);
		text_putn(&key, index_text(c->ix, counter->name), len);
		number_of[i] = key.failed ? INTERN_NONE : intern(&names, key.bytes, key.n);
		ok = number_of[i] != INTERN_NONE;
		if (ok)
			counts[number_of[i]]++;
	}
	for (size_t i = 0; ok && i < n; i++)
		if (number_of[i] != INTERN_NONE && counts[number_of[i]] > 1)
			ret_lens[i] = short_name(c, &counters[i]);
	free(number_of);
	free(counts);
	text_done(&key);
	intern_done(&names);
	return ok;
}

static void put_value_event(chrome_out *c, const index_counter *counter, size_t name_len, const int64_t *row)
{
	size_t category_len;
	const char *category = index_textn(c->ix, counter->category, &category_len);
	char number[NUMBER_TEXT];
	double value;

	memcpy(&value, &row[VALUE_BITS], sizeof value);
	chrome_begin_event(c, 'C');
	text_put(&c->to, ", \"name\": ");
	text_quoted(&c->to, index_text(c->ix, counter->name), name_len);
	if (category_len) {
		text_put(&c->to, ", \"cat\": ");
		text_quoted(&c->to, category, category_len);
	}
	chrome_pid(c, c->tracks[counter->track].process);
	chrome_ts(c, trace_index_ns(c->trace, row[VALUE_TIME]));
	text_put(&c->to, ", \"args\": {");
	if (counter->series != INDEX_NONE)
		chrome_string(c, counter->series);
	else
		text_put(&c->to, "\"value\"");
	text_put(&c->to, ": ");
	text_put(&c->to, isfinite(value) ? format_exact(number, value) : "null");
	text_put(&c->to, "}");
	chrome_end_event(c);
}

void chrome_counters(chrome_out *c, table_cursor *cursor)
{
	size_t n;
	const index_counter *counters = index_counters(c->ix, &n);
	size_t *lens = malloc((n + 1) * sizeof *lens);
	int64_t row[COLUMNS_MAX];

	c->to.failed |= !lens || !find_names(c, counters, n, lens);
	for (size_t i = 0; i < n && !c->to.failed; i++) {
		table_first(cursor, c->ix, SECTION_VALUES, counters[i].first_value);
		for (uint64_t k = 0; k < counters[i].n_values && !c->to.failed && table_next(cursor, row); k++)
			put_value_event(c, &counters[i], lens[i], row);
	}
	free(lens);
}
