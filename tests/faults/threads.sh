#!/usr/bin/env bash
# Many threads, short threads, and the same name in several of them: every call is counted once.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
limit=120

for clock in tsc monotonic; do
	n=$(rounds 2000000)
	SONDE_CLOCK=$clock program threads count 2 "$n"
	command="$command, clock=$clock"
	want_code 3
	look
	want_sound
	want_calls same $((2 * n))
	want_events $((4 * n))
	want_value n_lost 0
	want_value n_repaired_total 0
done

n=$(rounds 500000)
if [ -x "$BUILD/prog_omp_nested" ]; then
	program omp_nested "$n"
	want_code 3
	look
	want_sound
	want_calls nested $((6 * n))
	want_calls outer 2
	want_value n_lost 0
fi

# ---- Short threads leave nothing behind but their events

# Their chunks are all of the ring that is touched: with a small one, what grows is a leak.
n=$(rounds 100000)
SONDE_BUFFER=2M program threads churn "$n"
want_code 3
read -r early late <<< "$out"
# The sanitizers keep what was freed for a while.
want "the resident memory went from $early to $late KB" [ $sanitized = 1 -o $((late - early)) -le 4096 ]
look
want_sound
want_calls short "$n"
want_value n_lost 0
want_value n_threads "$n"
want_value n_open 0

# ---- More threads than the ring has chunks, none of which gets on without the others

for full in block drop; do
	SONDE_FULL=$full SONDE_BUFFER=256K program threads barrier 200
	command="$command, full=$full"
	want_code 3
	look
	want_sound
	want_calls around 200
	want_calls before 200
	want_calls after 200
	want_value n_lost 0
done
finish
