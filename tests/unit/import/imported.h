/*
 * Imports Chrome JSON from memory and writes down what became of it, a line for each thing, so that a test is a text
 * and what it should become:
 *
 *   process 1 "python" labels "CPU" sort 5 device 0
 *   track 1/2 "main" sort 3                              only those that have a name, an order or a device
 *   slice 1/2 [1000 +500] cpu_op:aten::mm {"a": 1} | "tts": 5
 *   slice 1/2 ^1 [1000 +500] ...                         ^1: depth 1; ^1.2: depth 1 of the group 2; open, repaired
 *   instant, sample, flow, launch, allocation, value, step, meta, diagnostic
 *   12 events, 1 lost
 *
 * A track is pid/tid, pid/stream7 of a device, pid/async:category or the pid of a process's own; ids that are texts are
 * <so>. Times are absolute. In both texts of a case ' stands for ". An @ in the JSON is not part of it; @1 in what it
 * becomes is where the first one stood, @2 the second; ` there is '.
 */
#ifndef TESTS_UNIT_IMPORT_IMPORTED_H
#define TESTS_UNIT_IMPORT_IMPORTED_H

#include <inttypes.h>
#include "unit/import/packed.h"

#include "import/importer.h"
#include "store/build/builder.h"

typedef struct imported {
	sonde_index *ix; /* NULL: it failed */
	sonde_status status;
	sonde_error err;
	import_job job;
} imported;

typedef struct import_how {
	unsigned n_threads; /* 0: 1 */
	bool scalar, careful;
} import_how;

