#!/usr/bin/env bash
# A process and its child that both record, whoever ends first: each has its own file, and none takes another's place.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
forks_in_threads

is_gone() {
	case $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2> /dev/null) in
	"" | Z | X) ;;
	*) return 1 ;;
	esac
}

# The parent's scopes and the child's, in files that are given
want_both() { # want_both ORDER FILES...
	look "${@:2}"
	want_sound
	want_calls parent "$([ "$1" = parent ] && echo 10 || echo 20)"
	want_calls child 20
	want_value n_lost 0
	want_value n_unmatched_ends 0
	want_value n_open 0
}

code_of() {
	case $1 in
	daemon) echo 0 ;;
	*) echo 3 ;;
	esac
}

await_child() {
	await "the child" [ -s child ]
	child=$(cat child)
	await "the end of the child" is_gone "$child"
}

cases="return parent  return child  exit parent  exit child  _exit parent  _exit child
	double parent  exec parent  exec child  daemon parent"

# ---- By themselves

for output in run.sonde run.%p.sonde; do
	while read -r -d ' ' way && read -r -d ' ' order; do
		rm -f run*.sonde child
		file=$output
		program family "$way" "$order"
		command="$command, $output"
		want_code "$(code_of "$way")"
		await_child
		want "not two files: $(ls)" [ "$(ls run*.sonde | wc -l)" = 2 ]
		[ $output != run.sonde ] || want "the child's file: $(ls)" [ -e "run.$child.sonde" ]
		want_both "$order" run*.sonde
	done <<< "$(echo $cases) "
done

# ---- Under sonde record

# A process may be anywhere between exec and its first event when sonde record ends, so this is tried often.
exec_parent=$(printf 'exec parent  %.0s' {1..10})
file=run.sonde
while read -r -d ' ' way && read -r -d ' ' order; do
	rm -f run* child go
	record family "$way" "$order" go
	want_code "$(code_of "$way")"
	await "the child" [ -s child ]
	child=$(cat child)
	if [ "$order" = parent ]; then # the child has not even begun to record, unless it was started again
		want_in "${err/ may record into / records into }" "sonde: process $child (prog_family) still runs and records into run.sonde.part.$child"
		[ "$way" = exec ] || want_in "$err" "may record into"
		want_in "$err" "sonde report run.sonde"
		look
		want_calls parent 10
		: > go
		await_child
		look "run.sonde.part.$child"*
		want_calls child 20
	else
		want "it says that something runs: $err" [ "${err/still runs/}" = "$err" ]
		want "not one file: $(ls)" [ "$(ls run*)" = run.sonde ]
	fi
	want_both "$order" run.sonde
done <<< "$(echo $cases $exec_parent) "

# ---- Many children that end without telling

n_rings() {
	find /dev/shm -name '*.ring' | wc -l
}
n=$(n_forks 300)
for how in program record; do
	rm -f run*
	$how family many "$n"
	want_code 3
	[ $how = record ] || want "$(ls run* | wc -l) files, not $((n + 1))" [ "$(ls run* | wc -l)" = $((n + 1)) ]
	[ $how = program ] || want "not one file: $(ls)" [ "$(ls run*)" = run.sonde ]
	[ $how = program ] || want "rings are left" [ "$SONDE_FAULTS_SHM" = shared -o "$(n_rings)" = 0 ]
	look run*.sonde
	want_sound
	want_calls parent 20
	want_calls child $((20 * n))
	want_value n_lost 0
	want "rings are left by a reader" [ "$SONDE_FAULTS_SHM" = shared -o "$(n_rings)" = 0 ]
done

# ---- Where /dev/shm has no room: the rings of both lie beside their files

if [ "$SONDE_FAULTS_SHM" = own ]; then
	mount -t tmpfs -o size=64k tmpfs /dev/shm
	rm -f run* child
	program family return child
	command="$command, a small /dev/shm"
	want_code 3
	want_err ""
	want "not two files: $(ls)" [ "$(ls run* | wc -l)" = 2 ]
	want_both child run*.sonde
	umount /dev/shm
fi
finish
