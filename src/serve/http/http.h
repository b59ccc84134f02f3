/* Connections and their deadlines; one request at a time on each. */
#ifndef SONDE_SERVE_HTTP_HTTP_H
#define SONDE_SERVE_HTTP_HTTP_H

#include "serve/routes.h"

enum {
	HTTP_CONNECTIONS = 64,
	HTTP_STREAMS = 16, /* of them, for events */
	HTTP_HEADERS = 32 * 1024,
	HTTP_HEADER_SECONDS = 10, /* for the whole of them */
	HTTP_IDLE_SECONDS = 30,
	HTTP_BODY_RATE = 256 * 1024, /* bytes a second that a body comes in with at least, after HTTP_IDLE_SECONDS */
};

/* A connection, until it is closed. */
typedef struct http_connection {
	int fd;
	int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
	struct http_connection *next, *previous;
} http_connection;

#endif
