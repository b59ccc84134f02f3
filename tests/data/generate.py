#!/usr/bin/env python3
"""Writes traces whose answers are known by construction. The same bytes each time, in less than a second.

    generate.py DIRECTORY

DIRECTORY gets the layout of the real traces: traces/SET/rankN.json.gz, the expected numbers in gold-hta, gold-tb and
gold-tracelens, other/ (other writers), damaged/, and answers.json: for each set its files and figures.

A training step on a device, in microseconds from its start. `late` is what this rank needs more for its gemm, `slack` what
the latest rank needs more: a collective ends on all ranks at the same time.

    host     linear 100-300, relu 400-500, copy 600-700, allreduce 800-900: each calls the runtime for 20, then
             the host synchronizes from 1000 to 7500 + slack
    compute  gemm 1000-4000 + late, relu for 500, a pause of 500, copy for 1000
    comm     allreduce 3500 + late to 7500 + slack
    memory   4 MiB and 2 MiB are allocated and, at the end, freed

The step takes 10000 + slack. Computation and communication overlap for 1000, the copy is hidden behind communication.
"""
import gzip
import json
import os
import sys

import expected

N_STEPS, STEP, MIB = 4, 10000, 1 << 20
N_FRAMES = 10
LATE, LATE_RANK, N_RANKS = 4000, 2, 4
ELEMENTS = 262144  # of an allreduce: 1 MiB of floats

NVIDIA = {"gpu": "NVIDIA A100-SXM4-80GB", "prefix": "cuda", "launch": "cudaLaunchKernel", "copy": "cudaMemcpyAsync",
          "compute": 7, "comm": 20, "gemm": "ampere_sgemm_128x64_tn", "memcpy": "Memcpy HtoD (Pageable -> Device)",
          "matrix": False}
AMD = {"gpu": "AMD Instinct MI300X", "prefix": "hip", "launch": "hipLaunchKernel", "copy": "hipMemcpyWithStream",
       "compute": 0, "comm": 5, "gemm": "Cijk_Alik_Bljk_SB_MT128x64x16_MI16x16x4x1",
       "memcpy": "Memcpy HtoD (Host -> Device)", "matrix": True}  # MI: the gemm runs on matrix cores
RELU = "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar>(int)"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"


