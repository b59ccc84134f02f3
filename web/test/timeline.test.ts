import assert from 'node:assert';
import test from 'node:test';
import { HEIGHT, laneTop, layout, processLabel, rowAt } from '../src/timeline/layout';
import { mix, paint, rgb, type Colors, type Frame } from '../src/timeline/paint';
import { byFit, decode, eachRect, instantsOf, laneList, type Chunk } from '../src/timeline/range';
import { clamp, fit, pan, reveal, ticks, zoom } from '../src/timeline/viewport';
import type { Tracks } from '../src/state/types';

type Rect = [x: number, width: number, site: number, n: number, busy: number, slice: number];

function encode(lanes: [number, Rect[]][], tracks: [number, Rect[]][] = [], flags = 0): ArrayBuffer {
	const words = [0x31524e53, lanes.length];
	for (const [lane, rects] of lanes) words.push(lane, rects.length);
	for (const [, rects] of lanes)
		for (const [x, width, site, n, busy, slice] of rects)
			words.push((x | (width << 16)) >>> 0, site, (n | (busy << 24)) >>> 0, slice);
	words.push(flags, tracks.length, 0, 0);
	for (const [track, rects] of tracks) words.push(track, rects.length, 0, 0);
	for (const [, rects] of tracks)
		for (const [x, width, site, n, busy, slice] of rects)
			words.push((x | (width << 16)) >>> 0, site, (n | (busy << 24)) >>> 0, slice);
	return new Uint32Array(words).buffer;
}

const seen = (chunks: Chunk[], lane: number, from: number, to: number, width: number): number[][] => {
	const list: number[][] = [];
	eachRect(chunks, lane, { from, to, width }, (...rect) => list.push(rect));
	return list;
};

test('rectangles come out as they were sent', () => {
	const chunk = decode(
		encode([
			[
				3,
				[
					[0, 10, 5, 1, 255, 0],
					[12, 1, 6, 0xffffff, 128, 1],
				],
			],
			[9, []],
		]),
		1000,
		1100,
		100,
		[3, 9, 11],
	);
	assert.deepEqual(seen([chunk], 3, 1000, 1100, 100), [
		[0, 10, 5, 1, 255, 0],
		[12, 13, 6, 0xffffff, 128, 1],
	]);
	assert.deepEqual(seen([chunk], 11, 1000, 1100, 100), []);
	assert.ok(chunk.lanes.has(11));
});

test('instants lie behind the rectangles, track by track', () => {
	const chunk = decode(
		encode(
			[[0, [[3, 4, 1, 1, 255, 0]]]],
			[
				[2, [[5, 1, 6, 1, 255, 40]]],
				[
					7,
					[
						[0, 1, 6, 3, 255, 41],
						[9, 1, 5, 1, 255, 44],
					],
				],
			],
			1,
		),
		0,
		10,
		10,
		[0, instantsOf(2), instantsOf(7), instantsOf(8)],
	);
	assert.ok(chunk.isRough);
	assert.deepEqual(seen([chunk], 0, 0, 10, 10), [[3, 7, 1, 1, 255, 0]]);
	assert.deepEqual(seen([chunk], instantsOf(2), 0, 10, 10), [[5, 6, 6, 1, 255, 40]]);
	assert.deepEqual(
		seen([chunk], instantsOf(7), 0, 10, 10).map(one => one[5]),
		[41, 44],
	);
	assert.ok(chunk.lanes.has(instantsOf(8)));
	const cut = encode([], [[2, [[5, 1, 6, 1, 255, 40]]]]);
	for (let bytes = 8; bytes < cut.byteLength; bytes += 4)
		assert.throws(() => decode(cut.slice(0, bytes), 0, 1, 1, []));
});

test('what is no answer is refused', () => {
	for (const bytes of [0, 4, 8, 9, 12]) assert.throws(() => decode(new ArrayBuffer(bytes), 0, 1, 1, []));
	assert.throws(() => decode(encode([[0, [[0, 1, 0, 1, 255, 0]]]]).slice(0, -4), 0, 1, 1, []));
});

test('a finer chunk covers what it has, a coarser the rest', () => {
	const coarse = decode(encode([[0, [[0, 100, 1, 9, 255, 0]]]]), 0, 1000, 100, [0]);
	const fine = decode(encode([[0, [[0, 50, 2, 1, 255, 4]]]]), 400, 500, 100, [0]);
	assert.deepEqual(byFit([coarse, fine], { from: 400, to: 500, width: 100 })[0], fine);
	const rects = seen(byFit([coarse, fine], { from: 300, to: 600, width: 300 }), 0, 300, 600, 300);
	assert.deepEqual(
		rects.map(([x0, x1, site]) => [x0, x1, site]),
		[
			[0, 100, 1],
			[100, 150, 2],
			[200, 300, 1],
		],
	);
});

