#!/usr/bin/env bash
# Traces of other tools, exported again: every event is there, with its time. In Perfetto's own engine: no error, every
# slice (those too that it drops of the original because they overlap), every counter value, and as many arrows as it finds
# in the original. That our own import gives the same trace again is unit_export_round_trip's business.
#
# Some of the real sets that are small or special, as the engine takes its time: ROUND_TRIP=all takes all of them.
. "$SOURCE/tests/cli/lib.sh"

command=export
expect() { # expect "what" WANTED FOUND
	want "$1: $3, not $2" [ "$2" = "$3" ]
}

# The exported JSON of each generated set has the slices, times and arrows that it was made of.
generate made
for set in made/traces/* made/other/* made/damaged/*; do
	"$SONDE" export -o "$(tr / _ <<< "$set").json" "$set" || complain "$set cannot be exported"
done
want "exports are not what they were made of" python3 - << 'P'
import collections, json, sys
failed = False
for name, answer in json.load(open("made/answers.json")).items():
    found = collections.Counter()
    for e in json.load(open("made_%s.json" % name.replace("/", "_")))["traceEvents"]:
        category = e.get("cat", "")
        found["phase s"] += e["ph"] == "s"
        if e["ph"] == "X":
            found[f"slices {category}".strip()] += 1
            found[f"slice ns {category}".strip()] += round(e["dur"] * 1000)
    for key, n in answer["figures"].items():
        if (key.startswith("slice") or key == "phase s") and found[key] != n:
            print(f"{name}: {key}: {found[key]}, not {n}", file=sys.stderr)
            failed = True
sys.exit(failed)
P
perfetto_engine || finish

ask() { # ask <file>: slices, errors, arrows, counter values
	node "$SOURCE/tests/cli/perfetto.js" "$bundle" "$1" \
		"select count(*) n from slice" \
		"select count(*) n from stats where severity in ('error', 'data_loss') and value > 0" \
		"select count(*) n from flow" \
		"select count(*) n from counter" | sed 's/[^0-9]//g'
}
value() { # value <key>: a number out of `sonde info --json`
	sed -n "s/^ \"$1\": *\([0-9]*\).*/\1/p" info.json
}

same() { # same NAME FILE: the engine finds as much in the export as there is in the file
	local name=$1 file=$2

	"$SONDE" export -o export.json "$file" || complain "$name cannot be exported"
	"$SONDE" info --json "$file" > info.json
	gzip -dc "$file" > original.json
	mapfile -t found < <(ask export.json)
	mapfile -t original < <(ask original.json)
	expect "$name: slices" "$(($(value n_slices) + $(value n_instants) + $(value n_allocations)))" "${found[0]:-}"
	expect "$name: errors of the engine" 0 "${found[1]:-}"
	expect "$name: arrows" "${original[2]:-}" "${found[2]:-}"
	expect "$name: counter values" "$(value n_counter_values)" "${found[3]:-}"
}
# Several ranks in one file: arrows of different ranks are not mixed up, though their ids are the same.
same_ranks() { # same_ranks DIRECTORY
	"$SONDE" export -o export.json "$1" || complain "four ranks cannot be exported"
	mapfile -t found < <(ask export.json)
	total=0
	for rank in 0 1 2 3; do
		gzip -dc "$1/rank$rank.json.gz" > original.json
		mapfile -t original < <(ask original.json)
		total=$((total + ${original[2]:-0}))
	done
	expect "four ranks: arrows" $total "${found[2]:-}"
	expect "four ranks: errors of the engine" 0 "${found[1]:-}"
}

for name in nvidia/rank0 amd/rank0 straggler/rank2 cpu_only/rank0; do
	same "generated $name" made/traces/$name.json.gz
done
same_ranks made/traces/straggler
expect "generated ranks: arrows" 64 "${found[2]:-}"

real_data traces || finish
# overlapping slices, thread ids below 0, allocations, AMD, old and new writers
chosen="hta_cp_simple_add/rank0 hta_diff_test/test hta_triton/rank0 hta_cupti/rank0 tl_h100_bert/rank0 tl_mi300_vit/rank0
	tb_resnet50_nw0_b/rank0 syn_r4_straggler2/rank0 hta_cpu_only/rank34"
[ "${ROUND_TRIP:-}" = all ] && chosen=$(cd "$data/traces" && find . -name '*.json.gz' | sed 's/.json.gz//' | sort)

same_ranks "$data/traces/syn_r4_straggler2"
for name in $chosen; do
	same "$name" "$data/traces/$name.json.gz"
done
finish
