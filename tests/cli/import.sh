#!/usr/bin/env bash
# sonde import and merge: what they write, what they say, and what they leave when they cannot.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# make_trace NAME [RANK] [START]: three events, ten microseconds from START
make_trace() {
	local info=
	[ -z "${2:-}" ] || info="\"distributedInfo\": {\"rank\": $2, \"world_size\": 2},"
	cat > "$1" <<EOT
{"schemaVersion": 1, $info "baseTimeNanoseconds": ${3:-1700000000000000000}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.5, "dur": 10.25, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 7, "ts": 2, "dur": 3},
{"ph": "i", "cat": "x", "name": "mark", "pid": 7, "tid": 7, "ts": 3, "s": "t"}
]}
EOT
}

only() { # only FILE...: these are the files that are there
	want "there are: $(ls -A | grep -v '^\.' | xargs)" [ "$(ls -A | grep -v '^\.' | xargs)" = "$*" ]
}

# ---- One file

make_trace trace.json
run import trace.json
want_code 0
want_out ""
want_in "$err" "sonde: imported 3 events ("
want_in "$err" ") into trace.sonde ("
want_in "$err" "): sonde report trace.sonde"
want "more than one line" [ "$(wc -l < .err)" = 1 ]
want "trace.sonde is not private" [ "$(stat -c %a trace.sonde)" = 600 ]
only trace.json trace.sonde
cp trace.sonde whole

# The same trace, however it comes; and a command that reads it without importing.
run report --csv trace.json
want_code 0
report=$out
want_in "$report" "aten::mm"
want_in "$report" "10250"
run report --csv trace.sonde
want_out "$report"
gzip -k trace.json
run report --csv trace.json.gz
want_out "$report"
run import trace.json.gz # replaces what it wrote before
want_code 0
mv trace.json trace.away
if command -v zstd > /dev/null; then
	zstd -q trace.away -o trace.json.zst
	rm trace.sonde
	run import trace.json.zst
	want_code 0
	run report --csv trace.sonde
	want_out "$report"
	rm trace.json.zst
fi
for how in "cat trace.away" "gzip -dc trace.json.gz" "cat trace.json.gz"; do
	command="$how | sonde import -o piped.sonde -"
	$how | "$SONDE" import -o piped.sonde - 2> .err
	code=$? err=$(cat .err)
	want_code 0
	run report --csv piped.sonde
	want_out "$report"
