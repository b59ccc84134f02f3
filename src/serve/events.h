/* What changes, as it changes: an answer that does not end (server-sent events). */
#ifndef SONDE_SERVE_EVENTS_H
#define SONDE_SERVE_EVENTS_H

#include "serve/routes.h"

struct MHD_Response;

/* NULL: refused, the reply says why. */
struct MHD_Response *events_response(sonde_server *s, reply *out);

#endif
