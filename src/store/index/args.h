/*
 * Arguments of slices, small and exact: a record is a template and the values that go into its gaps.
 *
 * Programs write the same arguments over and over: `{"External id": 17, "Ev Idx": 4}`. The text around the values is
 * kept once, as a template; a record is the template's number and its values. A gap of kind ARG_INT takes a whole
 * number as JSON writes it (no leading zeros, no plus, within int64, not "-0"), ARG_TEXT any other value, by its number
 * in a dictionary of JSON texts. Put together they are the original text again, byte for byte.
 *
 *   template = varint n_gaps, varint n_args_pieces, then n_gaps + 1 pieces { varint len, bytes }, then n_gaps bytes of
 *              arg_kind. Pieces [0, n_args_pieces) and the gaps between them are the text of the args object; what is
 *              left is members of the event itself that have no column of their own: `"cname": "x", "tts": 5`. With
 *              n_args_pieces 0 there is no args object.
 *
 * So a template with args and g gaps in them has n_args_pieces = g + 1; a further piece starts the extra members. Gap
 * g, between the two, belongs to neither text: it is an ARG_INT whose value is 0 in every record.
 *
 *   record = varint template, then per gap: ARG_INT zigzag varint of the difference to the value of the same template
 *            and gap in its block, 0 at first; ARG_TEXT varint of the number
 *
 * Blocks of ARGS_RECORDS records can be read without the others.
 */
#ifndef SONDE_STORE_INDEX_ARGS_H
#define SONDE_STORE_INDEX_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARGS_RECORDS = 1024, ARGS_GAPS_MAX = 128 };
typedef enum arg_kind { ARG_INT = 0, ARG_TEXT = 1 } arg_kind;

/* A template as the one who makes it sees it: pieces[i] stands before gap i, pieces[n_gaps] after the last. */
typedef struct args_piece {
	const char *text;
	uint32_t len;
} args_piece;

typedef struct args_template {
	uint32_t n_gaps;
	uint32_t n_args_pieces;
	const args_piece *pieces; /* n_gaps + 1 */
	const uint8_t *kinds;	  /* arg_kind of n_gaps */
} args_template;

#endif
