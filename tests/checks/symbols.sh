#!/usr/bin/env bash
# The libraries export what the public headers declare, and nothing else: the reviewed lists beside this script, the
# headers and the libraries must agree.
set -uo pipefail
export LC_ALL=C
here=$(dirname "$0")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
failed=0

# Names that the given headers declare with SONDE_API. A declaration ends with ';'. A function's name stands before
# the '(', a variable's at the end.
declared() {
	printf '#include <sonde/%s>\n' "$@" | "$CC" -E -P -x c -I "$SOURCE/include" - | tr '\n;{}' ' \n\n\n' |
		sed -n '/visibility("default")/ {
			s/__attribute__ *((visibility("default")))//
			s/__attribute__.*//
			s/(.*//
			s/.*[^A-Za-z0-9_]\([A-Za-z0-9_]\{1,\}\) *$/\1/p
		}' | sort -u
}

exported() {
	nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

check() { # check <library> <file with the names the headers declare>
	exported "$BUILD/$1.so" > "$work/exported"
	diff -u --label "$1.symbols" --label "declared in include/sonde" "$here/$1.symbols" "$2" &&
		diff -u --label "$1.symbols" --label "exported by $1.so" "$here/$1.symbols" "$work/exported" && return
	echo "symbols: correct tests/checks/$1.symbols and $1.map, or the header" >&2
	failed=1
}

declared record.h > "$work/rt"
declared $(cd "$SOURCE/include/sonde" && ls) | comm -13 "$work/rt" - > "$work/lib"
check libsonde-rt "$work/rt"
check libsonde "$work/lib"
exit $failed
