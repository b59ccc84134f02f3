/*
 * Findings of a result; see result.h. Lists grow by doubling into new arena memory whenever their length is a power of
 * two, so that they need no capacity beside them in the public struct.
 */
#include "analyze/result/result.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *sonde_severity_name(sonde_severity severity)
{
	static const char *const names[] = { "low", "medium", "high", "critical" };

	return (unsigned)severity < sizeof names / sizeof *names ? names[severity] : "unknown";
}

/* The list with room for one more item of `size` bytes, or NULL. */
static void *grown(sonde_result *r, const void *items, size_t n, size_t size)
{
	if (!result_ok(r))
		return NULL;
	if (n & (n - 1)) /* between two powers of two there is room; at 0 and 1, 2, 4 ... there is none */
		return (void *)items;
	void *more = arena_alloc(&r->arena, (n ? 2 * n : 1) * size);
	r->failed = !more;
	if (more && n)
		memcpy(more, items, n * size);
	return more;
}

static const char *formatted(sonde_result *r, const char *format, va_list args)
{
	const char *text = result_ok(r) ? arena_vprintf(&r->arena, format, args) : NULL;

	if (r)
		r->failed = r->failed || !text;
	return text;
}

void result_expect_findings(sonde_result *r)
{
	r->has_findings = true;
}

/* Where a finding goes that nobody will see. Per thread, since its content does not matter but races do. */
static sonde_finding *dummy_finding(void)
{
	static __thread sonde_finding dummy;

	memset(&dummy, 0, sizeof dummy);
	return &dummy;
}

sonde_finding *result_finding(sonde_result *r, const char *rule, sonde_severity severity, const char *title_format, ...)
{
	sonde_finding *f = result_ok(r) ? arena_alloc(&r->arena, sizeof *f) : NULL;
	sonde_finding **list = f ? grown(r, r->findings, r->n_findings, sizeof *list) : NULL;
	va_list args;

	if (!list) {
		r->failed = true;
		return dummy_finding();
	}
	va_start(args, title_format);
	*f = (sonde_finding){
		.rule = rule,
		.severity = severity,
		.seconds_lost = -1,
		.share = -1,
		.confidence = 1,
		.title = formatted(r, title_format, args),
		.rank = -1,
	};
	va_end(args);
	if (!f->title)
		return dummy_finding();
	r->findings = list;
	r->findings[r->n_findings++] = f;
	r->has_findings = true;
	return f;
}

void finding_lost(sonde_finding *f, int64_t lost_ns, int64_t of_ns)
{
	f->seconds_lost = (double)lost_ns / 1e9;
	f->share = of_ns > 0 ? (double)lost_ns / (double)of_ns : -1;
}

static void add_text(sonde_result *r, const char *const **list, size_t *n, const char *text)
{
	const char **texts = text ? grown(r, *list, *n, sizeof *texts) : NULL;

	if (!texts)
		return;
	texts[(*n)++] = text;
	*list = texts;
}

void finding_evidence(sonde_result *r, sonde_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(r, &f->evidence, &f->n_evidence, formatted(r, format, args));
	va_end(args);
}

void finding_suggest(sonde_result *r, sonde_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	f->suggestion = formatted(r, format, args);
	va_end(args);
}

void finding_affects(sonde_result *r, sonde_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_affected; i++)
		if (strcmp(f->affected[i], name) == 0)
			return;
	add_text(r, &f->affected, &f->n_affected, result_string(r, name));
}

void finding_slice(sonde_result *r, sonde_finding *f, uint64_t slice_id)
{
	uint64_t *slices = grown(r, f->slices, f->n_slices, sizeof *slices);

	if (!slices)
		return;
	slices[f->n_slices++] = slice_id;
	f->slices = slices;
}

void finding_time(sonde_finding *f, int64_t from_ns, int64_t to_ns)
{
	f->from_ns = f->has_time && f->from_ns < from_ns ? f->from_ns : from_ns;
	f->to_ns = f->has_time && f->to_ns > to_ns ? f->to_ns : to_ns;
	f->has_time = true;
}

void finding_steps(sonde_finding *f, int64_t first, int64_t last)
{
	f->has_steps = true;
	f->first_step = first;
	f->last_step = last;
}

static int by_cost(const void *left, const void *right)
{
	const sonde_finding *a = *(sonde_finding *const *)left, *b = *(sonde_finding *const *)right;

	if (a->seconds_lost != b->seconds_lost)
		return a->seconds_lost > b->seconds_lost ? -1 : 1;
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	int order = strcmp(a->rule, b->rule);
	return order ? order : strcmp(a->title, b->title);
}

void result_rank_findings(sonde_result *r)
{
	if (r->n_findings > 1)
		qsort(r->findings, r->n_findings, sizeof(sonde_finding *), by_cost);
}

size_t sonde_result_n_findings(const sonde_result *result)
{
	return result->n_findings;
}

const sonde_finding *sonde_result_finding(const sonde_result *result, size_t index)
{
	return index < result->n_findings ? result->findings[index] : NULL;
}
