/*
 * A timeline as a page: what its parts share.
 *
 *   timeline.c   which slices it shows, one by one or several as a box
 *   links.c      arrows between them, and instants
 */
#ifndef SONDE_PICTURE_TIMELINE_H
#define SONDE_PICTURE_TIMELINE_H

#include "picture/args.h"

/* A slice that has a box of its own. */
typedef struct kept_slice {
	uint64_t slice;
	uint64_t box; /* number in the page */
} kept_slice;

typedef struct timeline {
	picture *m;
	const sonde_index *ix;
	const sonde_picture_options *o;
	const index_site *sites;
	int64_t from_ns, to_ns, small_ns, max_gap_ns;
	uint64_t args_budget; /* bytes */
	int64_t args_ns;      /* slices that take at least as long have their arguments */
	uint64_t n_shown, n_runs, n_in_runs, n_short, n_python, n_deep, n_outside;
	uint64_t n_elsewhere;		   /* slices of lanes that are not in the page */
	uint64_t n_sites_max;		   /* names in the page */
	uint8_t *named;			   /* of each site: it has a name in the page; NULL: all have */
	uint64_t n_with_args, n_args_kept; /* slices with boxes of their own that had some, that still have them */
	uint64_t n_arrows, n_arrows_kept, n_instants, n_instants_kept;
	uint32_t *numbers; /* of sites in the page; 0: not yet, else + 1 */
	uint32_t others;   /* the same of all that have no name */
	VEC(uint32_t) used;
	picture_bytes bytes, arrows, instants;
	VEC(uint64_t) counts;	 /* of each lane: boxes */
	VEC(kept_slice) kept;	 /* by slice */
	VEC(uint64_t) per_track; /* instants */
	picture_args args;
	bool failed; /* out of memory */
} timeline;

/* Number of a site in the page; those that have no name there share one. */
enum { TIMELINE_OTHERS = UINT32_MAX };
uint32_t timeline_site(timeline *t, uint32_t site);
/* Fill t->arrows and t->instants, each at most of so many bytes. */
void timeline_arrows(timeline *t, uint64_t budget);
void timeline_instants(timeline *t, uint64_t budget);
void timeline_write_links(timeline *t, json_writer *w);

#endif
