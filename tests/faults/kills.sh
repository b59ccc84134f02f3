#!/usr/bin/env bash
# A program that is killed at any moment: everything that it did is in the recording, and nothing else.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
RANDOM=${SEED:=$$}
events_a_round=9

counters() {
	od -An -v -t u8 -w128 counters | awk '{ print $1 }'
}

# ---- Judging a recording

# Each thread: the round after the last that it counted may have begun, or ended uncounted.
check_threads() {
	local i=0 n least=0 most=1
	while read -r n; do
		case $(($(calls "work-$i") - n)) in
		0 | 1) ;;
		*) [ "$1" != block ] || complain "work-$i was called $(calls "work-$i") times, it counted $n" ;;
		esac
		least=$((least + n * events_a_round)) most=$((most + (n + 1) * events_a_round)) i=$((i + 1))
	done < <(counters)
	[ $least = 0 ] || n_worked=$((${n_worked-0} + 1)) # a kill may come before the first event; most must not
	want "$(value n_emitted) events, not $least to $most" [ "$(value n_emitted)" -ge $least -a "$(value n_emitted)" -le $most ]
}

check() { # check FULL
	want_sound
	check_threads "$1"
	[ "$1" = block ] || return
	want_value n_lost 0
	want_calls main 1
	want_value n_repaired 0
	want_value n_unmatched_ends 0
	want "$(value n_open) scopes are open" [ "$(value n_open)" -ge 1 -a "$(value n_open)" -le 25 ]
}

# Reading again gives the same: the first reader completed the file.
check_again() {
	cp "$work/.csv" "$work/.first"
	look
	want "the second report differs" cmp -s "$work/.first" "$work/.csv"
	want_value n_recovered 0
}

# ---- Killing

kill_outside() { # kill_outside MS
	command="kill -KILL prog_work after $1 ms"
	rm -f "$file"
	SONDE_ENABLED=1 SONDE_OUTPUT=$file start "$BUILD/prog_work" counters 0 exit 60000
	await "the first round" [ -s counters ]
	sleep "$(printf '0.%03d' "$1")"
	kill -KILL $!
	wait $! 2> /dev/null
	code=$? err=$(cat .err)
}

kill_once() { # kill_once HOW WHERE FULL BUFFER
	local ms=$((20 + RANDOM % 100))
	local -A codes=([kill]=137 [abort]=134 [segv]=139 [outside]=137)
	local -A names=([kill]="9 (SIGKILL)" [abort]="6 (SIGABRT)" [segv]="11 (SIGSEGV)")

	: > counters
	export SONDE_FULL=$3 SONDE_BUFFER=$4
	if [ "$1" = outside ]; then
		kill_outside $ms
	elif [ "$2" = record ]; then
		record work counters 0 "$1" $ms
		want_in "$err" "prog_work was killed by signal ${names[$1]}; "
	else
		program work counters 0 "$1" $ms
	fi
	unset SONDE_FULL SONDE_BUFFER
	command="$command, $2, full=$3, buffer=$4, seed $SEED"
	want_code "${codes[$1]}"
	look
	check "$3"
	check_again
	want "a ring is left: $(ls /dev/shm)" [ "$SONDE_FAULTS_SHM" = shared -o -z "$(find /dev/shm -name '*.ring')" ]
	want "a part is left" [ -z "$(ls "$file".* 2> /dev/null)" ]
}

cases="
	kill program block 64M      outside program block 64M      abort record block 64M
	kill record block 64M       segv program block 1M          outside program block 1M
	abort program block 256K    kill record block 256K         outside program block 256K
	kill program drop 256K      outside program drop 256K      segv record drop 512K
	kill program overwrite 1M   outside program overwrite 2M   abort record overwrite 64M
"
n=0
while [ $n -lt "$(rounds 30 1000)" ] && [ $failed = 0 ]; do
	while read -r -d ' ' how && read -r -d ' ' where && read -r -d ' ' full && read -r -d ' ' buffer; do
		[ $failed = 1 ] || kill_once "$how" "$where" "$full" "$buffer"
		n=$((n + 1))
	done <<< "$(echo $cases) "
done
want "in only ${n_worked-0} of $n kills a thread had got to work" [ $((2 * ${n_worked-0})) -gt $n ]

# ---- The program dies by itself when its threads are done: every event is accounted for, exactly

exactly() { # exactly HOW ROUNDS
	look
	want_sound
	want_events $((8 * $2 * events_a_round + ($1 == 3 ? 2 : 1)))
	for i in 0 1 2 3 4 5 6 7; do
		[ "${SONDE_FULL-block}" != block ] || want_calls work-$i "$2"
	done
	want_calls main 1
}

for full in block drop overwrite; do
	for buffer in 256K 4M 64M; do
		for how in kill exit; do
			export SONDE_FULL=$full SONDE_BUFFER=$buffer
			n=$(rounds 20000)
			program work counters "$n" $how
			command="$command, full=$full, buffer=$buffer"
			[ $how = kill ] && want_code 137 || want_code 3
			exactly $code "$n"
			[ $full = block ] && want_value n_lost 0
			[ $how = kill ] && [ $full = block ] && want_value n_open 1
		done
	done
done
unset SONDE_FULL SONDE_BUFFER

# ---- A killed program that nobody has waited for yet is as dead as any other

command="a zombie"
rm -f "$file"
SONDE_ENABLED=1 SONDE_OUTPUT=$file bash -c '"$0" counters 100 kill & exec sleep 60' "$BUILD/prog_work" 2> /dev/null &
parent=$!
zombie() { grep -qs '^State:.Z' "$(printf '/proc/%s/status' "$(pgrep -P $parent)")"; }
await "the zombie" zombie
look
want_events $((8 * 100 * events_a_round + 1))
want_value n_lost 0
want "the recording still counts as running" grep -q '"state": "recovered"' .info
kill $parent
wait $parent 2> /dev/null
look
finish
