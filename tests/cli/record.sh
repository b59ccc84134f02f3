#!/usr/bin/env bash
# sonde record: the program runs as it would alone, and the file is there, however the program ends.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# ---- Streams and exit codes

command="sonde record, streams"
out=$(echo input | "$SONDE" record -o run.sonde sh -c 'read x; echo "got $x"; echo oops >&2; exit 7' 2> .err)
code=$? err=$(cat .err)
want_code 7
want_out "got input"
want_err "oops
sonde: recorded into run.sonde: sonde report run.sonde"
want "no file" [ -s run.sonde ]
want "the file is not private" [ "$(stat -c %a run.sonde)" = 600 ]
want "a part is left" [ "$(ls)" = run.sonde ]
run info run.sonde
want_code 0

run record true
want_code 0
want "no default file" [ -s true.sonde ]
run record -- sh -c 'exit 255'
want_code 255
run record sh -c 'echo "$@"' x --json -o y -- z # the program's options are its own
want_out "--json -o y -- z"

# ---- A program that was not built with libsonde-rt

run record -o run.sonde --report 3 sh -c 'sleep 0.05; exec sleep 0.2'
want_code 0
want_in "$err" "run.sonde   sh   "
want "threads that nobody knows" [ "${err/threads   /}" = "$err" ]
want "no process by its last name: $err" grep -q '^ *[0-9][0-9]* *sleep ' .err
want "a process is there twice: $err" [ "$(grep -c ' sh  ' .err)" = 1 ]
run record -o run.sonde sleep 0.04 # less than the time between two samples
run summary --json run.sonde
want "a short program used no memory: $out" grep -q '"command": "sleep".*"peak_rss_bytes": [1-9]' .out
rm run.sonde
# Memory that is there for less than the time between two samples.
run record -o run.sonde --interval 3600000 dd if=/dev/zero of=/dev/null bs=256M count=1
run summary --json run.sonde
peak=$(sed -n 's/.*"command": "dd".*"peak_rss_bytes": \([0-9]*\).*/\1/p' .out)
want "dd had 256 MiB, not $peak" [ "${peak:-0}" -gt 268435456 -a "${peak:-0}" -lt 300000000 ]
rm run.sonde

# ---- Programs that do not run: no file, and an old one stays

run record -o - true
want_code 2
want_in "$err" "--output needs FILE: a recording cannot go to standard output"
want "a file of that name" [ ! -e ./- ]

