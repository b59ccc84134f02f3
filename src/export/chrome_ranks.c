/*
 * Several ranks in one file; import/chrome/ranks.c says how they lie there and puts them back. Arrows of two ranks may
 * have the same ids, which viewers would take for one arrow: each rank's are larger than those of the one before.
 */
#include <stdlib.h>
#include "export/chrome.h"

/* Whole numbers up to here survive every reader of JSON. */
#define ID_MAX (INT64_C(1) << 53)

/* What to add from one rank to the next; 0: ids stay as they are. */
static int64_t flow_stride(const chrome_out *c, table_cursor *cursor, int64_t n_ranks)
{
	int64_t row[COLUMNS_MAX], max = 0;

	table_first(cursor, c->ix, SECTION_FLOWS, 0);
	while (table_next(cursor, row)) {
		int64_t id = row[FLOW_ID];
		if (id < 0)
			return 0;
		if (id >> 62 == 0 && id > max)
			max = id;
	}
	return max < ID_MAX / n_ranks ? max + 1 : 0;
}

bool chrome_find_ranks(chrome_out *c)
{
	int64_t n_ranks = 1;

	for (size_t i = 1; i < c->n_processes; i++)
		n_ranks += c->processes[i].rank != c->processes[i - 1].rank;
	if (n_ranks == 1)
		return true;
	table_cursor *cursor = malloc(sizeof *cursor);
	c->flow_bases = calloc(c->n_processes, sizeof *c->flow_bases);
	int64_t stride = cursor && c->flow_bases ? flow_stride(c, cursor, n_ranks) : 0;
	for (size_t i = 1; c->flow_bases && i < c->n_processes; i++)
		c->flow_bases[i] =
			c->flow_bases[i - 1] + (c->processes[i].rank != c->processes[i - 1].rank ? stride : 0);
	free(cursor);
	return cursor && c->flow_bases;
}

void chrome_rank_of(chrome_out *c, uint32_t process)
{
	const index_process *p = &c->processes[process];

	if (!c->flow_bases || p->rank < 0)
		return;
	chrome_begin_metadata(c, "sonde_rank", process);
	text_put(&c->to, ", \"args\": {\"rank\": ");
	text_i64(&c->to, p->rank);
	text_put(&c->to, ", \"pid\": ");
	if (p->pid_text != INDEX_NONE)
		chrome_string(c, p->pid_text);
	else
		text_i64(&c->to, p->pid);
	text_put(&c->to, ", \"flows\": ");
	text_i64(&c->to, c->flow_bases[process]);
	text_put(&c->to, "}");
	chrome_end_event(c);
}

/* All that the trace says of one rank. */
static void put_metas_of(chrome_out *c, int32_t rank)
{
	size_t n;
	const index_meta *metas = index_metas(c->ix, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (metas[i].rank != rank || !chrome_is_exported(c, &metas[i]))
			continue;
		text_put(&c->to, any ? ",\n" : "\n");
		chrome_meta(c, &metas[i]);
		any = true;
	}
}

void chrome_rank_metas(chrome_out *c)
{
	bool any = false;

	if (!c->flow_bases)
		return;
	text_put(&c->to, "\"sonde_ranks\": {");
	for (size_t i = 0; i < c->n_processes; i++) {
		int32_t rank = c->processes[i].rank;
		if (rank < 0 || (i && rank == c->processes[i - 1].rank))
			continue;
		text_put(&c->to, any ? "},\n\"" : "\n\"");
		text_i64(&c->to, rank);
		text_put(&c->to, "\": {");
		put_metas_of(c, rank);
		any = true;
	}
	text_put(&c->to, any ? "}},\n" : "},\n");
}
