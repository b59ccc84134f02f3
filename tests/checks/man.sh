#!/usr/bin/env bash
# The manual pages render without a warning, and tools/man.awk turns each construct it knows into what is meant.
set -uo pipefail
command -v groff > /dev/null || { echo "man: skipped, groff is not installed"; exit 77; }
here=$(dirname "$0")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
failed=0

render() { # render <page>: a warning is a failure
	groff -t -K utf8 -man -Tutf8 -ww "$1" 2> "$work/warnings" > /dev/null
	[ -s "$work/warnings" ] || return 0
	echo "man: $(basename "$1"):" >&2
	cat "$work/warnings" >&2
	failed=1
}

awk -v version=0 -f "$SOURCE/tools/man.awk" "$here/man.md" | diff -u "$here/man.roff" - || failed=1
for page in "$here/man.roff" "$BUILD"/man/man*/*; do
	[ ! -e "$page" ] || render "$page"
done
exit $failed
