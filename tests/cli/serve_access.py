"""Who may ask sonde serve, and what it bears."""
from serve_client import *

s = Server(*sys.argv[1:])
API = "/api/v1/sessions"

# The token.
status, headers, body = s.ask(API)
want(status == 200 and json.loads(body)["sessions"][0]["id"] == 1, f"with the token: {status}")
for wrong in (None, "", "Bearer", "Bearer ", "Bearer " + "0" * 32, "Bearer " + s.token[:-1], "Bearer " + s.token + "0",
              "bearer " + s.token, "Basic " + s.token):
    status, headers, body = s.ask(API, Authorization=wrong)
    want(status == 401 and json.loads(body)["error"]["code"] == "no-token", f"{wrong!r} is let in: {status}")
want(s.ask(API + "?token=" + s.token, Authorization=None)[0] == 401, "the API takes a token from the address")
status, headers, _ = s.ask("/?token=" + s.token, Authorization=None)
cookie = headers["Set-Cookie"]
want(status == 303 and headers["Location"] == "/", f"the address with the token: {status}")
want(cookie == f"sonde-{s.port}={s.token}; Path=/; HttpOnly; SameSite=Strict", f"cookie {cookie}")
want(s.ask("/?token=" + "0" * 32, Authorization=None)[0] == 401, "a wrong token opens the page")
want(s.ask("/", Authorization=None)[0] == 401, "the page opens without a token")
want(s.ask("/app.js", Authorization=None)[0] == 401, "a script comes without a token")
pair = cookie.split(";")[0]
for good in (pair, "a=b; " + pair, pair + "; c=d"):
    want(s.ask(API, Authorization=None, Cookie=good)[0] == 200, f"the cookie {good} is refused")
for bad in ("x" + pair, pair + "0", pair[:-1], f"sonde-{s.port}=", "sonde-1=" + s.token, "; ; ;", "="):
    want(s.ask(API, Authorization=None, Cookie=bad)[0] == 401, f"the cookie {bad} is let in")

# Host: one, and one of ours.
for good in (s.host, f"localhost:{s.port}", f"LOCALHOST:{s.port}", f"[::1]:{s.port}"):
    want(s.ask(API, Host=good)[0] == 200, f"Host {good} is refused")
for bad in ("evil.example", f"evil.example:{s.port}", "127.0.0.1", "localhost", f"127.0.0.1:{s.port}.evil.example",
            f"127.0.0.1:{s.port + 1}", f"localhost:{s.port}@evil.example", f"0.0.0.0:{s.port}", f"127.1:{s.port}", " "):
    status, _, body = s.ask(API, Host=bad)
    want(status in (400, 421), f"Host {bad!r} is let in: {status}")
    want(s.ask("/?token=" + s.token, Host=bad)[0] in (400, 421), f"Host {bad!r} gets a cookie")
auth = f"Authorization: Bearer {s.token}\r\n"
for hosts in ("", f"Host: {s.host}\r\nHost: evil.example\r\n", f"Host: evil.example\r\nHost: {s.host}\r\n"):
    for version in ("1.0", "1.1"):
        got = s.raw(f"GET {API} HTTP/{version}\r\n{hosts}{auth}Connection: close\r\n\r\n".encode())
        want(b" 200 " not in got.split(b"\r\n")[0], f"HTTP/{version} with {hosts!r} is let in")

# Origin: none, or ours.
want(s.ask(API, Origin=f"http://{s.host}")[0] == 200, "our own page is refused")
for bad in ("http://evil.example", "null", "", f"http://{s.host}.evil.example", f"http://localhost:{s.port}",
            f"http://evil.example/http://{s.host}", f"ftp://{s.host}", s.host, f"http://127.0.0.1:{s.port + 1}"):
    for method in ("GET", "POST", "DELETE"):
        want(s.ask(API, method, Origin=bad)[0] == 403, f"{method} from {bad!r} is let in")

