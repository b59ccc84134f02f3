#!/usr/bin/env bash
# sonde flame and sonde timeline: what they write, for whom, and what they say when something is wrong.
. "$SOURCE/tests/cli/lib.sh"
export PYTHONIOENCODING=utf-8

# main 0..100 us holds a 10..40 and b 50..90, b holds a 60..70; a kernel launched by b; a Python function around c
cat > trace.json <<'EOT'
{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "main", "pid": 1, "tid": 2, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "a;x", "pid": 1, "tid": 2, "ts": 10, "dur": 30},
{"ph": "X", "cat": "cpu_op", "name": "b<&", "pid": 1, "tid": 2, "ts": 50, "dur": 40},
{"ph": "X", "cat": "cpu_op", "name": "a;x", "pid": 1, "tid": 2, "ts": 60, "dur": 10},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 75, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 100, "dur": 50, "args": {"correlation": 7, "stream": 7, "device": 0}},
{"ph": "X", "cat": "python_function", "name": "f.py(1): f", "pid": 1, "tid": 2, "ts": 200, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 2, "ts": 205, "dur": 10}
]}
EOT

run flame --format folded trace.json
want_code 0
want_out "main 30000
main;a:x 30000
main;b<& 25000
main;b<&;a:x 10000
main;b<&;cudaLaunchKernel 5000
f.py(1): f 10000
f.py(1): f;c 10000"

run flame --format folded --no-python --max-depth 2 trace.json
want_out "main 30000
main;a:x 30000
main;b<& 40000
c 10000"

# A picture of nothing says so.
grep -v kernel trace.json | grep -v cudaLaunch > cpu.json
run flame --format svg --by device cpu.json
want_code 0
want_in "$out" "cpu.json: no device rows<"
want "small frames of nothing" [ "${out#*too small}" = "$out" ]
run flame --format svg --by memory cpu.json
want_in "$out" "cpu.json: no allocations<"
for command in "flame --format svg" timeline; do
	run $command --steps 50..60 trace.json
	want_code 2
	want_in "$err" "the trace has no steps 50..60"
done

run flame --format folded --group-small 20us trace.json
want_in "$out" "main;b<&;(small) 15000"
run flame --format folded --min-duration 20us trace.json
want "what is short is there: $out" [ "${out#*cudaLaunch}" = "$out" ]

run flame --by device --format folded trace.json
want_in "$out" "main;b<&;cudaLaunchKernel;gemm 50000"

run flame --by self --format json trace.json
want_code 0
want "JSON" python3 - "$work/.out" <<'EOT'
import json, sys
flame = json.load(open(sys.argv[1]))
assert flame['schema'] == 'sonde.flame/1'
flame = flame['flame']
own = {flame['names'][n]: value for n, value in zip(flame['name'], flame['value'])}
assert own['a;x'] == 40000 and own['b<&'] == 25000 and set(flame['parent']) == {-1}, own
EOT

run flame -o flame.svg trace.json
want_code 0
want "SVG" python3 - flame.svg <<'EOT'
import sys, xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
ns = '{http://www.w3.org/2000/svg}'
titles = [title.text for title in svg.iter(ns + 'title')]
assert len(titles) == 7 and any(text.startswith('b<&\n40.0 us') for text in titles), titles
widths = {g.find(ns + 'title').text.split('\n')[0]: float(g.find(ns + 'rect').get('width')) for g in svg.iter(ns + 'g')}
assert abs(widths['main'] / (1200 - 20) - 100 / 120) < 0.01, widths
assert not list(svg.iter(ns + 'script'))
EOT

# ---- Pages: what they hold; tests/browser/mail.js looks at them
page() { # page <file>: the data in it
	python3 - "$1" <<'EOT'
import json, re, sys
html = open(sys.argv[1]).read()
found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
assert len(found) == 1 and '<' not in found[0]
data = json.loads(found[0])
print(json.dumps({'note': data['note'], 'lanes': [lane['n'] for lane in data.get('slices', {}).get('lanes', [])],
                  'flame': len(data.get('flame', {}).get('merged', {}).get('name', []))}))
EOT
}
run timeline -o timeline.html trace.json
if [ "$code" = 4 ] || [ "$code" = 3 ]; then
	want_in "$err" "built without its page"
	echo "skipped: the page was not built"
	[ $failed = 0 ] && exit 77
fi
want_code 0
found=$(page timeline.html)
want_in "$found" '"lanes": [1, 2, 3, 2]'
want_in "$found" "8 of 8 slices."
run timeline --group-small 20us --no-python -o timeline.html trace.json
found=$(page timeline.html)
want_in "$found" "2 shorter than 20.0 us are shown as 1 boxes"
want_in "$found" "1 are Python functions"
run timeline --min-duration 20us --max-depth 2 -o timeline.html trace.json
found=$(page timeline.html)
want_in "$found" "5 of 8 slices"
# Arguments, arrows, instants and counters are in the page as the trace has them.
python3 - <<'EOT' > rich.json
import json
events = json.load(open('trace.json'))['traceEvents']
events += [{'ph': 'i', 's': 't', 'name': 'mark', 'pid': 1, 'tid': 2, 'ts': ts, 'args': {'lr': ts, 'why': ['<x>']}} for ts in (30, 60)]
events += [{'ph': 'C', 'name': 'loss', 'pid': 1, 'ts': ts, 'args': {'v': 100 - ts}} for ts in range(0, 100, 10)]
events += [{'ph': 's', 'id': 1, 'name': 'next', 'cat': 'x', 'pid': 1, 'tid': 2, 'ts': 10},
           {'ph': 'f', 'id': 1, 'name': 'next', 'cat': 'x', 'pid': 1, 'tid': 2, 'ts': 60, 'bp': 'e'}]
