/*
 * Large collectives reach less than half of what the links between the devices could carry.
 *
 * A collective also waits for late ranks, so that of calls with the same size the quickest counts: what even that one
 * does not reach, the link does not give. Groups of up to eight are taken to be on one machine; the trace does not say.
 */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { PEAK, SHARE, BYTES };
static const setting_def settings[] = {
	{ "bus_bandwidth.peak", SETTING_NUMBER, "0", "GB/s of a device in one direction; 0: by the device's name" },
	{ "bus_bandwidth.share", SETTING_SHARE, "50%", "minimum share of the peak" },
	{ "bus_bandwidth.bytes", SETTING_BYTES, "64MB", "minimum size of a large collective" },
};

/* NVLink and xGMI, GB/s of a device in one direction, from the vendors' data sheets. */
static double peak_of(const sonde_index *ix)
{
	static const struct {
		const char *name;
		double gbps;
	} peaks[] = {
		{ "V100-SXM", 150 }, { "A100-SXM", 300 }, { "A800-SXM", 200 }, { "H100 80GB HBM", 450 },
		{ "H100-SXM", 450 }, { "H200", 450 },	  { "H800", 200 },     { "B200", 900 },
		{ "MI250", 200 },    { "MI300X", 448 },	  { "MI325X", 448 },
	};

	size_t n;
	const index_device *devices = index_devices(ix, &n);

	/* All devices of a run are of a kind: the first one that is known speaks for them. */
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
			if (strstr(index_text(ix, devices[k].name), peaks[i].name))
				return peaks[i].gbps;
	return 0;
}

/* What goes over a link for a byte of the message; NCCL's bus bandwidth. */
static double factor_of(const message *m)
{
	double n = (double)m->group;

	return m->kind == MESSAGE_ALL_REDUCE ? 2 * (n - 1) / n : m->kind == MESSAGE_GATHER ? (n - 1) / n : 1;
}

typedef struct size_class {
	message of;
	double best_gbps;
	int64_t exposed_ns;
} size_class;
typedef VEC(size_class) size_classes;

static size_class *class_of(size_classes *all, const message *m)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].of.bytes == m->bytes && all->items[i].of.kind == m->kind &&
		    all->items[i].of.group == m->group)
			return &all->items[i];
	size_class *made = all->n < 256 ? VEC_ADD(all) : NULL; /* further sizes are not looked at */
	if (made)
		*made = (size_class){ .of = *m };
	return made;
}

static void add_rank(rule_run *r, const messages *read, const evidence_rank *k, size_classes *all, tally *large)
{
	message m;

	for (size_t j = 0; j < k->of->n_device; j++) {
		const row *at = evidence_row(r->e, k->of->device[j]);
		if (!message_of(r, read, at, &m) || (double)m.bytes <= rule_setting(r, BYTES) || m.group < 2 ||
		    m.group > 8 || at->dur_ns <= 0 || m.kind == MESSAGE_RECEIVE)
			continue;
		size_class *c = class_of(all, &m);
		if (!c)
			continue;
		double gbps = factor_of(&m) * (double)m.bytes / (double)at->dur_ns;
		c->best_gbps = gbps > c->best_gbps ? gbps : c->best_gbps;
		c->exposed_ns = add_bounded(
			c->exposed_ns, at->dur_ns - intervals_overlap_with(&k->compute, at->start_ns, row_end_ns(at)));
		tally_add(large, k->of->device[j], at->dur_ns);
	}
}

static void judge(rule_run *r, const size_classes *all, const tally *large, double peak)
{
	int64_t lost = 0;
	double best = 0;

	for (size_t i = 0; i < all->n; i++) {
		const size_class *c = &all->items[i];
		best = c->best_gbps > best ? c->best_gbps : best;
		if (c->best_gbps < rule_setting(r, SHARE) * peak)
			lost = add_bounded(lost, whole_bounded((double)c->exposed_ns * (1 - c->best_gbps / peak)));
	}
	rule_saw(r, "%s large collectives, at best %.3g of %.3g GB/s", say_count(r, large->n), best, peak);
	if (lost <= 0)
		return;
	sonde_finding *f = rule_found(r, lost, "large collectives use less than half of the links");
	finding_evidence(r->result, f, "%s of more than %s reach %.3g GB/s of %.3g at best.",
			 say_some(r, large->n, "collective", "collectives"),
			 say_bytes(r, (int64_t)rule_setting(r, BYTES)), best, peak);
	finding_suggest(
		r->result, f,
		"check the topology (nvidia-smi topo -m, rocm-smi --showtopo), NCCL_ALGO and NCCL_PROTO, and that "
		"peer access is on");
	f->confidence = 0.5;
	tally_link(r, f, large);
}

static void run(rule_run *r)
{
	double peak = rule_setting(r, PEAK) > 0 ? rule_setting(r, PEAK) : peak_of(r->e->rows.ix);
	size_classes all = { 0 };
	tally large = { 0 };
	messages read;

	if (peak <= 0) {
		rule_no_data(r, "unknown link speed");
		return;
	}
	if (!messages_read(r, &read))
		return;
	for (size_t i = 0; i < r->e->n_ranks; i++)
		add_rank(r, &read, &r->e->ranks[i], &all, &large);
	if (large.n)
		judge(r, &all, &large, peak);
	else
		rule_no_data(r, "no large collectives");
	messages_done(&read);
	VEC_DONE(&all);
}

const rule bus_bandwidth_rule = {
	.name = "bus_bandwidth",
	.checks = "Large collectives use less than half of the links",
	.number = 56,
	.needs = NEED_DEVICE | NEED_COMM,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
