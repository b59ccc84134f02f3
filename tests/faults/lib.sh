# For the scripts of this directory: tests/cli/lib.sh, a /dev/shm of their own, and the questions that they ask.
#
#   program PROG ARGS...   runs prog_PROG under SONDE_ENABLED=1 with the file run.sonde, as VAR=... before it says more
#   alone PROG ARGS...     the same without recording
#   record PROG ARGS...    the same under `sonde record -o run.sonde`
#   start COMMAND...       in the background, as $!, into .out and .err
#   look [FILE...]         reads the recording; then: value KEY (of sonde info), calls NAME (of sonde report)
#   want_value KEY N       want_calls NAME N    want_events N (kept and lost together)    want_sound
#   rounds N               N, or fewer under a sanitizer, or more with SONDE_FAULTS=long: rounds 30 1000
#   skip REASON
#   finish                 also says when a ring was left behind
#
# Programs under test run with a limit of time: one that hangs gets exit code 124.
set -u
if [ -z "${SONDE_FAULTS_SHM-}" ]; then # so that scripts beside each other do not see each other's rings
	export SONDE_FAULTS_SHM=shared
	for how in -m -Urm; do
		if unshare $how mount -t tmpfs tmpfs /dev/shm 2> /dev/null; then
			SONDE_FAULTS_SHM=own exec unshare $how bash -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$0"' "$0"
		fi
	done
fi
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1
ulimit -c 0
case ${CFLAGS-} in
*sanitize*) sanitized=1 ;;
*) sanitized=0 ;;
esac
# Signals are the program's; and a child of a program with threads may have threads of its own.
export ASAN_OPTIONS="handle_segv=0:handle_abort=0:handle_sigbus=0:${ASAN_OPTIONS-}"
export TSAN_OPTIONS="handle_segv=0:handle_abort=0:handle_sigbus=0:die_after_fork=0:${TSAN_OPTIONS-}"
limit=60
file=run.sonde

# In a child the search for leaks looks for the threads of the parent. And fork takes up to a second with all the memory
# that the sanitizers map: n_forks N is N or a few.
forks_in_threads() {
	export ASAN_OPTIONS="detect_leaks=0:$ASAN_OPTIONS"
}
n_forks() {
	[ $sanitized = 0 ] && rounds "$@" || echo 6
}

keep() { # keep COMMAND...: runs it and keeps its code, out and err
	{ timeout -k 5 $limit "$@" > "$work/.out" 2> "$work/.err" < /dev/null; } 2> /dev/null # bash tells of signals
	code=$?
	out=$(cat "$work/.out") err=$(cat "$work/.err")
}

program() {
	command="SONDE_ENABLED=1 prog_$*"
	rm -f "$file"
	SONDE_ENABLED=1 SONDE_OUTPUT=$file keep "$BUILD/prog_$1" "${@:2}"
}

alone() {
	command="prog_$*"
	keep "$BUILD/prog_$1" "${@:2}"
}

record() {
	command="sonde record prog_$*"
	rm -f "$file" "$file".part.*
	keep "$SONDE" record -o "$file" -- "$BUILD/prog_$1" "${@:2}"
}

# start COMMAND...: in the background, with the signals of the foreground; its id is $!
start() {
	(
		trap - INT QUIT
		exec "$@"
	) > .out 2> .err < /dev/null &
}

look() {
	[ $# -gt 0 ] || set -- "$file"
	if ! "$SONDE" info --json "$@" > "$work/.info" 2> "$work/.look" ||
		! "$SONDE" report --csv "$@" > "$work/.csv" 2> "$work/.look"; then
		complain "the recording cannot be read: $(cat "$work/.look")"
		finish
	fi
}

value() {
	sed -n 's/^ "'"$1"'": \([^,]*\),*$/\1/p' "$work/.info"
}

calls() {
	awk -F, -v name="$1" '$1 == name { n += $3 } END { print n + 0 }' "$work/.csv"
}

want_value() {
	[ "$(value "$1")" = "$2" ] || complain "$1 is $(value "$1"), not $2"
}

want_calls() {
	[ "$(calls "$1")" = "$2" ] || complain "$(calls "$1") calls of $1, not $2"
}

want_events() {
	[ $(($(value n_kept) + $(value n_lost))) = "$1" ] ||
		complain "$(value n_kept) events kept and $(value n_lost) lost, not $1 together: $(grep n_lost_ "$work/.info" | tr -d '\n')"
	want_value n_emitted "$1"
}

want_sound() { # but for a block that was cut off at the end
	local key
	for key in n_damaged_blocks skipped_bytes n_unknown_names n_names_refused n_too_deep; do
		want_value $key 0
	done
	want_value first_damage_byte null
}

rounds() {
	if [ "${SONDE_FAULTS-}" = long ]; then
		echo "${2:-$1}"
	else
		echo $(($1 / (1 + 4 * sanitized)))
	fi
}

skip() {
	echo "$(basename "$0" .sh): skipped, $*"
	exit 77
}

await() { # await "what" COMMAND...: until it succeeds, for at most 20 s
	local what=$1
	shift
	for _ in $(seq 2000); do
		"$@" && return
		sleep 0.01
	done
	complain "$what did not come"
}

finish() {
	command="at the end"
	if [ "$SONDE_FAULTS_SHM" = own ] && ls /dev/shm/*.ring > "$work/.rings" 2> /dev/null; then
		complain "rings are left in /dev/shm: $(tr '\n' ' ' < "$work/.rings")"
	fi
	exit $failed
}
