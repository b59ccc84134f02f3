import assert from 'node:assert';
import test from 'node:test';
import type { Answer } from '../src/flame/tree';
import { bytesOf, firstEnding, range, readLanes } from '../src/file/columns';
import { around } from '../src/file/flame';
import { localSource, type FileData } from '../src/file/source';
import { decode, instantsOf } from '../src/timeline/range';

const varint = (value: number): number[] =>
	value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
// Lane 0: a 0..1000, then 5 short ones as one, 2000..2300, b 5e9..5e9+10. Lane 1, inside a: b 100..300.
const bytes = Uint8Array.from(
	[
		[0, 1000, 0],
		[2000, 300, 5, 5, 100],
		[5e9 - 2000, 10, 4],
		[100, 200, 6],
	]
		.flat()
		.flatMap(varint),
);
const heads = [
	{ lane: 0, track: 0, depth: 0, group: 0, n: 3, first_slice: 0 },
	{ lane: 1, track: 0, depth: 1, group: 0, n: 1, first_slice: 70 },
];
const lanes = readLanes(bytes, heads);

test('numbers come back, also beyond 32 bits', () => {
	assert.deepEqual([...lanes[0]!.start], [0, 2000, 5e9]);
	assert.deepEqual([...lanes[0]!.count], [1, 5, 1]);
	assert.deepEqual([...lanes[0]!.busy], [1000, 100, 10]);
	assert.deepEqual([...lanes[1]!.site], [1]);
	assert.deepEqual([...lanes[0]!.args, ...lanes[1]!.args], [-1, -1, -1, 0]);
	assert.equal(firstEnding(lanes[0]!, 1000), 1);
	assert.deepEqual([...bytesOf('AQID/w==')], [1, 2, 3, 255]);
});

test('rectangles are what the server would send', () => {
	const chunk = decode(
			range(lanes, 0, 4000, 40, () => false),
			0,
			4000,
			40,
			[0, 1],
		),
		{ at, n } = chunk.lanes.get(0)!;
	assert.equal(n, 2);
	assert.deepEqual(
		[...chunk.words.subarray(at * 4, at * 4 + 8)],
		[10 << 16, 0, ((255 << 24) | 1) >>> 0, 0, 20 | (3 << 16), 1, ((85 << 24) | 5) >>> 0, 1],
	);
	assert.equal(
		decode(
			range(lanes, 0, 1e10, 100, () => false),
			0,
			1e10,
			100,
			[0],
		).lanes.get(0)!.n,
		2,
	); // two share a pixel
	assert.equal(
		decode(
			range(lanes, 0, 4000, 40, (lane, i) => lane.dur[i]! < 500),
			0,
			4000,
			40,
			[0],
		).lanes.get(0)!.n,
		1,
	);
});

const merged: Answer = {
	unit: 'ns',
	total: 100,
	names: ['main', 'a', 'b'],
	classes: ['compute', 'compute', 'kernel'],
	name: [0, 1, 2, 2, 2],
	parent: [-1, 0, 0, 1, 3],
	value: [100, 30, 60, 10, 4],
	self: [10, 20, 60, 6, 4],
	count: [1, 3, 2, 1, 1],
};

test('callers and callees of a name; what is inside of itself counts once', () => {
	const callers = around(merged, 'b', true);
	assert.equal(callers.total, 70);
	assert.deepEqual(
		callers.name.map((name, i) => [merged.names[name], callers.parent[i], callers.value[i]]),
		[
			['b', -1, 70],
			['main', 0, 60],
			['a', 0, 10],
			['main', 2, 10],
		],
	);
	const callees = around(merged, 'a', false);
	assert.deepEqual(
		callees.name.map((name, i) => [merged.names[name], callees.parent[i], callees.value[i]]),
		[
			['a', -1, 30],
			['b', 0, 10],
			['b', 1, 4],
		],
	);
});

const base64 = (list: Iterable<number>): string => btoa(String.fromCharCode(...list));
const site = (name: string) => ({ name, category: 'c', class: 'kernel' });
const data: FileData = {
	note: '',
	answers: { '/sessions/1/sites': { total: 2, sites: [site('a'), site('b')] } },
	slices: { lanes: heads, bytes: base64(bytes), is_whole: true },
	// One record for the slice, one for an instant.
	args: {
		templates: [{ pieces: ['{"n": ', ', "text": ', '}'], kinds: [0, 1] }],
		texts: ['"<b>"', '[[2, 3], []]'],
		bytes: base64([0, ...varint(2 * 5e9 - 1), 0, 0, 6, 1]),
		is_whole: true,
	},
	arrows: { n: 2, bytes: base64([0, ...varint(140), ...varint(2 * 70 - 1), 1, ...varint(139), 4]) },
	instants: {
		tracks: [
			{ track: 0, n: 2 },
			{ track: 3, n: 1 },
		],
		bytes: base64([...varint(100), 1, 1, 10, 2, 4, 5, 0, 1]),
	},
	counters: {
		from: 0,
		to: 4000,
		answer: {
			px: 4,
			counters: [{ id: 7, name: 'loss', min: [null, 2, 1, 1], max: [null, 4, 3, 1] }],
		},
	},
	overlap: {
		from: 0,
		to: 4000,
		answer: { px: 2, ranks: [{ rank: 0, compute: [255, 0], communication: [0, 100], copy: [0, 0] }] },
	},
};
const ask = async (path: string): Promise<any> => (await localSource(data)(`/sessions/1${path}`, {})).json();

