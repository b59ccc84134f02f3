/*
 * Arguments on their way into a builder, one after the other:
 *
 *   arg_set_clear(&a);
 *   arg_key(&a, "layer", 5), arg_i64(&a, 3);
 *   arg_key(&a, "type", 4), arg_string(&a, "f32", 3);
 *   uint32_t record = arg_set_finish(&a);        record + 1, as slices have it; 0 when there are none
 *
 * Keys become the template, values the record. What does not fit into a template's gaps is kept as text of its own.
 */
#ifndef SONDE_IMPORT_ARG_SET_H
#define SONDE_IMPORT_ARG_SET_H

#include "base/vec.h"
#include "store/build/builder.h"

typedef struct arg_gap {
	size_t at; /* in text */
	int64_t value;
	uint8_t kind; /* arg_kind */
} arg_gap;

typedef struct arg_set {
	builder *builder;
	VEC(char) text; /* what stands around the values */
	VEC(arg_gap) gaps;
	VEC(char) scratch;
	bool failed; /* out of memory */
} arg_set;

/* One that was put aside, to be freed with free(). */
typedef struct saved_args {
	size_t text_len, n_gaps;
	arg_gap gaps[]; /* then the text */
} saved_args;

void arg_set_clear(arg_set *a);
void arg_set_done(arg_set *a);
void arg_key(arg_set *a, const char *key, size_t len);
void arg_i64(arg_set *a, int64_t value);
void arg_u64(arg_set *a, uint64_t value);
void arg_f64(arg_set *a, double value); /* null when it is no number */
void arg_string(arg_set *a, const char *text, size_t len);
void arg_json(arg_set *a, const char *json, size_t len);
uint32_t arg_set_finish(arg_set *a);

saved_args *arg_set_save(arg_set *a); /* NULL when there is nothing, or out of memory, which `failed` tells */
saved_args *saved_args_copy(const saved_args *saved);	/* of one that is there; NULL when out of memory */
void arg_set_load(arg_set *a, const saved_args *saved); /* accepts NULL */

#endif
