#!/usr/bin/env bash
# Has uftrace record bench_peer_uftrace and prints its figures: peers/uftrace.sh <build directory> <directory for files>
# Exit code 77: not installed.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
program=$(cd "$1" && pwd)/bench_peer_uftrace
work=$(cd "$2" && pwd)

if [ ! -x "$program" ] || ! command -v uftrace > /dev/null; then
	say "uftrace is not installed"
	exit 77
fi
cd "$work" || exit 1 # without uftrace a program compiled with -pg writes a file to where it ran
trap 'rm -rf "$work/uftrace" "$work/gmon.out"' EXIT

record() {
	rm -rf uftrace
	uftrace record -d uftrace --no-libcall --no-event "$@" > uftrace.log 2>&1 || {
		say "uftrace: $(tail -n 1 uftrace.log)"
		exit 1
	}
}

"$program" --off --json uftrace-off.json > /dev/null
record -A traced_int@arg1 -A traced_string@arg1/s "$program" --batches 60 --json uftrace.json
figures uftrace.json uftrace-off.json

for round in 1 2 3; do
	record "$program" --flat-out 10000000 --json "uftrace-flat-$round.json"
	figures "uftrace-flat-$round.json"
	calls=$(uftrace report -d uftrace 2> /dev/null | awk '$NF == "traced" { print $(NF - 1) }')
	figure "10 M scopes flat out, lost (worst round)" events "$((2 * (10000000 - ${calls:-0})))"
	figure "10 M scopes flat out, on disk" B/event "$(cat uftrace/*.dat | wc -c | awk '{ print $1 / 2e7 }')"
done
