#!/usr/bin/env bash
# Pages of traces that are large in one way or another: the budget of their data holds, and they say what they left out.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1
run timeline -o page.html /dev/null
case $err in *"built without its page"*)
	echo "skipped: $err"
	exit 77
	;;
esac

python3 - <<'EOT'
import json

def write(file, events):
    with open(file, "w") as out:
        out.write('{"traceEvents": [\n')
        for event in events:
            out.write(json.dumps({"pid": 1, "tid": 1, **event}) + ",\n")
        out.write('{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "p"}}]}\n')

def slice_at(i, **more):
    return {"ph": "X", "ts": i * 10, "dur": 5 + i % 3, **more}

write("steps.json", (slice_at(i, cat="user_annotation", name=f"ProfilerStep#{i}") for i in range(100000)))
write("names.json", (slice_at(i, name=f"{i:03d}" + "n" * 1000000 + "end") for i in range(20)))
write("distinct.json", (slice_at(i, name=f"name {i}") for i in range(20000)))
write("tracks.json", (slice_at(i, pid=i // 100, tid=i, name=f"work on {i}") for i in range(30000)))

def mixed(): # of everything much, and of it much that JSON writes with more bytes
    odd = "\x01<\"" * 100
    for i in range(5000):
        yield {"ph": "C", "ts": i * 10, "name": f"counter {i % 2500} {odd}", "args": {"v": i + 0.12345678}}
        yield {"ph": "i", "s": "t", "tid": i, "ts": i * 10, "name": f"instant {i} {odd}"}
        yield slice_at(i, tid=i, name=f"slice {i} {odd}", args={f"key {i}": odd})
        yield {"ph": "s", "id": i, "tid": i, "ts": i * 10 + 1, "name": "flow"}
        yield {"ph": "f", "id": i, "tid": (i + 1) % 5000, "ts": i * 10 + 11, "name": "flow", "bp": "e"}
write("mixed.json", mixed())
EOT

# data FILE: how many bytes of data the page has, and its note
data() {
	python3 - "$1" <<'EOT'
import json, re, sys
text = re.search(r'id="data"[^>]*>(.*?)</script>', open(sys.argv[1]).read(), re.S)[1]
page = json.loads(text)
print(len(text.replace("\\u003c", "<").encode()), page["note"])
EOT
}

for trace in steps names distinct tracks mixed; do
	for budget in 4194304 262144; do
		for picture in timeline flame; do
			run $picture --max-size $budget -o page.html $trace.json
			want_code 0
			found=$(data page.html)
			want "$trace: ${found%% *} bytes of data, at most $budget" [ "${found%% *}" -le $((budget + 2000)) ]
		done
	done
	run report --html -o page.html $trace.json
	want_code 0
	want "$trace: a report of $(stat -c %s page.html) bytes" [ "$(stat -c %s page.html)" -le 18000000 ]
done

run timeline -o page.html steps.json
want_in "$(data page.html)" "of 100,000 steps, the longest."
run timeline -o page.html tracks.json
want_in "$(data page.html)" "of 30,000 tracks, the busiest."
run timeline -o page.html distinct.json
want_in "$(data page.html)" "names, those with the most time; the others share one."
run timeline -o page.html names.json
want_in "$(data page.html)" "20 of 20 slices."
want "no name says that it is cut" grep -q 'nend (cut, 1,000,006 bytes)"' page.html
run flame -o page.html names.json
want "no name says that it is cut" grep -q 'nend (cut, 1,000,006 bytes)"' page.html
finish
