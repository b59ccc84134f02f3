#!/usr/bin/env bash
# sonde analyze: by name, what part of the trace, every format; wrong usage is told before a file is opened.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

# Two ranks with two steps each; rank 1 alone has "late".
for rank in 0 1; do
	cat > rank$rank.json <<-EOT
		{"distributedInfo": {"rank": $rank, "world_size": 2}, "traceEvents": [
		{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 2, "ts": 1000, "dur": 1000},
		{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 2, "ts": 2000, "dur": 1000},
		{"ph": "X", "cat": "cpu_op", "name": "early", "pid": 1, "tid": 2, "ts": 1100, "dur": 100},
		{"ph": "X", "cat": "cpu_op", "name": "both", "pid": 1, "tid": 2, "ts": 1300, "dur": 100},
		{"ph": "X", "cat": "cpu_op", "name": "both", "pid": 1, "tid": 2, "ts": 2300, "dur": 100},
		{"ph": "X", "cat": "cpu_op", "name": "rank $rank only", "pid": 1, "tid": 2, "ts": 2500, "dur": 100}
		]}
	EOT
done

run analyze --list
want_code 0
for name in $(sed -n 's/^ANALYSIS(\([a-z_]*\)).*/\1/p' "$SOURCE/src/analyze/analyses.def"); do
	want "$name is not listed" grep -q -E "^${name//_/[-_]} " <<< "$out"
	run analyze "$name" rank0.json
	want_code 0
	want_err ""
	for format in json csv markdown html; do
		run analyze "$name" --$format rank0.json rank1.json
		want_code 0
		want "no $format of $name" [ -s .out ]
	done
	run analyze --list
done
run analyze report --list
want_out "report has no settings"

# What is missing from the trace is said by every analysis and by a comparison.
python3 -c 'print(open("rank0.json").read()[:-60], end="")' > cut.json
for command in report bottlenecks hta "analyze kernels" "analyze memory" "compare rank0.json"; do
	run $command cut.json
	want_code 0
	want "$command does not say that something is missing" grep -q "^lost  " .out
done
run bottlenecks cut.json
want_in "$(tr -s ' \n' ' ' <<< "$out")" "the file ends early: later events are missing"

# Without the warm-up, what lies around it is as long as what is left. Not everything is the choice's fault.
python3 - > around.json << 'P'
events, now = ['{"ph":"X","name":"main","cat":"python_function","pid":1,"tid":1,"ts":0,"dur":1010}'], 10
for i, dur in enumerate([200, 200] + [100] * 6):
    events.append('{"ph":"X","name":"ProfilerStep#%d","cat":"user_annotation","pid":1,"tid":1,"ts":%d,"dur":%d}' % (i, now, dur))
    now += dur
print('{"traceEvents":[' + ",".join(events) + "]}")
P
run report --csv around.json
want_in "$out" "main,python_function,1,610000,10000,"
run analyze kernels around.json
want_in "$out" "no device rows: the trace covers the CPU only"

run analyze distributed around.json
want_in "$out" "the trace has no collectives"

# The same as the command of that name.
run report rank0.json
text=$out
run analyze report rank0.json
want_out "$text"

# What is looked at: names and calls.
names() {
	run analyze report --csv --sort name "$@" rank0.json rank1.json
	want_code 0
	out=$(cut -d, -f1,3 .out | grep -v -e ^name -e ^ProfilerStep | tr '\n' ' ')
}
names
want_out "both,4 early,2 rank 0 only,1 rank 1 only,1 "
names --ranks 1
want_out "both,2 early,1 rank 1 only,1 "
names --ranks 0,1
want_out "both,4 early,2 rank 0 only,1 rank 1 only,1 "
names --steps 2
want_out "both,2 rank 0 only,1 rank 1 only,1 "
names --steps 2 --ranks 0
want_out "both,1 rank 0 only,1 "
names --from 250us
want_out "both,4 rank 0 only,1 rank 1 only,1 "
names --to 0.3ms
want_out "early,2 "
names --from 300us --to 1300us # to is not in
want_out "both,2 "
names --steps 1 --from 200us
want_out "both,2 "
run summary --csv --ranks 1 --from 1200us rank0.json rank1.json
want "not one name: $out" [ "$(grep -c only .out)" = 1 ]
# What is not there is said.
for command in report summary hta bottlenecks "analyze steps"; do
	run $command --ranks 2-7 rank0.json rank1.json
	want_code 2
	want_in "$err" "the trace has no rank 2-7, but some from 0 to 1"
done
run report --from 1h rank0.json
want_in "$out" "no events begin in the selected time"
run report --filter nobody rank0.json
want_in "$out" 'no name matches "nobody"'
run analyze steps --from 1h rank0.json
want_in "$out" "no step in the selection"
# The profiler's own row over everything is not where the time goes.
echo '{"traceEvents": [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": 1, "ts": 0,
"dur": 900}, {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 100}]}' > frame.json
for command in summary report "report --tree"; do
	run $command --csv frame.json
	want_in "$out" "aten::mm"
	want "the profiler's row is there" [ "${out#*PyTorch Profiler}" = "$out" ]
