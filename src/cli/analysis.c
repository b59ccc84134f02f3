/* See analysis.h. */
#include "cli/analysis.h"

#include <malloc.h>
#include <string.h>
#include <sonde/picture.h>

#include "cli/progress.h"
#include "cli/select.h"

int trace_open(const command *c, char *const *files, size_t n_files, const output *to, sonde_trace **ret_trace)
{
	sonde_error err = { .position = -1 };
	progress p;

	if (n_files == 0)
		return say_usage(c, "no FILE given");
	int code = output_check(to, files, n_files);
	if (code != EXIT_OK)
		return code;
	progress_begin(&p, "reading", files, n_files);
	sonde_open_options how = { .struct_size = sizeof how, .progress = progress_update, .context = &p };
	sonde_status status = sonde_trace_open_with((const char *const *)files, n_files, &how, ret_trace, &err);
	progress_end(&p);
	if (status)
		return say_error(n_files == 1 ? files[0] : NULL, status, &err);
	if (*sonde_trace_warning(*ret_trace))
		say("%s", sonde_trace_warning(*ret_trace));
	return EXIT_OK;
}

int trace_close(sonde_trace *trace, const char *file, int code)
{
	sonde_error err = { .position = -1 };
	sonde_status status = trace ? sonde_trace_damage(trace, &err) : SONDE_OK;

	if (status) {
		int damaged = say_error(file, status, &err);
		code = code == EXIT_OK ? damaged : code;
	}
	sonde_trace_free(trace);
	return code;
}

/* Those that were there before traces had an index do without; the others find nothing in a recording that has none. */
/* What one analysis gives back the next one takes: memory that is new costs the kernel as much as it costs us to fill
   it. Not before the trace is read: growing arrays are better moved by the kernel than copied. The arrays of a trace
   with hundreds of millions of slices go back to the system, so that memory is what is in use, without holes. */
static void keep_memory(void)
{
	enum { LARGE = 48 << 20, KEPT = 128 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, KEPT);
}

/* A page of a report has a flame graph of what was chosen. */
static sonde_status add_picture(sonde_result *result, const char *name, sonde_trace *trace,
				const sonde_analyze_options *what, const output *to, sonde_error *err)
{
	sonde_picture_options how = { .struct_size = sizeof how,
				      .use_steps = what->use_steps,
				      .first_step = what->first_step,
				      .last_step = what->last_step,
				      .ranks = what->ranks,
				      .use_time = what->use_time,
				      .from_ns = what->from_ns,
				      .to_ns = what->to_ns,
				      .n_warmup = (uint64_t)sonde_result_value(result, "n_warmup_steps").integer };

	if (to->format != SONDE_HTML || strcmp(name, "report") != 0)
		return SONDE_OK;
	return sonde_flame_add(result, trace, &how, err);
}

int analysis_run(const command *c, const char *name, char *const *files, size_t n_files,
		 const sonde_analyze_options *what, output *to)
{
	sonde_trace *trace = NULL;
	sonde_result *result = NULL;
	sonde_error err = { .position = -1 };
	int code = output_choose(to, c);

	if (code == EXIT_OK)
		code = trace_open(c, files, n_files, to, &trace);
	if (code != EXIT_OK)
		return code;
	keep_memory();
	sonde_status status = sonde_analyze(trace, name, what, &result, &err);
	if (!status)
		status = add_picture(result, name, trace, what, to, &err);
	const char *file = n_files == 1 && status != SONDE_E_USAGE ? files[0] : NULL;
	code = status ? say_error(file, status, &err) : output_print(to, result);
	sonde_result_free(result);
	return trace_close(trace, n_files == 1 ? files[0] : NULL, code);
}

int analysis_run_plain(const command *c, int argc, char **argv)
{
	options o = options_begin(c, argc, argv);
	selection s = selection_begin();
	output to = { 0 };
	size_t n_files = 0;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !(selection_takes(id) ? selection_option(&s, &o, id) : output_option(&to, &o, id)))
			return options_exit_code(id);
	}
	if (!selection_end(&s, c))
		return EXIT_USAGE;
	return analysis_run(c, c->name, argv, n_files, &s.options, &to);
}
