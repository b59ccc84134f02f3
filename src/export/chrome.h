/* What the files of the Chrome exporter share; see chrome.c. */
#ifndef SONDE_EXPORT_CHROME_H
#define SONDE_EXPORT_CHROME_H

#include "export/text_out.h"
#include "store/trace.h"

typedef struct chrome_out {
	const sonde_trace *trace;
	const sonde_index *ix;
	text_out to;
	args_reader *args;
	int64_t base_ns;     /* times count from here */
	bool has_event;	     /* a comma is due */
	bool with_args;	     /* of events; what makes an event what it is stays */
	uint32_t track;	     /* of the slices that come */
	uint32_t group;	     /* of the last one */
	int64_t extra_tid;   /* where a group's slices go */
	int64_t *track_tids; /* instead of ids that viewers cannot read; 0: its own */
	int64_t *lane_tids;  /* the same of each lane; 0: its track's own */
	size_t next_lane;    /* whose tid is not known yet */
	int64_t next_tid;    /* that no track uses */
	uint64_t next_id;    /* of asynchronous slices */
	char **site_texts;   /* `, "name": "x", "cat": "y"`, or NULL */
	int64_t *pids;	     /* by process; 0 where its own is text and stays */
	int64_t *flow_bases; /* by process, of many ranks: what to add to the ids of its arrows; else NULL */
	size_t n_sites, n_tracks, n_processes;
	const index_track *tracks;
	const index_process *processes;
	const index_site *sites;
} chrome_out;

/* Parts of an event: chrome.c */
void chrome_begin_event(chrome_out *c, char phase);
void chrome_end_event(chrome_out *c);
void chrome_string(chrome_out *c, uint32_t string);
void chrome_pid(chrome_out *c, uint32_t process);
void chrome_tid(chrome_out *c, const index_track *t, int64_t extra); /* extra: instead of its own; 0: none */
void chrome_ts(chrome_out *c, int64_t ns);

/* chrome/meta.c */
bool chrome_choose_pids(chrome_out *c); /* false: out of memory */
void chrome_top_level(chrome_out *c);	/* up to the bracket of the events; sets base_ns */
void chrome_names(chrome_out *c);	/* of processes and threads */
void chrome_begin_metadata(chrome_out *c, const char *name, uint32_t process);
bool chrome_is_exported(const chrome_out *c, const index_meta *m);
void chrome_meta(chrome_out *c, const index_meta *m); /* its key and value */
/* A thread that stands for another; returns its id. */
int64_t chrome_extra_lane(chrome_out *c, const index_track *t);

/* Several ranks in one file: chrome/ranks.c */
bool chrome_find_ranks(chrome_out *c);		      /* false: out of memory */
void chrome_rank_metas(chrome_out *c);		      /* beside the events */
void chrome_rank_of(chrome_out *c, uint32_t process); /* an event */

/* chrome_counters.c */
void chrome_counters(chrome_out *c, table_cursor *cursor);

#endif
