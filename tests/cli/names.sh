#!/usr/bin/env bash
# Very many names and very long ones: what they cost in memory, and that all of each is there where it is asked for.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1
case ${CFLAGS:-} in
*-fsanitize=*)
	echo "skipped: sanitizers take memory of their own"
	exit 77
	;;
esac

# make_trace FILE N_NAMES LENGTH: each name once
make_trace() {
	python3 - "$@" <<'EOT'
import sys
file, n, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(file, "w") as out:
    out.write('{"traceEvents": [\n')
    for i in range(n):
        name = f"function_number_{i:07d}".ljust(length, "x")
        out.write(f'{{"ph": "X", "pid": 1, "tid": 1, "ts": {i * 10}, "dur": 5, "name": "{name}"}},\n')
    out.write('{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "p"}}]}\n')
EOT
}

# within MIB ARGS...: the command succeeds and never takes more memory
within() {
	command="sonde ${*:2}"
	python3 - "$1" "$SONDE" "${@:2}" > .peak <<'EOT' || complain "$(cat .peak)"
import resource, subprocess, sys
with open(".said", "w") as out:
    code = subprocess.run(sys.argv[2:], stdout=out, stdin=subprocess.DEVNULL).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"exit code {code}, {peak:.0f} MiB of {sys.argv[1]}")
sys.exit(code != 0 or peak > float(sys.argv[1]))
EOT
}

# About 350 bytes a name: the index, the builder of it, and what a tree takes.
make_trace many.json 300000 23
for command in "report" "report --json" "report --csv" "report --tree" "report --threads" "summary" "info"; do
	within 150 $command many.json
done
within 150 report --csv many.json
want "not every name is there" [ "$(grep -c ^function .said)" = 300000 ]

# Each name once, and little else.
make_trace long.json 60 1000000
for command in "report" "report --json" "report --html" "report --markdown" "summary" "info" "bottlenecks"; do
	within 90 $command long.json
done
within 90 report long.json
want "a name is not cut for the screen" [ "$(wc -L < .said)" -le 100 ]
within 90 report --csv long.json
want "a name is not whole" [ "$(grep -c '^function_number_[0-9]*x\{1000\}' .said)" = 60 ]
want "a name is not whole" [ "$(stat -c %s .said)" -gt 60000000 ]
within 90 report --json long.json
want "a name is not whole" [ "$(stat -c %s .said)" -gt 60000000 ]

# The same in a recording, whose names are bounded.
run record -o many.sonde "$BUILD/prog_names" 100000 20
want_code 0
within 80 report many.sonde
run record -o long.sonde "$BUILD/prog_names" 200 1000000
want_code 0
within 20 report long.sonde
finish
