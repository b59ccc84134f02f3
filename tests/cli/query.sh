#!/usr/bin/env bash
# sonde query: tables, JSON and CSV of a small trace; where SQL comes from; errors; the prompt; counts of real traces.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

cat > small.json <<'EOT'
{"schemaVersion": 1, "host": "box", "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "main"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 2, "ts": 1000, "dur": 900},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1010.5, "dur": 100.25, "args": {"Input Dims": [[2, 3]], "n": 7}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 1020, "dur": 10, "args": {"correlation": 5}},
{"ph": "X", "cat": "kernel", "name": "gemm, \"wide\"", "pid": 0, "tid": 7, "ts": 1050, "dur": 500, "args": {"stream": 7, "device": 0, "correlation": 5}},
{"ph": "X", "cat": "kernel", "name": "relu\u001b[31m", "pid": 0, "tid": 7, "ts": 1600, "dur": 40, "args": {"stream": 7, "device": 0, "correlation": 6}},
{"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 2, "ts": 1005}
]}
EOT

# A table.
run query small.json "select name, ts, dur, depth from slices where track_name = 'main' order by ts"
want_code 0
want_err ""
want_out " name                 ts     dur  depth
 ProfilerStep#3        0  900000      0
 aten::mm          10500  100250      1
 cudaLaunchKernel  20000   10000      2"
run query small.json "select name, correlation, launch, delay, null as empty, 0.5 as half from kernels; select 1 as one where 0"
want_code 0
want_out ' name          correlation  launch  delay  empty  half
 gemm, "wide"            5       4  20000      -   0.5
 relu?[31m               6       -      -      -   0.5

 one
 (none)'
run query small.json "select count(*) as n, class from slices group by class"
want_in "$out" " n  class"
run query small.json "select count(*) as n from args where slice = -1; select count(*) as n from args where slice in (0, -1)"
want_out " n
 0

 n
 3"
run query small.json "select 1e999 as a, -1e999 as b"
want_out "   a     b
 inf  -inf"
COLUMNS=40 run query small.json "select 'a text that is far too long for a narrow terminal' as t, 123456789 as n"
want_out " t                                     n
 a text that is…rrow terminal  123456789"

# JSON and CSV are exact.
run query --json small.json "select id, name, args from kernels order by ts; select null, 1.5, x'4142'"
want_code 0
want_out '{
 "schema": "sonde.query/1",
 "columns": ["id", "name", "args"],
 "rows": [
  [0, "gemm, \"wide\"", "{\"stream\": 7, \"device\": 0, \"correlation\": 5}"],
  [1, "relu\u001b[31m", "{\"stream\": 7, \"device\": 0, \"correlation\": 6}"]
 ]
}
{
 "schema": "sonde.query/1",
 "columns": ["null", "1.5", "x'"'4142'"'"],
 "rows": [
  [null, 1.5, "4142"]
 ]
}'
run query --json small.json "select 1 as a where 0"
want_out '{
 "schema": "sonde.query/1",
 "columns": ["a"],
 "rows": [
 ]
}'
run query --csv small.json "select name, delay, 1e300 as x from kernels order by ts; select '=1' as y"
want_code 0
want "not RFC 4180: $(od -c .out | head -20)" cmp -s .out <(printf 'name,delay,x\r\n"gemm, ""wide""",20000,1e+300\r\nrelu\xef\xbf\xbd[31m,,1e+300\r\n\r\ny\r\n"'"'"'=1"\r\n')

# The SQL: operand, -f, standard input; several statements; dot commands.
echo "select 1 as a; -- and
select 2 as b" > ask.sql
for args in "-f ask.sql small.json" "--file=ask.sql small.json"; do
	run query $args
	want_code 0
	want_out $' a\n 1\n\n b\n 2'
done
command="sonde query small.json < ask.sql"
want "$command" [ "$("$SONDE" query small.json < ask.sql)" = $' a\n 1\n\n b\n 2' ]
want "$command -f -" [ "$("$SONDE" query -f - small.json < ask.sql)" = $' a\n 1\n\n b\n 2' ]
want "the trace from standard input" [ "$("$SONDE" query --csv - "select count(*) from slices" < small.json)" = $'count(*)\r\n5\r' ]
gzip -k small.json
run query small.json.gz "create temp view v as select * from kernels; select count(*) as n from v"
want_out $' n\n 2'
run query small.json .tables
want_code 0
for table in slices kernels launches collectives names args instants flows counters counter_values steps allocations samples tracks \
	processes devices meta diagnostics; do
	want_in "$out" "$table  "
	want "the manual lacks $table" grep -q -x "### $table" "$SOURCE/docs/sonde-query.md"
