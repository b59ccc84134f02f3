# For the scripts of this directory: runs a command, keeps what it said, and compares.
#
#   run ARGS...            $SONDE ARGS; then $code, $out and $err hold what came
#   want_code N            want_out TEXT    want_err TEXT    (equal, but for newlines at the end)
#   want_in "$out" PART
#   finish                 at the end: exits with 1 if anything was wrong
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

finish() {
	exit $failed
}
