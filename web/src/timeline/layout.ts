// From processes, tracks and lanes to rows of the timeline. No DOM, no pixels of a screen: CSS px from the top.
import { groupBy } from '../data/group';
import type { Counter, Lane, Process, Track, Tracks } from '../state/types';

export const HEIGHT = { process: 26, lane: 18, overlap: 12, counter: 40, instants: 12, gap: 6 };

export interface Row {
	kind: 'process' | 'overlap' | 'track' | 'counter';
	key: string;
	y: number;
	height: number;
	label: string;
	detail: string;
	process: number;
	rank: number | null;
	track: Track | null;
	counter: Counter | null;
	lanes: Lane[]; // one below the other, HEIGHT.lane each
	lanesAt: number; // px above them, where the track's instants are; 0: it has none
	isFolded: boolean;
	isPinned: boolean;
	nHidden: number; // lanes that are not shown
}

export interface LayoutOptions {
	folded: ReadonlySet<string>; // keys of rows
	pinned: ReadonlySet<string>;
	maxDepth: number; // Infinity: all
	ranks: ReadonlySet<number> | null;
	overlapRanks: ReadonlySet<number>; // that have a strip
	emptyLanes: ReadonlySet<number>; // of which the filters leave nothing
	filter: string; // of track names
}

export const processKey = (process: Process): string => `p${process.id}`;
export const trackKey = (track: Track): string => `t${track.id}`;
export const counterKey = (counter: Counter): string => `c${counter.id}`;

export function processLabel(process: Process): string {
	const number = typeof process.pid === 'number' ? `process ${process.pid}` : process.pid || 'process';
	const name = [process.name, process.labels].filter(Boolean).join(' · ') || number;
	return process.rank !== null && process.rank !== undefined && process.rank >= 0 && !/rank/i.test(name)
		? `rank ${process.rank} · ${name}`
		: name;
}

export function trackLabel(track: Track): string {
	if (track.name?.trim()) return track.name.trim();
	const id = track.number ?? track.id;
	if (typeof id === 'string' && id) return id;
	return track.kind === 'stream'
		? `stream ${id}`
		: track.kind === 'async'
			? 'async'
			: track.kind === 'process'
				? 'process'
				: `thread ${id}`;
}

const bySort = (a: { sort?: number; id: number }, b: { sort?: number; id: number }): number =>
	(a.sort ?? 0) - (b.sort ?? 0) || a.id - b.id;

// Depth counts what is there: lanes that a filter has emptied do not.
function shownLanes(lanes: Lane[], maxDepth: number, isFolded: boolean): Lane[] {
	const seen = new Map<number, number>(); // lanes of a group so far
	return lanes.filter((lane, i) => {
		const depth = seen.get(lane.group) ?? 0;
		seen.set(lane.group, depth + 1);
		return isFolded ? i === 0 : depth < maxDepth;
	});
}

export interface Layout {
	rows: Row[];
	pinned: Row[];
	height: number;
	pinnedHeight: number;
}

export function layout(all: Tracks, options: LayoutOptions): Layout {
	const lanesOf = groupBy(all.lanes, lane => lane.track);
	const countersOf = groupBy(all.counters, counter => counter.track);
	const tracksOf = groupBy(all.tracks, track => track.process);
	const wanted = options.filter.trim().toLowerCase();
	const rows: Row[] = [],
		pinned: Row[] = [];

	const make = (
		row: Partial<Row> & Pick<Row, 'kind' | 'key' | 'height' | 'label' | 'process' | 'rank'>,
	): Row => ({
		y: 0,
		detail: '',
		track: null,
		counter: null,
		lanes: [],
		lanesAt: 0,
		nHidden: 0,
		isFolded: options.folded.has(row.key),
		isPinned: options.pinned.has(row.key),
		...row,
	});
	const place = (row: Row): void => {
		(row.isPinned ? pinned : rows).push(row);
	};
	// Devices have few rows and come first, so that they and what drives them are in sight. A process of which there
	// are but instants says when something was recorded: that comes last.
	const standing = (process: Process): number => {
		const own = tracksOf.get(process.id) ?? [];
		if (own.some(track => track.kind === 'stream')) return 0;
		return own.some(track => track.n_slices || countersOf.has(track.id)) ? 1 : 2;
	};
	const order = (a: Process, b: Process): number =>
		Number(standing(a) === 2) - Number(standing(b) === 2) ||
		(a.rank ?? -1) - (b.rank ?? -1) ||
		standing(a) - standing(b) ||
		bySort(a, b);
	for (const process of [...all.processes].sort(order)) {
		const { rank } = process;
		if (options.ranks && rank !== null && rank >= 0 && !options.ranks.has(rank)) continue;
		const inside: Row[] = [];
		for (const track of (tracksOf.get(process.id) ?? []).sort(bySort)) {
			const label = trackLabel(track),
				lanes = (lanesOf.get(track.id) ?? []).filter(
					lane => !options.emptyLanes.has(lane.lane),
				);
			if (wanted && !label.toLowerCase().includes(wanted)) continue;
			const shown = shownLanes(lanes, options.maxDepth, options.folded.has(trackKey(track))),
				lanesAt = track.n_instants ? HEIGHT.instants : 0;
			if (shown.length || lanesAt)
				inside.push(
					make({
						kind: 'track',
						key: trackKey(track),
						label,
						process: process.id,
						rank,
						track,
						lanes: shown,
						lanesAt,
						height: lanesAt + shown.length * HEIGHT.lane + HEIGHT.gap,
						nHidden: lanes.length - shown.length,
						detail:
							track.kind !== 'process' &&
							track.number !== null &&
							track.number !== undefined &&
							!label.includes(String(track.number))
								? String(track.number)
								: '',
					}),
				);
			for (const counter of countersOf.get(track.id) ?? [])
				inside.push(
					make({
						kind: 'counter',
						key: counterKey(counter),
						label: counter.name,
						process: process.id,
						rank,
						counter,
						height: HEIGHT.counter,
					}),
				);
		}
		if (!inside.length) continue;
		const header = make({
			kind: 'process',
			key: processKey(process),
			label: processLabel(process),
			process: process.id,
			rank,
			height: HEIGHT.process,
		});
		rows.push(header);
		if (options.overlapRanks.has(rank ?? -1) && inside.some(row => row.track?.kind === 'stream'))
			place(
				make({
					kind: 'overlap',
					key: `o${process.id}`,
					label: 'overlap',
					process: process.id,
					rank,
					height: HEIGHT.overlap + HEIGHT.gap,
				}),
			);
		inside.filter(row => row.isPinned || !header.isFolded).forEach(place);
	}
	const stack = (list: Row[]): number =>
		list.reduce((y, row) => {
			row.y = y;
			return y + row.height;
		}, 0);
	const pinnedHeight = stack(pinned),
		height = stack(rows);
	return { rows, pinned, height, pinnedHeight };
}

// Where a lane is drawn: pixels from the top of its part, or null while it is folded away.
export function laneTop(rows: Row[], lane: number): { row: Row; y: number } | null {
	for (const row of rows) {
		const at = row.lanes.findIndex(one => one.lane === lane);
		if (at >= 0) return { row, y: row.y + row.lanesAt + at * HEIGHT.lane };
	}
	return null;
}

// The row at a height, by bisection.
export function rowAt(rows: Row[], y: number): Row | null {
	let low = 0,
		high = rows.length;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (rows[mid]!.y + rows[mid]!.height > y) high = mid;
		else low = mid + 1;
	}
	const row = rows[low];
	return row && row.y <= y ? row : null;
}
