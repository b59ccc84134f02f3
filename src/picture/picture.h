/*
 * Self-contained pages: views of the dashboard with the answers of the server inside.
 *
 *   picture m;
 *   picture_begin(&m, trace, options, &err)      a server without a network, for the handlers
 *   picture_answer(&m, "/sessions/1/tracks")     what it answers there, kept for the page
 *   picture_end(&m, "timeline", out, &err)       the page; frees everything
 *
 * m.data is the object that the page reads (web/src/file/source.ts), with "answers" open until picture_more().
 */
#ifndef SONDE_PICTURE_PICTURE_H
#define SONDE_PICTURE_PICTURE_H

#include "serve/part.h"
#include "serve/routes.h"
#include <sonde/picture.h>

enum { PICTURE_BYTES = 4 << 20 };

typedef VEC(uint8_t) picture_bytes;

typedef struct picture {
	sonde_server server;
	session session;
	opened opened;
	session *sessions[1];
	sonde_picture_options options;
	const sonde_index *ix;
	trace_part part; /* what the answers have */
	char *bytes;
	size_t len;
	FILE *stream;
	json_writer data;
	char note[1600]; /* what is missing or was left out */
	bool failed;	 /* out of memory */
} picture;

/* What is given of the options, the rest 0. SONDE_E_STATE: the trace has no index. */
sonde_status picture_options(const sonde_trace *trace, const sonde_picture_options *given, sonde_picture_options *ret,
			     sonde_error *err);
/* SONDE_E_STATE also where the page was not built. */
sonde_status picture_begin(picture *m, const sonde_trace *trace, const sonde_picture_options *given, sonde_error *err);
void picture_answer(picture *m, const char *path);		 /* below /api/v1, under its own name */
void picture_put(picture *m, const char *key, const char *path); /* the answer as a member of this name */
void picture_more(picture *m);					 /* no more answers; other members follow */
sonde_status picture_end(picture *m, const char *views, FILE *out, sonde_error *err);
/* All of it: fill() writes the members behind picture_begin() within m->options.max_bytes, about. Where that becomes
   more than max_bytes of the options it is done again with less. */
typedef sonde_status picture_fill(picture *m, const void *context, sonde_error *err);
sonde_status picture_write(const sonde_trace *trace, const sonde_picture_options *options, const char *views,
			   picture_fill *fill, const void *context, FILE *out, sonde_error *err);
/* A number as 7 bits a byte, the lowest first. False when out of memory. */
bool picture_number(picture_bytes *to, uint64_t value);
bool picture_signed(picture_bytes *to, int64_t value); /* 0, -1, 1, -2 ... as 0, 1, 2, 3 ... */
/* The bytes in base64 as a member of this name. False when out of memory. */
bool picture_base64(json_writer *w, const char *key, const picture_bytes *bytes);
/* " (sentence)" to the note. */
void picture_note(picture *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Notes how much of the trace m->part leaves out. */
void picture_note_part(picture *m);

#endif
