#!/usr/bin/env bash
# sonde analyze leaks: a program that keeps a buffer of each step, the same without, PyTorch's, a hostile one.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

table() { # table NAME FILE: one table as CSV
	run analyze leaks --csv --table "$1" "$2"
	want_code 0
	out=$(tr -d '\r' < .out)
}

# Our own recording: 4096 bytes of each of 20 steps stay, 100 of the last, and what came before the steps.
"$SONDE" record --activities cpu,memory -o kept.sonde -- "$BUILD/prog_leaks" > /dev/null 2>&1
"$SONDE" record --activities cpu,memory -o clean.sonde -- "$BUILD/prog_leaks" clean > /dev/null 2>&1
table leak_devices kept.sonde
want_out "device,rank,growth_bytes_per_step,growth_low_bytes_per_step,growth_high_bytes_per_step,n_steps,n_steps_higher,\
stays_bytes,n_stay,allocated_bytes,n_allocs,before_bytes,freed_unknown_bytes,n_freed_unknown,lost_bytes,n_lost
cpu,0,4096,4096,4096,20,19,92020,22,1404640,61,0,,1,0,0"
table leak_places kept.sonde
want_out "name,scope,python,device,rank,size_bytes,n_stay,stays_bytes,n_steps,first_step,last_step,of_steps
cache,,,cpu,0,4096,20,81920,20,0,19,nearly all
,,,cpu,0,10000,1,10000,0,,,before them
compute,,,cpu,0,100,1,100,1,19,19,the last"
run analyze leaks kept.sonde
want_in "$out" "memory of cpu grows by 4.00 KiB per step over 20 steps; 89.9 KiB of 1.34 MiB"
run bottlenecks --warmup none --set leak.least=1KiB kept.sonde
want_in "$out" "memory grows by 4.00 KiB"
want_in "$out" "Allocated memory on cpu grows from 13.9 KiB to 89.9 KiB, in 19 of 19 steps."
want_in "$out" "20 blocks of 4.00 KiB are never freed."
table leak_devices clean.sonde
want_in "$out" "cpu,0,0,0,0,20,0,10100,2,"
run bottlenecks --warmup none --set leak.least=1KiB clean.sonde
want "a clean program leaks: $out" eval '! grep -q "memory grows" .out'

# Nothing of this in a trace, and one that lies.
echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > none.json
run analyze leaks none.json
want_code 0
want_in "$out" "profile_memory=True"
memory='{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts":'
cat > lies.json <<-EOT
	{"traceEvents": [
	$memory 1, "args": {"Addr": 1, "Bytes": 9223372036854775807, "Device Type": 1, "Device Id": 99999999999, "Total Allocated": -7}},
	$memory 2, "args": {"Addr": 2, "Bytes": 9223372036854775807, "Device Type": 77, "Device Id": -3, "Total Allocated": 1e300}},
	$memory 3, "args": {"Addr": 1, "Bytes": -9223372036854775808, "Device Type": 1, "Device Id": 0}},
	$memory 4, "args": {"Addr": "x", "Bytes": null, "Device Type": {}, "Total Allocated": []}},
	$memory 5, "args": {}}
	]}
EOT
for format in "" --json --csv --markdown --html; do
	run analyze leaks $format lies.json
	want_code 0
done

generate made
table leak_places made/traces/cpu_only
want_in "$out" "aten::empty,,,cpu,0,1048576,4,4194304,4,0,3,nearly all"
run analyze leaks made/traces/cpu_only
want_in "$out" "memory of cpu grows by 1.00 MiB per step over 4 steps"
run analyze leaks made/traces/nvidia
want_in "$out" "no leak: all of"

real_data torch || finish
data=$data/torch
table leak_places "$data/kineto_leak.json.gz"
want_in "$out" "aten::empty,keep_forever,,cpu,0,1048576,8,8388608,8,2,9,nearly all"
run analyze leaks "$data/kineto_leak.json.gz"
want_in "$out" "memory of cpu grows by 1.00 MiB per step over 8 steps"
for clean in kineto_mlp_full kineto_transformer_full; do
	run analyze leaks "$data/$clean.json.gz"
	want_in "$out" "no leak: all of"
done
finish
