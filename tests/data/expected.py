"""What HTA, the TensorBoard plugin and TraceLens have to say of the traces of generate.py, in the form that the
comparisons of tests/cli read. Every number follows from the table of a step in generate.py; times are microseconds."""

OPS = (("aten::linear", 200), ("aten::relu", 100), ("aten::copy_", 100), ("c10d::allreduce_", 100))
CALL = 20  # each operator calls the runtime once
PAUSE = 5000  # from the end of the copy to the next gemm


def device_rows(r):
    """(name, type, duration, delay from the end of its call) of the rows of a step, in the order of OPS."""
    v = r.vendor
    return ((v["gemm"], "COMPUTATION", 3000 + r.late, 860), (r.RELU, "COMPUTATION", 500, 3560 + r.late),
            (v["memcpy"], "MEMORY", 1000, 4360 + r.late),
            (r.ALLREDUCE, "COMMUNICATION", 4000 + r.slack - r.late, 2660 + r.late))


def temporal(r, n):
    """Idle, computing, otherwise busy, from the first to the last row; and the first three in percent."""
    total = (n - 1) * (r.STEP + r.slack) + 6500 + r.slack
    busy, compute = n * (6500 + r.slack), n * (3500 + r.late)
    parts = (total - busy, compute, busy - compute)
    return [r.rank, *parts, total, *(round(100 * part / total, 2) for part in parts)]


def types(ranks, n):
    """Exclusive times: what of each kind runs alone or together with another."""
    sums = {"COMPUTATION": sum(2500 + r.late for r in ranks), "COMMUNICATION": sum(2000 + r.slack - r.late for r in ranks),
            "COMPUTATION overlapping COMMUNICATION": 1000 * len(ranks), "COMMUNICATION overlapping MEMORY": 1000 * len(ranks)}
    return [[kind, n * each, 100 * each / sum(sums.values())] for kind, each in sums.items()]


def idle(r, n):
    """Pauses: the host launches the next step's rows after the end of those before; the copy waits, launched early."""
    host, other = (n - 1) * (PAUSE + r.slack - r.late), n * 500
    return [[r.rank, r.vendor["compute"], "host_wait", host, host / (host + other)],
            [r.rank, r.vendor["compute"], "other", other, other / (host + other)],
            [r.rank, r.vendor["comm"], "host_wait", (n - 1) * (6000 + r.late), 1]]


def launches(r, n):
    rows = device_rows(r)
    sums = {"cpu_duration": n * len(rows) * CALL, "gpu_duration": n * sum(row[2] for row in rows),
            "launch_delay": n * sum(row[3] for row in rows)}
    columns = [(CALL,) * 4, [row[2] for row in rows], [row[3] for row in rows]]
    describe = [["count", *[float(n * len(rows))] * 3], ["mean", *(sum(c) / len(c) for c in columns)]]
    return {"count": n * len(rows), "sum": sums, "short_kernels": 0, "runtime_outliers_gt50": 0,
            "launch_delay_outliers_gt100": n * len(rows), "describe": {"rows": describe}}


def hta(ranks):
    """HTA drops the last step and the rows that it launched."""
    n = ranks[0].N_STEPS - 1
    kernels = [[r.rank, kind, name, n * dur, dur, dur, dur, 0.0] for r in ranks for name, kind, dur, _ in device_rows(r)]
    steps = [["ProfilerStep#%d" % i, *[r.STEP + r.slack] * 3, 0.0, r.STEP + r.slack, r.rank] for r in ranks for i in range(n)]
    gold = {
        "load": [{"rank": r.rank} for r in ranks], "profiler_steps": list(range(n)),
        "temporal_breakdown": {"rows": [temporal(r, n) for r in ranks]},
        "comm_comp_overlap_unrounded_pct": {"rows": [[r.rank, 100 * 1000 / (4000 + r.slack - r.late)] for r in ranks]},
        "kernel_breakdown_all": {"by_type": {"rows": types(ranks, n)}, "kernels": {
            "columns": ["rank", "kernel_type", "name", "sum (us)", "max (us)", "min (us)", "mean (us)", "stddev"],
            "rows": kernels}},
        "idle_time_breakdown_30": {"breakdown": {"rows": [row for r in ranks for row in idle(r, n)]}},
        "user_annotation_cpu": {
            "columns": ["name", "sum (us)", "max (us)", "min (us)", "stddev", "mean (us)", "rank"], "rows": steps}}
    if ranks[0].vendor["prefix"] == "cuda":  # HTA knows no launches of AMD
        gold["launch_stats"] = {str(r.rank): launches(r, n) for r in ranks}
    return gold


def step_names(r):
    """{name: (count, time)} of the first step on the host and on the device."""
    host = {"ProfilerStep#0": (1, r.STEP + r.slack), r.vendor["prefix"] + "DeviceSynchronize": (1, 6500 + r.slack),
            r.vendor["launch"]: (3, 3 * CALL), r.vendor["copy"]: (1, CALL), **{name: (1, dur) for name, dur in OPS}}
    return host, {name: (1, dur) for name, _, dur, _ in device_rows(r)}


