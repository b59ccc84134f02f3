#!/usr/bin/env python3
"""Compares `--compat tracelens` with what TraceLens (commit 171dd747) said of the same traces.

  tracelens_gold.py SONDE DATA [SET...]

DATA holds real traces, or those of tests/data/generate.py. Every number must agree to 1e-9 of its size, or of a nanosecond. TraceLens's failures on a trace
are not ours: only what its file holds is compared. Prints the worst deviation of each table and exits with 1 when one
is too large, or when less was compared than there is.
"""
import collections
import json
import math
import os
import subprocess
import sys

from gold import Comparison, Sum, run, us

LIMIT = 1e-9


def deviation(want, got):
    if want is None or got is None:
        return 0.0 if want == got else math.inf
    return abs(want - got) / max(1e-3, abs(want), abs(got))


def of_rank(table, rank):
    """A file alone has the rank it says; the gold's are places in its list of files."""
    ranks = sorted({row["rank"] for row in table})
    return [row for row in table if row["rank"] == ranks[rank]] if rank < len(ranks) else []


TIMELINE = (("computation_time", "computation_ns"), ("exposed_comm_time", "exposed_communication_ns"),
            ("exposed_memcpy_time", "exposed_copy_ns"), ("busy_time", "busy_ns"), ("idle_time", "idle_ns"),
            ("total_time", "total_ns"), ("total_comm_time", "communication_ns"), ("total_memcpy_time", "copy_ns"))


def check_timeline(gold, rank, rows, c):
    for key, which in (("gpu_timeline_ms", "linked"), ("gpu_timeline_all_ms", "all")):
        row = next((r for r in rows if r["rows"] == which), None)
        for theirs, ours in TIMELINE if key in gold else ():
            got = us(row, ours)
            c.put("timeline", (rank, which, theirs), gold[key][theirs] * 1000, got)
    if "n_gpu_linked" in gold.get("stats", {}):
        for n, which in (("n_gpu", "all"), ("n_gpu_linked", "linked")):
            row = next((r for r in rows if r["rows"] == which), None)
            c.put("timeline", (rank, n), gold["stats"][n], row["n_rows"] if row else 0)


def same_args(text, want):
    """Ours is the file's text, cut when it is long; theirs was read and written again."""
    if text is None or want is None:
        return text is None and want is None
    if text.endswith(" ..."):
        return "".join(json.dumps(want).split()).startswith("".join(text[:-4].split()))
    return json.loads(text) == want


def check_args(gold, rank, rows, c):
    ours = collections.defaultdict(list)
    for row in rows:
        ours[row["name"], row["category"], row["count"]].append(row)
    c.put("op_args", (rank, "rows"), gold["total_rows"], len(rows))
    for name, category, dims, types, strides, inputs, n, total, *more in gold["rows"]:
        # Threads have rows of their own, which their file does not show: the nearest of those with the same arguments.
        same = [r for r in ours[name, category, n] if same_args(r["input_dims"], dims)
                and same_args(r["input_types"], types) and same_args(r["input_strides"], strides)
                and same_args(r["concrete_inputs"], inputs)]
        row = min(same, key=lambda r: abs(r["direct_ns"] / 1000 - total)) if same else None
        keys = ("direct_ns", "mean_ns", "median_ns", "std_ns", "min_ns", "max_ns", "subtree_ns")
        for key, want in zip(keys, [total] + more):
            c.put("op_args", (rank, name, dims, key), want, us(row, key))


def check_kernels(gold, rank, rows, c):
    """Ours are by arguments too."""
    ours = collections.defaultdict(lambda: [0, 0, math.inf, 0])
    for row in rows:
        s = ours[row["op"], row["name"], row["stream"]]
        s[0] += row["sum_ns"]
        s[1] += row["count"]
        s[2] = min(s[2], row["min_ns"])
        s[3] = max(s[3], row["max_ns"])
    theirs = collections.defaultdict(lambda: [0, 0, math.inf, 0])
    for _, op, kernel, stream, total, n, mean, least, most in gold["rows"]:
        s = theirs[op, kernel, stream]
        s[0] += total * 1000
        s[1] += n
        s[2] = min(s[2], least * 1000)
        s[3] = max(s[3], most * 1000)
    for key, want in theirs.items():
        for i, w in enumerate(want):
            c.put("op_kernels", (rank, key, i), w, ours[key][i] if key in ours else None)
    if gold["total_rows"] == len(gold["rows"]):
        c.put("op_kernels", (rank, "rows"), len(theirs), len(ours))


