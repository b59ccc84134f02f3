/*
 * What PyTorch says about a collective: on its kernel or, where it does not, on the operator record_param_comms above
 * what launched it; on the host on the call itself.
 *
 *   collective_reader_init()
 *   collective_args_read()    of a row, as often as wanted
 *   collective_reader_done()  ends all texts too
 */
#ifndef SONDE_ANALYZE_TABLES_COLLECTIVE_ARGS_H
#define SONDE_ANALYZE_TABLES_COLLECTIVE_ARGS_H

#include "analyze/tables/rows.h"
#include "base/intern.h"

#define COLLECTIVE_PARAMS "record_param_comms"

/* Texts are NULL and numbers -1 where they are not known. */
typedef struct collective_args {
	const char *name; /* "allreduce" */
	const char *dtype, *group;
	const char *ranks;		  /* of the group: "[0, 1]" */
	const char *in_split, *out_split; /* "[4, 8]": along the first dimension, by rank of the group */
	int64_t in_elements, out_elements, element_bytes, group_size, sequence;
	collective_kind kind; /* by the name, else by the kernel's */
} collective_args;

typedef struct collective_reader {
	const rows *rows;
	fact_reader *facts;
	args_reader *args;		  /* NULL: the trace has no arguments */
	const char *dims_key, *types_key; /* of what goes into an operator; NULL: no argument says it */
	intern_table texts;
	bool failed;
} collective_reader;

bool collective_reader_init(collective_reader *c, const rows *r); /* false when out of memory */
void collective_reader_done(collective_reader *c);
/* own_only: not what the operator above says. */
collective_args collective_args_read(collective_reader *c, uint32_t number, bool own_only);

/* A collective that ends on all ranks at once, as far as its name tells. */
static inline bool collective_is_common(const collective_args *a)
{
	return a->kind < COLLECTIVE_BROADCAST || (!a->name && a->kind >= COLLECTIVE_SEND);
}
/* Bytes of the message: of what comes out of an all-gather, of what goes into others. -1: unknown. */
int64_t collective_bytes(const collective_args *a);

/* The next number of a list "[4, 8]"; *at is the text at first. -1: there are no more, or it is cut. */
int64_t collective_list_next(const char **at);

#endif
