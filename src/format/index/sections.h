/*
 * The indexed form of a trace: everything sorted, nested, packed and summarised, to be mapped and used as it lies.
 *
 *   index_header, index_section[n_sections], then the sections, each at a multiple of 8
 *
 * An imported file is nothing but this. A recording that is finished has it behind its blocks and ends with an
 * index_footer, which says where. The sections that a first look needs come first: coarse summaries, lanes, tracks.
 * Times of rows count from index_header.start_ns. All numbers are little endian.
 *
 * A slice lies in a lane: a track at one depth, where nothing overlaps. Its number is its lane's first number plus its
 * row. A lane's slices are in the order of time, in blocks of COLUMNS_ROWS rows (columns.h).
 *
 * Summaries: of every INDEX_GROUP slices of a lane one index_summary, of every INDEX_FAN of those one more, and so on
 * until at most INDEX_COARSE are left. That last level lies in the section COARSE, the others of all lanes in FINE.
 * Only the last summary of a level may be of fewer. Where there is a FINE, a lane has over 2048 in COARSE: a first look
 * takes hardly anything else.
 *
 * The end is at most INT64_MAX ns after the start, and every slice lies between them.
 *
 * Checksums: a section is divided into pages of INDEX_PAGE bytes, the last of which may be shorter. PAGE_CRCS holds the
 * CRC-32C of every page, section after section in the order of the directory, without those of PAGE_CRCS itself. They
 * are verified when the index is opened (index_section.crc), a page when it is first used (store/index/pages.c).
 *
 * Every offset, count and number that a file holds is also checked where it is used: a file with right checksums may
 * come from a stranger. It gives wrong answers or an error, never a crash.
 */
#ifndef SONDE_FORMAT_INDEX_SECTIONS_H
#define SONDE_FORMAT_INDEX_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define INDEX_MAGIC 0x0a584449444e5389u	 /* "\x89SNDIDX\n" */
#define INDEX_FOOTER 0x0a444e45444e5389u /* "\x89SNDEND\n" */
#define INDEX_NONE UINT32_MAX		 /* no string, no lane, no track */
enum {
	INDEX_VERSION = 4,
	INDEX_GROUP = 32,
	INDEX_FAN = 4,
	INDEX_COARSE = 8192,
	INDEX_LEVELS = 24,
	INDEX_PAD = 64,
	INDEX_PAGE = 4096,
};

typedef struct index_header {
	uint64_t magic;
	uint32_t version;
	uint32_t n_sections;
	uint64_t length; /* from the header to the end of the last section and its INDEX_PAD zeros */
	int64_t start_ns, end_ns;
	uint32_t clock;		/* index_clock */
	uint32_t directory_crc; /* of the index_sections */
	uint32_t reserved;
	uint32_t header_crc; /* of the bytes before */
} index_header;
_Static_assert(sizeof(index_header) == 56, "on disk");

typedef enum index_clock {
	INDEX_CLOCK_TRACE = 0,	   /* counts from somewhere only the trace's program knows */
	INDEX_CLOCK_EPOCH = 1,	   /* nanoseconds since 1970 */
	INDEX_CLOCK_MONOTONIC = 2, /* CLOCK_MONOTONIC of the recording's machine */
} index_clock;

typedef struct index_footer {
	uint64_t magic;
	uint64_t offset; /* of the index_header from the start of the file */
	uint64_t length; /* of the index: offset + length + sizeof(index_footer) is the length of the file */
	uint32_t reserved;
	uint32_t crc; /* of the bytes before */
} index_footer;
_Static_assert(sizeof(index_footer) == 32, "on disk");

/* Whether the footer at the end of a file of `size` bytes is whole and its own: not that of a file that another one was
   put in front of. */
bool index_footer_fits(const index_footer *f, uint64_t size);

