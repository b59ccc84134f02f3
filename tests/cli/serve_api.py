"""What sonde serve answers: a small trace whose answers can be worked out, and real ones that are asked twice."""
import shutil, struct
from serve_client import *

NS = 1000


def event(name, ts, dur, tid=1, pid=1, cat="cpu_op", **args):
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args}


HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\u0007 \"'\\"
EVENTS = [
    event("ProfilerStep#1", 0, 100, cat="user_annotation"),
    event("aten::mm", 10, 20, **{"Input Dims": [[2, 3], [3, 4]]}),
    event("cudaLaunchKernel", 15, 5, cat="cuda_runtime", correlation=1),
    event("ProfilerStep#2", 100, 100, cat="user_annotation"),
    event("aten::mm", 110, 15),
    event(HOSTILE, 150, 10),
    event("model.py(3): forward", 160, 20, cat="python_function"),
    event("gemm", 25, 35, tid=7, pid=0, cat="kernel", stream=7, device=0, correlation=1),
    {"ph": "s", "id": 5, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "ts": 12},
    {"ph": "f", "id": 5, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": 1, "ts": 112, "bp": "e"},
    *({"ph": "C", "name": "loss", "pid": 1, "ts": ts, "args": {"value": v}} for ts, v in ((0, 4), (50, 2), (52, 3), (100, 1))),
    *({"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": ts,
       "args": {"Addr": a, "Bytes": b, "Device Type": 1, "Device Id": 0, "Total Allocated": t}}
      for ts, a, b, t in ((12, 16, 1000, 1000), (16, 32, 500, 1500), (120, 16, -1000, 500))),
    *({"ph": "i", "s": "t", "name": name, "cat": "user", "pid": 1, "tid": 1, "ts": ts, "args": {"lr": ts}}
      for name, ts in (("epoch", 60), ("saved", 60.5), ("epoch", 160))),
]
with open("small.json", "w") as f:
    json.dump({"traceEvents": EVENTS}, f)
shutil.copy("small.json", "other.json")

s = Server("small.json", "other.json")
SMALL = "/sessions/1"

# The list: nothing is opened before somebody asks.
first = s.get("/sessions")["sessions"][0]
want(first["state"] == "closed" and first["name"] == "small.json" and first["n_events"] is None, f"{first}")
facts = s.get(SMALL)
want((facts["n_slices"], facts["n_steps"], facts["duration_ns"]) == (8, 2, 200 * NS), f"facts {facts}")
want(facts["has_device"] and facts["has_memory"] and facts["has_counters"] and facts["has_flows"], "what is there")
want(s.get("/sessions")["sessions"][0]["state"] == "ready", "is not ready")

# Tracks and names.
tracks = s.get(SMALL + "/tracks")
thread = next(t for t in tracks["tracks"] if t["kind"] == "thread")
stream = next(t for t in tracks["tracks"] if t["kind"] == "stream")
want(thread["n_slices"] == 7 and stream["n_slices"] == 1 and stream["number"] == 7, f"tracks {tracks['tracks']}")
lanes = {l["lane"]: l for l in tracks["lanes"]}
sites = s.get(SMALL + "/sites")
want(sites["total"] == len(sites["sites"]) and sites["from"] == 0, "sites")
want(s.get(f"{SMALL}/sites?from=2")["sites"] == sites["sites"][2:], "sites from 2 on")
name_of = [x["name"] for x in sites["sites"]]
want(HOSTILE in name_of, "a name of a stranger does not come through as it is")
want({x["name"]: x["class"] for x in sites["sites"]}["gemm"] == "kernel", "class of a kernel")

# Rectangles: the two forms agree, and with 200 pixels a pixel is a microsecond.
drawn = s.get(f"{SMALL}/range?px=200&format=json")
slices = {}
for lane in drawn["lanes"]:
    for r in lane["rects"]:
        slices[r["slice"]] = (name_of[r["site"]], r["x"], r["width"])
want(sorted(slices.values()) == sorted((e["name"], e["ts"], e["dur"]) for e in EVENTS if e["ph"] == "X"), f"{slices}")
status, headers, binary = s.ask(f"/api/v1{SMALL}/range?px=200")
magic, n_lanes = struct.unpack_from("<4sI", binary)
want(status == 200 and magic == b"SNR1" and n_lanes == len(drawn["lanes"]), f"binary {binary[:8]}")
want(headers["Sonde-Generation"] == "1", "no generation")
at = 8 + 8 * n_lanes
for i, lane in enumerate(drawn["lanes"]):
    number, n = struct.unpack_from("<II", binary, 8 + 8 * i)
    want((number, n) == (lane["lane"], len(lane["rects"])), f"lane {number}")
    for r in lane["rects"]:
        x, width, site, n_busy, slice_ = struct.unpack_from("<HHIII", binary, at)
        at += 16
        want((x, width, site, n_busy & 0xFFFFFF, slice_ + lanes[number]["first_slice"]) ==
             (r["x"], r["width"], r["site"], r["n_slices"], r["slice"]), f"rectangle {r}")
        want(abs((n_busy >> 24) / 255 - r["busy"]) < 0.003, f"busy {r}")
flags, n_tracks, *_ = struct.unpack_from("<IIII", binary, at)
want(at + 16 == len(binary) and (flags, n_tracks) == (0, 0) and drawn["tracks"] == [], "bytes are left")
few = s.get(f"{SMALL}/range?px=200&format=json&lanes=0&hide=python&min_dur=15000")
want([l["lane"] for l in few["lanes"]] == [0], "lanes=0")
long = s.get(f"{SMALL}/range?px=200&format=json&min_dur=20001&hide=python")
want(sorted(name_of[r["site"]] for l in long["lanes"] for r in l["rects"]) == ["ProfilerStep#1", "ProfilerStep#2", "gemm"],
     "min_dur and hide")
# What a filter hides does not take along what shares its pixel: python's function is the longest of three here.
inner = next(l["lane"] for l in tracks["lanes"] if l["track"] == thread["id"] and l["depth"] == 1)
half = s.get(f"{SMALL}/range?px=2&format=json&hide=python&lanes={inner}")["lanes"][0]["rects"][-1]
want((name_of[half["site"]], half["n_slices"], half["x"]) == ("aten::mm", 2, 1), f"beside a hidden slice: {half}")
half = s.get(f"{SMALL}/range?px=2&format=json&min_dur=12000&lanes={inner}")
want([(r["n_slices"], r["x"]) for r in half["lanes"][0]["rects"]] == [(1, 0), (2, 1)] and half["is_exact"], f"min_dur {half}")

# Instants: one a pixel and track, with their number; one in full.
want(thread["n_instants"] == 3 and stream["n_instants"] == 0, f"n_instants {thread}")
marked = s.get(f"{SMALL}/range?px=200&format=json&instants=0-{len(tracks['tracks']) - 1}")
want(marked["is_instants_exact"] and len(marked["tracks"]) == 1 and marked["tracks"][0]["track"] == thread["id"], f"{marked}")
marks = marked["tracks"][0]["instants"]
want([(m["x"], name_of[m["site"]], m["n"]) for m in marks] == [(60, "epoch", 2), (160, "epoch", 1)], f"instants {marks}")
binary = s.ask(f"/api/v1{SMALL}/range?px=200&instants={thread['id']}")[2]
want(struct.unpack_from("<IIII", binary, at) == (0, 1, 0, 0) and
     struct.unpack_from("<IIII", binary, at + 16) == (thread["id"], 2, 0, 0), "the head of instants")
for i, m in enumerate(marks):
    want(struct.unpack_from("<HHIII", binary, at + 32 + 16 * i) == (m["x"], 1, m["site"], m["n"] | 255 << 24, m["instant"]),
         f"instant {m}")
want(at + 64 == len(binary), "bytes are left behind the instants")
saved = s.get(f"{SMALL}/instants/{marks[0]['instant'] + 1}")
want((saved["name"], saved["time_ns"], saved["track"], saved["args"], saved["previous"], saved["next"]) ==
     ("saved", 60500, thread["id"], {"lr": 60.5}, marks[0]["instant"], marks[1]["instant"]), f"instant {saved}")
want(s.get(f"{SMALL}/instants/{marks[0]['instant']}")["previous"] is None, "before the first")
want(all(lanes[l["lane"]]["depth"] == 0 for l in s.get(f"{SMALL}/range?max_depth=0&format=json")["lanes"]), "max_depth")

# One slice, its arguments, arrows and neighbours.
ids = {(v[0], v[1]): k for k, v in slices.items()}
mm = s.get(f"{SMALL}/slices/{ids['aten::mm', 10]}")
want((mm["start_ns"], mm["dur_ns"], mm["self_ns"], mm["n_children"]) == (10 * NS, 20 * NS, 15 * NS, 1), f"mm {mm}")
want(mm["args"] == {"Input Dims": [[2, 3], [3, 4]]} and mm["parents"][0]["name"] == "ProfilerStep#1", f"mm {mm}")
want([(f["dir"], f["kind"], f["slice"]["start_ns"]) for f in mm["flows"]] == [("out", "flow", 110 * NS)], f"{mm['flows']}")
launch = s.get(f"{SMALL}/slices/{ids['cudaLaunchKernel', 15]}")
want([(f["dir"], f["kind"], f["slice"]["name"]) for f in launch["flows"]] == [("out", "launch", "gemm")], f"{launch['flows']}")
gemm = s.get(f"{SMALL}/slices/{ids['gemm', 25]}")
want([(f["dir"], f["slice"]["name"]) for f in gemm["flows"]] == [("in", "cudaLaunchKernel")], f"{gemm['flows']}")
for start, query, expected in ((ids["aten::mm", 10], "dir=next&by=name", ids["aten::mm", 110]),
                               (ids["aten::mm", 110], "dir=previous&by=name", ids["aten::mm", 10]),
                               (ids["aten::mm", 110], "dir=next&by=name", None),
                               (ids["aten::mm", 10], "dir=parent", ids["ProfilerStep#1", 0]),
                               (ids["aten::mm", 10], "dir=child", ids["cudaLaunchKernel", 15]),
                               (ids["aten::mm", 10], "dir=right", ids["aten::mm", 110]),
                               (ids["aten::mm", 10], "dir=left", None),
                               (ids["ProfilerStep#1", 0], "dir=parent", None)):
    found = s.get(f"{SMALL}/slices/{start}/next?{query}")["slice"]
    want((found and found["id"]) == expected, f"next of {start}, {query}: {found}")

# Search.
hits = s.get(f"{SMALL}/search?q=ATEN::mm&from=11000")
want(hits["n_slices"] == 2 and hits["names"][0]["name"] == "aten::mm" and hits["slice"]["start_ns"] == 110 * NS, f"{hits}")
want(s.get(f"{SMALL}/search?q=aten::mm&from=10000")["slice"]["start_ns"] == 10 * NS, "what starts at `from` counts")
want(s.get(f"{SMALL}/search?q=aten::mm&dir=previous&from=10001")["slice"]["start_ns"] == 10 * NS, "search back")
want(s.get(f"{SMALL}/search?q=aten::mm&after={ids['aten::mm', 10]}")["slice"]["id"] == ids["aten::mm", 110], "search on")
want(s.get(f"{SMALL}/search?q=")["names"] == [] and s.get(f"{SMALL}/search?q=zzz")["slice"] is None, "nothing is found")

epochs = s.get(f"{SMALL}/search?q=EPOCH&from=60000")
want((epochs["n_slices"], epochs["n_instants"], epochs["slice"], epochs["instant"]["time_ns"]) == (0, 2, None, 60 * NS), f"{epochs}")
want(s.get(f"{SMALL}/search?q=epoch&after_instant={epochs['instant']['id']}")["instant"]["time_ns"] == 160 * NS, "the next instant")
want(s.get(f"{SMALL}/search?q=epoch&from=100000&dir=previous")["instant"]["time_ns"] == 60 * NS, "the instant before")
want(s.get(f"{SMALL}/search?q=epoch&after_instant={epochs['instant']['id']}&dir=previous")["instant"] is None, "before the first")
want(s.get(f"{SMALL}/search?q=epoch&from=160001")["instant"] is None and hits["instant"] is None, "no instant")

# Sums.
sums = s.get(f"{SMALL}/aggregate?from=12000&to=40000")
by_name = {x["name"]: (x["n_slices"], x["total_ns"], x["self_ns"]) for x in sums["names"]}
want(by_name == {"ProfilerStep#1": (1, 28 * NS, 10 * NS), "aten::mm": (1, 18 * NS, 13 * NS), "cudaLaunchKernel": (1, 5 * NS, 5 * NS),
                 "gemm": (1, 15 * NS, 15 * NS)}, f"sums {by_name}")
want({t["track"]: t["covered_ns"] for t in sums["tracks"]} == {thread["id"]: 28 * NS, stream["id"]: 15 * NS}, f"{sums['tracks']}")
with open("overlapping.json", "w") as f:
    json.dump([event("a", 0, 100), event("b", 50, 100), event("c", 300, 10)], f)
v = Server("overlapping.json")
both = v.get("/sessions/1/aggregate?from=20000&to=305000")
want([(t["n_slices"], t["covered_ns"]) for t in both["tracks"]] == [(3, 135 * NS)], f"what overlaps counts once: {both['tracks']}")
v.stop()
only = s.get(f"{SMALL}/aggregate?tracks={stream['id']}")
want([x["name"] for x in only["names"]] == ["gemm"], "sums of one track")

# Curves.
curve = s.get(f"{SMALL}/counters?px=4")["counters"][0]
want((curve["min"], curve["max"], curve["last"]) == ([4, 2, 1, 1], [4, 3, 1, 1], [4, 3, 1, 1]), f"{curve}")
part = s.get(f"{SMALL}/counters?px=2&from=60000&to=100000&ids=0")["counters"][0]
want(part["last"] == [3, 3] and part["lowest"] == part["highest"] == 3, f"{part}")
overlap = s.get(f"{SMALL}/overlap?px=4")["ranks"][0]
want(overlap["compute"] == [128, 51, 0, 0] and not any(overlap["copy"]), f"{overlap}")
# Kinds are apart: a collective that starts during a kernel, a copy that spans both.
apart = [event(n, t, d, tid=i, pid=0, cat="kernel", stream=i, device=0)
         for i, (n, t, d) in enumerate((("gemm", 0, 40), ("ncclDevKernel_AllReduce", 20, 40), ("end", 99, 1)))]
apart.append(event("Memcpy HtoD", 10, 80, tid=9, pid=0, cat="gpu_memcpy", stream=9, device=0))
with open("apart.json", "w") as f:
    json.dump({"traceEvents": apart}, f)
status, _, body = s.ask("/api/v1/sessions?name=apart", "POST", open("apart.json", "rb").read())
kinds = s.get(f"/sessions/{json.loads(body)['id']}/overlap?px=5")["ranks"][0]
want((kinds["compute"], kinds["communication"], kinds["copy"]) == ([255, 255, 0, 0, 13], [0, 0, 255, 0, 0], [0, 0, 0, 255, 128]), f"{kinds}")
steps = s.get(SMALL + "/steps")["steps"]
want([(x["number"], x["start_ns"], x["dur_ns"]) for x in steps] == [(1, 0, 100 * NS), (2, 100 * NS, 100 * NS)], f"{steps}")
memory = s.get(SMALL + "/memory?px=4")["devices"][0]
want((memory["peak_bytes"], memory["peak_ns"], memory["end_bytes"]) == (1500, 16 * NS, 500), f"{memory}")
want(memory["max"] == [1500, 1500, 1500, 500] and memory["last"] == [1500, 1500, 500, 500], f"{memory}")
want(memory["composition"] == [{"name": "aten::mm", "n_blocks": 1, "bytes": 1000},
                               {"name": "cudaLaunchKernel", "n_blocks": 1, "bytes": 500}], f"{memory['composition']}")

# Flame graphs: the kinds are tested in unit_analyze_flame.
flame = s.get(f"{SMALL}/flame")
paths = {}
for i, name in enumerate(flame["name"]):
    parent = flame["parent"][i]
    want(parent < i, "a parent comes behind its child")
    paths[i] = (paths[parent] if parent >= 0 else "") + "/" + flame["names"][name]
values = {paths[i]: (flame["value"][i], flame["self"][i], flame["count"][i]) for i in paths}
want(values["/ProfilerStep/aten::mm"] == (35 * NS, 30 * NS, 2) and flame["total"] == 200 * NS, f"{values}")
want(len(s.get(f"{SMALL}/flame?nodes=1")["name"]) == 1 and s.get(f"{SMALL}/flame?nodes=1")["cut"]["nodes"] == len(paths) - 1, "cut")
want("/ProfilerStep/model.py(3): forward" in values, "python")
want("model.py(3): forward" not in s.get(f"{SMALL}/flame?python=no")["names"], "python=no")
want(s.get(f"{SMALL}/flame?by=device")["total"] == 35 * NS and s.get(f"{SMALL}/flame?by=memory")["unit"] == "bytes", "by")
s.get("/sessions/2")
two = s.get(f"{SMALL}/flame?with=2")
want(two["base"] == two["value"] and two["base_total"] == two["total"], "the same trace differs from itself")
status, _, body = s.ask("/api/profiler/flame?session=2")
want(status == 200 and json.loads(body)["total"] == 200 * NS, "/api/profiler/flame")
for name in ("memory", "timeline?format=json", "kernels", "hta", "compile"):
    want(s.ask("/api/profiler/" + name)[0] == 200, f"/api/profiler/{name}")

# Reports.
kernels = s.get(f"{SMALL}/kernels")
want(kernels["available"] and kernels["kernels"][0]["name"] == "gemm" and kernels["schema"] == "sonde.kernels/1", f"{kernels}")
view = {t["key"]: t for t in kernels["view"]["tables"]}
want([c["key"] for c in view["kernels"]["columns"]] == list(kernels["kernels"][0]), "the view's columns are not the table's")
want(s.get(f"{SMALL}/report/bottlenecks")["available"], "bottlenecks")
none = s.get(f"{SMALL}/compile")
want(not none["available"] and "torch.compile" in none["reason"], f"compile: {none}")
none = s.get(f"{SMALL}/compile?warmup=1")
want(not none["available"] and "torch.compile" in none["reason"], f"the reason is not the warm-up: {none}")
leaks = s.get(f"{SMALL}/leaks")["leak_places"]
want([(p["name"], p["scope"], p["stays_bytes"]) for p in leaks] == [("aten::mm", None, 500)], f"leaks: {leaks}")
want(s.get(f"{SMALL}/gpu")["schema"] == "sonde.gpu/1" and s.get(f"{SMALL}/gpu")["utilization"], "gpu")
want("findings" in s.get(f"{SMALL}/bottlenecks?steps=1..2"), "findings")
want(s.get(f"{SMALL}/compare?with=2")["available"], "compare")
for wrong, status in (("/report/nothing", 404), ("/kernels?steps=x", 400), ("/kernels?steps=2..1", 400), ("/kernels?ranks=x", 400),
                      ("/kernels?compat=x", 400), ("/compare", 400), ("/compare?with=9", 404), ("/compare?with=x", 400),
                      ("/flame?by=x", 400), ("/flame?mode=callers", 400), ("/flame?mode=ordered&by=memory", 400),
                      ("/flame?with=9", 404), ("/range?px=0", 400), ("/range?px=99999", 400), ("/range?from=5&to=1", 400),
                      ("/range?lanes=x", 400), ("/slices/99", 404), ("/instants/3", 404), ("/range?instants=x", 400), ("/slices/99/next", 404), ("/slices/0/next?dir=up", 400),
                      ("/counters?px=x", 400), ("/search?from=x", 400), ("/sites?from=-1", 400), ("/aggregate?tracks=-", 400),
                      ("/tracks?generation=7", 409)):
    got, _, body = s.ask("/api/v1" + SMALL + wrong)
    message = json.loads(body)["error"]["message"]
    want(got == status and message.endswith("."), f"{wrong}: {got} {body}")

# SQL: reads, does not write, does not run forever.
status, answer = s.send("POST", SMALL + "/sql", {"sql": "select name, dur from slices where dur > 30000 order by dur, name"})
want(status == 200 and answer["columns"] == ["name", "dur"] and answer["rows"] ==
     [["gemm", 35000], ["ProfilerStep#1", 100000], ["ProfilerStep#2", 100000]] and not answer["truncated"], f"{answer}")
status, answer = s.send("POST", SMALL + "/sql", {"sql": "create temp table t as select 1 as x; select x + 1 from t", "limit": 5})
want(status == 200 and answer["rows"] == [[2]], f"two statements: {answer}")
status, answer = s.send("POST", SMALL + "/sql", {"sql": "select 1 from slices", "limit": 3})
want(len(answer["rows"]) == 3 and answer["truncated"], f"limit: {answer}")
before = sorted(os.listdir("."))
for bad in ("delete from slices", "create table x(y)", "attach 'x.db' as y", "pragma writable_schema=1", "select load_extension('x')",
            "vacuum into 'stolen.db'", "select readfile('/etc/passwd')", "selec", "select * from nothing", "", ";", "insert into slices values(1)"):
    status, answer = s.send("POST", SMALL + "/sql", {"sql": bad})
    want(status == 400 and answer["error"]["message"], f"{bad!r}: {status} {answer}")
want(sorted(os.listdir(".")) == before, "SQL left a file")
for body in (b"", b"{", b"[]", b'{"sql":1}', b'{"sql":"a","limit":0}', b'{"sql":"select 1","limit":"x"}', b'{"sql":"\\u0000"}', b"\xff"):
    want(s.ask("/api/v1" + SMALL + "/sql", "POST", body)[0] == 400, f"body {body}")
s.stop()
endless = "with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r"
q = Server("--query-timeout", "1", "small.json")
q.get(SMALL)
start = time.monotonic()
status, answer = q.send("POST", SMALL + "/sql", {"sql": endless})
want(status == 408 and time.monotonic() - start < 30, f"endless: {status} after {time.monotonic() - start:.1f} s")
status, answer = q.send("POST", SMALL + "/sql", {"sql": "select 1;" * 20000})
want(status in (200, 408), f"many statements: {status}")
status, answer = q.send("POST", SMALL + "/sql", {"sql": "select zeroblob(100000000), x'00ff' from slices limit 2"})
want(status == 200 and answer["rows"][0] == ["(100000000 bytes)", "(2 bytes)"], f"blobs: {status} {str(answer)[:200]}")
status, answer = q.send("POST", SMALL + "/sql", {"sql": "select printf('%.*c', 10000000, char(1)) from slices"})
want(status == 200 and len(answer["rows"]) == 1 and answer["truncated"], f"large cells: {status} {str(answer)[:200]}")

# Notes are kept beside the trace, also after the end.
status, note = q.send("POST", SMALL + "/notes", {"text": HOSTILE, "from_ns": 10, "to_ns": 20})
want(status == 201 and note["id"] == 1, f"note {note}")
status, view = q.send("POST", SMALL + "/views", {"name": "mine", "state": "#t=1"})
want(status == 201 and view["state"] == "#t=1", f"view {view}")
status, renamed = q.send("PATCH", SMALL, {"name": "baseline"})
want(status == 200 and renamed["name"] == "baseline", f"renamed {renamed}")
for path, body in (("/notes", {}), ("/notes", {"text": "a" * 20000}), ("/notes", {"text": 5}), ("/views", {"name": "x"}), ("", {"name": "x" * 300})):
    want(q.send("PATCH" if path == "" else "POST", SMALL + path, body)[0] == 400, f"{path} {str(body)[:40]} is taken")
q.stop(signal.SIGTERM)
want(os.stat("small.json.notes.sqlite").st_mode & 0o777 == 0o600, "others can read the notes")
n = Server("small.json")
kept = n.get(SMALL + "/notes")
want(kept["kept_in"] == "file" and kept["notes"][0]["text"] == HOSTILE, f"{kept}")
want(n.get(SMALL + "/views")["views"][0]["name"] == "mine" and n.get("/sessions")["sessions"][0]["name"] == "baseline", "kept")
want(n.send("DELETE", SMALL + "/notes/1")[0] == 200 and n.send("DELETE", SMALL + "/notes/1")[0] == 404, "delete")
want(n.get(SMALL + "/notes")["notes"] == [], "a deleted note is there")

# Uploads.
status, headers, body = n.ask("/api/v1/sessions?name=sent.json", "POST", open("small.json", "rb").read())
sent = json.loads(body)
want(status == 201 and sent["name"] == "sent.json" and sent["is_upload"], f"upload: {status} {body}")
want(n.get(f"/sessions/{sent['id']}")["n_slices"] == 8, "an upload cannot be asked")
want(n.send("POST", f"/sessions/{sent['id']}/notes", {"text": "x"})[0] == 201 and
     n.get(f"/sessions/{sent['id']}/notes")["kept_in"] == "memory", "notes of an upload")
status, _, body = n.ask("/api/v1/sessions?name=bad", "POST", b"this is no trace")
bad = json.loads(body)["id"]
wait_for(lambda: n.ask(f"/api/v1/sessions/{bad}/tracks")[0] != 202, "an upload to open")
status, _, body = n.ask(f"/api/v1/sessions/{bad}/tracks")
want(status == 422 and "unrecognized format" in json.loads(body)["error"]["message"], f"no trace: {status} {body}")
n.stop()

# Folders: what is in them, what comes later, and ranks as one.
os.makedirs("runs/ranks")
shutil.copy("small.json", "runs/a.json")
for i in range(2):
    shutil.copy("small.json", f"runs/ranks/rank{i}.json")
for name in ("a", "own"):  # a.sonde is that of a.json
    subprocess.run([os.environ["SONDE"], "import", "-o", f"runs/{name}.sonde", "small.json"], stderr=subprocess.DEVNULL)
f = Server("runs", env={"TMPDIR": os.getcwd()})
want([x["name"] for x in f.get("/sessions")["sessions"]] == ["a.json", "ranks", "own.sonde"], "folder")
want(f.get("/sessions/2")["ranks"] == [0, 1], "ranks of a folder")
shutil.copy("small.json", "runs/new.json")
wait_for(lambda: "new.json" in [x["name"] for x in f.get("/sessions")["sessions"]], "a new file of a folder")
f.ask("/api/v1/sessions?name=x", "POST", b"x")
spool = [d for d in os.listdir(".") if d.startswith("sonde-serve.")]
want(len(spool) == 1 and os.stat(spool[0]).st_mode & 0o777 == 0o700, f"uploads are in {spool}")
f.stop()
want(not any(d.startswith("sonde-serve.") for d in os.listdir(".")), "uploads stay")

# A limit of uploads, also of those that do not say their length.
u = Server("--max-upload", "1000", "small.json", env={"TMPDIR": os.getcwd()})
want(u.ask("/api/v1/sessions", "POST", b"x" * 1001)[0] == 413, "a large upload is taken")
head = f"POST /api/v1/sessions HTTP/1.1\r\nHost: {u.host}\r\nAuthorization: Bearer {u.token}\r\nTransfer-Encoding: chunked\r\n" \
       "Connection: close\r\n\r\n"
got = u.raw(head.encode() + b"".join(b"200\r\n" + b"x" * 512 + b"\r\n" for _ in range(5)) + b"0\r\n\r\n")
want(got.startswith(b"HTTP/1.1 413"), f"a long chunked upload: {got[:60]}")
u.raw(head.encode() + b"200\r\n" + b"x" * 100, 1)  # goes away in the middle
want(u.ask("/api/v1/sessions")[0] == 200 and len(json.loads(u.ask("/api/v1/sessions")[2])["sessions"]) == 1, "half an upload counts")
spool = [d for d in os.listdir(".") if d.startswith("sonde-serve.")]
wait_for(lambda: os.listdir(spool[0]) == [], "half an upload to go")
u.stop()

# Real traces: rectangles and sums are those that SQL tells.
for path in sys.argv[1:]:
    local = "real.json.gz"
    shutil.copy(path, local)
    r = Server(local)
    facts = r.get("/sessions/1")
    drawn = r.get("/sessions/1/range?px=1000&format=json")
    want(sum(x["n_slices"] for l in drawn["lanes"] for x in l["rects"]) <= facts["n_slices"], f"{path}: too many slices")
    _, answer = r.send("POST", "/sessions/1/sql", {"sql": "select name, category, count(*), sum(dur) from slices group by 1, 2", "limit": 100000})
    sums = {(n, c): (k, d) for n, c, k, d in answer["rows"]}
    got = {(x["name"], x["category"]): (x["n_slices"], x["total_ns"]) for x in r.get("/sessions/1/aggregate")["names"]}
    want(len(got) == min(len(sums), 1000) and all(sums[k] == v for k, v in got.items()), f"{path}: sums differ")
    flame = r.get("/sessions/1/flame?by=self&nodes=1000000")
    _, answer = r.send("POST", "/sessions/1/sql", {"sql": "select sum(dur) from slices where depth = 0 and track_kind = 'thread' and coalesce(category, '') <> 'Trace'"})
    want(flame["total"] == answer["rows"][0][0], f"{path}: self times add up to {flame['total']}, not {answer['rows'][0][0]}")
    merged = r.get("/sessions/1/flame?nodes=1000000")
    want(merged["total"] == flame["total"], f"{path}: merged {merged['total']}")
    for i in range(0, facts["n_slices"], max(1, facts["n_slices"] // 50)):
        one = r.get(f"/sessions/1/slices/{i}")
        want(one["id"] == i and 0 <= one["self_ns"] <= one["dur_ns"], f"{path}: slice {one}")
    for name in ("report", "summary", "info", "temporal", "idle", "kernels", "overlap", "bandwidth", "queue", "launches", "annotations",
                 "steps", "stragglers", "hta", "bottlenecks"):
        r.get(f"/sessions/1/report/{name}")
    r.stop()
finish()
