#!/usr/bin/env bash
# Times far outside of all others: they are told and kept, and the trace is as long as the others say.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# make_trace FILE N EVENT...: N slices of 5 us, one every 10 us from 1000 us on, and the given events
make_trace() {
	python3 - "$@" <<'EOT'
import json, sys
events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 1000 + 10 * i, "dur": 5, "name": "work"} for i in range(int(sys.argv[2]))]
events += [{"pid": 1, "tid": 1, **json.loads(event)} for event in sys.argv[3:]]
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
EOT
}

# value KEY FILE: of the report
value() {
	"$SONDE" report --json "$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

said="far outside all others"

# apart NS N FILE: so long is the trace, so many events are told, and no event is missing
apart() {
	run info --json "$3"
	want_code 0
	if [ "$2" = 0 ]; then
		case $out in *"$said"*) complain "times are set apart: $out" ;; esac
	else
		want_in "$out" "$said"
	fi
	want "$3 takes $(value duration_ns "$3") ns, not $1" [ "$(value duration_ns "$3")" = "$1" ]
}

far='{"ph": "X", "ts": 9223372036854775807, "dur": 3, "name": "far", "args": {"a": 1}}'
make_trace one.json 100 "$far"
apart 995000 1 one.json
run info one.json
want_in "$out" "1 event with a time far outside all"
run report --csv one.json
want_in "$out" "far,"
want_in "$out" "work,,100,500000,"
run query one.json "select name, ts, dur from slices where name = 'far'"
want_in "$out" "far"
run info --json one.json
want_in "$out" "sonde.times_outside"
python3 - one.json <<'EOT' > at
import sys
print(open(sys.argv[1]).read().index('{"pid": 1, "tid": 1, "ph": "X", "ts": 9223372036854775807'))
EOT
want_in "$out" "\"first_byte\": $(cat at)"

# Wherever it stands, whatever it is.
for event in '{"ph": "X", "ts": -5e15, "dur": 1, "name": "far"}' \
	'{"ph": "i", "s": "t", "ts": 5e15, "name": "far"}' \
	'{"ph": "C", "ts": 5e15, "name": "far", "args": {"v": 1}}' \
	'{"ph": "X", "ts": 1100, "dur": 4611686018427387904, "name": "far"}' \
	'{"ph": "s", "id": 1, "ts": 5e15, "name": "far"}'; do
	make_trace far.json 100 "$event"
	apart 995000 1 far.json
done
make_trace open.json 100 '{"ph": "B", "ts": 1500, "name": "never ends"}' "$far"
apart 995000 1 open.json
make_trace many.json 100000 "$far" "$far" '{"ph": "X", "ts": 4e15, "dur": 1, "name": "far"}'
apart 999995000 3 many.json

# What is legitimate: years between two events, phases far apart, ranks with other clocks.
make_trace two.json 1 '{"ph": "X", "ts": 31536000001000, "dur": 5, "name": "a year later"}'
apart 31536000000005000 0 two.json
make_trace hours.json 5000 '{"ph": "X", "ts": 36000000000, "dur": 5, "name": "ten hours later"}'
apart 35999999005000 0 hours.json
python3 - <<'EOT'
import json
near = [{"ph": "X", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "name": "relative"} for i in range(5000)]
late = [{"ph": "X", "pid": 2, "tid": 2, "ts": 1700000000000000 + 10 * i, "dur": 5, "name": "epoch"} for i in range(2000)]
json.dump(near + late, open("clocks.json", "w"))
json.dump({"distributedInfo": {"rank": 0}, "traceEvents": near}, open("rank0.json", "w"))
json.dump({"distributedInfo": {"rank": 1}, "traceEvents": late[:2]}, open("rank1.json", "w"))
EOT
apart 1700000000019995000 0 clocks.json
run info rank0.json rank1.json
want_code 0
case $out in *"$said"*) complain "a rank is set apart: $out" ;; esac

# A recording: operations that were measured elsewhere, by another clock.
run record -o run.sonde "$BUILD/prog_times"
want_code 0
run report --json run.sonde
want_in "$out" '"n_times_outside": 3'
run report --csv run.sonde
want_in "$out" "far op,"
python3 - "$out" <<'EOT' || complain "a name takes longer than the recording: $out"
import csv, io, sys
rows = list(csv.DictReader(io.StringIO(sys.argv[1])))
sys.exit(any(float(row["percent"] or 0) > 100.5 or int(row["total_ns"]) > 60e9 for row in rows))
EOT
run query run.sonde "select max(ts + dur) < 60e9 as ok from slices"
want_in "$out" "1"
run info run.sonde
want_in "$out" "3 events with times far outside the recording"
finish
