#!/usr/bin/env bash
# What the TensorBoard plugin showed, on traces that can be worked out on paper.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

csv() { # csv ANALYSIS TABLE COLUMN... : of all rows, but for the header
	local analysis=$1 table=$2
	shift 2
	run analyze "$analysis" --csv --table "$table" trace.json
	want_code 0
	out=$(python3 -c 'import csv, sys
for r in csv.DictReader(open(".out")): print(" ".join(r[c] or "-" for c in sys.argv[1:]))' "$@")
}
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }

# An operator that only calls another of its name is one call with it; one that calls two is not. Kernels of 0.5 and
# 0.75 blocks per SM overlap for 10 us, and there is a program around all of it.
cat > trace.json <<'EOT'
{"traceEvents": [
{"ph": "X", "cat": "python_function", "name": "train.py(1): main", "pid": 1, "tid": 2, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::a", "pid": 1, "tid": 2, "ts": 0, "dur": 50, "args": {"Input Dims": [[2, 3]]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::a", "pid": 1, "tid": 2, "ts": 10, "dur": 30, "args": {"Input Dims": [[3, 2]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 12, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "python_function", "name": "model.py(7): forward", "pid": 1, "tid": 2, "ts": 50, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "aten::b", "pid": 1, "tid": 2, "ts": 50, "dur": 40, "args": {"Input Dims": [[2, 3]]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::b", "pid": 1, "tid": 2, "ts": 55, "dur": 10, "args": {"Input Dims": [[2, 3]]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::b", "pid": 1, "tid": 2, "ts": 70, "dur": 10, "args": {"Input Dims": [[2, 3]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 71, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k1", "pid": 0, "tid": 7, "ts": 20, "dur": 60, "args":
	{"device": 0, "stream": 7, "correlation": 1, "blocks per SM": 0.5, "est. achieved occupancy %": 20, "grid": [4, 1, 1],
	"block": [32, 1, 1], "registers per thread": 16, "shared memory": 1024}},
{"ph": "X", "cat": "kernel", "name": "k2", "pid": 0, "tid": 8, "ts": 70, "dur": 20, "args":
	{"device": 0, "stream": 8, "correlation": 2, "blocks per SM": 0.75, "est. achieved occupancy %": 60}}
]}
EOT
csv operators operators name calls device_self_ns device_ns host_self_ns host_ns
want_out "aten::a 1 60000 60000 45000 50000
aten::b 3 20000 40000 35000 60000"
csv operators operator_shapes name shapes calls host_self_ns
want_out "aten::a [[2, 3]] 1 45000
aten::b [[2, 3]] 3 35000"
csv operators operator_stacks name stack calls
want_out "aten::a train.py(1): main 1
aten::b model.py(7): forward;train.py(1): main 3"
# Busy 20..90 of 0..90; half of the SMs for 50 us, all of them for 10, three quarters for 10; (20 * 60 + 60 * 20) / 80.
csv utilization utilization device span_ns busy_ns sm_efficiency_percent occupancy_percent
want_out "0 90000 70000 $(python3 -c 'print(repr(100 * 42.5 / 90))') 30"
csv occupancy kernel_launches name op grid block registers shared_bytes blocks_per_sm
want_out "k1 aten::a [4, 1, 1] [32, 1, 1] 16 1024 0.5
k2 aten::b - - - - 0.75"
# Kernels, then driver calls, then operators, and nothing at 90..100, which is no operator's.
csv roles role_steps step dur_ns kernel_ns runtime_ns host_ns other_ns
want_out "- 90000 70000 5000 15000 0"

# Blocks 1 and 2 of 100 and 50 bytes; the first goes in the operator that took it, the second after all of them.
memory() { # memory TIME ADDRESS BYTES TOTAL
	printf '{"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 2, "ts": %d, "args": {"Device Type": 1, "Device Id": 0,
	"Addr": %d, "Bytes": %d, "Total Allocated": %d, "Total Reserved": 4096}},\n' "$@"
}
{
	echo '{"traceEvents": ['
	memory 12 1 100 100
	memory 22 2 50 150
	memory 40 1 -100 50
	memory 60 2 -50 0
	cat <<-'EOT'
		{"ph": "X", "cat": "cpu_op", "name": "aten::a", "pid": 1, "tid": 2, "ts": 10, "dur": 40},
		{"ph": "X", "cat": "cpu_op", "name": "aten::b", "pid": 1, "tid": 2, "ts": 20, "dur": 10},
		{"ph": "X", "cat": "cpu_op", "name": "aten::c", "pid": 1, "tid": 2, "ts": 0, "dur": 1}
		]}
	EOT
} > trace.json
csv memory memory_devices device peak_bytes peak_at_ns peak_in reserved_bytes end_bytes n_allocs n_frees allocated_bytes
want_out "gpu0 150 22000 aten::b 4096 0 2 2 150"
csv memory memory_operators name self_increase_bytes self_allocated_bytes self_allocs increase_bytes allocated_bytes allocs
want_out "aten::a 0 100 1 50 150 2
aten::b 50 50 1 50 50 1"
csv memory memory_events name bytes alloc_ns free_ns dur_ns
want_out "aten::a 100 12000 40000 28000
aten::b 50 22000 60000 38000"
csv memory memory_curve device time_ns allocated_bytes
want_out "gpu0 12000 100
gpu0 22000 150
gpu0 40000 50
gpu0 60000 0"
run analyze memory trace.json
want "not the answer first: $out" [ "$(head -n 1 .out)" = "gpu0 peaks at 150 B, at 22.0 us in aten::b" ]
finish