print(json.dumps({'traceEvents': events}))
EOT
run timeline -o rich.html rich.json
want_code 0
want "what is in the page" python3 - rich.html <<'EOT'
import base64, json, re, sys
data = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
def signed(value):
    return -(value + 1) // 2 if value % 2 else value // 2
args, found = data['args'], []
records = numbers(args['bytes'])
for template in records:
    t = args['templates'][template]
    text = ''.join(piece + (str(signed(next(records))) if kind == 0 else args['texts'][next(records)])
                   for piece, kind in zip(t['pieces'], t['kinds'])) + t['pieces'][-1]
    found.append(json.loads(text))
assert args['is_whole'] and data['slices']['is_whole']
assert {'correlation': 7} in found and {'correlation': 7, 'stream': 7, 'device': 0} in found, found
assert found[-2:] == [{'lr': 30, 'why': ['<x>']}, {'lr': 60, 'why': ['<x>']}], found
names = [s['name'] for s in data['answers']['/sessions/1/sites']['sites']]
firsts = {lane['first_slice'] for lane in data['slices']['lanes']}
arrows = list(numbers(data['arrows']['bytes']))
assert data['arrows']['n'] == 2 and arrows[0] == 0 and names[arrows[3] - 1] == 'next', arrows
assert data['instants']['tracks'][0]['n'] == 2
assert list(numbers(data['instants']['bytes']))[0::3] == [30000, 30000]
loss = data['counters']['answer']['counters'][0]
assert loss['name'] == 'loss' and loss['max'][0] == 100 and loss['min'][-1] == 10, loss
assert data['note'].startswith('8 of 8 slices. Written by'), data['note']
EOT
run flame -o flame.html trace.json
want_in "$(page flame.html)" '"flame": 7'
for picture in flame timeline; do
	run $picture -o first.html trace.json
	run $picture -o second.html trace.json
	want "the same trace gives another page" cmp first.html second.html
done
head -c -90 trace.json > cut.json
for picture in flame timeline; do
	run $picture -o cut.html cut.json
	want_in "$(page cut.html)" 'the file ends early: later events are missing.'
done

# A report as a page has it, too, of what was chosen.
report_flame() { # the names in it and their sum
	python3 - "$1" <<'EOT'
import json, re, sys
html = open(sys.argv[1]).read()
flame = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])['flame']
print(sorted(flame['names']), flame['total'])
EOT
}
run report --html -o report.html trace.json
want_code 0
want_in "$(report_flame report.html)" "['a;x', 'b<&', 'c', 'cudaLaunchKernel', 'f.py(1): f', 'main'] 120000"
run report --html --from 0 --to 60us -o report.html trace.json
want_in "$(report_flame report.html)" "['a;x', 'b<&', 'main'] 60000"
for rank in 0 1; do
	echo '{"distributedInfo": {"rank": '$rank'}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "of rank '$rank'",
		"pid": 1, "tid": 2, "ts": 0, "dur": 10}]}' > rank$rank.json
done
run report --html --ranks 1 -o report.html rank0.json rank1.json
want_in "$(report_flame report.html)" "['of rank 1'] 10000"

# A budget holds, and what it costs is said
python3 - <<'EOT' > many.json
import json
print(json.dumps([{'ph': 'X', 'name': f'n{i % 50}', 'pid': 1, 'tid': 1, 'ts': i * 10, 'dur': 1 + i % 97 / 10} for i in range(100000)]))
EOT
run timeline --max-size 128K -o many.html many.json
want_code 0
size=$(($(stat -c %s many.html) - $(stat -c %s timeline.html)))
want "the data takes $size bytes" [ $size -lt 160000 ]
want_in "$(page many.html)" "100,000 of 100,000 slices. "
want_in "$(page many.html)" "are shown as"

python3 - <<'EOT' > args.json
import json
print(json.dumps([{'ph': 'X', 'name': 'n', 'pid': 1, 'tid': 1, 'ts': i * 10, 'dur': 1 + i % 9, 'args': {'text': f'{i:0200}'}} for i in range(2000)]))
EOT
run timeline --max-size 128K -o args.html args.json
want_code 0
size=$(($(stat -c %s args.html) - $(stat -c %s timeline.html)))
want "the data with arguments takes $size bytes" [ $size -lt 160000 ]
want_in "$(page args.html)" " of 2,000 have their arguments, the longest first."
want_in "$(page args.html)" "2,000 of 2,000 slices. "

# ---- Wrong ones
run flame --by speed trace.json
want_code 2
run flame --min-duration soon trace.json
want_code 2
want_in "$err" "needs a time such as 20us, not 'soon'"
run timeline missing.json
want_code 3
run flame -o /dev/full --format svg trace.json
want_code 4
run flame
want_code 2
: > empty.json
run flame empty.json
want_code 3
for command in "flame -o x.png" "flame -o x.tar.gz" "timeline -o x.svg"; do
	run $command trace.json
	want_code 2
	want_in "$err" "has no supported suffix: html"
	want "something is written" [ -z "$(ls x.*)" ]
done 2> /dev/null
run flame --format svg -o x.png trace.json
want_code 0
for command in flame timeline; do
	"$SONDE" $command trace.json > /dev/full 2> .err
	want "$command: $(cat .err)" grep -q 'No space left on device' .err
done

finish
