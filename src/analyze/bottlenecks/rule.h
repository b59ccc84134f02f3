/*
 * What a rule of `sonde bottlenecks` is: one file in rules/, one of these, one line in rules.def.
 *
 *   static void run(rule_run *r)
 *   {
 *           ...
 *           rule_saw(r, "%s in 12 copies", ...);          always: the numbers it looked at, for --explain
 *           if (!rule_exceeds(r, lost_ns, WARN))           a share of the time looked at
 *                   return;
 *           sonde_finding *f = rule_found(r, lost_ns, "title");
 *           finding_evidence(...), finding_suggest(...), tally_link(...)
 *   }
 *
 * A rule never fails: what it lacks it says with rule_no_data(). Times that rules sum up go over all ranks;
 * rule_found() makes them those of one.
 */
#ifndef SONDE_ANALYZE_BOTTLENECKS_RULE_H
#define SONDE_ANALYZE_BOTTLENECKS_RULE_H

#include "analyze/tables/evidence.h"
#include "analyze/result/result.h"
#include "analyze/settings.h"
#include "analyze/math/stats.h"
#include "base/vec.h"

typedef enum rule_need {
	NEED_DEVICE = 1, /* kernels or copies */
	NEED_STEPS = 2,
	NEED_RANKS = 4,	     /* at least two */
	NEED_COMM = 8,	     /* collectives on the device */
	NEED_HOST_ONLY = 16, /* no device: another rule looks at those that have one */
	NEED_ALLOCATIONS = 32,
} rule_need;

typedef struct rule_run rule_run;

typedef struct rule {
	const char *name;
	const char *checks; /* one sentence: what a finding of it would say */
	int number;	    /* in the table of docs/bottlenecks.md; 0: none */
	unsigned needs;	    /* rule_need */
	/* What this is only a sign of: names of rules. When one of them finds at least half as much, this goes there.
	 */
	const char *sign_of;
	const setting_def *settings;
	size_t n_settings;
	void (*run)(rule_run *r);
} rule;

#define RULE(name) extern const rule name##_rule;
#include "analyze/bottlenecks/rules.def"
#undef RULE

typedef enum rule_verdict { VERDICT_PASSED, VERDICT_FOUND, VERDICT_MERGED, VERDICT_NO_DATA } rule_verdict;

struct rule_run {
	const rule *rule;
	const evidence *e;
	sonde_result *result;
	rule_verdict verdict;
	const char *saw;     /* the numbers, or why there are none */
	const char *missing; /* in a word or two: "no device rows" */
};

