#!/usr/bin/env python3
"""Compares roles, utilization, occupancy, operators and distributed with what the deleted TensorBoard plugin said.

  tb_gold.py SONDE DATA [SET...]

DATA holds real traces, or those of tests/data/generate.py. A number agrees when it differs by no more than 1e-5 of its size, or half a microsecond for each
call it sums up: the plugin holds times since 1970 as doubles, whose grid is a quarter of one. Where it is wrong EXCEPT
says why, as docs/analyses/tensorboard.md does; an exception that nothing needs is a failure, too.
"""
import collections
import json
import os
import sys

from gold import run

DRIVER = "calls of the driver API (cuda_driver) are no runtime calls to it, so what they launch has no operator"
COLLECTIVES = "it knows five collectives by name: others are computation"
LINKS = "it links by external ids, which the runtime rows of this trace do not have or that are wrong"
STEPS = "copies of the steps on the device are steps to it, and hide operators"
DOUBLES = "the grid of its doubles makes neighbours overlap, which it then drops"
MTIA = "it does not know the device's rows"
LANES = "operators that overlap what is around them are apart here"
NAMES = "its list of tensor-core kernels ends in 2020 and knows no AMD"

HOST_ROLES = ("runtime_ns", "host_ns")
LINKED = ("device_self_ns", "device_ns", "host_self_ns")
ROLES = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "loader_ns", "host_ns", "other_ns", "dur_ns")
COMM = ("computation_ns", "overlap_ns", "communication_ns", "other_ns")
TENSOR = "tensor_core_percent"
# set: { (analysis, column): reason }


def table(*rows):
    return {(analysis, column): why for analysis, columns, why in rows for column in columns}


EXCEPT = {
    "hta_cp_event_sync": table(("operators", LINKED, LINKS)),
    "hta_cp_simple_add": table(("operators", LINKED, LINKS), ("utilization", [TENSOR], NAMES)),
    "hta_cupti": table(("operators", ["host_self_ns"], LINKS)),
    "hta_diff_control": table(("operators", LINKED, LINKS), ("roles", ROLES[:5] + ROLES[6:7], COLLECTIVES),
                              ("distributed", COMM, COLLECTIVES)),
    "hta_diff_test": table(("operators", LINKED, LINKS), ("roles", ROLES[:5] + ROLES[6:7], COLLECTIVES),
                           ("distributed", COMM, COLLECTIVES)),
    "hta_mtia_train": table(("operators", LINKED, MTIA), ("roles", ROLES[:2] + ROLES[3:5] + ROLES[6:], MTIA),
                            ("distributed", COMM[:1] + COMM[2:], MTIA)),
    "hta_ns": table(("operators", ["calls", "host_self_ns"], DOUBLES)),
    "hta_simple_add": table(("operators", LINKED, LINKS)),
    "hta_triton": table(("operators", LINKED, DRIVER), ("roles", HOST_ROLES, DRIVER)),
    "param_dlrm8": table(("operators", LINKED, LINKS), ("distributed", COMM, COLLECTIVES),
                         ("roles", ("kernel_ns", "memset_ns", "communication_ns", "runtime_ns", "host_ns"), COLLECTIVES)),
    "param_resnet": table(("operators", LINKED, LINKS)),
    "syn_r4_straggler2": table(("operators", ("calls", "host_ns") + LINKED, STEPS), ("roles", ["n_steps"], STEPS),
                               ("distributed", ["n_steps"], STEPS)),
    "tl_b200_eager": table(("operators", LINKED, DRIVER), ("distributed", ("computation_ns", "communication_ns", "other_ns"), COLLECTIVES),
                           ("roles", ("kernel_ns", "communication_ns", "runtime_ns", "host_ns"), COLLECTIVES),
                           ("utilization", [TENSOR], NAMES)),
    "tl_h100_bert": table(("operators", LINKED, DRIVER), ("roles", HOST_ROLES, DRIVER), ("utilization", [TENSOR], NAMES)),
    "tl_h100_qwen": table(("operators", LINKED, DRIVER), ("roles", HOST_ROLES, DRIVER), ("utilization", [TENSOR], NAMES)),
    "tl_h100_vit": table(("operators", LINKED, DRIVER), ("roles", HOST_ROLES, DRIVER), ("utilization", [TENSOR], NAMES)),
    "tl_mi300_resnet_ckpt": table(("operators", ("calls", "host_ns") + LINKED, STEPS), ("roles", ["n_steps"], STEPS),
                                  ("distributed", ["n_steps"], STEPS), ("utilization", [TENSOR], NAMES)),
    "tl_xdit_sd35": table(("operators", ["host_self_ns"], LANES), ("utilization", [TENSOR], NAMES)),
}
for name in ("tl_mi300_owlv2", "tl_mi300_timesformer", "tl_mi300_vit", "tl_sglang_decode", "tl_torch_compile_triton",
             "tl_vllm_decode_graph"):
    EXCEPT[name] = table(("utilization", [TENSOR], NAMES))


def of_rank(rows, rank):
    """A file alone has the rank that its name says to the plugin, where we believe its content."""
    ranks = {r["rank"] for r in rows}
    return [r for r in rows if len(ranks) == 1 or r["rank"] == rank]


