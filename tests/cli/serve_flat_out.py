"""A program that records faster than a server reads: its newest events are shown, and everything after its end."""
import glob
from serve_client import *

program = sys.argv[1]
MANY = 150_000_000  # events beyond which a server shows only a window until the end of the run
MEMORY = 1 << 30
SECONDS = "200"  # after which programs end, whatever becomes of this test
# Sanitizers make everything slow, and their memory is not ours.
is_plain = not os.environ["BUILD"].rstrip("/").endswith(("asan", "tsan"))
LARGE = 30 << 20 if is_plain else 12 << 20  # bytes, one to two an event
FAST = ["5000"] if is_plain else ["500", "2000"]  # steps a second, and in all


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))


def recorded_bytes(path):
    return sum(os.path.getsize(part) for part in glob.glob(path + "*") if not part.endswith(".ring"))


def session_of(s):
    session = s.get("/sessions")["sessions"][0]
    if is_plain:
        want(anonymous_bytes(s.process.pid) < MEMORY, f"{anonymous_bytes(s.process.pid)} bytes of memory")
    return session


def wait_for_session(s, condition, what, seconds=300):
    session = session_of(s)
    end = time.monotonic() + seconds
    while not condition(session):
        if time.monotonic() > end:
            sys.exit(f"serve: waited in vain for {what}: {session}")
        time.sleep(0.1)
        session = session_of(s)
    return session


def newest_ns(s):
    facts = s.get("/sessions/1")
    return facts["start_ns"] + facts["duration_ns"]


def serve_when_large(path):
    """A server that finds more than it reads at a time."""
    wait_for(lambda: recorded_bytes(path) > LARGE, f"{LARGE} bytes of {path}", 300)
    s = Server(path)
    s.ask("/api/v1/sessions/1")
    return s


def check_window(s):
    session = wait_for_session(s, lambda one: one["state"] == "live" and one["window"], "a window")
    window = session["window"]
    want(0 < window["n_events"] < session["n_events"], f"the window has {window} of {session['n_events']} events")
    want(0 < window["from_ns"] and window["from_ns"] + window["dur_ns"] <= session["duration_ns"], f"{session}")
    # It goes on: what is shown is not far behind the clock, which is the recording's.
    if is_plain:
        wait_for(lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC) - newest_ns(s) < 5_000_000_000, "recent events", 300)
    # Names and steps are there, though they became known long before the window.
    tracks = s.get("/sessions/1/tracks")
    names = {track["name"] for track in tracks["tracks"]}
    want({"worker 0", "worker 1"} <= names, f"threads {names}")
    steps = s.get("/sessions/1/steps")["steps"]
    want(not steps or min(step["number"] for step in steps) > 0, f"steps from {steps[:1]}")
    report = s.get("/sessions/1/report/report")
    want(report["available"], f"no report of a window: {report}")


def check_whole(s, path):
    session = wait_for_session(s, lambda one: one["state"] == "ready" and not one["window"], "everything")
    want(session["was_live"], f"not known to have been live: {session}")
    info = json.loads(subprocess.run([os.environ["SONDE"], "info", "--json", path], capture_output=True).stdout)
    want(session["n_events"] == info["n_kept"], f"{session['n_events']} events in the end, not {info['n_kept']}")
    want(info["n_lost"] == 0 if "n_lost" in info else True, f"{info.get('n_lost')} events lost")
    # One that was never followed says the same.
    offline = Server(path)
    for what in "sites", "tracks", "steps", "aggregate":
        followed, fresh = s.get(f"/sessions/1/{what}"), offline.get(f"/sessions/1/{what}")
        followed.pop("generation", None), fresh.pop("generation", None)
        want(followed == fresh, f"{what}: {str(followed)[:300]} is not {str(fresh)[:300]}")
    offline.stop()
    s.stop()


def record(path, stop, *rate):
    recorder = subprocess.Popen([os.environ["SONDE"], "record", "-o", path, program, SECONDS, stop, "2", *rate],
                                stderr=subprocess.DEVNULL)
    atexit.register(recorder.terminate)  # which ends its program as well
    return recorder


# By sonde record, whose index is taken in the end.
recorder = record("run.sonde", "stop", *FAST)
s = serve_when_large("run.sonde")
check_window(s)
if is_plain:
    wait_for_session(s, lambda one: one["n_events"] > MANY and one["window"] and not one["window"]["catches_up"],
                     "more than can be followed")
    check_window(s)
open("stop", "w").close()
want(recorder.wait() == 0, "sonde record failed")
check_whole(s, "run.sonde")

# Without it, and killed: the server makes the index.
alone = subprocess.Popen([program, SECONDS, "never", "2", *FAST],
                         env={**os.environ, "SONDE_ENABLED": "1", "SONDE_OUTPUT": "alone.sonde"})
atexit.register(alone.kill)
s = serve_when_large("alone.sonde")
check_window(s)
alone.kill()
alone.wait()
check_whole(s, "alone.sonde")

# A slow one is refreshed as a whole.
slow = record("slow.sonde", "stop2", "60" if is_plain else "5")
wait_for_file("slow.sonde")
s = Server("slow.sonde")
s.ask("/api/v1/sessions/1")
first = wait_for_session(s, lambda one: one["state"] == "live" and one["n_events"] > 50_000 and not one["window"],
                         "all of a slow recording")
wait_for_session(s, lambda one: one["generation"] > first["generation"] and not one["window"]
                 and one["n_events"] > first["n_events"], "more of it")
open("stop2", "w").close()
want(slow.wait() == 0, "sonde record failed")
check_whole(s, "slow.sonde")
finish()