test('panning by whole pixels moves rectangles by whole pixels', () => {
	const chunk = decode(encode([[0, [[7, 3, 1, 1, 255, 0]]]]), 0, 1000, 100, [0]);
	assert.deepEqual(seen([chunk], 0, 50, 550, 50), [[2, 5, 1, 1, 255, 0]]);
	assert.deepEqual(seen([chunk], 0, 90, 590, 50), [[0, 1, 1, 1, 255, 0]]);
});

test('lanes as a list', () => {
	assert.equal(laneList([4, 0, 1, 2, 9, 10, 7]), '0-2,4,7,9-10');
	assert.equal(laneList([]), '');
});

test('the view stays within the trace', () => {
	assert.deepEqual(clamp({ from: -50, to: 50 }, 1000), { from: 0, to: 100 });
	assert.deepEqual(clamp({ from: 990, to: 1090 }, 1000), { from: 900, to: 1000 });
	assert.deepEqual(clamp({ from: -5, to: 5000 }, 1000), { from: 0, to: 1000 });
	assert.deepEqual(pan({ from: 0, to: 100 }, 30.4, 1000), { from: 30, to: 130 });
	const near = zoom({ from: 0, to: 1000 }, 0.5, 0.25, 1000);
	assert.deepEqual(near, { from: 125, to: 625 });
	let view = { from: 0, to: 1e15 };
	for (let i = 0; i < 200; i++) view = zoom(view, 0.7, 0.31, 1e15);
	assert.equal(view.to - view.from, 20);
	assert.ok(Number.isInteger(view.from));
	assert.deepEqual(fit(100, 200, 1000), { from: 90, to: 210 });
});

test('what is in sight is not moved', () => {
	const view = { from: 0, to: 1000 };
	assert.equal(reveal(view, 400, 500, 10000), view);
	assert.deepEqual(reveal(view, 1400, 1500, 10000), { from: 950, to: 1950 });
	assert.deepEqual(reveal(view, 4000, 6000, 10000), { from: 0, to: 10000 });
});

test('the ruler has round steps and room for its labels', () => {
	const { step, ticks: list } = ticks({ from: 0, to: 1_000_000 }, 1000, 110);
	assert.equal(step, 200_000);
	assert.deepEqual(
		list.filter(tick => tick.isMajor).map(tick => tick.ns),
		[0, 200_000, 400_000, 600_000, 800_000, 1_000_000],
	);
	assert.equal(ticks({ from: 5, to: 25 }, 2000, 110).step, 2);
	assert.ok(ticks({ from: 1e14, to: 1e14 + 20 }, 2560).ticks.length < 60);
});

const tracks: Tracks = {
	processes: [
		{ id: 0, name: 'python', rank: 1, sort: 0 },
		{ id: 1, name: 'python', rank: 0, sort: 0 },
	],
	tracks: [
		{ id: 0, kind: 'thread', name: 'main', rank: 1, process: 0, sort: 0, n_slices: 3 },
		{ id: 1, kind: 'thread', name: null, number: 77, rank: 0, process: 1, sort: 2, n_slices: 3 },
		{ id: 2, kind: 'stream', name: null, number: 7, rank: 0, process: 1, sort: 1, n_slices: 1 },
	],
	lanes: [
		{ lane: 0, track: 0, group: 0, depth: 0, n_slices: 1, first_slice: 0 },
		{ lane: 1, track: 0, group: 0, depth: 1, n_slices: 2, first_slice: 1 },
		{ lane: 2, track: 1, group: 0, depth: 0, n_slices: 3, first_slice: 3 },
		{ lane: 3, track: 2, group: 0, depth: 0, n_slices: 1, first_slice: 6 },
	],
	counters: [{ id: 0, name: 'loss', track: 1, n_values: 3 }],
};
const plain = {
	folded: new Set<string>(),
	pinned: new Set<string>(),
	maxDepth: Infinity,
	ranks: null,
	overlapRanks: new Set([0]),
	emptyLanes: new Set<number>(),
	filter: '',
};

test('ranks in order, tracks by their sort, counters below their track', () => {
	const { rows, height } = layout(tracks, plain);
	assert.deepEqual(
		rows.map(row => row.label),
		['rank 0 · python', 'overlap', 'stream 7', 'thread 77', 'loss', 'rank 1 · python', 'main'],
	);
	assert.equal(
		height,
		rows.reduce((sum, row) => sum + row.height, 0),
	);
	assert.equal(laneTop(rows, 1)!.y, laneTop(rows, 0)!.y + HEIGHT.lane);
	assert.equal(rowAt(rows, rows[3]!.y + 1), rows[3]);
	assert.equal(rowAt(rows, height + 1), null);
});

