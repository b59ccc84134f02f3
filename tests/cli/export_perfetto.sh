#!/usr/bin/env bash
# What `sonde export --format chrome` writes, read by Perfetto's own engine: no error, and every slice, counter value and
# arrow is there. Needs node and pip.
. "$SOURCE/tests/cli/lib.sh"

command=export
expect() { # expect "what" WANTED FOUND
	want "$1: $3, not $2" [ "$2" = "$3" ]
}
perfetto_engine || exit 77

value() { # value <key>: a number out of `sonde info --json`
	sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" info.json
}

for example in scopes ops memory openmp cpp train; do
	arguments=()
	[ $example = train ] && arguments=(--steps 3)
	OMP_WAIT_POLICY=passive "$SONDE" record -o $example.sonde -- "$BUILD/example_$example" "${arguments[@]}" > /dev/null 2>&1
	"$SONDE" export -o $example.json $example.sonde
	"$SONDE" info --json $example.sonde > info.json
	snapshots=$(grep -c '"name": *"memory snapshot"' $example.json || true)
	launches=$(grep -c '"cat": *"launch"' $example.json || true)
	arrows=$(grep -c '"ph": *"s"' $example.json || true)
	node "$SOURCE/tests/cli/perfetto.js" "$bundle" $example.json \
		"select count(*) n from slice" \
		"select count(*) n from stats where severity in ('error', 'data_loss') and value > 0" \
		"select count(*) n from flow" \
		"select count(*) n from slice where dur < 0" > answers
	expect "$example: slices" "$(($(value n_slices) + $(value n_instants) + $(value n_device_slices) + launches + snapshots))" \
		"$(sed -n '1s/[^0-9]//gp' answers)"
	expect "$example: errors of the engine" 0 "$(sed -n '2s/[^0-9]//gp' answers)"
	expect "$example: arrows" "$arrows" "$(sed -n '3s/[^0-9]//gp' answers)"
	expect "$example: slices without an end" 0 "$(sed -n '4s/[^0-9]//gp' answers)"
done
finish
