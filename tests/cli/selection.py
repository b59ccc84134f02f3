"""Every analysis, with each way to choose a part of a trace, says what it says of a trace that holds that part alone."""
import json, subprocess, sys

SONDE, NAMES = sys.argv[1], sys.argv[2:]
ABOUT_FILE = {'info'}  # tells what the whole file holds
KEEPS_WARMUP = {'memory', 'leaks', 'compile'}  # a peak is one wherever it is; compilers run in it
STEPS, RANKS = range(1, 9), (0, 1)


def rows(rank):
    """Per step, one after the other: an operator with a launch and a kernel, a collective, a copy, memory, a module.
    Everything begins inside its step; times in us. Yields (step, start, event)."""
    at = 0
    for step in STEPS:
        long = 900 if step <= 2 else 600 + 7 * (step % 3) + 5 * rank
        tag = f's{step} r{rank}'
        args = {'External id': step, 'Input Dims': [[step, 4]], 'Input type': ['float']}

        def host(name, cat, start, dur, **more):
            return step, at + start, dict(ph='X', cat=cat, name=name, pid=100, tid=100, ts=at + start, dur=dur, args=more)

        def device(name, cat, start, dur, correlation, stream, **more):
            return step, at + start, dict(ph='X', cat=cat, name=name, pid=0, tid=stream, ts=at + start, dur=dur,
                                          args=dict(device=0, stream=stream, correlation=correlation, **more))
        c = rank * 1000 + step * 10
        yield host(f'ProfilerStep#{step}', 'user_annotation', 0, long)
        yield host(f'enumerate(DataLoader)#{tag}.__next__', 'user_annotation', 10, 40)
        yield host(f'nn.Module: Linear_{step}', 'python_function', 60, 200, **{'Python id': step, 'Python module id': 1})
        yield host(f'aten::mm {tag}', 'cpu_op', 70, 100, **args)
        yield host('cudaLaunchKernel', 'cuda_runtime', 80, 10, correlation=c)
        yield device(f'gemm {tag}', 'kernel', 100, 150, c, 7, grid=[80, 1, 1], block=[128, 1, 1],
                     **{'blocks per SM': 0.5, 'est. achieved occupancy %': 25, 'registers per thread': 32, 'shared memory': 0})
        yield host('nccl:all_reduce', 'cpu_op', 280, 30, **args)
        yield host('cudaLaunchKernel', 'cuda_runtime', 285, 10, correlation=c + 1)
        yield device(f'ncclDevKernel_AllReduce {tag}', 'kernel', 300, 100 + 5 * rank, c + 1, 9)
        yield host('cudaMemcpyAsync', 'cuda_runtime', 420, 10, correlation=c + 2)
        yield device('Memcpy HtoD (Pinned -> Device)', 'gpu_memcpy', 430, 50, c + 2, 7, bytes=4096,
                     **{'memory bandwidth (GB/s)': 2.5})
        yield step, at + 75, dict(ph='i', s='t', name='[memory]', pid=100, tid=100, ts=at + 75, args={
            'Device Type': 1, 'Device Id': 0, 'Addr': step, 'Bytes': 1024, 'Total Allocated': 1024 * step,
            'Total Reserved': 1 << 20})
        at += long


def write(name, keep):
    """One file per rank that holds what keep(rank, step, start) wants. The marks hold the trace's start and end."""
    files = []
    for rank in RANKS:
        events = [e for step, start, e in rows(rank) if keep(rank, step, start)]
        if not events:
            continue
        for at in (0, 6000):
            events.append(dict(ph='i', s='g', name='mark', pid=100, tid=100, ts=at))
        files.append(f'{name}.rank{rank}.json')
        with open(files[-1], 'w') as f:
            json.dump({'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': events}, f)
    return files


def look(name, files, *options):
    p = subprocess.run([SONDE, 'analyze', name, '--json', *options, *files], capture_output=True, text=True)
    assert p.returncode == 0, (name, options, p.stderr)
    assert p.stderr == '', (name, options, p.stderr)
    result = json.loads(p.stdout)
    # What is about the files, the rule for the warm-up, what was left out; a rule about the time before all steps.
    for key in ('file', 'n_files', 'headline', 'notes', 'n_warmup_steps', 'n_ranks', 'n_threads', 'n_streams',
                'n_processes', 'n_events', 'rules', 'n_passed', 'n_no_data', 'n_emitted', 'n_kept', 'duration_ns', 'memory', 'memory_timeline'):
        result.pop(key, None)
    for device in result.get('leak_devices', []):
        device.pop('before_bytes')  # what was held before: a file that begins later does not have it
    return result


def differ(a, b, path=''):
    if path.endswith(('.percent', '.slices', '.clock_offset_ns')):  # of the time looked at; numbers in the file
        return None
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((d for k in a if (d := differ(a[k], b[k], f'{path}.{k}'))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((d for i, (x, y) in enumerate(zip(a, b)) if (d := differ(x, y, f'{path}[{i}]'))), None)
    return None if a == b else f'{path}: {str(a)[:300]} and not {str(b)[:300]}'


def at(step):  # both ranks are in it from here on
    return max(start for rank in RANKS for s, start, e in rows(rank) if s == step and e['name'].startswith('ProfilerStep'))


whole = write('whole', lambda rank, step, start: True)
parts = {
    ('--steps', '4..5'): write('steps', lambda rank, step, start: 4 <= step <= 5),
    ('--steps', '7..'): write('last', lambda rank, step, start: step >= 7),
    ('--ranks', '1'): write('ranks', lambda rank, step, start: rank == 1),
    ('--from', '3ms', '--to', '4200us'): write('times', lambda rank, step, start: 3000 <= start < 4200),
    ('--warmup', '3'): write('warm', lambda rank, step, start: step > 3),
    ('--warmup', 'auto'): write('auto', lambda rank, step, start: step > 2),
    ('--steps', '6', '--ranks', '0'): write('both', lambda rank, step, start: step == 6 and rank == 0),
}
failed = 0
for name in NAMES:
    for options, files in parts.items():
        # a part has no warm-up of its own, unless it was asked for all the same
        got, wanted = look(name, whole, *options, *(() if '--warmup' in options or '--steps' in options else ('--warmup', 'none'))), \
            look(name, whole if name in ABOUT_FILE else files, '--warmup', 'none')
        d = differ(got, wanted)
        if d:
            print(f'{name} {" ".join(options)}: {d}', file=sys.stderr)
            failed += 1
    if name not in ABOUT_FILE | KEEPS_WARMUP and look(name, whole) != look(name, whole, '--warmup', 'auto'):
        print(f'{name}: auto is not the default', file=sys.stderr)
        failed += 1
sys.exit(failed > 0)
