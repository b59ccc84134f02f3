#!/usr/bin/env bash
# Before main and after it, in libraries that come and go, through longjmp and exceptions, and recordings one after the
# other.
. "${SOURCE:?}/tests/faults/lib.sh" || exit 1

# ---- Early and late

alone late
want_code 3
expected=$out
late=$(rounds 10 200)
case ${CFLAGS-} in
*thread*) late=0 ;; # ThreadSanitizer does not live as long as the last destructors of a thread
esac
for i in $(seq $late); do
	program late
	want_code 3
	want_out "$expected"
	want_err ""
	look
	want_sound
	want_calls thread 100
	want_calls key 300
	want_calls "library constructor" 1
	want_calls constructor 1
	want "a thread_local destructor is missing" [ "$(calls thread_local)" -ge 100 ]
done
# Prints a report, which loads libsonde, while threads still run. AddressSanitizer takes a library whose constructors run
# again for a second one.
if [ $late -gt 0 ]; then
	ASAN_OPTIONS="detect_odr_violation=0:$ASAN_OPTIONS" SONDE_REPORT=3 program late
	want_code 3
	want_out "$expected"
	want_in "$err" "endless"
fi

# ---- Libraries

cat > plugin.c << 'EOT'
#include <sonde/record.h>
void plugin_work(void);
void plugin_work(void)
{
	SONDE_SCOPE("plugin scope");
	SONDE_SCOPE_ARGS("plugin args", SONDE_STR("key", "value"));
	SONDE_PHASE("plugin phase");
	SONDE_COUNTER("plugin counter", 1);
}
EOT
command="building a library"
# shellcheck disable=SC2086
"$CC" ${CFLAGS-} -g -shared -fPIC -I"$SOURCE/include" -o plugin.so plugin.c -L"$BUILD" -lsonde-rt -Wl,-rpath,"$BUILD" ||
	complain "the library was not built"
for clock in tsc monotonic; do
	SONDE_CLOCK=$clock program loader ./plugin.so 100
	want_code 3
	want_err ""
	look
	want_sound
	want_calls load 100
	want_calls "plugin scope" 100
	want_calls "plugin args" 100
	want_calls "plugin phase" 100
	want_value n_counter_values 100
	want_value n_repaired_total 0
done
program loader ./plugin.so 0
want_code 3

# ---- Ways out of a scope

n=$(rounds 10000)
program unwind "$n"
want_code 3
want_out 10000
look
want_sound
want_calls jump "$n"
want_calls "jumped over" "$n"
want_value n_repaired "$n"
want_calls throw "$n"
want_calls "thrown through" $((4 * n))
want_calls recurse 10000
want_value n_lost 0
want_value n_open 0
want_value n_unmatched_ends 0

# ---- One recording after the other

n=$(rounds 200)
alone sessions "$n"
want_code 3
want_out ""
want "$(ls session-*.sonde | wc -l) files, not $n" [ "$(ls session-*.sonde | wc -l)" = "$n" ]
for recording in session-*.sonde; do
	command="recording $recording"
	look "$recording"
	want_sound
	want_calls session 10
	want_value n_lost 0
	want_value n_unclosed 0
done
finish
