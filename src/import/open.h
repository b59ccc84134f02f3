/*
 * What open.c and import_parts.c share: the files of a trace that is being opened.
 *
 * A pipe can be read only once, so the input it was looked at with stays open. A recording or an index that comes
 * through a pipe or compressed is taken into memory whole.
 */
#ifndef SONDE_IMPORT_OPEN_H
#define SONDE_IMPORT_OPEN_H

#include "import/files.h"
#include "import/importer.h"
#include "import/index/index_again.h"
#include "import/ranks.h"
#include "store/trace.h"

/* What a recording says at its beginning. */
typedef struct recording_head {
	int32_t rank; /* -1: nothing */
	uint32_t pid;
	char host[64];
	int64_t shift_ns; /* from its clock to 1970; 0: unknown */
} recording_head;

typedef struct trace_part {
	const char *path;
	enum {
		PART_RECORDING,
		PART_INDEX,
		PART_FOREIGN,
		PART_UNKNOWN, /* a file that may be a recording which is damaged where it begins */
		PART_NOTHING,
	} kind;
	const importer *importer; /* of PART_FOREIGN */
	input *in;		  /* is open already, or NULL */
	uint8_t *bytes;		  /* a recording or index that is in memory already, or NULL */
	size_t len;
	uint64_t file_bytes; /* 0: unknown */
	index_again *again;  /* of a PART_INDEX among others, while it is imported */
	recording_head head; /* of a PART_RECORDING among others */
	bool is_found;	     /* in a directory, not named: may be no trace at all */
} trace_part;

typedef struct opening {
	sonde_open_options options;
	file_list files;
	trace_part *parts; /* one for each file */
	builder *builder;
	VEC(ranked_file) ranked;
	size_t n_left_out;		  /* found, and no traces */
	char *left_out;			  /* the first of them */
	uint64_t done_bytes, total_bytes; /* of files that are done; of all, 0: unknown */
} opening;

/* For messages. */
const char *part_name(const trace_part *p);
/* NULL for standard input. */
const char *part_path(const trace_part *p);

/* Notes that the part, which was found in a directory, is no trace. */
void part_leave_out(opening *o, trace_part *p);

/* Opens a PART_INDEX; what was in memory is taken. */
sonde_status part_open_index(trace_part *p, sonde_index **ret_index, sonde_error *err);

/* Puts all parts into one builder and makes the index: import_parts.c */
sonde_status parts_import(opening *o, sonde_index **ret_index, sonde_error *err);

#endif
