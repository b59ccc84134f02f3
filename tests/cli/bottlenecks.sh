#!/usr/bin/env bash
# Bottlenecks of generated and real traces with planted problems: each is found, with what it costs, and no trace makes it
# fail.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made

# first RULE FILE...: the first finding is of this rule
first() {
	local rule=$1
	shift
	run bottlenecks --json "$@"
	want_code 0
	want_err ""
	got=$(python3 -c 'import json, sys; f = json.load(sys.stdin)["findings"]; print(f[0]["rule"] if f else "none")' <<< "$out")
	want "the first finding is $got, not $rule" [ "$got" = "$rule" ]
}

# cost RULE [MS]: the last run had this finding with this cost; without MS, it did not have it
cost() {
	want "$1 does not cost ${2:-nothing}" python3 - "$work/.out" "$@" << 'P'
import json, sys
costs = [round(f["seconds_lost"] * 1e9) for f in json.load(open(sys.argv[1]))["findings"] if f["rule"] == sys.argv[2]]
sys.exit(costs != [int(ms) * 1000000 for ms in sys.argv[3:]])
P
}

# Generated: a loader that takes 6 of 10 ms and 1 MiB that stays in each of 4 steps; a rank that the others wait for.
first leak --warmup none made/traces/cpu_only
cost dataloader 24
run bottlenecks --json --set dataloader.warn=61% --set sync_loader.warn=61% --set leak.least=2MiB made/traces/cpu_only
want_in "$out" '"findings": []'
run bottlenecks --set dataloder.warn=5% made/traces/cpu_only
want_code 2
run bottlenecks made/traces/cpu_only
want_in "$out" "grows from 1.00 MiB to 4.00 MiB"
run bottlenecks --json made/traces/straggler
want_in "$out" '"rank": 2'
cost straggler 12
run bottlenecks --json made/traces/nvidia
cost exposed_comm 12
run bottlenecks --json made/traces/amd
cost exposed_comm 12
run bottlenecks --json made/traces/even
cost straggler

# The first compilation of another tool is not torch's second one.
echo '[{"cat": "Session", "pid": 1, "tid": 1, "dur": 500, "ts": 3, "ph": "X", "name": "session_initialization", "args": {}},
{"cat": "Session", "pid": 1, "tid": 1, "dur": 400, "ts": 600, "ph": "X", "name": "model_run", "args": {}}]' > "$work/onnx.json"
run bottlenecks "$work/onnx.json"
want_in "$out" "compilation takes much of the time"
want "torch is named: $out" [ "${out#*TORCH_LOGS}" = "$out" ]
n=$(grep -c '^RULE(' "$SOURCE/src/analyze/bottlenecks/rules.def")
run bottlenecks --explain made/traces/nvidia
want "not $n rules explained" [ "$(grep -cE ' (passed|found|no data|part of [a-z_]+) ' <<< "$out")" -ge "$n" ]

for rule in $(sed -n 's/^RULE(\([a-z_0-9]*\))$/\1/p' "$SOURCE/src/analyze/bottlenecks/rules.def"); do
	want "$rule has no test" grep -q "\"$rule\"" "$SOURCE"/tests/unit/analyze/bottlenecks/test_rules_*.c
	want "$rule is not in docs/bottlenecks.md" grep -q "| $rule |" "$SOURCE/docs/bottlenecks.md"
done

# The page has every threshold as it is.
"$SONDE" analyze bottlenecks --list | sed -n 's/^\([a-z_0-9]*\)\.\([a-z_]*\)  *\([^ ]*\) .*/\1 \2 \3/p' > "$work/thresholds"
want "no thresholds" [ -s "$work/thresholds" ]
while read -r rule key value; do
	want "docs/bottlenecks.md has not $rule.$key $value" \
		grep -q "^| [0-9-]* | $rule | .*\`$key\` $value[ ,|]" "$SOURCE/docs/bottlenecks.md"