class Set:
    def __init__(self, name):
        self.name, self.n, self.wrong, self.used = name, collections.Counter(), [], set()

    def put(self, analysis, what, column, want, got, calls=1):
        self.n[analysis] += 1
        scale = 1000 if column.endswith("_ns") else 1
        size = 0 if column in ("calls", "count", "n_steps") else 500 * calls if scale == 1000 else 0
        got, want = got or 0, (want or 0) * scale
        if abs(got - want) <= max(1e-5 * abs(want), size) or (self.name == "hta_ns" and abs(got - want) <= 1e-4 * abs(want)):
            return
        if self.name == "hta_ns" and analysis in ("roles", "distributed") and abs(got - want) <= 10000:
            return  # the sum of some thousand neighbours
        if self.name == "hta_triton" and analysis == "utilization" and abs(got - want) <= 2e-4 * want:
            return  # a single kernel of 1.76 us
        if (analysis, column) in EXCEPT.get(self.name, {}):
            self.used.add((analysis, column))
        else:
            self.wrong.append("%s %s: %s is %s and not %s" % (analysis, what, column, got, want))


def compare_steps(s, gold, rows, analysis, columns, values):
    s.put(analysis, "steps", "n_steps", len(gold["steps"]), len(rows))
    for number, row, want in zip(gold["steps"], rows, values if len(rows) == len(gold["steps"]) else []):
        for column, value in zip(columns, want):
            s.put(analysis, "step " + number, column, value, row[column])


def compare(s, rank, gold, out):
    compare_steps(s, gold, of_rank(out["roles"]["role_steps"], rank), "roles", ROLES, gold["steps_costs"])
    compare_steps(s, gold, of_rank(out["distributed"]["distributed_steps"], rank), "distributed", COMM,
                  [(c["computation"] - c["overlap"], c["overlap"], c["communication"] - c["overlap"], c["other"])
                   for c in gold["comm_overlap_per_step"]])
    for device, want in gold["gpu"].items():
        row = [r for r in of_rank(out["utilization"]["utilization"], rank) if r["device"] == int(device)][0]
        for column, key, scale in (("utilization_percent", "utilization", 100), ("sm_efficiency_percent", "est_sm_efficiency", 100),
                                   ("occupancy_percent", "est_occupancy_pct", 1)):
            assert (row[column] is None) == (want[key] is None), (s.name, column)
            s.put("utilization", "device " + device, column, (want[key] or 0) * scale, row[column])
        s.put("utilization", "device " + device, TENSOR, gold["tc_used_ratio"] * 100, row[TENSOR])
    kernels = {r["name"]: r for r in of_rank(out["occupancy"]["kernel_occupancy"], rank)}
    for name, _, count, total, mean, most, least, blocks, occupancy in gold.get("kernels", {"rows": []})["rows"]:
        for column, want in (("count", count), ("sum_ns", total), ("mean_ns", mean), ("max_ns", most), ("min_ns", least),
                             ("blocks_per_sm", blocks), ("occupancy_percent", occupancy)):
            s.put("occupancy", name, column, want, kernels[name][column])
    ops = {r["name"]: r for r in of_rank(out["operators"]["operators"], rank)}
    for name, calls, device_self, device, host_self, host, *_ in gold["operators"]["rows"]:
        for column, want in (("calls", calls), ("device_self_ns", device_self), ("device_ns", device),
                             ("host_self_ns", host_self), ("host_ns", host)):
            s.put("operators", name, column, want, ops[name][column], calls)


def compare_memory(s, rank, gold, out):
    peaks = [r["peak_bytes"] for r in of_rank(out["memory_devices"], rank)]
    for device, want in gold.get("peak_memory", {}).items():
        s.put("memory", device, "peak_bytes", want, want if want in peaks else -1)


def main():
    sonde, data, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    n, failed, n_except = collections.Counter(), 0, 0
    for file in sorted(os.listdir(os.path.join(data, "gold-tb"))):
        gold = json.load(open(os.path.join(data, "gold-tb", file)))
        if only and gold["set"] not in only:
            continue
        folder = os.path.join(data, "traces", gold["set"])
        files = [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
        s = Set(gold["set"])
        out = {name: run(sonde, name, files, "--warmup", "none") for name in ("roles", "utilization", "occupancy", "operators", "distributed", "memory")}
        for rank, ranked in gold["ranks"].items():
            if "error" not in ranked:
                compare(s, int(rank), ranked, out)
                compare_memory(s, int(rank), ranked, out["memory"])
        n += s.n
        n_except += len(s.used)
        stale = set(EXCEPT.get(s.name, {})) - s.used
        for what in s.wrong[:5] + ["%s: no exception is needed" % (x,) for x in sorted(stale)]:
            print("%s: %s" % (s.name, what), file=sys.stderr)
        failed += bool(s.wrong or stale)
    print("%d numbers: %s; %d columns of sets where the plugin is wrong" % (sum(n.values()), dict(n), n_except))
    sys.exit(failed > 0 or not n or (not only and sum(n.values()) < 15000))


main()