def trace_diff(control, test):
    """HTA's trace diff compares the first step of the first rank of both."""
    (host_a, device_a), (host_b, device_b) = step_names(control), step_names(test)
    found = {}
    for kind, a, b in (("CPU", host_a, host_b), ("GPU", device_a, device_b), ("ALL", {**host_a, **device_a}, {**host_b, **device_b})):
        rows = [[name, *a[name], *b[name], 0, b[name][1] - a[name][1], "="] for name in a]
        found[kind] = {
            "rows": rows, "ops_diff_counts": {"added": 0, "deleted": 0, "increased": 0, "decreased": 0, "unchanged": len(rows)},
            "totals": {"Control_counts": sum(row[1] for row in rows), "Control_total_duration": sum(row[2] for row in rows),
                       "Test_counts": sum(row[3] for row in rows), "Test_total_duration": sum(row[4] for row in rows)}}
    return {"generated": found}


def tb_rank(r):
    n, step = r.N_STEPS, r.STEP + r.slack
    calls, ops = len(OPS) * CALL, sum(dur for _, dur in OPS)
    roles = [3500 + r.late, 1000, 0, 2000 + r.slack - r.late, calls, 0, ops - calls]
    kernels = [[name, False, n, n * dur, dur, dur, dur, 0.5, 25] for name, kind, dur, _ in device_rows(r) if kind != "MEMORY"]
    operators = [[name, n, n * row[2], n * row[2], n * (dur - CALL), n * dur] for (name, dur), row in zip(OPS, device_rows(r))]
    return {
        "steps": [str(i) for i in range(n)], "steps_costs": [[*roles, step - sum(roles), step]] * n,
        "comm_overlap_per_step": [{"computation": 3500 + r.late, "communication": 4000 + r.slack - r.late, "overlap": 1000,
                                   "other": 3500}] * n,
        "gpu": {str(r.rank): {"utilization": (6500 + r.slack) / step, "est_sm_efficiency": 0.5 * (7500 + r.slack) / step,
                              "est_occupancy_pct": 25}},
        "tc_used_ratio": (3000 + r.late) / (7500 + r.slack) if r.vendor["matrix"] else 0,
        "kernels": {"rows": kernels}, "operators": {"rows": operators},
        "peak_memory": {"device": 6 << 20}}


def tensorboard(name, ranks):
    return {"set": name, "ranks": {str(r.rank): tb_rank(r) for r in ranks}}


def ops_tables(r):
    """Operators with their device rows. Collectives are no operators to TraceLens, and copies no kernels."""
    n, rows = r.N_STEPS, device_rows(r)
    kinds, sums = ("other", "elementwise", "elementwise"), [n * row[2] for row in rows[:3]]
    names = [[name, n, s, s, [kind], 100 * s / sum(sums)] for (name, _), s, kind in zip(OPS, sums, kinds)]
    args = [[name, kind, [[64, 64]], ["float"], None, None, n, s, s / n, s / n, 0, s / n, s / n, s]
            for (name, _), s, kind in zip(OPS, sums, kinds)]
    kernels = [[None, op, row[0], r.vendor["comm" if row[1] == "COMMUNICATION" else "compute"], n * row[2], n, *[row[2]] * 3]
               for (op, _), row in zip(OPS, rows) if row[1] != "MEMORY"]
    categories = {"other": {"count": n, "direct_ms": sums[0] / 1000},
                  "elementwise": {"count": 2 * n, "direct_ms": (sums[1] + sums[2]) / 1000}}
    return {"ops_summary": {"total_rows": 3, "rows": names}, "categories": categories,
            "ops_unique_args": {"total_rows": 3, "rows": args}, "kernel_summary": {"total_rows": 3, "rows": kernels}}


def tracelens_rank(r):
    n, comm = r.N_STEPS, 4000 + r.slack - r.late
    total, busy = (n - 1) * (r.STEP + r.slack) + 6500 + r.slack, n * (6500 + r.slack)
    times = {"computation_time": n * (3500 + r.late), "exposed_comm_time": n * (comm - 1000), "exposed_memcpy_time": 0,
             "busy_time": busy, "idle_time": total - busy, "total_time": total, "total_comm_time": n * comm,
             "total_memcpy_time": n * 1000}
    times = {key: us / 1000 for key, us in times.items()}
    columns = ("Collective name", "dtype", "In msg nelems", "Out msg nelems", "Process Group Name", "stream", "operation_count",
               "dur_sum", "dur_mean", "dur_std", "dur_min", "dur_max", "In msg size (MB)_first", "Out msg size (MB)_first")
    row = ("allreduce", "Float", 262144, 262144, "0", r.vendor["comm"], n, n * comm, comm, 0, comm, comm, 1, 1)
    return {"gpu_timeline_ms": times, "gpu_timeline_all_ms": times, "stats": {"n_gpu": 4 * n, "n_gpu_linked": 4 * n},
            "recompute_events": 0, "short_kernels": {"groups": 0, "count": 0, "sum_us": 0},
            "coll_long": {"total_rows": n, "dur_sum": n * comm}, "coll_analysis": {"columns": columns, "rows": [row]},
            **ops_tables(r)}


def tracelens(ranks):
    return {"files": ["rank%d.json.gz" % r.rank for r in ranks], "ranks": {str(r.rank): tracelens_rank(r) for r in ranks}}