static inline imported import_bytes(const void *bytes, size_t len, import_how how)
{
	imported result = { 0 };
	builder *b = builder_new(&(builder_options){ .n_threads = how.n_threads ? how.n_threads : 1 });
	input *in;

	assert_non_null(b);
	assert_int_equal(input_open_memory(bytes, len, &in), SONDE_OK);
	result.job = (import_job){ .in = in,
				   .builder = b,
				   .file = "test.json",
				   .n_threads = how.n_threads ? how.n_threads : 1,
				   .scalar = how.scalar,
				   .careful = how.careful,
				   .rank = -1,
				   .world_size = -1 };
	result.status = chrome_importer.run(&result.job, &result.err);
	if (!result.status)
		result.status = builder_finish(b, &result.ix, &result.err);
	input_close(in);
	builder_free(b);
	return result;
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

typedef struct teller {
	const sonde_index *ix;
	args_reader *args;
	FILE *out;
} teller;

static inline void tell_track(const teller *t, uint32_t number)
{
	size_t n_tracks, n_processes;
	const index_track *track = &index_tracks(t->ix, &n_tracks)[number];
	const index_process *p = index_processes(t->ix, &n_processes);

	assert_true(number < n_tracks && track->process < n_processes);
	p += track->process;
	if (p->pid_text == INDEX_NONE)
		fprintf(t->out, " %" PRId64, p->pid);
	else
		fprintf(t->out, " <%s>", index_text(t->ix, p->pid_text));
	if (track->kind == TRACK_ASYNC)
		fprintf(t->out, "/async:%s", index_text(t->ix, track->category));
	else if (track->kind != TRACK_PROCESS && track->id_text != INDEX_NONE)
		fprintf(t->out, "/<%s>", index_text(t->ix, track->id_text));
	else if (track->kind != TRACK_PROCESS)
		fprintf(t->out, "/%s%" PRId64, track->kind == TRACK_STREAM ? "stream" : "", track->id);
}

static inline void tell_site(const teller *t, uint32_t number)
{
	size_t n;
	const index_site *site = &index_sites(t->ix, &n)[number];

	assert_true(number < n);
	fprintf(t->out, " %s:%s", index_text(t->ix, site->category), index_text(t->ix, site->name));
}

static inline void tell_args(const teller *t, uint32_t args)
{
	args_text text;

	if (!args)
		return;
	assert_true(args_read(t->args, args, &text));
	if (text.args)
		fprintf(t->out, " %.*s", (int)text.args_len, text.args);
	if (text.extra)
		fprintf(t->out, " | %.*s", (int)text.extra_len, text.extra);
}

static inline void tell_string(const teller *t, const char *what, uint32_t string)
{
	if (string != INDEX_NONE)
		fprintf(t->out, " %s\"%s\"", what, index_text(t->ix, string));
}

static inline void tell_names(const teller *t)
{
	size_t n;
	const index_process *p = index_processes(t->ix, &n);

	for (size_t i = 0; i < n; i++, p++) {
		if (p->name == INDEX_NONE && p->labels == INDEX_NONE && !p->sort && p->device < 0)
			continue;
		if (p->pid_text == INDEX_NONE)
			fprintf(t->out, "process %" PRId64, p->pid);
		else
			fprintf(t->out, "process <%s>", index_text(t->ix, p->pid_text));
		tell_string(t, "", p->name);
		tell_string(t, "labels ", p->labels);
		if (p->sort)
			fprintf(t->out, " sort %d", p->sort);
		if (p->device >= 0)
			fprintf(t->out, " device %d", p->device);
		fputc('\n', t->out);
	}
	const index_track *track = index_tracks(t->ix, &n);
	for (size_t i = 0; i < n; i++, track++) {
		if (track->name == INDEX_NONE && !track->sort && track->device < 0)
			continue;
		fprintf(t->out, "track");
		tell_track(t, (uint32_t)i);
		tell_string(t, "", track->name);
		if (track->sort)
			fprintf(t->out, " sort %d", track->sort);
		if (track->device >= 0)
			fprintf(t->out, " device %d", track->device);
		fputc('\n', t->out);
	}
}

static inline void tell_slices(const teller *t)
{
	size_t n;
	const index_lane *lane = index_lanes(t->ix, &n);
	lane_cursor *c = malloc(sizeof *c);
	index_slice s;

	assert_non_null(c);
	for (uint32_t i = 0; i < n; i++, lane++)
		for (lane_first(c, t->ix, i, 0); lane_next(c, &s);) {
			fprintf(t->out, "slice");
			tell_track(t, lane->track);
			if (lane->depth || lane->group)
				fprintf(t->out, " ^%u", lane->depth);
			if (lane->group)
				fprintf(t->out, ".%u", lane->group);
			fprintf(t->out, " [%" PRId64 " +%" PRId64 "]", s.start_ns, s.dur_ns);
			tell_site(t, s.site);
			fprintf(t->out, "%s%s%s", s.flags & SLICE_IS_OPEN ? " open" : "",
				s.flags & SLICE_IS_REPAIRED ? " repaired" : "",
				s.flags & SLICE_IS_ASYNC ? " async" : "");
			tell_args(t, s.args);
			fputc('\n', t->out);
		}
	free(c);
}

/* Rows of a table, each told by `tell`. */
static inline void tell_rows(const teller *t, index_kind kind, void (*tell)(const teller *t, const int64_t *row))
{
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];

	assert_non_null(c);
	for (table_first(c, t->ix, kind, 0); table_next(c, row);) {
		tell(t, row);
		fputc('\n', t->out);
	}
	assert_false(c->damaged);
	free(c);
}

static inline void tell_point(const teller *t, const char *what, const int64_t *row, unsigned args)
{
	fprintf(t->out, "%s", what);
	tell_track(t, (uint32_t)row[INSTANT_TRACK]);
	fprintf(t->out, " %" PRId64, index_start_ns(t->ix) + row[INSTANT_TIME]);
	tell_site(t, (uint32_t)row[INSTANT_SITE]);
	tell_args(t, (uint32_t)row[args]);
}

static inline void tell_instant(const teller *t, const int64_t *row)
{
	char what[] = "instant  ";

	if (row[INSTANT_SCOPE] != 't')
		what[8] = (char)row[INSTANT_SCOPE];
	else
		what[7] = 0;
	tell_point(t, what, row, INSTANT_ARGS);
}

static inline void tell_sample(const teller *t, const int64_t *row)
{
	tell_point(t, "sample", row, SAMPLE_ARGS);
}

/* "name(start)" of a slice, by its number + 1. */
static inline void tell_slice(const teller *t, int64_t number)
{
	index_slice s;
	size_t n;

	if (!number) {
		fprintf(t->out, " none");
		return;
	}
	assert_true(index_slice_at(t->ix, (uint64_t)number - 1, &s));
	fprintf(t->out, " %s(%" PRId64 ")", index_text(t->ix, index_sites(t->ix, &n)[s.site].name), s.start_ns);
}

