/*
 * libmicrohttpd, loaded when the first server starts. Nothing else needs it, and it brings a TLS library with it: other
 * commands would start later, and programs that use libsonde for their reports would carry both.
 *
 *   mhd_load(&err)            once; then
 *   mhd.queue_response(...)   is MHD_queue_response()
 */
#ifndef SONDE_SERVE_HTTP_MHD_H
#define SONDE_SERVE_HTTP_MHD_H

#include <microhttpd.h>
#include <sonde/error.h>

#define MHD_FUNCTIONS(FUNCTION)                                                                                        \
	FUNCTION(start_daemon)                                                                                         \
	FUNCTION(stop_daemon)                                                                                          \
	FUNCTION(get_connection_info)                                                                                  \
	FUNCTION(get_connection_values)                                                                                \
	FUNCTION(lookup_connection_value)                                                                              \
	FUNCTION(create_response_from_buffer)                                                                          \
	FUNCTION(create_response_from_callback)                                                                        \
	FUNCTION(add_response_header)                                                                                  \
	FUNCTION(queue_response)                                                                                       \
	FUNCTION(destroy_response)

typedef struct mhd_functions {
#define FUNCTION(name) __typeof__(&MHD_##name) name;
	MHD_FUNCTIONS(FUNCTION)
#undef FUNCTION
} mhd_functions;

extern mhd_functions mhd; /* the same for all servers, once loaded */

sonde_status mhd_load(sonde_error *err);

#endif
