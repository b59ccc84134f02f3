/*
 * The file of a program that is recorded from outside, as `sonde record` does. Needs libsonde.
 *
 *   sonde_recorder_open()            before the program starts; it runs with SONDE_OUTPUT=<path>.part.%p
 *   sonde_sampler_take()             every so often; or, with figures of your own, sonde_recorder_process() once for
 *                                    each process and sonde_recorder_sample()
 *   sonde_recorder_close()           after the program ended; or sonde_recorder_abandon() if it never started
 *   sonde_recorder_running()         which of its processes still record
 *   sonde_recorder_left()            shared memory that killed programs left
 *
 * The recorder and the program share nothing but files: killing either one does not harm the other. A recorder is used
 * by one thread at a time; different recorders are independent.
 */
#ifndef SONDE_RECORDER_H
#define SONDE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_recorder sonde_recorder;

/* One process at one moment. Times and counts are since the start of the process, as the kernel keeps them. */
typedef struct sonde_process_sample {
	int64_t time_ns; /* CLOCK_MONOTONIC */
	int32_t pid;
	uint32_t n_threads;
	uint64_t user_ns; /* CPU time, all threads */
	uint64_t system_ns;
	uint64_t rss_bytes; /* resident memory */
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t read_bytes; /* from and to storage */
	uint64_t write_bytes;
	bool io_known;		 /* false: read_bytes and write_bytes say nothing */
	uint64_t peak_rss_bytes; /* so far; 0: unknown */
} sonde_process_sample;

/* Creates path, after removing an old recording of that name; anything else there is refused with SONDE_E_IO, and so is
   one that a process still writes, itself or a part of it. argv is the command that will run; it is copied. The caller
   ends *ret_recorder with close or abandon. */
SONDE_API sonde_status sonde_recorder_open(const char *path, int argc, char *const *argv, sonde_recorder **ret_recorder,
					   sonde_error *err);

/* Names a process that is seen for the first time. command is copied. */
SONDE_API void sonde_recorder_process(sonde_recorder *recorder, int32_t pid, int32_t parent_pid, const char *command);

/* Adds n samples. Errors are counted in the recording, never fatal. */
SONDE_API void sonde_recorder_sample(sonde_recorder *recorder, const sonde_process_sample *samples, size_t n);

/*
 * Samples a program and all its descendants: CPU time, memory, threads, page faults, bytes read and written, as /proc
 * has them. A process that lives for a few milliseconds may go unseen. Used by one thread at a time, and not after its
 * recorder was closed. The caller frees *ret_sampler, which is NULL if it failed.
 */
typedef struct sonde_sampler sonde_sampler;
SONDE_API sonde_status sonde_sampler_new(sonde_recorder *recorder, int32_t pid, sonde_sampler **ret_sampler,
					 sonde_error *err);
/* Adds a sample of every process; finds new ones, drops dead ones. peak_rss_bytes: of the program, which has ended, and
   of all that it waited for; 0: unknown. It is the program's if nothing else was seen; otherwise the peak of a process
   is that up to its last sample. */
SONDE_API void sonde_sampler_take(sonde_sampler *sampler, uint64_t peak_rss_bytes);
/* Accepts NULL. */
SONDE_API void sonde_sampler_free(sonde_sampler *sampler);

/* A process of the program still runs and may begin to record: the file stays open, so that it is read with the part
   which that process writes later. Parts that are being written when the recorder is closed have the same effect. */
SONDE_API void sonde_recorder_leave_open(sonde_recorder *recorder);

/* Joins what the processes wrote (path.part.*) and what the rings of dead ones still hold, completes the file and frees
   the recorder, also on failure. wait_status is what waitpid() gave. ret_n_recovered may be NULL; it gets the number of
   events that came out of rings. */
SONDE_API sonde_status sonde_recorder_close(sonde_recorder *recorder, int wait_status, uint64_t *ret_n_recovered,
					    sonde_error *err);

/* Calls each for every part beside path that a process still writes; pid is 0 where the part does not say it yet.
   Returns their number. Those of a closed recorder are read with path, while they are written and later. */
SONDE_API size_t sonde_recorder_running(const char *path, void (*each)(void *context, int32_t pid, const char *part),
					void *context);

/*
 * Puts the index behind a finished recording, so that it is queried and drawn without reading all of it. Whatever
 * fails, the recording is as it was. progress may be NULL; it is told how far the work is, first through the recording,
 * then through the index, and stops it by returning false: SONDE_E_STATE, as for a recording that is not finished.
 */
SONDE_API sonde_status sonde_recorder_add_index(const char *path,
						bool (*progress)(void *context, uint64_t done, uint64_t total),
						void *context, sonde_error *err);

/* Shared memory with the events that a killed program had not written to its recording yet. */
typedef struct sonde_left_ring {
	const char *path;
	uint64_t bytes; /* of memory */
	int32_t pid;
	const char *program;   /* "": unknown */
	const char *recording; /* "": unknown */
	bool has_events;       /* false: nothing is lost with it */
	bool can_save;	       /* opening the recording saves the events into it and removes the ring */
} sonde_left_ring;

/* Calls each for every ring in the directory that belongs to the caller and whose process is certainly gone; what it is
   given is valid during the call. Returns their number. directory is /dev/shm but in tests. Any thread. */
SONDE_API size_t sonde_recorder_left(const char *directory, void (*each)(void *context, const sonde_left_ring *ring),
				     void *context);

/* Removes the file again and frees the recorder. Accepts NULL. */
SONDE_API void sonde_recorder_abandon(sonde_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
