#!/usr/bin/env bash
# --compat tracelens against numbers that are known by construction, and those of TraceLens on real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made
command="tracelens_gold.py"
want "numbers are not what they were made to be" python3 "$SOURCE/tests/cli/tracelens_gold.py" "$SONDE" made amd even nvidia straggler

# No device rows: one line, no error, whatever the rules.
no_device() { # no_device TRACE
	for name in timeline ops short_kernels module_tree recompute; do
		for compat in "" "--compat tracelens"; do
			[ "$name$compat" = "module_tree--compat tracelens" ] && continue
			run analyze $name $compat "$1"
			want_code 0
			want_in "$out" "no device rows: "
		done
	done
}
no_device made/traces/cpu_only

real_data gold-tracelens || finish
command="tracelens_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/tracelens_gold.py" "$SONDE" "$data"
no_device "$data/traces/hta_cpu_only/rank34.json.gz"
finish
