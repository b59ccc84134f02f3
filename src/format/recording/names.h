/*
 * Names and what they belong to, as records behind each other: in a BLOCK_NAMES and in the ring's names area. An event
 * carries a record's id.
 */
#ifndef SONDE_FORMAT_RECORDING_NAMES_H
#define SONDE_FORMAT_RECORDING_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first seven are SONDE_SITE_*_ of record.h. */
typedef enum name_kind {
	NAME_SCOPE = 0,
	NAME_PHASE = 1,
	NAME_STEP = 2,
	NAME_MARK = 3,
	NAME_COUNTER = 4,
	NAME_OP = 5,
	NAME_MODULE = 6,
	NAME_CATEGORY = 7,
	NAME_DEVICE = 8,
	NAME_STREAM = 9, /* `category` is the id of its device */
	NAME_KINDS
} name_kind;

enum {
	NAME_FIRST_ID = 32,   /* below: event_code of events.h */
	NAME_FULL_ID = 31,    /* stands for every name when the table is full */
	NAME_MAX_BYTES = 255, /* of one string; longer ones are cut */
	NAME_MAX_ARGS = 16,
	NAME_RECORD_MAX = 4096,
};

typedef struct name_record {
	uint16_t size; /* of the whole record, a multiple of 8 */
	uint16_t id;
	uint8_t kind;
	uint8_t n_args;
	uint16_t category; /* id of a NAME_CATEGORY, or a fixed category */
	uint32_t line;
	uint16_t args_len; /* per argument: type, length of the key, key */
	uint8_t name_len, file_len, function_len;
	uint8_t cut; /* a string was longer than NAME_MAX_BYTES */
	uint8_t reserved[6];
	char text[]; /* name, file, function, args */
} name_record;
_Static_assert(sizeof(name_record) == 24, "on disk");

/* What record_write puts together; strings may be NULL. */
typedef struct name_parts {
	uint16_t id;
	uint8_t kind;
	uint16_t category;
	uint32_t line;
	const char *name, *file, *function;
	size_t name_len;
	struct {
		uint8_t type; /* SONDE_ARG_*_ */
		const char *key;
	} args[NAME_MAX_ARGS];
	size_t n_args;
} name_parts;

/* Writes the record into buffer (NAME_RECORD_MAX bytes) and returns its size. */
size_t name_write(void *buffer, const name_parts *parts);

/* The record at `at` with `len` bytes left, or NULL when there is no whole and sound one. */
const name_record *name_read(const void *at, size_t len);

/* Argument number i: its key is not terminated. False when there is none. */
bool name_arg(const name_record *record, unsigned i, uint8_t *ret_type, const char **ret_key, size_t *ret_len);

#endif