static inline void tell_flow(const teller *t, const int64_t *row)
{
	index_slice s;
	int64_t start = index_start_ns(t->ix), id = row[FLOW_ID];

	if (row[FLOW_SLICE]) {
		assert_true(index_slice_at(t->ix, (uint64_t)row[FLOW_SLICE] - 1, &s));
		start = s.start_ns;
	}
	fprintf(t->out, "flow %c ", (char)row[FLOW_PHASE]);
	if (id >= 0 && id >> 62 & 1)
		fprintf(t->out, "<%s>", index_text(t->ix, (uint32_t)id));
	else
		fprintf(t->out, "%" PRId64, id);
	tell_track(t, (uint32_t)row[FLOW_TRACK]);
	fprintf(t->out, " %" PRId64, start + row[FLOW_TIME]);
	tell_site(t, (uint32_t)row[FLOW_SITE]);
	fprintf(t->out, " at");
	tell_slice(t, row[FLOW_SLICE]);
	tell_args(t, (uint32_t)row[FLOW_ARGS]);
}

static inline void tell_launch(const teller *t, const int64_t *row)
{
	fprintf(t->out, "launch %" PRId64 ":", row[LAUNCH_CORRELATION]);
	tell_slice(t, row[LAUNCH_DEVICE] + 1);
	fprintf(t->out, " by");
	tell_slice(t, row[LAUNCH_HOST]);
}

static inline void tell_allocation(const teller *t, const int64_t *row)
{
	fprintf(t->out, "allocation");
	tell_track(t, (uint32_t)row[ALLOCATION_TRACK]);
	fprintf(t->out, " %" PRId64, index_start_ns(t->ix) + row[ALLOCATION_TIME]);
	tell_site(t, (uint32_t)row[ALLOCATION_SITE]);
	fprintf(t->out, " 0x%" PRIx64 " %+" PRId64 " device %" PRId64 ":%" PRId64 " total %" PRId64 " of %" PRId64,
		(uint64_t)row[ALLOCATION_ADDRESS], row[ALLOCATION_BYTES], row[ALLOCATION_DEVICE_TYPE],
		row[ALLOCATION_DEVICE], row[ALLOCATION_TOTAL], row[ALLOCATION_RESERVED]);
	tell_args(t, (uint32_t)row[ALLOCATION_ARGS]);
}

static inline void tell_values(const teller *t)
{
	size_t n;
	const index_counter *c = index_counters(t->ix, &n);
	table_cursor *values = malloc(sizeof *values);
	int64_t row[COLUMNS_MAX];
	double value;

	assert_non_null(values);
	for (size_t i = 0; i < n; i++, c++) {
		table_first(values, t->ix, SECTION_VALUES, c->first_value);
		for (uint64_t k = 0; k < c->n_values; k++) {
			assert_true(table_next(values, row));
			memcpy(&value, &row[VALUE_BITS], sizeof value);
			fprintf(t->out, "value");
			tell_track(t, c->track);
			fprintf(t->out, " %" PRId64 " %s:%s = %.17g\n", index_start_ns(t->ix) + row[VALUE_TIME],
				index_text(t->ix, c->category), index_text(t->ix, c->name), value);
		}
	}
	free(values);
}

static inline void tell_lists(const teller *t)
{
	size_t n;
	const index_step *step = index_steps(t->ix, &n);

	for (size_t i = 0; i < n; i++, step++) {
		fprintf(t->out, "step %" PRId64, step->number);
		tell_track(t, step->track);
		fprintf(t->out, " [%" PRId64 " +%" PRId64 "]\n", index_start_ns(t->ix) + step->start_ns, step->dur_ns);
	}
	const index_meta *m = index_metas(t->ix, &n);
	for (size_t i = 0; i < n; i++, m++)
		if (strcmp(index_text(t->ix, m->key), "sonde.phases") != 0)
			fprintf(t->out, "meta %s = %s\n", index_text(t->ix, m->key), index_text(t->ix, m->value));
	const index_diagnostic *d = index_diagnostics(t->ix, &n);
	for (size_t i = 0; i < n; i++, d++)
		fprintf(t->out, "%s %" PRIu64 " from %" PRId64 ": %s\n", d->lost ? "lost" : "repaired", d->count,
			d->first, index_text(t->ix, d->text));
}

static inline uint64_t imported_lost(const imported *i)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(i->ix, &n);
	uint64_t lost = 0;

	for (size_t k = 0; k < n; k++)
		lost += d[k].lost ? d[k].count : 0;
	return lost;
}

