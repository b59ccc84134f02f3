#!/usr/bin/env bash
# Has LTTng-UST record bench_peer_lttng and prints its figures: peers/lttng.sh <build directory> <directory for files>
# Exit code 77: not installed.
#
# The session daemon is our own, with a home of its own, and is gone afterwards; one that runs already (root's, where
# the system starts one) is used and left alone.
set -uo pipefail
. "$(dirname "$0")/../lib.sh"
program=$1/bench_peer_lttng
work=$2

if [ ! -x "$program" ] || ! command -v lttng > /dev/null || ! command -v lttng-sessiond > /dev/null; then
	say "LTTng-UST is not installed (lttng-tools, liblttng-ust-dev)"
	exit 77
fi

daemon=
made=() # files that LTTng leaves behind; noted before it runs, removed only if they are new
for path in /run/lttng "/dev/shm/lttng-ust-wait-8" "/dev/shm/lttng-ust-wait-8-$(id -u)"; do
	[ -e "$path" ] || made+=("$path")
done
LTTNG_HOME=$(mktemp -d) # short: sockets lie in it
export LTTNG_HOME LTTNG_UST_REGISTER_TIMEOUT=-1

# The command, without a daemon of its own making and without waiting forever.
control() {
	timeout 60 lttng -n -q "$@" > /dev/null
}

gone() {
	for _ in {1..50}; do
		kill -0 "$1" 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

clean_up() {
	if [ -n "$daemon" ]; then
		kill "$daemon" 2> /dev/null
		# After an interruption it may wait for data that never comes. It leads its own group of processes.
		gone "$daemon" || kill -KILL -- "-$daemon" 2> /dev/null
	else
		control destroy --no-wait sonde-bench 2> /dev/null
	fi
	rm -rf "$LTTNG_HOME" "$work/lttng"
	for path in "${made[@]}"; do
		if [ -d "$path" ]; then rm -rf "$path"; else rm -f "$path"; fi
	done
}
trap clean_up EXIT

give_up() {
	say "LTTng-UST: $*"
	exit 1
}

begin() {
	rm -rf "$work/lttng"
	# As much memory as Sonde's ring, on two CPUs, so that nothing is discarded.
	control create sonde-bench --output="$work/lttng" &&
		control enable-channel -u -s sonde-bench --subbuf-size=8M --num-subbuf=4 channel &&
		control enable-event -u -s sonde-bench -c channel 'bench:*' &&
		control start sonde-bench
}

discarded() {
	timeout 60 lttng -n list sonde-bench | sed -n 's/.*Discarded events: *//p'
}

lttng-sessiond --daemonize --no-kernel --quiet --pidfile="$LTTNG_HOME/pid" 2> /dev/null &&
	daemon=$(cat "$LTTNG_HOME/pid")
control list 2> /dev/null || give_up "the session daemon does not start"

"$program" --off --json "$work/lttng-off.json" > /dev/null || give_up "cannot run it"

begin || give_up "cannot start a session"
"$program" --batches 60 --json "$work/lttng.json" > /dev/null || give_up "cannot run it"
control stop sonde-bench
[ "$(discarded)" = 0 ] || say "LTTng-UST discarded $(discarded) events: what is dropped is fast"
control destroy sonde-bench
figures "$work/lttng.json" "$work/lttng-off.json"

for round in 1 2 3; do
	begin || give_up "cannot start a session"
	"$program" --flat-out 10000000 --json "$work/lttng-flat-$round.json" > /dev/null || give_up "cannot run it"
	control stop sonde-bench
	figures "$work/lttng-flat-$round.json"
	figure "10 M scopes flat out, lost (worst round)" events "$(discarded)"
	bytes=$(find "$work/lttng" -name 'channel_*' ! -name '*.idx' -printf '%s\n' | awk '{ sum += $1 } END { print sum / 2e7 }')
	figure "10 M scopes flat out, on disk" B/event "$bytes"
	control destroy sonde-bench
done