class Rank:
    """One file of a training program on a device."""
    N_STEPS, STEP, RELU, ALLREDUCE = N_STEPS, STEP, RELU, ALLREDUCE

    def __init__(self, vendor, rank=0, n_ranks=1, late=0, slack=0):
        self.vendor, self.rank, self.n_ranks, self.late, self.slack = vendor, rank, n_ranks, late, slack
        self.pid, self.correlation, self.bytes = 1000 + rank, 0, 0
        self.events = [meta("process_name", self.pid, 0, "python"), meta("thread_name", self.pid, self.pid, "main"),
                       meta("process_name", rank, 0, "device"), meta("thread_name", rank, vendor["compute"], "compute")]
        for step in range(N_STEPS):
            self.step(step, step * (STEP + slack))

    def step(self, number, at):
        v, late = self.vendor, self.late
        self.events.append(row("user_annotation", "ProfilerStep#%d" % number, self.pid, self.pid, at, STEP + self.slack))
        self.op("aten::linear", at + 100, 200, v["launch"], ("kernel", v["gemm"], v["compute"], at + 1000, 3000 + late))
        self.memory(at + 160, 1, 4 * MIB)
        self.memory(at + 170, 2, 2 * MIB)
        self.op("aten::relu", at + 400, 100, v["launch"], ("kernel", RELU, v["compute"], at + 4000 + late, 500))
        self.op("aten::copy_", at + 600, 100, v["copy"], ("gpu_memcpy", v["memcpy"], v["compute"], at + 5000 + late, 1000))
        self.op("c10d::allreduce_", at + 800, 100, v["launch"],
                ("kernel", ALLREDUCE, v["comm"], at + 3500 + late, 4000 + self.slack - late))
        self.events.append(row("cuda_runtime", v["prefix"] + "DeviceSynchronize", self.pid, self.pid, at + 1000,
                               6500 + self.slack))
        self.memory(at + 8000 + self.slack, 1, -4 * MIB)
        self.memory(at + 8010 + self.slack, 2, -2 * MIB)

    def op(self, name, at, dur, call, work):
        """An operator, its call of the runtime, the device's row and the arrow between them."""
        category, kernel, stream, start, length = work
        self.correlation += 1
        ids = {"External id": self.correlation}
        link = {"id": self.correlation, "cat": "ac2g", "name": "ac2g"}
        args = {"device": self.rank, "stream": stream, "correlation": self.correlation, **ids}
        if category == "kernel":
            args.update({"grid": [432, 1, 1], "block": [256, 1, 1], "blocks per SM": 0.5, "est. achieved occupancy %": 25,
                         "registers per thread": 32, "shared memory": 0})
        else:
            args.update({"bytes": 8 * MIB, "memory bandwidth (GB/s)": 8 * MIB / length / 1000})
        if kernel == ALLREDUCE:
            args.update({"Collective name": "allreduce", "In msg nelems": ELEMENTS, "Out msg nelems": ELEMENTS,
                         "dtype": "Float", "Group size": self.n_ranks, "Process Group Name": "0",
                         "Process Group Ranks": str(list(range(self.n_ranks)))})
        self.events += [
            row("cpu_op", name, self.pid, self.pid, at, dur, {"Input Dims": [[64, 64]], "Input type": ["float"], **ids}),
            row("cuda_runtime", call, self.pid, self.pid, at + 20, 20, {"correlation": self.correlation, **ids}),
            row(category, kernel, self.rank, stream, start, length, args),
            {"ph": "s", "pid": self.pid, "tid": self.pid, "ts": at + 20, **link},
            {"ph": "f", "bp": "e", "pid": self.rank, "tid": stream, "ts": start, **link}]

    def memory(self, at, address, n_bytes):
        self.bytes += n_bytes
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": self.pid,
                            "tid": self.pid, "ts": at, "args": {
                                "Device Type": 1, "Device Id": self.rank, "Addr": address, "Bytes": n_bytes,
                                "Total Allocated": self.bytes, "Total Reserved": 8 * MIB}})

    def trace(self):
        device = {"id": self.rank, "name": self.vendor["gpu"], "numSms": 108, "totalGlobalMem": 85899345920,
                  "computeMajor": 8, "computeMinor": 0, "maxThreadsPerBlock": 1024}
        trace = {"schemaVersion": 1, "deviceProperties": [device], "traceEvents": self.events}
        if self.n_ranks > 1:
            trace["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.n_ranks}
        return trace


def meta(what, pid, tid, name):
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def row(category, name, pid, tid, at, dur, args=None):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": at, "dur": dur, "args": args or {}}


def device_figures(ranks):
    """Counts and times of a set of such files, from the table at the top."""
    n, total = N_STEPS * len(ranks), lambda each: N_STEPS * 1000 * sum(map(each, ranks))
    return {"events": 4 * len(ranks) + n * 26, "phase M": 4 * len(ranks), "phase X": n * 14, "phase s": n * 4,
            "phase f": n * 4, "phase i": n * 4, "slices cpu_op": n * 4, "slices cuda_runtime": n * 5,
            "slices kernel": n * 3, "slices gpu_memcpy": n, "slices user_annotation": n, "kernels": n * 4,
            "launches found": n * 4, "flows": n * 4, "steps": n, "allocations": n * 4,
            "slice ns cpu_op": total(lambda r: 500), "slice ns kernel": total(lambda r: 7500 + r.slack),
            "slice ns gpu_memcpy": total(lambda r: 1000), "slice ns user_annotation": total(lambda r: STEP + r.slack)}


def streams(ranks):
    """Nanoseconds of device rows by rank and stream."""
    return [[r.rank, stream, N_STEPS * 1000 * each] for r in ranks
            for stream, each in ((r.vendor["compute"], 4500 + r.late), (r.vendor["comm"], 4000 + r.slack - r.late))]


def save(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    raw = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
    with open(path, "wb") as f:
        f.write(gzip.compress(raw, mtime=0) if path.endswith(".gz") else raw)


class Writer:
    """The directory and what is known of it."""

    def __init__(self, folder):
        self.folder, self.answers = folder, {}

    def add(self, name, files, figures, **more):
        for file, content in files.items():
            save(os.path.join(self.folder, name, file), content)
        self.answers[name] = {"files": [os.path.join(name, file) for file in files], "figures": figures, **more}

    def ranks(self, name, ranks):
        files = {"rank%d.json.gz" % r.rank: r.trace() for r in ranks}
        self.add("traces/" + name, files, device_figures(ranks), streams=streams(ranks))
        for path, gold in (("gold-hta/%s.default.json", expected.hta(ranks)), ("gold-hta/%s.noround.json", expected.hta(ranks)),
                           ("gold-tb/%s.tb.json", expected.tensorboard(name, ranks)),
                           ("gold-tracelens/%s.tl.json", expected.tracelens(ranks))):
            save(os.path.join(self.folder, path % name), gold)


def cpu_only():
    """No device: a loader for 6000 of each 10000 us, 3 operators in a nest, and 1 MiB that stays after each step."""
    events = [meta("process_name", 1, 0, "python")]
    for step in range(N_STEPS):
        at = step * STEP
        events += [row("user_annotation", "ProfilerStep#%d" % step, 1, 1, at, STEP),
                   row("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 1, at + 10, 6000),
                   row("cpu_op", "aten::linear", 1, 1, at + 6500, 3000), row("cpu_op", "aten::addmm", 1, 1, at + 6600, 2500),
                   row("cpu_op", "aten::empty", 1, 1, at + 6700, 100),
                   {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": at + 6750,
                    "args": {"Device Type": 0, "Device Id": -1, "Addr": 64 + step, "Bytes": MIB,
                             "Total Allocated": (step + 1) * MIB, "Total Reserved": 0}}]
    figures = {"events": 1 + 6 * N_STEPS, "steps": N_STEPS, "slices cpu_op": 3 * N_STEPS, "allocations": N_STEPS,
               "slice ns cpu_op": N_STEPS * 5600000, "allocated bytes": N_STEPS * MIB, "kernels": 0}
    return {"schemaVersion": 1, "traceEvents": events}, figures


def with_python(w):
    """The same with N_FRAMES frames of Python inside each other in each step."""
    r = Rank(NVIDIA)
    figures = device_figures([r])
    for step in range(N_STEPS):
        r.events += [row("python_function", "model.py(%d): layer" % i, r.pid, r.pid, step * STEP + 9000 + 10 * i, 900 - 20 * i)
                     for i in range(N_FRAMES)]
    n = N_STEPS * N_FRAMES
    figures.update({"events": figures["events"] + n, "phase X": figures["phase X"] + n, "slices python_function": n,
                    "slice ns python_function": N_STEPS * 1000 * sum(900 - 20 * i for i in range(N_FRAMES))})
    w.add("traces/python", {"rank0.json.gz": r.trace()}, figures)


def other_writers(w):
    ops = [{"name": "aten::op%d" % (i % 3), "ph": "X", "ts": 10 * i, "dur": 7, "tid": 1, "pid": "CPU functions", "args": {}}
           for i in range(30)]
    w.add("other/torch113", {"trace.json": ops}, {"events": 30, "phase X": 30, "slices": 30, "slice ns": 210000})
    jax = [{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
           {"ph": "M", "pid": 701, "tid": 5, "name": "thread_name", "args": {"name": "python"}}]
    jax += [{"ph": "X", "pid": 701, "tid": 5, "ts": 100.5 * i, "dur": 50.25, "name": "PjitFunction(step)"} for i in range(8)]
    jax.append({})  # JAX ends its list with an empty event
    w.add("other/jax", {"trace.json.gz": {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": jax}},
          {"events": 11, "phase X": 8, "phase M": 2, "slices": 8, "slice ns": 402000, "process names /host:CPU": 1})
    onnx = [row("Session", "session_initialization", 9, 9, 3, 500), row("Session", "model_run", 9, 9, 600, 400)]
    onnx += [row("Node", "conv%d_kernel_time" % i, 9, 9, 610 + 30 * i, 20, {"op_name": "Conv", "provider": "CPUExecutionProvider"})
             for i in range(10)]
    w.add("other/onnxruntime", {"trace.json": onnx}, {"events": 12, "slices Session": 2, "slices Node": 10,
                                                     "slice ns Node": 200000, "slice ns Session": 900000})


def damaged(w):
    """What real files suffer from. The order of events carries no meaning, and the rest of a damaged file is read."""
    events = [row("cpu_op", "op %d" % i, 1, 1, 100 * i, 50) for i in range(20)]
    lines = [json.dumps(e).encode() for e in events]
    text = b'{"traceEvents": [\n' + b",\n".join(lines) + b"\n]}\n"
    whole = {"events": 20, "slices cpu_op": 20, "slice ns cpu_op": 1000000}
    cut = text.index(lines[12]) + 30
    w.add("damaged/cut", {"trace.json": text[:cut]}, {
        "events": 13, "lost events cut off by the end of the file": 1, "slices cpu_op": 12, "slice ns cpu_op": 600000})
    w.add("damaged/utf8", {"trace.json": text.replace(b"op 7", b"op \xff\xfe")}, whole)
    w.add("damaged/quotes", {"trace.json": text.replace(b'"op 7"', b'"op "7" of it"')}, whole)
    w.add("damaged/order", {"trace.json": {"traceEvents": events[1::2] + events[::-2]}}, whole)


def main():
    w = Writer(sys.argv[1])
    w.ranks("nvidia", [Rank(NVIDIA)])
    w.ranks("amd", [Rank(AMD)])
    even = [Rank(NVIDIA, r, N_RANKS) for r in range(N_RANKS)]
    late = [Rank(NVIDIA, r, N_RANKS, LATE if r == LATE_RANK else 0, LATE) for r in range(N_RANKS)]
    w.ranks("even", even)
    w.ranks("straggler", late)
    save(os.path.join(w.folder, "gold-hta/trace_diff.json"), expected.trace_diff(even[0], late[0]))
    w.answers["traces/straggler"]["straggler"] = {
        "rank": LATE_RANK, "lost_per_step_ns": (LATE - 1000) * 1000}  # 1000 us are hidden behind computation
    with_python(w)
    trace, figures = cpu_only()
    w.add("traces/cpu_only", {"rank0.json.gz": trace}, figures)
    other_writers(w)
    damaged(w)
    save(os.path.join(w.folder, "answers.json"), w.answers)


if __name__ == "__main__":
    main()