# What every answer has.
for path in ("/", API, "/api/v1/nothing", "/nothing"):
    for token in (f"Bearer {s.token}", None):
        _, headers, _ = s.ask(path, Authorization=token)
        want(headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; "), f"no CSP on {path}")
        want(headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store", f"headers of {path}")
        want(headers["Access-Control-Allow-Origin"] is None, f"CORS on {path}")

# Addresses that reach for files get nothing of them.
for path in ("/../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd",
             "/index.html/../../etc/passwd", "/..\\..\\etc\\passwd", "/%c0%ae%c0%ae/etc/passwd", "/a%00b", "/%", "/%zz", "/%e",
             "/api/v1/sessions/../../../etc/passwd", "/api/v1/sessions/..%2f1/tracks", "/api/v1/sessions/-1/tracks",
             "/api/v1/sessions/1e0/tracks", "/api/v1/sessions/99999999999999999999/tracks", "/api/v1/sessions//tracks",
             "/api/v1/sessions/1/slices/18446744073709551616", "/api/v1/sessions/1/report/..%2f..%2fetc", "/api/v1/" + "a/" * 900,
             "/api/v1/sessions/0/tracks", "/api/v1/sessions/2/tracks", "/api/v1/sessions/1/tracks/", "/file:///etc/passwd",
             "/api/v1/sessions/%31%00/tracks", "/proc/self/environ", "/api/v1/sessions/1/slices/1/../../tracks"):
    got = s.raw(f"GET {path} HTTP/1.1\r\nHost: {s.host}\r\n{auth}Connection: close\r\n\r\n".encode())
    line = got.split(b"\r\n")[0]
    want(re.match(rb"HTTP/1\.1 (400|404) ", line) and b"root:" not in got, f"GET {path}: {line}")

# Methods that an address does not take.
for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "X" * 500):
    want(s.ask("/", method)[0] in (400, 405, 501), f"{method} /")
want(s.ask(API, "DELETE")[0] == 405, "DELETE /sessions")
want(s.ask(API, "HEAD")[0] == 200 and s.ask(API, "HEAD")[2] == b"", "HEAD")

# Junk, too much, and too slow.
for junk in (b"\0" * 1000, b"GET\r\n\r\n", b"\x16\x03\x01" + os.urandom(500), b"GET / HTTP/9.9\r\n\r\n", os.urandom(5000) + b"\r\n\r\n"):
    got = s.raw(junk + b"\r\n\r\n", 1)
    want(b" 200 " not in got[:20], f"junk is answered: {got[:60]}")
got = s.raw(f"GET {API} HTTP/1.1\r\nHost: {s.host}\r\n{auth}X: {'a' * 100000}\r\n\r\n".encode())
want(b" 200 " not in got[:20], "headers of 100 KB are taken")
got = s.raw(f"GET {API}?q={'a' * 9000} HTTP/1.1\r\nHost: {s.host}\r\n{auth}Connection: close\r\n\r\n".encode())
want(re.match(rb"HTTP/1\.1 (400|414) ", got), f"an address of 9 KB: {got[:40]}")
want(s.ask(API + "?" + "&".join(f"a{i}=1" for i in range(100)))[0] == 400, "100 parameters are taken")
for size in (1 << 20) + 1, 1 << 40:
    got = s.raw(f"POST {API}/1/sql HTTP/1.1\r\nHost: {s.host}\r\n{auth}Content-Length: {size}\r\n\r\n".encode())
    want(got.startswith(b"HTTP/1.1 413"), f"a body of {size}: {got[:40]}")
chunks = b"".join(b"8000\r\n" + b"x" * 0x8000 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n"
got = s.raw(f"POST {API}/1/sql HTTP/1.1\r\nHost: {s.host}\r\n{auth}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode() + chunks)
want(got.startswith(b"HTTP/1.1 413"), f"a body of 1.3 MB in chunks: {got[:40]}")
want(s.ask(API)[0] == 200, "the server is gone")

# A client that sends a byte a second, and as many as there may be that send nothing: they are shut out after ten
# seconds, and the one who was there before is served all the time.
good = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
good.connect()
slow = socket.create_connection(("127.0.0.1", s.port))
idle = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(80)]
start, closed, drip = time.monotonic(), None, iter(f"GET {API} HTTP/1.1\r\nHost: {s.host}\r\n{auth}".encode())
while closed is None and time.monotonic() - start < 40:
    good.request("GET", API, headers={"Authorization": f"Bearer {s.token}"})
    r = good.getresponse()
    r.read()
    want(r.status == 200, f"a slow client disturbs another: {r.status}")
    try:
        slow.send(bytes([next(drip)]))
        slow.settimeout(1)
        if slow.recv(1) == b"":
            closed = time.monotonic() - start
    except TimeoutError:
        pass
    except OSError:
        closed = time.monotonic() - start
want(closed is not None and closed > 5, f"the slow client was shut out after {closed}")
for _ in range(50):
    try:
        status = s.ask(API)[0]
        break
    except (ConnectionError, http.client.HTTPException):
        status = None
        time.sleep(0.1)
want(status == 200, "no connection is left")
for c in idle + [slow]:
    c.close()

# The end comes at once, whatever is asked.
listener = socket.create_connection(("127.0.0.1", s.port))
listener.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {s.host}\r\n{auth}\r\n".encode())
want(b"text/event-stream" in listener.recv(4096), "no events")
s.get("/sessions/1")
endless = json.dumps({"sql": "with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r"})
asker = socket.create_connection(("127.0.0.1", s.port))
asker.sendall(f"POST {API}/1/sql HTTP/1.1\r\nHost: {s.host}\r\n{auth}Content-Length: {len(endless)}\r\n\r\n{endless}".encode())
time.sleep(0.5)
start = time.monotonic()
s.stop()
want(time.monotonic() - start < 8, f"the end took {time.monotonic() - start:.1f} s")
finish()
