/* See warmup.h. */
#include "analyze/tables/warmup.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/medians.h"
#include "analyze/math/stats.h"
#include "analyze/tables/step_list.h"
#include "base/error.h"
#include "base/format_number.h"

enum { LEAST_STEPS = 4 };

static size_t find_end(const int64_t *dur_ns, size_t n)
{
	size_t half = n / 2, i = 0;
	int64_t *later = malloc((n - half) * sizeof *later);

	if (!later)
		return SIZE_MAX;
	memcpy(later, dur_ns + half, (n - half) * sizeof *later);
	summary s = summary_of(later, n - half);
	free(later);
	while (i < half && (double)dur_ns[i] > 1.1 * s.median && (double)dur_ns[i] > s.median + 3 * 1.4826 * s.mad)
		i++;
	return i;
}

bool warmup_is_rule(const char *text)
{
	return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 ||
	       (*text && text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 9);
}

size_t warmup_steps(const char *rule, const int64_t *dur_ns, size_t n)
{
	if (rule && strcmp(rule, "none") == 0)
		return 0;
	if (rule && strcmp(rule, "auto") != 0) {
		unsigned long given = strtoul(rule, NULL, 10);
		return n == 0 ? 0 : given < n ? given : n - 1;
	}
	return n < LEAST_STEPS ? 0 : find_end(dur_ns, n);
}

/* ---- Of a trace -------------------------------------------------------------------------------------------------- */

size_t warmup_given(const sonde_analyze_options *o)
{
	return o->warmup && !o->use_steps ? strtoul(o->warmup, NULL, 10) : 0;
}

static void tell(sonde_result *r, const char *rule, size_t n, int64_t ns)
{
	bool is_auto = !rule || strcmp(rule, "auto") == 0;
	char time[NUMBER_TEXT];

	result_add(r, "n_warmup_steps", cell_count(n));
	if (n)
		result_note_add(r, "warm-up", "%s skipped (%s)%s; --warmup none keeps %s",
				n == 1 ? "the first step is" : result_format(r, "the first %zu steps are", n),
				format_ns(time, ns), is_auto ? ": 10 % and three deviations above the later ones" : "",
				n == 1 ? "it" : "them");
}

/* Of the first rank that has steps; the same number for all of them. */
static sonde_status count(const step_list *steps, const char *rule, size_t *ret_n, int64_t *ret_ns, sonde_error *err)
{
	size_t n = 0;

	while (n < steps->n && steps->items[n].rank == steps->items[0].rank)
		n++;
	int64_t *dur_ns = malloc((n + 1) * sizeof *dur_ns);
	for (size_t i = 0; dur_ns && i < n; i++)
		dur_ns[i] = steps->items[i].dur_ns;
	*ret_n = dur_ns ? warmup_steps(rule, dur_ns, n) : SIZE_MAX;
	for (size_t i = 0; *ret_n != SIZE_MAX && i < *ret_n; i++)
		*ret_ns = add_bounded(*ret_ns, dur_ns[i]);
	free(dur_ns);
	return *ret_n == SIZE_MAX ? error_set(err, SONDE_E_MEMORY, -1, "out of memory") : SONDE_OK;
}

sonde_status warmup_find(const sonde_trace *trace, sonde_analyze_options *o, sonde_result *r, sonde_error *err)
{
	bool is_none = o->use_steps || (!o->warmup && (o->use_time || o->compat)) ||
		       (o->warmup && strcmp(o->warmup, "none") == 0);
	step_list steps = { 0 };
	size_t n = 0;
	int64_t ns = 0;
	sonde_status status = is_none ? SONDE_OK : step_list_load(trace, o->ranks, &steps, err);

	if (!status && steps.n)
		status = count(&steps, o->warmup, &n, &ns, err);
	VEC_DONE(&steps);
	if (!status)
		tell(r, o->warmup, n, ns);
	o->warmup = n ? result_format(r, "%zu", n) : "none";
	return status;
}
