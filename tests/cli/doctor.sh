#!/usr/bin/env bash
# sonde doctor on machines that are not this one: trees with the files that it reads.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

put() { # put FILE TEXT
	mkdir -p "root/$(dirname "$1")" && printf '%s\n' "$2" > "root/$1"
}

doctor() { # sets checks: what stands above the rings, whose paths may be long
	run doctor
	checks=$(sed '1,2d; /^$/,$d' .out)
	want "a line of more than 80 columns" [ "$(printf '%s\n' "$checks" | wc -L)" -le 80 ]
}

doctor
want_code 0
want_err ""
want "a line that does not begin with a state" \
	[ "$(grep -c -v -E '^((ok|limited|missing) +[a-z-]| {20}[a-z])' <<< "$checks")" = 0 ]
run doctor --json
want_code 0
want_in "$out" '"schema": "sonde.doctor/1"'
if command -v python3 > /dev/null; then
	want "no JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["can_record"] is True
assert {c["state"] for c in d["checks"]} <= {"ok", "limited", "missing"}
assert all(c["name"] and c["text"] for c in d["checks"])' .out
fi

# Of a limit that is too small for the ring programs say that nothing is recorded.
command="sonde doctor with ulimit -f"
for limit in 4355 4356; do
	out=$(ulimit -f $limit && "$SONDE" doctor)
	code=$?
	want_code $((limit < 4356 ? 4 : 0))
	want_in "$out" "file size  RLIMIT_FSIZE: 4.25 MiB"
done
want_in "$out" "recordings end there: ulimit -f unlimited"
(ulimit -f 4355 && SONDE_ENABLED=1 SONDE_OUTPUT=run.sonde "$BUILD/prog_simple" 1 > .out)
want "recorded below the limit" [ ! -e run.sonde ]
(ulimit -f 4356 && SONDE_ENABLED=1 SONDE_OUTPUT=run.sonde "$BUILD/prog_simple" 1 > .out)
want "not recorded at the limit" [ -e run.sonde ]

# The ring of a program that was killed: what saves it and what frees it are commands that do so.
left_by_kill() { # left_by_kill FILE: sets pid and ring; no ring where /dev/shm has no room
	SONDE_ENABLED=1 SONDE_OUTPUT=$1 "$BUILD/prog_live" 60 > .live 2>&1 &
	pid=$!
	until [ "$(stat -c %s "$1" 2> /dev/null || echo 0)" -gt 1024 ]; do kill -0 $pid || break; done
	kill -KILL $pid
	wait $pid 2> /dev/null
	ring=$(find /dev/shm -name "sonde-$(id -u)-$pid-*.ring" 2> /dev/null)
}
said_of_ring() { # what doctor says about $ring
	run doctor
	awk -v ring="$ring" '$0 == ring { on = 1 } on && !NF { exit } on' .out
}
left_by_kill "a run.sonde"
if [ -n "$ring" ]; then
	said=$(said_of_ring)
	want_in "$said" " of prog_live, process $pid (ended)
  recording: $work/a run.sonde
  save its events and free it: sonde report '$work/a run.sonde'
  free it without its events: rm $ring"
	run doctor --json
	want_in "$out" "\"pid\": $pid, \"program\": \"prog_live\", \"recording\": \"$work/a run.sonde\", \"has_events\": true, \"can_save\": true"
	mv "a run.sonde" moved.sonde
	want_in "$(said_of_ring)" "  its events cannot be saved: the recording does not exist"
	cp run.sonde "a run.sonde"
	want_in "$(said_of_ring)" "  its events cannot be saved: the recording does not exist"
	mv moved.sonde "a run.sonde"
	(PATH=$(dirname "$SONDE"):$PATH && eval "$(grep -o 'sonde report .*' <<< "$said")") > .out
	want "the command does not free the ring" [ ! -e "$ring" ]
	want "the command does not save the events" [ -z "$(said_of_ring)" ]
	left_by_kill run2.sonde
	eval "$(said_of_ring | grep -o 'rm .*')"
	want "the command does not free the ring" [ ! -e "$ring" ]
