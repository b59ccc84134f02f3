#!/usr/bin/env bash
# Flame graphs and timelines as files, in a real browser; see tests/browser/mail.js.
set -u
. "$SOURCE/tests/browser/lib.sh"

python3 - "$work/trace.json" <<'EOT' || exit 77
import json, sys
hostile = ['<script>window.pwned = 1</script>', '</script><img src=x onerror="window.pwned = 1">', '"\' onload=\'x', '\u202e \u0000', '<' * 100000]
events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'main', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 10000}]
events += [{'ph': 'X', 'cat': name[:100], 'name': name, 'pid': 1, 'tid': 1, 'ts': 1000 * (i + 1), 'dur': 500} for i, name in enumerate(hostile)]
events += [{'ph': 'X', 'cat': 'cpu_op', 'name': f'op{i % 7}', 'pid': 1, 'tid': 2, 'ts': 10 * i, 'dur': 8,
            'args': {'Input Dims': [[i, 2]], 'hostile': hostile[1]}} for i in range(1000)]
events += [{'ph': 'i', 's': 't', 'cat': 'x', 'name': hostile[1], 'pid': 1, 'tid': 2, 'ts': 5000, 'args': {'lr': 0.1}}]
events += [{'ph': ph, 'id': 1, 'name': 'next', 'cat': 'x', 'pid': 1, 'tid': 2, 'ts': ts, 'bp': 'e'} for ph, ts in (('s', 32), ('f', 62))]
events += [{'ph': 'C', 'name': 'loss', 'pid': 1, 'ts': ts, 'args': {'v': ts}} for ts in range(0, 10000, 100)]
events.append({'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': hostile[0]}})
json.dump({'traceEvents': events}, open(sys.argv[1], 'w'))
steps = [{'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{i}', 'pid': 1, 'tid': 1, 'ts': 100 * i, 'dur': 90} for i in range(5)]
json.dump({'traceEvents': steps}, open(sys.argv[1] + '.steps.json', 'w'))
EOT
"$SONDE" flame -o "$work/flame.html" "$work/trace.json" 2> "$work/err" || {
	grep -q 'without its page' "$work/err" && skip "the page was not built"
	cat "$work/err"
	exit 1
}
"$SONDE" timeline -o "$work/timeline.html" "$work/trace.json" || exit 1
"$SONDE" timeline --steps 2..3 -o "$work/steps.html" "$work/trace.json.steps.json" || exit 1
timeout 120 node "$SOURCE/tests/browser/mail.js" "$work"
