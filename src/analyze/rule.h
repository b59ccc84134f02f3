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
#ifndef SONDE_ANALYZE_RULE_H
#define SONDE_ANALYZE_RULE_H

#include "analyze/evidence.h"
#include "analyze/result.h"
#include "analyze/settings.h"

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
#include "analyze/rules.def"
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
/* A time of all ranks as that of one, and as a share of the time looked at. */
const char *say_each(const rule_run *r, int64_t ns);
const char *say_part(const rule_run *r, int64_t ns);

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
/* Rows with any of the traits, host or device, by their own duration. */
tally tally_rows(const rule_run *r, uint32_t traits);

/* Device rows with any of the traits: how long they run while nothing computes. Adds them to the tally. */
int64_t rule_exposed(const rule_run *r, uint32_t traits, tally *t);
/* How long the device is idle around the ends of the host rows for which `wanted` is true: until it gets new work. */
int64_t rule_idle_behind(const rule_run *r, bool (*wanted)(const evidence *e, uint32_t number), tally *t);
/* Sums the device's idle stretches longer than least_ns whose end was launched after they began (`late`) or before. */
int64_t rule_gaps(const rule_run *r, bool late, int64_t least_ns, tally *t);
/* A kernel with a launching call of its own (one launch of a graph has many), no collective. */
bool row_has_launch(const evidence *e, const row *at);
/* The largest value of a column of allocations on devices, and another column then; -1: none. */
void rule_peak(const rule_run *r, int of, int64_t *ret_value, int64_t *ret_other, int other);

/* Whether any ancestor of the row has one of the traits. */
bool row_is_inside(const evidence *e, uint32_t number, uint32_t traits);

#endif
