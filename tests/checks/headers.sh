#!/usr/bin/env bash
# Each public header stands alone, in strict C99 and C++11, for gcc and clang, at every SONDE_LEVEL. At level 0 nothing
# of Sonde is left in a program.
set -uo pipefail
here=$(dirname "$0")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
record_h=$SOURCE/include/sonde/record.h
skipped= failed=0

fail() {
	echo "headers: $*" >&2
	failed=1
}

compile() { # compile <compiler> <language> <level> <more...>
	local std=c99
	[ "$2" = c ] || std=c++11
	"$1" -x "$2" -std=$std -pedantic-errors -Wall -Wextra -Wshadow -Werror -DSONDE_LEVEL="$3" -I "$SOURCE/include" "${@:4}" ||
		fail "${*:4}: $1 -std=$std refuses it at SONDE_LEVEL $3"
}

for macro in $(sed -n 's/^#define \(SONDE_[A-Z0-9_]*[A-Z0-9]\)(.*/\1/p' "$record_h" | sort -u); do
	grep -q "$macro" "$here/macros.c" || fail "tests/checks/macros.c does not use $macro"
done

for compiler in gcc clang-14; do
	command -v $compiler > /dev/null || { skipped="$skipped $compiler"; continue; }
	for header in "$SOURCE"/include/sonde/*.h; do
		for level in 0 1 2; do
			for language in c c++; do
				echo "#include <sonde/$(basename "$header")>" > "$work/alone.$language"
				compile $compiler $language $level -fsyntax-only "$work/alone.$language"
			done
		done
	done
	for language in c c++; do
		for level in 1 2; do
			compile $compiler $language $level -O2 -c "$here/macros.c" -o "$work/macros.o"
		done
		# Unoptimized, empty functions of the header may remain; references to a library may not.
		compile $compiler $language 0 -O0 -c "$here/macros.c" -o "$work/macros.o"
		nm -u "$work/macros.o" | grep sonde && fail "$compiler, $language: SONDE_LEVEL 0 refers to the library"
		compile $compiler $language 0 -O2 -c "$here/macros.c" -o "$work/macros.o"
		nm "$work/macros.o" | grep sonde && fail "$compiler, $language: SONDE_LEVEL 0 leaves code"
	done
done
[ $failed = 0 ] || exit 1
[ -z "$skipped" ] || { echo "headers: not checked with$skipped, which is not installed"; exit 77; }
