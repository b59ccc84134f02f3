/* See analysis.h. */
#include "cli/analysis.h"

int trace_open(const command *c, char *const *files, size_t n_files, sonde_trace **ret_trace)
{
	sonde_error err = { .position = -1 };

	if (n_files == 0)
		return say_usage(c, "no FILE given");
	sonde_status status = n_files == 1
				      ? sonde_trace_open(files[0], ret_trace, &err)
				      : sonde_trace_open_files((const char *const *)files, n_files, ret_trace, &err);
	return status ? say_error(n_files == 1 ? files[0] : NULL, status, &err) : EXIT_OK;
}

int analysis_run(const command *c, char *const *files, size_t n_files, const sonde_analyze_options *what, output *to)
{
	sonde_trace *trace = NULL;
	sonde_result *result = NULL;
	sonde_error err = { .position = -1 };
	int code = trace_open(c, files, n_files, &trace);

	if (code != EXIT_OK)
		return code;
	sonde_status status = sonde_analyze(trace, c->name, what, &result, &err);
	sonde_trace_free(trace);
	const char *file = n_files == 1 && status != SONDE_E_USAGE ? files[0] : NULL;
	code = status ? say_error(file, status, &err) : output_print(to, result);
	sonde_result_free(result);
	return code;
}

int analysis_run_plain(const command *c, int argc, char **argv)
{
	options o = options_begin(c, argc, argv);
	output to = { 0 };
	size_t n_files = 0;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !output_option(&to, &o, id))
			return options_exit_code(id);
	}
	return analysis_run(c, argv, n_files, NULL, &to);
}