fi

export SONDE_DOCTOR_ROOT=$work/root
put proc/sys/kernel/osrelease 6.1.0-test
put proc/meminfo "MemTotal:       16384000 kB
MemFree:        1 kB
MemAvailable:   8192000 kB"
put proc/cpuinfo "processor : 0
flags           : fpu tsc constant_tsc nonstop_tsc"
put sys/devices/system/clocksource/clocksource0/current_clocksource tsc
put sys/devices/system/cpu/online 0-3
put proc/sys/kernel/perf_event_paranoid 2
put proc/sys/kernel/yama/ptrace_scope 1
mkdir -p root/dev/shm
doctor
want_code 0
want_in "$out" "ok       kernel     Linux 6.1.0-test"
want_in "$out" "ok       memory     7.81 GiB available of 15.6 GiB"
want_in "$out" "ok       perf       perf_event_paranoid is 2"
want_in "$out" "ok       ptrace     ptrace_scope is 1"
want_in "$out" "(online: 0-3)"
want_in "$out" "ok       left       no ring of a killed program in /dev/shm"
# Of this user's processes one is gone; the others run, or are another's, or no rings.
(exit 0) &
gone=$!
wait $gone
start=$(printf %x "$(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 20)")
truncate -s 8M "root/dev/shm/sonde-$(id -u)-$$-$start.ring" "root/dev/shm/sonde-$(id -u).ring" \
	"root/dev/shm/sonde-$(($(id -u) + 1))-$gone-1.ring"
doctor
want_in "$out" "ok       left "
head -c 1M /dev/zero > "root/dev/shm/sonde-$(id -u)-$gone-1.ring"
doctor
want_in "$out" "limited  left       1 ring of killed programs, 1.00 MiB in /dev/shm; see below"
ring=$work/root/dev/shm/sonde-$(id -u)-$gone-1.ring
want_in "$out" "
$ring
  1.00 MiB of a program, process $gone (ended)
  recording: unknown
  it has no events to save
  free it: rm $ring"
# A process that is not seen from here, as of a container, still holds the file.
if command -v flock > /dev/null; then
	exec 8< "$ring" && flock -n 8
	doctor
	want_in "$out" "ok       left "
	exec 8<&-
fi
rm root/dev/shm/*
if [ "$(uname -m)" = x86_64 ]; then
	want_in "$out" "ok       clock      invariant TSC, clocksource tsc: time stamps by TSC"
	put sys/devices/system/clocksource/clocksource0/current_clocksource hpet
	doctor
	want_in "$out" "limited  clock      invariant TSC, clocksource hpet: by clock_gettime"
	put proc/cpuinfo "flags : tsc constant_tsc_not nonstop_tsc"
	doctor
	want_in "$out" "limited  clock      no invariant TSC"
fi
put proc/sys/kernel/perf_event_paranoid 4
put proc/sys/kernel/yama/ptrace_scope 2
put proc/meminfo "MemTotal:       163840 kB
MemAvailable:   81920 kB"
rmdir root/dev/shm
doctor
want_code 0
want_in "$out" "limited  perf       perf_event_paranoid is 4"
want_in "$out" "limited  ptrace     ptrace_scope is 2;"
want_in "$out" "limited  memory     80.0 MiB available of 160 MiB;
                    record with a smaller --buffer"
want_in "$out" "limited  ring       /dev/shm: No such file or directory"

# Files of a hostile or empty machine do no harm.
put proc/sys/kernel/osrelease $'\e[31mred'
doctor
want_in "$out" "Linux ?[31mred"
rm -rf "$work/root" && mkdir "$work/root" || exit 1
doctor
want_code 0

# Where nothing can be written nothing can be recorded.
if [ "$(id -u)" != 0 ]; then
	mkdir locked && chmod 500 locked && cd locked || exit 1
	doctor
	want_code 4
	want_in "$out" "missing  output"
	want_in "$out" "Recording will not work here"
fi
finish
