/* What people write about a trace. */
#ifndef SONDE_SERVE_NOTES_H
#define SONDE_SERVE_NOTES_H

typedef struct notes notes;

#endif
