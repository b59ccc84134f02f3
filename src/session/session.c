/* A recording and its report in one program, see session.h. */
#include <sonde/session.h>

#include <stdlib.h>
#include <string.h>
#include "analyze/analysis.h"
#include "base/error.h"
#include <sonde/analyze.h>

struct sonde_session {
	int64_t start_ns;
};

struct sonde_report {
	sonde_trace *trace;
	int64_t from_ns, to_ns; /* of the session; both 0: the whole recording */
	profile *profile;
	sonde_op_stats *ops; /* most self time first */
	size_t n_ops;
};

/* ---- Sessions ---------------------------------------------------------------------------------------------------- */

sonde_status sonde_session_start(const sonde_config *config, sonde_session **ret_session, sonde_error *err)
{
	sonde_session *session = calloc(1, sizeof *session);

	*ret_session = NULL;
	if (!session)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	session->start_ns = sonde_now_ns();
	sonde_status status = sonde_start(config, err);
	if (status) {
		free(session);
		return status;
	}
	*ret_session = session;
	return SONDE_OK;
}

void sonde_session_pause(sonde_session *session)
{
	(void)session;
	sonde_pause();
}

void sonde_session_resume(sonde_session *session)
{
	(void)session;
	sonde_resume();
}

static sonde_status report_new(const char *path, int64_t from_ns, int64_t to_ns, sonde_report **ret_report,
			       sonde_error *err);

