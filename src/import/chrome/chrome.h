/*
 * Chrome's trace events as JSON, the format of Kineto, ONNX Runtime and many others. Parts:
 *
 *   chrome.c          the importer: windows of text, the structure around the events, threads
 *   chrome/read.c     one event of any layout, sound or damaged: the careful way
 *   chrome/scan.c     where values end and events begin, in damaged text too
 *   chrome/match.c    one event whose layout was seen before: the fast way
 *   chrome/layout.c   layouts: what the careful way teaches the fast one
 *   chrome/dict.c     texts, sites and tracks by number
 *   chrome/facts.c    which of their arguments are facts
 *   chrome/apply.c    what events mean: tracks, slices, pairs, counters, flows; into the builder
 *
 * A program writes its events over and over in the same form, down to the white space. The careful reader takes the
 * text of a new form apart and leaves it behind as a layout: pieces of text with gaps between them. From then on the
 * matcher compares the pieces and reads the gaps. Whatever does not match goes to the careful reader, so the result
 * never depends on the matcher.
 *
 * A reader belongs to one thread; its strings, sites, tracks and templates have numbers of its own that chrome/apply.c
 * maps to the builder's, in the order of the file.
 */
#ifndef SONDE_IMPORT_CHROME_CHROME_H
#define SONDE_IMPORT_CHROME_CHROME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/text_hash.h"
#include "base/vec.h"
#include "import/chrome/facts.h"
#include "import/importer.h"

enum {
	CHROME_EXTRA = 24, /* members of an event that mean nothing to us */
	/* beyond that the args object is kept as one text; one gap stands between it and the extra members */
	CHROME_ARGS = ARGS_GAPS_MAX - CHROME_EXTRA - 1,
	CHROME_EXTRA_KEY = 240,	      /* bytes of their keys */
	CHROME_TOKEN_MAX = 4096,      /* bytes of a value that is neither string nor bracket */
	CHROME_EVENT_MAX = 16 << 20,  /* bytes of one event or of one value beside the events */
	CHROME_BESIDE_MAX = 64 << 20, /* bytes of what stands beside the events */
	CHROME_LAYOUT_NODES = 1 << 14,
	CHROME_TEXT_GAPS = 64,
	CHROME_FORGET_MAX = 8,
	CHROME_PENDING = 64, /* texts of arguments that are looked up together */
	CHROME_NONE = UINT32_MAX,
	TEXT_SEEN = 128, /* note of a text: what is wrong with it is known */
};

/* ---- Texts to numbers -------------------------------------------------------------------------------------------- */

typedef struct dict_entry {
	const uint8_t *text;
	uint32_t len;
	uint32_t key;	 /* part of the identity: the category of a name */
	uint32_t global; /* the builder's number, CHROME_NONE: not asked for yet */
	uint32_t name;	 /* of a site: the builder's string */
	uint8_t repairs; /* REPAIR bits that every use counts */
	uint8_t class;	 /* of a site: site_class */
	bool is_memory;	 /* of a site: an instant of it may be an allocation */
	bool is_own;	 /* of a site: exported from a recording */
	bool is_step;	 /* of such a site: its argument is the number */
	bool borrowed;	 /* the text is the builder's */
} dict_entry;

/* Behind every text DICT_SLACK bytes more may be read: the matcher compares names in vectors. */
enum { DICT_SLACK = 32, DICT_ROOM = 64 << 10 };

typedef struct dict {
	arena arena;
	uint8_t *room; /* for texts that are not long */
	size_t n_room;
	VEC(dict_entry) entries;
	uint64_t *slots; /* high half of the hash, number + 1 */
	size_t n_slots;
} dict;

uint32_t dict_find(dict *d, const uint8_t *text, size_t len, uint32_t key, uint64_t hash, bool *ret_new);
/* The same text is kept elsewhere as long as the dict, with DICT_SLACK: a long one need not be there twice. */
void dict_borrow(dict_entry *e, const char *same);
void dict_done(dict *d);

