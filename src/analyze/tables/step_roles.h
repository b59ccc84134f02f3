/*
 * What fills the time of steps: of everything that runs at a moment, what comes first in the list of roles.
 *
 *   step_roles_find()   the steps of a rank and who is active when
 *   step_roles_cost()   how much of a stretch of time a role has for itself
 *   step_roles_done()
 *
 * A step lasts until the last work that it launched is done, and begins no earlier than the one before it ended, so
 * that steps do not overlap where the host runs ahead. Steps at the end of which nothing, or less than 80 % of what the
 * step before launched, reached the device were cut off by the end of the recording: they are left out and counted. A
 * trace without steps is one: from the first operator to the last.
 */
#ifndef SONDE_ANALYZE_TABLES_STEP_ROLES_H
#define SONDE_ANALYZE_TABLES_STEP_ROLES_H

#include "analyze/math/intervals.h"
#include "analyze/tables/work.h"

typedef enum step_role {
	STEP_KERNEL, /* computing */
	STEP_MEMCPY,
	STEP_MEMSET,
	STEP_COMMUNICATION, /* on the device or on the host */
	STEP_RUNTIME,	    /* calls into the driver */
	STEP_LOADER,	    /* waiting for data */
	STEP_HOST,	    /* operators, annotations, scopes */
	STEP_OTHER,	    /* nothing that was recorded */
	STEP_ROLES
} step_role;

typedef struct role_step {
	int64_t number;
	int64_t start_ns, end_ns;
	size_t n_device; /* kernels and copies that it launched */
} role_step;

typedef struct step_roles {
	intervals active[STEP_OTHER]; /* each role by itself */
	intervals first[STEP_OTHER];  /* it and those before it */
	role_step *steps;
	size_t n_steps;
	size_t n_cut;	 /* left out at the end */
	bool is_made_up; /* the trace has no steps: the one that is there is everything */
} step_roles;

bool step_roles_find(step_roles *s, const work *w, size_t rank); /* false when out of memory; done() all the same */
int64_t step_roles_cost(const step_roles *s, step_role role, int64_t start_ns, int64_t end_ns);
size_t step_roles_at(const step_roles *s, int64_t ns); /* the step at that time, or SIZE_MAX */
void step_roles_done(step_roles *s);

const char *step_role_name(step_role role); /* "kernel" */

#endif
