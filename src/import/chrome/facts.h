/*
 * Facts in the arguments of Chrome's events: what Kineto calls "Collective name" or "Seq" becomes rows of the index
 * (format/index/sections.h). No other directory knows these words.
 *
 *   chrome_facts_find()   which gaps of a template hold facts, when the template is new
 *   chrome_roles_put()    which arguments say what, when they stay where they are
 *   apply_facts()         those of an event (apply.h)
 *   chrome_facts_put()    those of an args object that lies as JSON
 *   chrome_devices_put()  what stands beside the events: devices.c
 */
#ifndef SONDE_IMPORT_CHROME_FACTS_H
#define SONDE_IMPORT_CHROME_FACTS_H

#include <stdint.h>
#include "store/build/builder.h"

typedef enum chrome_fact {
#define FACT(kind, key, text) KEY_##kind##_##key,
#define FACT_WEAK(kind, key, text) KEY_##kind##_##key,
#include "import/chrome/facts.def"
#undef FACT
#undef FACT_WEAK
	CHROME_FACTS
} chrome_fact;

enum { FACT_NO_GAP = 255 };

/* Of a template. */
typedef struct chrome_fact_gaps {
	uint8_t gaps[CHROME_FACTS]; /* of the args object, FACT_NO_GAP: none */
	uint8_t kinds;		    /* a bit for each builder_fact_kind */
	bool is_whole;		    /* the args object is one text: look into it */
} chrome_fact_gaps;

chrome_fact_gaps chrome_facts_find(const args_template *t, const args_piece *keys);
/* Roles of the keys of a template that the builder does not know yet. */
void chrome_roles_put(builder *b, const args_piece *keys, uint32_t n);
/* Roles of its keys, too. args: record + 1; 0: the roles alone. */
void chrome_facts_put(builder *b, uint32_t args, const char *json, size_t len);

enum { CHROME_DEVICES_MAX = 4096 }; /* of a rank */
/* The devices of a list as Kineto writes it; rank as builder_meta() takes it. */
void chrome_devices_put(builder *b, int32_t rank, const char *json, size_t len);

#endif
