/*
 * What people write about a trace: notes on a stretch of time, views of the page, the trace's name.
 *
 * They are kept in a small SQLite file beside the trace, PATH.notes.sqlite, which is made when there is something to
 * keep. Where it cannot be written they live in memory. Somebody else's file is bounded like any other input.
 *
 * May be used by several threads.
 */
#ifndef SONDE_SERVE_NOTES_H
#define SONDE_SERVE_NOTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sonde/error.h>

typedef struct notes notes;

enum { NOTES_MAX = 10000, NOTES_TEXT_MAX = 10000 };

typedef enum notes_kind { NOTES_NOTE, NOTES_VIEW } notes_kind;

/* A note has times and a text; a view a name and a state. Unused ones are 0 or NULL. */
typedef struct notes_entry {
	int64_t id;
	int64_t from_ns, to_ns;
	int64_t created; /* seconds since 1970 */
	const char *text;
	const char *name;
} notes_entry;

notes *notes_new(const char *trace_path); /* NULL: in memory. Returns NULL when out of memory */
void notes_free(notes *n);		  /* accepts NULL */
bool notes_are_kept(notes *n);		  /* in a file */

typedef void notes_each(void *context, const notes_entry *entry);
sonde_status notes_list(notes *n, notes_kind kind, notes_each *each, void *context, sonde_error *err);
/* Sets id and created. SONDE_E_USAGE: there are too many already. */
sonde_status notes_add(notes *n, notes_kind kind, notes_entry *entry, sonde_error *err);
sonde_status notes_delete(notes *n, notes_kind kind, int64_t id, bool *ret_found, sonde_error *err);

/* malloc'ed; NULL: none was given. */
char *notes_name(notes *n);
sonde_status notes_set_name(notes *n, const char *name, sonde_error *err);

#endif
