#!/usr/bin/env bash
# sonde record itself is killed: the program does not notice, and everything that it recorded can be read.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1

# Runs the program under a sonde record that is killed after MS milliseconds, and waits for the program. Its exit code
# goes to .code by a shell that nobody kills.
kill_recorder() { # kill_recorder MS PROG ARGS...
	command="sonde record prog_$2, killed after $1 ms"
	rm -f "$file"* .code .begun
	start "$SONDE" record -o "$file" -- sh -c 'echo > .begun; "$@" > .program; echo $? > .code' sh "$BUILD/prog_$2" "${@:3}"
	await "the program" [ -e .begun ]
	sleep "$(printf '0.%03d' "$1")"
	kill -KILL $!
	wait $! 2> /dev/null
	await "the end of the program" [ -s .code ]
	code=$(cat .code) out=$(cat .program) err=$(cat .err)
}

for ms in $(seq 50 40 $((50 + 40 * $(rounds 5 200)))); do
	kill_recorder "$((ms % 500))" simple 200000 600
	want_code 3
	want "the output is $out" [ "$(head -n 1 .program),$(tail -n 1 .program)" = half,done ]
	look
	want_sound
	want_events 400000
	want_calls simple 200000
	want_value n_open 0
done

# A program that is killed too, later
kill_recorder 100 work counters 0 kill 300
want_code 137
look
want_sound
want_value n_lost 0
want_calls main 1
n=$(od -An -v -t u8 -w128 counters | awk '{ n += $1 } END { print n }')
total=0
for i in 0 1 2 3 4 5 6 7; do
	total=$((total + $(calls work-$i)))
done
want "$total rounds in the recording, the program counted $n" [ $total -ge "$n" -a $total -le $((n + 8)) ]
look
want_sound

# Processes of processes: parts of all of them
forks_in_threads
kill_recorder 50 fork loop "$(n_forks 200)"
want_code 3
look
want_sound
want_value n_lost 0
want_calls work "$out"
want_calls child $(($(n_forks 200) * 10))

# The next recording into the same file is not disturbed by what the killed one left
record simple 1000
want_code 3
look
want_events 2000
want "parts are left: $(ls)" [ -z "$(ls "$file".* 2> /dev/null)" ]

# A sonde record that takes the place of one whose program was killed takes away its ring as well, which nobody would
# find
n_rings() {
	find /dev/shm -name '*.ring' | wc -l
}
if [ "$SONDE_FAULTS_SHM" = own ]; then
	command="recording again into the file of a killed program"
	rm -f "$file"*
	kill_recorder 50 work counters 0 kill 300
	want "$(n_rings) rings of a killed program, not 1" [ "$(n_rings)" = 1 ]
	keep "$SONDE" record -o "$file" -- "$BUILD/prog_simple" 100
	want_code 3
	want "$(n_rings) rings are left" [ "$(n_rings)" = 0 ]
	look
	want_events 200
fi

# A program by itself takes no recording's place, neither of one that was killed nor of one that ended.
command="a second program for the same file"
rm -f run*
n=20
SONDE_ENABLED=1 SONDE_OUTPUT=$file keep "$BUILD/prog_work" counters $n kill
want_code 137
for expected in 1 2; do
	SONDE_ENABLED=1 SONDE_OUTPUT=$file keep "$BUILD/prog_simple" 100
	want_code 3
	want "$(ls run* | wc -l) files" [ "$(ls run*.sonde | wc -l)" = $((expected + 1)) ]
	want_in "$err" "sonde: $(pwd -P)/run.sonde is an existing recording and is kept; recording into $(pwd -P)/run."
done
look
want_events $((8 * n * 9 + 1))
for other in run.*.sonde; do
	look "$other"
	want_events 200
done
rm -f run*

# ---- Reading while the program runs

command="reading a running program"
rm -f "$file"
SONDE_ENABLED=1 SONDE_OUTPUT=$file start "$BUILD/prog_work" counters 0 exit 60000 10
await "the recording" [ -s "$file" ]
for i in $(seq "$(rounds 10)"); do
	look
	want_value n_damaged_blocks 0
	want_value n_unknown_names 0
done
kill -STOP $! # now nothing moves between the file and the ring
look
want_sound
want_value n_unmatched_ends 0
want_value n_repaired 0
want_value n_lost 0
want "the recording does not count as running" grep -q '"state": "running"' .info
want "a reader removed the ring" [ "$SONDE_FAULTS_SHM" = shared -o -n "$(find /dev/shm -name '*.ring')" ]
kill -CONT $!
kill -TERM $!
wait $! 2> /dev/null
code=$?
want_code 143
look
want_sound
want_value n_lost 0
finish
