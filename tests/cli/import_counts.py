#!/usr/bin/env python3
"""Counts what is in Chrome traces, independently, and compares with what `sonde query` says.

    import_counts.py SONDE SET...    a SET is a file, or files with a comma between them: the ranks of one trace; or the
                                     directory that tests/data/generate.py wrote, whose answers.json must agree, too

Events by phase; slices, their time and their arguments by category; kernels, launches, flows, steps, counters, instants
and allocations; names of processes and threads. Times are whole nanoseconds on both sides. Whatever is lost must be
lost here too: elements without a phase.

Python's json accepts NaN and Infinity. Where it refuses a file, the events are found one by one: see events_one_by_one().
"""
import collections
import decimal
import gc
import gzip
import json
import os
import re
import subprocess
import sys

KERNELS = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset", "mtia_ccp_events"}
TEXTS_BELOW = 200000  # bytes of a file whose arguments are compared one by one
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver", "Runtime", "xpu_runtime", "xpu_driver",
         "mtia_runtime", "glow_runtime", "privateuse1_runtime", "privateuse1_driver"}


def events_one_by_one(text):
    """The events of a file that is not JSON: a decoder starts at every '{' that follows '[' or ',' and that no event
    before it covers; what it cannot decode is not counted and shows up as a difference."""
    decoder = json.JSONDecoder(parse_float=decimal.Decimal, strict=False)
    start = re.compile(r'[\[,]\s*(?=\{\s*"(?:ph|name|cat|ts|dur|pid|tid|id|args)"\s*:)')
    at = text.index("[", text.find('"traceEvents"') if '"traceEvents"' in text else 0)
    events = []
    while (found := start.search(text, at)):
        try:
            event, at = decoder.raw_decode(text, found.end())
            events.append(event)
        except ValueError:
            at = found.end() + 1
    return events


def read(path):
    raw = open(path, "rb").read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8", "replace")
    try:
        # Only times need all their digits, but nobody knows which number is one.
        trace = json.loads(text, parse_float=decimal.Decimal, strict=False)
    except ValueError:
        print(f"  {path} is not JSON: events one by one")
        return events_one_by_one(text)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def to_ns(value):
    """Whole nanoseconds; None where there is no number."""
    if type(value) is int:
        return value * 1000
    if isinstance(value, str):
        try:
            value = decimal.Decimal(value)
        except decimal.InvalidOperation:
            return None
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        return None
    return int((value * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def number(value):
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, decimal.Decimal)):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