rm -f ./*.sonde
run record ./nothing
want_code 127
want_err "sonde: ./nothing: no such program"
run record nothing-in-the-path
want_code 127
: > script && chmod 644 script
run record ./script
want_code 126
want_err "sonde: ./script: Permission denied"
run record "$work"
want_code 126
want_err "sonde: $work: Is a directory"
printf '#!/no/such/interpreter\n' > script && chmod 755 script
run record ./script
want_code 127
want "a file was left behind: $(ls)" [ "$(ls)" = script ]
run record -o run.sonde true
cp run.sonde before
run record -o run.sonde ./nothing
want "the old recording is gone" cmp -s run.sonde before

# ---- Files that are in the way

run record -o run.sonde true
want_code 0
: > empty.sonde
run record -o empty.sonde true
want_code 0
echo precious > text
run record -o text true
want_code 4
want_in "$err" "sonde: text"
want "a foreign file was overwritten" [ "$(cat text)" = precious ]
run record -o no/such/directory true
want_code 4
want_err "sonde: cannot write no/such/directory: No such file or directory"

# ---- A process that outlives the program goes on, and that is said

# shellcheck disable=SC2016
run record -o run.sonde sh -c '"$0" 600 .stop & echo $! > .pid; until [ -s run.sonde.part.$! ]; do sleep 0.01; done' "$BUILD/prog_live"
want_code 0
pid=$(cat .pid)
want_in "$err" "sonde: process $pid (prog_live) still runs and records into run.sonde.part.$pid; sonde report run.sonde also reads that file"
run record -o run.sonde true # neither the file nor its part gives way to another recording
want_code 4
want_err "sonde: run.sonde: process $pid of an earlier recording still writes run.sonde.part.$pid; neither is overwritten"
run report run.sonde
want_in "$out" "the program is still running"
: > .stop
for _ in $(seq 1000); do
	kill -0 "$pid" 2> /dev/null || break
	sleep 0.01
done
run report --csv run.sonde
want_in "$out" "wait_a_little,other,"
run record -o run.sonde true # and now both do
want_code 0
want "a part is left: $(ls)" [ "$(ls run*)" = run.sonde ]
rm -f run.sonde* .stop .pid

# ---- The environment says where the runtime writes, and nothing else changes

mkdir fresh && cd fresh && mkdir 'a%p b' || exit 1
env | sort > before
run record -o 'a%p b/run%n.sonde' --buffer 1M --full drop --activities cpu,memory env
want "something else was set" [ "$(printf '%s\n' "$out" | sort | comm -13 before - | grep -v '^_=')" = "$(cat << EOT
SONDE_ACTIVITIES=cpu,memory
SONDE_BUFFER=1048576
SONDE_ENABLED=1
SONDE_FULL=drop
SONDE_OUTPUT=$(pwd -P | sed 's/%/%%/g')/a%%p b/run%%n.sonde.part.%p
EOT
)" ]
want "no file" [ -s 'a%p b/run%n.sonde' ]
run record -o x.sonde env
want_in "$out" "SONDE_OUTPUT=$(pwd -P)/x.sonde.part.%p"
want "SONDE_FULL was set" [ "$(grep -c SONDE_FULL <<< "$out")" = 0 ]

# ---- Signals

for signal in KILL TERM SEGV; do
	run record -o run.sonde sh -c "kill -$signal \$\$"
	want_code $((128 + $(kill -l $signal)))
	want_in "$err" "sonde: sh was killed by signal $(kill -l $signal) (SIG$signal); "
	want "no file" [ -s run.sonde ]
	want "a core file" [ -z "$(ls | grep core)" ]
done

# Waits until a file has content, for at most 10 s.
await() {
	for _ in $(seq 200); do
		[ -s "$1" ] && return
		sleep 0.05
	done
	complain "$1 did not come"
}

# SIGTERM and SIGHUP are passed on; SIGINT and SIGQUIT come from the terminal to both, and the program decides.
for signal in TERM HUP; do
	rm -f ready
	"$SONDE" record -o run.sonde sh -c "trap 'exit 42' $signal; echo > ready; while :; do sleep 0.05; done" 2> .err &
	await ready
	kill -$signal $!
	wait $!
	code=$? command="kill -$signal"
	want_code 42
done
rm -f ready
(trap - INT QUIT; exec "$SONDE" record -o run.sonde sh -c 'echo > ready; while [ ! -e go ]; do sleep 0.05; done') 2> .err &
await ready
kill -INT $!
kill -QUIT $!
echo > go
wait $!
code=$? command="kill -INT"
want_code 0

# The program has the dispositions and the mask that sonde was started with.
state() { grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; }
export -f state
command="signal dispositions"
alone=$(grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status)
run record -o run.sonde grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
want_out "$alone"
command="signal dispositions under nohup"
alone=$(trap '' HUP PIPE CHLD; exec grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status)
out=$(trap '' HUP PIPE CHLD; exec "$SONDE" record -o run.sonde grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status 2> .err)
code=$?
want_code 0
want_out "$alone"

# Killing sonde does not harm the program.
rm -f ready go done
"$SONDE" record -o run.sonde sh -c 'echo > ready; while [ ! -e go ]; do sleep 0.05; done; echo yes > done' 2> .err &
await ready
kill -KILL $!
wait $! 2> /dev/null
echo > go
await done

# ---- Descriptors: the program gets what it would have got

command="open descriptors"
count='ls /proc/self/fd | wc -l'
alone=$(sh -c "$count" < /dev/null 2> /dev/null)
out=$("$SONDE" record -o run.sonde sh -c "$count" < /dev/null 2> /dev/null)
want_out "$alone"

# ---- The report at the end goes to stderr

run record -o run.sonde --report 5 echo hello
want_code 0
want_out "hello"
want_in "$err" "run.sonde"
want "no report" [ "$(printf '%s\n' "$err" | wc -l)" -gt 2 ]
finish
