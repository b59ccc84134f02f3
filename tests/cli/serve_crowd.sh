#!/usr/bin/env bash
# sonde serve asked by many at once, about traces that open, grow, are renamed and closed meanwhile.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

command -v python3 > /dev/null || { echo "serve_crowd: needs python3"; exit 77; }
[ -e "$BUILD/prog_live" ] || { echo "serve_crowd: needs prog_live"; exit 77; }
python3 -B "$SOURCE/tests/cli/serve_crowd.py" "$BUILD/prog_live" || failed=1
finish