typedef enum index_kind {
	SECTION_COARSE,	      /* index_summary[]: the last level of every lane, lane after lane */
	SECTION_LANES,	      /* index_lane[], by track, group and depth; right before depth n + 1 lies depth n */
	SECTION_TRACKS,	      /* index_track[] */
	SECTION_PROCESSES,    /* index_process[] */
	SECTION_SITES,	      /* index_site[] */
	SECTION_STRINGS,      /* uint64_t offset[n + 1] into STRING_BYTES */
	SECTION_STRING_BYTES, /* UTF-8, each with a NUL behind it that offset[i + 1] - offset[i] counts */
	SECTION_META,	      /* index_meta[] */
	SECTION_DIAGNOSTICS,  /* index_diagnostic[] */
	SECTION_STEPS,	      /* index_step[], by time */
	SECTION_FINE,	      /* index_summary[]: the other levels, lane after lane, finest first */
	SECTION_BLOCKS,	      /* uint64_t offset of every block in SLICES, lane after lane, and the end of the last */
	SECTION_SLICES,	      /* blocks of slice_column */
	/* Tables: blocks of one after the other, table_column; their offsets in the section before. n_rows is the
	   number of rows; every block but the last holds COLUMNS_ROWS. */
	SECTION_INSTANT_BLOCKS,
	SECTION_INSTANTS, /* instant_column, by time */
	SECTION_FLOW_BLOCKS,
	SECTION_FLOWS, /* flow_column; the points of one arrow behind each other, by time */
	SECTION_LAUNCH_BLOCKS,
	SECTION_LAUNCHES, /* launch_column, by device slice */
	SECTION_ALLOCATION_BLOCKS,
	SECTION_ALLOCATIONS, /* allocation_column, by time */
	SECTION_COUNTERS,    /* index_counter[] */
	SECTION_VALUE_BLOCKS,
	SECTION_VALUES, /* value_column, counter after counter, by time */
	SECTION_SAMPLE_BLOCKS,
	SECTION_SAMPLES, /* sample_column, by time */
	/* Facts: what events carried, whatever the format they came from. A row is that of a record of arguments and so
	   of the slice that has it. Values that many rows share are a list, each of them once. */
	SECTION_MESSAGES, /* index_message[] */
	SECTION_COLLECTIVE_BLOCKS,
	SECTION_COLLECTIVES, /* collective_column, by record */
	SECTION_DEVICES,     /* index_device[] */
	SECTION_ROLES,	     /* index_role[] */
	/* Arguments: see store/index/args.h */
	SECTION_TEMPLATES,	/* templates behind each other */
	SECTION_ARG_TEXTS,	/* uint64_t offset[n + 1] into ARG_TEXT_BYTES */
	SECTION_ARG_TEXT_BYTES, /* values that are not plain whole numbers, as JSON */
	SECTION_ARG_BLOCKS,	/* uint64_t offset[] of every ARGS_RECORDS records, and the end */
	SECTION_ARGS,		/* records; n_rows of them */
	SECTION_PAGE_CRCS,	/* uint32_t[] */
	SECTION_KINDS
} index_kind;

typedef struct index_section {
	uint32_t kind;	 /* index_kind; each once, in this order; unknown ones are skipped */
	uint32_t crc;	 /* of its entries in PAGE_CRCS */
	uint64_t offset; /* from the header */
	uint64_t length;
	/* Of offsets: how many things they are of, one less than there are. 0 for bytes, blocks of slices excepted: all
	   slices. Sections without rows may be missing. */
	uint64_t n_rows;
} index_section;
_Static_assert(sizeof(index_section) == 32, "on disk");

typedef struct index_summary {
	uint64_t start_ns;
	uint64_t span_ns; /* to the end of its last slice */
	uint32_t site;	  /* of the longest slice; where `longest` is that of several groups, of the first of them */
	uint16_t busy;	  /* share of the span in 65535ths, 65535 without a span. Each level rounds to the nearest what
			     the one below says: level n is at most (n + 1) / 2 off */
	uint16_t longest; /* see short_time.h: never too short */
} index_summary;
_Static_assert(sizeof(index_summary) == 24, "on disk");