/* The value of settings[i]. */
double rule_setting(const rule_run *r, size_t i);
void rule_saw(rule_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rule_no_data(rule_run *r, const char *missing);

/* lost_ns, of all ranks, is more than the share settings[i] of the time looked at. */
bool rule_exceeds(const rule_run *r, int64_t lost_ns, size_t i);
/* A finding over the steps that were looked at. lost_ns < 0: nobody knows. The severity comes from the share: critical
   from 40 %, high from 15 %, medium from 5 %. */
sonde_finding *rule_found(rule_run *r, int64_t lost_ns, const char *title_format, ...)
	__attribute__((format(printf, 3, 4)));

/* Texts of the result's arena: "1.94 s", "16 %", "312 MiB", "31,744". Never NULL. */
const char *say_ns(const rule_run *r, int64_t ns);
const char *say_share(const rule_run *r, int64_t part_ns, int64_t whole_ns);
const char *say_bytes(const rule_run *r, int64_t bytes);
const char *say_count(const rule_run *r, uint64_t n);
/* "1 copy takes" or "31,744 copies take": the words behind the number; "once" or "31,744 times". */
const char *say_some(const rule_run *r, uint64_t n, const char *one, const char *more);
const char *say_times(const rule_run *r, uint64_t n);
/* A time of all ranks as that of one, and as a share of the selected time. */
const char *say_each(const rule_run *r, int64_t ns);
const char *say_part(const rule_run *r, int64_t ns);
/* "5.86 ms of it", "all of it"; both of all ranks. */
const char *say_of_it(const rule_run *r, int64_t part_ns, int64_t whole_ns);
const char *say_per_rank(const rule_run *r); /* " per rank", "" where there is one */

/* Rows that belong to a finding: how many, how long, the worst of them. */
enum { TALLY_WORST = 3 };
typedef struct tally {
	uint64_t n;
	int64_t ns;
	uint32_t worst[TALLY_WORST];
	int64_t worst_ns[TALLY_WORST];
	size_t n_worst;
} tally;
void tally_add(tally *t, uint32_t number, int64_t ns);
/* Their slices and names go into the finding. */
void tally_link(rule_run *r, sonde_finding *f, const tally *t);
/* The sites of rows that a rule looks for; site_set_done(). Out of memory: there are none, and the result has failed.
 */
site_set rule_sites(const rule_run *r, uint32_t traits);
site_set rule_sites_named(const rule_run *r, const char *name);
site_set rule_kernels(const rule_run *r); /* what runs on devices, copies too */
static inline size_t rule_next(const rule_run *r, const site_set *sites, size_t i)
{
	return sites->has ? rows_next(&r->e->rows, sites, i) : r->e->rows.n;
}
#define FOR_ROWS(i, r, sites)                                                                                          \
	for (size_t i = rule_next(r, sites, 0); i < (r)->e->rows.n; i = rule_next(r, sites, i + 1))

/* Rows with any of the traits, host or device, by their own duration. */
tally tally_rows(const rule_run *r, uint32_t traits);

/* Device rows with any of the traits: how long they run while nothing computes. Adds them to the tally. */
int64_t rule_exposed(const rule_run *r, uint32_t traits, tally *t);
/* How long the device is idle around the ends of the host rows with any of the traits for which `wanted` is true (NULL:
   all): until it gets new work, but for the time in which the host loads data. */
int64_t rule_idle_behind(const rule_run *r, uint32_t traits, bool (*wanted)(const evidence *e, uint32_t number),
			 tally *t);
/* Sums the device's idle stretches longer than least_ns whose end was launched after they began (`late`) or before. */
int64_t rule_gaps(const rule_run *r, bool late, int64_t least_ns, tally *t);
/* A kernel with a launching call of its own (one launch of a graph has many), no collective. */
bool row_has_launch(const evidence *e, const row *at);
/* When a column of allocations on devices was largest: that row; bytes -1: there is none. */
typedef struct memory_peak {
	int64_t time_ns, allocated, reserved; /* -1: not known */
	uint32_t track;
} memory_peak;
memory_peak rule_peak(const rule_run *r, allocation_column of);

/* ---- Collectives on the device: rule_comm.c ---------------------------------------------------------------------- */

typedef struct messages {
	fact_reader *facts;
} messages;
typedef enum message_kind {
	MESSAGE_OTHER,
	MESSAGE_ALL_REDUCE,
	MESSAGE_GATHER,
	MESSAGE_SEND,
	MESSAGE_RECEIVE
} message_kind;
typedef struct message {
	int64_t in_bytes;  /* that a rank gives; -1: not known */
	int64_t bytes;	   /* the larger of what it gives and gets; -1: not known */
	int64_t group;	   /* ranks; 0: not known */
	message_kind kind; /* MESSAGE_GATHER: gather, scatter, all to all */
} message;
bool messages_read(const rule_run *r, messages *m); /* false when out of memory */
void messages_done(messages *m);
bool message_of(const rule_run *r, const messages *m, const row *at, message *ret); /* false: it is no collective */

/* ---- Use over time: rule_samples.c ------------------------------------------------------------------------------- */

/* A stretch of a rank's time, how much of it was looked at, and how much of that its device was busy. */
typedef struct use_part {
	int64_t from_ns, to_ns, seen_ns, busy_ns;
	int32_t rank;
} use_part;
typedef VEC(use_part) use_parts;
static inline double use_of(const use_part *p)
{
	return p->seen_ns > 0 ? (double)p->busy_ns / (double)p->seen_ns : 0;
}
/* How busy the device was step by step or, where there are none, in a hundred parts; the idlest first. VEC_DONE(). */
use_parts rule_device_use(const rule_run *r);
double use_percentile(const use_parts *parts, double percent); /* of at least one */

/* Counters of the machine, as monitors write them into traces: shares. VEC_DONE(). */
typedef enum machine_counter { COUNTER_CPU, COUNTER_IO_WAIT } machine_counter;
typedef struct counter_sample {
	use_part time; /* since the value before */
	double value;
} counter_sample;
typedef VEC(counter_sample) counter_samples;
counter_samples rule_counter(const rule_run *r, machine_counter what);

/* A rule about a counter that is high while the device has little to do. Its settings are, in this order: above which
   share the counter is high, below which share the device is idle, and of how many samples both must be true. */
typedef struct starved_rule {
	machine_counter counter;
	const char *title;
	const char *state;     /* "the processor is busy" */
	const char *own_state; /* what recordings of ours know instead: "the program keeps a processor busy"; NULL:
				  nothing */
	const char *suggestion;
} starved_rule;
void rule_starved(rule_run *r, const starved_rule *what);

/* The time goes into the finding, and what the device did next. */
void rule_link_time(rule_run *r, sonde_finding *f, int32_t rank, int64_t from_ns, int64_t to_ns);
/* The time in which a device is idle that has most in common with a set: rank by rank, and then into the finding. */
typedef struct idle_worst {
	const evidence_rank *k; /* NULL: none was found */
	interval idle;
	int64_t ns;
} idle_worst;
void idle_worst_find(idle_worst *worst, const evidence_rank *k, const intervals *set); /* set NULL: all of it counts */
void rule_link_worst(rule_run *r, sonde_finding *f, const idle_worst *worst);
void rule_link_idle(rule_run *r, sonde_finding *f); /* the longest */
/* The innermost row of a track at a time. */
void rule_link_place(rule_run *r, sonde_finding *f, uint32_t track, int64_t ns);

/* The innermost row of the track at a time; ROW_NONE: none. */
uint32_t row_at(const evidence *e, uint32_t track, int64_t ns);
/* Whether any ancestor of the row has one of the traits. */
bool row_is_inside(const evidence *e, uint32_t number, uint32_t traits);

#endif
