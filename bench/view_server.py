"""What `sonde serve` takes to answer: bench/view_server.py SONDE TRACE JSON

Views of a trace are asked over one connection that stays open, as the page does: all lanes at 1920 pixels, of any width
from the whole trace to a hundred-thousandth of it, each factor of two equally often, anywhere in it. All are asked several
times over and of each the quickest counts: that survives a busy machine. Then wrk, where it is there, with 32
connections. Times are what the clock says, at the client, until the last byte.
"""
import http.client, json, os, random, re, shutil, signal, subprocess, sys, time

sonde, trace, output = sys.argv[1:4]
N_VIEWS, N_PASSES, WRK_SECONDS = 500, 4, 10
server = subprocess.Popen([sonde, "serve", "--port", "0", trace], stdout=subprocess.PIPE, text=True)
url = server.stdout.readline().strip()
port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", url).groups()
headers = {"Authorization": f"Bearer {token}"}
connection = http.client.HTTPConnection("127.0.0.1", int(port))
figures = []


def ask(path, method="GET", body=None):
    """Milliseconds and the answer."""
    start = time.perf_counter_ns()
    connection.request(method, path, body, headers)
    r = connection.getresponse()
    answer = r.read()
    return (time.perf_counter_ns() - start) / 1e6, r.status, answer


def figure(name, unit, value, goal=None, at_least=False):
    ok = None if goal is None else (value >= goal if at_least else value <= goal)
    figures.append({"case": name, "unit": unit, "best": value, "goal": goal, "pass": ok})


def memory():
    text = open(f"/proc/{server.pid}/status").read()
    return {key: int(value) / 1024 for key, value in re.findall(r"(VmHWM|RssAnon|RssFile):\s+(\d+) kB", text)}


def quickest(path, n=5):
    return min(ask(path)[0] for _ in range(n))


start = time.perf_counter_ns()
while ask("/api/v1/sessions/1")[1] == 202:
    time.sleep(0.001)
figure("opening until the first answer", "ms", (time.perf_counter_ns() - start) / 1e6)
facts = json.loads(ask("/api/v1/sessions/1")[2])
figure("slices", "millions", facts["n_slices"] / 1e6)
length = facts["duration_ns"]
_, _, first = ask(f"/api/v1/sessions/1/range?px=1920&from=0&to={length}")
figure("full view, bytes", "MB", len(first) / 1e6)
figure("full view", "ms", quickest("/api/v1/sessions/1/range?px=1920"))

random.seed(4711)
views = []
for _ in range(N_VIEWS):
    width = int(length * 1e-5 ** random.random()) + 1
    start = int((length - width) * random.random())
    views.append(f"/api/v1/sessions/1/range?px=1920&from={start}&to={start + width}")
passes = [[ask(v)[0] for v in views] for _ in range(N_PASSES)]
best = sorted(min(times) for times in zip(*passes))
cold = sorted(passes[0])
figure("panning and zooming, p50", "ms", best[N_VIEWS // 2])
figure("panning and zooming, p95", "ms", best[N_VIEWS * 95 // 100], 50)
figure("panning and zooming, p99", "ms", best[N_VIEWS * 99 // 100])
figure("panning and zooming, first pass, p95", "ms", cold[N_VIEWS * 95 // 100])
after_views = memory()
figure("one slice with arguments, parents and arrows", "ms", quickest(f"/api/v1/sessions/1/slices/{facts['n_slices'] // 2}"))
figure("next slice of the same name", "ms", quickest(f"/api/v1/sessions/1/slices/{facts['n_slices'] // 2}/next?by=name"))
figure("search", "ms", quickest(f"/api/v1/sessions/1/search?q=_77&from={length // 2}"))
figure("sums over a thousandth", "ms", quickest(f"/api/v1/sessions/1/aggregate?from={length // 2}&to={length // 2 + length // 1000}"))
figure("sums over everything", "s", quickest("/api/v1/sessions/1/aggregate", 2) / 1e3)
figure("flame graph of everything", "s", quickest("/api/v1/sessions/1/flame", 2) / 1e3)
figure("memory of the server after the views, its own", "MB", after_views["RssAnon"])
figure("memory of the server after the views, pages of the file", "MB", after_views["RssFile"])
figure("memory of the server in the end, its own", "MB", memory()["RssAnon"])


def wrk(name, path):
    out = subprocess.run(["wrk", "-t", "1", "-c", "32", "-d", str(WRK_SECONDS), "--latency", "-H", f"Authorization: Bearer {token}",
                          f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", out)
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    tail = {p: float(v) * unit[u] for p, v, u in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", out)}
    if not rate or "Non-2xx" in out or "Socket errors" in out:
        sys.exit(f"bench: wrk: {out}")
    figure(f"{name}, 32 connections", "requests/s", float(rate[1]))
    figure(f"{name}, 32 connections, p50", "ms", tail["50"])
    figure(f"{name}, 32 connections, p99", "ms", tail["99"])


if shutil.which("wrk"):
    wrk("/sessions", "/api/v1/sessions")
    wrk("/slices/N", f"/api/v1/sessions/1/slices/{facts['n_slices'] // 2}")
    wrk("/range of 4 lanes", "/api/v1/sessions/1/range?px=1920&lanes=0-3&from=0&to=" + str(length // 1000))
else:
    print("bench: goes on without wrk", file=sys.stderr)
server.send_signal(signal.SIGINT)
server.wait()
with open(output, "w") as f:
    f.write('{"program": "view_server", "results": [\n' + ",\n".join(" " + json.dumps(x) for x in figures) + "\n]}\n")
print("| what | value | goal |\n|---|---|---|")
for x in figures:
    goal = "" if x["goal"] is None else f"<= {x['goal']}{'' if x['pass'] else ', missed'}"
    print(f"| {x['case']}, {x['unit']} | {x['best']:.3g} | {goal} |")
