/*
 * Exporters by name: <sonde/export.h>, and sonde_export() of <sonde/trace.h>.
 *
 * Options are checked before anything is written: the format, then its settings, then whether it can go to the target.
 */
#include "export/exporter.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/new_file.h"

#define EXPORTER(name) &name##_exporter,
static const exporter *const exporters[] = {
#include "export/exporters.def"
};
#undef EXPORTER
enum { N_EXPORTERS = sizeof exporters / sizeof exporters[0] };

static const exporter *find_exporter(const char *name)
{
	for (size_t i = 0; i < N_EXPORTERS; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}

/* ---- What there is ----------------------------------------------------------------------------------------------- */

bool sonde_export_format(size_t index, const char **ret_name, const char **ret_summary)
{
	if (index >= N_EXPORTERS)
		return false;
	*ret_name = exporters[index]->name;
	*ret_summary = exporters[index]->summary;
	return true;
}

bool sonde_export_describe(size_t index, sonde_export_about *ret_about)
{
	if (index >= N_EXPORTERS)
		return false;
	const exporter *e = exporters[index];
	sonde_export_about about = { .struct_size = sizeof about,
				     .name = e->name,
				     .summary = e->summary,
				     .ends = e->ends,
				     .targets = e->targets };
	size_t known = ret_about->struct_size < sizeof about ? ret_about->struct_size : sizeof about;
	memcpy((char *)ret_about + sizeof about.struct_size, (char *)&about + sizeof about.struct_size,
	       known > sizeof about.struct_size ? known - sizeof about.struct_size : 0);
	return true;
}

/* The index-th setting of the format, or NULL. */
static const setting_def *setting_at(const exporter *e, size_t index)
{
	const setting_def *def = e->settings;

	for (size_t i = 0; def && def->key && i < index; i++)
		def++;
	return def && def->key ? def : NULL;
}

bool sonde_export_setting(const char *format, size_t index, sonde_setting *ret_default, const char **ret_summary)
{
	const exporter *e = find_exporter(format);
	const setting_def *def = e ? setting_at(e, index) : NULL;

	if (!def)
		return false;
	*ret_default = (sonde_setting){ .key = def->key, .value = def->standard };
	*ret_summary = def->summary;
	return true;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* An older caller's struct is shorter: what it does not have is 0. */
static sonde_export_options known_options(const sonde_export_options *given)
{
	sonde_export_options o = { .struct_size = sizeof o };

	memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
	return o;
}

static sonde_status choose_exporter(const exporter **ret_exporter, const sonde_export_options *o,
				    const export_target *target, sonde_error *err)
{
	*ret_exporter = o->format ? find_exporter(o->format) : exporters[0];
	if (!*ret_exporter)
		return error_set(err, SONDE_E_USAGE, -1, "unknown export format \"%s\"", o->format);
	for (size_t i = 0; !o->format && i < N_EXPORTERS; i++)
		if (target_has_end(target, exporters[i]->ends)) {
			*ret_exporter = exporters[i];
			break;
		}
	return SONDE_OK;
}

static sonde_status check_setting(const exporter *e, const sonde_setting *given, sonde_error *err)
{
	const setting_def *def = NULL;
	const char *needs;
	double value;

	for (size_t i = 0; (def = setting_at(e, i)) && strcmp(def->key, given->key) != 0;)
		i++;
	if (!def && !e->settings)
		return error_set(err, SONDE_E_USAGE, -1, "%s has no settings, so no \"%s\"", e->name, given->key);
	if (!def)
		return error_set(err, SONDE_E_USAGE, -1, "%s has no setting \"%s\"; sonde export --list shows them",
				 e->name, given->key);
	if (!setting_parse(def, given->value, &value, &needs))
		return error_set(err, SONDE_E_USAGE, -1, "%s needs %s, not \"%s\"", given->key, needs, given->value);
	return SONDE_OK;
}

static sonde_status check_target(const exporter *e, const export_target *target, const char *text, sonde_error *err)
{
	const char *kind = target->kind == SONDE_TARGET_URL	    ? "a URL"
			   : target->kind == SONDE_TARGET_DIRECTORY ? "a directory"
								    : "a file";
	char words[TARGET_WORDS];

	if (e->targets & target->kind)
		return SONDE_OK;
	return error_set(err, SONDE_E_USAGE, -1, "%.200s is %s; %s can only be written to %s", text, kind, e->name,
			 target_words(words, e->targets));
}

static sonde_status check_options(const sonde_export_options *o, const exporter **ret_exporter,
				  export_target *ret_target, sonde_error *err)
{
	sonde_status status = target_parse(ret_target, o->target, err);

	if (!status)
		status = choose_exporter(ret_exporter, o, ret_target, err);
	for (size_t i = 0; !status && i < o->n_settings; i++)
		status = check_setting(*ret_exporter, &o->settings[i], err);
	if (!status)
		status = check_target(*ret_exporter, ret_target, o->target ? o->target : "-", err);
	return status;
}

sonde_status sonde_export_check(const sonde_export_options *options, sonde_target *ret_target, const char **ret_format,
				sonde_error *err)
{
	const sonde_export_options o = known_options(options);
	export_target target;
	const exporter *e;
	sonde_status status = check_options(&o, &e, &target, err);

	if (!status && ret_target)
		*ret_target = target.kind;
	if (!status && ret_format)
		*ret_format = e->name;
	return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Through the compressor, if the name of the target asks for one. */
static sonde_status run_compressed(const exporter *e, export_job job, sonde_error *err)
{
	compression kind = job.target->compression;
	FILE *file = job.out;

	if (kind == COMPRESSION_NONE)
		return e->run(&job, err);
	job.out = compressed_open(file, kind);
	if (!job.out)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	sonde_status status = e->run(&job, err);
	bool is_whole = fclose(job.out) == 0 && fflush(file) == 0;
	if (!status && !is_whole)
		status = error_set(err, SONDE_E_IO, -1, "cannot write the export");
	return status;
}

static sonde_status cannot_write(const char *path, sonde_error *err)
{
	return error_set(err, SONDE_E_IO, -1, "%.300s: cannot write: %s", path, strerror(errno));
}

static sonde_status run_to_file(const exporter *e, export_job job, sonde_error *err)
{
	new_file f;

	if (!new_file_open(&f, job.target->path))
		return cannot_write(job.target->path, err);
	int fd = dup(f.fd);
	job.out = fd < 0 ? NULL : fdopen(fd, "w");
	sonde_status status = job.out ? run_compressed(e, job, err) : cannot_write(job.target->path, err);
	if (job.out && fclose(job.out) != 0 && !status)
		status = cannot_write(job.target->path, err);
	else if (!job.out && fd >= 0)
		close(fd);
	if (status)
		new_file_abandon(&f);
	else if (!new_file_commit(&f))
		status = cannot_write(job.target->path, err);
	return status;
}

sonde_status sonde_export_to(const sonde_trace *trace, const sonde_export_options *options, sonde_error *err)
{
	const sonde_export_options o = known_options(options);
	export_target target;
	const exporter *e;
	sonde_status status = check_options(&o, &e, &target, err);

	if (status)
		return status;
	export_job job = { .trace = trace, .target = &target, .settings = o.settings, .n_settings = o.n_settings };
	if (target.kind != SONDE_TARGET_FILE)
		return e->run(&job, err);
	job.out = o.out ? o.out : target.path ? NULL : stdout;
	return job.out ? run_compressed(e, job, err) : run_to_file(e, job, err);
}

sonde_status sonde_export(const sonde_trace *trace, const char *format, FILE *out, sonde_error *err)
{
	return sonde_export_to(
		trace,
		&(sonde_export_options){ .struct_size = sizeof(sonde_export_options), .format = format, .out = out },
		err);
}
