#!/usr/bin/env bash
# Settings and surroundings that do not fit: one clear line, and the program runs as it would alone.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
alone simple 1000
want_code 3
expected=$out

unchanged() {
	want_code 3
	want_out "$expected"
}
recorded() {
	look
	want_sound
	want_events 2000
	want_calls simple 1000
}

program simple 1000
unchanged
want_err ""
recorded
for clock in monotonic tsc; do
	SONDE_CLOCK=$clock program simple 1000
	unchanged
	want_err ""
	recorded
done
SONDE_CLOCK=monotonic program simple 1000
look
want_in "$(cat .info)" '"clock": "monotonic"'

# ---- Wrong values

wrong() { # wrong VARIABLE VALUE EXPECTED
	export "$1=$2"
	program simple 1000
	command="$1=$2"
	unchanged
	want_err "sonde: $1=$2 is not $3; using the default"
	recorded
	unset "$1"
}
for value in 1 64K 255K 1M1 -1 -64M 65G 18446744073709551616 64X M nan "64 M"; do
	wrong SONDE_BUFFER "$value" "a size from 256K to 64G"
done
for value in discard 1 "block "; do
	wrong SONDE_FULL "$value" "block, overwrite or drop"
done
for value in gpu cpu,gpu , cpu:memory; do
	wrong SONDE_ACTIVITIES "$value" "a list of cpu, memory, device"
done
for value in x -1 1.5 99999999999; do
	wrong SONDE_REPORT "$value" "a number of names"
done
for name in SONDE_MEMORY SONDE_MODULES SONDE_SHAPES SONDE_STACKS SONDE_FLOPS; do
	wrong $name maybe "0 or 1"
done
SONDE_BUFFER=x SONDE_FULL=x program simple 1000
unchanged
want "not one line for each: $err" [ "$(wc -l <<< "$err")" = 2 ]
recorded
rm -f "$file"
SONDE_OUTPUT=$file SONDE_ENABLED=maybe keep "$BUILD/prog_simple" 1000
command="SONDE_ENABLED=maybe"
unchanged
want_err "sonde: SONDE_ENABLED=maybe is not 0 or 1; using the default"
want "it was recorded" [ ! -e "$file" ]
SONDE_OUTPUT=$(printf '%5000s' | tr ' ' x) SONDE_ENABLED=1 keep "$BUILD/prog_simple" 1000
command="SONDE_OUTPUT of 5000 bytes"
unchanged
want_err "sonde: SONDE_OUTPUT is longer than 4095 bytes; using the default"
mv prog_simple.*.sonde "$file"
recorded
for end in json csv md HTML txt svg folded; do
	SONDE_OUTPUT=other.$end SONDE_ENABLED=1 keep "$BUILD/prog_simple" 1000
	command="SONDE_OUTPUT=other.$end"
	unchanged
	want_err "sonde: a recording is a .sonde file; recording into $(pwd -P)/other.$end.sonde; sonde export converts it to JSON"
	want "a recording has the name of another format" [ ! -e other.$end ]
	mv other.$end.sonde "$file"
	recorded
done
SONDE_OUTPUT=other.json keep "$BUILD/prog_simple" 1000
want_err ""
SONDE_BUFFER= SONDE_FULL= SONDE_REPORT= program simple 1000
unchanged
want_err ""
recorded

# The command that reads a recording does not record itself, though the shell still says so.
command="sonde info with SONDE_ENABLED=1"
program simple 1000
cp "$file" before
export SONDE_ENABLED=1 SONDE_OUTPUT=$file
recorded
unset SONDE_ENABLED SONDE_OUTPUT
want "reading changed the recording" cmp -s -n "$(stat -c %s before)" "$file" before # an index may follow

# ---- No place for the file

