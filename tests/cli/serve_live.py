"""Recordings are followed while their programs run, and their end is seen, a kill as well."""
from serve_client import *

program = sys.argv[1]


class Listener:
    """The events of a server, one after the other."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=100)
        self.connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {server.token}"})
        self.lines = self.connection.getresponse()

    def __iter__(self):
        for line in self.lines:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def follow(file, on_event):
    """What was said about the first session until the end of its run."""
    wait_for_file(file)
    s = Server(file)
    listener = Listener(s)
    s.ask("/api/v1/sessions/1")
    seen = []
    for event in listener:
        seen.append(event)
        if event["state"] == "failed" or event["was_live"]:
            break
        if event["state"] == "live":
            facts = s.get("/sessions/1")
            n = sum(e["state"] == "live" for e in seen)
            # The first look may come before the first slice.
            want(n == 1 or (facts["n_slices"] > 0 and facts["duration_ns"] > 0), f"live: {facts['n_slices']} slices")
            on_event(n)
    live = [e for e in seen if e["state"] == "live"]
    want(len(live) >= 3, f"seen alive {len(live)} times: {[e['state'] for e in seen]}")
    for a, b in zip(live, live[1:]):
        want(b["generation"] > a["generation"] and b["n_events"] >= a["n_events"] and b["duration_ns"] >= a["duration_ns"],
             f"{a} then {b}")
    want(live and live[-1]["n_events"] > live[0]["n_events"], "it does not grow")
    want(seen[-1]["state"] == "ready" and seen[-1]["was_live"], f"the end is not seen: {seen[-1]}")
    listener.connection.close()
    return s


def check_end(s, file):
    info = json.loads(subprocess.run([os.environ["SONDE"], "info", "--json", file], capture_output=True).stdout)
    for _ in range(100):
        n_events = s.get("/sessions/1")["n_events"]
        if n_events == info["n_kept"]:
            break
        time.sleep(0.1)
    want(n_events == info["n_kept"], f"{n_events} events in the end, not {info['n_kept']}")
    stale = s.ask("/api/v1/sessions/1/tracks?generation=1")[0]
    want(stale == 409, f"numbers of before are taken: {stale}")
    s.stop()


recorder = subprocess.Popen([os.environ["SONDE"], "record", "-o", "run.sonde", program, "100", "stop"], stderr=subprocess.DEVNULL)
atexit.register(recorder.kill)
s = follow("run.sonde", lambda n: n >= 4 and open("stop", "w").close())
want(recorder.wait() == 0, "sonde record failed")
check_end(s, "run.sonde")

# Without a recorder, and killed: what the ring still holds is there.
alone = subprocess.Popen([program, "100"], env={**os.environ, "SONDE_ENABLED": "1", "SONDE_OUTPUT": "alone.sonde"})
atexit.register(alone.kill)
s = follow("alone.sonde", lambda n: n >= 4 and alone.kill())
alone.wait()
check_end(s, "alone.sonde")
finish()
