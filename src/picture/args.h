/*
 * Arguments in a page: records as the index has them (store/index/args.h), with the templates and texts that they use.
 *
 *   picture_args_init(&a, ix, budget)
 *   picture_args_put(&a, args)          one record more, as long as the budget lasts
 *   picture_args_write(&a, w)           as the member "args"; web/src/file/args.ts reads it
 *   picture_args_done(&a)
 */
#ifndef SONDE_PICTURE_ARGS_H
#define SONDE_PICTURE_ARGS_H

#include "picture/picture.h"

typedef struct picture_args {
	const sonde_index *ix;
	args_reader *reader;
	uint64_t budget, size;		/* bytes in the page, about */
	picture_bytes bytes;		/* records */
	VEC(uint32_t) template_numbers; /* of each template of the trace its number in the page + 1; 0: none yet */
	VEC(uint32_t) templates;	/* by their numbers in the page */
	uint32_t *text_numbers;		/* likewise */
	VEC(uint32_t) texts;
	bool failed; /* out of memory */
} picture_args;

void picture_args_init(picture_args *a, const sonde_index *ix, uint64_t budget);
void picture_args_done(picture_args *a);
/* False: it has none, they are damaged, or they no longer fit. */
bool picture_args_put(picture_args *a, uint32_t args);
/* is_whole: who has none in here had none. */
void picture_args_write(picture_args *a, json_writer *w, bool is_whole);

#endif
