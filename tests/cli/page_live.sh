#!/usr/bin/env bash
# A recording seen while it runs, in a real browser; see tests/browser/live.js.
set -u
. "$SOURCE/tests/browser/lib.sh"
timeout 600 node "$SOURCE/tests/browser/live.js" "$SONDE" "$BUILD/prog_page" "$BUILD/prog_flat_out" "$work"
