#!/usr/bin/env bash
# sonde compare: the first line, exit codes, formats, baselines; HTA's trace diff, real traces, recordings of an example.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# make_run FILE STEPS KERNEL_US SEED [NAME]: steps of a kernel and 200 us, with some noise; NAME is one more operator.
make_run() {
	awk -v n="$2" -v kernel="$3" -v seed="$4" -v name="${5:-}" 'BEGIN {
		srand(seed)
		print "{\"traceEvents\": ["
		now = 1000
		for (i = 0; i < n; i++) {
			k = kernel * (0.99 + 0.02 * rand()); d = k + 200 * (0.99 + 0.02 * rand())
			printf "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 1, \"tid\": 2, \"ts\": %.3f, \"dur\": %.3f},\n", i, now, d
			printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 2, \"ts\": %.3f, \"dur\": 5, \"args\": {\"correlation\": %d}},\n", now + 10, i + 1
			printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"stream\": 7, \"device\": 0, \"correlation\": %d}},\n", now + 20, k, i + 1
			if (name != "")
				printf "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 1, \"tid\": 2, \"ts\": %.3f, \"dur\": 30},\n", name, now + 30
			now += d + 1
		}
		print "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": \"p\"}}]}"
	}' > "$1"
}
make_run a.json 40 800 1
make_run b.json 40 880 2 aten::new
make_run same.json 40 800 3
make_run c.json 40 700 4
first() {
	printf '%s\n' "$out" | tr '\n' ' ' # sentences wrap
}

# The answer comes first.
run compare a.json b.json
want_code 0
want_err ""
want_in "$out" "slower than A per step ("
want_in "$(first)" "95 % confidence interval "
want_in "$out" "aten::new"
want_in "$out" "added"
want_in "$out" "mostly    device computes"
cp .out one
run compare a.json b.json
want "the same files give another answer" cmp -s one .out
run compare b.json a.json
want_in "$out" "B is 7."
want_in "$out" "% faster than A per step"
run compare a.json same.json
want_in "$out" "no difference above the noise (40 steps"
run compare a.json b.json c.json
want_in "$out" "C is the fastest of 3"
want_in "$out" "advice    use C (c.json)"
run compare --by kernel a.json b.json
want_in "$out" " gemm "
want "other tables" [ "${out/cudaLaunchKernel/}" = "$out" ]
run compare --steps 0..9 a.json b.json
want_in "$out" "steps: A 10, B 10"
run compare --filter nothing-like-it --by name a.json b.json
want_code 0

# For CI.
run compare --fail-above 5% a.json b.json
want_code 1
want_in "$err" "sonde: compare: step is "
want_in "$err" "slower in B"
run compare --fail-above 50% a.json b.json
want_code 0
run compare --fail-above 1% b.json a.json
want_code 0
run compare --fail-above 3% a.json same.json
want_code 0
run compare --fail-above 9.5% a.json b.json
want_code 0
run compare --fail-above 9.5% --by kernel a.json b.json
want_code 1
want_in "$err" "gemm is "

# Formats.
run compare --json a.json b.json
want_code 0
want_in "$out" '"schema": "sonde.compare/1"'
want_in "$out" '"is_certain": true'
run compare --csv --by kernel --fail-above 5% a.json b.json
want_code 1
want_in "$out" "name,a_ns,b_ns,diff_ns,change_percent,low_percent,high_percent,verdict,samples,a_calls,b_calls"
run compare --csv a.json b.json
want_in "$out" "run,name,total_ns,steps"
run compare --markdown a.json b.json
want_in "$out" "| gemm"
run compare --html -o page.html a.json b.json
want_code 0
want "no page" grep -q gemm page.html

# Wrong usage, and files that are not there.
for wrong in "a.json" "" "--by colour a.json b.json" "--fail-above x a.json b.json" "--fail-above 0% a.json b.json" \
	"--baseline base a.json b.json" "--keep 0 --baseline base a.json" "--baseline base --name ../x a.json" \
	"--compat tracelens a.json b.json" "--compat hta a.json b.json c.json"; do
	run compare $wrong
	want_code 2
