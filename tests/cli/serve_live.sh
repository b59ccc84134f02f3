#!/usr/bin/env bash
# sonde serve follows a recording, also one whose program is killed.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

command -v python3 > /dev/null || { echo "serve_live: needs python3"; exit 77; }
[ -e "$BUILD/prog_live" ] || { echo "serve_live: needs prog_live"; exit 77; }
python3 -B "$SOURCE/tests/cli/serve_live.py" "$BUILD/prog_live" || failed=1
finish
