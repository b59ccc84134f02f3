#!/usr/bin/env bash
# The settings of a recording have one name and one default: in the list, in --help, in the manuals and in the header.
. "$(dirname "$0")/lib.sh"

list=$SOURCE/src/base/record_settings.def
rows=$(tr -d '\n' < "$list" | grep -o 'SETTING[A-Z_]*([a-z]*, [A-Z]*, [A-Z]*, "[^"]*"' | sed 's/(/ /; s/, / /g')
want "the list is not understood" [ "$(printf '%s\n' "$rows" | wc -l)" -ge 12 ]

run help --options record
options=$out
while read -r macro name variable kind value; do
	value=${value//\"/}
	want "SONDE_$variable is not in docs/recording.md" grep -q "\`SONDE_$variable\`" "$SOURCE/docs/recording.md"
	[ "$kind" != SIZE ] ||
		want "SONDE_$variable has another default in docs/recording.md" \
			grep -q "\`SONDE_$variable\`.*| \`$value\`" "$SOURCE/docs/recording.md"
	[ "$macro" = SETTING_VARIABLE ] && continue
	want "--$name is no option" grep -q -- "--$name\b" <<< "$options"
	want "--$name is not in its manual" grep -q -- "--$name\b" "$SOURCE/docs/sonde-record.md"
	[ "$macro" = SETTING_NO_FIELD ] && continue
	want "sonde_config has no field $name" \
		grep -q "^	[a-z_0-9 ]*[ *]$name;" <(sed -n '/^typedef struct sonde_config/,/^}/p' "$SOURCE/include/sonde/record.h")
done <<< "$rows"

# An option does what its variable does, and wins over it.
program=$BUILD/prog_leaks
for how in "" "--memory 0" "--memory off" "--activities cpu"; do
	run record -o a.sonde $how "$program"
	n=$("$SONDE" report --json a.sonde | grep -c '"allocated_bytes"')
	if [ -z "$how" ]; then
		want "no memory by default" [ "$n" -gt 0 ]
	else
		want "memory in spite of $how" [ "$n" = 0 ]
	fi
done
SONDE_MEMORY=0 run record -o a.sonde --memory 1 "$program"
want "the variable won" grep -q '"allocated_bytes"' <("$SONDE" report --json a.sonde)
run record --clock monotonic -o a.sonde "$program"
want "another clock" grep -q monotonic <("$SONDE" info a.sonde)
run record --stacks maybe "$program"
want_code 2
want_in "$err" "--stacks"
finish
