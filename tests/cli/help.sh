#!/usr/bin/env bash
# Help: from the tables of the commands, on stdout, on one screen of 24 x 80.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

want_one_screen() {
	want "more than 23 lines" [ "$(printf '%s\n' "$out" | wc -l)" -le 23 ]
	want "a line of more than 80 columns" [ "$(printf '%s\n' "$out" | wc -L)" -le 80 ]
	want_code 0
	want_err ""
}

run
want_one_screen
list=$out
for args in help --help -h "help help"; do
	run $args
	want_out "$list"
done
want "summaries do not begin in one column: $list" [ "$(sed -n '/^record /,/^$/{/^$/d;s/^\(.\{21\} \).*/\1/;/ $/!p}' <<< "$list")" = "" ]
for group in record look analyze share; do
	want "no group $group" grep -q "^$group " <<< "$list"
done

commands=$(sed -n 's/^COMMAND(\([a-z]*\)).*/\1/p' "$SOURCE/src/cli/commands.def")
want "no commands in commands.def" [ -n "$commands" ]
for name in $commands; do
	want "$name is not listed" grep -q " $name  " <<< "$list"
	run help "$name"
	want_one_screen
	help=$out
	want_in "$help" "usage: sonde $name "
	want_in "$help" "See man sonde-$name."
	want "not three examples" [ "$(grep -c "^  sonde $name" <<< "$help")" = 3 ]
	for args in --help -h; do
		run "$name" $args
		want_out "$help"
		want_code 0
	done
	page=$SOURCE/docs/sonde-$name.md
	want "no $page" [ -f "$page" ]
	# The manual has every option, and no other.
	run help --options "$name"
	want_code 0
	want "options of $name and of $page differ" diff <(sort <<< "$out") \
		<({ echo --help; grep '^\*\*-' "$page" | grep -o -e '--[a-z-]*'; } | sort -u)
	want "sonde.md does not mention it" grep -q "sonde-$name(1)" "$SOURCE/docs/sonde.md"
done

run help show-report
want_in "$out" "usage: sonde report "
run --version
want_code 0
want "no version" grep -q -x 'sonde [0-9]*\.[0-9]*\.[0-9]*' <<< "$out"
finish