typedef struct index_lane {
	uint32_t track;
	uint16_t group; /* 0, or the number of the extra stack for slices that overlap those of the groups before. Stays
			   65535 for the lanes beyond, which have depth 0 and nothing below */
	uint16_t depth;
	uint64_t first_slice; /* number of its first slice; numbers go on from lane to lane without a gap */
	uint64_t n_slices;
	uint64_t first_block;  /* in BLOCKS */
	uint64_t first_fine;   /* its summaries in FINE; level 0 first */
	uint64_t first_coarse; /* in COARSE */
	int64_t reserved;
} index_lane;
_Static_assert(sizeof(index_lane) == 56, "on disk");

typedef enum track_kind {
	TRACK_THREAD,  /* of a program */
	TRACK_STREAM,  /* queue of a device */
	TRACK_ASYNC,   /* slices that belong to no thread: Chrome's b and e */
	TRACK_PROCESS, /* what is a process's own: counters, instants */
	TRACK_KINDS
} track_kind;

typedef struct index_track {
	uint32_t kind;
	uint32_t process;
	int64_t id;	  /* thread id, stream number */
	uint32_t id_text; /* string, where the file's id was no number; else INDEX_NONE */
	uint32_t name;	  /* string or INDEX_NONE */
	int32_t sort;	  /* order among its process's tracks */
	int32_t device;	  /* of a stream; -1: unknown */
	uint32_t first_lane, n_lanes;
	uint64_t n_slices;
	uint32_t category; /* of TRACK_ASYNC: string; else INDEX_NONE */
	uint32_t reserved;
} index_track;
_Static_assert(sizeof(index_track) == 56, "on disk");

typedef struct index_process {
	int64_t pid;
	uint32_t pid_text; /* string, where the file's pid was no number; else INDEX_NONE */
	uint32_t name;	   /* string or INDEX_NONE */
	uint32_t labels;
	int32_t sort;
	int32_t rank;	/* -1: unknown */
	int32_t device; /* the process stands for a device; -1: it does not */
} index_process;
_Static_assert(sizeof(index_process) == 32, "on disk");

/* What a slice or instant is; from its category and name. */
typedef enum site_class {
	CLASS_OTHER,
	CLASS_COMPUTE, /* operators and the program's own scopes */
	CLASS_MEMORY,
	CLASS_DATA_LOAD,
	CLASS_SYNC,
	CLASS_COMMUNICATION,
	CLASS_RUNTIME, /* calls into a device's driver: launches among them */
	CLASS_KERNEL,
	CLASS_COPY, /* memcpy and memset on a device */
	CLASS_PYTHON,
	CLASS_ANNOTATION,
	CLASS_PHASE,
	CLASS_STEP,
	CLASS_OVERHEAD, /* of a profiler */
	CLASS_KINDS
} site_class;

/* A name in a category, with what its slices sum up to. */
typedef struct index_site {
	uint32_t name, category; /* strings */
	uint8_t class;		 /* site_class */
	uint8_t kind;		 /* name_kind of a recording; NAME_SCOPE where there is none */
	uint16_t reserved;
	uint32_t reserved2;
	uint64_t n_slices;
	int64_t total_ns, self_ns;
	int64_t min_ns, max_ns; /* 0 without slices */
} index_site;
_Static_assert(sizeof(index_site) == 56, "on disk");

typedef struct index_meta {
	uint32_t key, value; /* strings; the value is JSON where `json` is set */
	int32_t rank;	     /* -1: of all */
	uint32_t json;
} index_meta;
_Static_assert(sizeof(index_meta) == 16, "on disk");

typedef enum diagnostic_kind {
#define DIAGNOSTIC(name, effect, key, one, many) DIAGNOSTIC_##name,
#include "format/index/diagnostics.def"
#undef DIAGNOSTIC
	DIAGNOSTIC_KINDS,
} diagnostic_kind;

typedef enum diagnostic_effect { EFFECT_LOSS, EFFECT_REPAIR, EFFECT_FILE_STATE } diagnostic_effect;

typedef struct diagnostic_info {
	const char *key, *one, *many; /* see diagnostics.def */
	diagnostic_effect effect;
} diagnostic_info;
extern const diagnostic_info diagnostic_infos[DIAGNOSTIC_KINDS];

