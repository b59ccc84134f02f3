/* sonde merge: the traces of many ranks as one file, on one clock. */
#include <sys/stat.h>

#include "cli/import.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	import_request r = { .files = argv, .merge = true };

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[r.n_files++] = argv[o.at - 1];
		else if (id < 0 || !import_option(&r, &o, id))
			return options_exit_code(id);
	}
	if (r.n_files == 1 && !is_directory(r.files[0]))
		return say_usage(self, "needs at least two files, or a directory");
	return import_run(self, &r);
}

const command merge_command = {
	.name = "merge",
	.group = "share",
	.summary = "Merge the traces of many ranks into one file",
	.usage = "[-o FILE] FILE FILE... | DIRECTORY",
	.examples = { "sonde merge -o run.sonde rank0.json.gz rank1.json.gz", "sonde merge -o run.sonde traces/",
		      "sonde merge traces/" },
	.options = import_options,
	.run = run,
};
