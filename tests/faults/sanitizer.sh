#!/usr/bin/env bash
# A program built with ThreadSanitizer: no race is reported between its events and the runtime, whether that was built so
# or not.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1
forks_in_threads
limit=120
case ${CFLAGS-} in
*address*) skip "AddressSanitizer and ThreadSanitizer do not go together" ;;
esac
mkdir bin
for name in threads work leaving signals fork; do
	"$CC" -g -O1 -fsanitize=thread -I"$SOURCE/include" -o bin/prog_$name "$SOURCE/tests/programs/$name.c" -L"$BUILD" -lsonde-rt \
		-pthread 2> .err || skip "nothing can be built with ThreadSanitizer here: $(head -n 1 .err)"
done

clean() { # clean EXPECTED_CODE PROGRAM ARGS...
	rm -f run*.sonde
	SONDE_ENABLED=1 SONDE_OUTPUT=$file keep "bin/prog_$2" "${@:3}"
	command="$libraries: prog_${*:2}, $SONDE_BUFFER"
	want_code "$1"
	want "$(grep -c 'WARNING: Thread' .err) races: $(grep -A 12 -m 1 'WARNING: Thread' .err)" [ "${err/WARNING: Thread/}" = "$err" ]
	look run*.sonde
	want_sound
}

for libraries in "$BUILD" "$BUILD/plain"; do
	[ -e "$libraries/libsonde-rt.so.0" ] || continue # the second one in the preset tsan alone
	export LD_LIBRARY_PATH=$libraries
	for SONDE_BUFFER in 256K 64M; do
		export SONDE_BUFFER
		clean 3 threads count 4 30000
		want_events 240000
		clean 3 threads churn 200
		want_calls short 200
		clean 3 work counters 500 exit
		want_events $((8 * 500 * 9 + 2))
		clean 3 leaving counters 20000
	done
	clean 3 signals timer 50
	clean 3 fork loop 3
	want_calls child 30
done
finish
