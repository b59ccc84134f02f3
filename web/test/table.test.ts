import assert from 'node:assert';
import test from 'node:test';
import * as address from '../src/data/address';
import { placeOf, resultOf, tableOf, typeOf, type Finding } from '../src/data/result';
import { barColumn, cellText, csv, nextSort, order, paperLimit, unitOf } from '../src/data/table';

const table = tableOf('names', [
	{ name: 'b', calls: 10, total_ns: 5, depth: 0 },
	{ name: '=cmd', calls: null, total_ns: 7, depth: 1 },
	{ name: 'a "q", x', calls: 2, total_ns: 2e9, depth: 1 },
]);

test('columns are told by their keys', () => {
	assert.deepEqual(
		table.columns.map(column => [column.header, column.type]),
		[
			['name', 'string'],
			['calls', 'count'],
			['total', 'ns'],
		],
	);
	assert.deepEqual(table.depths, [0, 1, 1]);
	assert.equal(typeOf('rank', [0, 1]), 'integer');
	assert.equal(typeOf('x', [null, 0.5]), 'number');
	assert.equal(barColumn(table), 2);
	assert.equal(unitOf(table, 2)!.name, 'ms');
});

test('sorting: numbers down, names up, unknown last, a third time as it was', () => {
	let sort = nextSort(null, 1, true);
	assert.deepEqual(order(table, sort, ''), [0, 2, 1]);
	sort = nextSort(sort, 1, true);
	assert.deepEqual(order(table, sort, ''), [2, 0, 1]);
	assert.equal(nextSort(sort, 1, true), null);
	assert.deepEqual(order(table, nextSort(null, 0, false), ''), [1, 2, 0]);
});

test('the filter looks at what is shown', () => {
	assert.deepEqual(order(table, null, ' Q" '), [2]);
	assert.deepEqual(order(table, null, '2.00 s'), [2]);
	assert.deepEqual(order(table, null, 'nothing'), []);
});

test('CSV is exact and inert', () => {
	assert.equal(
		csv(table, [0, 1, 2]),
		'name,calls,total_ns\r\nb,10,5\r\n"\'=cmd",,7\r\n"a ""q"", x",2,2000000000\r\n',
	);
});

test('unknown is a dash', () => {
	assert.equal(cellText(table.columns[1]!, null), '-');
	assert.equal(cellText({ key: 'ok', header: 'ok', type: 'bool' }, false), 'no');
});

test('a result falls into values, findings, tables and notes', () => {
	const result = resultOf({
		schema: 'sonde.x/1',
		duration_ns: 5,
		findings: [],
		steps: [{ step: 1, dur_ns: 3 }],
		ranks: [0, 1],
		notes: [{ label: 'lost', text: '3 events' }],
		view: {
			headline: 'All is well.',
			tables: [{ key: 'steps', title: 'Steps', chart: { kind: 'bars', x: 'step', y: 'dur_ns' } }],
		},
	});
	assert.equal(result.headline, 'All is well.');
	assert.deepEqual(result.values, [['duration_ns', 5]]);
	assert.deepEqual(result.findings, []);
	assert.equal(result.tables.length, 1);
	assert.equal(result.tables[0]!.title, 'Steps');
	assert.equal(result.tables[0]!.chart!.kind, 'bars');
	assert.equal(result.notes[0]!.text, '3 events');
});

test('the address holds any text', () => {
	const params = { s: '1', v: 'timeline', q: 'a&b=c#d%+é <x>', from: '12' };
	const hash = address.format(params);
	assert.ok(hash.startsWith('#s=1&v=timeline&from=12'));
	assert.deepEqual({ ...address.parse(hash) }, params);
	assert.deepEqual({ ...address.parse('#a=%zz&b=1&=x&c') }, { b: '1' });
	assert.equal(address.integer('12x'), null);
	assert.equal(address.integer('-3'), -3);
});

test('a few large values do not take the unit from the others', () => {
	const of = (values: (number | null)[]) =>
		unitOf(
			tableOf(
				'x',
				values.map(dur_ns => ({ dur_ns })),
			),
			0,
		)!.name;
	assert.equal(of([2e9, 1e9, 5e7]), 's');
	assert.equal(of([2e9, 5e6, 6e6, null]), 'ms');
	assert.equal(of([2e12, 5e6, 6e6]), 's'); // 2,000,000 ms can no longer be read
	assert.equal(of([0, 0]), 's');
});

test('times of several runs and their difference have one unit', () => {
	const sides = tableOf('kernels', [
		{ a_ns: 5e4, b_ns: 2e6, diff_ns: 1.95e6, other_ns: 5e4 },
		{ a_ns: 7e6, b_ns: 1e7, diff_ns: 3e6, other_ns: 5e4 },
	]);
	assert.deepEqual(
		sides.columns.map((_, i) => unitOf(sides, i)!.name),
		['ms', 'ms', 'ms', 'us'],
	);
});

test('what does not fit on paper is left out by its priority', () => {
	const row = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, i]));
	const wide = tableOf('wide', [row]);
	wide.columns.forEach((column, i) => (column.priority = i < 5 ? 0 : i < 10 ? 1 : 2));
	assert.equal(paperLimit(wide), 1);
	wide.columns.forEach((column, i) => (column.hidden = i >= 10));
	assert.equal(paperLimit(wide), 1);
	assert.equal(paperLimit(table), 0);
});

test('evidence says where it is', () => {
	const finding: Finding = {
		rule: 'r',
		severity: 'low',
		seconds_lost: null,
		share: null,
		confidence: null,
		title: 't',
		evidence: [],
		suggestion: null,
		affected: [],
		slices: [],
		from_ns: null,
		to_ns: null,
		first_step: null,
		last_step: null,
		rank: null,
	};
	assert.equal(placeOf(finding), '');
	assert.equal(placeOf({ ...finding, from_ns: 2.51e7, to_ns: 2.51123e7 }), '25.1 ms for 12.3 us');
	assert.equal(placeOf({ ...finding, first_step: 3, last_step: 3, slices: [17] }), 'step 3, slice 17');
	assert.equal(
		placeOf({
			...finding,
			rank: 2,
			first_step: 11,
			last_step: 200,
			from_ns: 4.81e9,
			to_ns: 9.2e9,
			slices: [1, 2, 3, 4, 5, 6],
		}),
		'rank 2, steps 11-200, 4.81 s to 9.20 s, slices 1, 2, 3, 4, 5 and 1 more',
	);
});
