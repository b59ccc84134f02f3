/*
 * Flame graphs: where the time of a trace goes, by call path.
 *
 *   flame f = { 0 };
 *   flame_build(&f, ix, &options, &err)     one pass over the slices
 *   flame_add_base(&f, ix2, &options, &err) the same of another trace, beside it: to be compared
 *   flame_cut(&f, min_value, max_nodes)     leaves out what is too small to be seen, and counts it
 *   f.nodes.items[]                         parents before their children
 *   flame_done(&f)
 *
 * Slices of one name below the same path are one node. The cost is that of reading the slices once; memory grows with
 * the paths, not with the slices.
 */
#ifndef SONDE_ANALYZE_FLAME_FLAME_H
#define SONDE_ANALYZE_FLAME_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/intern.h"
#include "base/vec.h"
#include "store/index/index.h"
#include <sonde/error.h>

#define FLAME_NONE UINT32_MAX

typedef enum flame_by {
	FLAME_TIME,
	FLAME_SELF,   /* names alone, without their paths, by the time that is their own */
	FLAME_DEVICE, /* time of kernels and copies, below the calls that launched them */
	FLAME_MEMORY, /* bytes that were allocated, freed later or not */
} flame_by;

typedef enum flame_mode {
	FLAME_MERGED,
	FLAME_ORDERED, /* every slice by itself, in the order of time; FLAME_TIME only, as the next two */
	FLAME_CALLERS, /* of a name: who called it, upside down */
	FLAME_CALLEES, /* of a name: what it called */
} flame_mode;

typedef struct flame_options {
	flame_by by;
	flame_mode mode;
	const char *name;      /* of FLAME_CALLERS and FLAME_CALLEES */
	const uint8_t *tracks; /* one byte for each: whether it counts; NULL: threads do, or all where there are none */
	bool use_time;	       /* only what lies in [from, to), times of the index; what reaches in is cut */
	int64_t from_ns, to_ns;
	bool use_steps; /* from the first to the last of these steps, rank by rank */
	int64_t first_step, last_step;
	uint64_t n_warmup;  /* without the time of so many steps at the start of each rank; its last one stays */
	const char *ranks;  /* a list such as 0,2-4; NULL: all */
	bool no_python;	    /* what Python's functions take goes to who called them */
	uint32_t max_depth; /* 0: any */
	int64_t min_ns;	    /* of FLAME_ORDERED: shorter slices are left out */
} flame_options;

typedef struct flame_node {
	uint32_t name;	 /* of flame.names */
	uint32_t parent; /* a node before it, or FLAME_NONE */
	int64_t value, self;
	int64_t base, base_self; /* of the other trace */
	uint64_t n_slices;
	int64_t start_ns; /* of FLAME_ORDERED; a time of the index */
} flame_node;

typedef struct flame {
	VEC(flame_node) nodes;
	intern_table names;   /* long ones are the traces', which live as long */
	VEC(uint8_t) classes; /* site_class of each name: that of its first site */
	int64_t total, base_total;
	/* What is not among the nodes. */
	uint64_t n_cut;
	int64_t cut_value; /* of nodes whose parents are there */
	bool damaged;	   /* blocks that could not be read are missing */
	uint32_t *slots;   /* node + 1, by parent and name */
	size_t n_slots;
} flame;

/* flame_done() afterwards, also on failure. SONDE_E_USAGE: the mode does not go with what is counted. */
sonde_status flame_build(flame *f, const sonde_index *ix, const flame_options *options, sonde_error *err);
sonde_status flame_add_base(flame *f, const sonde_index *ix, const flame_options *options, sonde_error *err);
/* The largest values stay: at most max_nodes, none below min_value. False when out of memory. */
bool flame_cut(flame *f, int64_t min_value, size_t max_nodes);
/* Siblings below `small` become one node "(small)". Before flame_cut; not of FLAME_ORDERED. False when out of memory.
 */
bool flame_group(flame *f, int64_t small);
void flame_done(flame *f);

/* ---- Between its files ------------------------------------------------------------------------------------------- */

enum { FLAME_NODES_MAX = 4 << 20, FLAME_DEPTH_MAX = 1000 };

/* The node of a name below a parent, made when new; FLAME_NONE: out of memory, or there are FLAME_NODES_MAX. */
uint32_t flame_child(flame *f, uint32_t parent, uint32_t name);
uint32_t flame_new_node(flame *f, uint32_t parent, uint32_t name);
/* The number of a name; FLAME_NONE when out of memory. */
uint32_t flame_name(flame *f, const char *text, size_t len, uint8_t class);

/* A value that belongs to a slice: device time, by the slice that launched it; or bytes, by the time on a track. */
typedef struct flame_extra {
	uint64_t key; /* slice; INDEX_NO_SLICE: nobody knows. Or the time */
	int64_t value;
	uint32_t track; /* of bytes */
	uint32_t site;	/* of device time */
} flame_extra;
typedef VEC(flame_extra) flame_extras;

/* By key; by track and time. False when out of memory. */
bool flame_device_extras(const sonde_index *ix, flame_extras *ret, bool *ret_damaged);
bool flame_memory_extras(const sonde_index *ix, flame_extras *ret, bool *ret_damaged);

#endif
