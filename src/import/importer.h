/* What an importer is: one file, one of these, one line in importers.def. */
#ifndef SONDE_IMPORT_IMPORTER_H
#define SONDE_IMPORT_IMPORTER_H

#include "import/input/input.h"
#include "store/build/builder.h"

typedef struct import_job {
	input *in;
	builder *builder;
	const char *file;     /* its name, for messages and diagnostics */
	uint32_t file_number; /* 0, 1 ... among the files of the trace */
	unsigned n_threads;   /* that may parse */
	bool scalar;	      /* without vector instructions, as on an old machine */
	bool careful;	      /* without what is there only for speed: to compare with */
	/* Told how far it is, now and then; false: stop, with SONDE_E_STATE. May be NULL. */
	bool (*progress)(void *context, const input *in);
	/* For a file that holds several ranks: the number of the builder's file that stands for this one. UINT32_MAX:
	   out of memory. May be NULL. */
	uint32_t (*add_rank)(struct import_job *job, int32_t rank);
	void *context;

	/* what the importer found out; what input_damage() says is told by its caller */
	int32_t rank;	    /* before: what the file's name says; the content's takes its place. -1: unknown */
	int32_t world_size; /* -1 */
	uint64_t n_events;  /* in the file, sound or not: imported + reported */
	bool is_no_trace;   /* it failed because the file holds something else; nothing was added */
} import_job;

typedef struct importer {
	const char *name;
	const char *summary;				 /* one sentence */
	bool (*probe)(const uint8_t *bytes, size_t len); /* of the first bytes */
	sonde_status (*run)(import_job *job, sonde_error *err);
} importer;

#define IMPORTER(name) extern const importer name##_importer;
#include "import/importers.def"
#undef IMPORTER

#endif
