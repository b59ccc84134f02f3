/* The checks of `sonde doctor`. */
#ifndef SONDE_CLI_DOCTOR_H
#define SONDE_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sonde/recorder.h>

enum { DOCTOR_MAX_CHECKS = 24 };

typedef enum check_state { CHECK_OK, CHECK_LIMITED, CHECK_MISSING } check_state;

typedef struct finding {
	const char *name;
	check_state state;
	bool is_needed;	  /* without it nothing can be recorded */
	char text[160];	  /* what there is */
	char advice[160]; /* what to do; "" when there is nothing to do */
} finding;

/* Runs all checks; returns how many findings there are. */
size_t doctor_check(finding ret_findings[DOCTOR_MAX_CHECKS]);

/* Calls each for every ring that a killed program left; returns their number. */
size_t doctor_left(void (*each)(void *context, const sonde_left_ring *ring), void *context);

/* False when something that recording needs is missing. */
bool doctor_can_record(const finding *findings, size_t n);

#endif
