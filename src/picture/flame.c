/* Flame graphs as files: a page, SVG, JSON, or one line a stack. <sonde/picture.h> */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/parse_units.h"
#include "analyze/result/result.h"
#include "analyze/math/stats.h"
#include "serve/flame_json.h"
#include "picture/flame_svg.h"
#include "picture/picture.h"

enum { NODE_BYTES = 40 };			 /* of a node as JSON, about */
enum { NAME_MOST = 1000, NAME_LEAST = 40 };	 /* bytes */
enum { REPORT_NODES = 5000, REPORT_NAME = 240 }; /* of a flame graph in a report */

static const char *const bys[] = { "time", "self", "device", "memory" };
enum { N_BYS = sizeof bys / sizeof bys[0] };

/* A page has them twice: merged and in the order of time. */
static size_t max_nodes_of(const sonde_picture_options *o)
{
	return (size_t)(o->max_bytes / (2 * NODE_BYTES));
}

/* Each of them has an eighth of the page for its names; a node has one, and many have the same. */
static size_t max_name_of(const flame *f, const sonde_picture_options *o)
{
	uint64_t n = f->names.n < f->nodes.n ? f->names.n : f->nodes.n, each = o->max_bytes / 8 / (n ? n : 1);

	return each > NAME_MOST ? NAME_MOST : each < NAME_LEAST ? NAME_LEAST : (size_t)each;
}

static sonde_status choose(const sonde_picture_options *o, const sonde_index *ix, flame_options *ret, sonde_error *err)
{
	size_t by = 0;

	while (o->by && by < N_BYS && strcmp(bys[by], o->by) != 0)
		by++;
	if (by == N_BYS)
		return error_set(err, SONDE_E_USAGE, -1,
				 "unknown measure \"%s\" of a flame graph: expected time, self, device or memory",
				 o->by);
	if (o->ranks && !number_list_is_valid(o->ranks))
		return error_set(err, SONDE_E_USAGE, -1, "invalid ranks \"%s\": expected a list such as 0,2-4",
				 o->ranks);
	*ret = (flame_options){ .by = (flame_by)by,
				.ranks = o->ranks,
				.use_time = o->use_time,
				.from_ns = add_bounded(index_start_ns(ix), o->from_ns),
				.to_ns = add_bounded(index_start_ns(ix), o->to_ns),
				.no_python = o->no_python,
				.max_depth = o->max_depth,
				.use_steps = o->use_steps,
				.first_step = o->first_step,
				.last_step = o->last_step,
				.n_warmup = o->n_warmup };
	return SONDE_OK;
}

/* ---- Stacks as lines --------------------------------------------------------------------------------------------- */

static void put_folded_name(FILE *out, const flame *f, uint32_t name)
{
	const char *text = f->names.entries[name].text;

	for (uint32_t i = 0; i < f->names.entries[name].len; i++) {
		unsigned char byte = (unsigned char)text[i];
		fputc(byte == ';' ? ':' : byte < ' ' ? ' ' : byte, out);
	}
}

static void put_stack(FILE *out, const flame *f, uint32_t node)
{
	uint32_t stack[FLAME_DEPTH_MAX + 1];
	size_t n = 0;

	for (; node != FLAME_NONE && n <= FLAME_DEPTH_MAX; node = f->nodes.items[node].parent)
		stack[n++] = f->nodes.items[node].name;
	while (n > 0) {
		put_folded_name(out, f, stack[--n]);
		fputc(n ? ';' : ' ', out);
	}
}

static void put_folded(FILE *out, const flame *f)
{
	for (size_t i = 0; i < f->nodes.n; i++) {
		if (f->nodes.items[i].self <= 0)
			continue;
		put_stack(out, f, (uint32_t)i);
		fprintf(out, "%" PRId64 "\n", f->nodes.items[i].self);
	}
}

/* ---- A page ------------------------------------------------------------------------------------------------------ */

static sonde_status out_of_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

