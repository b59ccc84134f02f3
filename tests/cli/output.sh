#!/usr/bin/env bash
# Where results go: stdout or -o FILE, whole or not at all; what happens when they cannot.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

run record -o run.sonde true
want_code 0

run bottlenecks run.sonde
want_code 0
want_in "$out" "no rule could check the trace: the program has no scopes"
want_in "$out" "sonde summary shows the resource use"
run record -o whole.sonde "$BUILD/prog_simple"
head -c 1000 whole.sonde > cut.sonde
run bottlenecks cut.sonde
want_in "$out" "no rule could check the trace: the rest of the recording has no scopes"
for name in report summary info; do
	run $name missing.sonde
	want_code 3
	want_out ""
	want_in "$err" "sonde: missing.sonde: "
	want "more than one line" [ "$(wc -l < "$work/.err")" = 1 ]
	echo "this is no recording" > text
	run $name text
	want_code 3
	want_out ""
	want_in "$err" "sonde: text: "

	run $name run.sonde
	want_code 0
	want_err ""
	text=$out
	want "a line of more than 80 columns" [ "$(printf '%s\n' "$out" | wc -L)" -le 80 ]
	want "an escape sequence" [ "$(grep -c $'\e' <<< "$out")" = 0 ]
	run $name -o out.txt run.sonde
	want_code 0
	want_out ""
	want_err ""
	want "the file differs from stdout" [ "$(cat out.txt)" = "$text" ]
	want "out.txt is not private" [ "$(stat -c %a out.txt)" = 600 ]
	run $name run.sonde -o- # operands and options in any order
	want_out "$text"
	run $name --color=always run.sonde
	want_code 0
	run $name --json run.sonde
	want_code 0
	want_in "$out" "\"schema\": \"sonde.$name/1\""
	if command -v python3 > /dev/null; then
		want "no JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' .out
	fi
	run $name --csv run.sonde
	want_code 0
	want "a line without CRLF" [ "$(grep -c $'\r$' .out)" = "$(wc -l < .out)" ]
done

run report --csv run.sonde
want_in "$out" "name,category,calls,total_ns,self_ns,avg_ns,min_ns,max_ns,std_ns,percent,p50_ns,p95_ns,p99_ns"
run report --sort nonsense run.sonde
want_code 2

# The end of the file's name chooses the format; an option wins.
mkdir ends && cd ends || exit 1
looks_like() { # looks_like FORMAT FILE
	case $1 in
	json) head -c 1 "$2" | grep -q '[{]' ;;
	csv) head -n 1 "$2" | grep -q $',.*\r$' ;;
	markdown) head -n 1 "$2" | grep -q '^## ' ;;
	html) head -n 1 "$2" | grep -q '^<!doctype html>' ;;
	text) [ -s "$2" ] && ! grep -q -E '^([{]|## |<!doctype|.*,.*\r$)' "$2" ;;
	esac
}
for asked in "report" "summary" "info" "hta" "bottlenecks" "analyze report" "compare ../whole.sonde" "query" "doctor"; do
	files=(../whole.sonde)
	[ "$asked" = doctor ] && files=()
	[ "$asked" = query ] && files=(../whole.sonde "select 1 as a, 2 as b")
	for end in json:json csv:csv md:markdown html:html HTML:html txt:text other:text; do
		name=x.${end%:*}
		case $asked.$name in query.x.md | query.x.[hH]* | doctor.x.[mchH]*) continue ;; esac
		# shellcheck disable=SC2086
		run $asked -o $name "${files[@]}"
		want_code 0
		want "$name does not look like ${end#*:}: $(head -n 1 $name)" looks_like "${end#*:}" $name
	done
	# shellcheck disable=SC2086
	run $asked --json -o y.html "${files[@]}"
	want_code 0
	want "the name wins over the option" looks_like json y.html
	# shellcheck disable=SC2086
	run $asked -o z.svg "${files[@]}"
	want_code 2
	want_in "$err" "cannot write 'z.svg'; supported: .txt, .json"
	want "z.svg was written" [ ! -e z.svg ]