test('folding, pinning, depth and ranks', () => {
	assert.deepEqual(
		layout(tracks, { ...plain, folded: new Set(['p1']) }).rows.map(row => row.label),
		['rank 0 · python', 'overlap', 'rank 1 · python', 'main'],
	);
	const pinned = layout(tracks, { ...plain, pinned: new Set(['t2']), folded: new Set(['p1']) });
	assert.deepEqual(
		pinned.pinned.map(row => row.label),
		['stream 7'],
	);
	assert.ok(pinned.pinnedHeight > 0);
	const shallow = layout(tracks, { ...plain, maxDepth: 1, ranks: new Set([1]) });
	assert.deepEqual(
		shallow.rows.map(row => [row.label, row.lanes.length, row.nHidden]),
		[
			['rank 1 · python', 0, 0],
			['main', 1, 1],
		],
	);
	assert.deepEqual(
		layout(tracks, { ...plain, filter: 'MAIN' }).rows.map(row => row.label),
		['rank 1 · python', 'main'],
	);
});

const colors: Colors = {
	sites: new Uint32Array([rgb(200, 0, 0), rgb(0, 200, 0)]),
	back: rgb(255, 255, 255),
	line: rgb(9, 9, 9),
	classes: [1, 2, 3],
	counter: 4,
	counterSoft: 5,
};
const frame = (more: Partial<Frame>): Frame => ({
	view: { from: 0, to: 100, width: 100 },
	height: 10,
	clip: 0,
	pinned: [],
	rows: [],
	instants: { pinned: [], rows: [] },
	bands: [],
	groupPx: 0,
	...more,
});

test('a lane is painted in its rows and nowhere else', () => {
	const chunk = decode(
		encode([
			[
				0,
				[
					[10, 20, 0, 1, 255, 0],
					[40, 1, 1, 5, 0, 1],
				],
			],
		]),
		0,
		100,
		100,
		[0],
	);
	const pixels = new Uint32Array(1000);
	paint(
		pixels,
		frame({ rows: [{ lane: 0, y: 2, height: 3 }] }),
		{ chunks: [chunk], overlap: [], counters: [] },
		colors,
	);
	assert.equal(pixels[1 * 100 + 15], colors.back);
	for (const y of [2, 3, 4]) assert.equal(pixels[y * 100 + 15], colors.sites[0]);
	assert.equal(pixels[5 * 100 + 15], colors.back);
	assert.equal(pixels[2 * 100 + 29], mix(colors.sites[0]!, colors.back, 0.25));
	assert.equal(pixels[2 * 100 + 40], mix(colors.sites[1]!, colors.back, 0.25)); // hardly busy: density, not noise
});

test('a row that sticks out is cut, below pinned ones too', () => {
	const chunk = decode(encode([[0, [[0, 100, 0, 1, 255, 0]]]]), 0, 100, 100, [0]);
	const pixels = new Uint32Array(1000);
	paint(
		pixels,
		frame({
			clip: 4,
			rows: [
				{ lane: 0, y: 2, height: 4 },
				{ lane: 0, y: 8, height: 9 },
				{ lane: 0, y: -9, height: 4 },
			],
		}),
		{ chunks: [chunk], overlap: [], counters: [] },
		colors,
	);
	const lines = Array.from({ length: 10 }, (_, y) => (pixels[y * 100] === colors.sites[0] ? 'x' : '.')).join('');
	assert.equal(lines, '....xx..xx');
});

test('an instant is a triangle that points at its time, in its row', () => {
	const chunk = decode(encode([], [[4, [[50, 1, 1, 1, 255, 0]]]]), 0, 100, 100, [instantsOf(4)]);
	const pixels = new Uint32Array(1000),
		rows = [{ lane: instantsOf(4), y: 2, height: 5 }];
	paint(
		pixels,
		frame({ instants: { pinned: [], rows } }),
		{ chunks: [chunk], overlap: [], counters: [] },
		colors,
	);
	const line = (y: number): number =>
		Array.from({ length: 100 }, (_, x) => pixels[y * 100 + x]).filter(one => one === colors.sites[1])
			.length;
	assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(line), [0, 5, 5, 3, 3, 1, 0]);
	assert.equal(pixels[6 * 100 + 50], colors.sites[1]);
});

test('a process is called by what is known of it', () => {
	const one = { id: 0, pid: 7, name: null, rank: null };
	assert.equal(processLabel(one), 'process 7');
	assert.equal(processLabel({ ...one, labels: 'GPU 0', rank: 3 }), 'rank 3 · GPU 0');
	assert.equal(processLabel({ ...one, name: 'python', labels: 'CPU' }), 'python · CPU');
	assert.equal(processLabel({ ...one, name: 'rank 3', rank: 3 }), 'rank 3');
});

