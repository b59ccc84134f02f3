#!/usr/bin/env bash
# All benchmarks, one after the other; prints Markdown. `make bench` builds and then runs this.
#
#   bench/run.sh [--long]     --long: also 200 M scopes in one go, 10 M events imported and analysed, 100 M slices looked at
#
# BUILD is where the programs are (build/release). The figures are in build/bench/ afterwards: *.json, of peers *.tsv.
set -uo pipefail
. "$(dirname "$0")/../tools/usage.sh"
cd "$(dirname "$0")/.."
. bench/lib.sh
export LC_ALL=C
build=${BUILD:-build/release}
kept=build/bench
long=()
case ${1-} in
'') ;;
--long) long=(--long) ;;
*) wrong_usage ;;
esac

if [ ! -x "$build/bench_record" ]; then
	say "nothing is built in $build; try: make bench"
	exit 1
fi
mkdir -p "$kept"
rm -f "$kept"/*.json "$kept"/*.tsv
work=$(mktemp -d "$kept/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=0

load=$(cut -d ' ' -f 1 /proc/loadavg)
if awk -v now="$load" 'BEGIN { exit !(now > 0.5) }'; then
	say "the load is $load: the minimum over batches survives that, figures over a longer time do not"
fi

run() { # run <name> <program> <arguments...>: the table of the program in $work/<name>.md
	say "$1 ..."
	"$build/$2" --json "$kept/$1.json" --output "$work/$1.sonde" "${@:3}" > "$work/$1.md" || {
		say "$2 failed"
		failed=1
	}
}

peer() { # peer <name>: its figures in $kept/<name>.tsv
	say "$1 ..."
	if "bench/peers/$1.sh" "$build" "$work" > "$work/$1.tsv"; then
		mv "$work/$1.tsv" "$kept/$1.tsv"
	else
		say "goes on without $1"
	fi
}

run record bench_record
run sustained bench_sustained "${long[@]}"
peer lttng
peer uftrace
run reader bench_reader --sonde "$build/sonde"
run indexing bench_indexing "${long[@]}"
run follow bench_follow "${long[@]}"
generator=()
[ ! -e ../shared/tools/gen_trace.py ] || generator=(--generator ../shared/tools/gen_trace.py)
traces=()
[ ! -d ../shared/data/traces ] || traces=(--traces ../shared/data/traces)
run ingest bench_ingest "${generator[@]}" "${traces[@]}" "${long[@]}"
hta=()
! python=$(bench/peers/hta.sh "$kept/hta-venv") || hta=(--hta "$python,bench/peers/hta_reports.py")
run analyze bench_analyze --sonde "$build/sonde" "${generator[@]}" "${hta[@]}" "${long[@]}"
run index bench_index --keep "${long[@]}"
run scale bench_scale --sonde "$build/sonde" "${long[@]}"
say "view_server ..."
python3 bench/view_server.py "$build/sonde" "$work/index.sonde" "$kept/view_server.json" > "$work/view_server.md" || {
	say "view_server failed"
	failed=1
}
say "view_page ..."
if tools/setup.sh --check browser 2> /dev/null; then
	NODE_PATH=build/browser/node_modules node bench/view.js "$build/sonde" "$work/index.sonde" "$kept/view_page.json" > "$work/view_page.md" || {
		say "view_page failed"
		failed=1
	}
else
	say "goes on without a browser"
fi

figures "$kept/record.json" "$kept/sustained.json" > "$kept/sonde.tsv"
machine=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt" 2> /dev/null)
echo "Measured on: $(nproc) CPUs, ${machine:-unknown}, $(uname -s) $(uname -r | cut -d . -f 1-2), $("${compiler:-cc}" --version | head -n 1 | sed 's/ (.*)//')"
echo
echo "### One call, side by side"
echo
tools=("$kept/sonde.tsv")
titles=Sonde
if [ -e "$kept/lttng.tsv" ]; then
	tools+=("$kept/lttng.tsv")
	titles+=";LTTng-UST $(lttng --version | grep -o -E '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)"
fi
if [ -e "$kept/uftrace.tsv" ]; then
	tools+=("$kept/uftrace.tsv")
	titles+=";uftrace $(uftrace --version | grep -o -E '[0-9]+\.[0-9.]+' | head -n 1)"
fi
awk -v titles="$titles" -f bench/side_by_side.awk "${tools[@]}"
section() { # section <name> <title>
	printf '\n### %s\n\n' "$2"
	cat "$work/$1.md"
}
section sustained "For a while"
section reader "Reading"
section indexing "Indexing a recording"
section follow "Following"
section ingest "Importing"
section analyze "Analysing"
section index "Looking at an index"
section scale "Many slices"
section view_server "The server"
[ ! -s "$work/view_page.md" ] || section view_page "The page"
missed=$(cat "$kept"/*.json | grep -c '"pass": false')
say "goals missed: $missed; $SECONDS s"
exit $failed