done
run query small.json ".schema steps"
want_code 0
want_in "$out" "create table steps ("
want_in "$out" "  step INTEGER,            -- number of the iteration"
run query small.json .schema
want "not all schemas" [ "$(grep -c "^create table" <<< "$out")" = "$(grep -c "^TABLE" "$SOURCE/src/query/tables.def")" ]
for column in $(sed -n 's/^  \([a-z_]*\).*-- .*/\1/p' <<< "$out" | sort -u); do
	want "the manual lacks $column" grep -q "\`$column\`" "$SOURCE/docs/sonde-query.md"
done
run query small.json $'.schema steps\nselect step from steps;\n.quit\nselect nonsense'
want_code 0
want_in "$out" $');\n\n step\n    3'

# The manual's examples are SQL.
awk '/^```/ { inside = !inside; is_sql = 0; next } inside && /^(select|with) / { is_sql = 1 } is_sql' \
	"$SOURCE/docs/sonde-query.md" > examples.sql
want "no examples in the manual" [ "$(grep -c ';$' examples.sql)" -ge 6 ]
run query -f examples.sql small.json
want_code 0
want_err ""
rm examples.sql

# Limits.
run query --limit 2 small.json "select id from slices"
want_code 0
want_out $' id\n  0\n  1'
want_err "sonde: query: output truncated at --limit; there are more rows"
run query --limit 5 small.json "select id from slices"
want_err ""
endless="with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r"
run query --timeout 1 small.json "$endless"
want_code 4
want_err "sonde: query: stopped after 1.00 s"
run query --memory 64M small.json "create temp table t as ${endless/count(\*)/x, zeroblob(1000)}"
want_code 4
want_err "sonde: query: stopped: the statement needs more than 64.0 MiB of memory"

# Errors: one line, what and where.
refuse() { # refuse "message" ARGS...
	local message=$1
	shift
	run query "$@"
	want_code 2
	want_out ""
	want_err "sonde: query: $message"
}
refuse 'no such column: nam (at "nam", character 8)' small.json "select nam from slices"
refuse 'no such column: nam (at "nam", line 2, character 8)' small.json $'/* why */\nselect nam from slices'
refuse 'near "selec": syntax error (character 1)' small.json "selec"
refuse 'no such table: slice; did you mean slices?' small.json "select * from slice"
refuse 'no such table: xyzzy' small.json "select * from xyzzy"
refuse "not allowed: a query may only read the trace and write temporary tables" small.json "attach 'x.db' as x"
refuse "not allowed: a query may only read the trace and write temporary tables" small.json "vacuum into 'x.db'"
refuse "no table 'slice'; did you mean 'slices'?" small.json ".schema slice"
refuse "no command '.foo bar'; .help lists them" small.json ".foo bar"
refuse "no FILE given; see sonde query --help"
refuse "no SQL given; see sonde query --help" small.json
refuse "no SQL given; see sonde query --help" small.json " ;"
refuse "no SQL given; see sonde query --help" small.json small.json.gz
refuse "--limit needs a number from 1 to 9223372036854775807, not '0'; see sonde query --help" --limit 0 small.json "select 1"
refuse "standard input cannot be both the trace and the SQL; see sonde query --help" -f - -
want "a statement wrote a file" [ "$(ls)" = $'ask.sql\nsmall.json\nsmall.json.gz' ]
run query small.json "select 1; select nam"
want_code 2
run query -o out.txt small.json "select 1; select nam"
want_code 2
want "a half file is left" [ ! -e out.txt ]
run query -o out.txt --csv small.json "select 1 as a"
want_code 0
want "out.txt is not the result" cmp -s out.txt <(printf 'a\r\n1\r\n')
run query missing.json "select 1"
want_code 3
want_in "$err" "sonde: missing.json: "
run query -f missing.sql small.json
want_code 3
want_err "sonde: missing.sql: No such file or directory"
printf 'select 1\0' > nul.sql
run query -f nul.sql small.json
want_code 3
want_err "sonde: nul.sql: not SQL text"

# A full disk is an error, a reader that has seen enough is not.
many="with recursive r(x) as (select 1 union all select x + 1 from r where x < 300000) select x, 'some more text' from r"
for format in --csv --json --color=never; do
	command="sonde query $format > /dev/full"
	"$SONDE" query $format small.json "$many" > /dev/full 2> .err
	code=$? err=$(cat .err)
	want_code 4
	want_err "sonde: standard output: cannot write: No space left on device"
	command="sonde query $format | head"
	(trap '' PIPE; "$SONDE" query $format small.json "$many" 2> .err; echo $? > .code) | head -n 1 > /dev/null
	want "said something: $(cat .err)" [ ! -s .err ]
	want "exit code $(cat .code)" [ "$(cat .code)" = 0 ]
