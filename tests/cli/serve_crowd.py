"""Many clients at once. More traces than stay open, one of them live; answers may be refusals, never nonsense."""
import random, threading
from serve_client import *

N_CLIENTS, N_TRACES, SECONDS = 16, 12, 6
os.mkdir("runs")
for i in range(N_TRACES):
    events = [{"ph": "X", "name": f"op{k % 7}", "cat": "cpu_op", "pid": 1, "tid": k % 3, "ts": 10 * k, "dur": 9} for k in range(500 + i)]
    with open(f"runs/trace{i}.json", "w") as f:
        json.dump({"traceEvents": events}, f)
program = subprocess.Popen([sys.argv[1], "100", "stop"], env={**os.environ, "SONDE_ENABLED": "1", "SONDE_OUTPUT": "runs/live.sonde"})
atexit.register(program.kill)
wait_for_file("runs/live.sonde")
s = Server("runs")
names = [x["name"] for x in s.get("/sessions")["sessions"]]
want(len(names) == N_TRACES + 1 and names[-1] == "live.sonde", f"a folder with recordings and other traces: {names}")
live = Server("runs/live.sonde")
n_asked = {}


def ask_at_random(server, n_sessions, end, seed):
    dice = random.Random(seed)
    while time.monotonic() < end:
        session = f"/api/v1/sessions/{dice.randint(1, n_sessions)}"
        method, path, body = dice.choice([
            ("GET", "/api/v1/sessions", None), ("GET", session, None), ("GET", session + "/tracks", None), ("GET", session + "/sites", None),
            ("GET", session + "/range?px=500", None), ("GET", session + f"/slices/{dice.randint(0, 400)}", None),
            ("GET", session + "/search?q=op3", None), ("GET", session + "/aggregate", None), ("GET", session + "/flame", None),
            ("GET", session + "/report/report", None), ("GET", session + "/bottlenecks", None), ("GET", session + "/notes", None),
            ("GET", session + "/compare?with=1", None), ("GET", session + "/counters", None), ("GET", session + "/steps", None),
            ("POST", session + "/notes", json.dumps({"text": "n", "from_ns": 1, "to_ns": 2})),
            ("POST", session + "/sql", json.dumps({"sql": "select name, count(*) from slices group by 1"})),
            ("PATCH", session, json.dumps({"name": f"name{dice.randint(0, 99)}"})),
        ])
        status, _, answer = server.ask(path, method, body)
        json.loads(answer) if "range" not in path or status != 200 else None
        want(status in (200, 201, 202, 400, 404), f"{method} {path}: {status} {answer[:200]}")
        n_asked[status] = n_asked.get(status, 0) + 1


def listen(server, end):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=1)
    s.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
    while time.monotonic() < end:
        try:
            if not s.recv(65536):
                want(False, "events end")
                return
        except TimeoutError:
            pass


end = time.monotonic() + SECONDS
clients = [threading.Thread(target=ask_at_random, args=(s, N_TRACES, end, i)) for i in range(N_CLIENTS)]
clients += [threading.Thread(target=ask_at_random, args=(live, 1, end, 100 + i)) for i in range(4)]
clients += [threading.Thread(target=listen, args=(x, end)) for x in (s, live, s)]
for c in clients:
    c.start()
for c in clients:
    c.join()
want(n_asked.get(200, 0) > 100, f"asked {n_asked}")
open("stop", "w").close()
program.wait()
s.stop()
live.stop()
finish()
