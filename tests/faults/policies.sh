#!/usr/bin/env bash
# What happens when events come faster than they can be written is what was asked for, and exactly accounted for.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
n=$(rounds 100000)
n_events=$((8 * n * 9 + 2))

for buffer in 256K 1M 64M; do
	SONDE_FULL=block SONDE_BUFFER=$buffer program work counters "$n" exit
	command="$command, block, $buffer"
	want_code 3
	look
	want_sound
	want_events $n_events
	want_value n_lost 0
	want_value n_open 0
	for i in 0 1 2 3 4 5 6 7; do
		want_calls work-$i "$n"
		want_calls "inner" $((8 * n))
	done
done

SONDE_FULL=drop SONDE_BUFFER=256K program work counters "$n" exit
want_code 3
look
want_sound
want_events $n_events
want "nothing was dropped: the test tests nothing" [ "$(value n_lost_full)" -gt 0 ]
want_value n_lost "$(value n_lost_full)"

SONDE_FULL=overwrite SONDE_BUFFER=1M program work counters "$n" exit
want_code 3
look
want_sound
want_events $n_events
want_value n_lost "$(value n_lost_overwritten)"
want "nothing was overwritten: the test tests nothing" [ "$(value n_lost_overwritten)" -gt 0 ]
want "only $(value n_kept) events were kept in 1 MiB" [ "$(value n_kept)" -gt 20000 ]
want_value n_open 0 # the newest ones are there

# The same through sonde record
SONDE_ENABLED=0
command="sonde record --full"
keep "$SONDE" record --full drop --buffer 256K -o "$file" -- "$BUILD/prog_work" counters "$n" exit
want_code 3
look
want_events $n_events
keep "$SONDE" record --full overwrite --buffer 1M -o "$file" -- "$BUILD/prog_work" counters "$n" exit
want_code 3
look
want_events $n_events
want "nothing was overwritten" [ "$(value n_lost_overwritten)" -gt 0 ]
finish