test('a file answers as the server does', async () => {
	const slice = await ask('/slices/70');
	assert.deepEqual(
		[slice.name, slice.start_ns, slice.dur_ns, slice.parents.map((one: { id: number }) => one.id)],
		['b', 100, 200, [0]],
	);
	assert.equal((await ask('/slices/0')).n_children, 1);
	assert.equal((await ask('/slices/1')).name, 'b and 4 more short ones');
	assert.equal((await ask('/slices/70/next?dir=next&by=name')).slice.id, 1);
	assert.equal((await ask('/slices/2/next?dir=previous&by=name')).slice.id, 1);
	assert.equal((await ask('/slices/0/next?dir=child')).slice.id, 70);
	const found = await ask('/search?q=B&from=0');
	assert.deepEqual([found.n_slices, found.slice.id], [2, 70]);
	assert.deepEqual(
		(await ask('/aggregate?from=0&to=500')).names.map((one: { name: string; total_ns: number }) => [
			one.name,
			one.total_ns,
		]),
		[
			['a', 500],
			['b', 200],
		],
	);
	assert.deepEqual((await ask('/aggregate?from=0&to=500')).tracks, [{ track: 0, n_slices: 2, covered_ns: 500 }]);
	assert.equal((await localSource(data)('/sessions/1/notes', { method: 'POST' })).status, 403);
	assert.equal((await localSource(data)('/sessions/1/sql', {})).status, 404);
});

test('a file has arguments, arrows, self time and instants', async () => {
	const slice = await ask('/slices/70'),
		outer = await ask('/slices/0');
	assert.deepEqual(slice.args, { n: -5e9, text: '<b>' });
	assert.deepEqual([slice.self_ns, outer.self_ns, outer.args], [200, 800, {}]);
	assert.deepEqual(
		slice.flows.map((flow: any) => [flow.dir, flow.kind, flow.name, flow.slice.id]),
		[['out', 'launch', 'launch', 0]],
	);
	assert.deepEqual(
		outer.flows.map((flow: any) => [flow.dir, flow.kind, flow.name, flow.slice.id]),
		[
			['in', 'launch', 'launch', 70],
			['out', 'flow', 'a', 2],
		],
	);
	const mark = await ask('/instants/0');
	assert.deepEqual(
		[mark.name, mark.time_ns, mark.args, mark.previous, mark.next],
		['a', 100, { n: 3, text: [[2, 3], []] }, null, 1],
	);
	const several = await ask('/instants/1');
	assert.deepEqual([several.name, several.time_ns, several.args, several.next], ['b and 3 more', 110, {}, null]);
	assert.ok((await ask('/instants/3')).error);
	const found = await ask('/search?q=b&from=0');
	assert.deepEqual([found.n_instants, found.instant.time_ns], [4, 110]);
	assert.equal((await ask('/search?q=b&from=0&after_instant=1')).instant, null);
	assert.equal((await ask('/search?q=a&from=111&dir=previous')).instant.id, 0);
	const answer = await localSource(data)('/sessions/1/range?from=0&to=4000&px=40&lanes=0&instants=0,3', {}),
		chunk = decode(await answer.arrayBuffer(), 0, 4000, 40, []),
		{ at, n } = chunk.lanes.get(instantsOf(0))!;
	assert.deepEqual([n, chunk.words[at * 4]! & 0xffff, chunk.words[at * 4 + 2]! & 0xffffff], [1, 1, 5]);
	assert.equal(chunk.lanes.get(instantsOf(3))!.n, 1);
});

test('what was left out is said to be', async () => {
	const cut = { ...data, args: { ...data.args!, is_whole: false }, slices: { ...data.slices!, is_whole: false } };
	const outer = await (await localSource(cut)('/sessions/1/slices/0', {})).json();
	assert.deepEqual([outer.args, outer.self_ns], [{ '': 'not in this file' }, null]);
});

test('counters and overlap fit the pixels of the view', async () => {
	const [loss] = (await ask('/counters?ids=7&from=1000&to=3000&px=4')).counters;
	assert.deepEqual([loss.min, loss.max, loss.lowest, loss.highest], [[2, 2, 1, 1], [4, 4, 3, 3], 1, 4]);
	const [all] = (await ask('/counters?ids=7&from=0&to=8000&px=4')).counters;
	assert.deepEqual(
		[all.min, all.max],
		[
			[2, 1, null, null],
			[4, 3, null, null],
		],
	);
	assert.deepEqual((await ask('/counters?ids=1&from=0&to=8000&px=4')).counters, []);
	const [rank] = (await ask('/overlap?from=0&to=4000&px=1')).ranks;
	assert.deepEqual([rank.compute, rank.communication], [[128], [50]]);
});
