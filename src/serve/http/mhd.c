/* See mhd.h. */
#include "serve/http/mhd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include "base/error.h"

#define MHD_FILE "libmicrohttpd.so.12"

mhd_functions mhd;
static bool is_loaded;

static void load(void)
{
	void *library = dlopen(MHD_FILE, RTLD_NOW | RTLD_LOCAL);
	bool ok = library != NULL;

	/* Copied: C has no way from a pointer to data to one to a function. */
#define FUNCTION(name)                                                                                                 \
	if (ok) {                                                                                                      \
		void *found = dlsym(library, "MHD_" #name);                                                            \
		memcpy(&mhd.name, &found, sizeof found);                                                               \
		ok = found != NULL;                                                                                    \
	}
	MHD_FUNCTIONS(FUNCTION)
#undef FUNCTION
	is_loaded = ok;
}

sonde_status mhd_load(sonde_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return is_loaded ? SONDE_OK
			 : error_set(err, SONDE_E_UNSUPPORTED, -1,
				     "%s is missing; on Debian and Ubuntu: apt install libmicrohttpd12", MHD_FILE);
}
