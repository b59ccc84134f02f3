/*
 * Runs analyses of a trace by name and prints their results. Needs libsonde.
 *
 * All functions are safe on different objects from different threads.
 */
#ifndef SONDE_ANALYZE_H
#define SONDE_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sonde/error.h>
#include <sonde/setting.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_result sonde_result;
typedef struct sonde_table sonde_table;

/* Set struct_size to sizeof(sonde_analyze_options); everything else may stay 0. Strings are borrowed for the call. */
typedef struct sonde_analyze_options {
	size_t struct_size;
	const char *sort; /* a column: "total" (NULL), "self", "calls", "avg", "min", "max", "std", "p50", "p95", "p99",
			     "name", "allocated", "freed", "peak" */
	const char *filter; /* only names that contain this; "^a" at the start, "a$" at the end */
	uint64_t top;	    /* rows; 0: 20 for people, all in JSON and CSV; UINT64_MAX: all */
	int64_t first_step; /* with use_steps: only what began in steps first_step..last_step */
	int64_t last_step;
	bool use_steps;
	bool tree;	 /* names as a call tree */
	bool threads;	 /* one table per thread */
	int64_t from_ns; /* with use_time: select events that began in [from_ns, to_ns), since the start of the trace */
	int64_t to_ns;
	const char *ranks;  /* "0,2-4"; NULL: all */
	const char *warmup; /* steps to skip at the start: "auto" (NULL), "none" or a number; excludes use_steps */
	const char *compat; /* another tool's definitions: "hta", "tracelens"; NULL: Sonde's */
	const sonde_setting *settings;
	size_t n_settings;
	bool use_time;
	uint64_t memory_bytes; /* approximate memory limit for a large trace; 0: 1 GB; less memory takes longer */
} sonde_analyze_options;

typedef enum sonde_format { SONDE_TEXT, SONDE_JSON, SONDE_CSV, SONDE_MARKDOWN, SONDE_HTML } sonde_format;

/* Set struct_size to sizeof(sonde_print_options). */
typedef struct sonde_print_options {
	size_t struct_size;
	unsigned width; /* columns of the terminal, 0: 80 */
	bool color;
	bool utf8;	   /* bars and ellipses in Unicode */
	const char *table; /* the key of the table for CSV; NULL: the findings, else the first table */
} sonde_print_options;

/* Runs the analysis of this name, one of sonde_analysis(). options may be NULL. For a recording without an index the
   result has only the data that needs none; call sonde_trace_prepare() first to build the index. The caller frees
   *ret_result, which may outlive the trace: it keeps the names alive after sonde_trace_free(). */
SONDE_API sonde_status sonde_analyze(const sonde_trace *trace, const char *name, const sonde_analyze_options *options,
				     sonde_result **ret_result, sonde_error *err);

/* Lists the analyses: name and one sentence each. Returns false if index is past the last. */
SONDE_API bool sonde_analysis(size_t index, const char **ret_name, const char **ret_summary);

/* Lists the settings of the analysis: key, default and one sentence each. Returns false if index is past the last. */
SONDE_API bool sonde_analysis_setting(const char *name, size_t index, sonde_setting *ret_default,
				      const char **ret_summary);

/* Prints the result. options may be NULL. Fails if writing to the stream fails. */
SONDE_API sonde_status sonde_result_print(const sonde_result *result, sonde_format format,
					  const sonde_print_options *options, FILE *out, sonde_error *err);

/*
 * Access to the contents of a result; the printed forms have nothing else. All returned pointers belong to the result
 * and live as long. An index past the last, or an unknown name, gives NULL, false or an unknown value.
 */
typedef enum sonde_value_type {
	SONDE_VALUE_UNKNOWN,
	SONDE_VALUE_STRING,
	SONDE_VALUE_COUNT,   /* from 0 on */
	SONDE_VALUE_INTEGER, /* a number that names something: a step, a rank */
	SONDE_VALUE_NS,
	SONDE_VALUE_BYTES,
	SONDE_VALUE_PERCENT, /* 0..100 */
	SONDE_VALUE_NUMBER,
	SONDE_VALUE_BOOL,
} sonde_value_type;

