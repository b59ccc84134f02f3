#!/usr/bin/env bash
# sonde serve outlives files that are cut off or overwritten while it reads them.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

command -v python3 > /dev/null || { echo "serve_rewritten: needs python3"; exit 77; }
python3 - > big.json <<'P'
import json
events = []
for step in range(200):
    events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': step * 1000, 'dur': 990})
    for i in range(300):
        events.append({'ph': 'X', 'cat': 'cpu_op', 'name': f'op {i % 50}', 'pid': 1, 'tid': 1, 'ts': step * 1000 + i * 3, 'dur': 2, 'args': {'n': i}})
print(json.dumps({'traceEvents': events}))
P
"$SONDE" import -o big.sonde big.json > /dev/null 2>&1
"$SONDE" import -o small.sonde "$SOURCE/tests/data/torch_compile.json.gz" > /dev/null 2>&1
"$SONDE" record -o own.sonde -- "$BUILD/prog_page" > /dev/null 2>&1
python3 -B "$SOURCE/tests/cli/serve_rewritten.py" big.sonde own.sonde small.sonde || failed=1
finish
