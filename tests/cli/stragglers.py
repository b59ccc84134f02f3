#!/usr/bin/env python3
"""sonde analyze stragglers on planted ones, also with a clock that is wrong and a collective that is missing.

  stragglers.py SONDE GENERATED [DATA]

GENERATED is the directory of tests/data/generate.py, DATA that of real traces.
"""
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

SONDE, GENERATED = sys.argv[1:3]
failed = False


def analyze(name, files):
    done = subprocess.run([SONDE, "analyze", name, "--json"] + files, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def want(about, what, is_so):
    global failed
    if not is_so:
        failed = True
        print("%s: %s" % (about, what))


def check(about, files, rank, low_ms, high_ms):
    """The rank is named, and no other, and what it costs in a step is between the two; bottlenecks says the same."""
    o = analyze("stragglers", files)
    want(about, "straggler is %s" % o["straggler"], o["straggler"] == rank)
    want(about, o["stragglers"], len(o["stragglers"]) == (rank is not None))
    for row in o["stragglers"]:
        want(about, row, low_ms <= row["lost_per_step_ns"] / 1e6 <= high_ms)
    costs = [(row["rank"], row["lost_ns"]) for row in o["stragglers"]]
    findings = [f for f in analyze("bottlenecks", files)["findings"] if f["rule"] == "straggler"]
    found = [(f["rank"], round(f["seconds_lost"] * 1e9)) for f in findings]
    want(about, "bottlenecks %s, stragglers %s" % (found, costs), found == costs)
    want(about, "no links to slices and times", all(f["slices"] and f["to_ns"] > f["from_ns"] for f in findings))
    return o


def rewrite(path, to, change):
    trace = json.load(gzip.open(path))
    change(trace)
    with open(to, "w") as out:
        json.dump(trace, out)
    return to


def shift(trace):
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"] = round(event["ts"] + 5000, 3)


def drop_collective(trace):
    found = [e for e in trace["traceEvents"] if e.get("cat") == "kernel" and "nccl" in e["name"]]
    trace["traceEvents"].remove(found[len(found) // 3])


def variants(about, files, limits, n_collectives):
    """The same straggler with a wrong clock, a missing collective, and both."""
    check(about, files, 2, *limits)
    with tempfile.TemporaryDirectory() as folder:
        ranks = [os.path.join(folder, "rank%d.json" % i) for i in range(4)]
        shifted = files[:3] + [rewrite(files[3], ranks[3], shift)]
        o = check(about + ", rank 3's clock is 5 ms ahead", shifted, 2, *limits)
        offsets = {row["rank"]: row["clock_offset_ns"] for row in o["rank_waits"]}
        want("clocks", offsets, offsets == {0: 0, 1: 0, 2: 0, 3: 5000000})
        dropped = [files[0], rewrite(files[1], ranks[1], drop_collective)] + files[2:]
        o = check(about + ", a collective of rank 1 is missing", dropped, 2, *limits)
        matched = {row["rank"]: row["n_matched"] for row in o["rank_waits"]}
        n = n_collectives
        want("matches", matched, matched == {0: n, 1: n - 1, 2: n, 3: n})
        check(about + ", both", [files[0], dropped[1], files[2], shifted[3]], 2, *limits)
    check(about + ", one rank", files[:1], None, 0, 0)


def generated():
    answers = json.load(open(os.path.join(GENERATED, "answers.json")))
    late = answers["traces/straggler"]
    files = [os.path.join(GENERATED, f) for f in late["files"]]
    lost_ms = late["straggler"]["lost_per_step_ns"] / 1e6
    check("generated", files, late["straggler"]["rank"], lost_ms, lost_ms)
    variants("generated", files, (lost_ms, lost_ms), late["figures"]["steps"] // len(files))
    check("nobody is late", [os.path.join(GENERATED, f) for f in answers["traces/even"]["files"]], None, 0, 0)


def real(data):
    files = sorted(glob.glob(os.path.join(data, "traces/syn_r4_straggler2/*.json.gz")))
    # The run takes 290 ms, and 210 ms without its straggler: 13.3 ms in each of the six steps.
    variants("planted", files, (11, 15), 93)
    check("gloo", sorted(glob.glob(os.path.join(data, "torch/kineto_gloo_rank*.json.gz"))), 1, 19, 24)
    with tempfile.TemporaryDirectory() as folder:  # steps of random length
        subprocess.run([sys.executable, os.path.join(data, "../tools/gen_trace.py"), "--events", "20000", "--ranks", "4",
                        "--steps", "6", "--seed", "7", "--out", folder], check=True, capture_output=True)
        check("nobody is late", sorted(glob.glob(folder + "/*.json")), None, 0, 0)


generated()
for folder in sys.argv[3:]:
    real(folder)
sys.exit(failed)
