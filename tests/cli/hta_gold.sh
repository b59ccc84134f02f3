#!/usr/bin/env bash
# sonde hta --compat hta against numbers that are known by construction, and those of HTA 0.6.1 on real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made
command="hta_gold.py"
want "numbers are not what they were made to be" python3 "$SOURCE/tests/cli/hta_gold.py" "$SONDE" made amd even nvidia straggler

# No device rows: one line, no error, whatever the rules.
no_device() { # no_device TRACE
	for compat in "" "--compat hta" "--compat hta-noround"; do
		run hta $compat "$1"
		want_code 0
		want_in "$out" "no device rows: "
		want_in "${out%%$'\n'*}" "no device rows"
	done
}
no_device made/traces/cpu_only
run hta made/traces/straggler
want_in "${out%%$'\n'*}" "and 3 more: device busy"

real_data gold-hta || finish
command="hta_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/hta_gold.py" "$SONDE" "$data"
command="hta_differs.py"
want "the page is wrong" python3 "$SOURCE/tests/cli/hta_differs.py" "$SONDE" "$SOURCE" "$data"
no_device "$data/traces/hta_cpu_only/rank34.json.gz"
finish