nothing() { # nothing FILE REASON
	file=$1
	program simple 1000
	command="SONDE_OUTPUT=$1"
	unchanged
	want_err "sonde: nothing is recorded: $2"
	file=run.sonde
}
here=$(pwd -P)
nothing no/such/run.sonde "cannot write $here/no/such/run.sonde: No such file or directory"
nothing /proc/run.sonde "cannot write /proc/run.sonde: No such file or directory"
echo precious > text
mkdir directory
file=text
SONDE_ENABLED=1 SONDE_OUTPUT=text keep "$BUILD/prog_simple" 1000
command="SONDE_OUTPUT=text"
unchanged
want_err "sonde: nothing is recorded: $here/text exists and is not a recording; not overwritten"
want "a foreign file was overwritten" [ "$(cat text)" = precious ]
SONDE_ENABLED=1 SONDE_OUTPUT=directory keep "$BUILD/prog_simple" 1000
command="SONDE_OUTPUT=directory"
unchanged
want_err "sonde: nothing is recorded: $here/directory exists and is not a recording; not overwritten"
ln -s elsewhere link
SONDE_ENABLED=1 SONDE_OUTPUT=link keep "$BUILD/prog_simple" 1000
command="SONDE_OUTPUT=link"
unchanged
want "it followed a symbolic link" [ ! -e elsewhere ]
file=run.sonde
if mount -t tmpfs tmpfs directory 2> /dev/null; then
	mount -o remount,ro directory
	nothing directory/run.sonde "cannot write $here/directory/run.sonde: Read-only file system"
	record simple 1000
	umount directory
fi
want "a ring was left after a refusal" [ "$SONDE_FAULTS_SHM" = shared -o -z "$(find /dev/shm -name '*.ring')" ]

# ---- Too few descriptors

for n in 4 5 6 7 8 16; do
	rm -f "$file"
	command="ulimit -n $n"
	# Some test runners leave descriptors open: then the program does not even find its libraries.
	(
		ulimit -n $n
		exec "$BUILD/prog_simple" 1000
	) > /dev/null 2>&1
	[ $? = 3 ] || continue
	(
		ulimit -n $n
		SONDE_ENABLED=1 SONDE_OUTPUT=$file exec "$BUILD/prog_simple" 1000
	) > .out 2> .err
	code=$? out=$(cat .out) err=$(cat .err)
	want_code 3
	want "the output is $out" [ "$(head -n 1 .out),$(tail -n 1 .out)" = half,done ] # its own fopen may fail too
	[ ! -e "$file" ] || recorded
done
want "16 descriptors were not enough: $err" [ -e "$file" ]

# ---- Somebody else touches the file

interfere() { # interfere "what" COMMAND...
	command=$1
	shift
	rm -f "$file"
	SONDE_ENABLED=1 SONDE_OUTPUT=$file start "$BUILD/prog_simple" 1000000 600
	await "the first half" grep -q half .out
	sleep 0.3 # until the writer has written
	"$@"
	wait $!
	code=$? out=$(cat .out) err=$(cat .err)
	unchanged
}
interfere "truncated to nothing" truncate -s 0 "$file"
look
want "$(value n_kept) kept, $(value n_lost) lost" [ $(($(value n_kept) + $(value n_lost))) = 2000000 ]
interfere "truncated" truncate -s 5001 "$file"
look
want "$(value n_kept) kept, $(value n_lost) lost" [ $(($(value n_kept) + $(value n_lost))) = 2000000 ]
interfere "deleted" rm "$file"
want "the deleted file came back" [ ! -e "$file" ]
interfere "replaced" sh -c "rm $file; echo precious > $file"
want "a foreign file was overwritten" [ "$(cat "$file")" = precious ]
rm -f "$file"
interfere "renamed" mv "$file" moved.sonde
look moved.sonde
want_sound
want_events 2000000

# ---- Privileges: a program that has more than its user must not write where the user says

if [ "$(id -u)" = 0 ] && [ "$(awk '{ print $3 }' /proc/self/uid_map)" = 4294967295 ] && command -v setpriv > /dev/null &&
	[ -z "${CFLAGS-}" ]; then
	command="a setuid program"
	chmod 755 "$work"
	cp "$BUILD"/libsonde-rt.so.0 "$work"
	ln -s libsonde-rt.so.0 libsonde-rt.so
	"$CC" -I"$SOURCE/include" -o plain "$SOURCE/tests/programs/simple.c" -L. -lsonde-rt -Wl,-rpath,"$work" ||
		complain "the program was not built"
	cp plain setuid && chmod 4755 setuid
	mkdir open && chmod 777 open
	for program in setuid plain; do
		SONDE_ENABLED=1 SONDE_OUTPUT=$here/open/$program.sonde \
			keep setpriv --reuid 65534 --regid 65534 --clear-groups ./$program 1000
		unchanged
		want_err ""
	done
	want "a setuid program was recorded" [ ! -e open/setuid.sonde ]
	want "nothing was recorded without the bit either: the test tests nothing" [ -e open/plain.sonde ]
fi
finish
