#!/usr/bin/env bash
# Wrong usage: one line on stderr that says what was meant, nothing on stdout, exit code 2.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

refuse() { # refuse "message" ARGS...
	local message=$1
	shift
	run "$@"
	want_code 2
	want_out ""
	want_err "sonde: $message"
}

: > run.sonde
refuse "no command 'reprot'; did you mean 'report'?" reprot run.sonde
refuse "no command 'recrod'; did you mean 'record'?" recrod ./train
refuse "no command 'show-reprot'; did you mean 'show-report'?" show-reprot
refuse "no command 'hepl'; did you mean 'help'?" hepl
refuse "no command 'xyzzy'; sonde help lists the commands" xyzzy
refuse "no command 'run.sonde'; to report on that file: sonde report run.sonde" run.sonde
refuse "no command 'reprot'; did you mean 'report'?" help reprot
refuse "no command '--frobnicate'; sonde help lists the commands" --frobnicate

refuse "report: no FILE given; see sonde report --help" report
refuse "report: no option '--tpo'; did you mean '--top'?" report --tpo 3 run.sonde
refuse "report: no option '--xyzzy'; see sonde report --help" report --xyzzy=1 run.sonde
refuse "report: no option '-x'; see sonde report --help" report -x run.sonde
refuse "report: --top needs N; see sonde report --help" report --top
refuse "report: --top needs a number from 1 to 1000000000, not '0'; see sonde report --help" report --top 0 run.sonde
refuse "report: --top needs a number from 1 to 1000000000, not '-1'; see sonde report --help" report --top=-1 run.sonde
refuse "report: --tree takes no value; see sonde report --help" report --tree=1 run.sonde
for steps in 3..1 .. x 1..x '' 1..2..3 99999999999999999999 1:2; do
	refuse "report: --steps needs A..B (A <= B), A, A.. or ..B, not '$steps'; see sonde report --help" \
		report --steps "$steps" run.sonde
done
refuse "report: --color does not accept 'alway'; did you mean 'always'?" report --color alway run.sonde
refuse "report: --json and --csv exclude each other; see sonde report --help" report --json --csv run.sonde
refuse "summary: no option '--tree'; see sonde summary --help" summary --tree run.sonde
refuse "info: no FILE given; see sonde info --help" info --json
refuse "export: no format 'chrmoe'; did you mean 'chrome'?" export --format chrmoe run.sonde
refuse "export: no FILE given; see sonde export --help" export -o x
refuse "doctor: unexpected argument 'x'; see sonde doctor --help" doctor x
refuse "record: no program given; see sonde record --help" record -o x
refuse "record: no program given; see sonde record --help" record --
refuse "record: --full does not accept 'blok'; did you mean 'block'?" record --full blok true
refuse "record: --activities does not accept 'gpus'; choose cpu, memory, device; see sonde record --help" record --activities cpu,gpus true
refuse "record: --buffer needs a size from 256 KiB to 64.0 GiB, such as 64M, not '1K'; see sonde record --help" \
	record --buffer 1K true
for size in x 64X 64Mx 999999999999999999999 -1M 65G; do
	refuse "record: --buffer needs a size from 256 KiB to 64.0 GiB, such as 64M, not '$size'; see sonde record --help" \
		record --buffer "$size" true
done
refuse "record: --interval needs a number from 1 to 3600000, not '0'; see sonde record --help" record --interval 0 true
want "wrong usage left a file behind" [ "$(ls)" = run.sonde ]

# Names and messages cannot control the terminal.
run report $'evil\e[31m\n'
want_code 3
want_in "$err" "sonde: evil?[31m?: "
finish
