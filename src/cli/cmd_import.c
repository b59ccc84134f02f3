/* sonde import: another tool's trace as a file that opens at once. */
#include "cli/import.h"

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	import_request r = { .files = argv };

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[r.n_files++] = argv[o.at - 1];
		else if (id < 0 || !import_option(&r, &o, id))
			return options_exit_code(id);
	}
	return import_run(self, &r);
}

const command import_command = {
	.name = "import",
	.group = "share",
	.summary = "Convert a trace to a .sonde file that opens at once",
	.usage = "[-o FILE] FILE...",
	.examples = { "sonde import trace.json.gz", "sonde import -o run.sonde rank0.json rank1.json",
		      "sonde import -o trace.sonde - < trace.json.gz" },
	.options = import_options,
	.run = run,
};
