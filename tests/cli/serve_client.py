"""For the tests of sonde serve: starts a server and asks it, by hand where a test must be rude."""
import atexit, http.client, json, os, re, signal, socket, subprocess, sys, time

failed = 0


def want(condition, complaint):
    global failed
    if not condition:
        failed += 1
        print(f"serve: {complaint}", file=sys.stderr)


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"serve: waited in vain for {what}")
        time.sleep(0.05)


def wait_for_file(path):
    wait_for(lambda: os.path.exists(path) and os.path.getsize(path), path)


class Server:
    def __init__(self, *arguments, env=None):
        self.process = subprocess.Popen([os.environ["SONDE"], "serve", "--port", "0", *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})
        atexit.register(self.process.kill)
        self.url = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.url)
        if not match:
            sys.exit(f"serve: no address: {self.url!r} {self.process.stderr.read()}")
        self.port, self.token = int(match[1]), match[2]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and body of one request with the token."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}"}
        sent.update({k.replace("_", "-"): v for k, v in headers.items()})
        c.request(method, path, body, {k: v for k, v in sent.items() if v is not None})
        r = c.getresponse()
        answer = r.status, r.headers, r.read()
        c.close()
        return answer

    def get(self, path, **headers):
        """JSON of /api/v1/...; waits while the trace is being opened."""
        for _ in range(600):
            status, _, body = self.ask("/api/v1" + path, **headers)
            answer = json.loads(body)
            if status != 202:
                break
            time.sleep(0.1)
        if status != 200:
            want(False, f"GET {path}: {status} {body[:300]}")
        return answer

    def send(self, method, path, value=None):
        status, _, body = self.ask("/api/v1" + path, method, None if value is None else json.dumps(value))
        return status, json.loads(body) if body else None

    def raw(self, data, seconds=30):
        """What comes back for these bytes until the server closes."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        try:
            s.sendall(data)
            got = b""
            while chunk := s.recv(65536):
                got += chunk
        except (ConnectionError, TimeoutError):
            pass
        s.close()
        return got

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        try:
            _, err = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("serve: does not end after a signal")
        want(self.process.returncode == 0, f"exit code {self.process.returncode}: {err[-3000:]}")
        return err


def finish():
    sys.exit(1 if failed else 0)