done
run compare a.json missing.json
want_code 3
want_in "$err" "missing.json"
echo "not a trace" > bad.json
run compare a.json bad.json
want_code 3

# A run whose steps vary that much is no proof of anything, and the output says so.
python3 - > noisy.json << 'P'
events, t = [], 0
for i in range(40):
    dur = 10000 if i % 2 else 25000
    events.append('{"ph":"X","name":"ProfilerStep#%d","cat":"user_annotation","pid":1,"tid":1,"ts":%d,"dur":%d}' % (i, t, dur))
    t += dur + 10
print('{"traceEvents":[' + ",".join(events) + "]}")
P
run compare --warmup none a.json noisy.json
want_code 0
want_in "$(tr -s ' \n' ' ' <<< "$out")" "B varies by"
run compare a.json a.json
want "noise where there is none" [ "${out#*varies by}" = "$out" ]

# A baseline: the first run makes it, the last ones stay, a regression is told and not added.
for i in 1 2 3 4 5; do
	make_run train.json 40 800 "1$i"
	run compare --baseline base --keep 3 --fail-above 3% train.json
	want_code 0
done
want_in "$(first)" "no difference above the noise (40 steps"
want_in "$out" "3 earlier runs"
want "not three files" [ "$(echo base/*)" = "base/train.00000003.json base/train.00000004.json base/train.00000005.json" ]
make_run train.json 40 880 21
run compare --baseline base --keep 3 --fail-above 3% train.json
want_code 1
want_in "$out" "slower than the baseline"
want "a regression was added" [ "$(ls base | wc -l)" = 3 ]
run compare --baseline base --name other train.json
want_code 0
want_in "$out" "first run of other: no earlier run to compare with"
want_in "$out" "base has runs of train; --name train compares with them"
want "runs of two names" [ "$(ls base | wc -l)" = 4 ]
echo "{" > base/train.00000005.json
run compare --baseline base train.json
want_code 3
want_in "$err" "train.00000005.json"
run compare --baseline a.json train.json
want_code 3

# Recordings: a loader that is late holds up every step.
if [ -x "$BUILD/example_train" ]; then
	# As late as several steps take here: a sanitizer or a busy machine makes them long.
	train() { # train <file> <delay>
		OMP_NUM_THREADS=1 run record -o "$1" "$BUILD/example_train" --steps 12 --batch 1 --loader-delay-ms "$2"
		want_code 0
	}
	started=$(date +%s%N)
	train late0.sonde 0
	delay=$((($(date +%s%N) - started) / 1000000 / 12 * 4))
	[ "$delay" -ge 60 ] || delay=60
	train late.sonde "$delay"
	run compare --fail-above 50% late0.sonde late.sonde
	want_code 1
	want_in "$out" "times as slow as A per step"
	want_in "$out" "mostly    data loading"
	want_in "$out" "self-attention"
else
	echo "compare.sh: no recordings: $BUILD/example_train is not built" >&2
fi

# Generated traces: each step is 4 ms longer, as all ranks wait for one.
generate made
run compare made/traces/even made/traces/straggler
want_code 0
want_in "$out" "B is 40.0 % slower than A per step (10.0 -> 14.0 ms"
want_in "$out" "mostly    waiting: 6.50 -> 10.5 ms per step"
command="compare_gold.py"
want "numbers are not what they were made to be" python3 "$SOURCE/tests/cli/compare_gold.py" "$SONDE" made

real_data traces || finish
run compare "$data/traces/tb_resnet50_nw0_b" "$data/traces/tb_resnet50_nw4_a"
want_code 0
want_in "$out" "A    tb_resnet50_nw0_b"
want_in "$out" "mostly    data loading: 45.5 -> 1.25 ms per step"
run compare "$data/traces/hta_diff_control" "$data/traces/hta_diff_test"
want_in "$out" "B is 49.3 % slower than A per step (76.8 -> 115 ms"
command="compare_gold.py"
want "numbers differ from HTA's" python3 "$SOURCE/tests/cli/compare_gold.py" "$SONDE" "$data"
finish
