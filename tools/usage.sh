# For other scripts to source first: the comment that a script begins with is its help.
#
#   . "$(dirname "$0")/usage.sh"    -h or --help: prints it, and that is all
#   wrong_usage                     prints it to stderr and exits with 2

usage() {
	awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"
}

wrong_usage() {
	usage >&2
	exit 2
}

case ${1-} in
-h | --help)
	usage
	exit 0
	;;
esac
