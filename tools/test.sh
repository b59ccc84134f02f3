#!/usr/bin/env bash
# Runs the tests of `make test`: the whole suite in release mode and with AddressSanitizer, and the recording and server tests with
# ThreadSanitizer. Continues after a failing suite; at the end prints the failed suites, the numbers of passed and failed
# tests, and the skipped tests with the reason. A suite that cannot be built is one failed test.
set -uo pipefail
. "$(dirname "$0")/usage.sh"
[ $# = 0 ] || wrong_usage
cd "$(dirname "$0")/.."
trap 'echo "test: interrupted"; exit 130' INT TERM
failed=()
unsteady=()
n_passed=0 n_failed=0 n_skipped=0
skips=$(mktemp) && trap 'rm -f "$skips"' EXIT

suite() { # suite <preset> <command before ctest...>
	local preset=$1
	shift
	echo "== $preset"
	rm -f "build/$preset/tests.xml" "build/$preset/again.xml"
	if ! tools/build.sh "$preset" all; then
		failed+=("$preset")
		n_failed=$((n_failed + 1))
		return
	fi
	"$@" ctest --preset "$preset" --output-junit tests.xml || again "$preset" "$@" || failed+=("$preset")
	tally "build/$preset"
	skipped "$preset" >> "$skips"
}

# A kill at a random moment or a machine that stalls may fail a test once. It is run again, alone, and shown in the end;
# one that fails twice has failed.
again() { # again <preset> <command before ctest...>
	local preset=$1 list=build/$1/Testing/Temporary/LastTestsFailed.log names
	shift
	[ -s "$list" ] || return
	names=$(cut -d : -f 2 "$list" | paste -s -d ' ')
	echo "== $preset, once more: $names"
	"$@" ctest --preset "$preset" -j 1 --rerun-failed --output-junit again.xml && unsteady+=("$preset: $names")
}

number() { # number <file> <attribute>: of the whole run
	sed -n "s/^\t$2=\"\([0-9]*\)\"$/\1/p" "$1"
}

# Adds what ctest wrote down. A test that failed counts as its second run ended.
tally() { # tally <directory>
	local all skip fail
	if ! [ -e "$1/tests.xml" ]; then
		n_failed=$((n_failed + 1))
		return
	fi
	all=$(number "$1/tests.xml" tests) skip=$(number "$1/tests.xml" skipped) fail=$(number "$1/tests.xml" failures)
	n_passed=$((n_passed + all - skip - fail))
	n_skipped=$((n_skipped + skip))
	if [ -e "$1/again.xml" ]; then
		n_passed=$((n_passed + fail - $(number "$1/again.xml" failures)))
		fail=$(number "$1/again.xml" failures)
	fi
	n_failed=$((n_failed + fail))
}

# ctest does not show what a skipped test said: its last line is why. Prints name, preset and reason of each.
skipped() { # skipped <preset>
	[ ! -e "build/$1/tests.xml" ] || awk -v preset="$1" '
		function plain(text) {
			gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text)
			gsub(/&amp;/, "\\&", text)
			return text
		}
		/<testcase/ { match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8); skip = inside = 0; why = "" }
		/<skipped/ { skip = 1 }
		sub(/.*<system-out>/, "") { inside = 1 }
		inside { ended = sub(/<\/system-out>.*/, ""); if ($0 != "") why = $0; sub(/^skipped: /, "", why); inside = !ended }
		/<\/testcase>/ && skip { print name "\t" preset "\t" plain(why) }
	' "build/$1/tests.xml"
}

# The same reason of a test in several suites is one line.
print_skips() {
	awk -F '\t' '
		{ key = $1 "\t" $3 }
		key in presets { presets[key] = presets[key] ", " $2; next }
		{ presets[key] = $2; order[++n] = key }
		END {
			for (i = 1; i <= n; i++) {
				split(order[i], part, "\t")
				print "skipped in " presets[order[i]] ": " part[1] ": " part[2]
			}
		}
	' "$skips"
}

# Older sanitizers cannot place their memory where newer kernels spread addresses widely; without that spread they can.
fixed_addresses=()
setarch -R true 2> /dev/null && fixed_addresses=(setarch -R)

suite release
suite asan "${fixed_addresses[@]}"
suite tsan "${fixed_addresses[@]}"
print_skips
[ ${#unsteady[@]} -eq 0 ] || printf 'test: failed at first and then passed, in %s\n' "${unsteady[@]}"
echo "test: $((n_passed + n_failed)) tests ran, $n_passed of them passed; $n_skipped were skipped"
echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
if [ ${#failed[@]} -gt 0 ]; then
	echo "test: FAILED in ${failed[*]} after $SECONDS s"
	exit 1
fi
echo "test: everything passed in $SECONDS s"
