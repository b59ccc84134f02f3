#!/usr/bin/env bash
# sonde serve shows the newest events of a recording that grows faster than it is read, within bounded memory.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

command -v python3 > /dev/null || { echo "serve_flat_out: needs python3"; exit 77; }
[ -e "$BUILD/prog_flat_out" ] || { echo "serve_flat_out: needs prog_flat_out"; exit 77; }
python3 -B "$SOURCE/tests/cli/serve_flat_out.py" "$BUILD/prog_flat_out" || failed=1
finish
