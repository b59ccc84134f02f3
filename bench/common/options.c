/* The command line of a benchmark; see options.h. */
#include "common/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_usage(FILE *to, const char *program, const bench_option *options, size_t n)
{
	const char *slash = strrchr(program, '/');

	fprintf(to, "usage: %s", slash ? slash + 1 : program);
	for (size_t i = 0; i < n; i++)
		fprintf(to, " [%s%s]", options[i].name, options[i].text ? " TEXT" : options[i].number ? " N" : "");
	fputs("\nbench/README.md says what is measured.\n", to);
}

/* How many words it took; 0: it is wrong. */
static int read_option(const bench_option *o, const char *value)
{
	char *end = NULL;

	if (o->flag) {
		*o->flag = true;
		return 1;
	}
	if (!value)
		return 0;
	if (o->text) {
		*o->text = value;
		return 2;
	}
	*o->number = strtoul(value, &end, 10);
	return end != value && !*end && *o->number > 0 ? 2 : 0;
}

void options_read(int argc, char **argv, const bench_option *options, size_t n_options)
{
	for (int i = 1, taken; i < argc; i += taken) {
		size_t k = 0;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_usage(stdout, argv[0], options, n_options);
			exit(0);
		}
		while (k < n_options && strcmp(argv[i], options[k].name) != 0)
			k++;
		taken = k < n_options ? read_option(&options[k], argv[i + 1]) : 0;
		if (!taken) {
			print_usage(stderr, argv[0], options, n_options);
			exit(2);
		}
	}
}
