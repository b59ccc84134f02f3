/*
 * Loads a library, calls its plugin_work and unloads it, N times. The library's names are gone from memory when the
 * recording is written.
 *
 *   prog_loader LIBRARY N
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sonde/record.h>

static int load_once(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*work)(void) = NULL;

	if (library)
		*(void **)&work = dlsym(library, "plugin_work");
	if (!work) {
		printf("%s\n", dlerror());
		return 1;
	}
	{
		SONDE_SCOPE("load");
		work();
	}
	return dlclose(library);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 3)
		return 2;
	for (int i = 0, n = atoi(argv[2]); i < n && !failed; i++)
		failed = load_once(argv[1]);
	return failed ? 1 : 3;
}