done
# Steps are one name, and their copies on a device no steps.
echo '{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#8", "pid": 1, "tid": 1, "ts": 0, "dur": 90},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#10", "pid": 1, "tid": 1, "ts": 100, "dur": 90},
{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#10", "pid": 0, "tid": 7, "ts": 110, "dur": 90},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 120, "dur": 50, "args": {"stream": 7}}]}' > steps.json
for how in "" --tree; do
	run report --csv $how steps.json
	out=$(cut -d, -f1-5 .out)
	want_out "$(printf 'name,category,calls,total_ns,self_ns\nProfilerStep,user_annotation,2,180000,180000\ngemm,kernel,1,50000,50000')"
done

run analyze report --csv --table steps rank0.json
want "no table of steps" grep -q '^step,start_ns,' .out
run analyze report --csv --table nonsense rank0.json
want_code 2
want_out ""
want_in "$err" 'report has no table "nonsense"; the first table is names'

# Markdown and pages are whole and harmless.
cat > bad.json <<'EOT'
{"traceEvents": [{"ph": "X", "cat": "a", "name": "<script>alert(1)</script>|`*x*`", "pid": 1, "tid": 2, "ts": 1, "dur": 1}]}
EOT
run analyze report --markdown bad.json
want_in "$out" '| \<script\>alert(1)\</script\>\|\`\*x\*\` |'
run analyze report --html -o report.html bad.json
want_code 0
want "no whole page" [ "$(tail -n 1 report.html)" = "</html>" ]
want "the name is not escaped" [ "$(grep -c '<script' report.html)" -le 2 ]
want_in "$(cat report.html)" "&lt;script&gt;alert(1)&lt;/script&gt;|&#96;*x*&#96;"
if command -v python3 > /dev/null; then # the policy names just what the page carries
	command="the policy of report.html"
	want "wrong hashes" python3 - <<-'EOT'
		import base64, hashlib, re, sys
		page = open('report.html', encoding='utf-8').read()
		policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
		if '<style>' not in page: # built without npm
		    sys.exit(0)
		for kind, tag in (('style', 'style'), ('script', 'script')):
		    body = re.search(f'<{tag}>(.*?)</{tag}>', page, re.S).group(1)
		    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
		    assert f"{kind}-src 'sha256-{digest}'" in policy, (kind, policy)
		assert policy.startswith("default-src 'none';") and 'unsafe' not in policy
		body = re.sub(r'<(style|script)>.*?</\1>', '', page, flags=re.S)
		assert not re.search(r'style=|href="(?!#)|src="| on[a-z]+="', body)
	EOT
fi

refuse() { # refuse "message" ARGS...
	local message=$1
	shift
	run analyze "$@"
	want_code 2
	want_out ""
	want_err "sonde: analyze: $message"
}
refuse "no NAME given; sonde analyze --list lists them; see sonde analyze --help"
refuse "no analysis 'reprot'; did you mean 'report'?" reprot missing.json
refuse "no analysis 'xyzzy'; sonde analyze --list lists them" xyzzy missing.json
refuse "no FILE given; see sonde analyze --help" report
for list in x 1, 4-2 -1 '' 1-2-3; do
	refuse "--ranks needs a list such as 0,2-4, not '$list'; see sonde analyze --help" report --ranks "$list" missing.json
done
for time in 5 x 1.5 -1s 1e9999s; do
	refuse "--from needs a time since the start, such as 1.5s or 20ms, not '$time'; see sonde analyze --help" \
		report --from "$time" missing.json
done
refuse "--to must be after --from; see sonde analyze --help" report --from 2s --to 1s missing.json
refuse "--warmup needs auto, none or a number of steps, not 'x'; see sonde analyze --help" report --warmup x missing.json
refuse "--steps and --warmup exclude each other; see sonde analyze --help" report --warmup 3 --steps 1 missing.json
refuse "--set needs KEY=VALUE, such as dataloader.warn=5%, not 'x'; see sonde analyze --help" report --set x missing.json
refuse "--compat does not accept 'htq'; did you mean 'hta'?" report --compat htq missing.json
refuse "--html and --json exclude each other; see sonde analyze --help" report --html --json missing.json
# A layer is in the step in which it begins, also when it ends behind it and so lies in a lane of its own.
cat > layers.json <<-EOT
	[{"ph": "X", "cat": "python_function", "name": "nn.Module: fc_0", "pid": 1, "tid": 2, "ts": 1100, "dur": 950},
	{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 2, "ts": 1000, "dur": 1000},
	{"ph": "X", "cat": "python_function", "name": "nn.Module: fc_0", "pid": 1, "tid": 3, "ts": 2100, "dur": 100},
	{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#8", "pid": 1, "tid": 2, "ts": 2060, "dur": 1000},
	{"ph": "X", "cat": "python_function", "name": "nn.Module: fc_0", "pid": 1, "tid": 3, "ts": 9000, "dur": 10}]
EOT
run analyze report --json layers.json
want_in "$out" '{"layer": "nn.Module: fc_0", "step": 7, "n_steps": 1, "calls": 1, "avg_ns": 950000}'
want_in "$out" '{"layer": "nn.Module: fc_0", "step": 8, "n_steps": 1, "calls": 1, "avg_ns": 100000}'
want_in "$out" '"slowest_step": 7'
want "what is outside of steps has one" [ "$(grep -c '"n_steps": 1' .out)" = 2 ]
run analyze report --set x.y=1 rank0.json
want_code 2
want_err 'sonde: report has no settings, so no "x.y"'
run analyze report --compat hta rank0.json
want_code 2
want_err 'sonde: report has no definitions of "hta"'
run analyze report missing.json
want_code 3
finish
