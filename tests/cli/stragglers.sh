#!/usr/bin/env bash
# sonde analyze stragglers: planted ones are named with what they cost, and nobody where nobody is late.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

shared=${SONDE_SHARED:-$SOURCE/../shared}
if [ ! -d "$shared/data/traces" ]; then
	echo "skipped: no $shared/data/traces"
	exit 77
fi
if ! command -v python3 > /dev/null; then
	echo "skipped: no python3"
	exit 77
fi
command="stragglers.py"
want "wrong" python3 "$SOURCE/tests/cli/stragglers.py" "$SONDE" "$shared"
finish
