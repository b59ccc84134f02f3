#!/usr/bin/env bash
# What the linker made of the libraries and the command: nothing writable that need not be, no stray dependency.
set -uo pipefail
failed=0

expect() { # expect <file> <what is wanted> <pattern> <readelf options...>
	local file=$1 what=$2 pattern=$3
	shift 3
	readelf -W "$@" "$BUILD/$file" | grep -E -q "$pattern" && return
	echo "hardening: $file: expected $what" >&2
	failed=1
}

refuse() { # refuse <file> <what is not wanted> <pattern> <readelf options...>
	local file=$1 what=$2 pattern=$3 found
	shift 3
	found=$(readelf -W "$@" "$BUILD/$file" | grep -E "$pattern") || return 0
	printf 'hardening: %s: %s\n%s\n' "$file" "$what" "$found" >&2
	failed=1
}

for file in libsonde-rt.so libsonde.so sonde; do
	[ -e "$BUILD/$file" ] || { echo "hardening: $BUILD/$file is missing" >&2; exit 1; }
	expect $file "RELRO" GNU_RELRO -l
	expect $file "BIND_NOW" 'BIND_NOW|FLAGS_1.*NOW' -d
	expect $file "a stack that is not executable" 'GNU_STACK.* RW ' -l
	refuse $file "text relocations" TEXTREL -d
	refuse $file "a run path that is not relative to the file" 'PATH.*\[(.*:)?([^$]|\])' -d
done
expect sonde "a position-independent executable" 'FLAGS_1.*PIE' -d
expect libsonde-rt.so "NODELETE: code of the program points into it" 'FLAGS_1.*NODELETE' -d
needed=$(readelf -dW "$BUILD/libsonde-rt.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -v -E '^(libc\.so\.|ld-linux)')
[ -z "$needed" ] || { echo "hardening: libsonde-rt.so needs more than libc: $needed" >&2; failed=1; }
refuse libsonde-rt.so "thread-local variables are found by a call" '__tls_get_addr' --dyn-syms
exit $failed