def check_ops(gold, rank, o, c):
    if "ops_summary" not in gold:
        return
    names = {row["name"]: row for row in of_rank(o["ops"], rank)}
    c.put("ops", (rank, "rows"), gold["ops_summary"]["total_rows"], len(names))
    for name, n, direct, subtree, categories, percent in gold["ops_summary"]["rows"]:
        row = names.get(name)
        c.put("ops", (rank, name, "count"), n, row and row["count"])
        c.put("ops", (rank, name, "direct"), direct, us(row, "direct_ns"))
        c.put("ops", (rank, name, "subtree"), subtree, us(row, "subtree_ns"))
        c.put("ops", (rank, name, "percent"), percent, row and row["percent"])
        c.put("ops", (rank, name, "categories"), 0, 0 if row and set(row["category"].split(", ")) == set(categories) else 1)
    categories = {row["category"]: row for row in of_rank(o["op_categories"], rank)}
    c.put("op_categories", (rank, "rows"), len(gold["categories"]), len(categories))
    for name, want in gold["categories"].items():
        row = categories.get(name)
        c.put("op_categories", (rank, name), want["count"], row and row["count"])
        c.put("op_categories", (rank, name), want["direct_ms"] * 1000, us(row, "direct_ns"))
    check_args(gold["ops_unique_args"], rank, of_rank(o["op_args"], rank), c)
    check_kernels(gold["kernel_summary"], rank, of_rank(o["op_kernels"], rank), c)


def check_short(gold, rank, o, c):
    want = gold.get("short_kernels")
    if want and rank == 0:
        rows = o["short_kernels"]
        c.put("short_kernels", "groups", want["groups"], len(rows))
        c.put("short_kernels", "count", want["count"], sum(row["count"] for row in rows))
        c.put("short_kernels", "sum", want["sum_us"], sum(row["sum_ns"] for row in rows) / 1000)
    want = gold.get("short_kernel_histogram")
    bins = o["short_kernel_histogram"]
    if want and rank == 0 and len(o["ranks"]) == 1:
        if want["min"] < want["max"]:
            c.put("short_kernels", "min", want["min"], us(bins[0], "from_ns"))
            c.put("short_kernels", "max", want["max"], us(bins[-1], "to_ns"))
        for i, n in enumerate(want["counts"]):
            c.put("short_kernels", ("bin", i), n, bins[i]["count"])


def check_modules(view, rows, c):
    """Ours are sums over the calls of a path, on another clock: where their file, which is cut, has as many."""
    def by_path(rows):
        found, path = collections.defaultdict(list), []
        for depth, name, *values in rows:
            path = path[:depth] + [name]
            found[tuple(path)].append(values)
        return found
    ours = by_path((row.get("depth", 0), "nn.Module: " + row["module"], row) for row in rows)
    for path, calls in by_path(view["rows"]).items():
        row = ours[path][0][0] if path in ours else None
        if row and row["count"] != len(calls) or any(busy is None for _, busy, _ in calls):
            continue
        c.put("modules", (path, "rows"), sum(n for n, _, _ in calls), row and row["n_device_rows"])
        d = deviation(sum(busy for _, busy, _ in calls), us(row, "device_ns"))
        c.put("modules", (path, "busy", d), 0, d if d > 1e-3 else 0)


def table_of(part):
    return [dict(zip(part["columns"], row)) for row in part["rows"]] if part else []


