#!/usr/bin/env bash
# Everything that `make test` runs: the whole suite as released and with AddressSanitizer, and the recording parts with
# ThreadSanitizer. Goes on after a failing suite and says at the end which one it was.
set -uo pipefail
cd "$(dirname "$0")/.."
trap 'echo "test: interrupted"; exit 130' INT TERM
failed=()

suite() { # suite <preset> <command before ctest...>
	local preset=$1
	shift
	echo "== $preset"
	rm -f "build/$preset/tests.xml"
	tools/build.sh "$preset" all && "$@" ctest --preset "$preset" --output-junit tests.xml || failed+=("$preset")
	[ ! -e "build/$preset/tests.xml" ] || skipped "$preset"
}

# ctest does not show what a skipped test said.
skipped() {
	awk -v preset="$1" '
		/<testcase/ { match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8); skip = 0 }
		/<skipped/ { skip = 1 }
		skip && sub(/.*<system-out>/, "") { sub(/<\/system-out>.*/, ""); print "skipped in " preset ": " name ": " $0 }
	' "build/$1/tests.xml"
}

# Older sanitizers cannot place their memory where newer kernels spread addresses widely; without that spread they can.
fixed_addresses=()
setarch -R true 2> /dev/null && fixed_addresses=(setarch -R)

suite release
suite asan "${fixed_addresses[@]}"
suite tsan "${fixed_addresses[@]}"
if [ ${#failed[@]} -gt 0 ]; then
	echo "test: FAILED in ${failed[*]} after $SECONDS s"
	exit 1
fi
echo "test: everything passed in $SECONDS s"
