#!/usr/bin/env bash
# A bit that is flipped in an index: every command says which part is damaged, and a recording mends itself.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# flip FILE SECTION: a bit in the middle of a section of the index at the start of the file, or behind its recording
flip() {
	python3 - "$@" << 'EOT'
import struct, sys
path, kind = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, 'rb').read())
start = 0 if data[:8] == b'\x89SNDIDX\n' else struct.unpack_from('<Q', data, len(data) - 24)[0]
n = struct.unpack_from('<I', data, start + 12)[0]
for i in range(n):
    section, _, offset, length, _ = struct.unpack_from('<IIQQQ', data, start + 56 + 32 * i)
    if section == kind:
        data[start + offset + length // 2] ^= 8
open(path, 'wb').write(data)
EOT
}
slices=12 tracks=2

{
	echo '['
	for i in $(seq 3000); do
		echo "{\"ph\": \"X\", \"name\": \"op$((i % 7))\", \"pid\": 1, \"tid\": 1, \"ts\": $((i * 10)), \"dur\": 5, \"args\": {\"i\": $i}},"
	done
	echo '{"ph": "i", "name": "end", "pid": 1, "tid": 1, "ts": 40000}]'
} > trace.json
run import trace.json -o whole.sonde
want_code 0

cp whole.sonde damaged.sonde
flip damaged.sonde $slices
for command in report summary info bottlenecks export "query --csv"; do
	case $command in
	query*) run $command damaged.sonde "select count(*) from slices where dur > 1" ;;
	export) run $command -o exported.json damaged.sonde ;;
	*) run $command damaged.sonde ;;
	esac
	want_code 3
	want_in "$err" "sonde: damaged.sonde: byte "
	want_in "$err" "some slices cannot be read: wrong checksum"
done
run report --json damaged.sonde
want_in "$out" '"label": "damaged"'
run import damaged.sonde -o copy.sonde
want_code 3
want_in "$err" "sonde: damaged.sonde: byte "
want "a damaged trace was copied" [ ! -e copy.sonde ]
run merge damaged.sonde whole.sonde -o both.sonde
want_code 3
want_in "$err" "damaged.sonde: "
want "a damaged trace was merged" [ ! -e both.sonde ]

# The server answers with what is there, and says so.
python3 -B - << 'EOT' || failed=1
import os, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/cli")
from serve_client import *
s = Server("damaged.sonde", "whole.sonde")
s.get("/sessions/1/tracks")
want(s.get("/sessions")["sessions"][0]["damage"] is None, "damage before it was met")
s.get("/sessions/1/report/report")
said = s.get("/sessions")["sessions"]
want("some slices cannot be read" in (said[0]["damage"] or ""), f"damage: {said[0]['damage']}")
s.get("/sessions/2/aggregate?from=1000000&to=29000000")
want(s.get("/sessions")["sessions"][1]["damage"] is None, "damage of a file that is whole")
s.stop()
finish()
EOT

cp whole.sonde damaged.sonde
flip damaged.sonde $tracks
run report damaged.sonde
want_code 3
want_in "$err" "the tracks in the index are damaged: wrong checksum"

# A recording has its events: the index is mended, in the file as well.
run record -o run.sonde -- "$BUILD/prog_simple"
cp run.sonde whole.sonde
flip run.sonde $slices
want "no bit was flipped" bash -c '! cmp -s run.sonde whole.sonde'
run query --csv run.sonde "select name, count(*), sum(dur) from slices group by name order by name"
want_code 0
want_err ""
mended=$out
run query --csv whole.sonde "select name, count(*), sum(dur) from slices group by name order by name"
want_out "$mended"
want "the file is not mended" cmp -s run.sonde whole.sonde
finish