test('devices come first in their rank, lanes that a filter empties go', () => {
	const two = {
		...tracks,
		processes: [...tracks.processes, { id: 2, name: 'host', rank: 0, sort: -1 }],
		tracks: [
			...tracks.tracks,
			{
				id: 3,
				kind: 'thread' as const,
				name: 'loader',
				rank: 0,
				process: 2,
				sort: 0,
				n_slices: 2,
			},
		],
		lanes: [
			...tracks.lanes,
			{ lane: 4, track: 3, group: 0, depth: 0, n_slices: 1, first_slice: 7 },
			{ lane: 5, track: 3, group: 0, depth: 1, n_slices: 1, first_slice: 8 },
		],
	};
	const { rows } = layout(two, { ...plain, emptyLanes: new Set([4, 0, 1]) });
	assert.deepEqual(
		rows.filter(row => row.kind === 'process').map(row => row.label),
		['rank 0 · python', 'rank 0 · host'],
	);
	const { rows: flat } = layout(two, { ...plain, emptyLanes: new Set([4]), maxDepth: 1 });
	for (const list of [rows, flat])
		assert.deepEqual(
			list.find(row => row.label === 'loader')!.lanes.map(lane => lane.lane),
			[5],
		);
});

test('a track with instants has room for them above its lanes', () => {
	const own = {
		...tracks,
		tracks: [
			...tracks.tracks.map(track => ({ ...track, n_instants: track.id === 0 ? 4 : 0 })),
			{
				id: 3,
				kind: 'process' as const,
				name: null,
				rank: 1,
				process: 0,
				sort: 9,
				n_slices: 0,
				n_instants: 2,
			},
		],
	};
	const { rows } = layout(own, plain),
		main = rows.find(row => row.label === 'main')!,
		alone = rows.find(row => row.track?.id === 3)!;
	assert.equal(main.lanesAt, HEIGHT.instants);
	assert.equal(main.height, HEIGHT.instants + 2 * HEIGHT.lane + HEIGHT.gap);
	assert.deepEqual(laneTop(rows, 1), { row: main, y: main.y + HEIGHT.instants + HEIGHT.lane });
	assert.equal(alone.height, HEIGHT.instants + HEIGHT.gap);
	assert.equal(rows.find(row => row.label === 'stream 7')!.lanesAt, 0);
});

test('small boxes are drawn together when asked to', () => {
	const chunk = decode(
		encode([
			[
				0,
				[
					[10, 2, 0, 1, 255, 0],
					[13, 2, 1, 1, 255, 1],
					[16, 2, 1, 1, 255, 2],
					[40, 20, 1, 1, 255, 3],
				],
			],
		]),
		0,
		100,
		100,
		[0],
	);
	const pixels = new Uint32Array(1000);
	paint(
		pixels,
		frame({ groupPx: 4, rows: [{ lane: 0, y: 0, height: 1 }] }),
		{ chunks: [chunk], overlap: [], counters: [] },
		colors,
	);
	for (let x = 10; x < 18; x++) assert.equal(pixels[x], colors.sites[0]);
	assert.equal(pixels[18], colors.back);
	assert.equal(pixels[41], colors.sites[1]);
});

test('overlap and counters are painted into their bands', () => {
	const pixels = new Uint32Array(1000);
	const overlap = [
		{
			from: 0,
			to: 100,
			px: 2,
			ranks: new Map([
				[0, [new Uint8Array([255, 0]), new Uint8Array([0, 128]), new Uint8Array([0, 0])]],
			]),
		},
	];
	const counters = [
		{
			from: 0,
			to: 100,
			px: 2,
			counters: new Map([
				[
					3,
					{
						min: Float64Array.of(NaN, 5),
						max: Float64Array.of(NaN, 10),
						lowest: 0,
						highest: 10,
					},
				],
			]),
		},
	];
	paint(
		pixels,
		frame({
			bands: [
				{ kind: 'overlap', y: 0, height: 4, id: 0 },
				{ kind: 'counter', y: 4, height: 6, id: 3 },
			],
		}),
		{ chunks: [], overlap, counters },
		colors,
	);
	assert.deepEqual(
		[0, 1, 2, 3].map(y => pixels[y * 100 + 10]),
		[1, 1, 1, 1],
	);
	assert.deepEqual(
		[0, 1, 2, 3].map(y => pixels[y * 100 + 90]),
		[colors.line, colors.line, 2, 2],
	);
	assert.equal(pixels[9 * 100 + 10], colors.back); // no value yet: nothing, not 0
	assert.deepEqual(
		[5, 6, 7, 8, 9].map(y => pixels[y * 100 + 90]),
		[colors.back, 4, 4, 5, 5],
	);
});
