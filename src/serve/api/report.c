/*
 * What the analyses find: the JSON of `sonde analyze NAME --json`, and with it what a table needs to be shown.
 *
 * Names that the page uses stand for the first analysis of the list that there is; one that found nothing, or that does
 * not exist, says so and what would fill it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/result/result.h"
#include "present/present.h"
#include "base/format_number.h"
#include "serve/routes.h"
#include <sonde/compare.h>

/* Of memory for each slice while it is analysed: a row of 64, intervals and their copy while they are sorted. */
enum { ROW_BYTES = 160 };

static const struct {
	const char *name;
	const char *analyses[3]; /* the first that there is */
	const char *command;	 /* what would record it */
} reports[] = {
#define TORCH_DEVICE "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
#define TORCH_MEMORY "torch.profiler.profile(profile_memory=True)"
	{ "kernels", { "kernels" }, TORCH_DEVICE },
	{ "operators", { "operators", "ops" }, TORCH_DEVICE },
	{ "hta", { "hta" }, TORCH_DEVICE },
	{ "temporal", { "temporal" }, TORCH_DEVICE },
	{ "idle", { "idle" }, TORCH_DEVICE },
	{ "overlap", { "overlap" }, TORCH_DEVICE },
	{ "launches", { "launches" }, TORCH_DEVICE },
	{ "gpu", { "gpu", "utilization", "temporal" }, TORCH_DEVICE },
	{ "distributed", { "distributed", "stragglers" }, "one trace for each rank, opened as a directory" },
	{ "stragglers", { "stragglers" }, "one trace for each rank, opened as a directory" },
	{ "layers",
	  { "layers", "modules", "module_tree" },
	  "torch.profiler.profile(with_modules=True, with_stack=True)" },
	{ "memory", { "memory" }, TORCH_MEMORY },
	{ "leaks", { "leaks" }, TORCH_MEMORY },
	{ "compile", { "compile" }, "with torch.profiler.profile() as p: torch.compile(model)(batch)" },
};
enum { N_REPORTS = sizeof reports / sizeof reports[0] };

static bool exists(const char *analysis)
{
	const char *name, *summary;

	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++)
		if (strcmp(name, analysis) == 0)
			return true;
	return false;
}

/* NULL: there is none. */
static const char *find_analysis(const char *name, const char **ret_command)
{
	*ret_command = NULL;
	for (size_t i = 0; i < N_REPORTS; i++) {
		if (strcmp(reports[i].name, name) != 0)
			continue;
		*ret_command = reports[i].command;
		for (size_t k = 0; k < 3 && reports[i].analyses[k]; k++)
			if (exists(reports[i].analyses[k]))
				return reports[i].analyses[k];
		return NULL;
	}
	return exists(name) ? name : NULL;
}

static void put_result(reply *out, const sonde_result *result)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	json_put_members(w, result);
	put_bool(w, "available", true);
	json_key(w, "view");
	json_begin_object(w);
	put_text(w, "headline", result->headline);
	put_text(w, "summary", result->summary);
	put_list(w, "tables");
	for (const table *t = result->tables; t; t = t->next) {
		json_begin_object(w);
		json_put_view(w, t);
		put_bool(w, "tree", table_is_tree(t));
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
	json_end_object(w);
}

static void put_unavailable(reply *out, const char *reason, const char *command)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_bool(w, "available", false);
	put_text(w, "reason", reason);
	put_text(w, "command", command);
	json_end_object(w);
}

static bool is_empty(const sonde_result *result)
{
	for (const table *t = result->tables; t; t = t->next)
		if (t->n_rows)
			return false;
	return !result->has_findings;
}

/* The note that says why there is nothing: not what was left out or lost. NULL: none does. */
static const char *reason_of(const sonde_result *result)
{
	for (const result_note *n = result->notes; n; n = n->next)
		if (strcmp(n->label, "warm-up") != 0 && strcmp(n->label, "lost") != 0)
			return n->text;
	return result->headline;
}

static void put_empty(reply *out, const sonde_result *result, const char *command)
{
	const char *reason = reason_of(result);
	char sentence[512];

	snprintf(sentence, sizeof sentence, "%s", reason ? reason : "the trace has no such data");
	if (sentence[0] >= 'a' && sentence[0] <= 'z')
		sentence[0] = (char)(sentence[0] - 'a' + 'A');
	size_t len = strlen(sentence);
	if (len && len + 1 < sizeof sentence && sentence[len - 1] != '.')
		memcpy(sentence + len, ".", 2);
	put_unavailable(out, sentence, command);
}

/* ---- What to look at --------------------------------------------------------------------------------------------- */