def check_collectives(nccl, o, n_ranks, c):
    """Theirs are found by when rank 0 began: both start with the first."""
    waits = collections.defaultdict(dict)
    for row in o["collective_waits"]:
        waits[row["collective_id"]][row["rank"]] = row
    events = sorted(table_of(nccl["build_df_nccl_implicit_sync_cat"]), key=lambda e: e["rank_0_ts"])
    ours = sorted(o["collectives"], key=lambda e: waits[e["collective_id"]][0]["start_ns"])
    c.put("collectives", "events", nccl["build_df_nccl_implicit_sync_cat"]["total_rows"], len(ours))
    base = None
    for want, got in zip(events, ours):
        c.put("collectives", "latency", want["comm_latency"], us(got, "latency_ns"))
        c.put("collectives", "start skew", want["skew in start time"], us(got, "start_skew_ns"))
        c.put("collectives", "end skew", want["skew in end time"], us(got, "end_skew_ns"))
        c.put("collectives", "mean wait", want["avg_wait_time"], us(got, "mean_wait_ns"))
        c.put("collectives", "first rank", want["earliest arrival rank"], got["first_rank"])
        for rank in range(n_ranks):
            member = waits[got["collective_id"]][rank]
            base = want["rank_0_ts"] - us(member, "start_ns") if base is None else base
            c.put("collectives", ("wait", rank), want["rank_%d_wait_time" % rank], us(member, "wait_ns"))
            c.put("collectives", ("dur", rank), want["rank_%d_dur" % rank], us(member, "dur_ns"))
            c.put("collectives", ("ts", rank), want["rank_%d_ts" % rank] - base, us(member, "start_ns"))
    for want, got in zip(table_of(nccl["build_df_summary_nccl_implicit_sync_cat"]), o["collective_summary"]):
        for theirs, ours in (("comm_latency", "latency"), ("skew in start time", "start_skew"),
                             ("skew in end time", "end_skew")):
            for what in ("mean", "std"):
                c.put("collective_summary", (theirs, what), want["%s_%s" % (theirs, what)],
                      us(got, "%s_%s_ns" % (ours, what)))
        c.put("collective_summary", "count", want["count"], got["count"])
        c.put("collective_summary", "total", want["Total comm latency (ms)"] * 1000, us(got, "latency_ns"))
    ranks = {row["rank"]: row for row in o["collective_ranks"]}
    for want in table_of(nccl["build_df_straggler_summary"]):
        got = ranks[want["rank"]]
        # Theirs are rounded to one digit.
        for theirs, value in (("total_wait_time_us", us(got, "wait_ns")), ("mean_wait_time_us", us(got, "mean_wait_ns")),
                              ("pct_arrived_last", got["last_percent"]), ("total_nccl_dur_us", us(got, "dur_ns"))):
            d = abs(want[theirs] - value)
            c.put("collective_ranks", (want["rank"], theirs, want[theirs], value), 0, d if d > 0.05 + 1e-9 else 0)
        for theirs, key in (("times_arrived_last", "n_last"), ("times_arrived_first", "n_first"),
                            ("num_collectives", "n_collectives")):
            c.put("collective_ranks", (want["rank"], theirs), want[theirs], got[key])
    members = sum(len(rows) for rows in waits.values())
    c.put("collectives", "rows", nccl["long"]["total_rows"], members)


def check_collective_ops(gold, rank, rows, c):
    """Theirs leave out what lacks a field."""
    if "coll_long" in gold:
        c.put("collective_ops", "rows", gold["coll_long"]["total_rows"], sum(row["count"] for row in rows))
        c.put("collective_ops", "sum", gold["coll_long"]["dur_sum"], sum(row["sum_ns"] for row in rows) / 1000)
    for want in table_of(gold.get("coll_analysis")):
        same = [r for r in rows if (r["name"], r["dtype"], r["in_elements"], r["out_elements"], r["group"], r["stream"])
                == (want["Collective name"], want["dtype"], want["In msg nelems"], want["Out msg nelems"],
                    want["Process Group Name"], want["stream"])]
        got = same[0] if len(same) == 1 else {}
        c.put("collective_ops", "count", want["operation_count"], got.get("count"))
        for what in ("sum", "mean", "std", "min", "max"):
            c.put("collective_ops", what, want["dur_" + what], us(got, what + "_ns"))
        for theirs, ours in (("In", "in"), ("Out", "out")):
            size = want[theirs + " msg size (MB)_first"]
            c.put("collective_ops", theirs, size, got.get(ours + "_bytes", math.nan) / (1 << 20))