done
run query -o z.html ../whole.sonde "select 1"
want_code 2
want_in "$err" "cannot write 'z.html'; supported: .txt, .json, .csv"
run query --csv -o z.html ../whole.sonde "select 1"
want_code 0
run export -o z.csv ../whole.sonde
want_code 2
want_in "$err" "cannot write 'z.csv'; supported: .json"
for asked in "import -o z.json ../whole.sonde" "merge -o z.json ../whole.sonde ../run.sonde" "record -o z.json true"; do
	# shellcheck disable=SC2086
	run $asked
	want_code 2
	want_in "$err" "cannot write 'z.json'; supported: .sonde"
done
cd .. && rm -r ends

# What is read is not written, nor is another recording: a slip of the finger must not cost anyone their trace.
mkdir traces
echo '[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]' > traces/a.json
ln -s a.json traces/link
cp traces/a.json before.json
cp run.sonde before.sonde
for asked in "report -o run.sonde run.sonde" "export -o run.sonde run.sonde" "query -o run.sonde run.sonde select" \
	"flame -o run.sonde run.sonde" "compare -o run.sonde traces/a.json run.sonde" "export -o traces/a.json traces/a.json" \
	"export -o traces/link traces/a.json" "report --json -o traces/a.json traces" "import -o run.sonde run.sonde"; do
	# shellcheck disable=SC2086
	run $asked
	want_code 2
	want_in "$err" ": is an input file and cannot be overwritten; use -o FILE"
done
run report --html -o traces/report.html traces
run report --html -o traces/report.html traces # again: it is not read
want_code 0
run merge -o traces/all.sonde traces
run merge -o traces/all.sonde traces
want_code 0
rm traces/all.sonde
run report -o run.sonde traces
want_code 4
want_err "sonde: run.sonde: exists and is a Sonde file; not overwritten"
want "a trace was overwritten" cmp -s traces/a.json before.json
want "a recording was overwritten" cmp -s run.sonde before.sonde
rm -r traces before.json before.sonde

# A file appears whole or not at all, and what was there stays.
echo old > kept
run report -o kept missing.sonde
want_code 3
want "the old file is gone" [ "$(cat kept)" = old ]
ln -s kept link
run report -o link run.sonde
want_code 0
want "the link was replaced" [ -L link ]
want "the file behind the link was not written" [ "$(cat kept)" != old ]
run report -o no/such/directory run.sonde
want_code 4
want_err "sonde: no/such/directory: cannot write: No such file or directory"
run report -o . run.sonde
want_code 4
run report -o /dev/null run.sonde
want_code 0
want "/dev/null was replaced" [ -c /dev/null ]
want "a temporary file is left" [ -z "$(ls -A | grep -E '\.[A-Za-z0-9]{6}$')" ]

# A full disk is an error, a reader that has seen enough is not.
for args in "report run.sonde" "report --json run.sonde" "export run.sonde" "help" "doctor"; do
	command="sonde $args > /dev/full"
	"$SONDE" $args > /dev/full 2> .err
	code=$? err=$(cat .err)
	want_code 4
	want_in "$err" "No space left on device"
	want "more than one line" [ "$(wc -l < .err)" = 1 ]
	command="sonde $args | true"
	{ "$SONDE" $args 2> .err; } | true
	want "said something: $(cat .err)" [ ! -s .err ]
	(trap '' PIPE; "$SONDE" $args 2> .err; echo $? > .code) | true
	want "said something: $(cat .err)" [ ! -s .err ]
	want "exit code $(cat .code)" [ "$(cat .code)" = 0 ]
done

# Width: COLUMNS when there is no terminal.
for width in 40 60 120; do
	COLUMNS=$width
	export COLUMNS
	run report run.sonde
	want "wider than $width" [ "$(printf '%s\n' "$out" | head -n 1 | wc -L)" -le $width ]
done
unset COLUMNS

# A terminal gets colour unless it does not want it.
if script -q -e -c true /dev/null > /dev/null 2>&1; then
	on_terminal() { TERM=xterm script -q -e -c "'$SONDE' $*" /dev/null < /dev/null; }
	command="sonde on a terminal"
	want "no colour" grep -q $'\e\[1m' <(on_terminal report run.sonde)
	want "colour in spite of --color=never" [ "$(on_terminal report --color=never run.sonde | grep -c $'\e\[1m')" = 0 ]
	export NO_COLOR=1
	want "colour in spite of NO_COLOR" [ "$(on_terminal report run.sonde | grep -c $'\e\[1m')" = 0 ]
fi
finish