class Counts:
    """Everything that is compared, as {(what, key): number}."""

    def __init__(self, with_texts):
        self.texts = collections.Counter() if with_texts else None  # of arguments
        self.n = collections.Counter()
        self.flows = collections.defaultdict(list)
        self.calls = set()
        self.streams = set()
        self.device_work = []
        self.open = collections.defaultdict(list)  # begins
        self.names = {}

    def add(self, what, key, n=1):
        self.n[what, key] += n

    def slice(self, category, name, dur, args):
        self.add("slices", category)
        self.add("slice ns", category, max(dur or 0, 0))
        if isinstance(args, dict):
            self.add("slices with args", category)
            self.add("args", category, len(args))
            if self.texts is not None:
                self.texts[json.dumps(args, sort_keys=True, default=str)] += 1
        if category in KERNELS:
            self.add("kernels", "")
        if name.startswith("ProfilerStep") and category != "gpu_user_annotation":  # a copy on the device
            self.add("steps", "")

    def event(self, file, e, order):
        phase = e.get("ph")
        if not isinstance(phase, str) or len(phase) != 1:
            self.add("lost", "events without a phase")
            return
        self.add("phase", phase)
        if phase == "M":
            self.metadata(file, e)
            return
        ts, args = to_ns(e.get("ts")), e.get("args")
        category, name = str(e.get("cat", "")), str(e.get("name", ""))
        if ts is None:
            self.add("lost", "events without a usable time")
        elif phase == "X":
            self.slice(category, name, to_ns(e.get("dur")), args)
            correlation = args.get("correlation") if isinstance(args, dict) else None
            if isinstance(correlation, int) and 0 <= correlation < 2**55:
                track = file, e.get("pid"), e.get("tid")
                if category in KERNELS:
                    self.streams.add(track)
                if category in KERNELS or category == "cuda_sync":
                    self.device_work.append((track, (file, correlation)))
                elif category in CALLS:
                    self.calls.add((file, correlation))
        elif phase == "B":
            self.open[file, e.get("pid"), e.get("tid")].append((category, name, ts, args))
        elif phase == "E":
            begun = self.open[file, e.get("pid"), e.get("tid")]
            if begun:
                category, name, start, begin_args = begun.pop()
                self.slice(category, name, ts - start, begin_args if isinstance(begin_args, dict) else args)
            else:
                self.add("lost", "ends without a begin")
        elif phase in "iI":
            if name == "[memory]" and isinstance(args, dict) and "Bytes" in args:
                self.add("allocations", "")
                self.add("allocated bytes", "", args["Bytes"])
            else:
                self.add("instants", category)
        elif phase == "C":
            values = [number(v) for v in args.values()] if isinstance(args, dict) else []
            self.add("counter values", "", sum(v is not None for v in values))
        elif phase in "stf":
            self.flows[file, category, name, str(e.get("id"))].append((ts, order, phase))
        else:
            self.add("other phases", phase)

    def metadata(self, file, e):
        args = e.get("args") or {}
        if e.get("name") == "process_name":
            self.names["process", file, str(e.get("pid"))] = str(args.get("name"))
        elif e.get("name") == "thread_name":
            self.names["thread", file, str(e.get("pid")), str(e.get("tid"))] = str(args.get("name"))

    def finish(self):
        for points in self.flows.values():
            points.sort()
            length = 0
            for ts, order, phase in points + [(0, 0, "s")]:
                if phase == "s" and length:
                    self.add("flows", "", max(1, length - 1))
                    length = 0
                length += 1
            self.add("flow points", "", len(points))
        for track, correlation in self.device_work:
            if track in self.streams:  # where a call waits for a stream, that has a row on it too
                self.add("launches", "found" if correlation in self.calls else "missing")
        for begun in self.open.values():
            for category, name, start, args in begun:
                self.add("unclosed", "")
        for key, name in self.names.items():
            self.add(key[0] + " names", name)
        return {key: n for key, n in self.n.items() if n}


def count(files):
    counts, n = Counts(sum(map(os.path.getsize, files)) < TEXTS_BELOW), 0
    for file, path in enumerate(files):
        for order, e in enumerate(read(path)):
            n += 1
            if isinstance(e, dict):
                counts.event(file, e, order)
            else:
                counts.add("lost", "elements of the event list that are not events")
    counts.add("events", "", n)
    return counts.finish(), counts.texts


QUERY = """
select 'slices', category, count(*) from slices group by 2
union all select 'slice ns', category, sum(dur) from slices group by 2
union all select 'slices with args', category, count(args) from slices group by 2
union all select 'args', s.category, count(*) from args a join slices s on s.id = a.slice group by 2
union all select 'kernels', '', count(*) from slices where category in (%s)
union all select 'launches', iif(launch is null, 'missing', 'found'), count(*) from launches group by 2
union all select 'flows', '', count(*) from flows
union all select 'steps', '', count(*) from steps
union all select 'instants', category, count(*) from instants where scope != 'object' group by 2
union all select 'allocations', '', count(*) from allocations
union all select 'allocated bytes', '', coalesce(sum(bytes), 0) from allocations
union all select 'counter values', '', count(*) from counter_values
union all select 'process names', name, count(*) from processes where name is not null group by 2
union all select 'thread names', name, count(*) from tracks where name is not null group by 2
union all select 'lost', kind, count from diagnostics where lost
union all select 'unclosed', '', count from diagnostics where kind like 'scopes without an end%%'
union all select 'events', '', sum(value) from meta where key = 'sonde.n_events'
union all select 'phase', p.key, sum(p.value) from meta m, json_each(m.value) p where m.key = 'sonde.phases' group by 2
""" % ", ".join(f"'{k}'" for k in sorted(KERNELS))


