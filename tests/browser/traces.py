"""Writes cpu.json, a trace of host rows alone, gpu.json with the counters of a monitor, and hostile.json, whose names want to be
more than text."""
import json
import sys

to = sys.argv[1]
cpu = [{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'python'}}]
for step in range(12):
    start = step * 10_000
    cpu.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': start, 'dur': 9_500})
    for i in range(20):
        at = start + 100 + i * 400
        cpu.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::linear', 'pid': 1, 'tid': 1, 'ts': at, 'dur': 300, 'args': {'Input Dims': [[32, 64], [64, 64]]}})
        cpu.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::addmm', 'pid': 1, 'tid': 1, 'ts': at + 50, 'dur': 200})
json.dump({'traceEvents': cpu}, open(f'{to}/cpu.json', 'w'))

gpu = []
for i in range(50):
    gpu.append({'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': i * 1000, 'dur': 600, 'args': {'device': 0, 'stream': 7, 'correlation': i + 1}})
    for name, value in (('gpu0 temp (C)', 40 + i % 20), ('gpu0 power (W)', 300 + i), ('gpu0 memory used (MiB)', 1000)):
        gpu.append({'ph': 'C', 'name': name, 'pid': 1, 'ts': i * 1000, 'args': {'value': value}})
json.dump({'traceEvents': gpu}, open(f'{to}/gpu.json', 'w'))

names = ['<script>window.pwned = 1</script>', '</title></table><img src=x onerror="window.pwned = 1">', '"\' onload=\'x', 'javascript:window.pwned=1', '<' * (1 << 20), '\ud800 \u202e \u0000', '__proto__', 'constructor']
hostile = [{'ph': 'X', 'cat': name[:100], 'name': name, 'pid': 1, 'tid': 2, 'ts': i * 10, 'dur': 5, 'args': {name[:50]: name[:50]}} for i, name in enumerate(names)]
hostile += [{'ph': 'M', 'name': kind, 'pid': 1, 'tid': 2, 'args': {'name': names[0]}} for kind in ('process_name', 'thread_name')]
hostile.append({'ph': 'C', 'name': names[1], 'pid': 1, 'ts': 3, 'args': {names[2]: 7}})
json.dump({'traceEvents': hostile}, open(f'{to}/hostile.json', 'w'))
