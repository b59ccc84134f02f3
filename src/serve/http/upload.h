/*
 * A trace that a browser sends, into a directory of the server's own that goes with it.
 *
 *   upload *u = upload_begin(server, &reply);      NULL: refused, the reply says why
 *   upload_write(u, max, bytes, len, &reply);      false: likewise
 *   upload_path(u), upload_keep(u);                it stays
 *   upload_abandon(u);                             always, in the end
 */
#ifndef SONDE_SERVE_HTTP_UPLOAD_H
#define SONDE_SERVE_HTTP_UPLOAD_H

#include "serve/http/reply.h"
#include "serve/server.h"

typedef struct upload upload;

upload *upload_begin(sonde_server *s, reply *out);
bool upload_write(upload *u, uint64_t max, const char *bytes, size_t len, reply *out);
const char *upload_path(const upload *u); /* NULL of NULL */
void upload_keep(upload *u);
/* Frees; removes the file unless it is kept. Accepts NULL. */
void upload_abandon(upload *u);
/* All of them, and the directory. */
void uploads_remove(sonde_server *s);

#endif
