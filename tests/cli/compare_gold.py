"""sonde compare --compat hta against HTA's trace diff: every count and sum of every name, and the categories."""
import json
import os
import subprocess
import sys

sonde, data = sys.argv[1:3]
pairs = {"cmp": ("hta_cmp_base", "hta_cmp_test"), "diff": ("hta_diff_control", "hta_diff_test"),
         "generated": ("even", "straggler")}
gold = json.load(open(os.path.join(data, "gold-hta", "trace_diff.json")))
assert set(gold) in ({"cmp", "diff"}, {"generated"}), gold.keys()
n_bad = n_rows = 0


def check(what, ours, theirs):
    global n_bad, n_rows
    n_rows += 1
    if ours != theirs:
        n_bad += 1
        print(f"{what}: {ours}, HTA says {theirs}")


for key in gold:
    files = [os.path.join(data, "traces", name) for name in pairs[key]]
    result = json.loads(subprocess.run([sonde, "compare", "--compat", "hta", "--json", *files],
                                       check=True, capture_output=True).stdout)
    sums = {row["device"]: row for row in result["categories"]}
    for device in ("CPU", "GPU", "ALL"):
        want = gold[key][device]
        ours = {}
        for row in result[device.lower()]:
            ours[row["name"]] = [row["control_counts"], row["control_total_ns"] / 1000, row["test_counts"],
                                 row["test_total_ns"] / 1000, row["diff_counts"], row["diff_ns"] / 1000,
                                 row["counts_change"]]
        check(f"{key} {device} names", sorted(ours), sorted(row[0] for row in want["rows"]))
        for row in want["rows"]:
            check(f"{key} {device} {row[0]}", ours.get(row[0]), row[1:])
        counts = sums[device.lower()]
        check(f"{key} {device} categories", {k: counts[k] for k in want["ops_diff_counts"]}, want["ops_diff_counts"])
        totals = {"Control_counts": counts["control_counts"], "Test_counts": counts["test_counts"],
                  "Control_total_duration": counts["control_total_ns"] / 1000,
                  "Test_total_duration": counts["test_total_ns"] / 1000}
        check(f"{key} {device} totals", totals, {k: want["totals"][k] for k in totals})
print(f"{n_rows} checks, {n_bad} bad")
sys.exit(n_bad > 0 or n_rows < (33 if "generated" in gold else 800))
