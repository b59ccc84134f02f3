#!/usr/bin/env bash
# sonde analyze compile: a real trace of torch.compile with recompiles and a graph break against Python's own count of it.
. "${SOURCE:?}/tests/cli/lib.sh" || exit 1

trace=$SOURCE/tests/data/torch_compile.json.gz
run analyze compile --json "$trace"
want_code 0
if command -v python3 > /dev/null; then
	want "not what Python counts" python3 - "$trace" .out <<-'EOT'
		import collections, gzip, json, sys
		events = [e for e in json.load(gzip.open(sys.argv[1]))['traceEvents'] if e['ph'] == 'X']
		got = json.load(open(sys.argv[2]))
		ns = lambda us: round(1000 * us)
		end = lambda e: e['ts'] + e['dur']
		inside = lambda a, b: a['ts'] >= b['ts'] and end(a) <= end(b) and a is not b

		work = [e for e in events if e['name'] in ('dynamo', 'entire_backward_compile')]
		calls = [e for e in events if e['name'].startswith('Torch-Compiled Region')]
		back = [e for e in events if e['name'] == 'CompiledFunctionBackward']
		steps = [e for e in events if e['name'].startswith('ProfilerStep#')]
		again = {e['name'].split('compile_id=')[1] for e in events if e['name'].startswith('dynamo_data:')} - {'0/0', '1/0'}

		assert got['n_runs'] == len(work) == 8 and got['n_calls'] == len(calls) + len(back) == 32
		assert got['n_runs_again'] == len(again) == 4
		lookups = [ns(e['dur']) for e in events if e['name'] == 'TorchDynamo Cache Lookup']
		assert got['n_lookups'] == len(lookups) == 14 and got['lookup_ns'] == sum(lookups)
		assert {r['compile_id'] for r in got['compile_runs'] if r['is_again']} == again == {'0/1', '0/2', '1/1', '1/2'}
		assert sum(r['dur_ns'] for r in got['compile_runs']) == sum(ns(e['dur']) for e in work)
		# The graph breaks once in each call of the first frame, and the rest is called from within it.
		nested = [c for c in calls if any(inside(c, o) for o in calls)]
		assert got['n_breaks'] == got['n_breaks_inside'] == len(nested) == 8
		count = collections.Counter(c['name'] for c in calls)
		regions = {r['name']: r for r in got['compile_regions'] if r['kind'] == 'torch.compile'}
		assert {name: r['calls'] for name, r in regions.items()} == dict(count)
		for name, r in regions.items():
		    of = [c for c in calls if c['name'] == name]
		    compiling = [sum(ns(w['dur']) for w in work if inside(w, c)) for c in of]
		    assert r['host_ns'] == sum(ns(c['dur']) for c in of) - sum(compiling), name
		    assert r['first_ns'] == ns(of[0]['dur']), name
		# Backward passes belong to the forward pass of the same sequence number.
		forward = {}
		for f in events:
		    if f['name'] == 'CompiledFunction':
		        around = min((c for c in calls if inside(f, c)), key=lambda c: c['dur'])
		        forward[f['args']['Sequence number']] = around['name'].split(': ')[1]
		want = collections.Counter(forward[b['args']['Sequence number']] for b in back)
		have = collections.Counter()
		for r in got['compile_regions']:
		    if r['kind'] == 'torch.compile, backward':
		        have[r['compile_id']] += r['calls']
		assert have == want, (have, want)
		for s, g in zip(steps, got['compile_steps']):
		    mine = [w for w in work if inside(w, s)]
		    outer = [c for c in calls + back if inside(c, s) and not any(inside(c, o) for o in calls)]
		    compiling = sum(ns(w['dur']) for w in mine)
		    compiled = sum(ns(c['dur']) for c in outer) - sum(ns(w['dur']) for w in mine if any(inside(w, c) for c in outer))
		    assert g['dur_ns'] == ns(s['dur']) and g['n_runs'] == len(mine)
		    assert abs(g['compiling_ns'] - compiling) <= 8 and abs(g['compiled_ns'] - compiled) <= 8, (g, compiling, compiled)
		    assert g['dur_ns'] == g['compiling_ns'] + g['compiled_ns'] + g['eager_ns'] + g['other_ns']
		phases = got['compile_phases']
		assert abs(sum(p['self_ns'] for p in phases) - sum(ns(e['dur']) for e in work)) <= 8
	EOT
fi
run analyze compile "$trace"
want_in "$out" "compiled code runs 80.2 % of the 4 steps without compilation"
want_in "$out" "4 of them recompilations"
run bottlenecks --warmup none "$trace"
want_in "$out" "code is recompiled during the steps"
want_in "$out" "1/1, 0/1, 1/2 and 1 more (frame/time)."
run bottlenecks --steps 7..8 "$trace" # nothing is compiled there
want "a recompile where there is none: $out" eval '! grep -q "recompiled" .out'
want_in "$out" "compiled code is interrupted by Python"
for format in --csv --markdown --html; do
	run analyze compile $format "$trace"
	want_code 0
	want "nothing as $format" [ -s .out ]
done

echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' > none.json
run analyze compile none.json
want_code 0
want_in "$out" "no compiled code"

generate made
run analyze compile made/other/onnxruntime/trace.json
want_code 0
want_in "$out" "the compiler ran for 500 us, once"
run analyze compile made/traces/nvidia
want_in "$out" "no compiled code"

real_data profiles || finish
first() { # first PART FILE
	run analyze compile "$data/$2"
	want_code 0
	want_in "$out" "$1"
}
first "launched 88.1 % of the device time" traces/tl_xdit_sd35/rank0.json.gz
first "compiled kernels ran, but their launches" traces/tl_vllm_decode_graph/rank0.json.gz
first "the compiler ran for 74.8 ms, once" profiles/jax/cpu_train.trace.json.gz
first "the compiler ran for 1.14 ms, 2 times" profiles/onnxruntime/cnn.json
run analyze compile --csv --table compile_kernels "$data/traces/hta_triton/rank0.json.gz"
want_in "$out" "triton_poi_fused_add_cos_sin_0,1,1760,95812,triton,"
finish
