#!/usr/bin/env bash
# sonde hta --compat hta against the numbers of HTA 0.6.1 on real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

data=${SONDE_SHARED:-$SOURCE/../shared}/data
if [ ! -d "$data/gold-hta" ]; then
	echo "skipped: no $data/gold-hta"
	exit 77
fi
if ! command -v python3 > /dev/null; then
	echo "skipped: no python3"
	exit 77
fi
command="hta_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/hta_gold.py" "$SONDE" "$data"
command="hta_differs.py"
want "the page is wrong" python3 "$SOURCE/tests/cli/hta_differs.py" "$SONDE" "$SOURCE" "$data"

# No device rows: one line, no error, whatever the rules.
for compat in "" "--compat hta" "--compat hta-noround"; do
	run hta $compat "$data/traces/hta_cpu_only/rank34.json.gz"
	want_code 0
	want_in "$out" "no device rows: "
	want_in "${out%%$'\n'*}" "nothing ran on a device"
done
run hta "$data/traces/syn_r4_straggler2"
want_in "${out%%$'\n'*}" "and 3 more: device busy"
finish