/* Something repaired or lost. */
typedef struct index_diagnostic {
	uint32_t text; /* string: "invalid UTF-8" */
	uint32_t file; /* string: where first */
	uint64_t count;
	int64_t first; /* byte offset, -1: unknown */
	uint32_t lost; /* 1: so many events are missing, 0: repaired or skipped, everything that counts is there */
	uint32_t kind; /* diagnostic_kind; a later version may write others */
} index_diagnostic;
_Static_assert(sizeof(index_diagnostic) == 32, "on disk");
/* Whether its count has this meaning. */
bool diagnostic_is(const index_diagnostic *d, diagnostic_effect effect);

typedef struct index_step {
	int64_t number;
	uint64_t slice;
	int64_t start_ns, dur_ns; /* start counts from index_header.start_ns */
	uint32_t track;
	uint32_t reserved;
} index_step;
_Static_assert(sizeof(index_step) == 40, "on disk");

typedef struct index_counter {
	uint32_t name;	 /* string; "name series" where a counter has several series */
	uint32_t series; /* string or INDEX_NONE */
	uint32_t track;
	uint32_t category;
	uint64_t first_value, n_values; /* rows of VALUES */
} index_counter;
_Static_assert(sizeof(index_counter) == 32, "on disk");

typedef enum slice_column {
	SLICE_GAP, /* from the end of the slice before in the lane */
	SLICE_DUR,
	SLICE_SITE,
	SLICE_UP,	   /* row of the parent in the lane above - that of the slice before */
	SLICE_ARGS,	   /* number of the args record; that of a neighbour when it has none, see SLICE_FLAGS */
	SLICE_FLAGS,	   /* slice_flags */
	SLICE_BEFORE_TIME, /* the same in all rows: end of the last slice of the block before; in a lane's first block
			      the start of its first slice, whose gap is then 0 */
	SLICE_BEFORE_UP,   /* parent's row of the last slice of the block before; in the first that of its first */
	SLICE_COLUMNS
} slice_column;

typedef enum slice_flags {
	SLICE_IS_OPEN = 1,     /* never ended: the trace ended first */
	SLICE_IS_REPAIRED = 2, /* its end was missing and was set to that of the slice around it */
	SLICE_IS_ASYNC = 4,
	SLICE_HAS_ARGS = 8,
} slice_flags;

typedef enum instant_column {
	INSTANT_TIME,
	INSTANT_TRACK,
	INSTANT_SITE,
	INSTANT_ARGS,  /* record + 1; 0: none */
	INSTANT_SCOPE, /* 't', 'p', 'g' of Chrome; 'n' an instant of an async track; 'O' an object's event */
	INSTANT_COLUMNS
} instant_column;

typedef enum flow_column {
	FLOW_SLICE, /* number + 1 of the slice it is bound to; 0: none */
	FLOW_TIME,  /* from the slice's start, may be negative; from the trace's start when there is no slice */
	FLOW_TRACK,
	FLOW_SITE,
	FLOW_ID,    /* the file's id where it is a number, else a string's number with bit 62 set */
	FLOW_PHASE, /* 's', 't', 'f'; 'F': an 'f' that binds to the enclosing slice */
	FLOW_ARGS,  /* record + 1; 0: none */
	FLOW_COLUMNS
} flow_column;

typedef enum launch_column {
	LAUNCH_DEVICE, /* slice on the device */
	LAUNCH_HOST,   /* number + 1 of the slice that launched it; 0: not in the trace */
	LAUNCH_CORRELATION,
	LAUNCH_COLUMNS
} launch_column;

typedef enum allocation_column {
	ALLOCATION_TIME,
	ALLOCATION_TRACK,
	ALLOCATION_ADDRESS,
	ALLOCATION_BYTES,	/* negative: freed */
	ALLOCATION_DEVICE_TYPE, /* as the writer counts them: 0 CPU, 1 CUDA ... */
	ALLOCATION_DEVICE,	/* -1: none */
	ALLOCATION_TOTAL,	/* allocated after it, -1: unknown */
	ALLOCATION_RESERVED,	/* -1: unknown */
	ALLOCATION_ARGS,	/* record + 1; 0: none */
	ALLOCATION_SITE,
	ALLOCATION_COLUMNS
} allocation_column;

