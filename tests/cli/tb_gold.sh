#!/usr/bin/env bash
# The deleted TensorBoard plugin's views: numbers known by construction, and what it said of real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made
command="tb_gold.py"
want "numbers are not what they were made to be" python3 "$SOURCE/tests/cli/tb_gold.py" "$SONDE" made amd even nvidia straggler
real_data gold-tb || finish
command="tb_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/tb_gold.py" "$SONDE" "$data"
finish
