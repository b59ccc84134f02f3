#!/usr/bin/env python3
"""Compares `sonde analyze hta --compat hta` with what HTA 0.6.1 said of the same traces.

  hta_gold.py SONDE DATA [SET...]

DATA holds real traces, or those of tests/data/generate.py. Every number must agree to 1e-6 of its size, or of a microsecond. HTA's failures on a trace are
not ours: only what its file holds is compared. Prints the worst deviation of each analysis and exits with 1 when one is
too large, or when less was compared than there is.
"""
import collections
import json
import math
import os
import sys

from gold import Comparison, Sum, run, us

LIMIT = 1e-6


def run_as(gold, sonde, files, compat, *settings, analysis="hta"):
    """A file alone has the rank that HTA took from its name, where we believe its content."""
    o = run(sonde, analysis, files, "--compat", compat, *("--set=" + s for s in settings))
    for table in o.values() if len(files) == 1 else ():
        for row in table if isinstance(table, list) else ():
            if "rank" in row:
                row["rank"] = gold["load"][0]["rank"]
    return o


def deviation(want, got):
    if isinstance(want, (list, tuple)):
        return 0.0 if want == got else math.inf
    if isinstance(want, float) and math.isnan(want):
        want = None
    if want is None or got is None:
        return 0.0 if (want or 0) == (got or 0) else math.inf
    return abs(want - got) / max(1.0, abs(want), abs(got))


def by(table, *keys):
    """Rows by the values of the keys; fails when two have the same."""
    found = {}
    for row in table:
        key = tuple(row[k] for k in keys)
        assert key not in found, key
        found[key] = row
    return found


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


def check_call_tree(gold, o, c):
    want = gold.get("call_stack")
    if not want:
        return
    rank = gold["load"][0]["rank"]
    names = [row for row in o["call_names"] if row["rank"] == rank]
    depths = {str(row["depth"]): row for row in o["call_depths"] if row["rank"] == rank}
    # Where an empty row lies between the end of one and the start of another, HTA's order goes round in a circle, and
    # its depth is a matter of chance: one call in a thousand may be elsewhere.
    moved = sum(abs(n - (depths.get(depth) or {"calls": 0})["calls"]) for depth, n in want["depth_hist"].items())
    n = sum(row["calls"] for row in depths.values())
    c.put("call_tree", "depths", (len(want["depth_hist"]), sum(want["depth_hist"].values())), (len(depths), n))
    c.put("call_tree", "moved", 0, moved if moved > 2 * 1e-3 * n else 0)
    c.put("call_tree", "height", want["max_height"], max([0] + [row["height"] for row in depths.values()]))
    # HTA counts kernels as well, each with one: itself. Its spans mix two clocks that are min_ts apart.
    kernels = {"count": sum(row["n_kernels"] for row in depths.values()),
               "kernel_ns": sum(row["direct_ns"] for row in depths.values())}
    n = sum(row["n_kernels"] for row in names) + kernels["count"]
    c.put("call_tree", "kernels", want["sum_num_kernels"], n)
    c.put("call_tree", "kernel time", want["sum_kernel_dur_sum"],
          sum(us(row, "kernel_ns") for row in names) + us(kernels, "kernel_ns"))
    spans = sum(us(row, "span_ns") + row["n_launching"] * gold["min_ts"] for row in names)
    c.put("call_tree", "spans", want["sum_kernel_span"],
          spans + us(kernels, "kernel_ns") + kernels["count"] * gold["min_ts"])
    mine = by(names, "name")
    for name, dur, count, total in want["ops_top20_inclusive"]["rows"]:
        row = mine.get((name,))
        for key, w, got in (("host", dur, us(row, "host_ns")), ("n", count, row and row["n_kernels"]),
                            ("device", total, us(row, "kernel_ns"))):
            c.put("call_tree", (name, key), w, got)


def check_sequences(gold, o, c, key):
    mine = by([row for row in o["sequences"] if row["rank"] == gold["load"][0]["rank"]], "operator", "kernels")
    for pattern, count, kernel, host in gold[key]["rows"]:
        name, *kernels = pattern.split("|")
        row = mine.get((name, " -> ".join(kernels)))
        for what, w, got in (("count", count, row and row["count"]), ("kernel", kernel, us(row, "kernel_ns")),
                             ("host", host, us(row, "host_ns"))):
            c.put("sequences", (key, pattern[:60], what), w, got)
    c.put("sequences", (key, "rows"), len(gold[key]["rows"]), len(mine))