/* With what is too small or too much left out. */
static sonde_status build(flame *f, const sonde_index *ix, const flame_options *how, const sonde_picture_options *o,
			  size_t max_nodes, sonde_error *err)
{
	sonde_status status = flame_build(f, ix, how, err);

	if (!status && o->small_ns > 0 && how->mode != FLAME_ORDERED && !flame_group(f, o->small_ns))
		status = out_of_memory(err);
	/* Of device time and memory, paths without any. */
	int64_t min = o->min_ns > 0 ? o->min_ns : how->by >= FLAME_DEVICE;
	if (!status && !flame_cut(f, min, max_nodes))
		status = out_of_memory(err);
	return status;
}

static sonde_status put_one(picture *m, const char *key, const flame_options *how, sonde_error *err)
{
	flame f = { 0 };
	sonde_status status = build(&f, m->ix, how, &m->options, max_nodes_of(&m->options), err);

	if (!status) {
		json_key(&m->data, key);
		m->data.max_text = max_name_of(&f, &m->options);
		m->failed |= !put_flame(&m->data, &f, how, false, m->ix);
		m->data.max_text = 0;
	}
	flame_done(&f);
	return status;
}

static sonde_status fill_page(picture *m, const void *context, sonde_error *err)
{
	const flame_options *how = context;
	flame_options ordered = *how;

	ordered.mode = FLAME_ORDERED;
	picture_answer(m, "/sessions/1/tracks");
	picture_more(m);
	json_key(&m->data, "flame");
	json_begin_object(&m->data);
	put_text(&m->data, "by", bys[how->by]);
	sonde_status status = put_one(m, "merged", how, err);
	if (!status && how->by == FLAME_TIME)
		status = put_one(m, "ordered", &ordered, err);
	json_end_object(&m->data);
	picture_note_part(m);
	picture_note(m, "Written by sonde " SONDE_VERSION ". This page is self-contained.");
	return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static sonde_status write_json(flame *f, const flame_options *how, const sonde_index *ix, FILE *out, sonde_error *err)
{
	json_writer w = json_to(out);

	json_begin_object(&w);
	put_text(&w, "schema", "sonde.flame/1");
	json_key(&w, "flame");
	bool ok = put_flame(&w, f, how, false, ix);
	json_end_object(&w);
	fputc('\n', out);
	return ok ? SONDE_OK : out_of_memory(err);
}

sonde_status sonde_flame_write(const sonde_trace *trace, const char *format, const sonde_picture_options *options,
			       FILE *out, sonde_error *err)
{
	bool is_page = strcmp(format, "html") == 0;
	sonde_picture_options o;
	flame_options how;
	flame f = { 0 };
	sonde_status status = picture_options(trace, options, &o, err);

	if (!status)
		status = choose(&o, trace->index, &how, err);
	if (!status && !is_page)
		status = build(&f, trace->index, &how, &o, SIZE_MAX, err);
	if (status)
		; /* err says why */
	else if (is_page)
		status = picture_write(trace, options, "flame", fill_page, &how, out, err);
	else if (strcmp(format, "svg") == 0)
		status = flame_svg(&f, &how, o.name, out, err);
	else if (strcmp(format, "folded") == 0)
		put_folded(out, &f);
	else if (strcmp(format, "json") == 0)
		status = write_json(&f, &how, trace->index, out, err);
	else
		status = error_set(err, SONDE_E_USAGE, -1,
				   "unknown flame graph format \"%s\": expected html, svg, json or folded", format);
	flame_done(&f);
	return status ? status : error_of_stream(err, out);
}

sonde_status sonde_flame_add(sonde_result *result, const sonde_trace *trace, const sonde_picture_options *options,
			     sonde_error *err)
{
	sonde_picture_options o;
	flame_options how;
	flame f = { 0 };
	char *text = NULL;
	size_t len = 0;
	sonde_status status = picture_options(trace, options, &o, err);

	if (!status)
		status = choose(&o, trace->index, &how, err);
	if (!status)
		status = build(&f, trace->index, &how, &o, REPORT_NODES, err);
	FILE *out = status || f.total == 0 ? NULL : open_memstream(&text, &len);
	if (out) {
		json_writer w = json_to(out);
		w.in_page = true;
		w.max_text = REPORT_NAME;
		bool ok = put_flame(&w, &f, &how, false, trace->index);
		if (fclose(out) == 0 && ok)
			result->flame = result_string(result, text);
	}
	if (!status && f.total > 0 && !result->flame)
		status = out_of_memory(err);
	free(text);
	flame_done(&f);
	return status;
}