/* What a collective does. Those before COLLECTIVE_BROADCAST end on all ranks at once. */
typedef enum collective_kind {
	COLLECTIVE_UNKNOWN,
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_BARRIER,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_REDUCE,
	COLLECTIVE_GATHER,
	COLLECTIVE_SCATTER,
	COLLECTIVE_SEND,
	COLLECTIVE_RECEIVE,
	COLLECTIVE_KINDS
} collective_kind;

/* What collectives have in common that differ in their sequence number alone. Strings are INDEX_NONE and numbers -1
   where they are unknown. */
typedef struct index_message {
	uint32_t name;	/* "allreduce" */
	uint32_t dtype; /* type of an element */
	uint32_t group;
	uint32_t ranks;		      /* of the group: "[0, 1]" */
	uint32_t in_split, out_split; /* "[4, 8]": along the first dimension, by rank of the group */
	int32_t kind;		      /* collective_kind, by the name */
	int32_t element_bytes;
	int64_t in_elements, out_elements;
	int64_t group_size; /* ranks */
} index_message;
_Static_assert(sizeof(index_message) == 56, "on disk");

typedef enum collective_column {
	COLLECTIVE_ARGS, /* record + 1, as slices have it; so has every table of facts */
	COLLECTIVE_MESSAGE,
	COLLECTIVE_SEQUENCE, /* -1: unknown */
	COLLECTIVE_COLUMNS
} collective_column;

/* What an argument says, whatever its writer calls it. Facts that nearly every event has of its own lie in the
   arguments alone; a role is the way to them. */
typedef enum fact_role {
	ROLE_NONE,
	ROLE_GRID,	/* of a launch: "[432, 1, 1]" */
	ROLE_BLOCK,	/* likewise */
	ROLE_REGISTERS, /* of a thread */
	ROLE_SHARED_BYTES,
	ROLE_BLOCKS_PER_SM,
	ROLE_WARPS_PER_SM,
	ROLE_OCCUPANCY,	    /* percent, estimated by the profiler */
	ROLE_COPY_BYTES,    /* copied or set */
	ROLE_BANDWIDTH,	    /* of a copy, GB/s */
	ROLE_INPUT_DIMS,    /* of an operator: "[[64, 3], []]" */
	ROLE_INPUT_TYPES,   /* "["float", ""]" */
	ROLE_INPUT_STRIDES, /* as the dims */
	ROLE_INPUT_VALUES,  /* "["", "[1, 1]", "False"]" */
	ROLE_SEQUENCE,	    /* number that a forward operator and its backward one have in common */
	ROLE_STACK,	    /* text: one frame after the other, the innermost first */
	ROLE_KINDS
} fact_role;

typedef struct index_role {
	uint32_t role; /* fact_role; each once at most */
	uint32_t key;  /* string: the key of the args object */
} index_role;
_Static_assert(sizeof(index_role) == 8, "on disk");

typedef enum device_vendor { DEVICE_UNKNOWN, DEVICE_NVIDIA, DEVICE_AMD, DEVICE_INTEL, DEVICE_VENDORS } device_vendor;

/* -1: unknown */
typedef struct index_device {
	int32_t rank;	 /* that sees it by this id */
	int32_t id;	 /* as tracks have it */
	uint32_t name;	 /* string or INDEX_NONE */
	uint32_t vendor; /* device_vendor */
	int64_t memory_bytes;
	int32_t n_sms; /* multiprocessors */
	int32_t compute_major, compute_minor;
	int32_t reserved;
} index_device;
_Static_assert(sizeof(index_device) == 40, "on disk");

typedef enum value_column { VALUE_TIME, VALUE_BITS /* of a double */, VALUE_COLUMNS } value_column;

typedef enum sample_column { SAMPLE_TIME, SAMPLE_TRACK, SAMPLE_SITE, SAMPLE_ARGS, SAMPLE_COLUMNS } sample_column;

#endif
