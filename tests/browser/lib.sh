# For scripts that drive a browser: says why it cannot be done and exits with 77, or sets CHROMIUM, NODE_PATH and $work.
#
#   own_traces DIRECTORY    own.sonde, leaks.sonde, cpu.json, gpu.json, empty.json, hostile.json, compiled.json.gz; torch.json.gz
#                           and ranks.sonde, real ones where there are any
skip() {
	echo "$1; tools/setup.sh browser installs it"
	exit 77
}
case $BUILD in
*asan | *tsan)
	echo "the page is the same as in the release build, where it is tested"
	exit 77
	;;
esac
modules=$SOURCE/build/browser/node_modules
command -v node > /dev/null || skip "node is missing"
[ -d "$modules/playwright-core" ] || skip "playwright-core is missing"
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "chromium is missing"
export CHROMIUM NODE_PATH=$modules
"$SONDE" serve --help > /dev/null || skip "sonde serve is missing"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

own_traces() {
	local to=$1 data=${SONDE_TEST_DATA:-$SOURCE/../shared/data} torch=tl_h100_vit ranks=syn_r4_straggler2

	"$SONDE" record -o "$to/own.sonde" -- "$BUILD/prog_page" > /dev/null 2>&1 || return 1
	"$SONDE" record --activities cpu,memory -o "$to/leaks.sonde" -- "$BUILD/prog_leaks" > /dev/null 2>&1 || return 1
	cp "$SOURCE/tests/data/torch_compile.json.gz" "$to/compiled.json.gz"
	echo '{"traceEvents": []}' > "$to/empty.json"
	python3 "$SOURCE/tests/browser/traces.py" "$to" || return 1
	if [ ! -d "$data/traces" ]; then
		data=$work/made torch=python ranks=straggler
		python3 -B "$SOURCE/tests/data/generate.py" "$data" || return 1
	fi
	cp "$data"/traces/$torch/*.json.gz "$to/torch.json.gz"
	"$SONDE" merge -o "$to/ranks.sonde" "$data/traces/$ranks" 2> /dev/null || return 1
	chmod -R u+w "$to"
}
