/*
 * Two steps of training, worked out on paper (times in nanoseconds):
 *
 *   thread 1   step 0   100 ........................ 200
 *              p           110 ......... 150, q 150 .. 200
 *              forward        120 . 140
 *              matmul          125-135
 *              step 1   200 ........................ 320
 *              p           210 ......... 260, q 260 .. 320
 *              forward        215 . 255
 *              matmul          220-250
 *   thread 2   load     90 .. 190         210 .. 300
 */
#ifndef SONDE_TESTS_TRAINING_H
#define SONDE_TESTS_TRAINING_H

#include "unit/import/recording/make_file.h"

enum { STEP = 40, P, Q, FORWARD, MATMUL, LOAD, LOSS, F };

static inline void make_training_names(maker *m)
{
	make_name(m, STEP, NAME_STEP, "step");
	make_name(m, P, NAME_PHASE, "p");
	make_name(m, Q, NAME_PHASE, "q");
	make_name(m, FORWARD, NAME_SCOPE, "forward");
	make_name_of(m, &(name_parts){ .id = MATMUL, .kind = NAME_OP, .category = 1, .name = "matmul", .name_len = 6 });
	make_name(m, LOAD, NAME_SCOPE, "load");
	make_name(m, LOSS, NAME_COUNTER, "loss");
	make_name(m, F, NAME_SCOPE, "f");
}

static inline void make_training(maker *m)
{
	uint64_t flops = make_double(1000), bytes = make_double(16);

	make_start(m);
	make_training_names(m);
	make_block(m, BLOCK_META, "thread.1\0main", 14, 0);
	MAKE_EVENTS(m, 1, { 100, STEP, 1, { 0 } }, { 110, P }, { 120, FORWARD }, { 125, MATMUL, 4, { flops, bytes } },
		    { 135, END | MATMUL }, { 140, END | FORWARD }, { 150, Q }, { 200, END | STEP });
	MAKE_EVENTS(m, 1, { 200, STEP, 1, { 1 } }, { 210, P }, { 215, FORWARD }, { 220, MATMUL, 4, { flops, bytes } },
		    { 250, END | MATMUL }, { 255, END | FORWARD }, { 260, Q }, { 320, END | STEP });
	MAKE_EVENTS(m, 2, { 90, LOAD }, { 190, END | LOAD }, { 210, LOAD }, { 300, END | LOAD });
	make_totals(m);
}

#endif
