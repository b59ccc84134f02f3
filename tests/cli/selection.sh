#!/usr/bin/env bash
# Every analysis takes --steps, --ranks, --from, --to and --warmup.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }

run analyze --list
want_code 0
command="every analysis with every selection"
# shellcheck disable=SC2046 # names are words
want "some answers are wrong" python3 "$SOURCE/tests/cli/selection.py" "$SONDE" $(cut -d' ' -f1 .out)
finish
