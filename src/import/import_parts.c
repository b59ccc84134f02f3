/* The files of a trace into one builder, file after file, whatever each is. See open.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "store/index/facts.h"
#include "import/open.h"
#include "import/recording/build.h"
#include "import/recording/ranks.h"

static sonde_status out_of_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

/* ---- Progress --------------------------------------------------------------------------------------------------- */

static bool tell(const opening *o, uint64_t done)
{
	if (!o->options.progress)
		return true;
	if (o->total_bytes && done > o->total_bytes) /* a file that grows */
		done = o->total_bytes;
	return o->options.progress(o->options.context, done, o->total_bytes);
}

static bool tell_of_import(void *context, const input *in)
{
	const opening *o = context;
	uint64_t done, total;

	input_position(in, &done, &total);
	return tell(o, o->done_bytes + done);
}

static bool tell_of_builder(void *context, uint64_t done, uint64_t total)
{
	const opening *o = context;

	(void)done;
	(void)total;
	return tell(o, o->total_bytes ? o->total_bytes : o->done_bytes);
}

/* Of a part that is no text: how far it is in its own units, as bytes of its file. */
typedef struct part_progress {
	const opening *opening;
	uint64_t file_bytes;
} part_progress;

static bool tell_of_part(void *context, uint64_t done, uint64_t total)
{
	const part_progress *p = context;
	double share = total ? (double)done / (double)total : 1;

	return tell(p->opening, p->opening->done_bytes + (uint64_t)(share * (double)p->file_bytes));
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static ranked_file *add_ranked(opening *o, const trace_part *p, int32_t rank)
{
	uint32_t number = (uint32_t)o->ranked.n;
	ranked_file *f = VEC_ADD(&o->ranked);

	if (f)
		*f = (ranked_file){ .path = p->path, .number = number, .part = (uint32_t)(p - o->parts), .rank = rank };
	return f;
}

static uint32_t add_rank(import_job *job, int32_t rank)
{
	opening *o = job->context;
	ranked_file *own = &o->ranked.items[job->file_number], *f = add_ranked(o, &o->parts[own->part], rank);

	o->ranked.items[job->file_number].stays_without = true;
	return f ? f->number : UINT32_MAX;
}

/* Is there still another part that may be a trace? */
static bool has_others(const opening *o, const trace_part *p)
{
	for (size_t i = 0; i < o->files.n; i++)
		if (&o->parts[i] != p && o->parts[i].kind != PART_NOTHING)
			return true;
	return false;
}

static sonde_status import_foreign(opening *o, trace_part *p, int32_t rank, sonde_error *err)
{
	ranked_file *file = add_ranked(o, p, rank);
	sonde_status status = p->in ? SONDE_OK : input_open(p->path, o->options.n_threads, &p->in, err);
	uint64_t damage_at, done, total;

	if (!file)
		return out_of_memory(err);
	if (status)
		return status;
	import_job job = {
		.in = p->in,
		.builder = o->builder,
		.file = p->path,
		.file_number = file->number,
		.n_threads = o->options.n_threads,
		.scalar = o->options.scalar,
		.progress = tell_of_import,
		.add_rank = add_rank,
		.context = o,
		.rank = rank,
		.world_size = -1,
	};
	status = p->importer->run(&job, err);
	if (job.is_no_trace && p->is_found && has_others(o, p)) {
		o->ranked.n--; /* it has added nothing else */
		part_leave_out(o, p);
		return SONDE_OK;
	}
	file = &o->ranked.items[job.file_number];
	file->rank = file->stays_without ? -1 : job.rank;
	file->n_events = job.n_events;
	file->n_bytes = input_text_bytes(p->in);
	const char *damage = input_damage(p->in, &damage_at);
	if (damage)
		builder_diagnostic(o->builder, &(builder_problem){ .kind = DIAGNOSTIC_INPUT,
								   .text = damage,
								   .n = 1,
								   .file = p->path,
								   .position = (int64_t)damage_at });
	input_position(p->in, &done, &total);
	if (!p->file_bytes)
		o->done_bytes += done;
	input_close(p->in);
	p->in = NULL;
	return status ? error_prefix(err, status, part_name(p)) : SONDE_OK;
}

static sonde_status import_recording(opening *o, trace_part *p, int32_t rank, sonde_error *err)
{
	recording_source source = { .path = part_path(p), .bytes = p->bytes, .len = p->len };
	part_progress progress = { o, p->file_bytes };
	ranked_file *file = add_ranked(o, p, rank);
	recording *t;

	if (!file)
		return out_of_memory(err);
	p->bytes = NULL;
	sonde_status status = recording_open(&source, 1, &t, err);
	if (status)
		return status;
	status = recording_feed(t, o->builder, file->number, tell_of_part, &progress, err);
	int64_t shift_ns = recording_shift_ns(o, p);
	if (shift_ns) {
		builder_file_shift(o->builder, file->number, shift_ns);
		builder_clock(o->builder, INDEX_CLOCK_EPOCH);
	}
	recording_free(t);
	return status ? error_prefix(err, status, part_name(p)) : SONDE_OK;
}

/* What it has no rank for gets one only when that is all of it. */
static bool add_ranks_of(opening *o, const trace_part *p, int32_t rank)
{
	size_t n;
	const int32_t *ranks = index_again_ranks(p->again, &n);

	for (size_t i = 0; i < n; i++) {
		ranked_file *file = add_ranked(o, p, n == 1 && ranks[i] < 0 ? rank : ranks[i]);
		if (!file)
			return false;
		file->stays_without = n > 1 && ranks[i] < 0;
	}
	return true;
}

static sonde_status import_index(opening *o, trace_part *p, int32_t rank, sonde_error *err)
{
	part_progress progress = { o, p->file_bytes };
	uint32_t first_file = (uint32_t)o->ranked.n;
	sonde_index *index;
	sonde_status status = part_open_index(p, &index, err);

	if (status)
		return status;
	p->again = index_again_open(index, p->path);
	if (!p->again || !add_ranks_of(o, p, rank))
		return out_of_memory(err);
	status = index_again_feed(p->again, o->builder, first_file, tell_of_part, &progress, err);
	if (!status) /* what is missing would be missing without a word in what is made of it */
		status = index_damage(index, err);
	return status ? error_prefix(err, status, part_name(p)) : SONDE_OK;
}

static sonde_status import_part(opening *o, trace_part *p, int32_t rank, sonde_error *err)
{
	sonde_status status = p->kind == PART_FOREIGN ? import_foreign(o, p, rank, err)
			      : p->kind == PART_INDEX ? import_index(o, p, rank, err)
						      : import_recording(o, p, rank, err);

	o->done_bytes += p->file_bytes;
	if (!status && !tell(o, o->done_bytes))
		return error_set(err, SONDE_E_STATE, -1, "interrupted");
	return status;
}

/* ---- Meta entries ------------------------------------------------------------------------------------------------ */

static void add_number(builder *b, int32_t rank, const char *key, uint64_t number)
{
	char text[24];
	int len = snprintf(text, sizeof text, "%" PRIu64, number);

	builder_meta(b, rank, key, strlen(key), text, (size_t)len, true);
}

static void add_facts(builder *b, const ranked_file *f)
{
	builder_meta(b, f->rank, FACT_FILE, strlen(FACT_FILE), f->path, strlen(f->path), false);
	if (f->n_events)
		add_number(b, f->rank, FACT_EVENTS, f->n_events);
	if (f->n_bytes)
		add_number(b, f->rank, FACT_BYTES, f->n_bytes);
}

/* An index brings its own facts along. */
static bool add_meta_of(const opening *o, const trace_part *p, const ranked_file *files)
{
	size_t n;
	int32_t ranks_of_one, *ranks = &ranks_of_one;

	index_again_ranks(p->again, &n);
	if (n > 1)
		ranks = malloc(n * sizeof *ranks);
	for (size_t i = 0; ranks && i < n; i++)
		ranks[i] = files[i].rank;
	if (ranks)
		index_again_meta(p->again, o->builder, ranks);
	if (ranks != &ranks_of_one)
		free(ranks);
	return ranks;
}

static bool add_meta(const opening *o)
{
	bool ok = true;

	for (size_t i = 0; ok && i < o->ranked.n; i++) {
		const ranked_file *f = &o->ranked.items[i];
		const trace_part *p = &o->parts[f->part];
		if (!p->again)
			add_facts(o->builder, f);
		else if (i == 0 || f[-1].part != f->part)
			ok = add_meta_of(o, p, f);
	}
	return ok;
}

/* ---- All parts --------------------------------------------------------------------------------------------------- */

/* What recordings or the names say of the ranks; -1 where they say nothing. */
static void rank_by_name(const opening *o, int32_t *ranks)
{
	size_t n = o->files.n;

	for (size_t i = 0; i < n; i++) {
		const trace_part *p = &o->parts[i];
		ranks[i] = p->kind == PART_RECORDING ? recording_rank(p, n == 1) : files_rank(p->path, n == 1);
	}
}

static sonde_status feed_parts(opening *o, sonde_error *err)
{
	int32_t *ranks = malloc(o->files.n * sizeof *ranks);
	sonde_status status = SONDE_OK;

	if (!ranks)
		return out_of_memory(err);
	rank_by_name(o, ranks);
	for (size_t i = 0; i < o->files.n && !status; i++)
		status = import_part(o, &o->parts[i], ranks[i], err);
	free(ranks);
	if (status)
		return status;
	if (o->n_left_out)
		builder_diagnostic(o->builder, &(builder_problem){ .kind = DIAGNOSTIC_NO_TRACE,
								   .n = o->n_left_out,
								   .file = o->left_out ? o->left_out : "",
								   .position = -1 });
	ranks_settle(o->builder, o->ranked.items, o->ranked.n);
	clocks_settle(o->builder, o->ranked.items, o->ranked.n);
	return add_meta(o) ? SONDE_OK : out_of_memory(err);
}

sonde_status parts_import(opening *o, sonde_index **ret_index, sonde_error *err)
{
	builder_options options = {
		.n_threads = o->options.n_threads,
		.progress = tell_of_builder,
		.context = o,
		.spill_bytes = BUILDER_SPILL_BYTES,
	};

	o->builder = builder_new(&options);
	for (size_t i = 0; i < o->files.n; i++)
		o->total_bytes += o->parts[i].file_bytes;
	sonde_status status = o->builder ? feed_parts(o, err) : out_of_memory(err);
	if (!status)
		status = builder_finish(o->builder, ret_index, err);
	builder_free(o->builder);
	VEC_DONE(&o->ranked);
	return status;
}
