#!/usr/bin/env bash
# --compat tracelens against the numbers of TraceLens on real traces, and every analysis on every trace.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

data=${SONDE_SHARED:-$SOURCE/../shared}/data
if [ ! -d "$data/gold-tracelens" ]; then
	echo "skipped: no $data/gold-tracelens"
	exit 77
fi
if ! command -v python3 > /dev/null; then
	echo "skipped: no python3"
	exit 77
fi
command="tracelens_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/tracelens_gold.py" "$SONDE" "$data"

# No device rows: one line, no error, whatever the rules.
for name in timeline ops short_kernels module_tree recompute; do
	for compat in "" "--compat tracelens"; do
		[ "$name$compat" = "module_tree--compat tracelens" ] && continue
		run analyze $name $compat "$data/traces/hta_cpu_only/rank34.json.gz"
		want_code 0
		want_in "$out" "no device rows: "
	done
done
finish
