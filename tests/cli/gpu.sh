#!/usr/bin/env bash
# sonde analyze gpu: counters that a program wrote, devices of NVIDIA and AMD, and a trace of the CPU alone.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

"$SONDE" record -o own.sonde -- "$BUILD/prog_leaks" > /dev/null 2>&1
run analyze gpu --csv --table gpu_counters --warmup none own.sonde
want_code 0
out=$(tr -d '\r' < .out | tail -n 1 | cut -d, -f1-5,7,9)
want_out "gpu0 power (W),power,0,20,200,219,219"
run analyze gpu own.sonde
want_in "$out" "Counters of monitors"
want "counters are there, and missed: $out" eval '! grep -q "no counters" .out'

echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > cpu.json
run analyze gpu cpu.json
want_code 0
want_in "$out" "no device rows, or the device profiler was off"
want_in "$out" "SONDE_COUNTER"
for format in --json --csv --markdown --html; do
	run analyze gpu $format cpu.json
	want_code 0
done

generate made
for vendor in nvidia amd; do
	run analyze gpu made/traces/$vendor
	want_in "$out" "kernels run 65.0 % of the time"
	run analyze gpu --csv --table gpu_allocated made/traces/$vendor
	want "no peak of 6 MiB" grep -q '^gpu0,0,.*6291456' .out
done

real_data traces || finish
data=$data/traces
run analyze gpu "$data/tb_resnet50_nw4_a"/*.gz
want_in "$out" "kernels run 74.5 % of the time"
run analyze gpu --csv --table gpu_allocated "$data/tb_resnet50_nw4_a"/*.gz
want "no curve of the device's memory" [ "$(grep -c '^gpu0,0,' .out)" -gt 100 ]
run analyze gpu "$data/tl_mi300_vit"/*.gz
want_in "$out" "kernels run 23.0 % of the time"
finish
