#!/usr/bin/env bash
# Runs each fuzz target from its seeds and the inputs of earlier runs: tools/fuzz.sh [seconds each]
# Failing inputs are saved in build/fuzz/crashes/.
set -euo pipefail
. "$(dirname "$0")/usage.sh"
shopt -s nullglob
cd "$(dirname "$0")/.."
seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ ]] || wrong_usage
mkdir -p build/fuzz/crashes
for source in fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	seeds=(fuzz/seeds/"$name")
	[ -d "${seeds[0]}" ] || seeds=()
	mkdir -p "build/fuzz/corpus/$name"
	echo "== $name, $seconds s"
	"build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="build/fuzz/crashes/$name-" "build/fuzz/corpus/$name" "${seeds[@]}"
done
echo "fuzz: nothing found"