done
rm -f ./*.sonde ./*.gz
mv trace.away trace.json

for threads in 1 2 5; do
	run import --threads $threads -o threads.sonde trace.json
	want_code 0
	want "it depends on the number of threads" cmp -s threads.sonde whole
done
run import whole -o again.sonde # a .sonde file, told by its content
want_code 0
want "a copy is not the same" cmp -s again.sonde whole
rm -f ./*.sonde

# A recording becomes the indexed form too.
run record -o run.sonde true
run import run.sonde
want_code 2
want_err "sonde: run.sonde: is an input file and cannot be overwritten; use -o FILE"
run import run.sonde -o indexed.sonde
want_code 0
run report indexed.sonde
want_code 0
rm -f ./*.sonde

# ---- Damage is told, not hidden

gzip -c trace.json | head -c 150 > cut.json.gz
run import cut.json.gz
want_code 0
want_in "$err" " lost: sonde info cut.sonde"
rm -f cut.*
head -c 270 trace.json > cut.json
run import cut.json
want_code 0
want_in "$err" " lost: sonde info cut.sonde"
rm -f cut.*

# ---- What cannot be

run import
want_code 2
want_err "sonde: import: no FILE given; see sonde import --help"
run import -
want_code 2
want_err "sonde: import: standard input needs -o FILE; see sonde import --help"
run import trace.json trace.json
want_code 2
want_err "sonde: import: several files need -o FILE; see sonde import --help"
run import .
want_code 2
want_err "sonde: import: '.' needs -o FILE; see sonde import --help"
run import -o - trace.json
want_code 2
want_err "sonde: import: -o needs a FILE: a trace cannot go to standard output; see sonde import --help"
want "a file named -" [ ! -e ./- ]
run import --threads 0 trace.json
want_code 2
run merge trace.json -o x.sonde
want_code 2
want_err "sonde: merge: needs at least two files, or a directory; see sonde merge --help"
run import missing.json
want_code 3
want_err "sonde: missing.json: No such file or directory"
echo "no trace" > text
run import text -o x.sonde
want_code 3
want_err "sonde: text: unrecognized format: expected a .sonde file or Chrome trace JSON"
printf '\x1f\x8b\x08 nonsense' > bad.gz
run import bad.gz -o x.sonde
want_code 3
want_in "$err" "sonde: bad.gz: byte "
want_in "$err" "the gzip data"
run import trace.json -o text # somebody's file
want_code 4
want_err "sonde: text: exists and is not a Sonde file; not overwritten"
want "text was touched" [ "$(cat text)" = "no trace" ]
run import trace.json -o no/such/directory.sonde
want_code 4
want_err "sonde: no/such/directory.sonde: cannot write: No such file or directory"
run import trace.json -o .
want_code 4
run import trace.json -o /dev/full
want_code 4
want_in "$err" "No space left on device"
run import trace.json -o /dev/null
want_code 0
(ulimit -f 1; trap '' XFSZ; "$SONDE" import trace.json -o full.sonde 2> .err)
code=$? err=$(cat .err) command="sonde import on a full disk"
if [ "$(stat -c %s whole)" -gt 1024 ]; then
	want_code 4
	want_in "$err" "File too large"
fi
only bad.gz text trace.json whole
rm -f bad.gz text

# ---- Ctrl-C

mkfifo pipe
sleep 100 > pipe & # holds the pipe open and writes nothing
holder=$!
for args in "import pipe -o stopped.sonde" "report pipe" "import --threads 1 pipe -o stopped.sonde"; do
	command="sonde $args, Ctrl-C"
	timeout --preserve-status -s INT 0.5 "$SONDE" $args > .out 2> .err
	code=$?
	want_code 130
done
kill $holder
wait $holder 2> /dev/null
rm -f pipe
only trace.json whole
rm -f trace.json whole

# ---- Ranks

mkdir run
make_trace run/worker10.json 1
make_trace run/worker2.json 0
echo "not looked at" > run/notes.txt
run merge run
want_code 0
want_in "$err" "sonde: merged 6 events ("
want_in "$err" "sonde: rank 0: run/worker2.json
sonde: rank 1: run/worker10.json"
want "no run.sonde" [ -s run.sonde ]
run report --csv run.sonde
want_in "$out" "aten::mm,cpu_op,2,"
run report --csv run
want_code 0
want_in "$out" "aten::mm,cpu_op,2,"

make_trace b-rank3.json
make_trace a-rank5.json
run merge b-rank3.json a-rank5.json -o run.sonde
want_in "$err" "sonde: rank 3: b-rank3.json
sonde: rank 5: a-rank5.json"
make_trace one.json
make_trace two.json
run merge one.json two.json -o run.sonde
want_in "$err" "sonde: rank 0: one.json
sonde: rank 1: two.json"
run merge one.json one.json -o run.sonde
want_in "$err" "sonde: rank 0: one.json
sonde: rank 1: one.json"

# Our own recordings: the rank is what the launcher says, else the name, else, of merge alone, the order.
for i in 0 1; do
	RANK=$((1 - i)) WORLD_SIZE=2 "$SONDE" record -o "own$i.sonde" "$BUILD/prog_simple" 10 > /dev/null 2>&1
	SONDE_ENABLED=1 SONDE_OUTPUT=plain_$((i + 5)).sonde "$BUILD/prog_simple" 10 > /dev/null
done
run merge own0.sonde own1.sonde -o run.sonde
want_in "$err" "sonde: rank 1: own0.sonde
sonde: rank 0: own1.sonde"
run report --json own0.sonde own1.sonde
want_in "$out" '"n_ranks": 2'
want "samples of the processes among the program's counters" [ "${out/rss bytes/}" = "$out" ]
run report --csv --ranks 1 own0.sonde own1.sonde
want_in "$out" "simple,other,10,"
run report --csv plain_5.sonde plain_6.sonde # processes of one run
want_in "$out" "simple,other,20,"
run merge plain_5.sonde plain_6.sonde -o run.sonde
want_in "$err" "sonde: rank 5: plain_5.sonde
sonde: rank 6: plain_6.sonde"
rm own?.sonde plain_?.sonde

# The same rank twice, and clocks that have nothing to do with each other, are told.
make_trace one.json 4
make_trace two.json 4 1800000000000000000
run merge one.json two.json -o run.sonde
want_code 0
want_in "$err" ", 2 noted, 0 lost: sonde info run.sonde"
want_in "$err" "sonde: rank 0: one.json
sonde: rank 1: two.json"
run info run.sonde
want_code 0
want_in "$out" "file of a rank that another file has, numbered by its order"
want_in "$out" "clocks not comparable: rank 1 shifted"
# Recordings beside other tools' traces are left out, and named; those that have the name of a trace are not.
mkdir mixed
echo '[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]' > mixed/a.json
run import mixed/a.json
run report mixed
want_code 0
want_err ""
cp mixed/a.sonde mixed/b.sonde
run report mixed
want_code 0
want_err "sonde: mixed: skipped b.sonde because the directory has Chrome traces; name the file to open it"
cp mixed/a.sonde mixed/c.sonde
run info mixed/
want_code 0
want_err "sonde: mixed/: skipped 2 .sonde files (b.sonde ...) because the directory has Chrome traces; name them to open them"
rm -r mixed

# What a directory holds beside traces is left out; what was named is not.
mkdir mixed
make_trace mixed/a.json
make_trace mixed/z.json
echo '{"lr": 0.1}' > mixed/config.json
echo '{"schema": "1.1", "nodes": [{"id": 1}]}' | gzip > mixed/et.json.gz
echo 'no JSON at all' > mixed/notes.json
echo 'nor this' | gzip > mixed/notes.json.gz
run merge mixed -o mixed.sonde
want_code 0
want_in "$err" "sonde: rank 0: mixed/a.json
sonde: rank 1: mixed/z.json"
want "a file that is no trace has a rank" [ "$(grep -c ': rank' .err)" = 2 ]
run info mixed.sonde
want_in "$out" "4 files of the directory that are not traces, skipped"
rm mixed/z.json
run report --csv mixed # as the one that is left
want_code 0
report=$out
run report --csv mixed/a.json
want_out "$report"
run merge mixed/a.json mixed/config.json -o mixed.sonde
want_code 3
want_err 'sonde: mixed/config.json: byte 12: unrecognized format: a JSON object without a list "traceEvents"; expected Chrome trace JSON or a .sonde file'
echo '[1, 2, 3]' > numbers.json
run report numbers.json
want_code 3
want_in "$err" "sonde: numbers.json: byte 1: unrecognized format: a JSON list without any trace event (3 other elements)"
rm numbers.json
for empty in '[]' '{"traceEvents": []}'; do
	echo "$empty" > none.json
	run report none.json
	want_code 0
	want_in "$out" "no events"
done
rm none.json
rm mixed/a.json
run info mixed
want_code 3
rm -r mixed mixed.sonde
mkdir empty
run merge empty
want_code 3
want_err "sonde: empty: no trace in this directory: no .json, .json.gz, .json.zst or .sonde file"

# ---- Progress: on a terminal, for what takes longer

if script -q -e -c true /dev/null > /dev/null 2>&1; then
	command="sonde import on a terminal"
	mkfifo pipe
	{ printf '['; head -c 5000000 /dev/zero | tr '\0' ' '; sleep 0.8; head -c 5000000 /dev/zero | tr '\0' ' '
	  printf '{"ph": "X", "name": "a", "ts": 1, "dur": 1}]'; } > pipe &
	text=$(TERM=xterm script -q -e -c "'$SONDE' import --threads 1 pipe -o slow.sonde" /dev/null < /dev/null)
	want_in "$text" $'\r\e[Kimporting pipe  '
	want_in "$text" "MiB/s"
	want_in "$text" $'\r\e[Ksonde: imported 1 event ('
	wait
	text=$(TERM=xterm script -q -e -c "'$SONDE' import one.json -o fast.sonde" /dev/null < /dev/null)
	want "progress of what is done at once" [ "$(grep -c $'\e' <<< "$text")" = 0 ]
fi
finish