done
run query --csv small.json "$many"
want "not all rows" [ "$(wc -l < .out)" = 300001 ]

# Our own recordings.
if [ -e "$BUILD/prog_simple" ]; then
	run record -o run.sonde "$BUILD/prog_simple"
	run query run.sonde "select count(*) > 0 as any from slices"
	want_code 0
	want_out $' any\n   1'
fi

if ! command -v python3 > /dev/null; then
	echo "query: the prompt and real traces were not tested: no python3"
	finish
fi

# The prompt, on a terminal: statements of several lines, Ctrl-C while one runs and while one is typed, Ctrl-D.
cat > prompt.py <<'EOT'
import os, pty, re, select, sys, time

def read(fd, pattern, seen, seconds):
    end = time.monotonic() + seconds
    while not re.search(pattern, seen) and time.monotonic() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                sys.exit(f"ended without {pattern!r}: {seen!r}")
    return seen

def expect(fd, pattern):
    seen = read(fd, pattern, b"", 60)
    if not re.search(pattern, seen):
        sys.exit(f"no {pattern!r} in {seen!r}")

# On a busy machine Ctrl-C may come before the line was read, and then throws it away: try again.
def interrupt(fd, statement):
    for _ in range(20):
        os.write(fd, statement + b";\n")
        time.sleep(0.5)
        seen = b""
        for _ in range(30):
            os.write(fd, b"\x03")
            seen = read(fd, rb"sonde> $", seen, 2)
            if re.search(rb"sonde> $", seen):
                break
        if b"sonde: query: stopped\r\n" in seen:
            return
    sys.exit(f"cannot be stopped: {seen!r}")

pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "query", "--color=never", sys.argv[2]])
expect(fd, rb"sonde> $")
os.write(fd, b"select count(*)\n")
expect(fd, rb"\.\.\.> $")
os.write(fd, b"as n from slices;\n")
expect(fd, rb" n\r\n 5\r\n1 row, .*\r\nsonde> $")
os.write(fd, b".tables\n")
expect(fd, rb"diagnostics .*\r\nsonde> $")
os.write(fd, b"select nam from slices;\n")
expect(fd, rb'no such column: nam \(at "nam", character 8\)\r\nsonde> $')
interrupt(fd, sys.argv[3].encode())
os.write(fd, b"select half\n")
expect(fd, rb"\.\.\.> $")
os.write(fd, b"\x03")
expect(fd, rb"sonde> $")
os.write(fd, b"select 7 as seven;\n")
expect(fd, rb" seven\r\n +7\r\n1 row, .*\r\nsonde> $")
os.write(fd, b"\x04")
while True:
    try:
        if not os.read(fd, 65536):
            break
    except OSError:
        break
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(0 if code == 0 else f"exit code {code}")
EOT
command="sonde query on a terminal"
complaint=$(python3 prompt.py "$SONDE" small.json "$endless" 2>&1) || complain "$complaint"

# Real traces: what is counted here is what Python counts in the file.
cat > count.py <<'EOT'
import gzip, json, sys

def events(path):
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        return json.loads(f.read().decode("utf-8", "replace"), strict=False)["traceEvents"]

slices = [e for e in events(sys.argv[1]) if e.get("ph") == "X" and e.get("dur", 0) >= 0]
categories = {}
for e in slices:
    category = categories.setdefault(e.get("cat", ""), [0, 0])
    category[0] += 1
    category[1] += int(round(float(e.get("dur", 0)) * 1000))
kernels = [e for e in slices if e.get("cat") in ("kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset")]
with_args = sum(1 for e in slices if "External id" in e.get("args", {}))
for name, (n, ns) in sorted(categories.items()):
    print(f"{name},{n},{ns}")
print(f"kernels,{len(kernels)}")
print(f"args,{with_args}")
EOT
generate made
paths=(made/traces/{nvidia,amd}/rank0.json.gz)
! real_data traces || paths+=("$data"/traces/{hta_simple_add,tb_resnet50_nw0_b,tl_h100_bert}/rank0.json.gz)
for path in "${paths[@]}"; do
	python3 count.py "$path" > want.csv
	run query --csv "$path" "select category, count(*), sum(dur) from slices group by category order by category;
		select 'kernels', count(*) from kernels where class in ('kernel', 'copy', 'communication');
		select 'args', count(*) from args where key = 'External id'"
	want_code 0
	tr -d '\r' < .out | grep -v -e '^$' -e '(\*)' > got.csv
	want "$path: $(diff want.csv got.csv)" cmp -s want.csv got.csv
done
finish
