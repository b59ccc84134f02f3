#!/usr/bin/env python3
"""How many sets of gold-hta each difference between HTA and Sonde touches, against the table of docs/analyses/hta.md.

  hta_differs.py SONDE SOURCE DATA

Looks at the traces themselves, but for the warm-up; the rules of HTA are those of DATA/README.md.
"""
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys

SONDE, SOURCE, DATA = sys.argv[1:4]
COPIES = {"gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
DEVICE = COPIES | {"kernel", "Kernel", "mtia_ccp_events"}
COUNTED = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
           "runFunction - job_prep_and_submit_for_execution"}
QUEUED = COUNTED | {"cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemsetAsync",
                    "hipMemcpyAsync", "hipMemcpyWithStream"}

# A part of the sentence in the table, and the difference it is about.
ROWS = {"rounds starts up": "rounding", "names of five calls": "launch names", "drops the last step": "last step",
        "host rows that name a stream": "stream argument", "names of twelve calls": "queue names",
        "end of the row before": "gaps", "names with \"dma\"": "kernel names", "copy of no duration": "no duration",
        "names k stragglers": "stragglers", "looks at the warm-up": "warm-up"}


def number(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1


def load(path):
    """Slices with a category, as (category, name, start, duration, thread, stream, correlation)."""
    with gzip.open(path) as f:
        trace = json.load(f)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    for e in events:
        if e.get("ph") == "X" and "dur" in e and e.get("cat", "Trace") != "Trace":
            args = e.get("args") or {}
            yield (e["cat"], e["name"], e.get("ts", 0), e["dur"], e.get("tid"), number(args.get("stream", -1)),
                   number(args.get("correlation", -1)))


def hta_kind(name):
    if re.match("nccl|hip|hccl|.*ncclKernel", name):
        return "communication"
    if re.match("(hip)?Memcpy|(hip)?Memset|dma", name):
        return "memory"
    other = ("nccl|.*Memcpy|.*Memset|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel|runFunction|hip|job_exe|packet|pe_exe|"
             "cpum_exe_subgraph|hccl|collective_subgraph_execution")
    return "other" if re.match(other, name) else "compute"


def own_names():
    """The parts of names that communicate, out of the source."""
    with open(os.path.join(SOURCE, "src/analyze/names/kernel_kind.c")) as f:
        return re.findall(r'"([^"]+)"', re.search(r"communication\[\] = \{(.*?)\};", f.read(), re.S).group(1))


def own_kind(category, name):
    if category in COPIES or re.match("(hip)?Memcpy|(hip)?Memset", name):
        return "memory"
    return "communication" if any(part in name for part in OWN) else "compute"


def touches(paths):
    """The differences that concern a set."""
    found = collections.Counter()
    for path in paths:
        rows = list(load(path))
        device = [r for r in rows if r[0] in DEVICE]
        linked = {r[6] for r in device if r[6] >= 0}
        launches = {r[1] for r in rows if r[0] not in DEVICE and r[6] in linked and r[5] < 0}
        found["rounding"] |= any(t != int(t) for r in rows for t in r[2:3])
        found["launch names"] |= bool(launches - COUNTED)
        found["queue names"] |= bool(launches - QUEUED)
        found["last step"] |= len({r[1] for r in rows if re.match(r"ProfilerStep#\d", r[1])}) > 1
        found["stream argument"] |= any(r[0] not in DEVICE and r[5] >= 0 for r in rows) and bool(device)
        ends = {}
        for r in sorted(device, key=lambda r: r[2]):
            found["gaps"] |= r[2] < ends.get(r[5], r[2])
            ends[r[5]] = max(ends.get(r[5], 0), r[2] + r[3])
        found["no duration"] |= any(r[0] in COPIES and r[3] == 0 for r in device)
        kinds = {(r[0], r[1]) for r in device}
        found["kernel names"] |= any(hta_kind(name) != own_kind(category, name) for category, name in kinds)
    found["stragglers"] = len(paths) > 1
    if found["last step"]:
        done = subprocess.run([SONDE, "analyze", "steps", "--json"] + paths, capture_output=True, text=True, check=True)
        found["warm-up"] = json.loads(done.stdout)["n_warmup_steps"] > 0
    return {what for what, is_so in found.items() if is_so}


OWN = own_names()


def main():
    counts, failed = collections.Counter(), False
    golds = glob.glob(os.path.join(DATA, "gold-hta/*.default.json"))
    for name in sorted({os.path.basename(path).split(".")[0] for path in golds}):
        what = touches(sorted(glob.glob(os.path.join(DATA, "traces", name, "*.json.gz"))))
        counts.update(what)
        if os.environ.get("VERBOSE"):
            print(name, sorted(what))
    with open(os.path.join(SOURCE, "docs/analyses/hta.md")) as f:
        lines = f.read().split("\n")
    for text, what in ROWS.items():
        rows = [line for line in lines if line.startswith("| ") and text in line.split("|")[1]]
        if len(rows) != 1 or int(rows[0].split("|")[3]) != counts[what]:
            print("docs/analyses/hta.md: %s touches %d sets: %s" % (what, counts[what], rows))
            failed = True
    sys.exit(failed)


main()