typedef struct sonde_value {
	sonde_value_type type;
	const char *string; /* of SONDE_VALUE_STRING, else NULL; may hold any bytes but NUL */
	int64_t integer;    /* of counts, integers, nanoseconds, bytes and bools, exactly; else 0 */
	double number;	    /* of everything that is a number */
} sonde_value;

typedef struct sonde_column {
	const char *key;    /* "total_ns" */
	const char *header; /* "total" */
	const char *unit;   /* "ns", "bytes", "%" or "" */
	sonde_value_type type;
} sonde_column;

/* Returns the first line of the text form, or NULL. */
SONDE_API const char *sonde_result_headline(const sonde_result *result);

/* Returns a single value, such as "duration_ns". */
SONDE_API sonde_value sonde_result_value(const sonde_result *result, const char *key);
SONDE_API bool sonde_result_value_at(const sonde_result *result, size_t index, const char **ret_key,
				     sonde_value *ret_value);

/* Notes: "memory", "cpu peak 312 MiB at 4.81 s". */
SONDE_API bool sonde_result_note(const sonde_result *result, size_t index, const char **ret_label,
				 const char **ret_text);

/* Tables, by index or by key; NULL if there is none. They and their texts live as long as the result. */
SONDE_API size_t sonde_result_n_tables(const sonde_result *result);
SONDE_API const sonde_table *sonde_result_table(const sonde_result *result, size_t index);
SONDE_API const sonde_table *sonde_result_find_table(const sonde_result *result, const char *key);
SONDE_API const char *sonde_table_key(const sonde_table *table);
SONDE_API const char *sonde_table_title(const sonde_table *table); /* or NULL */
SONDE_API size_t sonde_table_n_rows(const sonde_table *table);
SONDE_API size_t sonde_table_n_columns(const sonde_table *table);
SONDE_API bool sonde_table_column(const sonde_table *table, size_t index, sonde_column *ret_column);
SONDE_API unsigned sonde_table_depth(const sonde_table *table, size_t row); /* in a tree */
/* Returns a cell. Its type may differ from the column's: SONDE_VALUE_UNKNOWN. */
SONDE_API sonde_value sonde_table_cell(const sonde_table *table, size_t row, size_t column);

/* Findings. Later versions may add fields at the end of the struct. */
typedef enum sonde_severity { SONDE_LOW, SONDE_MEDIUM, SONDE_HIGH, SONDE_CRITICAL } sonde_severity;

typedef struct sonde_finding {
	const char *rule; /* "dataloader" */
	sonde_severity severity;
	double seconds_lost;	     /* upper bound; -1: unknown */
	double share;		     /* of the selected time, 0..1; -1: unknown */
	double confidence;	     /* 0..1 */
	const char *title;	     /* "data loading delays the steps" */
	const char *suggestion;	     /* "load in more than one thread"; NULL: none */
	const char *const *evidence; /* sentences */
	size_t n_evidence;
	const char *const *affected; /* names of operations, kernels, layers */
	size_t n_affected;
	/* Where to look. */
	const uint64_t *slices; /* their ids, the worst first */
	size_t n_slices;
	bool has_time; /* from_ns and to_ns, since the start of the trace */
	bool has_steps;
	int64_t from_ns;
	int64_t to_ns;
	int64_t first_step;
	int64_t last_step;
	int32_t rank; /* -1: all, or no ranks */
} sonde_finding;

/* Findings, the most expensive first. */
SONDE_API size_t sonde_result_n_findings(const sonde_result *result);
SONDE_API const sonde_finding *sonde_result_finding(const sonde_result *result, size_t index);
/* "low", "medium", "high", "critical" */
SONDE_API const char *sonde_severity_name(sonde_severity severity);

/* Accepts NULL. */
SONDE_API void sonde_result_free(sonde_result *result);

#ifdef __cplusplus
}
#endif
#endif
