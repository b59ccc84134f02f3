/* Analyses by name, and whether the options make sense for them. */
#include "analyze/analysis.h"

#include <string.h>
#include "analyze/tables/step_list.h"
#include "analyze/tables/warmup.h"
#include "analyze/tables/work.h"
#include "base/error.h"

#define ANALYSIS(name) &name##_analysis,
static const analysis *const analyses[] = {
#include "analyze/analyses.def"
};
#undef ANALYSIS
enum { N_ANALYSES = sizeof analyses / sizeof analyses[0] };

static const analysis *find(const char *name)
{
	for (size_t i = 0; i < N_ANALYSES; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

bool sonde_analysis(size_t index, const char **ret_name, const char **ret_summary)
{
	if (index >= N_ANALYSES)
		return false;
	*ret_name = analyses[index]->name;
	*ret_summary = analyses[index]->summary;
	return true;
}

/* Its own, and that of its other definitions behind them. */
static const setting_def *setting_at(const analysis *a, size_t index)
{
	size_t n = 0;

	while (a->setting && n <= index && a->setting(n))
		n++;
	if (n > index)
		return a->setting(index);
	return a->compat && n == index ? &compat_memory_setting : NULL;
}

bool sonde_analysis_setting(const char *name, size_t index, sonde_setting *ret_default, const char **ret_summary)
{
	const analysis *a = find(name);
	const setting_def *def = a ? setting_at(a, index) : NULL;

	if (!def)
		return false;
	*ret_default = (sonde_setting){ .key = def->key, .value = def->standard };
	*ret_summary = def->summary;
	return true;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* word is one of the words of the list. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == len && memcmp(at, word, n) == 0)
			return true;
		at += n;
	}
	return false;
}

static const setting_def *find_setting(const analysis *a, const char *key)
{
	const setting_def *def = NULL;

	for (size_t i = 0; (def = setting_at(a, i)); i++)
		if (strcmp(def->key, key) == 0)
			return def;
	return NULL;
}

static sonde_status check_setting(const analysis *a, const sonde_setting *given, sonde_error *err)
{
	const setting_def *def = find_setting(a, given->key);
	const char *needs;
	double value;

	if (!def && !setting_at(a, 0))
		return error_set(err, SONDE_E_USAGE, -1, "%s has no settings, so no \"%s\"", a->name, given->key);
	if (!def)
		return error_set(err, SONDE_E_USAGE, -1, "%s has no setting \"%s\"; sonde analyze %s --list lists them",
				 a->name, given->key, a->name);
	if (!setting_parse(def, given->value, &value, &needs))
		return error_set(err, SONDE_E_USAGE, -1, "%s needs %s, not \"%s\"", given->key, needs, given->value);
	return SONDE_OK;
}

static sonde_status check_options(const analysis *a, const sonde_trace *trace, const sonde_analyze_options *o,
				  sonde_error *err)
{
	sonde_status status = o->ranks ? ranks_check(trace, o->ranks, err) : SONDE_OK;

	if (status)
		return status;
	if (o->use_time && o->from_ns >= o->to_ns)
		return error_set(err, SONDE_E_USAGE, -1, "the selected time ends before it begins");
	if (o->warmup && !warmup_is_rule(o->warmup))
		return error_set(err, SONDE_E_USAGE, -1,
				 "unknown warm-up \"%s\": expected auto, none or a number of steps", o->warmup);
	if (o->compat && !has_word(a->compat, o->compat))
		return error_set(err, SONDE_E_USAGE, -1, "%s has no definitions of \"%s\"%s%s", a->name, o->compat,
				 a->compat ? ", but of " : "", a->compat ? a->compat : "");
	for (size_t i = 0; i < o->n_settings; i++) {
		status = check_setting(a, &o->settings[i], err);
		if (status)
			return status;
	}
	return SONDE_OK;
}

sonde_status sonde_analyze(const sonde_trace *trace, const char *name, const sonde_analyze_options *options,
			   sonde_result **ret_result, sonde_error *err)
{
	sonde_analyze_options given = { .struct_size = sizeof given };
	const analysis *found = find(name);

	if (!found)
		return error_set(err, SONDE_E_USAGE, -1, "no analysis \"%s\"", name);
	if (options && options->struct_size)
		memcpy(&given, options, options->struct_size < sizeof given ? options->struct_size : sizeof given);
	sonde_status status = check_options(found, trace, &given, err);
	if (status)
		return status;
	sonde_result *r = result_new(found->name);
	if (!r)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	r->summary = found->summary;
	if (found->about_file && (given.use_steps || given.use_time || given.ranks || given.warmup))
		result_note_add(r, "note", "this analysis covers the whole file; steps, ranks and times are ignored");
	if (found->keeps_warmup && !given.warmup)
		given.warmup = "none";
	status = found->about_file ? SONDE_OK : warmup_find(trace, &given, r, err);
	if (!status)
		status = found->work ? work_run(found->work, trace, &given, r, err) : found->run(trace, &given, r, err);
	if (!status)
		result_note_losses(r, trace);
	if (!status && !result_ok(r))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (status) {
		sonde_result_free(r);
		return status;
	}
	*ret_result = r;
	return SONDE_OK;
}
