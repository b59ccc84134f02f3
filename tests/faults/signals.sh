#!/usr/bin/env bash
# Events in signal handlers: whatever they interrupt, every event is kept or counted as lost.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1

# A handler that came while its thread changed chunks loses events, and only then may scopes of it have lost an end.
check() {
	local n_rounds n_handled n_events
	want_code 3
	want_err ""
	read -r n_rounds n_handled n_events <<< "$out"
	want "the handler never ran" [ "$n_handled" -gt 10 ]
	look
	want_sound
	want_events "$n_events"
	[ "${SONDE_FULL-block}" = block ] || return
	want_value n_lost "$(value n_lost_signal)"
	want_calls round "$n_rounds"
	want_calls "round args" "$n_rounds"
	want_calls "round inner" "$n_rounds"
	want "$(calls handler) of $n_handled calls of the handler" \
		[ $(($(calls handler) + $(value n_lost))) -ge "$n_handled" -a "$(calls handler)" -le "$n_handled" ]
	want "$(value n_open) open, $(value n_repaired) repaired, $(value n_unmatched_ends) unmatched, $(value n_lost) lost" \
		[ $(($(value n_open) + $(value n_repaired) + $(value n_unmatched_ends))) -le "$(value n_lost)" ]
	want "$(value n_clamped) time stamps were wrong" [ "$(value n_clamped)" -le $((6 * n_handled)) ]
}

for clock in tsc monotonic; do
	for setting in "block 64M" "block 256K" "drop 256K" "overwrite 512K"; do
		read -r SONDE_FULL SONDE_BUFFER <<< "$setting"
		export SONDE_FULL SONDE_BUFFER SONDE_CLOCK=$clock
		program signals timer "$(rounds 600 10000)"
		command="$command, clock=$clock, $setting"
		check
	done
done
unset SONDE_FULL SONDE_BUFFER SONDE_CLOCK
# Under a sanitizer an event is so many instructions that with a handler in between none comes to an end.
if [ "$(uname -m)" = x86_64 ] && [ $sanitized = 0 ]; then
	program signals step "$(rounds 300 3000)"
	check
	SONDE_BUFFER=256K program signals step "$(rounds 150 3000)"
	check
	# More chunks with an unfinished event than the writer holds: it must let go of those that are finished.
	SONDE_FULL=overwrite SONDE_BUFFER=512K program signals step "$(rounds 900 3000)"
	SONDE_FULL=overwrite check
	SONDE_CLOCK=monotonic program signals step "$(rounds 30 1000)"
	check
	program signals step 0
	want_code 3
fi
finish
