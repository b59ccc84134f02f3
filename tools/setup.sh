#!/usr/bin/env bash
# Installs missing Debian packages for a task. Uses neither apt nor the network if nothing is missing. Exit code 4: a
# package is missing and could not be installed.
#
#   tools/setup.sh build|test|browser|bench|fuzz   installs; browser also has playwright-core in build/browser
#   tools/setup.sh --check build|test|...          only lists what is missing
set -euo pipefail
. "$(dirname "$0")/usage.sh"

# The packages of a task, each with what proves that it is there, wherever it came from: a command, or a pkg-config
# module after "pc:". Where only the package itself can tell, it stands alone.
packages() {
	case $1 in
	build)
		echo "gcc=gcc g++=g++ cmake=cmake ninja-build=ninja make=make pkg-config=pkg-config"
		echo "libisal-dev=pc:libisal libzstd-dev=pc:libzstd libsqlite3-dev=pc:sqlite3 libmicrohttpd-dev=pc:libmicrohttpd nodejs=node npm=npm"
		;;
	test)
		packages build
		echo "libcmocka-dev=pc:cmocka clang-14=clang-14 clang-format-14=clang-format-14 groff-base=groff"
		;;
	bench) packages build && echo "lttng-tools=lttng liblttng-ust-dev=pc:lttng-ust uftrace=uftrace libsimdjson-dev=pc:simdjson wrk=wrk" ;;
	browser) echo "nodejs=node npm=npm chromium=chromium" ;;
	fuzz) packages build && echo "clang-14=clang-14 libclang-rt-14-dev" ;;
	*) wrong_usage ;;
	esac
}

is_there() {
	case $1 in
	*=pc:*) pkg-config --exists "${1#*=pc:}" 2> /dev/null ;;
	*=*) command -v "${1#*=}" > /dev/null ;;
	*) [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ] ;;
	esac
}

give_up() {
	echo "setup: $*" >&2
	exit 4
}

only_check=false
if [ "${1-}" = --check ]; then
	only_check=true
	shift
fi
task=${1-}
wanted=$(packages "$task")
missing=()
for entry in $wanted; do
	is_there "$entry" || missing+=("${entry%%=*}")
done
install_missing() {
	$only_check && give_up "missing: ${missing[*]}. 'tools/setup.sh $task' installs that on Debian and Ubuntu."
	command -v apt-get > /dev/null ||
		give_up "missing: ${missing[*]} (Debian's names). Please install that with your system's package manager."
	as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo > /dev/null || give_up "missing: ${missing[*]}. Installing that needs root, and there is no sudo."
		as_root=(sudo)
	fi
	as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)

	echo "setup: updating the list of packages" >&2
	"${as_root[@]}" update >&2 || echo "setup: the list could not be updated; trying with the old one" >&2
	echo "setup: installing ${missing[*]}" >&2
	"${as_root[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
		give_up "apt-get could not install ${missing[*]}"
}

# The library that drives the browser; package-lock.json holds its version and checksum.
install_modules() {
	local from=tests/browser to=build/browser

	cd "$(dirname "$0")/.."
	cmp -s $from/package-lock.json $to/package-lock.json && [ -d $to/node_modules/playwright-core ] && return
	$only_check && give_up "missing: playwright-core. 'tools/setup.sh browser' installs that."
	mkdir -p $to
	cp $from/package.json $from/package-lock.json $to
	(cd $to && npm ci --silent --no-audit --no-fund --ignore-scripts >&2) ||
		{ rm -f $to/package-lock.json && give_up "npm could not install playwright-core"; }
}

[ ${#missing[@]} = 0 ] || install_missing
[ "$task" != browser ] || install_modules