/* The caller frees. */
static inline char *imported_text(const imported *i)
{
	char *text = NULL;
	size_t len = 0;
	teller t = { .ix = i->ix, .out = open_memstream(&text, &len) };

	assert_non_null(t.out);
	if (i->status) {
		fprintf(t.out, "error %d: %s\n", i->status, i->err.message);
	} else {
		t.args = args_reader_new(i->ix);
		assert_non_null(t.args);
		tell_names(&t);
		tell_slices(&t);
		tell_rows(&t, SECTION_INSTANTS, tell_instant);
		tell_rows(&t, SECTION_SAMPLES, tell_sample);
		tell_rows(&t, SECTION_FLOWS, tell_flow);
		tell_rows(&t, SECTION_LAUNCHES, tell_launch);
		tell_rows(&t, SECTION_ALLOCATIONS, tell_allocation);
		tell_values(&t);
		tell_lists(&t);
		fprintf(t.out, "%" PRIu64 " events, %" PRIu64 " lost\n", i->job.n_events, imported_lost(i));
		args_reader_free(t.args);
	}
	assert_int_equal(fclose(t.out), 0);
	return text;
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

typedef struct import_case {
	const char *about, *json, *becomes;
} import_case;

/* Imports every way there is; all ways must give the same bytes. */
static inline imported import_all_ways(const void *bytes, size_t len, const char *about)
{
	static const import_how ways[] = { { 1, true, false }, { 2, false, false }, { 4, false, false },
					   { 2, true, false }, { 1, false, true },  { 1, true, true } };
	imported first = import_bytes(bytes, len, (import_how){ 0 });
	size_t n_first = 0, n_other;
	const uint8_t *image = first.ix ? index_bytes(first.ix, &n_first) : NULL;

	for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
		imported other = import_bytes(bytes, len, ways[w]);
		const uint8_t *others = other.ix ? index_bytes(other.ix, &n_other) : NULL;
		bool same = other.status == first.status && (!image || (others && n_other == n_first)) &&
			    (!image || memcmp(image, others, n_first) == 0);
		if (!same) {
			char *a = imported_text(&first), *b = imported_text(&other);
			fprintf(stderr, "%s: differs with %u threads%s%s\n", about, ways[w].n_threads,
				ways[w].scalar ? ", scalar" : "", ways[w].careful ? ", careful" : "");
			if (strlen(a) < 100000)
				fprintf(stderr, "-- once\n%s-- so\n%s", a, b);
			free(a);
			free(b);
		}
		assert_true(same);
		index_free(other.ix);
	}
	return first;
}

/* The JSON of a case without its marks, which are told. The caller frees. */
static inline char *case_json(const char *text, size_t *ret_len, size_t marks[10])
{
	char *json = malloc(strlen(text) + 1);
	size_t len = 0, n_marks = 0;

	assert_non_null(json);
	for (; *text; text++) {
		if (*text == '@' && n_marks < 9)
			marks[++n_marks] = len;
		else
			json[len++] = *text == '\'' ? '"' : *text;
	}
	*ret_len = len;
	return json;
}

/* The caller frees. */
static inline char *case_text(const char *text, const size_t marks[10])
{
	char *result = NULL;
	size_t len;
	FILE *out = open_memstream(&result, &len);

	assert_non_null(out);
	for (; *text; text++) {
		if (*text == '@' && text[1] >= '1' && text[1] <= '9')
			fprintf(out, "%zu", marks[*++text - '0']);
		else
			fputc(*text == '\'' ? '"' : *text == '`' ? '\'' : *text, out);
	}
	assert_int_equal(fclose(out), 0);
	return result;
}

static inline void check_cases(const import_case *cases, size_t n)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len, marks[10] = { 0 };
		char *json = case_json(cases[i].json, &len, marks), *becomes = case_text(cases[i].becomes, marks);
		imported result = import_all_ways(json, len, cases[i].about);
		char *text = imported_text(&result);
		if (strcmp(text, becomes) != 0) {
			fprintf(stderr, "%s:\n-- is\n%s-- should be\n%s", cases[i].about, text, becomes);
			n_wrong++;
		}
		free(text);
		free(becomes);
		free(json);
		index_free(result.ix);
	}
	assert_int_equal(n_wrong, 0);
}
#define CHECK_CASES(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

#endif
