/* What callers of the builder see; see builder.h. Everything is interned or put into an array; finish.c does the work.
 */
#include "store/build/builder.h"

#include "base/error.h"
#include "store/build/builder_state.h"

builder *builder_new(const builder_options *options)
{
	builder *b = calloc(1, sizeof *b);

	if (b)
		b->spilled = SPILL_NONE;
	if (b && options)
		b->options = *options;
	if (b && b->options.is_copied && !(b->shared = shared_blocks_new())) {
		free(b);
		return NULL;
	}
	return b;
}

static void free_track(build_track *t)
{
	for (uint32_t i = 0; i < track_n_lanes(t); i++)
		lane_free(track_lane(t, i));
	bulk_done(&t->slices);
	bulk_done(&t->flows);
	bulk_done(&t->binds);
	bulk_done(&t->lanes);
	bulk_done(&t->correlated);
	bulk_done(&t->steps);
	lane_feed_free(t);
}

static void free_tracks(builder *b)
{
	size_t n;
	build_track *tracks = builder_tracks(b, &n);

	for (size_t i = 0; i < n; i++)
		free_track(&tracks[i]);
	bulk_done(&b->tracks);
}

static void free_tables(builder *b)
{
	intern_table *interned[] = { &b->strings,	  &b->site_keys,    &b->process_keys,
				     &b->track_keys,	  &b->counter_keys, &b->meta_keys,
				     &b->diagnostic_keys, &b->messages,	    &b->device_keys };

	for (size_t i = 0; i < sizeof interned / sizeof interned[0]; i++)
		intern_done(interned[i]);
	for (size_t i = 0; i < TABLE_KINDS; i++)
		table_done(&b->tables[i]);
	for (size_t i = 0; i < b->n_packers; i++) {
		free(b->packers[i].sums);
		packer_done(&b->packers[i]);
	}
	free(b->packers);
	free(b->track_order);
	free(b->process_order);
	free(b->lane_order);
}

void builder_free(builder *b)
{
	if (!b)
		return;
	free_tracks(b);
	free_tables(b);
	if (b->options.is_copied)
		arena_take(&b->shared->blocks, &b->packer.blocks);
	shared_blocks_release(b->shared);
	spill_done(&b->spilled);
	packer_done(&b->packer);
	args_writer_done(&b->args);
	VEC_DONE(&b->sites);
	VEC_DONE(&b->sums);
	VEC_DONE(&b->classes);
	VEC_DONE(&b->processes);
	VEC_DONE(&b->files);
	VEC_DONE(&b->counters);
	VEC_DONE(&b->metas);
	VEC_DONE(&b->devices);
	VEC_DONE(&b->diagnostics);
	VEC_DONE(&b->step_numbers);
	bulk_done(&b->instants);
	bulk_done(&b->samples);
	bulk_done(&b->allocations);
	bulk_done(&b->values);
	bulk_done(&b->flow_args);
	bulk_done(&b->steps);
	free(b);
}

void builder_fail(builder *b, sonde_status status, const char *why)
{
	if (b->status)
		return;
	b->status = status;
	b->why = why;
}

void *builder_or_fail(builder *b, void *memory)
{
	if (!memory)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return memory;
}

bool builder_is_new(builder *b, intern_table *keys, const void *key, size_t len, size_t n, uint32_t *ret_number)
{
	*ret_number = intern(keys, key, len);
	if (*ret_number == INTERN_NONE)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return *ret_number == n;
}

build_track *builder_track_at(builder *b, uint32_t track)
{
	size_t n;
	build_track *tracks = builder_tracks(b, &n);

	if (__builtin_expect(track < n, 1))
		return &tracks[track];
	builder_fail(b, SONDE_E_USAGE, "an event of a track that does not exist");
	return NULL;
}

/* ---- What events refer to ---------------------------------------------------------------------------------------- */

uint32_t builder_string(builder *b, const char *text, size_t len)
{
	uint32_t number = intern(&b->strings, text, len);

	if (number == INTERN_NONE)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return number;
}

