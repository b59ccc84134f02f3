import assert from 'node:assert';
import test from 'node:test';
import { median, partsOf, rolesOf, stepTimes, total } from '../src/data/breakdown';
import { chartOf } from '../src/data/chart';
import { tableOf } from '../src/data/result';

test('each moment of a step has one role', () => {
	const table = tableOf('roles', [
		{ rank: 0, role: 'kernel', total_ns: 60 },
		{ rank: 0, role: 'memcpy', total_ns: 5 },
		{ rank: 0, role: 'memset', total_ns: 5 },
		{ rank: 0, role: 'other', total_ns: 30 },
		{ rank: 1, role: 'kernel', total_ns: 0 },
	]);
	const [one, ...rest] = rolesOf(table);
	assert.equal(rest.length, 0);
	assert.equal(one!.span, 100);
	assert.deepEqual(
		one!.parts.filter(part => part.ns).map(part => [part.name, part.ns]),
		[
			['kernels', 60],
			['copies', 10],
			['nothing', 30],
		],
	);
});

test('a step takes as long as its slowest rank', () => {
	const table = tableOf('steps', [
		{ rank: 0, step: 2, dur_ns: 5 },
		{ rank: 1, step: 2, dur_ns: 9 },
		{ rank: 0, step: 1, dur_ns: 7 },
		{ rank: 0, step: 3, dur_ns: null },
	]);
	assert.deepEqual(stepTimes(table), [
		{ step: 1, ns: 7, nRanks: 1 },
		{ step: 2, ns: 9, nRanks: 2 },
	]);
});

test('median', () => {
	assert.equal(median([]), null);
	assert.equal(median([3, 1, 2]), 2);
	assert.equal(median([4, 1, 2, 3]), 2.5);
});

test('a chart has one line for each value of its series, aligned', () => {
	const rows = [
		{ t: 0, rank: 0, v: 1 },
		{ t: 1, rank: 1, v: 2 },
		{ t: 2, rank: 0, v: 3 },
	];
	const lines = chartOf({ ...tableOf('x', rows), chart: { kind: 'line', x: 't', y: 'v', series: 'rank' } })!;
	assert.deepEqual(
		lines.series.map(one => [one.name, one.values]),
		[
			['rank 0', [1, null, 3]],
			['rank 1', [null, 2, null]],
		],
	);
	const steps = chartOf({ ...tableOf('x', rows), chart: { kind: 'steps', x: 't', y: 'v', series: 'rank' } })!;
	assert.deepEqual(steps.series[1]!.values, [null, 2, 2]);
	assert.equal(chartOf({ ...tableOf('x', rows), chart: { kind: 'line', x: 'nothing', y: 'v' } }), null);
});

test('parts of a row add up, and rows are told by step and rank', () => {
	const share = { rank: 0, compiling_ns: 1, compiled_ns: 2, eager_ns: 3, other_ns: 4 };
	const parts = ['compiling_ns', 'compiled_ns', 'eager_ns', 'other_ns', 'nothing'];
	const of = (rows: Record<string, unknown>[]) => partsOf({ ...tableOf('compile_steps', rows), parts });
	const steps = of([
		{ step: 7, ...share },
		{ step: 8, ...share, compiling_ns: null },
		{ step: 9, rank: 0, compiling_ns: -5, compiled_ns: 0, eager_ns: 0, other_ns: 0 },
	]);
	assert.deepEqual(
		steps.map(one => [one.name, one.span]),
		[
			['step 7', 10],
			['step 8', 9],
		],
	);
	assert.deepEqual(
		steps[0]!.parts.map(part => [part.name, part.ns, part.hue]),
		[
			['compiling', 1, 1],
			['compiled', 2, 2],
			['eager', 3, 0],
			['other', 4, 8],
		],
	);
	assert.deepEqual(
		of([share]).map(one => one.name),
		['rank 0'],
	);
	assert.equal(
		of([
			{ step: 1, ...share },
			{ step: 1, ...share, rank: 1 },
		])[1]!.name,
		'step 1, rank 1',
	);
	assert.deepEqual(
		total(steps)!.parts.map(part => part.ns),
		[1, 4, 6, 8],
	);
	assert.equal(total([]), null);
	assert.deepEqual(partsOf(tableOf('x', [share])), []);
});