sonde_status sonde_session_stop(sonde_session *session, sonde_report **ret_report, sonde_error *err)
{
	if (ret_report)
		*ret_report = NULL;
	if (!session)
		return error_set(err, SONDE_E_STATE, -1, "there is no session to stop");
	int64_t start_ns = session->start_ns, stop_ns = sonde_now_ns();
	char path[4096];

	snprintf(path, sizeof path, "%s", sonde_output()); /* once it is stopped another thread may start its own */
	sonde_status status = sonde_stop(err);

	free(session);
	if (status || !ret_report)
		return status;
	/* Within a recording that was started from outside the session is a stretch of a longer file. */
	return report_new(path, start_ns, stop_ns, ret_report, err);
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static int compare_self(const void *a, const void *b)
{
	const sonde_op_stats *x = a, *y = b;

	return x->self_ns > y->self_ns ? -1 : x->self_ns < y->self_ns ? 1 : strcmp(x->name, y->name);
}

static sonde_op_stats op_stats(const sonde_report *r, const profile_node *node)
{
	const stats *s = &node->stats;
	profile_work work = profile_work_of(r->profile, node);
	int64_t span = sonde_report_total_ns(r);

	return (sonde_op_stats){
		.name = node->text,
		.category = node->mixed ? "mixed" : trace_text(r->trace, node->category),
		.calls = s->calls,
		.total_ns = s->total_ns,
		.self_ns = s->self_ns,
		.avg_ns = stats_average(s),
		.min_ns = s->min_ns,
		.max_ns = s->max_ns,
		.std_ns = stats_deviation(s),
		.p50_ns = stats_percentile(s, 0.50),
		.p95_ns = stats_percentile(s, 0.95),
		.p99_ns = stats_percentile(s, 0.99),
		.percent = span > 0 ? 100.0 * (double)s->total_ns / (double)span : 0,
		.flops = work.flops,
		.bytes = work.bytes,
		.memory_known = r->profile->memory.n && !work.is_memory_unknown,
		.allocated_bytes = work.memory.allocated_bytes,
		.freed_bytes = work.memory.freed_bytes,
		.peak_bytes = work.memory.peak_bytes,
	};
}

static bool list_ops(sonde_report *r)
{
	r->ops = calloc(r->profile->nodes.n + 1, sizeof *r->ops);
	if (!r->ops)
		return false;
	for (size_t i = 0; i < r->profile->nodes.n; i++)
		if (r->profile->nodes.items[i].stats.calls)
			r->ops[r->n_ops++] = op_stats(r, &r->profile->nodes.items[i]);
	if (r->n_ops)
		qsort(r->ops, r->n_ops, sizeof *r->ops, compare_self);
	return true;
}

static sonde_status report_new(const char *path, int64_t from_ns, int64_t to_ns, sonde_report **ret_report,
			       sonde_error *err)
{
	profile_options options = { .shape = PROFILE_FLAT, .from_ns = from_ns, .to_ns = to_ns };
	sonde_report *r = calloc(1, sizeof *r);

	if (!r)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	r->from_ns = from_ns;
	r->to_ns = to_ns;
	sonde_status status = sonde_trace_open(path, &r->trace, err);
	bool is_whole = !status && from_ns <= r->trace->start_ns;
	if (is_whole) /* nothing lies outside, though the clock of a short recording may put it there */
		options.from_ns = options.to_ns = r->from_ns = r->to_ns = 0;
	if (!status)
		status = profile_new(r->trace, &options, &r->profile, err);
	if (!status && is_whole && to_ns) {
		r->profile->start_ns = from_ns;
		r->profile->end_ns = to_ns;
		r->profile->span_ns = to_ns - from_ns;
	}
	if (!status && !list_ops(r))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (status) {
		sonde_report_free(r);
		return status;
	}
	*ret_report = r;
	return SONDE_OK;
}

sonde_status sonde_report_open(const char *path, sonde_report **ret_report, sonde_error *err)
{
	return report_new(path, 0, 0, ret_report, err);
}

sonde_status sonde_report_analyze(sonde_report *r, const char *name, const sonde_analyze_options *options,
				  sonde_result **ret_result, sonde_error *err)
{
	sonde_analyze_options o = { .struct_size = sizeof o };
	const sonde_trace *t = r->trace;
	bool is_part = r->to_ns && (r->from_ns > t->start_ns || r->to_ns < t->end_ns);

	if (options && options->struct_size)
		memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
	o.struct_size = sizeof o;
	if (is_part && !o.use_time) {
		o.use_time = true;
		o.from_ns = r->from_ns > t->start_ns ? r->from_ns - t->start_ns : 0;
		o.to_ns = r->to_ns - t->start_ns;
		o.warmup = o.warmup || o.use_steps ? o.warmup : "auto";
	}
	return sonde_analyze(r->trace, name, &o, ret_result, err);
}

int64_t sonde_report_total_ns(const sonde_report *r)
{
	return r->profile->end_ns - r->profile->start_ns;
}

size_t sonde_report_n_ops(const sonde_report *r)
{
	return r->n_ops;
}

const sonde_op_stats *sonde_report_op(const sonde_report *r, size_t index)
{
	return index < r->n_ops ? &r->ops[index] : NULL;
}

size_t sonde_report_hotspots(const sonde_report *r, const sonde_op_stats **ret_ops, size_t n)
{
	if (n > r->n_ops)
		n = r->n_ops;
	for (size_t i = 0; i < n; i++)
		ret_ops[i] = &r->ops[i];
	return n;
}

static const profile_memory *memory_of(const sonde_report *r, sonde_device device)
{
	for (size_t i = 0; i < r->profile->memory.n; i++)
		if (r->profile->memory.items[i]->id == device)
			return r->profile->memory.items[i];
	return NULL;
}

size_t sonde_report_peak_bytes(const sonde_report *r, sonde_device device)
{
	const profile_memory *m = memory_of(r, device);

	return m ? (size_t)m->peak_bytes : 0;
}

size_t sonde_report_memory(const sonde_report *r, sonde_device device, sonde_memory_point *ret_points, size_t n)
{
	const profile_memory *m = memory_of(r, device);
	int64_t times[PROFILE_POINTS];
	uint64_t peaks[PROFILE_POINTS];

	n = m ? profile_timeline(r->profile, m, times, peaks, n) : 0;
	for (size_t i = 0; i < n; i++)
		ret_points[i] = (sonde_memory_point){ times[i], (size_t)peaks[i] };
	return n;
}

void sonde_report_print(const sonde_report *r, FILE *out, unsigned n)
{
	sonde_analyze_options options = { .struct_size = sizeof options, .top = n };
	sonde_result *result = result_new("report");

	if (result && !report_run_profile(r->profile, &options, result, NULL))
		sonde_result_print(result, SONDE_TEXT, NULL, out, NULL);
	sonde_result_free(result);
}

void sonde_report_free(sonde_report *r)
{
	if (!r)
		return;
	free(r->ops);
	profile_free(r->profile);
	sonde_trace_free(r->trace);
	free(r);
}
