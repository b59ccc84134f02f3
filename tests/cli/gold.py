"""What comparisons with the numbers of another tool share."""
import collections
import json
import subprocess
import sys


def run(sonde, name, files, *more):
    """The JSON of an analysis."""
    command = [sonde, "analyze", name, "--json", *more] + files
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: exit code %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return json.loads(done.stdout)


def us(row, key):
    return None if row is None or row.get(key) is None else row[key] / 1000


class Comparison:
    """Numbers of one set; `deviation` says how far two are apart."""

    def __init__(self, name, deviation):
        self.name = name
        self.deviation = deviation
        self.worst = collections.defaultdict(float)
        self.n = collections.Counter()
        self.examples = {}

    def put(self, what, key, want, got):
        d = self.deviation(want, got)
        self.n[what] += 1
        if d > self.worst[what]:
            self.worst[what] = d
            self.examples[what] = (key, want, got)


class Sum:
    """All sets: prints what is further apart than the limit, and what was compared."""

    def __init__(self, tool, limit):
        self.tool, self.limit = tool, limit
        self.worst, self.n, self.failed = collections.defaultdict(float), collections.Counter(), False

    def add(self, c):
        for what, d in sorted(c.worst.items()):
            self.worst[what] = max(self.worst[what], d)
            if d > self.limit:
                self.failed = True
                key, want, got = c.examples[what]
                print("%s: %s: %s is %s, %s says %s" % (c.name, what, key, got, self.tool, want))
        self.n.update(c.n)

    def print(self, n_sets):
        """Returns how many numbers were compared."""
        print("worst:", " ".join("%s=%.1e" % w for w in sorted(self.worst.items())))
        print("numbers compared:", sum(self.n.values()), "in", n_sets, "sets;", dict(sorted(self.n.items())))
        return sum(self.n.values())
