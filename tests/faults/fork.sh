#!/usr/bin/env bash
# fork, vfork, exec and daemons: each process records for itself, nothing twice, nothing into a file of the program.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
forks_in_threads
pattern=$file
limit=120

look_all() {
	look run*.sonde
	want_sound
	want_value n_lost 0
	want_value n_unmatched_ends 0
}

# Its file and those of its processes; run.%p.sonde
family() {
	rm -f run*.sonde
	file=run.%p.sonde
	program "$@"
	file=$pattern
}

# ---- fork with threads that record

n=$(n_forks 200)
family fork loop "$n"
want_code 3
want "not one number: $out $err" [ "$out" -gt 0 ]
want "$(ls run*.sonde | wc -l) files, not $((n + 1))" [ "$(ls run*.sonde | wc -l)" = $((n + 1)) ]
look_all
want_calls work "$out"
want_calls child $((10 * n))
want_calls begin $((n + 1))
want_value n_open 0

rm -f run*.sonde
record fork loop "$n"
want_code 3
look_all
want_calls work "$out"
want_calls child $((10 * n))
want_calls begin $((n + 1))
want "not all in one file: $(ls)" [ "$(ls run*)" = run.sonde ]

# One name for all: the children take others.
rm -f run*.sonde
program fork loop 3
want_code 3
want "$(ls run*.sonde | wc -l) files, not 4" [ "$(ls run*.sonde | wc -l)" = 4 ]
look_all
want_calls child 30

# ---- vfork and posix_spawn

n=$(n_forks 1000)
family fork spawn "$n"
want_code 3
want "not one number: $out" [ "$out" -gt 0 ]
want "a child that only execs left a file" [ "$(ls run*.sonde | wc -l)" = 1 ]
look_all
want_calls work "$out"

# ---- exec

family fork exec 5
want_code 3
look_all
want_calls image 600
want_calls begin 6
want_events 1212
rm -f run*.sonde
record fork exec 5
want_code 3
look_all
want_calls image 600
want_events 1212
want "not all in one file: $(ls)" [ "$(ls run*)" = run.sonde ]

# ---- A daemon that closes every descriptor

for how in family record; do
	rm -rf run*.sonde own && mkdir own
	$how fork daemon own
	want_code 3
	want_out ""
	want "$(ls own | wc -l) files of its own" [ "$(ls own | wc -l)" = 300 ]
	cat own/* | tr '\0' '0' | uniq -c | tr -d ' ' > .own
	want "something was written to a file of the program: $(head -n 5 .own)" [ "$(cat .own)" = 300precious ]
	look_all
	want_calls daemon 300000
	want_calls "daemon 0" 1
	want_calls "daemon 2999" 1
done
rm -f run*.sonde
finish
