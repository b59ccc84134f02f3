#!/usr/bin/env bash
# What is installed works for others, also after the directory was moved: a program built with pkg-config, one with
# find_package(sonde), the command, the manual pages.
set -euo pipefail
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
unset DESTDIR

cmake --install "$BUILD" --prefix "$work/first" > /dev/null
mv "$work/first" "$work/moved"
cd "$work"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig

fail() {
	echo "install: $*" >&2
	exit 1
}

cat > recorded.c <<'EOT'
#include <sonde/record.h>

int main(void)
{
	SONDE_SCOPE("main");
	return 0;
}
EOT
cat > session.c <<'EOT'
#include <sonde/analyze.h>
#include <sonde/session.h>

int main(void)
{
	const char *name, *summary;

	SONDE_SCOPE("main");
	sonde_report_free(NULL);
	return sonde_analysis(0, &name, &summary) ? 0 : 1;
}
EOT
cat > CMakeLists.txt <<'EOT'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(sonde 0.1 REQUIRED)
add_executable(recorded recorded.c)
target_link_libraries(recorded sonde::rt)
add_executable(session session.c)
target_link_libraries(session sonde::sonde)
EOT

for program in recorded session; do
	module=sonde-rt
	[ $program = recorded ] || module=sonde
	"$CC" $program.c $(pkg-config --cflags --libs $module) -o $program
	LD_LIBRARY_PATH=$work/moved/lib ./$program || fail "$program, built with pkg-config, fails"
done

cmake -S . -B out -G Ninja -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_C_COMPILER="$CC" > /dev/null
cmake --build out > /dev/null
for program in recorded session; do
	out/$program || fail "$program, built with find_package, fails"
done

moved/bin/sonde --version > /dev/null || fail "the installed command does not start"
for page in "$SOURCE"/docs/sonde.md "$SOURCE"/docs/sonde-*.md; do
	[ -e "moved/share/man/man1/$(basename "$page" .md).1" ] || fail "no manual page from $page"
done

. moved/share/bash-completion/completions/sonde
completes() { # completes <what bash offers for the last word> WORD...
	COMP_WORDS=(moved/bin/sonde "${@:2}") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_sonde || : # it offers nothing
	[ "${COMPREPLY[*]}" = "$1" ] || fail "completion of '${*:2}': ${COMPREPLY[*]}, not $1"
}
completes "report" rep
completes "bottlenecks" help bott
completes "--keep" compare --ke # in the manual only
completes "" record --epochs # in an example only
! grep -r -l -F -e "$BUILD" -e "$work/first" moved/lib/pkgconfig moved/lib/cmake || fail "absolute paths are in there"

DESTDIR=$work/stage cmake --install "$BUILD" --prefix /opt/sonde > /dev/null
[ -x stage/opt/sonde/bin/sonde ] || fail "DESTDIR is not honoured"
