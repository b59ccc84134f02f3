#!/usr/bin/env bash
# Everything that `make test` runs: the whole suite as released and with AddressSanitizer, and the recording parts and the
# server with ThreadSanitizer. Goes on after a failing suite and says at the end which one it was.
set -uo pipefail
. "$(dirname "$0")/usage.sh"
[ $# = 0 ] || wrong_usage
cd "$(dirname "$0")/.."
trap 'echo "test: interrupted"; exit 130' INT TERM
failed=()
unsteady=()

suite() { # suite <preset> <command before ctest...>
	local preset=$1
	shift
	echo "== $preset"
	rm -f "build/$preset/tests.xml"
	if ! tools/build.sh "$preset" all; then
		failed+=("$preset")
		return
	fi
	"$@" ctest --preset "$preset" --output-junit tests.xml || again "$preset" "$@" || failed+=("$preset")
	[ ! -e "build/$preset/tests.xml" ] || skipped "$preset"
}

# A kill at a random moment or a machine that stalls may fail a test once. It is run again, alone, and shown in the end;
# one that fails twice has failed.
again() { # again <preset> <command before ctest...>
	local preset=$1 list=build/$1/Testing/Temporary/LastTestsFailed.log names
	shift
	[ -s "$list" ] || return
	names=$(cut -d : -f 2 "$list" | paste -s -d ' ')
	echo "== $preset, once more: $names"
	"$@" ctest --preset "$preset" -j 1 --rerun-failed && unsteady+=("$preset: $names")
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
[ ${#unsteady[@]} -eq 0 ] || printf 'test: failed at first and then passed, in %s\n' "${unsteady[@]}"
if [ ${#failed[@]} -gt 0 ]; then
	echo "test: FAILED in ${failed[*]} after $SECONDS s"
	exit 1
fi
echo "test: everything passed in $SECONDS s"