const char *builder_text(const builder *b, uint32_t string, size_t *ret_len)
{
	const intern_entry *e = string < b->strings.n ? &b->strings.entries[string] : NULL;

	*ret_len = e ? e->len : 0;
	return e ? e->text : NULL;
}

uint32_t builder_site(builder *b, uint32_t name, uint32_t category, site_class class, uint8_t kind)
{
	uint32_t key[3] = { name, category, kind }, number;

	if (!builder_is_new(b, &b->site_keys, key, sizeof key, b->sites.n, &number))
		return number;
	uint8_t *class_of = builder_or_fail(b, VEC_ADD(&b->sums)) ? builder_or_fail(b, VEC_ADD(&b->classes)) : NULL;
	index_site *site = class_of ? builder_or_fail(b, VEC_ADD(&b->sites)) : NULL;
	if (site) {
		*site = (index_site){ .name = name, .category = category, .class = (uint8_t) class, .kind = kind };
		*class_of = (uint8_t) class;
	}
	return number;
}

uint32_t builder_process(builder *b, uint32_t file, int64_t pid, uint32_t pid_text)
{
	struct {
		int64_t pid;
		uint32_t pid_text, file;
	} key = { pid, pid_text, file };
	uint32_t number;

	if (!builder_is_new(b, &b->process_keys, &key, sizeof key, b->processes.n, &number))
		return number;
	build_process *p = builder_or_fail(b, VEC_ADD(&b->processes));
	if (p)
		*p = (build_process){
			.info = { .pid = pid,
				  .pid_text = pid_text,
				  .name = INDEX_NONE,
				  .labels = INDEX_NONE,
				  .rank = -1,
				  .device = -1 },
			.file = file,
		};
	return number;
}

uint32_t builder_track(builder *b, track_kind kind, uint32_t process, int64_t id, uint32_t id_text, uint32_t category)
{
	struct {
		int64_t id;
		uint32_t kind, process, id_text, category;
	} key = { id, (uint32_t)kind, process, id_text, category };
	size_t n;
	uint32_t number;

	builder_tracks(b, &n);
	if (!builder_is_new(b, &b->track_keys, &key, sizeof key, n, &number))
		return number;
	if (process >= b->processes.n)
		builder_fail(b, SONDE_E_USAGE, "a track of a process that does not exist");
	build_track *t = builder_or_fail(b, bulk_add(&b->tracks, sizeof *t));
	if (t)
		*t = (build_track){
			.first_ns = INT64_MAX,
			.last_ns = INT64_MIN,
			.file = process < b->processes.n ? b->processes.items[process].file : UINT32_MAX,
			.info = { .kind = (uint32_t)kind,
				  .process = process,
				  .id = id,
				  .id_text = id_text,
				  .name = INDEX_NONE,
				  .device = -1,
				  .category = category },
		};
	return number;
}

/* Something to write to stays there even where the number is wrong. */
index_process *builder_process_of(builder *b, uint32_t process)
{
	if (process < b->processes.n)
		return &b->processes.items[process].info;
	builder_fail(b, SONDE_E_USAGE, "a process that does not exist");
	b->no_process = (index_process){ 0 };
	return &b->no_process;
}

index_track *builder_track_of(builder *b, uint32_t track)
{
	build_track *t = builder_track_at(b, track);

	if (t)
		return &t->info;
	b->no_track = (index_track){ 0 };
	return &b->no_track;
}

static build_file *file_of(builder *b, uint32_t file)
{
	while (b->files.n <= file) {
		build_file *f = builder_or_fail(b, VEC_ADD(&b->files));
		if (!f)
			return NULL;
		f->rank = -1;
	}
	return &b->files.items[file];
}

void builder_file_rank(builder *b, uint32_t file, int32_t rank)
{
	build_file *f = file_of(b, file);

	if (f)
		f->rank = rank;
}

void builder_file_shift(builder *b, uint32_t file, int64_t ns)
{
	build_file *f = file_of(b, file);

	if (f)
		f->shift_ns = trace_bounded_ns(f->shift_ns + trace_bounded_ns(ns));
}