def check_tree(sonde, data, c):
    """The tree difference of two ViTs on two devices, by the place in the program that both have. Theirs pairs an
    add inside the convolution with one beside it."""
    files = [os.path.join(data, "traces", name, "rank0.json.gz") for name in ("tl_h100_vit", "tl_mi300_vit")]
    command = [sonde, "compare", "--by", "tree", "--json", "--warmup", "none"] + files
    o = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ours = collections.defaultdict(lambda: [0, 0])
    for row in o["tree_kernels"]:
        for side, source in (("a", "trace1"), ("b", "trace2")):
            if row["calls_" + side]:
                place = row["op"] if row["common"] == row["name"] else row["common"]
                ours[place, source][0] += row["calls_" + side]
                ours[place, source][1] += row["time_%s_ns" % side]
    gold = json.load(open(os.path.join(data, "gold-tracelens", "trace_diff.tl.json")))["pairs"]["vit_h100_mi300"]
    theirs = collections.defaultdict(lambda: [0, 0])
    for name, source, n, total in gold["by_common_ancestor"]:
        place = "aten::_convolution" if name == "aten::add_" else name
        theirs[place, source][0] += n
        theirs[place, source][1] += total
    for key, (n, total) in theirs.items():
        c.put("tree", (key, "count"), n, ours[key][0])
        c.put("tree", (key, "time"), total, ours[key][1] / 1000)


def compare(sonde, data, name):
    gold = json.load(open(os.path.join(data, "gold-tracelens", name + ".tl.json")))
    files = [os.path.join(data, "traces", name, f) for f in gold["files"]]
    c = Comparison(name, deviation)
    if not any(f.endswith(".json.gz") for f in files):  # PyTorch's raw memory timeline: a list of lists, no trace
        return c
    timeline = run(sonde, "timeline", files, "--compat", "tracelens")["timeline"]
    ops = run(sonde, "ops", files, "--compat", "tracelens")
    short = run(sonde, "short_kernels", files, "--compat", "tracelens")
    short["ranks"] = files
    modules = run(sonde, "module_tree", files, "--warmup", "none")["module_tree"]
    recompute = run(sonde, "recompute", files, "--compat", "tracelens")["recompute"]
    found = run(sonde, "collectives", files, "--compat", "tracelens")
    if gold.get("nccl"):
        check_collectives(gold["nccl"], found, len(files), c)
    if gold.get("nn_module_view"):
        check_modules(gold["nn_module_view"], modules, c)
    for rank, part in gold["ranks"].items():
        if "recompute_events" in part:
            rows = of_rank(recompute, int(rank))
            c.put("recompute", rank, part["recompute_events"], sum(r["n_rows"] + r["n_host_rows"] for r in rows))
        check_collective_ops(part, rank, of_rank(found["collective_ops"], int(rank)), c)
        check_short(part, int(rank), short, c)
        check_ops(part, int(rank), ops, c)
        check_timeline(part, rank, of_rank(timeline, int(rank)), c)
    return c


def check_default(sonde, data):
    """No analysis fails on any trace by our rules, and none is silent."""
    sets = [[os.path.join(data, "traces", s, f) for f in sorted(os.listdir(os.path.join(data, "traces", s)))
             if f.endswith(".json.gz")] for s in sorted(os.listdir(os.path.join(data, "traces")))]
    folder = os.path.join(data, "torch")
    sets += [[os.path.join(folder, f)] for f in sorted(os.listdir(folder)) if f.startswith("kineto_")]
    n = 0
    for files in filter(None, sets):
        for name in ("timeline", "ops", "short_kernels", "module_tree", "recompute", "collectives"):
            o = run(sonde, name, files)
            if not o.get("notes") or not any(isinstance(value, list) for value in o.values()):
                sys.exit("%s %s says nothing" % (name, files[0]))
            n += 1
    print("analyses run by our rules:", n)


def main():
    sonde, data, sets = sys.argv[1], sys.argv[2], sys.argv[3:]
    golds = sorted(f[:-8] for f in os.listdir(os.path.join(data, "gold-tracelens")) if f.endswith(".tl.json")
                   and not f.startswith("trace_diff"))
    all_sets = Sum("TraceLens", LIMIT)
    for name in sets or golds:
        c = compare(sonde, data, name)
        if name == "tl_h100_vit":
            check_tree(sonde, data, c)
        all_sets.add(c)
    n = all_sets.print(len(sets or golds))
    if not sets:
        check_default(sonde, data)
    if all_sets.failed or not n or not sets and (len(golds) < 31 or n < 22000):
        sys.exit(1)


if __name__ == "__main__":
    main()
