#!/usr/bin/env bash
# No room for the recording, from the start or later: the program goes on, what was written can be read, the rest is
# counted.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
n=$(rounds 4000000)
mkdir small
mount -t tmpfs -o size=1m tmpfs small 2> /dev/null || skip "tmpfs cannot be mounted here"
trap 'umount "$work/small"; rm -rf "$work"' EXIT

unchanged() { # what the program says and returns is as without us
	want_code 3
	want_out "$expected"
}
alone simple "$n"
want_code 3
expected=$out

# ---- Full from the start

command="dd"
dd if=/dev/zero of=small/other bs=4096 2> /dev/null
file=small/run.sonde
program simple "$n"
unchanged
want_err "sonde: nothing is recorded: cannot write $(pwd -P)/small/run.sonde: No space left on device"
want "a file was left" [ ! -e "$file" ]

# ---- Full midway

rm small/other
for full in block drop; do
	rm -f small/*
	SONDE_FULL=$full program simple "$n"
	unchanged
	want_in "$err" "sonde: $(pwd -P)/small/run.sonde: No space left on device; "
	want "more than one line: $err" [ "$(wc -l <<< "$err")" = 1 ]
	look
	want_sound
	want_events $((2 * n))
	want "nothing was kept" [ "$(value n_kept)" -gt 100000 ]
	want "nothing was lost on the way to the disk" [ "$(value n_lost_io)" -gt 0 ]
	want_in "$err" "; $(value n_lost_io) events were lost"
done

# Room again: the recording goes on, with all names.
rm -f small/*
command="a disk that is full for a while"
dd if=/dev/zero of=small/other bs=1024 count=900 2> /dev/null
SONDE_ENABLED=1 SONDE_OUTPUT=$file start "$BUILD/prog_simple" "$n" 1000
await "the first half" grep -q half .out
sleep 0.3 # the writer looks every 250 ms
rm small/other
wait $!
code=$? out=$(cat .out)
unchanged
look
want_sound
want_events $((2 * n))
want "nothing was lost" [ "$(value n_lost_io)" -gt 0 ]

# Killed when the disk is full: what the ring holds is read, and the ring stays as long as it cannot be saved
unsaved() { # unsaved TEXT: says why, and where the events are
	want_in "$1" "recovered events could not be saved into the file: No space left on device; they stay in the ring /dev/shm/"
	want "a wrong reason: $1" [ "${1/temporarily unavailable/}" = "$1" ]
}
rm -f small/*
: > counters
SONDE_BUFFER=1M program work counters 20000 kill
want_code 137
dd if=/dev/zero of=small/other bs=1024 2> /dev/null # what the last write that failed has given back
look
want_events $((8 * 20000 * 9 + 1))
rings=$(find /dev/shm -name '*.ring' | wc -l)
recovered=$(value n_recovered)
[ "$recovered" = 0 ] || unsaved "$(cat .look)"
cut -d, -f1-3 .csv > first.csv
look
want "the second report differs" [ "$(cut -d, -f1-3 .csv)" = "$(cat first.csv)" ]
want "the ring is gone but was not saved" [ "$SONDE_FAULTS_SHM" = shared -o "$rings" = 1 -o "$recovered" = 0 ]
rm small/other # room again: the next reader saves them
cp "$file" whole.sonde && rm "$file" && file=whole.sonde
look
want_events $((8 * 20000 * 9 + 1))
want "something is said: $(cat .look)" [ ! -s .look ]
file=small/run.sonde

# The same of sonde record: the disk is full when the program has ended
finish_full() { # finish_full PROGRAMS, as a shell runs them
	command="sonde record $1, full in the end"
	rm -f small/*
	: > counters
	keep "$SONDE" record -o "$file" -- bash -c "$1"' 2> /dev/null; dd if=/dev/zero of=small/other bs=1024; exit 3' "$BUILD/prog_work"
	want_code 3
	want "a wrong reason: $err" [ "${err/temporarily unavailable/}" = "$err" ]
	want "it says that something runs: $err" [ "${err/still runs/}" = "$err" ]
	rm small/other
}
# shellcheck disable=SC2016
SONDE_FULL=overwrite finish_full '"$0" counters 300 kill; "$0" counters 300 kill' # nothing is in their files yet
unsaved "$err"
look
want_sound
want_events $((2 * (8 * 300 * 9 + 1)))
look
want "something is said: $(cat .look)" [ ! -s .look ]
# shellcheck disable=SC2016
finish_full '"$0" counters 500 exit; "$0" counters 500 exit'
want_in "$err" "cannot join small/run.sonde.part.* into small/run.sonde: No space left on device; the parts stay and are read with the file"
look
want_sound
want_events $((2 * (8 * 500 * 9 + 2)))
want_value n_lost 0

# Under sonde record
rm -f small/*
record simple "$n"
unchanged
want_in "$err" "No space left on device"
look
want_sound
want "$(value n_kept) kept, $(value n_lost) lost" [ $(($(value n_kept) + $(value n_lost))) -ge $((2 * n)) ]
want "nothing was kept" [ "$(value n_kept)" -gt 100000 ]
file=run.sonde

# ---- Files may only be so large

limited() { # limited KB COMMAND...; its output goes through pipes, which have no limit
	command="ulimit -f $1; ${*:2}"
	rm -f "$file"
	out=$(
		exec 4>&1
		(ulimit -f "$1" && exec "${@:2}" 4>&-) 2>&1 >&4 | cat > .err 4>&- # waits for all of stderr
		exit "${PIPESTATUS[0]}"
	)
	code=$? err=$(cat .err)
}

export SONDE_ENABLED=1 SONDE_OUTPUT=$file
for limit_kb in 0 100 4000 6000 40000; do
	[ $limit_kb$sanitized != 01 ] || continue # the sanitizers have files of their own
	limited $limit_kb "$BUILD/prog_simple" "$n"
	unchanged
	if [ -e "$file" ]; then
		look
		want_sound
		want_events $((2 * n))
	else
		want_in "$err" "sonde: nothing is recorded: the file size limit is too small for the ring (ulimit -f)"
	fi
done
want "even 40 MB were not enough" [ -e "$file" ]
unset SONDE_ENABLED SONDE_OUTPUT
limited 6000 "$SONDE" record -o "$file" -- "$BUILD/prog_simple" "$n"
unchanged
look
want_sound
if [ $sanitized = 0 ]; then
	limited 0 "$SONDE" record -o "$file" -- echo run
	want_code 4
	want_out ""
	want_in "$err" "cannot write $file: File too large"
	limited 1 "$SONDE" record -o "$file" --interval 1 -- sh -c 'sleep 0.3; exit 7' # its samples are more than that
	want_code 7
fi

# A reader that may not save what it recovers says so and goes on
SONDE_FULL=overwrite program work counters 3000 kill # nothing of it is in the file yet
want_code 137
command="sonde info under ulimit -f 1"
out=$(
	ulimit -f 1
	"$SONDE" info --json "$file" 2>&1 | cat
	exit "${PIPESTATUS[0]}"
)
code=$?
want_code 0
want_in "$out" "recovered events could not be saved into the file: File too large; they stay in the ring"
look
want_events $((8 * 3000 * 9 + 1))

# ---- A small /dev/shm

[ "$SONDE_FAULTS_SHM" = own ] || skip "no /dev/shm of our own: the last part was left out"
mount -t tmpfs -o size=64k tmpfs /dev/shm
program simple 10000
unchanged
want_err ""
look
want_sound
want_events 20000
want "the ring beside the recording was left" [ ! -e "$file.ring" ]
program work counters 100 kill
want_code 137
want "no ring beside the recording" [ -e "$file.ring" ]
look
want_events $((8 * 100 * 9 + 1))
want "the ring beside the recording was left" [ ! -e "$file.ring" ]
file=small/run.sonde # neither here nor there
rm -f small/*
dd if=/dev/zero of=small/other bs=1024 count=900 2> /dev/null
program simple 10000
unchanged
want_in "$err" "sonde: nothing is recorded: no space for the ring in /dev/shm or beside $(pwd -P)/small/run.sonde"
want "a ring was left" [ ! -e "$file.ring" ]
file=run.sonde
umount /dev/shm
for size in 400k 600k 1m; do # enough for some of the ring: that must do, for more threads than it has chunks too
	mount -t tmpfs -o size=$size tmpfs /dev/shm
	program simple 200000
	unchanged
	look
	want_events 400000
	want_value n_lost 0
	program threads barrier 64
	want_code 3
	look
	want_events 384
	umount /dev/shm
done
finish