int64_t builder_shift_of(const builder *b, uint32_t track)
{
	uint32_t file = builder_tracks(b, NULL)[track].file;

	return file < b->files.n ? b->files.items[file].shift_ns : 0;
}

/* Slices are looked at when somebody asks, so that collecting them stays cheap. */
static void span_of_track(const build_track *t, int64_t *start_ns, int64_t *end_ns)
{
	const builder_slice *slices = (const builder_slice *)t->slices.bytes;
	int64_t first = t->first_ns, last = t->last_ns;

	if (t->feed && t->info.n_slices) {
		first = t->start_ns < first ? t->start_ns : first;
		last = t->end_ns > last ? t->end_ns : last;
	}
	for (size_t i = 0; i < t->slices.n / sizeof *slices; i++) {
		int64_t end = slices[i].start_ns + slices[i].dur_ns;
		first = slices[i].start_ns < first ? slices[i].start_ns : first;
		last = end > last ? end : last;
	}
	*start_ns = first < *start_ns ? first : *start_ns;
	*end_ns = last > *end_ns ? last : *end_ns;
}

bool builder_file_span(const builder *b, uint32_t file, int64_t *ret_start_ns, int64_t *ret_end_ns)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);
	int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

	for (size_t i = 0; i < n; i++)
		if (tracks[i].file == file)
			span_of_track(&tracks[i], &start_ns, &end_ns);
	if (start_ns > end_ns)
		return false;
	int64_t shift_ns = file < b->files.n ? b->files.items[file].shift_ns : 0;
	*ret_start_ns = trace_bounded_ns(start_ns + shift_ns);
	*ret_end_ns = trace_bounded_ns(end_ns + shift_ns);
	return true;
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

void builder_device(builder *b, const index_device *d)
{
	int32_t key[] = { d->rank, d->id };
	uint32_t number;

	if (builder_is_new(b, &b->device_keys, key, sizeof key, b->devices.n, &number) &&
	    !builder_or_fail(b, VEC_ADD(&b->devices)))
		return;
	if (number < b->devices.n)
		b->devices.items[number] = *d;
}

void builder_meta(builder *b, int32_t rank, const char *key, size_t key_len, const char *value, size_t len, bool json)
{
	uint32_t key_string = builder_string(b, key, key_len), value_string = builder_string(b, value, len);
	uint32_t pair[2] = { key_string, (uint32_t)rank }, number;

	if (builder_is_new(b, &b->meta_keys, pair, sizeof pair, b->metas.n, &number) &&
	    !builder_or_fail(b, VEC_ADD(&b->metas)))
		return;
	if (number < b->metas.n)
		b->metas.items[number] = (index_meta){ key_string, value_string, rank, json };
}

void builder_diagnostic(builder *b, const builder_problem *problem)
{
	const char *text = problem->text ? problem->text : diagnostic_infos[problem->kind].many;
	uint32_t number;

	if (builder_is_new(b, &b->diagnostic_keys, text, strlen(text), b->diagnostics.n, &number)) {
		index_diagnostic *d = builder_or_fail(b, VEC_ADD(&b->diagnostics));
		if (!d)
			return;
		d->kind = problem->kind;
		d->text = builder_string(b, text, strlen(text));
		d->file = problem->file ? builder_string(b, problem->file, strlen(problem->file)) : INDEX_NONE;
		d->first = problem->position;
		d->lost = problem->kind < DIAGNOSTIC_KINDS && diagnostic_infos[problem->kind].effect == EFFECT_LOSS;
	}
	if (number < b->diagnostics.n)
		b->diagnostics.items[number].count += problem->n;
}

void builder_clock(builder *b, index_clock clock)
{
	b->clock = clock;
}

void builder_step(builder *b, uint32_t track, int64_t start_ns, int64_t number)
{
	build_step *s = builder_track_at(b, track) ? builder_or_fail(b, VEC_ADD(&b->step_numbers)) : NULL;

	if (s)
		*s = (build_step){ trace_bounded_ns(start_ns), number, track, 0 };
}