/* The key of a dict_entry is mixed in. */
static inline uint64_t dict_hash(uint64_t hash, uint32_t key)
{
	return hash + key * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- What is wrong with a file ----------------------------------------------------------------------------------- */

typedef enum chrome_problem {
	PROBLEM_UTF8,
	PROBLEM_ESCAPE,
	PROBLEM_CONTROL,
	PROBLEM_QUOTES,
	PROBLEM_NOT_JSON,
	PROBLEM_DUPLICATE,
	PROBLEM_ROUNDED,
	PROBLEM_RANGE,
	PROBLEM_NEGATIVE,
	PROBLEM_NO_DURATION,
	PROBLEM_NO_NAME,
	PROBLEM_COMMA,
	PROBLEM_MEMBERS,
	PROBLEM_FAR,
	PROBLEM_UNCLOSED,
	PROBLEM_CROSSED,
	PROBLEM_VALUES,
	PROBLEM_END_ARGS,
	PROBLEM_GARBAGE,
	PROBLEM_CUT,
	PROBLEM_TOP_LEVEL,
	PROBLEM_LOST_DAMAGED,
	PROBLEM_LOST_CUT,
	PROBLEM_LOST_LONG,
	PROBLEM_LOST_NO_TIME,
	PROBLEM_LOST_NO_PHASE,
	PROBLEM_LOST_PHASE,
	PROBLEM_LOST_ENDS,
	PROBLEM_LOST_WAITING,
	PROBLEM_LOST_VALUES,
	PROBLEM_LOST_ELEMENTS,
	PROBLEM_KINDS
} chrome_problem;
/* The kinds of format/index/diagnostics.def are in the same order. */
enum { PROBLEM_FIRST = DIAGNOSTIC_TEXT_UTF8 };
_Static_assert(DIAGNOSTIC_TEXT_LOST_ELEMENTS - PROBLEM_FIRST == PROBLEM_KINDS - 1, "one for each");

/* Repairs of strings, values and numbers, as bits of an event. The first eight fit a dict_entry. */
#define REPAIR(problem) (1u << PROBLEM_##problem)

typedef struct chrome_problems {
	uint64_t count[PROBLEM_KINDS];
	uint64_t first[PROBLEM_KINDS]; /* offset in the text */
} chrome_problems;

static inline void chrome_problem_add(chrome_problems *p, chrome_problem problem, uint64_t n, uint64_t offset)
{
	if (!p->count[problem] || offset < p->first[problem])
		p->first[problem] = offset;
	p->count[problem] += n;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

enum {
	EVENT_HAS_TIME = 1,
	EVENT_HAS_DURATION = 2,
	EVENT_HAS_ID = 4,
	EVENT_HAS_NAME = 8,
	EVENT_BINDS_ENCLOSING = 16, /* "bp": "e" */
	EVENT_HAS_CORRELATION = 32,
	EVENT_HAS_GLOBAL_ID = 64, /* of all processes: "id2": {"global": ...} */
};

typedef struct chrome_event {
	int64_t ts_ns, dur_ns;
	int64_t id;	  /* of a flow or async event, or the correlation */
	uint32_t site;	  /* number in reader.sites */
	uint32_t track;	  /* number in reader.tracks */
	uint32_t layout;  /* number in reader.layouts */
	uint32_t values;  /* of its arguments: index in batch.values */
	uint32_t at;	  /* offset from batch.offset */
	uint32_t repairs; /* REPAIR bits */
	uint8_t flags;
} chrome_event;

/* The events of a stretch of text. */
typedef struct chrome_batch {
	uint64_t offset;
	VEC(chrome_event) events;
	VEC(int64_t) values;	  /* numbers and text_refs */
	chrome_problems problems; /* beside the events' own repairs */
	uint64_t n_lost;	  /* events that are only in problems */
	bool failed;		  /* out of memory */
} chrome_batch;

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

typedef enum gap_kind {
	GAP_END, /* no gap: the event ends with the piece */
	GAP_NAME,
	GAP_TS,
	GAP_DUR,
	GAP_PID,
	GAP_TID,
	GAP_ID,
	GAP_INT,     /* a whole number, of the arguments */
	GAP_TEXT,    /* any value, of the arguments */
	GAP_KEPT_ID, /* GAP_ID and GAP_TEXT in one, with its quotes */
} gap_kind;

typedef struct layout_node {
	struct layout_node *child, *next;
	const uint8_t *piece; /* 32 more bytes may be read */
	uint32_t len;
	uint8_t gap;
	bool quoted; /* of GAP_PID, _TID, _ID: between quotes, which are in the pieces */
	union {
		struct {			       /* of GAP_END */
			struct layout_node *predicted; /* how the event after it began last time */
			uint32_t layout;
			uint32_t category;    /* number in reader.strings */
			uint32_t track, site; /* of the last event; site + 1 */
			int16_t correlation;  /* which value it is, -1: none */
			bool is_text;	      /* the correlation: its place in reader.texts */
		};
		struct { /* of GAP_PID, _TID: what stood there last, with the byte behind it, and what it means */
			uint64_t last_text, last_mask;
			int64_t last_number;
		};
	};
} layout_node;

/* A value of the arguments that was seen but not looked up yet. Looking up many at a time lets the memory of all be on
   its way at once. */
typedef struct pending_text {
	const uint8_t *at;
	uint64_t hash;
	uint32_t len;
	uint32_t value; /* index in batch.values */
	uint32_t event; /* index in batch.events */
} pending_text;

/* Arguments of the instant "[memory]". */
typedef enum memory_arg {
	MEMORY_BYTES,
	MEMORY_ADDRESS,
	MEMORY_DEVICE_TYPE,
	MEMORY_DEVICE,
	MEMORY_TOTAL,
	MEMORY_RESERVED,
	MEMORY_ARGS
} memory_arg;

/* What events of the same members have in common. Values of arguments are in the order of the text; the template wants
   those of the args object first. */
typedef struct chrome_layout {
	char phase;
	char scope;	   /* of an instant: "s" */
	uint8_t flags;	   /* EVENT_BINDS_ENCLOSING */
	uint32_t template; /* number in reader.templates, CHROME_NONE: no arguments */
	uint32_t n_values;
	uint32_t separator;	     /* gap without a value between args and extra members, CHROME_NONE: none */
	int16_t correlation, device; /* index of the value, -1: none */
	int16_t memory[MEMORY_ARGS]; /* gaps of an allocation's arguments, -1: none */
	bool in_order;		     /* values are in the order of the template, without a separator */
	uint8_t order[ARGS_GAPS_MAX];
} chrome_layout;

typedef struct chrome_template {
	args_template shape;	/* in the reader's arena */
	const args_piece *keys; /* of every gap: as in the JSON, without quotes */
	chrome_fact_gaps facts;
	/* by chrome/families.c */
	uint32_t family;  /* CHROME_NONE: not asked for yet */
	uint32_t version; /* of the family, when it has the same kinds; else 0 */
	uint32_t told;	  /* the version whose texts the reader knows */
} chrome_template;

/* A value of pid, tid or id: a number or a string's number in reader.strings. */
typedef struct chrome_token {
	int64_t number;
	bool is_text;
} chrome_token;

typedef struct chrome_track {
	chrome_token pid, tid;
	uint8_t repairs;
	/* by chrome/apply.c */
	uint32_t process, global; /* the builder's; CHROME_NONE: not asked for yet */
	bool device_known;
} chrome_track;

/* A gap whose numbers are kept as texts, as there were texts in it somewhere else in the file. */
typedef struct text_gap {
	uint64_t shape; /* of its template: a hash of the pieces */
	uint32_t gap;
} text_gap;

typedef struct chrome_reader {
	uint64_t seed;
	dict strings;	  /* names, categories, ids: text between quotes; key 0 */
	dict sites;	  /* names; key = category's number in strings + 1 */
	dict shapes;	  /* layouts and templates by their description */
	text_pool *texts; /* values of arguments, the builder's; note: TEXT_SEEN and REPAIR bits */
	VEC(chrome_track) tracks;
	uint32_t *track_slots;
	size_t n_track_slots;
	layout_node root;
	size_t n_nodes;
	VEC(chrome_layout) layouts;
	VEC(chrome_template) templates;
	VEC(text_gap) text_gaps;
	bool forget; /* the matcher's tree, before the next event: it has numbers in a text_gap */
	unsigned n_forgotten;
	pending_text pending[CHROME_PENDING + ARGS_GAPS_MAX]; /* of the matcher, while it runs */
	uint32_t n_pending;
	arena arena;
	layout_node *last_end; /* what the last event ended with, or the root */
	bool scalar;
	bool careful; /* learns nothing: the matcher never matches */
	bool failed;  /* out of memory */
} chrome_reader;

bool chrome_reader_init(chrome_reader *r, const import_job *job);
void chrome_reader_done(chrome_reader *r);

uint32_t reader_find(chrome_reader *r, dict *d, const uint8_t *text, size_t len, uint32_t key, bool *ret_new);
uint32_t reader_string(chrome_reader *r, const uint8_t *text, size_t len);
uint32_t reader_site(chrome_reader *r, const uint8_t *name, size_t len, uint32_t category, uint32_t *repairs);
int64_t reader_text(chrome_reader *r, const uint8_t *json, size_t len, uint32_t *repairs); /* a text_ref */
/* What is wrong with a text that was found. */
uint32_t reader_text_repairs(chrome_reader *r, uint32_t place);
/* The same for one that dict_find just made: looks at what is wrong with it. */
uint32_t reader_new_site(chrome_reader *r, uint32_t number, uint32_t *repairs);
uint32_t reader_track(chrome_reader *r, chrome_token pid, chrome_token tid);
/* True when the text is a whole number as JSON writes it, of at most 18 digits: a GAP_INT. */
bool chrome_is_int(const uint8_t *text, size_t len, int64_t *ret_value);
/* A number where the text is one, also as 0x1f; else the text. */
chrome_token reader_token(chrome_reader *r, const uint8_t *text, size_t len);
/* The JSON of an id: number, string or object of the one that says where it counts. May add EVENT_HAS_GLOBAL_ID. */
chrome_token reader_id(chrome_reader *r, const uint8_t *json, size_t len, uint32_t *flags);
/* The whole number that a text of the arguments is. False: it is none. */
static inline bool reader_int(const chrome_reader *r, int64_t text, int64_t *ret_value)
{
	const pool_text *t = r->failed ? NULL : text_at(r->texts, (uint32_t)text);

	return t && chrome_is_int(t->text, t->len, ret_value);
}
static inline uint8_t reader_token_repairs(const chrome_reader *r, chrome_token token)
{
	return token.is_text && (uint64_t)token.number < r->strings.entries.n
		       ? r->strings.entries.items[token.number].repairs
		       : 0;
}
/* Decimal microseconds to nanoseconds. False: no usable number. */
bool chrome_time(const uint8_t *text, size_t len, int64_t *ret_ns, uint32_t *repairs);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef enum read_status {
	READ_OK,
	READ_MORE, /* the text ends before the event does */
	READ_BAD,  /* damaged */
	READ_LONG, /* nested too deeply */
} read_status;

/* One event at '{'. On READ_OK *at is behind it and the event is in the batch. Otherwise *at is where it went wrong. */
read_status chrome_read(chrome_reader *r, chrome_batch *b, const uint8_t **at, const uint8_t *end, const uint8_t *base);

/* The events of `layout`s that are known, from `at` on, as many as there are in a row, with what stands between them.
   Returns where the first one begins that is not, or where the text goes on otherwise. */
const uint8_t *chrome_match(chrome_reader *r, chrome_batch *b, const uint8_t *at, const uint8_t *end,
			    const uint8_t *base);

/* ---- Learning ---------------------------------------------------------------------------------------------------- */

typedef struct chrome_member {
	const uint8_t *key, *value; /* the key without quotes, the value with */
	uint32_t key_len, value_len;
} chrome_member;

/* Members of an event that mean something. */
typedef enum chrome_member_kind {
	MEMBER_PHASE,
	MEMBER_NAME,
	MEMBER_CATEGORY,
	MEMBER_TS,
	MEMBER_DUR,
	MEMBER_PID,
	MEMBER_TID,
	MEMBER_ID,
	MEMBER_SCOPE,
	MEMBER_BP,
	MEMBER_ARGS,
	MEMBER_KINDS
} chrome_member_kind;

/* An event taken apart. Members of the args object are in args unless it is kept whole. */
typedef struct chrome_parts {
	const uint8_t *start, *end;
	chrome_member known[MEMBER_KINDS]; /* value NULL: missing */
	chrome_member args[CHROME_ARGS];
	size_t n_args;
	bool args_whole; /* not taken apart */
	chrome_member extra[CHROME_EXTRA];
	size_t n_extra;
	uint32_t repairs;
	bool clean; /* the text may become a layout */
} chrome_parts;

/* Has the reader keep the numbers of a gap as texts from now on, so that nobody else has to turn them into texts. */
void chrome_keep_text(chrome_reader *r, const args_template *t, uint32_t gap);
/* Forgets the layouts that this made useless. Between batches. */
void chrome_forget(chrome_reader *r);

/* The layout of such events, CHROME_NONE when out of memory. With `learn` the matcher knows it from then on. */
uint32_t chrome_layout_of(chrome_reader *r, const chrome_parts *p, bool learn);

/* ---- Meaning ----------------------------------------------------------------------------------------------------- */

typedef struct chrome_apply chrome_apply;
chrome_apply *chrome_apply_new(import_job *job);
void chrome_apply_free(chrome_apply *a);
/* The events of a batch that `r` read, in the order of the file. False when out of memory. */
bool chrome_apply_batch(chrome_apply *a, chrome_reader *r, const chrome_batch *b);
/* A value beside the events: key as in the JSON, without quotes; value JSON. */
void chrome_apply_top_level(chrome_apply *a, const uint8_t *key, size_t key_len, const uint8_t *value, size_t len,
			    uint64_t offset);
void chrome_apply_problem(chrome_apply *a, chrome_problem problem, uint64_t n, uint64_t offset);
/* How many elements the list has when none of them is an event, whole or damaged, and where the first is; 0: there are
   events, or no elements. */
uint64_t chrome_apply_strangers(const chrome_apply *a, uint64_t *ret_first);
/* Closes what is open, tells the builder what was wrong. */
bool chrome_apply_finish(chrome_apply *a);

#endif