static void read_options(call *c, sonde_analyze_options *o)
{
	int64_t from, to;

	*o = (sonde_analyze_options){ .struct_size = sizeof *o };
	call_steps(c, &o->use_steps, &o->first_step, &o->last_step);
	if (request_text(c->request, "from") || request_text(c->request, "to")) {
		call_range(c, &from, &to);
		o->use_time = true;
		o->from_ns = since_start(c->opened->ix, from);
		o->to_ns = since_start(c->opened->ix, to);
	} else if (trace_is_window(c->opened->trace) && !o->use_steps) { /* what is not here was not idle */
		o->use_time = true;
		o->from_ns = since_start(c->opened->ix, c->opened->trace->recording->window_ns);
		o->to_ns = since_start(c->opened->ix, index_end_ns(c->opened->ix)) + 1;
	}
	o->ranks = request_text(c->request, "ranks");
	o->compat = request_text(c->request, "compat");
	o->warmup = request_text(c->request, "warmup");
	o->filter = request_text(c->request, "filter");
	o->sort = request_text(c->request, "sort");
	o->top = (uint64_t)request_number(c->request, "top", 0, INT64_MAX, 0);
	o->tree = request_truth(c->request, "tree", false);
	o->threads = request_truth(c->request, "threads", false);
}

/* Analyses hold a row for each slice and what they make of them. HEAVY_MAX of them at a time must fit; the command,
   which runs one, has no such limit. */
static bool is_too_large(const call *c, const char *analysis, reply *out)
{
	static const char *const streams[] = { "report", "summary", "info" };
	uint64_t n = index_n_slices(c->opened->ix);
	double bytes = (double)n * ROW_BYTES;
	double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	char size[NUMBER_TEXT], count[NUMBER_TEXT];

	for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
		if (strcmp(analysis, streams[i]) == 0)
			return false;
	if (bytes <= all / HEAVY_MAX)
		return false;
	reply_error(out, 413, "too-large",
		    "%s slices would take about %s of memory, more than this server may use; run sonde analyze %s on "
		    "the command line.",
		    format_count(count, n), format_bytes(size, (uint64_t)bytes), analysis);
	return true;
}

void api_report(call *c, reply *out)
{
	sonde_error err = { .position = -1 };
	sonde_analyze_options options;
	sonde_result *result = NULL;
	const char *command, *analysis = find_analysis(c->word, &command);

	read_options(c, &options);
	if (call_failed(c, out))
		return;
	if (!analysis && !command) {
		reply_error(out, 404, "not-found", "There is no report %s.", c->word);
		return;
	}
	if (!analysis) {
		put_unavailable(out, "This version of Sonde has no such report.", command);
		return;
	}
	if (is_too_large(c, analysis, out))
		return;
	sonde_status status = sonde_analyze(c->opened->trace, analysis, &options, &result, &err);
	if (status)
		reply_failure(out, status, &err);
	else if (is_empty(result))
		put_empty(out, result, command);
	else
		put_result(out, result);
	sonde_result_free(result);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

typedef struct others {
	call *call;
	reply *reply;
	opened *opened[SONDE_COMPARE_MAX];
	char *names[SONDE_COMPARE_MAX];
	size_t n;
	bool failed; /* the reply says why */
} others;

static char *copy_name(sonde_server *s, const session *of)
{
	pthread_mutex_lock(&s->lock);
	char *name = strdup(of->name);
	pthread_mutex_unlock(&s->lock);
	return name;
}

static void take_other(void *context, uint64_t id)
{
	others *o = context;
	call c = { .server = o->call->server, .request = o->call->request };

	if (o->failed || o->n == SONDE_COMPARE_MAX)
		return;
	c.session = session_find(c.server, id);
	if (!c.session)
		reply_error(o->reply, 404, "not-found", "There is no session %llu.", (unsigned long long)id);
	else if (call_open(&c, o->reply)) {
		o->names[o->n] = copy_name(c.server, c.session);
		o->opened[o->n++] = c.opened;
		return;
	}
	o->failed = true;
}

static void compare(call *c, reply *out, const others *o)
{
	const sonde_trace *traces[SONDE_COMPARE_MAX];
	sonde_error err = { .position = -1 };
	sonde_analyze_options select;
	sonde_result *result = NULL;

	for (size_t i = 0; i < o->n; i++)
		traces[i] = o->opened[i]->trace;
	read_options(c, &select);
	if (call_failed(c, out))
		return;
	sonde_compare_options options = { .struct_size = sizeof options,
					  .by = request_text(c->request, "by"),
					  .names = (const char *const *)o->names,
					  .select = &select };
	sonde_status status = sonde_compare(traces, o->n, &options, &result, &err);
	if (status)
		reply_failure(out, status, &err);
	else
		put_result(out, result);
	sonde_result_free(result);
}

void api_compare(call *c, reply *out)
{
	others o = { .call = c, .reply = out };
	const char *with = request_text(c->request, "with");

	take_other(&o, c->session->id);
	if (!request_numbers(c->request, "with", SESSIONS_MAX + 1, take_other, &o) && !with)
		reply_error(out, 400, "bad-request", "The parameter \"with\" must list the sessions to compare.");
	else if (!o.failed && !call_failed(c, out))
		compare(c, out, &o);
	for (size_t i = 0; i < o.n; i++) {
		if (trace_is_broken(o.opened[i]->trace))
			reply_error(out, 503, "rewritten", "A file changed while it was read; retry.");
		session_release(c->server, o.opened[i]);
		free(o.names[i]);
	}
}
