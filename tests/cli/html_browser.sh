#!/usr/bin/env bash
# Pages in a real browser; see tests/browser/report.js. `tools/setup.sh browser` installs what it needs.
set -u
skip() {
	echo "$1; tools/setup.sh browser installs it"
	exit 77
}
modules=$SOURCE/build/browser/node_modules
command -v node > /dev/null || skip "node is missing"
[ -d "$modules/playwright-core" ] || skip "playwright-core is missing"
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "chromium is missing"
export CHROMIUM NODE_PATH=$modules
case $BUILD in
*asan | *tsan)
	echo "the page is the same as in the release build, where it is tested"
	exit 77
	;;
esac
[ -x "$BUILD/unit_present_html" ] || skip "unit_present_html was not built"

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
for page in plain hostile; do
	"$BUILD/unit_present_html" $page > "$work/$page.html" || exit 1
done

# The same names through the whole of it: a trace of theirs, a report of that.
python3 - "$work/trace.json" <<'EOT' || exit 77
import json, sys
names = ['<script>window.pwned = 1</script>', '</title></table><img src=x onerror="window.pwned = 1">', '"\' onload=\'x',
         '<' * (1 << 20), '\ud800 \u202e \u0000']
events = [{'ph': 'X', 'cat': name[:100], 'name': name, 'pid': 1, 'tid': 2, 'ts': i * 10, 'dur': 5, 'args': {name[:50]: name[:50]}}
          for i, name in enumerate(names)]
events.append({'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': names[0]}})
json.dump({'traceEvents': events}, open(sys.argv[1], 'w'))
EOT
for name in report summary info; do
	"$SONDE" $name --html -o "$work/trace-$name.html" "$work/trace.json" || exit 1
done
timeout 120 node "$SOURCE/tests/browser/report.js" "$work"
