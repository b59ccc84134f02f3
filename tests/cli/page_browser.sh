#!/usr/bin/env bash
# The page of `sonde serve` in a real browser; see tests/browser/page.js. `tools/setup.sh browser` installs what it needs.
set -u
. "$SOURCE/tests/browser/lib.sh"
own_traces "$work" || exit 1
timeout 900 node "$SOURCE/tests/browser/page.js" "$SONDE" "$work"
