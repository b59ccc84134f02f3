#!/usr/bin/env bash
# sonde analyze stragglers: planted ones are named with what they cost, and nobody where nobody is late.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

generate made
real=()
! real_data traces || real=("$data")
command="stragglers.py"
want "wrong" python3 "$SOURCE/tests/cli/stragglers.py" "$SONDE" made "${real[@]}"
finish
