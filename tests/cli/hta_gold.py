#!/usr/bin/env python3
"""Compares `sonde analyze hta --compat hta` with what HTA 0.6.1 said of the same traces.

  hta_gold.py SONDE DATA [SET...]

DATA is ../shared/data. Every number must agree to 1e-6 of its size, or of a microsecond. HTA's failures on a trace are
not ours: only what its file holds is compared. Prints the worst deviation of each analysis and exits with 1 when one is
too large, or when less was compared than there is.
"""
import collections
import json
import math
import os
import subprocess
import sys

LIMIT = 1e-6


def run(sonde, files, compat, *settings):
    command = [sonde, "analyze", "hta", "--json", "--compat", compat]
    for s in settings:
        command += ["--set", s]
    done = subprocess.run(command + files, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: exit code %d: %s" % (" ".join(command + files), done.returncode, done.stderr))
    return json.loads(done.stdout)


def run_as(gold, sonde, files, *what):
    """A file alone has the rank that HTA took from its name, where we believe its content."""
    o = run(sonde, files, *what)
    for table in o.values() if len(files) == 1 else ():
        for row in table if isinstance(table, list) else ():
            if "rank" in row:
                row["rank"] = gold["load"][0]["rank"]
    return o


def deviation(want, got):
    if isinstance(want, list):
        return 0.0 if want == got else math.inf
    if isinstance(want, float) and math.isnan(want):
        want = None
    if want is None or got is None:
        return 0.0 if (want or 0) == (got or 0) else math.inf
    return abs(want - got) / max(1.0, abs(want), abs(got))


class Comparison:
    def __init__(self, name):
        self.name = name
        self.worst = collections.defaultdict(float)
        self.n = collections.Counter()
        self.examples = {}

    def put(self, what, key, want, got):
        d = deviation(want, got)
        self.n[what] += 1
        if d > self.worst[what]:
            self.worst[what] = d
            self.examples[what] = (key, want, got)


def by(table, *keys):
    """Rows by the values of the keys; fails when two have the same."""
    found = {}
    for row in table:
        key = tuple(row[k] for k in keys)
        assert key not in found, key
        found[key] = row
    return found


def us(row, key):
    return None if row is None or row.get(key) is None else row[key] / 1000


def rows_of(gold, *path):
    for p in path:
        gold = (gold or {}).get(p)
    return (gold or {}).get("rows") or []


DESCRIBE = ("count", "mean", "std", "min", "p25", "p50", "p75", "max")


def described(row, unit, scale):
    for key in DESCRIBE:
        value = (row or {}).get(key + ("" if key == "count" else unit))
        yield value if key == "count" or value is None else value * scale


def check_basic(gold, o, c):
    temporal = by(o["temporal"], "rank") if "temporal" in o else {}
    for rank, *want in rows_of(gold, "temporal_breakdown"):
        row = temporal.get((rank,))
        keys = ("idle_ns", "compute_ns", "non_compute_ns", "span_ns")
        for key, w in zip(keys, want):
            c.put("temporal", (rank, key), w, us(row, key))
        for key, w in zip(("idle_percent", "compute_percent", "non_compute_percent"), want[4:]):
            # HTA rounds these to two places.
            d = abs(w - row[key]) if row else math.inf
            c.put("temporal_percent", (rank, key), 0, d if d > 0.005 + 1e-9 else 0)
    overlap = by(o["overlap"], "rank") if "overlap" in o else {}
    for rank, want in rows_of(gold, "comm_comp_overlap_unrounded_pct"):
        c.put("overlap", rank, want, (overlap.get((rank,)) or {}).get("overlap_percent"))


def check_types(gold, o, c):
    types = by(o.get("kernel_types", []), "type")
    for kind, want, percent in rows_of(gold, "kernel_breakdown_all", "by_type"):
        c.put("types", kind, want, us(types.get((kind,)), "sum_ns"))
        c.put("types", kind, percent, (types.get((kind,)) or {}).get("percent"))
    if rows_of(gold, "kernel_breakdown_all", "by_type"):
        c.put("types", "number of types", len(rows_of(gold, "kernel_breakdown_all", "by_type")), len(types))


def check_kernels(gold, o, c, key):
    kernels = by(o.get("kernels", []), "rank", "type", "name")
    columns = ((gold.get(key) or {}).get("kernels") or {}).get("columns") or []
    rows = rows_of(gold, key, "kernels")
    for row in rows:
        want = dict(zip(columns, row))
        got = kernels.get((want["rank"], want["kernel_type"], want["name"]))
        for theirs, mine in (("sum (us)", "sum_ns"), ("max (us)", "max_ns"), ("min (us)", "min_ns"),
                          ("mean (us)", "mean_ns"), ("stddev", "std_ns")):
            c.put(key, (want["name"], theirs), want[theirs], us(got, mine))
    if rows:
        c.put(key, "number of kernels", len(rows), len(kernels))


def check_idle(gold, o, c, key):
    idle = by(o.get("idle", []), "rank", "stream", "cause")
    for rank, stream, cause, want, ratio in rows_of(gold, key, "breakdown"):
        row = idle.get((rank, stream, cause))
        c.put(key, (rank, stream, cause), want, us(row, "idle_ns"))
        percent = (row or {}).get("percent")
        c.put(key, (rank, stream, cause, "ratio"), ratio, None if percent is None else percent / 100)
    intervals = by(o.get("idle_intervals", []), "rank", "stream", "cause")
    for cause, rank, stream, *want in rows_of(gold, key, "interval_stats"):
        row = intervals.get((rank, stream, cause))
        if row is None and not want[0]:
            continue
        for name, w, got in zip(DESCRIBE, want, described(row, "_ns", 1e-3)):
            c.put(key + "_intervals", (rank, stream, cause, name), w, got)


def check_annotations(gold, o, c):
    mine = by(o.get("annotations", []), "rank", "where", "name")
    for key, where in (("user_annotation_gpu", "device"), ("user_annotation_cpu", "host")):
        if not gold.get(key):
            continue
        columns = gold[key]["columns"]
        for row in gold[key]["rows"]:
            want = dict(zip(columns, row))
            got = mine.get((want["rank"], where, want["name"]))
            for theirs, ours in (("sum (us)", "sum_ns"), ("max (us)", "max_ns"), ("min (us)", "min_ns"),
                                 ("mean (us)", "mean_ns"), ("stddev", "std_ns")):
                c.put("annotations", (want["name"], theirs), want[theirs], us(got, ours))
    kernels = by(o.get("annotation_kernels", []), "rank", "name")
    for rank, part in (gold.get("kernels_by_leaf_user_annotation") or {}).items():
        for name, count, total in part["rows"]:
            row = kernels.get((int(rank), name))
            c.put("annotation_kernels", (rank, name, "count"), count, (row or {}).get("count"))
            c.put("annotation_kernels", (rank, name, "sum"), total, us(row, "sum_ns"))


def check_launches(gold, o, c):
    launches = by(o.get("launches", []), "rank")
    times = by(o.get("launch_times", []), "rank", "what")
    for rank, want in (gold.get("launch_stats") or {}).items():
        row = launches.get((int(rank),)) or {}
        if not want["count"] and not row:
            continue
        for theirs, ours in (("count", "count"), ("short_kernels", "n_short"), ("runtime_outliers_gt50", "n_slow_calls"),
                             ("launch_delay_outliers_gt100", "n_long_delays")):
            c.put("launches", (rank, theirs), want[theirs], row.get(ours))
        for theirs, ours in (("cpu_duration", "cpu_ns"), ("gpu_duration", "gpu_ns"), ("launch_delay", "delay_ns")):
            c.put("launches", (rank, theirs), want["sum"][theirs], us(row, ours))
        if not want["count"]:
            continue
        for column, what in ((1, "call"), (2, "kernel"), (3, "delay")):
            got = described(times.get((int(rank), what)), "_ns", 1e-3)
            for w, g in zip(want["describe"]["rows"], got):
                c.put("launch_times", (rank, what, w[0]), w[column], g)


def check_stable(gold, o, c):
    bandwidth = by(o.get("bandwidth", []), "rank", "name")
    for rank, name, *want in rows_of(gold, "memory_bw", "summary"):
        for key, w, got in zip(DESCRIBE, want, described(bandwidth.get((rank, name)), "_gbps", 1)):
            c.put("bandwidth", (rank, name, key), w, got)
    queue = by(o.get("queue", []), "rank", "stream")
    for rank, stream, *want in rows_of(gold, "queue_length", "summary"):
        for key, w, got in zip(DESCRIBE, want, described(queue.get((rank, int(stream))), "", 1)):
            c.put("queue", (rank, stream, key), w, got)


def check_stragglers(gold, o, c):
    if not rows_of(gold, "straggler_metric"):
        return
    # In which order it names them is a matter of chance.
    named = sorted(row["rank"] for row in o["stragglers"])
    c.put("stragglers", "named", sorted(gold["stragglers_top2"]), named)
    mine = by(o["straggler_metric"], "rank", "stream", "step", "name")
    c.put("stragglers", "rows", len(rows_of(gold, "straggler_metric")), len(mine))
    for rank, stream, step, name, ts, dur, start, share in rows_of(gold, "straggler_metric"):
        row = mine.get((rank, stream, step, name)) or {}
        for want, got in ((ts, us(row, "start_ns")), (dur, us(row, "dur_ns")), (start, row.get("start_steps")),
                          (share, row.get("dur_steps"))):
            c.put("stragglers", (rank, step), want, got)


def check_series(gold, o, c):
    for rank, want in ((gold.get("queue_length") or {}).get("series") or {}).items():
        lengths = [row["length"] for row in o.get("queue_series", []) if row["rank"] == int(rank)]
        c.put("series", ("queue", rank, "rows"), want["rows"], len(lengths))
        c.put("series", ("queue", rank, "sum"), want["sum_queue_length"], sum(lengths))
    for rank, want in ((gold.get("memory_bw") or {}).get("series") or {}).items():
        values = [row["gbps"] for row in o.get("bandwidth_series", []) if row["rank"] == int(rank)]
        c.put("series", ("bandwidth", rank, "rows"), want["rows"], len(values))
        c.put("series", ("bandwidth", rank, "positive"), want["positive_rows"], sum(v > 0 for v in values))
        c.put("series", ("bandwidth", rank, "sum"), want["sum"], math.fsum(values))


def check_blocked(gold, o, c, limit):
    rows = rows_of(gold, "queue_length", "blocked_%d" % limit)
    blocked = by(o.get("queue_blocked", []), "rank", "stream")
    for rank, stream, ticks, share in rows:
        row = blocked.get((rank, int(stream)))
        c.put("blocked", (rank, stream, limit), ticks, us(row, "blocked_ns"))
        c.put("blocked", (rank, stream, limit, "share"), share, row and row["percent"] / 100)
    c.put("blocked", (limit, "rows"), len(rows), len(blocked))


def read_gold(data, name, mode):
    path = os.path.join(data, "gold-hta", "%s.%s.json" % (name, mode))
    return json.load(open(path)) if os.path.exists(path) else None


def compare(sonde, data, name, mode):
    gold = read_gold(data, name, mode)
    if not gold:
        return None
    folder = os.path.join(data, "traces", name)
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".json.gz"))
    compat = "hta-noround" if mode == "noround" else "hta"
    c = Comparison("%s.%s" % (name, mode))
    # Ties come in no defined order in the other modes: queue and bandwidth are those of the stable one.
    stable = read_gold(data, name, "stable") if mode == "default" else None
    o = run_as(gold, sonde, files, compat, "queue.limit=10")
    check_basic(gold, o, c)
    check_types(gold, o, c)
    check_kernels(gold, o, c, "kernel_breakdown_all")
    c.put("steps", "profiler_steps", gold.get("profiler_steps"), sorted({row["step"] for row in o["steps"]}))
    check_idle(gold, o, c, "idle_time_breakdown_30")
    check_annotations(gold, o, c)
    check_launches(gold, o, c)
    check_stragglers(gold, o, c)
    if stable:
        check_stable(stable, o, c)
        check_blocked(stable, o, c, 10)
    o = run_as(gold, sonde, files, compat, "idle.kernel_wait=5us", "queue.limit=100", "kernels.others=10",
               "queue.series=yes", "bandwidth.series=yes")
    check_idle(gold, o, c, "idle_time_breakdown_5")
    check_kernels(gold, o, c, "kernel_breakdown_default")
    if stable:
        check_blocked(stable, o, c, 100)
        check_series(stable, o, c)
    return c


def main():
    sonde, data, sets = sys.argv[1], sys.argv[2], sys.argv[3:]
    golds = sorted({f.rsplit(".", 2)[0] for f in os.listdir(os.path.join(data, "gold-hta")) if f.count(".") == 2})
    worst, n, failed = collections.defaultdict(float), collections.Counter(), False
    for name in sets or golds:
        for mode in ("default", "noround"):
            c = compare(sonde, data, name, mode)
            if not c:
                continue
            for what, d in sorted(c.worst.items()):
                worst[what] = max(worst[what], d)
                if d > LIMIT:
                    failed = True
                    print("%s: %s: %s is %s, HTA says %s" % ((c.name, what) + tuple(c.examples[what][i] for i in (0, 2, 1))))
            n.update(c.n)
    print("worst:", " ".join("%s=%.1e" % w for w in sorted(worst.items())))
    print("numbers compared:", sum(n.values()), "in", len(sets or golds), "sets;", dict(sorted(n.items())))
    if failed or not sets and (len(golds) < 30 or sum(n.values()) < 20000):
        sys.exit(1)


if __name__ == "__main__":
    main()
