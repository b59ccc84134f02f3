/*
 * All that a collector may call. A collector runs inside the program and turns what another interface tells it (a
 * driver's callbacks, a sampler, a hook) into events of the recording.
 *
 *   collector_is_on()         whether anything is recorded: ask before work is done for it
 *   collector_intern()        a name for good: once, not for each event
 *   collector_stack()         a call stack by its id
 *   collector_stream()        a queue of a device
 *   collector_launch()        a launch, with the number that ties it to its work
 *   collector_event()         a moment with arguments
 *   collector_slice()         what a device did, with its own times
 *   collector_gauge()         a value at a time
 *
 * Any thread may call these at any time, also while nothing is recorded: then nothing happens. They do not allocate,
 * but for the names. From signal handlers the same holds as for <sonde/record.h>. Times are CLOCK_MONOTONIC.
 */
#ifndef SONDE_RECORD_COLLECTOR_H
#define SONDE_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/recording/device_work.h"
#include <sonde/record.h>

/* What a name is for. */
typedef enum collector_role { COLLECTOR_EVENT, COLLECTOR_SLICE, COLLECTOR_GAUGE } collector_role;

typedef uint32_t collector_name;

bool collector_is_on(void);

/* The same role, category and text give the same name. Copied; up to 255 bytes are kept. */
collector_name collector_intern(collector_role role, sonde_category category, const char *text);

/* Addresses, innermost first; up to COLLECTOR_STACK_MAX are kept. Returns its id, for slices of this thread in this
   recording; 0: nothing is recorded, or n is 0. Stacks that were seen lately cost a hash. */
enum { COLLECTOR_STACK_MAX = 256 };
uint64_t collector_stack(const uint64_t *addresses, size_t n);

/* By the names of both, as sonde_stream_register(). */
sonde_stream collector_stream(const char *device, const char *stream);

/* Records that this thread launches something on the stream and returns its correlation; 0: nothing is recorded. */
uint64_t collector_launch(collector_name name, sonde_stream stream);

/* A moment of this thread, now, with up to 16 arguments. */
void collector_event(collector_name name, const sonde_arg *args, size_t n_args);

/* What ran on a stream. Everything but name, stream and times may be left 0, which means unknown. */
typedef struct collector_work {
	collector_name name;
	sonde_stream stream;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t correlation; /* of collector_launch() or sonde_launch() */
	device_work kind;
	uint64_t bytes; /* that a copy moves or a memset fills */
	uint32_t grid[3];
	uint32_t block[3];
	uint64_t stack; /* of collector_stack() on this thread */
} collector_work;
void collector_slice(const collector_work *work);

/* A value that was measured at a time; time_ns 0: now. */
void collector_gauge(collector_name name, int64_t time_ns, double value);

#endif