def ask(sonde, files, sql):
    done = subprocess.run([sonde, "query", "--json", *files, sql], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"sonde query {' '.join(files)}: {done.stderr}")
    return json.loads(done.stdout)["rows"]


def differ_texts(sonde, files, want):
    """How many arguments are not the same."""
    texts = collections.Counter()
    for (args,) in ask(sonde, files, "select args from slices where args is not null"):
        args = json.loads(args, parse_float=decimal.Decimal, strict=False)
        texts[json.dumps(args, sort_keys=True, default=str)] += 1
    return sum(((want - texts) + (texts - want)).values())


def compare(about, what, want, is_):
    """Returns how many figures differ."""
    n_wrong = 0
    for key in sorted(want, key=str):
        if want[key] != is_.get(key, 0):
            print(f"{about}: {what}: {' '.join(key)}: {is_.get(key, 0)}, not {want[key]}")
            n_wrong += 1
    return n_wrong


def figures(sonde, files):
    return {(what, key or ""): int(n) for what, key, n in ask(sonde, files, QUERY) if n and int(n)}


def compare_generated(sonde, folder):
    """Figures that are known by construction; some of the files cannot be counted here, as they are damaged."""
    answers, n_wrong, n = json.load(open(os.path.join(folder, "answers.json"))), 0, 0
    for name, answer in answers.items():
        is_ = {f"{what} {key}".strip(): n for (what, key), n in figures(sonde, paths(folder, answer)).items()}
        n_wrong += compare(name, "by construction", {(k,): v for k, v in answer["figures"].items()},
                           {(k,): v for k, v in is_.items()})
        n += len(answer["figures"])
        if "streams" in answer:
            rows = ask(sonde, paths(folder, answer), "select rank, stream, sum(dur) from kernels group by 1, 2 order by 1, 2")
            n, wrong = n + len(rows), rows != answer["streams"]
            if wrong:
                print(f"{name}: ns by rank and stream: {rows}, not {answer['streams']}")
            n_wrong += wrong
    print(f"{n} figures known by construction, {n_wrong} differ")
    return n_wrong


def paths(folder, answer):
    return [os.path.join(folder, file) for file in answer["files"]]


def compare_counted(sonde, files):
    """Returns how many events there are and how many figures differ."""
    want, texts = count(files)
    is_, about = figures(sonde, files), ",".join(files)
    want.pop(("flow points", ""), None)
    if os.environ.get("VERBOSE"):
        print(f"{files[0]}: {want['events', '']} events, {len(want)} figures")
    n_wrong = compare(about, "counted", {key: want.get(key, 0) for key in want.keys() | is_.keys()}, is_)
    if texts and differ_texts(sonde, files, texts):
        print(f"{about}: arguments differ")
        n_wrong += 1
    return want.get(("events", ""), 0), n_wrong


def main():
    sonde, n_wrong, n_files, n_events, sets = sys.argv[1], 0, 0, 0, []
    gc.disable()
    for arg in sys.argv[2:]:
        if os.path.isdir(arg):
            n_wrong += compare_generated(sonde, arg)
            answers = json.load(open(os.path.join(arg, "answers.json")))
            sets += [paths(arg, answer) for name, answer in answers.items() if not name.startswith("damaged/")]
        else:
            sets.append(arg.split(","))
    for files in sets:
        n, wrong = compare_counted(sonde, files)
        n_files, n_events, n_wrong = n_files + len(files), n_events + n, n_wrong + wrong
        gc.collect()
    print(f"{n_files} files, {n_events} events, {n_wrong} figures differ")
    sys.exit(1 if n_wrong or not n_files else 0)


main()