done < "$work/thresholds"

# holds TRACE: findings that hold together
holds() {
	run bottlenecks --json "$1"
	want_code 0
	want "no findings that hold together" python3 - "$work/.out" << 'P'
import json, sys
r = json.load(open(sys.argv[1]))
f = r["findings"]
span = r["span_ns"] / 1e9
ok = all(x["seconds_lost"] is None or 0 <= x["seconds_lost"] <= span * 1.000001 or x["rule"] == "slow_start" for x in f)
ok = ok and all(x["title"] and x["evidence"] and x["suggestion"] and 0 < x["confidence"] <= 1 for x in f)
ok = ok and len({(x["rule"], x["title"]) for x in f}) == len(f)
ok = ok and all(x["slices"] and x["to_ns"] > x["from_ns"] for x in f)
sys.exit(not ok)
P
}

# fits TRACE [LINES]: and are on one screen
fits() {
	run bottlenecks "$1"
	want "a line of more than 80 columns" [ "$(printf '%s\n' "$out" | wc -L)" -le 80 ]
	want "more than a screen" [ "$(printf '%s\n' "$out" | wc -l)" -le "${2:-50}" ]
}

for set in made/traces/* made/other/* made/damaged/*; do
	holds "$set"
	case $set in
	*/python) fits "$set" 51 ;; # has six problems at once, and names a function
	*) fits "$set" ;;
	esac
done

real_data torch || finish
first dataloader "$data/torch/kineto_dataloader_bound.json.gz"
want "costs less than the loader's 107.6 ms less 20 %" python3 - "$work/.out" << 'P'
import json, sys
f = json.load(open(sys.argv[1]))["findings"]
sys.exit(not (0.8 * 0.107593 < f[0]["seconds_lost"] < 1.2 * 0.107593 and len(f) == 1))
P

first leak "$data/torch/kineto_leak.json.gz"
run bottlenecks "$data/torch/kineto_leak.json.gz"
want_in "$out" "memory grows by 1.00 MiB per step"
want_in "$out" "keep_forever"

first overhead "$data/torch/kineto_infer_tiny_ops.json.gz"

# The plain transformer: its AdamW really calls 435 operators per step; nothing else is wrong with it.
run bottlenecks --json "$data/torch/kineto_transformer_plain.json.gz"
want "something else than the optimizer" python3 - "$work/.out" << 'P'
import json, sys
sys.exit({f["rule"] for f in json.load(open(sys.argv[1]))["findings"]} - {"single_tensor_optimizer"} != set())
P

first straggler "$data/torch/kineto_gloo_rank0.json.gz" "$data/torch/kineto_gloo_rank1.json.gz"
want_in "$out" '"rank": 1'
want "not about 20 ms in each of 4 steps" python3 - "$work/.out" << 'P'
import json, sys
sys.exit(not 0.8 * 0.080 < json.load(open(sys.argv[1]))["findings"][0]["seconds_lost"] < 1.2 * 0.080)
P
first straggler "$data/traces/syn_r4_straggler2"
want_in "$out" '"rank": 2'

# Thresholds can be moved, and a key that nobody knows is refused.
run bottlenecks --json --set dataloader.warn=95% --set sync_loader.warn=95% "$data/torch/kineto_dataloader_bound.json.gz"
want_in "$out" '"findings": []'
run bottlenecks --set dataloder.warn=5% "$data/torch/kineto_dataloader_bound.json.gz"
want_code 2

# Clean: says so and what was checked; --explain has a line for each rule.
run bottlenecks --set optimizer_heavy.warn=90% "$data/torch/kineto_mlp_plain.json.gz"
want_in "$out" "no findings in"
want_in "$out" "checked"
for set in "$data"/traces/*/ "$data"/torch/kineto_*.json.gz; do
	case $set in
	*hta_memory_timeline/) continue ;; # no trace in it
	esac
	holds "$set"
	fits "$set"
done
finish
