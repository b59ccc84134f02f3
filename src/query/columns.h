/* Columns that several tables have: what a row's site and track say. */
#ifndef SONDE_QUERY_COLUMNS_H
#define SONDE_QUERY_COLUMNS_H

#include "query/table.h"

/* which: of a site. */
enum { SITE_NAME, SITE_CATEGORY, SITE_CLASS, SITE_CALLS, SITE_TOTAL, SITE_SELF, SITE_MIN, SITE_MAX };
/* which: of a track. */
enum {
	TRACK_NUMBER,
	TRACK_KIND,
	TRACK_NAME,
	TRACK_TID,
	TRACK_PID,
	TRACK_PROCESS_NAME,
	TRACK_RANK,
	TRACK_STREAM_NUMBER,
	TRACK_DEVICE,
	TRACK_CATEGORY,
	TRACK_PROCESS_NUMBER,
	TRACK_SORT,
	TRACK_LANES,
	TRACK_SLICES
};

void get_site(query_cursor *c, uint64_t site, unsigned which, query_cell *ret_cell);
void get_track(query_cursor *c, uint64_t track, unsigned which, query_cell *ret_cell);

/* The row's own number. */
void get_number(query_cursor *c, uint64_t number, unsigned which, query_cell *ret_cell);
/* A string of the index; NULL for INDEX_NONE. */
void cell_string_of(const query_cursor *c, uint32_t string, query_cell *ret_cell);
/* JSON of an args record + 1; NULL when it has none. */
void cell_args(query_cursor *c, uint64_t args, query_cell *ret_cell);
/* A number that may be missing: as the index has it, -1 is unknown. */
void cell_known(query_cell *ret_cell, int64_t value);

#define COLUMN(name_, type_, of_, get_, which_, summary_)                                                              \
	{                                                                                                              \
		.name = name_, .type = type_, .of = of_, .get = get_, .which = which_, .summary = summary_             \
	}
#define KEY_COLUMN(name_, key_, get_, which_, summary_)                                                                \
	{                                                                                                              \
		.name = name_, .type = "INTEGER", .of = OF_ROW, .key = key_, .get = get_, .which = which_,             \
		.summary = summary_                                                                                    \
	}

#define SITE_COLUMNS                                                                                                   \
	COLUMN("name", "TEXT", OF_SITE, get_site, SITE_NAME, "name"),                                                  \
		COLUMN("category", "TEXT", OF_SITE, get_site, SITE_CATEGORY, "as in the trace"),                       \
		COLUMN("class", "TEXT", OF_SITE, get_site, SITE_CLASS,                                                 \
		       "compute, memory, data-load, sync, communication, runtime, kernel, copy, python, annotation, "  \
		       "phase, step, overhead or other")

#define TRACK_COLUMNS                                                                                                  \
	COLUMN("track", "INTEGER", OF_TRACK, get_track, TRACK_NUMBER, "tracks.id"),                                    \
		COLUMN("track_kind", "TEXT", OF_TRACK, get_track, TRACK_KIND, "thread, stream, async or process"),     \
		COLUMN("track_name", "TEXT", OF_TRACK, get_track, TRACK_NAME, "name of the thread or stream"),         \
		COLUMN("tid", "NUMERIC", OF_TRACK, get_track, TRACK_TID,                                               \
		       "thread id: a number, or text in some traces"),                                                 \
		COLUMN("pid", "NUMERIC", OF_TRACK, get_track, TRACK_PID,                                               \
		       "process id: a number, or text in some traces"),                                                \
		COLUMN("process", "TEXT", OF_TRACK, get_track, TRACK_PROCESS_NAME, "name of the process"),             \
		COLUMN("rank", "INTEGER", OF_TRACK, get_track, TRACK_RANK, "rank in a distributed run")

#endif
