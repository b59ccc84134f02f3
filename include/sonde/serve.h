/*
 * The dashboard's server: traces over HTTP, to a browser on this machine. Needs libsonde. docs/api.md has the requests.
 *
 *   sonde_server_start(paths, n_paths, &options, &server, &err);
 *   printf("%s\n", sonde_server_url(server));
 *   ...
 *   sonde_server_stop(server);
 *
 * The server runs in threads of its own. Each function may be called by any thread, one at a time. It handles SIGBUS
 * for the files that it has mapped, which others may cut off; other faults go to the handler that was there before.
 */
#ifndef SONDE_SERVE_H
#define SONDE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_server sonde_server;

/* Set struct_size to sizeof(sonde_serve_options); everything else may stay 0. Strings are borrowed for the call. */
typedef struct sonde_serve_options {
	size_t struct_size;
	const char *address; /* an address of this machine; NULL: "127.0.0.1" */
	uint16_t port;	     /* 0: any that is free */
	bool allow_remote;   /* without it an address that other machines reach is refused */
	/* Other names, "name" or "name:port", that requests may come to: those of a tunnel or a proxy. */
	const char *const *hosts;
	size_t n_hosts;
	uint64_t upload_bytes; /* that one upload may have; 0: 4 GiB */
	int64_t query_ns;      /* that one statement of SQL may take; 0: 10 s */
} sonde_serve_options;

/*
 * Serves traces, each a path as sonde_trace_open() takes it. Of a directory the traces in it are served, each by
 * itself; the directory as a whole too, when its files are ranks, and so is each directory in it that holds traces.
 * Files are opened when somebody looks at them. Fails when the address is in use or a path does not exist. options may
 * be NULL.
 */
SONDE_API sonde_status sonde_server_start(const char *const *paths, size_t n_paths, const sonde_serve_options *options,
					  sonde_server **ret_server, sonde_error *err);

/* Where it is, with the token that lets a browser in: to be shown to nobody else. Lives as long as the server. */
SONDE_API const char *sonde_server_url(const sonde_server *server);

/* False: this library was built without the page, and the server has its API alone. */
SONDE_API bool sonde_server_has_page(const sonde_server *server);

/* Ends all requests and removes what was uploaded. Accepts NULL. */
SONDE_API void sonde_server_stop(sonde_server *server);

#ifdef __cplusplus
}
#endif
#endif
