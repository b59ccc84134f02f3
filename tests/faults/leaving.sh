#!/usr/bin/env bash
# A recording that ends while threads are in the middle of it: every scope that was complete by then is kept or counted
# as lost.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
threads=8

# What the threads completed in recording number $1, counted from 0
completed() {
	od -An -v -t u8 -w128 counters | awk -v from=$(($1 * threads)) -v n=$threads 'NR > from && NR <= from + n { sum += $1 } END { print sum + 0 }'
}

# Each thread may have completed one scope after the end of the recording, or one without counting it.
check() { # check COMPLETED UNMATCHED_ENDS
	local difference=$(($(value n_kept) + $(value n_lost) - 2 * $1))
	want "$1 scopes completed, but $(value n_kept) events kept and $(value n_lost) lost" \
		[ $difference -ge $((-2 * threads)) -a $difference -le $((2 * threads)) ]
	want_sound
	[ "${SONDE_FULL-block}" = block ] || return
	want_value n_lost 0
	want "$(value n_unmatched_ends) ends without a begin" [ "$(value n_unmatched_ends)" -le "$2" ]
	want "$(value n_open) scopes are open" [ "$(value n_open)" -le $threads ]
}

n=$(rounds 200000)
for setting in "block 64M 20" "block 256K 5" "drop 256K 5" "overwrite 1M 5"; do
	read -r SONDE_FULL SONDE_BUFFER times <<< "$setting"
	export SONDE_FULL SONDE_BUFFER
	for i in $(seq "$(rounds "$times" $((20 * times)))"); do
		program leaving counters "$n"
		command="$command, $setting, round $i"
		want_code 3
		look
		check "$(completed 0)" 0
	done
done
unset SONDE_BUFFER

for SONDE_FULL in block drop overwrite; do
	export SONDE_FULL
	rm -f leaving-*.sonde
	alone leaving counters "$n" stop
	want_code 3
	for i in 1 2 3 4 5; do
		command="prog_leaving stop, $SONDE_FULL, recording $i"
		look "leaving-$i.sonde"
		check "$(completed $((i - 1)))" $threads # of scopes that were begun in the recording before
	done
done
finish
