/* What the parts of chrome/apply.c share. See chrome.h. */
#ifndef SONDE_IMPORT_CHROME_APPLY_H
#define SONDE_IMPORT_CHROME_APPLY_H

#include <string.h>
#include "base/intern.h"
#include "import/chrome/chrome.h"
#include "import/pairing.h"

typedef struct top_level {
	char *key, *value;
	size_t key_len, len;
	uint32_t file; /* of the builder */
} top_level;

typedef struct rank_file {
	int32_t rank;
	uint32_t file;
} rank_file;

/* Templates that differ only in which values are numbers. */
typedef struct chrome_family {
	uint32_t template; /* the builder's */
	uint32_t version;  /* grows when the kinds change */
	uint8_t kinds[ARGS_GAPS_MAX];
} chrome_family;

/* What events carried so far: the builder's number by the values of the arguments. */
typedef struct chrome_known_facts {
	intern_table keys;
	VEC(uint32_t) numbers;
} chrome_known_facts;

struct chrome_apply {
	import_job *job;
	builder *b;
	chrome_problems problems;
	uint64_t n_phase[256];
	uint64_t n_lost;	    /* events that never became a chrome_event */
	int64_t first_ns, last_ns;  /* of all events that are not lost */
	uint64_t first_at, last_at; /* where these are in the text */
	uint64_t far_at;	    /* the first that is far outside of all others */
	pairing scopes;		    /* B and E, by track */
	pairing async_scopes;	    /* b and e, by number in `async` */
	dict async;		    /* process, category and id of b and e */
	dict threads;		    /* by process and tid; `global`: the track, which may be that of another thread */
	dict ranked;		    /* by pid; `global`: the process, of a file that holds several ranks */
	VEC(rank_file) ranks;
	VEC(int64_t) flow_bases; /* by process of the builder: to take off the ids of its arrows */
	VEC(top_level) tops;
	size_t tops_bytes;
	VEC(char) text; /* scratch */
	uint64_t seed;
	dict family_names;
	VEC(chrome_family) families;
	chrome_known_facts facts[FACT_KINDS];
	int64_t base_ns;
	bool is_recorded; /* by Sonde, and exported */
	bool has_base;
	bool failed;
};

static inline void apply_saw_time(chrome_apply *a, int64_t ns, uint64_t at)
{
	if (ns < a->first_ns)
		a->first_ns = ns, a->first_at = at;
	if (ns > a->last_ns)
		a->last_ns = ns, a->last_at = at;
}

static inline void apply_problem(chrome_apply *a, chrome_problem what, uint64_t at)
{
	chrome_problem_add(&a->problems, what, 1, at);
}

static inline bool apply_is(const dict_entry *e, const char *text)
{
	return e->len == strlen(text) && memcmp(e->text, text, e->len) == 0;
}

static inline int32_t apply_small(int64_t value)
{
	return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

/* The builder's numbers of what a reader found: chrome/numbers.c */
bool apply_room(chrome_apply *a, size_t bytes);				 /* for so many more bytes in a->text */
uint32_t apply_string(chrome_apply *a, const uint8_t *text, size_t len); /* between quotes */
uint32_t apply_reader_string(chrome_apply *a, chrome_reader *r, uint32_t number);
uint32_t apply_new_site(chrome_apply *a, chrome_reader *r, uint32_t number);
uint32_t apply_process(chrome_apply *a, chrome_reader *r, uint32_t track);
uint32_t apply_new_track(chrome_apply *a, chrome_reader *r, uint32_t number);

static inline uint32_t apply_site(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	uint32_t global = r->sites.entries.items[number].global;

	return __builtin_expect(global != CHROME_NONE, 1) ? global : apply_new_site(a, r, number);
}

/* The name alone, of what is no slice and no instant. */
static inline uint32_t apply_name(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	const dict_entry *site = &r->sites.entries.items[number];

	return site->global != CHROME_NONE ? site->name : apply_string(a, site->text, site->len);
}

static inline uint32_t apply_track(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	uint32_t global = r->tracks.items[number].global;

	return __builtin_expect(global != CHROME_NONE, 1) ? global : apply_new_track(a, r, number);
}

/* `global` is the track of the thread, CHROME_NONE: nobody asked yet. NULL when out of memory. */
dict_entry *apply_thread(chrome_apply *a, chrome_reader *r, uint32_t number);

/* The record + 1 of an event's arguments; 0: it has none. chrome/families.c */
uint32_t apply_args(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);

/* What the event carried, beside its arguments: chrome/facts.c */
void apply_facts(chrome_apply *a, const chrome_reader *r, const chrome_batch *b, const chrome_event *e, uint32_t args);

/* The id of an event: a number or, with bit 62 set, a string. As FLOW_ID. */
uint64_t apply_id(chrome_apply *a, chrome_reader *r, const chrome_event *e);

/* Arguments of an event: chrome/args.c */
/* An argument by its key: a number or JSON text. False: there is none. */
typedef struct chrome_arg {
	bool is_int;
	int64_t number;
	const uint8_t *text;
	size_t len;
} chrome_arg;

void apply_text(chrome_apply *a, const void *text, size_t len); /* appends to a->text */
/* Puts the text of the args object into a->text; empty: it has none. */
void apply_assemble(chrome_apply *a, const chrome_reader *r, const chrome_batch *b, const chrome_event *e);
/* Members of the args object alone, and one of them. */
uint32_t apply_n_args(const chrome_reader *r, const chrome_event *e);
chrome_arg apply_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, uint32_t gap);
bool apply_find_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, const char *key,
		    chrome_arg *ret_arg);
int64_t apply_int_arg(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, const char *key,
		      int64_t otherwise);
int64_t apply_int_gap(const chrome_reader *r, const chrome_batch *b, const chrome_event *e, int16_t gap,
		      int64_t otherwise); /* -1: there is none */

/* What launch and kernel have in common, + 1, or 0; and the device of a track, where a slice on it says so. */
uint64_t apply_correlation(const chrome_event *e);
/* The number of a step that a recording has. */
void apply_step(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);
void apply_device(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);

/* Begins and their ends: chrome/scopes.c */
void apply_open_scopes(chrome_apply *a);
void apply_begin(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);
void apply_end(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);
void apply_async(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e, char phase);
void apply_close_scopes(chrome_apply *a);

/* Metadata events and values beside the events: chrome/meta.c */
void apply_metadata(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);
void apply_put_meta(chrome_apply *a);
void apply_keep_top(chrome_apply *a, uint32_t file, const uint8_t *key, size_t key_len, const uint8_t *value,
		    size_t len, uint64_t offset);

/* Several ranks in one file: chrome/ranks.c */
void apply_rank(chrome_apply *a, chrome_reader *r, const chrome_batch *b, const chrome_event *e);
void apply_rank_meta(chrome_apply *a, const uint8_t *value, size_t len, uint64_t offset);
/* `global`: the process that stands for this pid, CHROME_NONE: its own. NULL when out of memory. */
dict_entry *apply_ranked_process(chrome_apply *a, uint32_t is_text, int64_t pid);

#endif
