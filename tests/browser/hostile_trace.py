"""Two ranks of a training run in which every name is a trap: markup, quotes, a megabyte, broken text.

  hostile_trace.py DIRECTORY      writes rank0.json and rank1.json
"""
import json
import os
import sys

TRAPS = ["<script>window.pwned = 1</script>", '</title></table></script><img src=x onerror="window.pwned = 1">',
         "\"' onload='window.pwned = 1' x=\"", "<" * (1 << 20), "\ud800 \u202e \u0000 </style>",
         "javascript:window.pwned = 1", "<!-- ${window.pwned = 1} {{pwned}} -->", "&lt;b&gt; &#x3c;b>"]


class Rank:
    def __init__(self, rank):
        self.rank, self.events, self.correlation = rank, [], 0

    def add(self, category, name, ts, dur, tid, pid=100, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
                            "args": args})

    def launch(self, at, start, dur, name, category="kernel", stream=7, **args):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", at, 4, 1, correlation=self.correlation)
        self.add(category, name, start, dur, stream, 0, stream=stream, device=0, correlation=self.correlation, **args)

    def step(self, number, t):
        self.add("user_annotation", "ProfilerStep#%d" % number, t, 10000, 1)
        for i, trap in enumerate(TRAPS):
            if number > 1:
                trap = trap[:2000]
            at = t + 10 + 1000 * i
            text = trap[:2000]
            self.add("python_function", "nn.Module: " + trap, at, 900, 1, **{"Python id": 1, "Call stack": text})
            self.add("cpu_op", "aten::" + trap, at + 10, 800, 1, **{"Input Dims": [[text]], "Input type": [text],
                                                                  "Call stack": text, text[:60]: text})
            self.add("user_annotation", trap, at + 20, 700, 1)
            self.launch(at + 30, at + 100, 300, "void " + trap, **{"est. achieved occupancy %": 5, "blocks per SM": 0.1})
            self.launch(at + 40, at + 450, 100, "Memcpy HtoD (Pageable -> Device) " + text, "gpu_memcpy",
                        **{"memory bandwidth (GB/s)": 2.5, "bytes": 1000})
            self.add("gpu_user_annotation", trap, at + 100, 500, 7, 0, stream=7)
        late = 3000 if self.rank else 0
        self.launch(t + 8100, t + 8200 + late, 4500 - late, "ncclDevKernel_AllReduce_" + TRAPS[0], stream=20,
                    **{"Collective name": TRAPS[0], "dtype": TRAPS[1], "In msg nelems": 1000, "Out msg nelems": 1000,
                       "Group size": 2, "Process Group Name": TRAPS[2]})
        self.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t + 9000, 900, 1)
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 1,
                            "ts": t + 20, "args": {"Device Type": 1, "Device Id": 0, "Addr": number, "Bytes": 1 << 20,
                                                   "Total Allocated": number << 20, "Total Reserved": number << 21}})
        self.events.append({"ph": "C", "name": TRAPS[0], "pid": 100, "ts": t, "args": {TRAPS[1]: number}})

    def write(self, path):
        for trap in TRAPS[:3]:
            self.events.append({"ph": "M", "name": "process_name", "pid": 100, "args": {"name": trap}})
            self.events.append({"ph": "M", "name": "thread_name", "pid": 100, "tid": 1, "args": {"name": trap}})
        with open(path, "w") as out:
            json.dump({"distributedInfo": {"rank": self.rank, "world_size": 2, "backend": TRAPS[0]},
                       "deviceProperties": [{"id": 0, "name": TRAPS[1], "totalGlobalMem": 1 << 30, "computeMajor": 8,
                                             "computeMinor": 0, "numSms": 108}],
                       TRAPS[2]: TRAPS[0], "traceName": TRAPS[1], "traceEvents": self.events}, out)


for number in range(2):
    rank = Rank(number)
    for step in range(6):
        rank.step(step + 1, 1000 + 14000 * step)
    rank.write(os.path.join(sys.argv[1], "rank%d.json" % number))
