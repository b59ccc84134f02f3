#!/usr/bin/env bash
# What the deleted TensorBoard plugin said of real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

data=${SONDE_SHARED:-$SOURCE/../shared}/data
if [ ! -d "$data/gold-tb" ]; then
	echo "skipped: no $data/gold-tb"
	exit 77
fi
if ! command -v python3 > /dev/null; then
	echo "skipped: no python3"
	exit 77
fi
command="tb_gold.py"
want "numbers differ" python3 "$SOURCE/tests/cli/tb_gold.py" "$SONDE" "$data"
finish
