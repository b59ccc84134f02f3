#!/usr/bin/env bash
# Pages in a real browser; see tests/browser/report.js. `tools/setup.sh browser` installs what it needs.
set -u
. "$SOURCE/tests/browser/lib.sh"
[ -x "$BUILD/unit_present_html" ] || skip "unit_present_html was not built"

for page in plain hostile; do
	"$BUILD/unit_present_html" $page > "$work/$page.html" || exit 1
done

# The same names through the whole of it: a trace of theirs, every analysis of it as a page.
python3 "$SOURCE/tests/browser/hostile_trace.py" "$work" || exit 77
"$SONDE" merge "$work/rank0.json" "$work/rank1.json" -o "$work/trace.sonde" 2> /dev/null || exit 1
rm "$work"/rank?.json
for name in $("$SONDE" analyze --list | cut -d ' ' -f 1); do
	"$SONDE" analyze "$name" --html -o "$work/trace-$name.html" "$work/trace.sonde" || exit 1
done
"$SONDE" compare --html -o "$work/trace-compare.html" "$work/trace.sonde" "$work/trace.sonde" || exit 1
timeout 240 node "$SOURCE/tests/browser/report.js" "$work"
