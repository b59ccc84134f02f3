/*
 * The server of the dashboard: traces over HTTP, for a browser on this machine. Needs libsonde. docs/api.md has the
 * API.
 *
 *   sonde_server_start(paths, n_paths, &options, &server, &err);
 *   printf("%s\n", sonde_server_url(server));
 *   ...
 *   sonde_server_stop(server);
 *
 * The server runs in its own threads. Any thread may call these functions, one at a time. The server handles SIGBUS for
 * its mapped files, which other programs may truncate; other faults go to the previous handler.
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

/* Set struct_size to sizeof(sonde_serve_options); all other fields may be 0. Strings are borrowed for the call. */
typedef struct sonde_serve_options {
	size_t struct_size;
	const char *address; /* an address of this machine; NULL: "127.0.0.1" */
	uint16_t port;	     /* 0: any free port */
	bool allow_remote;   /* allows an address that other machines can reach */
	/* Further accepted values of the Host header, "name" or "name:port", for a tunnel or a proxy. */
	const char *const *hosts;
	size_t n_hosts;
	uint64_t upload_bytes; /* size limit of an upload; 0: 4 GiB */
	int64_t query_ns;      /* time limit of an SQL statement; 0: 10 s */
} sonde_serve_options;

/*
 * Serves traces, each a path for sonde_trace_open(). For a directory it serves each trace in it; the directory as a
 * whole, if its files are ranks; and each subdirectory that holds traces. Files are opened at the first request. Fails
 * if the address is in use or a path does not exist. options may be NULL. The caller stops *ret_server.
 */
SONDE_API sonde_status sonde_server_start(const char *const *paths, size_t n_paths, const sonde_serve_options *options,
					  sonde_server **ret_server, sonde_error *err);

/* Returns the address with the token that admits a browser: keep it secret. Lives as long as the server. */
SONDE_API const char *sonde_server_url(const sonde_server *server);

/* Returns false if this library was built without the page: the server then has only its API. */
SONDE_API bool sonde_server_has_page(const sonde_server *server);

/* Ends all requests, removes uploads and frees the server. Accepts NULL. */
SONDE_API void sonde_server_stop(sonde_server *server);

#ifdef __cplusplus
}
#endif
#endif
