/*
 * Several ranks in one file, as our own export writes them (export/chrome_ranks.c): what would have been the files of
 * the ranks are files of their own to the builder, with their processes, arrows and launches.
 *
 *   {"ph": "M", "name": "sonde_rank", "pid": P2, "args": {"rank": R, "pid": P, "flows": F}}   the process P2 is P of
 *                             rank R, and its arrows have ids that are larger by F. Comes before other events of P2
 *   "sonde_ranks": {"R": {...}, ...}   what stood beside the events of each rank
 */
#include "base/json_members.h"
#include "import/chrome/apply.h"

enum { RANKS_MAX = 16384, RANK_DIGITS = 9 };

/* The builder's file of the rank. CHROME_NONE: there are too many, or no memory. */
static uint32_t file_of(chrome_apply *a, int32_t rank)
{
	for (size_t i = a->ranks.n; i-- > 0;)
		if (a->ranks.items[i].rank == rank)
			return a->ranks.items[i].file;
	uint32_t file = a->job->add_rank && a->ranks.n < RANKS_MAX ? a->job->add_rank(a->job, rank) : CHROME_NONE;
	rank_file *f = file == CHROME_NONE ? NULL : VEC_ADD(&a->ranks);
	if (!f)
		return CHROME_NONE;
	*f = (rank_file){ rank, file };
	return file;
}

dict_entry *apply_ranked_process(chrome_apply *a, uint32_t is_text, int64_t pid)
{
	uint8_t key[16 + 16] = { 0 };
	bool is_new;

	memcpy(key, &is_text, 4);
	memcpy(key + 8, &pid, 8);
	uint32_t entry = dict_find(&a->ranked, key, 16, 0, text_hash(key, 16, 0), &is_new);
	a->failed |= entry == CHROME_NONE;
	return entry == CHROME_NONE ? NULL : &a->ranked.entries.items[entry];
}

static bool note_flows(chrome_apply *a, uint32_t process, int64_t flows)
{
	while (a->flow_bases.n <= process)
		if (!VEC_ADD(&a->flow_bases)) {
			a->failed = true;
			return false;
		}
	a->flow_bases.items[process] = flows;
	return true;
}

void apply_rank(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e)
{
	chrome_track *t = &r->tracks.items[e->track];
	int64_t rank = apply_int_arg(r, b, e, "rank", -1);
	uint32_t file =
		t->process == CHROME_NONE && rank >= 0 && rank <= INT32_MAX ? file_of(a, (int32_t)rank) : CHROME_NONE;
	chrome_arg pid;

	if (file == CHROME_NONE || !apply_find_arg(r, b, e, "pid", &pid))
		return;
	uint32_t is_text = t->pid.is_text;
	dict_entry *known = apply_ranked_process(
		a, is_text, is_text ? apply_reader_string(a, r, (uint32_t)t->pid.number) : t->pid.number);
	if (!known || known->global != CHROME_NONE)
		return;
	uint32_t text = pid.is_int ? INDEX_NONE : apply_string(a, pid.text, pid.len);
	known->global = t->process = builder_process(a->b, file, pid.is_int ? pid.number : 0, text);
	int64_t flows = apply_int_arg(r, b, e, "flows", 0);
	if (flows)
		note_flows(a, t->process, flows);
}

void apply_rank_meta(chrome_apply *a, const uint8_t *value, size_t len, uint64_t offset)
{
	json_members ranks = json_members_of((const char *)value, len);
	json_member rank, m;

	while (ranks.is_object && json_next(&ranks, &rank)) {
		int32_t number = 0;
		size_t i = 0;
		for (; i < rank.key_len && i < RANK_DIGITS && rank.key[i] >= '0' && rank.key[i] <= '9'; i++)
			number = number * 10 + (rank.key[i] - '0');
		uint32_t file = i && i == rank.key_len ? file_of(a, number) : CHROME_NONE;
		json_members members = json_members_of(rank.value, rank.len);
		while (file != CHROME_NONE && members.is_object && json_next(&members, &m))
			apply_keep_top(a, file, (const uint8_t *)m.key, m.key_len, (const uint8_t *)m.value, m.len,
				       offset);
	}
}
