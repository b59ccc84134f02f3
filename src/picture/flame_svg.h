/* A flame graph as a picture that any viewer shows: no scripts; what a frame is shows when the pointer rests on it. */
#ifndef SONDE_PICTURE_FLAME_SVG_H
#define SONDE_PICTURE_FLAME_SVG_H

#include <stdio.h>
#include "analyze/flame/flame.h"

/* name: of the trace, or NULL. */
sonde_status flame_svg(const flame *f, const flame_options *how, const char *name, FILE *out, sonde_error *err);

#endif
