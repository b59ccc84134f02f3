"""Files are cut off and overwritten in place while requests read them; the server goes on, and shows what is there then."""
import random, threading
from serve_client import *

*served, small = sys.argv[1:]
whole = {file: open(file, "rb").read() for file in (*served, small)}
PATHS = ["", "/tracks", "/range?px=500", "/flame", "/report/report", "/report/operators", "/search?q=op", "/memory?px=100",
         "/slices/100", "/aggregate", "/steps", "/report/info", "/overlap"]
SQL = json.dumps({"sql": "select name, count(*), sum(dur) from slices group by 1 order by 3 desc limit 5"})
seen = {}
stop = False


def overwrite(file, data):
    """In the same file: no new one in its place, as editors do."""
    with open(file, "r+b") as f:
        f.truncate(0)
        f.write(data)


def garbage(file, data):
    """Of the same size, in place."""
    at = random.randrange(len(data) - 5000)
    with open(file, "r+b") as f:
        f.seek(at)
        f.write(random.randbytes(5000))


def ask_all(s, session):
    while not stop:
        for path in PATHS:
            status, _, _ = s.ask(f"/api/v1/sessions/{session}{path}")
            seen[status] = seen.get(status, 0) + 1
            if stop:
                return
        s.ask(f"/api/v1/sessions/{session}/sql", "POST", SQL, Content_Type="application/json")


def is_alive(s):
    want(s.process.poll() is None, f"the server ended: {s.process.poll()} {s.process.poll() and s.process.stderr.read()[:3000]}")
    return s.process.poll() is None


# Reads every slice again and again, for seconds.
SLOW = json.dumps({"sql": "with recursive c(i) as (select 1 union all select i + 1 from c where i < 2000) "
                          "select sum((select sum(dur) from slices where id >= i)) from c"})
random.seed(7)
s = Server(*served)
before = [s.get(f"/sessions/{i + 1}")["n_slices"] for i in range(len(served))]
answers = []
slow = threading.Thread(target=lambda: answers.append(s.ask("/api/v1/sessions/1/sql", "POST", SLOW, Content_Type="application/json")))
slow.start()
time.sleep(0.5)
want(slow.is_alive(), f"the slow query is done already: {answers}")
os.truncate(served[0], len(whole[served[0]]) // 10)
slow.join(60)
want(is_alive(s) and answers and answers[0][0] == 503, f"cut off under a query: {answers}")
overwrite(served[0], whole[served[0]])

threads = [threading.Thread(target=ask_all, args=(s, i % len(served) + 1), daemon=True) for i in range(4)]
for t in threads:
    t.start()
for round in range(12):
    for file in served:
        (lambda f: os.truncate(f, len(whole[f]) // 3), lambda f: os.truncate(f, 0), lambda f: garbage(f, whole[f]),
         lambda f: overwrite(f, whole[small]))[round % 4](file)
        time.sleep(0.05)
        if not is_alive(s):
            break
        overwrite(file, whole[file])
        time.sleep(0.02)
    if not is_alive(s):
        break
stop = True
for t in threads:
    t.join(60)
want(seen.get(200), f"nothing was answered: {seen}")
want(set(seen) <= {200, 202, 400, 404, 409, 413, 422, 429, 503}, f"answers: {seen}")

# What is there in the end is shown: the same as at first, then another trace in its place.
if is_alive(s):
    for i, file in enumerate(served):
        wait_for(lambda: s.ask(f"/api/v1/sessions/{i + 1}")[0] == 200, f"{file} again", 30)
        n = s.get(f"/sessions/{i + 1}")["n_slices"]
        want(n == before[i], f"{file}: {n} slices, not {before[i]}")
    overwrite(served[0], whole[small])
    status = s.ask("/api/v1/sessions/1")[0]
    want(status in (202, 503), f"a file that was just overwritten is answered with {status}")
    wait_for(lambda: s.ask("/api/v1/sessions/1")[0] == 200, "the other trace", 30)
    want("Torch-Compiled Region: 0/0" in json.dumps(s.get("/sessions/1/report/report")), "not the trace that is there now")
    # A file that stays cut off says so.
    os.truncate(served[0], 1000)
    wait_for(lambda: s.ask("/api/v1/sessions/1")[0] == 422, "the damage to be told", 30)
    is_alive(s)
s.process.terminate()
want(s.process.wait(60) == 0, f"the end of the server: {s.process.returncode}")
sys.exit(failed > 0)
