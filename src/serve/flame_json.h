/* A flame graph as the page reads it. */
#ifndef SONDE_SERVE_FLAME_JSON_H
#define SONDE_SERVE_FLAME_JSON_H

#include "analyze/flame/flame.h"
#include "base/json_write.h"

/* An object; names get new numbers. has_base: it is compared with another. False when out of memory. */
bool put_flame(json_writer *w, flame *f, const flame_options *how, bool has_base, const sonde_index *ix);

#endif