def check_op_delays(gold, o, c):
    for rank, want in (gold.get("aten_op_kernels_and_delay") or {}).items():
        mine = by([row for row in o["op_delays"] if row["rank"] == int(rank)], "operator", "kernels")
        c.put("op_delays", (rank, "rows"), len(want["rows"]), len(mine))
        for name, kernels, count, launch, device in want["rows"]:
            row = mine.get((name, kernels))
            c.put("op_delays", (name, kernels[:60], "count"), count, row and row["count"])
            for key, w in (("launch_delay_ns", launch), ("device_delay_ns", device)):
                # HTA rounds these to three places.
                d = abs(w - us(row, key)) if row else math.inf
                c.put("op_delays", (name, kernels[:60], key, w, us(row, key)), 0, d if d > 0.0005 + 1e-9 else 0)


def check_counters(gold, o, c):
    for want in gold.get("cupti") or []:
        mine = by(o["counter_kernels"], "number", "counter")
        c.put("counters", "values", len(want["rows"]) * (len(want["columns"]) - 4), len(mine))
        for i, values in enumerate(want["rows"]):
            about = dict(zip(want["columns"], values))
            for key in want["columns"][1:-3]:
                row = mine.get((i, key)) or {}
                c.put("counters", (i, key), about[key], row.get("value"))
                c.put("counters", (i, key, "of"),
                      [about["name"], " -> ".join(about["op_stack"]), about["top_level_op"], about["bottom_level_op"]],
                      [row.get(k) for k in ("name", "operators", "top_operator", "operator")])


# What the kinds of pieces are to HTA: their type, and what it says the path is bound by.
PIECES = {"operator": ("critical_path_operator", "cpu_bound"),
          "data loading": ("critical_path_operator", "data_loading_bound"),
          "kernel": ("critical_path_operator", "gpu_compute_bound"),
          "communication": ("critical_path_operator", "gpu_communication_bound"),
          "launch": ("critical_path_kernel_launch_delay", "gpu_kernel_launch_overhead"),
          "kernel-kernel": ("critical_path_kernel_kernel_delay", "gpu_kernel_kernel_overhead"),
          "sync": ("critical_path_sync_dependency", ""),
          "order": ("critical_path_dependency", "")}


def check_critical_path(gold, sonde, files, compat, c, key):
    annotation = "ProfilerStep"
    if "alexnet" in key:
        annotation = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
    instance = int(key[-1]) if key[-1].isdigit() else 1
    o = run_as(gold, sonde, files, compat, "critical_path.annotation=" + annotation,
               "critical_path.instance=%d" % instance, analysis="critical_path")
    want, rank = gold[key], gold["load"][0]["rank"]
    of = [row for row in o["critical_path_ranks"] if row["rank"] == rank][0]
    for theirs, mine in (("nodes", "n_nodes"), ("edges", "n_edges"), ("cp_nodes", "n_path_nodes"),
                         ("cp_events", "n_path_rows")):
        c.put("critical_path", (key, theirs), want[theirs], of[mine])
    c.put("critical_path", (key, "total"), want["total"], us(of, "path_ns"))
    for which, at in (("by_type", 0), ("by_bound", 1)):
        sums = collections.defaultdict(float)
        for row in o["critical_path"]:
            if row["rank"] == rank:
                sums[PIECES[row["what"]][at]] += us(row, "sum_ns")
        for name in set(sums) | set(want[which]):
            c.put("critical_path", (key, which, name), want[which].get(name), sums.get(name))
    # Of equals any may be among the longest ten; names are shortened.
    mine = [us(row, "dur_ns") for row in o["critical_path_pieces"] if row["rank"] == rank][:10]
    c.put("critical_path", (key, "longest"), [row[-2] for row in want["top_events"]["rows"]], mine)


def check_calls(gold, sonde, files, compat, c):
    check_call_tree(gold, run_as(gold, sonde, files, compat, analysis="call_tree"), c)
    check_op_delays(gold, run_as(gold, sonde, files, compat, analysis="op_delays"), c)
    check_counters(gold, run_as(gold, sonde, files, compat, analysis="counters"), c)
    for key in gold:
        if key.startswith("critical_path_") and gold[key]["ok"]:
            check_critical_path(gold, sonde, files, compat, c, key)
        if key.startswith("freq_seq_") and gold[key]:
            o = run_as(gold, sonde, files, compat, "sequences.operator=" + key[9:], analysis="sequences")
            check_sequences(gold, o, c, key)


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
    c = Comparison("%s.%s" % (name, mode), deviation)
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
    if mode == "default":
        check_calls(gold, sonde, files, compat, c)
    return c


def main():
    sonde, data, sets = sys.argv[1], sys.argv[2], sys.argv[3:]
    golds = sorted({f.rsplit(".", 2)[0] for f in os.listdir(os.path.join(data, "gold-hta")) if f.count(".") == 2})
    all_sets = Sum("HTA", LIMIT)
    for name in sets or golds:
        for mode in ("default", "noround"):
            c = compare(sonde, data, name, mode)
            if c:
                all_sets.add(c)
    n = all_sets.print(len(sets or golds))
    if all_sets.failed or not n or not sets and (len(golds) < 30 or n < 20000):
        sys.exit(1)


if __name__ == "__main__":
    main()
